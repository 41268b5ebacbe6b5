//! Bulk copies of tensors: boxes between global and shared memory.

use super::super::Stop;
use super::super::fault::codes;
use super::super::program::{Place, Replace, Tensor, Way};
use super::super::tensormap::{SIZE, TensorMap, swizzled};
use super::copies::{Kind, WHOLE};
use super::state::{Ctx, Split};
use crate::ptx::types::Space;

/// What a box has along its innermost dimension: where it is in the tensor, if it is, and where in shared memory.
struct Row {
    /// Elements of the row outside of the tensor, in front; then those inside.
    inside: std::ops::Range<u64>,
    /// Address of the first element inside.
    address: u64,
    /// Bytes from the beginning of the box in shared memory.
    at: u64,
}

/// A tensor map, and the address of the first element.
type Mapped = (TensorMap, u64);

/// The rows of a box, one after another as they lie in shared memory. `start` is signed: a box may begin outside.
fn rows((map, address): &Mapped, start: &[i32], four: bool) -> Vec<Row> {
    let element = u64::from(map.element_bits() / 8);
    let bytes = map.row_bytes();
    // How many elements of a box there are along each dimension but the innermost, which steps do not thin out.
    let counts: Vec<u64> = match four {
        true => vec![4],
        false => {
            let outer = map.size.iter().zip(&map.steps).skip(1);
            outer.map(|(size, step)| u64::from(size.div_ceil(*step))).collect()
        }
    };
    let dim = |at: usize| i64::from(map.dims.get(at).copied().unwrap_or(0));
    let first = i64::from(start.first().copied().unwrap_or(0));
    let inner = i64::from(map.size.first().copied().unwrap_or(0));
    let clip = |at: i64| at.clamp(0, inner);
    let inside = clip(-first) as u64..clip(dim(0) - first).max(clip(-first)) as u64;
    let total: u64 = counts.iter().product();
    let mut out = Vec::new();
    for nth in 0..total {
        let (mut left, mut there, mut is_inside) = (nth, *address, true);
        for (at, count) in counts.iter().enumerate() {
            let place = (left % count) as i64;
            left /= count;
            let coord = match four {
                true => i64::from(start.get(1 + place as usize).copied().unwrap_or(0)),
                false => {
                    let step = i64::from(map.steps.get(at + 1).copied().unwrap_or(1));
                    i64::from(start.get(at + 1).copied().unwrap_or(0)) + place * step
                }
            };
            is_inside &= (0..dim(at + 1)).contains(&coord);
            let stride = map.strides.get(at).copied().unwrap_or(0);
            there = there.wrapping_add((coord as u64).wrapping_mul(stride));
        }
        let inside = if is_inside { inside.clone() } else { 0..0 };
        out.push(Row {
            address: there.wrapping_add(((first + inside.start as i64) as u64).wrapping_mul(element)),
            inside: inside.start * element..inside.end * element,
            at: nth * bytes,
        });
    }
    out
}

