//! Bulk copies of tensors, and what changes tensor maps.

use super::super::lanes::Slot;
use super::super::tensormap::{ELEMENTS, TensorMap, field};
use super::asynchronous::{Async, Place, Signal};
use super::atomics::update;
use super::decoder::{Decoder, Refused};
use super::{Rare, Reduction};
use crate::ptx::ir::{Inst, Operand};
use crate::ptx::types::{Space, Type};
use smallvec::SmallVec;

/// A copy of a box of a tensor.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Where the tensor map is, a generic address.
    pub map: Place,
    /// Where in the tensor the box begins, the innermost dimension first.
    pub coords: SmallVec<[Slot; 5]>,
    /// The second dimension is given four times, for four rows.
    pub rows: bool,
    /// Which way.
    pub way: Way,
}

/// Which way a box goes.
#[derive(Clone, Debug)]
pub enum Way {
    /// To shared memory, of all CTAs that a mask names.
    Load {
        /// Where in shared memory.
        to: Place,
        /// The mbarrier that is told.
        bar: Place,
        /// The mask.
        multicast: Option<Slot>,
    },
    /// From shared memory; where elements are combined, how by the element type.
    Store {
        /// Where in shared memory.
        from: Place,
        /// Indices into [`super::Program::reductions`].
        reduce: Option<Box<[Option<u32>; 16]>>,
    },
    /// Nowhere.
    Prefetch,
}

/// A change of a tensor map.
#[derive(Clone, Debug)]
pub struct Replace {
    /// Where the map is.
    pub at: Place,
    /// Where in it the field is, and its bytes.
    pub field: usize,
    /// Bytes of the field.
    pub bytes: usize,
    /// What goes there.
    pub value: Slot,
}

impl Decoder<'_> {
    /// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`, `cp.async.bulk.prefetch.tensor`.
    pub(super) fn tensor(&mut self, inst: &Inst) -> Result<Async, Refused> {
        let has = |name| inst.op.has(name);
        if inst.op.mods().any(|name| name.starts_with("im2col")) {
            return Err("`.im2col`".into());
        }
        if has("cta_group::2") {
            return Err("`.cta_group::2`".into());
        }
        let rows = has("tile::gather4") || has("tile::scatter4");
        let spaces: Vec<Space> = inst.op.mods().filter_map(Space::from_name).collect();
        let way = match spaces.as_slice() {
            _ if has("prefetch") => Way::Prefetch,
            [Space::Global, _] => Way::Store {
                from: self.place(inst, 1, Space::Shared)?,
                reduce: match has("reduce") {
                    true => Some(self.combinations(inst)?),
                    false => None,
                },
            },
            [to, Space::Global] => {
                let Signal::Bytes(bar) = Signal::Bytes(self.place(inst, 2, *to)?) else {
                    return Err("its signal".into());
                };
                Way::Load {
                    to: self.place(inst, 0, *to)?,
                    bar,
                    multicast: match has("multicast::cluster") {
                        true => Some(self.arg(inst, 3, Type::U16)?),
                        false => None,
                    },
                }
            }
            _ => return Err("its spaces".into()),
        };
        let at = usize::from(matches!(way, Way::Load { .. }));
        let Operand::Bracket(parts) = self.operand(inst, at)? else {
            return Err("an address of this kind".into());
        };
        let [map, coords] = &**parts else {
            return Err("an address of this kind".into());
        };
        let dims = inst
            .op
            .mods()
            .find_map(|name| name.strip_suffix('d')?.parse::<usize>().ok());
        let count = if rows { 5 } else { dims.ok_or("its dimensions")? };
        let coords: Option<SmallVec<[Slot; 5]>> = self.parts(coords, count, Type::S32, false)?.into_iter().collect();
        let (base, offset) = match map {
            Operand::Address(address) => self.address(address)?,
            map => (self.source(map, Type::U64)?, 0),
        };
        let map = Place {
            space: Space::Generic,
            base,
            offset,
        };
        Ok(Async::Tensor(Box::new(Tensor {
            map,
            coords: coords.ok_or("`_` as a coordinate")?,
            rows,
            way,
        })))
    }

    /// What the operation does to elements of each type that a map may have.
    fn combinations(&mut self, inst: &Inst) -> Result<Box<[Option<u32>; 16]>, Refused> {
        let mut all = [None; 16];
        for (element, place) in all.iter_mut().enumerate().take(ELEMENTS.len()) {
            let map = TensorMap {
                element: element as u8,
                dims: Vec::new(),
                strides: Vec::new(),
                size: Vec::new(),
                steps: Vec::new(),
                swizzle: 0,
                nan: false,
            };
            let ty = map.element_type();
            if let (true, Ok(update)) = (ty.bits() > 8, update(inst, ty)) {
                let bytes = ty.bytes();
                self.out.reductions.push(Reduction { bytes, update });
                *place = Some(self.out.reductions.len() as u32 - 1);
            }
        }
        Ok(Box::new(all))
    }

    /// `tensormap.replace`, `tensormap.cp_fenceproxy`.
    pub(super) fn tensor_map(&mut self, inst: &Inst) -> Result<(), Refused> {
        let has = |name| inst.op.has(name);
        if has("cp_fenceproxy") {
            let what = Async::CopyMap {
                to: self.place(inst, 0, Space::Global)?,
                from: self.place(inst, 1, Space::Shared)?,
            };
            self.rare(Rare::Async(what));
            return Ok(());
        }
        let last = inst.operands.len().saturating_sub(1);
        let order = match last {
            2 => self.number(inst, 1)? as usize,
            _ => 0,
        };
        let (start, most, bytes) = match () {
            () if has("global_address") => (field::ADDRESS, 1, 8),
            () if has("rank") => (field::RANK, 1, 1),
            () if has("elemtype") => (field::ELEMENT, 1, 1),
            () if has("interleave_layout") => (field::INTERLEAVE, 1, 1),
            () if has("swizzle_mode") => (field::SWIZZLE, 1, 1),
            () if has("swizzle_atomicity") => (field::ATOM, 1, 1),
            () if has("fill_mode") => (field::FILL, 1, 1),
            () if has("box_dim") => (field::BOX, 5, 4),
            () if has("global_dim") => (field::DIMS, 5, 4),
            () if has("element_stride") => (field::STEPS, 5, 4),
            () if has("global_stride") => (field::STRIDES, 4, 8),
            () => return Err("its field".into()),
        };
        if order >= most {
            return Err("a dimension that tensors do not have".into());
        }
        let replace = Replace {
            at: self.place(inst, 0, inst.op.space)?,
            field: start + order * bytes,
            bytes,
            value: self.arg(inst, last, if bytes == 8 { Type::B64 } else { Type::B32 })?,
        };
        self.rare(Rare::Async(Async::ReplaceMap(replace)));
        Ok(())
    }
}
