//! Matrix instructions of a warp: `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`.

use super::super::lanes::Slot;
use super::decoder::{Decoder, Refused, long, word};
use super::memory::order;
use super::tensor_memory::TensorMemory;
use super::warpgroup::Warpgroup;
use super::{Access, Extend, Rare, Together};
use crate::ptx::ir::{Inst, Operand};
use crate::ptx::num::Round;
use crate::ptx::num::matrix::{BitOp, Fragment, Shape, Side};
use crate::ptx::num::sparse::Sparse;
use crate::ptx::num::tensor::{Product, Quads};
use crate::ptx::types::Type;
use smallvec::SmallVec;

/// The rows of registers that hold a fragment.
pub type Rows = SmallVec<[u32; 8]>;

/// The fragments of a product: D, A, B, C.
pub type Fragments = [Rows; 4];

/// A matrix instruction.
#[derive(Clone, Debug)]
pub enum Matrix {
    /// A product of elements of at most 32 bits.
    Product(Product, Fragments),
    /// A product whose left factor is sparse: the row of the metadata.
    Sparse(Product, Fragments, Sparse, u32),
    /// A product with scales.
    Scaled(Box<Scaled>),
    /// What a warp does with tensor memory.
    TensorMemory(Box<TensorMemory>),
    /// A warp's part of a product of four warps.
    Warpgroup(Box<Warpgroup>),
    /// A product of doubles.
    Doubles(Shape, Round, Fragments),
    /// Four products at once.
    Quads(Quads, Fragments),
    /// `movmatrix`: destination, source.
    Transpose(u32, u32),
    /// `ldmatrix`, `stmatrix`: registers, whether transposed, whether stored.
    Eights {
        /// Where the rows begin, one a lane.
        access: Access,
        /// A register for each matrix.
        rows: Rows,
        /// `.trans`
        trans: bool,
        /// To memory.
        store: bool,
    },
    /// `ldmatrix`, `stmatrix` of bytes.
    Bytes {
        /// Where the rows begin, one a lane.
        access: Access,
        /// The registers.
        rows: Rows,
        /// Which of them hold what.
        form: Bytes,
        /// Bits of an element in memory, where it is unpacked to a byte.
        packed: Option<u32>,
    },
    /// `wmma.load`, `wmma.store`.
    Tile(Box<Tile>),
}

/// How a matrix of bytes is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// `.m16n16.trans`: two registers a matrix.
    Square,
    /// `.m8n16`: a register a matrix.
    Flat,
    /// `.m16n8.trans`, to memory: a register a matrix.
    Tall,
}

/// A product with a scale for each chunk of a row of A and of a column of B.
#[derive(Clone, Debug)]
pub struct Scaled {
    /// The product.
    pub product: Product,
    /// Its fragments.
    pub fragments: Fragments,
    /// Where the left factor is sparse: how, and the row of the metadata.
    pub sparse: Option<(Sparse, u32)>,
    /// Type of a scale.
    pub ty: Type,
    /// Chunks of a row or column.
    pub chunks: u32,
    /// The rows with the scales of A and of B.
    pub scales: [u32; 2],
    /// Which byte and which lane gives those of A, and of B.
    pub from: [Slot; 4],
}

/// A fragment's way to or from memory.
#[derive(Clone, Debug)]
pub struct Tile {
    /// Where the matrix begins.
    pub access: Access,
    /// How the lanes hold it.
    pub fragment: Fragment,
    /// Bits of what is moved at once: an element, or a register full of narrower ones.
    pub bits: u32,
    /// Elements of the matrix in that.
    pub elements: u32,
    /// The registers: rows of words, or of longs for doubles.
    pub rows: Rows,
    /// Elements between the beginnings of rows, or of columns; without one they are dense.
    pub stride: Option<Slot>,
    /// Rows are contiguous, not columns.
    pub row_major: bool,
    /// To memory.
    pub store: bool,
}

