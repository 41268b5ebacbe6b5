//! `tcgen05`: tensor memory, and products whose sums lie there.

use super::super::lanes::Slot;
use super::Rare;
use super::asynchronous::{Async, Place};
use super::decoder::{Decoder, Refused};
use super::matrix::{Matrix, Rows};
use crate::ptx::ir::{Inst, Operand};
use crate::ptx::types::{Space, Type};
use smallvec::SmallVec;

/// Which lane of a warp has which cell of tensor memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorShape {
    /// `.32x32b`
    Whole,
    /// `.16x64b`
    Narrow,
    /// `.16x128b`
    Middle,
    /// `.16x256b`
    Wide,
    /// `.16x32bx2`: the upper lanes are that many columns further.
    Split(u32),
}

impl TensorShape {
    /// Row and column, from the first ones on, of a lane's register.
    pub fn cell(self, lane: u32, register: u32) -> (u32, u32) {
        let (group, within) = (lane / 4, lane % 4);
        match self {
            TensorShape::Whole => (lane, register),
            TensorShape::Narrow => (group + 8 * (lane % 2), 2 * register + within / 2),
            TensorShape::Middle => (group + 8 * (register % 2), register / 2 * 4 + within),
            TensorShape::Wide => (
                group + 8 * (register / 2 % 2),
                register / 4 * 8 + 2 * within + register % 2,
            ),
            TensorShape::Split(offset) => (lane % 16, register + lane / 16 * offset),
        }
    }

    /// Rows that it takes.
    pub fn rows(self) -> u32 {
        if self == TensorShape::Whole { 32 } else { 16 }
    }
}

/// What a warp does with tensor memory.
#[derive(Clone, Debug)]
pub enum TensorMemory {
    /// Takes columns; their address goes to shared memory.
    Alloc {
        /// Where in shared memory.
        to: Place,
        /// How many.
        columns: Slot,
    },
    /// Gives them back.
    Dealloc {
        /// Their address.
        address: Slot,
        /// How many.
        columns: Slot,
    },
    /// Takes no more.
    Relinquish,
    /// To or from registers.
    Move {
        /// The address.
        address: Slot,
        /// Added to it.
        offset: u64,
        /// Which lane has what.
        shape: TensorShape,
        /// Two columns of 16 bits share a register.
        packed: bool,
        /// The registers.
        rows: Rows,
        /// To tensor memory.
        store: bool,
        /// The numbers of the registers that are loaded.
        sums: Vec<u32>,
    },
    /// `.wait::ld`: the registers are there.
    WaitLoad,
}

/// Where the left factor of a product is.
#[derive(Clone, Copy, Debug)]
pub enum Left {
    /// In shared memory: a descriptor.
    Shared(Slot),
    /// In tensor memory: an address and what is added to it.
    Tensor(Slot, u64),
}

/// `tcgen05.mma`.
#[derive(Clone, Debug)]
pub struct TensorProduct {
    /// Where the sums are: an address and what is added to it.
    pub to: (Slot, u64),
    /// The left factor.
    pub a: Left,
    /// The right factor's descriptor.
    pub b: Slot,
    /// The instruction descriptor.
    pub descriptor: Slot,
    /// Whether the sums count.
    pub input: Slot,
    /// Lanes of tensor memory that are left alone, 32 bits each.
    pub masked: SmallVec<[Slot; 4]>,
    /// The sums are divided by two to that power.
    pub shift: u32,
    /// The kind, without `kind::`.
    pub kind: TensorKind,
    /// The scales of the factors.
    pub scales: Option<TensorScales>,
}

/// Scales in tensor memory, so many for a row of the left and a column of the right factor.
#[derive(Clone, Copy, Debug)]
pub struct TensorScales {
    /// Where those of the left factor are.
    pub a: (Slot, u64),
    /// Where those of the right factor are.
    pub b: (Slot, u64),
    /// How many for a line along k.
    pub chunks: u32,
}

/// Which types a product has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TensorKind {
    F16,
    Tf32,
    F8f6f4,
    I8,
    /// Of four bits, two to a byte, with scales.
    F4,
}

/// `tcgen05.cp`: rows of shared memory become rows of tensor memory.
#[derive(Clone, Debug)]
pub struct TensorCopy {
    /// The address and what is added to it.
    pub to: (Slot, u64),
    /// The matrix descriptor.
    pub from: Slot,
    /// Bytes of a row.
    pub bytes: u32,
    /// For each 32 lanes of tensor memory the first of the rows that go there.
    pub parts: [u32; 4],
}