impl Ctx<'_> {
    /// A copy of a box, by one lane.
    pub fn tensor(&mut self, tensor: &Tensor, lane: usize, pc: u32) {
        let address = self.address(&tensor.map, lane);
        let Some(object) = self.read_map(Space::Generic, address, lane, pc) else {
            return;
        };
        let mapped = match TensorMap::decode(&object) {
            Ok(mapped) => mapped,
            Err(what) => return self.no_tensor(what, pc),
        };
        let rank = mapped.0.dims.len();
        let wanted = if tensor.rows { 2 } else { tensor.coords.len() };
        if rank != wanted {
            let message = format!("copies a box of {wanted} dimensions of a tensor that has {rank}");
            return self.complain(codes::ASYNC012, pc, lane, message);
        }
        let start: Vec<i32> = tensor
            .coords
            .iter()
            .map(|slot| self.warp.file.read(*slot, lane) as i32)
            .collect();
        let rows = rows(&mapped, &start, tensor.rows);
        match &tensor.way {
            Way::Prefetch => {}
            Way::Load { to, bar, multicast } => {
                let ranks: Vec<Option<u64>> = match multicast {
                    None => vec![None],
                    Some(mask) => {
                        let mask = self.warp.file.read(*mask, lane);
                        (0..16).filter(|rank| mask >> rank & 1 == 1).map(Some).collect()
                    }
                };
                self.load_box(&mapped.0, &rows, (to, bar), &ranks, lane, pc);
            }
            Way::Store { from, reduce } => {
                let kind = match reduce {
                    None => WHOLE,
                    Some(all) => match all.get(usize::from(mapped.0.element)).copied().flatten() {
                        Some(at) => Kind::Reduce(at),
                        None => return self.no_tensor("a reduction of elements of this type".into(), pc),
                    },
                };
                self.store_box(&mapped.0, &rows, from, kind, lane, pc);
            }
        }
    }

    fn no_tensor(&mut self, what: String, pc: u32) {
        let site = self.site(pc);
        self.stop(Stop::Unsupported { site, what });
    }

    /// The bytes of a tensor map.
    fn read_map(&mut self, space: Space, address: u64, lane: usize, pc: u32) -> Option<[u8; SIZE]> {
        let mut object = [0; SIZE];
        for (at, part) in object.chunks_exact_mut(16).enumerate() {
            let spot = self.spot(space, address.wrapping_add(16 * at as u64), 16, lane, pc, false)?;
            let value = self.block(spot.block)?.load(spot.at, 16);
            part.copy_from_slice(&value.to_le_bytes());
        }
        Some(object)
    }

    /// A box comes into shared memory: what is outside of the tensor is filled.
    fn load_box(
        &mut self,
        map: &TensorMap,
        rows: &[Row],
        (to, bar): (&Place, &Place),
        ranks: &[Option<u64>],
        lane: usize,
        pc: u32,
    ) {
        let there = self.address(to, lane);
        let size = map.row_bytes() * rows.len() as u64;
        if !self.is_aligned(there, lane, pc) {
            return;
        }
        let mut bytes = vec![0; size as usize];
        if map.nan {
            fill_nan(map, &mut bytes);
        }
        for row in rows {
            let len = row.inside.end - row.inside.start;
            if len == 0 {
                continue;
            }
            let Some(data) = self.source(Space::Global, row.address, len, true, lane, pc) else {
                return;
            };
            if let Some(place) = bytes.get_mut((row.at + row.inside.start) as usize..(row.at + row.inside.end) as usize)
            {
                place.copy_from_slice(&data);
            }
        }
        let bytes = mix(&bytes, there, map.swizzle);
        for rank in ranks {
            let reach = |ctx: &mut Self, address: u64, space| match rank {
                None => (address, space),
                Some(rank) => (ctx.map_to(address, *rank, false), Space::SharedCluster),
            };
            let (target, space) = reach(self, there, to.space);
            let Some(spot) = self.range(space, target, size, 16, lane, pc) else {
                continue;
            };
            let object = self.address(bar, lane);
            let (object, space) = reach(self, object, bar.space);
            if let Some(bar) = self.spot(space, object, 8, lane, pc, true) {
                self.depart(spot, bytes.clone(), WHOLE, lane, pc, Some((bar.block, bar.at)), true);
            }
        }
    }

    /// A box leaves shared memory; what is outside of the tensor is dropped.
    fn store_box(&mut self, map: &TensorMap, rows: &[Row], from: &Place, kind: Kind, lane: usize, pc: u32) {
        let here = self.address(from, lane);
        let size = map.row_bytes() * rows.len() as u64;
        if !self.is_aligned(here, lane, pc) {
            return;
        }
        let Some(bytes) = self.source(from.space, here, size, true, lane, pc) else {
            return;
        };
        // Mixing twice is no mixing.
        let bytes = mix(&bytes, here, map.swizzle);
        for row in rows {
            let Some(data) = bytes.get((row.at + row.inside.start) as usize..(row.at + row.inside.end) as usize) else {
                continue;
            };
            if data.is_empty() {
                continue;
            }
            let unit = u64::from(map.element_bits() / 8).max(1);
            let Some(spot) = self.range(Space::Global, row.address, data.len() as u64, unit, lane, pc) else {
                return;
            };
            self.depart(spot, data.to_vec(), kind, lane, pc, None, true);
        }
    }

    fn is_aligned(&mut self, address: u64, lane: usize, pc: u32) -> bool {
        let aligned = address.is_multiple_of(128);
        if !aligned {
            let message = format!("a box at {address:#x} of shared memory, which is no multiple of 128");
            self.complain(codes::ASYNC012, pc, lane, message);
        }
        aligned
    }

    /// `tensormap.replace`, by one lane.
    pub fn replace_map(&mut self, replace: &Replace, lane: usize, pc: u32) {
        let address = self.address(&replace.at, lane);
        let value = self.warp.file.read(replace.value, lane);
        let Some(spot) = self.range(replace.at.space, address, SIZE as u64, 16, lane, pc) else {
            return;
        };
        self.visit_range(spot, SIZE, WHOLE, lane, pc);
        if let Some(block) = self.block(spot.block) {
            block.store(spot.at + replace.field, replace.bytes, u128::from(value));
        }
    }

    /// `tensormap.cp_fenceproxy`: the warp copies a map together.
    pub fn copy_map(&mut self, to: &Place, from: &Place, split: Split) {
        let lane = split.mask.trailing_zeros() as usize & 31;
        let here = self.address(from, lane);
        let there = self.address(to, lane);
        let Some(object) = self.source(from.space, here, SIZE as u64, false, lane, split.pc) else {
            return;
        };
        let Some(spot) = self.range(to.space, there, SIZE as u64, 16, lane, split.pc) else {
            return;
        };
        self.visit_range(spot, SIZE, WHOLE, lane, split.pc);
        if let Some(block) = self.block(spot.block) {
            for (at, byte) in object.iter().enumerate() {
                block.store(spot.at + at, 1, u128::from(*byte));
            }
        }
        self.fence(true);
    }
}

/// A box as it lies in shared memory from `base` on, or back.
fn mix(bytes: &[u8], base: u64, swizzle: u8) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for (nth, piece) in bytes.chunks_exact(16).enumerate() {
        let address = base.wrapping_add(16 * nth as u64);
        let to = swizzled(address, swizzle).wrapping_sub(base) as usize;
        if let Some(place) = out.get_mut(to..to.wrapping_add(16)) {
            place.copy_from_slice(piece);
        }
    }
    out
}

/// Every element becomes a NaN.
fn fill_nan(map: &TensorMap, bytes: &mut [u8]) {
    let format = crate::ptx::num::convert::format(map.element_type());
    let nan = format.map_or(0, crate::ptx::num::Format::nan).to_le_bytes();
    let size = (map.element_bits() / 8) as usize;
    for element in bytes.chunks_exact_mut(size.max(1)) {
        element.copy_from_slice(&nan[..size.min(8)]);
    }
}