impl Decoder<'_> {
    /// `mma`, `ldmatrix` and the like.
    pub(super) fn matrix(&mut self, inst: &Inst) -> Result<(), Refused> {
        let matrix = match inst.op.base() {
            "mma" => self.product(inst, true)?,
            "wmma" if inst.op.has("mma") => self.product(inst, false)?,
            "wmma" => self.tile(inst)?,
            "movmatrix" => {
                let (d, a) = (self.dest(inst, Type::B32)?, self.arg(inst, 1, Type::B32)?);
                Matrix::Transpose(word(d)?, word(a)?)
            }
            _ => self.eights(inst)?,
        };
        self.whole_warp(matrix);
        Ok(())
    }

    /// Adds something that all lanes of a warp do together.
    pub(super) fn whole_warp(&mut self, matrix: Matrix) {
        let at = self.out.matrices.len() as u32;
        self.out.matrices.push(matrix);
        let all = self.constant(u64::from(u32::MAX), 32);
        self.rare(Rare::Together(Together::Matrix(at), Some(all)));
    }

    /// The rows that an operand names, all of 64 bits or all of less.
    pub(super) fn rows(&mut self, inst: &Inst, at: usize, ty: Type, written: bool) -> Result<Rows, Refused> {
        let operand = self.operand(inst, at)?;
        let slots: Vec<Slot> = match operand {
            Operand::Vector(parts) => {
                let one = |part| {
                    if written {
                        self.target(part, ty)
                    } else {
                        self.source(part, ty)
                    }
                };
                parts.iter().map(one).collect::<Result<_, _>>()?
            }
            Operand::Reg(reg) => {
                let lanes = self
                    .body
                    .regs
                    .get(reg.index())
                    .map_or(1, |decl| u32::from(decl.lanes.max(1)));
                (0..lanes)
                    .map(|lane| self.register(*reg, lane))
                    .collect::<Result<_, _>>()?
            }
            _ => return Err("a fragment of this kind".into()),
        };
        slots
            .into_iter()
            .map(|slot| if ty.bits() > 32 { long(slot) } else { word(slot) })
            .collect()
    }

    fn product(&mut self, inst: &Inst, mma: bool) -> Result<Matrix, Refused> {
        if inst.op.has("block_scale") {
            return self.scaled(inst);
        }
        let satfinite = inst.op.has("satfinite");
        let shape = inst.op.mods().find_map(Shape::from_name).ok_or("its shape")?;
        let [d, a, b, c] = match *inst.op.types.as_slice() {
            [d, a, b, c] => [d, a, b, c],
            // `wmma.mma` of `.f16` names the types of D and C alone.
            [d, c] => [d, Type::F16, Type::F16, c],
            _ => return Err("its types".into()),
        };
        if satfinite && d != Type::S32 {
            return Err("`.satfinite` of floats".into());
        }
        let wide = if d == Type::F64 { Type::F64 } else { Type::B32 };
        let fragments = [
            self.rows(inst, 0, wide, true)?,
            self.rows(inst, 1, wide, false)?,
            self.rows(inst, 2, wide, false)?,
            self.rows(inst, 3, wide, false)?,
        ];
        if d == Type::F64 {
            let round = inst.op.mods().find_map(Round::from_name).unwrap_or(Round::Rn);
            return Ok(Matrix::Doubles(shape, round, fragments));
        }
        if mma && shape == (Shape { m: 8, n: 8, k: 4 }) {
            let mut layouts = inst.op.mods().filter(|name| matches!(*name, "row" | "col"));
            let mut row = || layouts.next() == Some("row");
            let (a_row, b_row) = (row(), row());
            return Ok(Matrix::Quads(Quads { a_row, b_row, c, d }, fragments));
        }
        let bytes = inst.op.has("kind::f8f6f4");
        let product = Product {
            shape,
            a,
            b,
            c,
            d,
            slot: if bytes {
                8
            } else {
                a.bits().clamp(1, 32).next_power_of_two()
            },
            satfinite,
            bits: if inst.op.has("and") { BitOp::And } else { BitOp::Xor },
        };
        Ok(match self.sparsity(inst, &product)? {
            None => Matrix::Product(product, fragments),
            Some((sparse, metadata)) => Matrix::Sparse(product, fragments, sparse, metadata),
        })
    }

    /// How the left factor is sparse, if it is, and the row of the metadata.
    fn sparsity(&mut self, inst: &Inst, product: &Product) -> Result<Option<(Sparse, u32)>, Refused> {
        if !inst.op.mods().any(|name| name.starts_with("sp")) {
            return Ok(None);
        }
        let metadata = word(self.arg(inst, 4, Type::B32)?)?;
        let selector = inst.operands.get(5).and_then(Operand::as_int).ok_or("its selector")?;
        let sparse = Sparse::new(product.shape.k, product.slot, selector as u32);
        Ok(Some((
            sparse.ok_or("a sparse factor of this shape and type")?,
            metadata,
        )))
    }

    /// `mma` with `.block_scale`.
    fn scaled(&mut self, inst: &Inst) -> Result<Matrix, Refused> {
        let &[d, a, b, c, ty] = inst.op.types.as_slice() else {
            return Err("its types".into());
        };
        let bytes = inst.op.has("kind::mxf8f6f4");
        let product = Product {
            shape: inst.op.mods().find_map(Shape::from_name).ok_or("its shape")?,
            a,
            b,
            c,
            d,
            slot: if bytes { 8 } else { 4 },
            satfinite: false,
            bits: BitOp::Xor,
        };
        let fragments = [
            self.rows(inst, 0, Type::B32, true)?,
            self.rows(inst, 1, Type::B32, false)?,
            self.rows(inst, 2, Type::B32, false)?,
            self.rows(inst, 3, Type::B32, false)?,
        ];
        let sparse = self.sparsity(inst, &product)?;
        let at = if sparse.is_some() { 6 } else { 4 };
        // In braces or without.
        let mut scale = |at: usize| match self.operand(inst, at)? {
            Operand::Vector(parts) if parts.len() == 1 => word(self.source(&parts[0], Type::B32)?),
            _ => word(self.arg(inst, at, Type::B32)?),
        };
        let scales = [scale(at)?, scale(at + 2)?];
        let mut pair = |at: usize| -> Result<[Slot; 2], Refused> {
            match self.operand(inst, at)? {
                Operand::Vector(parts) if parts.len() == 2 => {
                    Ok([self.source(&parts[0], Type::U16)?, self.source(&parts[1], Type::U16)?])
                }
                _ => Err("a selector of this kind".into()),
            }
        };
        let ([byte_a, lane_a], [byte_b, lane_b]) = (pair(at + 1)?, pair(at + 3)?);
        Ok(Matrix::Scaled(Box::new(Scaled {
            product,
            fragments,
            sparse,
            ty,
            chunks: match () {
                () if inst.op.has("scale_vec::4X") => 4,
                () if bytes || inst.op.has("scale_vec::1X") => 1,
                () => 2,
            },
            scales,
            from: [byte_a, lane_a, byte_b, lane_b],
        })))
    }

    /// An access to memory by whole lanes.
    fn matrix_access(&mut self, inst: &Inst, at: usize, ty: Type, bytes: u32) -> Result<Access, Refused> {
        let Operand::Address(address) = self.operand(inst, at)? else {
            return Err("an address of this kind".into());
        };
        let (address, offset) = self.address(address)?;
        Ok(Access {
            space: inst.op.space,
            ty,
            bytes,
            address,
            offset,
            regs: SmallVec::new(),
            extend: Extend::Zero,
            order: order(inst),
            read_only: false,
        })
    }

    fn eights(&mut self, inst: &Inst) -> Result<Matrix, Refused> {
        let store = inst.op.base() == "stmatrix";
        let has = |name| inst.op.has(name);
        let mut access = self.matrix_access(inst, usize::from(!store), Type::B128, 16)?;
        let rows = self.rows(inst, usize::from(store), Type::B32, !store)?;
        if has("m8n8") {
            let trans = has("trans");
            return Ok(Matrix::Eights {
                access,
                rows,
                trans,
                store,
            });
        }
        let form = match () {
            () if has("m16n16") && has("trans") => Bytes::Square,
            () if has("m8n16") => Bytes::Flat,
            () if has("m16n8") && has("trans") => Bytes::Tall,
            () => return Err("a shape of this kind".into()),
        };
        let packed = match () {
            () if has("b4x16_p64") => Some(4),
            () if has("b6x16_p32") => Some(6),
            () => None,
        };
        // What pads a row in memory is not read.
        access.bytes = if packed.is_some() { 4 } else { 16 };
        Ok(Matrix::Bytes {
            access,
            rows,
            form,
            packed,
        })
    }

    fn tile(&mut self, inst: &Inst) -> Result<Matrix, Refused> {
        let store = inst.op.has("store");
        let side = match () {
            () if inst.op.has("a") => Side::A,
            () if inst.op.has("b") => Side::B,
            () => Side::C,
        };
        let ty = self.ty(inst)?;
        let mut shape = inst.op.mods().find_map(Shape::from_name).ok_or("its shape")?;
        let (bits, elements) = match ty.bits() {
            1 => (32, 32),
            4 => (32, 8),
            bits => (bits, 1),
        };
        if ty == Type::B1 {
            shape.k /= 32;
        }
        let fragment = Fragment::new(shape, side, if ty == Type::B1 { 32 } else { ty.bits() });
        let wide = if ty == Type::F64 { Type::F64 } else { Type::B32 };
        let tile = Tile {
            access: self.matrix_access(inst, usize::from(!store), ty, bits / 8)?,
            fragment,
            bits,
            elements,
            rows: self.rows(inst, usize::from(store), wide, !store)?,
            stride: match inst.operands.len() {
                3 => Some(self.arg(inst, 2, Type::U32)?),
                _ => None,
            },
            row_major: inst.op.has("row"),
            store,
        };
        Ok(Matrix::Tile(Box::new(tile)))
    }
}