impl Decoder<'_> {
    /// `tcgen05`.
    pub(super) fn tensor_core(&mut self, inst: &Inst) -> Result<(), Refused> {
        let has = |name| inst.op.has(name);
        if has("cta_group::2") {
            return Err("`.cta_group::2`".into());
        }
        let what = match () {
            () if inst.op.mods().any(|name| name.starts_with("fence::")) || has("wait::st") => return self.nothing(),
            () if has("wait::ld") => TensorMemory::WaitLoad,
            () if has("alloc") => TensorMemory::Alloc {
                to: self.place(inst, 0, inst.op.space)?,
                columns: self.arg(inst, 1, Type::U32)?,
            },
            () if has("dealloc") => TensorMemory::Dealloc {
                address: self.arg(inst, 0, Type::U32)?,
                columns: self.arg(inst, 1, Type::U32)?,
            },
            () if has("relinquish_alloc_permit") => TensorMemory::Relinquish,
            () if has("red") => return Err("a reduction while loading".into()),
            () if has("ld") || has("st") => self.tensor_move(inst)?,
            () if has("mma") => {
                let product = self.tensor_product(inst)?;
                self.rare(Rare::Async(Async::TensorProduct(Box::new(product))));
                return Ok(());
            }
            () if has("commit") => {
                let space = if inst.op.space == Space::Generic {
                    Space::Generic
                } else {
                    Space::SharedCluster
                };
                let bar = self.place(inst, 0, space)?;
                let multicast = match has("multicast::cluster") {
                    true => Some(self.arg(inst, 1, Type::U16)?),
                    false => None,
                };
                self.rare(Rare::Async(Async::TensorCommit { bar, multicast }));
                return Ok(());
            }
            () if has("cp") => {
                let copy = self.tensor_copy(inst)?;
                self.rare(Rare::Async(Async::TensorCopy(Box::new(copy))));
                return Ok(());
            }
            () => return Err("an instruction on tensor memory of this kind".into()),
        };
        self.whole_warp(Matrix::TensorMemory(Box::new(what)));
        Ok(())
    }

    /// An address of tensor memory, and what is added to it.
    fn tensor_address(&mut self, inst: &Inst, at: usize) -> Result<(Slot, u64), Refused> {
        let Operand::Address(address) = self.operand(inst, at)? else {
            return Err("an address of this kind".into());
        };
        self.address(address)
    }

    fn tensor_move(&mut self, inst: &Inst) -> Result<TensorMemory, Refused> {
        let has = |name| inst.op.has(name);
        let store = has("st");
        let (address, offset) = self.tensor_address(inst, usize::from(!store))?;
        let shape = match () {
            () if has("32x32b") => TensorShape::Whole,
            () if has("16x64b") => TensorShape::Narrow,
            () if has("16x128b") => TensorShape::Middle,
            () if has("16x256b") => TensorShape::Wide,
            () if has("16x32bx2") => TensorShape::Split(self.number(inst, if store { 1 } else { 2 })?),
            () => return Err("a shape of this kind".into()),
        };
        let registers = match store {
            true => inst.operands.len().saturating_sub(1),
            false => 0,
        };
        Ok(TensorMemory::Move {
            address,
            offset,
            shape,
            packed: has("pack::16b") || has("unpack::16b"),
            rows: self.rows(inst, registers, Type::B32, !store)?,
            store,
            sums: if store { Vec::new() } else { self.numbers(inst, 0) },
        })
    }

    fn tensor_product(&mut self, inst: &Inst) -> Result<TensorProduct, Refused> {
        let has = |name| inst.op.has(name);
        let odd = ["sp", "ws", "ashift"];
        if let Some(name) = odd.iter().find(|name| has(name)) {
            return Err(format!("`.{name}`"));
        }
        let kind = match () {
            () if has("kind::f16") => TensorKind::F16,
            () if has("kind::tf32") => TensorKind::Tf32,
            () if has("kind::f8f6f4") => TensorKind::F8f6f4,
            () if has("kind::i8") => TensorKind::I8,
            () if has("kind::mxf8f6f4") => TensorKind::F8f6f4,
            () if has("kind::mxf4") || has("kind::mxf4nvf4") => TensorKind::F4,
            () => return Err("its kind".into()),
        };
        let to = self.tensor_address(inst, 0)?;
        let a = match self.operand(inst, 1)? {
            Operand::Address(_) => {
                let (base, offset) = self.tensor_address(inst, 1)?;
                Left::Tensor(base, offset)
            }
            _ => Left::Shared(self.arg(inst, 1, Type::U64)?),
        };
        let scales = self.tensor_scales(inst)?;
        let mut next = if scales.is_some() { 6 } else { 4 };
        let mut masked = SmallVec::new();
        if let Operand::Vector(parts) = self.operand(inst, 4)? {
            if parts.len() != 4 {
                return Err("a mask of this length".into());
            }
            for part in parts {
                masked.push(self.source(part, Type::B32)?);
            }
            next = 5;
        }
        let input = self.arg(inst, next, Type::Pred)?;
        if inst.operands.len() > next + 2 {
            return Err("more operands than are known".into());
        }
        let shift = match inst.operands.get(next + 1) {
            Some(_) => self.number(inst, next + 1)?,
            None => 0,
        };
        Ok(TensorProduct {
            to,
            a,
            b: self.arg(inst, 2, Type::U64)?,
            descriptor: self.arg(inst, 3, Type::U32)?,
            input,
            masked,
            shift,
            kind,
            scales,
        })
    }

    fn tensor_scales(&mut self, inst: &Inst) -> Result<Option<TensorScales>, Refused> {
        let has = |name| inst.op.has(name);
        if !has("block_scale") {
            return Ok(None);
        }
        let chunks = match () {
            () if has("scale_vec::4X") || has("block16") => 4,
            () if has("kind::mxf8f6f4") => 1,
            () => 2,
        };
        Ok(Some(TensorScales {
            a: self.tensor_address(inst, 4)?,
            b: self.tensor_address(inst, 5)?,
            chunks,
        }))
    }

    fn tensor_copy(&mut self, inst: &Inst) -> Result<TensorCopy, Refused> {
        let has = |name| inst.op.has(name);
        if has("b8x16") {
            return Err("`.b8x16`".into());
        }
        let (bytes, parts) = match () {
            () if has("128x256b") => (32, [0, 32, 64, 96]),
            () if has("128x128b") => (16, [0, 32, 64, 96]),
            () if has("64x128b") && has("warpx2::02_13") => (16, [0, 32, 0, 32]),
            () if has("64x128b") => (16, [0, 0, 32, 32]),
            () if has("32x128b") => (16, [0, 0, 0, 0]),
            () => return Err("a shape of this kind".into()),
        };
        Ok(TensorCopy {
            to: self.tensor_address(inst, 0)?,
            from: self.arg(inst, 1, Type::U64)?,
            bytes,
            parts,
        })
    }
}
