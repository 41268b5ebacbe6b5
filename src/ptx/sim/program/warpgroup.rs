//! `wgmma`: products of four warps together. Each warp computes sixteen rows of its own.

use super::super::lanes::Slot;
use super::decoder::{Decoder, Refused, long, word};
use super::matrix::{Matrix, Rows};
use super::{Access, Extend, Order};
use crate::ptx::ir::{Inst, Operand};
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
    /// What is read from shared memory at once.
    pub access: Access,
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
    /// `wgmma`. The product is computed where it is issued: fences, groups and waits have nothing left to do.
    pub(super) fn warpgroup(&mut self, inst: &Inst) -> Result<(), Refused> {
        if !inst.op.has("mma_async") {
            return self.nothing();
        }
        let matrix = self.warpgroup_product(inst)?;
        self.whole_warp(Matrix::Warpgroup(Box::new(matrix)));
        Ok(())
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
