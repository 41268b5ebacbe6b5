//! `wgmma`: products of four warps together. Each warp computes sixteen rows of its own.

use super::super::lanes::Slot;
use super::decoder::{Decoder, Refused, long, word};
use super::matrix::{Matrix, Rows};
use super::{Access, Extend, Order, Rare};
use crate::ptx::ir::{Body, Inst, Operand, RegId};
use crate::ptx::num::matrix::{BitOp, Shape};
use crate::ptx::num::sparse::Sparse;
use crate::ptx::num::tensor::Product;
use crate::ptx::types::{Space, Type};
use smallvec::SmallVec;

/// A product whose right factor, at least, lies in shared memory.
#[derive(Clone, Debug)]
pub struct Warpgroup {
    /// The product of sixteen rows with eight columns.
    pub product: Product,
    /// Columns of the whole.
    pub n: u32,
    /// The accumulator.
    pub d: Rows,
    /// The left factor.
    pub a: Factor,
    /// Which bits of a register of the left factor are inverted, to negate it.
    pub flip_a: u32,
    /// The right factor.
    pub b: Factor,
    /// As for the left factor.
    pub flip_b: u32,
    /// Where the left factor is sparse: how, and the row of the metadata.
    pub sparse: Option<(Sparse, u32)>,
    /// Whether the accumulator counts.
    pub scale: Slot,
    /// The numbers of the registers of the accumulator.
    pub sums: Vec<u32>,
    /// The numbers of the registers of the left factor.
    pub inputs: Vec<u32>,
    /// What is read from shared memory at once.
    pub access: Access,
}

/// What orders `wgmma` instructions and other uses of their registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpgroupOrder {
    /// `wgmma.fence`
    Fence,
    /// `wgmma.commit_group`
    Commit,
    /// `wgmma.wait_group`: until at most so many groups are under way.
    Wait(u32),
}

/// Registers that `wgmma` instructions have and another instruction uses, and whether it writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// By their numbers.
    pub registers: Vec<(u32, bool)>,
}

/// Where a factor is.
#[derive(Clone, Debug)]
pub enum Factor {
    /// In registers.
    Registers(Rows),
    /// In shared memory: the row of the descriptor, and whether it is transposed.
    Shared(u32, bool),
}

/// The number of columns in a shape's name: `m64n96k16`.
fn columns(name: &str) -> Option<u32> {
    let (n, k) = name.strip_prefix("m64n")?.split_once('k')?;
    let _: u32 = k.parse().ok()?;
    n.parse()
        .ok()
        .filter(|n: &u32| n.is_multiple_of(8) && (8..=256).contains(n))
}

impl Decoder<'_> {
    /// `wgmma`. The product is computed where it is issued: fences, groups and waits are there to be checked alone.
    pub(super) fn warpgroup(&mut self, inst: &Inst) -> Result<(), Refused> {
        if !inst.op.has("mma_async") {
            let most = inst.operands.first().and_then(Operand::as_int).unwrap_or(0);
            self.rare(Rare::Order(match () {
                () if inst.op.has("fence") => WarpgroupOrder::Fence,
                () if inst.op.has("commit_group") => WarpgroupOrder::Commit,
                () => WarpgroupOrder::Wait(u32::try_from(most).unwrap_or(0)),
            }));
            return Ok(());
        }
        let matrix = self.warpgroup_product(inst)?;
        self.whole_warp(Matrix::Warpgroup(Box::new(matrix)));
        Ok(())
    }

    /// Numbers the registers that `wgmma` and `tcgen05.ld` instructions of a body have.
    pub(super) fn find_accumulators(&mut self, body: &Body) {
        self.accumulators.clear();
        let takes = |inst: &&Inst| match inst.op.base() {
            "wgmma" => inst.op.has("mma_async"),
            // Only what is loaded: what is stored is read at once.
            "tcgen05" => inst.op.has("ld"),
            _ => false,
        };
        let work = body.insts.iter().filter(takes);
        let vectors = work.flat_map(|inst| inst.operands.iter().take(2));
        for operand in vectors.filter(|operand| matches!(operand, Operand::Vector(_))) {
            operand.for_each_reg(&mut |reg| {
                let Some(decl) = body.regs.get(reg.index()) else { return };
                self.accumulators.entry(reg).or_insert_with(|| {
                    self.out.accumulators.push(decl.name.to_string());
                    self.out.accumulators.len() as u32 - 1
                });
            });
        }
    }

    /// The numbers of the registers of an operand.
    pub(super) fn numbers(&self, inst: &Inst, at: usize) -> Vec<u32> {
        let mut found = Vec::new();
        if let Some(operand) = inst.operands.get(at) {
            operand.for_each_reg(&mut |reg| found.extend(self.accumulators.get(&reg)));
        }
        found
    }

    /// Notes that another instruction uses registers of those.
    pub(super) fn touch_accumulators(&mut self, inst: &Inst) {
        let own = inst.op.base() == "wgmma" || (inst.op.base() == "tcgen05" && inst.op.has("ld"));
        if self.accumulators.is_empty() || own {
            return;
        }
        let mut registers: Vec<(u32, bool)> = Vec::new();
        let mut note =
            |reg: RegId, writes| registers.extend(self.accumulators.get(&reg).map(|number| (*number, writes)));
        inst.uses(&mut |reg| note(reg, false));
        inst.defs(&mut |reg| note(reg, true));
        if !registers.is_empty() {
            self.rare(Rare::Touch(Touch { registers }));
        }
    }

    fn warpgroup_product(&mut self, inst: &Inst) -> Result<Warpgroup, Refused> {
        let &[d, a, b] = inst.op.types.as_slice() else {
            return Err("its types".into());
        };
        let n = inst.op.mods().find_map(columns).ok_or("its shape")?;
        let bits = a.bits().next_power_of_two().min(32);
        // Every product takes 32 bytes along k; twice as many where the left factor is sparse.
        let is_sparse = inst.op.has("sp");
        let shape = Shape {
            m: 16,
            n: 8,
            k: if is_sparse { 512 } else { 256 } / bits,
        };
        let sparse = match is_sparse {
            true => {
                let selector = inst.operands.get(4).and_then(Operand::as_int).ok_or("its selector")?;
                let how = Sparse::new(shape.k, bits, selector as u32).ok_or("a sparse factor of this type")?;
                Some((how, word(self.arg(inst, 3, Type::B32)?)?))
            }
            false => None,
        };
        // Behind metadata and selector the operands are the same.
        let skip = if is_sparse { 2 } else { 0 };
        let flag = |at: usize, value: i64| inst.operands.get(at + skip).and_then(Operand::as_int) == Some(value);
        let in_registers = matches!(inst.operands.get(1), Some(Operand::Vector(_)));
        let transposes = if in_registers {
            [None, Some(6)]
        } else {
            [Some(6), Some(7)]
        };
        let [ta, tb] = transposes.map(|at| at.is_some_and(|at| flag(at, 1)));
        let signs = match bits {
            16 => 0x8000_8000,
            8 => 0x8080_8080,
            _ => 0x8000_0000,
        };
        Ok(Warpgroup {
            product: Product {
                shape,
                a,
                b,
                c: d,
                d,
                slot: bits,
                satfinite: inst.op.has("satfinite"),
                bits: BitOp::And,
            },
            n,
            d: self.rows(inst, 0, Type::B32, true)?,
            a: match in_registers {
                true => Factor::Registers(self.rows(inst, 1, Type::B32, false)?),
                false => Factor::Shared(long(self.arg(inst, 1, Type::U64)?)?, ta),
            },
            flip_a: if flag(4, -1) { signs } else { 0 },
            b: Factor::Shared(long(self.arg(inst, 2, Type::U64)?)?, tb),
            flip_b: if flag(5, -1) { signs } else { 0 },
            sparse,
            scale: self.arg(inst, 3 + skip, Type::Pred)?,
            sums: self.numbers(inst, 0),
            inputs: if in_registers {
                self.numbers(inst, 1)
            } else {
                Vec::new()
            },
            access: Access {
                space: Space::Shared,
                ty: Type::B32,
                bytes: 4,
                address: self.constant(0, 32),
                offset: 0,
                regs: SmallVec::new(),
                extend: Extend::Zero,
                order: Order::default(),
                read_only: false,
            },
        })
    }
}
