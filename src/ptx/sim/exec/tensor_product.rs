//! `tcgen05.mma`, `tcgen05.cp`, `tcgen05.commit`: one thread starts what the tensor core does with tensor memory.
//!
//! Products are computed where they are issued, exactly, and added to the sums in doubles; the result is rounded once. Until
//! their commit has been waited for, reading the sums is a fault.

use super::super::Stop;
use super::super::fault::codes;
use super::super::program::{Access, Extend, Left, Order, Place, TensorCopy, TensorKind, TensorProduct};
use super::copies::Kind;
use super::state::Ctx;
use crate::ptx::num::Round;
use crate::ptx::num::descriptor::{Descriptor, Instruction};
use crate::ptx::num::{single, tensor};
use crate::ptx::types::{Space, Type};
use smallvec::SmallVec;

/// A factor: numbers line after line.
#[derive(Default)]
struct Factor {
    floats: Vec<f64>,
    ints: Vec<i64>,
}

/// The types of the factors, and bytes of an element of them in shared memory.
fn types(kind: TensorKind, codes: [u32; 2]) -> Option<([Type; 2], u32)> {
    let one = |code: u32| {
        Some(match (kind, code) {
            (TensorKind::F16, 0) => Type::F16,
            (TensorKind::F16, 1) => Type::Bf16,
            (TensorKind::Tf32, 2) => Type::Tf32,
            (TensorKind::F8f6f4, 0) => Type::E4m3,
            (TensorKind::F8f6f4, 1) => Type::E5m2,
            (TensorKind::F8f6f4, 3) => Type::E2m3,
            (TensorKind::F8f6f4, 4) => Type::E3m2,
            (TensorKind::F8f6f4, 5) => Type::E2m1,
            (TensorKind::I8, 0) => Type::U8,
            (TensorKind::I8, 1) => Type::S8,
            (TensorKind::F4, 1) => Type::E2m1,
            _ => return None,
        })
    };
    let bytes = match kind {
        TensorKind::F16 => 2,
        TensorKind::Tf32 => 4,
        TensorKind::F8f6f4 | TensorKind::I8 | TensorKind::F4 => 1,
    };
    Some(([one(codes[0])?, one(codes[1])?], bytes))
}

/// The lane of tensor memory that has a row of the sums.
fn lane_of(m: u32, row: u32) -> u32 {
    // Half as many rows take the first half of each 32 lanes.
    if m == 64 { row / 16 * 32 + row % 16 } else { row }
}

impl Ctx<'_> {
    fn refuse(&mut self, what: &str, pc: u32) {
        let site = self.site(pc);
        let what = format!("`tcgen05`: {what}");
        self.stop(Stop::Unsupported { site, what });
    }

    /// `tcgen05.mma`, by one lane.
    pub fn tensor_product(&mut self, product: &TensorProduct, lane: usize, pc: u32) {
        let descriptor = Instruction::new(self.warp.file.read(product.descriptor, lane) as u32);
        let known = types(product.kind, descriptor.types);
        let (m, n) = (descriptor.m, descriptor.n);
        let integral = product.kind == TensorKind::I8;
        let sums = if integral { 2 } else { 1 };
        let scaled = product.scales.is_some();
        let plain = !descriptor.sparse && (scaled && m == 128 && !descriptor.long || !scaled && descriptor.d == sums);
        let shaped = matches!(m, 64 | 128) && (8..=256).contains(&n) && n.is_multiple_of(if m == 64 { 8 } else { 16 });
        let (Some((types, bytes)), true) = (known, shaped && plain) else {
            let what = format!("an instruction descriptor with a shape of {m} by {n}, or types, that are not modelled");
            return self.refuse(&what, pc);
        };
        let (first_lane, first) = self.tensor_place(product.to.0, product.to.1, lane);
        if first_lane != 0 {
            return self.refuse("sums that do not begin in lane 0", pc);
        }
        if !self.has_columns(first, n, lane, pc) {
            return;
        }
        let packed = product.kind == TensorKind::F4;
        let (long, k) = (32 / bytes, if packed { 64 } else { 32 / bytes });
        let a = match product.a {
            Left::Shared(slot) => self.shared_lines(
                slot,
                (m, long, bytes),
                (types[0], packed),
                descriptor.transposed[0],
                lane,
                pc,
            ),
            Left::Tensor(slot, offset) => {
                self.tensor_lines((slot, offset), (m, long, bytes), (types[0], packed), lane, pc)
            }
        };
        let Some(mut a) = a else { return };
        let lines = (n, long, bytes);
        let Some(mut b) = self.shared_lines(product.b, lines, (types[1], packed), descriptor.transposed[1], lane, pc)
        else {
            return;
        };
        if let Some(scales) = &product.scales {
            let fine = self.scale_factor(
                &mut a,
                scales.a,
                (m, k, scales.chunks),
                (descriptor.scales[0], &descriptor),
                lane,
                pc,
            ) && self.scale_factor(
                &mut b,
                scales.b,
                (n, k, scales.chunks),
                (descriptor.scales[1], &descriptor),
                lane,
                pc,
            );
            if !fine {
                return;
            }
        }
        let keep = self.warp.file.read(product.input, lane) == 1;
        let masked: Vec<u32> = product
            .masked
            .iter()
            .map(|slot| self.warp.file.read(*slot, lane) as u32)
            .collect();
        let sign = if descriptor.negate[0] == descriptor.negate[1] {
            1
        } else {
            -1
        };
        let scale = (0..product.shift.min(15)).fold(1.0, |scale, _| scale / 2.0);
        let mut unwritten = None;
        let tensors = &mut self.hall.tensors;
        for row in 0..m {
            let there = lane_of(m, row);
            if masked
                .get(there as usize / 32)
                .is_some_and(|mask| mask >> (there % 32) & 1 == 1)
            {
                continue;
            }
            for column in 0..n {
                let old = if keep { tensors.read(there, first + column) } else { 0 };
                if keep && !tensors.is_written(there, first + column) {
                    unwritten.get_or_insert((there, first + column));
                }
                let pairs = |at: u32| ((row * k + at) as usize, (column * k + at) as usize);
                let new = match integral {
                    true => {
                        let products = (0..k).map(pairs).map(|(x, y)| a.ints[x] * b.ints[y]);
                        let sum = i64::from(old.cast_signed()) + i64::from(sign) * products.sum::<i64>();
                        match descriptor.saturate {
                            true => (sum.clamp(i32::MIN.into(), i32::MAX.into()) as i32).cast_unsigned(),
                            false => sum as u32,
                        }
                    }
                    false => {
                        let start = f64::from(f32::from_bits(old)) * scale;
                        let products = (0..k).map(pairs).map(|(x, y)| a.floats[x] * b.floats[y]);
                        let sum = products.fold(start, |sum, product| sum + f64::from(sign) * product);
                        single::narrow(sum, Round::Rn)
                    }
                };
                tensors.write(there, first + column, new);
            }
        }
        if let Some((there, column)) = unwritten.filter(|_| self.world.options.checks.memory) {
            let message = format!("adds to lane {there}, column {column} of tensor memory, which nothing has written");
            self.complain(codes::FLOW004, pc, lane, message);
        }
        self.writes_columns(first, n, lane, pc);
    }

    /// Multiplies the lines of a factor by their scales: those of 32 lines are in a column, one line a lane, and so again in
    /// each quarter of the lanes.
    fn scale_factor(
        &mut self,
        factor: &mut Factor,
        (slot, offset): (super::super::lanes::Slot, u64),
        (lines, k, chunks): (u32, u32, u32),
        (byte, descriptor): (u32, &Instruction),
        lane: usize,
        pc: u32,
    ) -> bool {
        let (_, first) = self.tensor_place(slot, offset, lane);
        if !self.has_columns(first, lines.div_ceil(32), lane, pc) {
            return false;
        }
        for line in 0..lines {
            let word = self.hall.tensors.read(line % 32, first + line / 32);
            for at in 0..k {
                let nth = (byte + at * chunks / k) & 3;
                let scale = tensor::scale(descriptor.powers, (word >> (8 * nth)) as u8);
                if let Some(number) = factor.floats.get_mut((line * k + at) as usize) {
                    *number *= scale;
                }
            }
        }
        true
    }

    /// Lines along k of a factor in shared memory.
    fn shared_lines(
        &mut self,
        slot: super::super::lanes::Slot,
        (lines, k, bytes): (u32, u32, u32),
        (ty, packed): (Type, bool),
        transposed: bool,
        lane: usize,
        pc: u32,
    ) -> Option<Factor> {
        let bits = self.warp.file.read(slot, lane);
        let Some(descriptor) = Descriptor::of_tensor_core(bits).filter(|descriptor| descriptor.base == 0) else {
            self.refuse("a matrix descriptor that is not modelled", pc);
            return None;
        };
        let access = shared_access();
        let mut factor = Factor::default();
        let mut known: Option<(u32, u32)> = None;
        for line in 0..lines {
            for at in 0..k {
                let address = descriptor.address(line, at, bytes, transposed);
                let start = address & !3;
                let word = match known.filter(|(place, _)| *place == start) {
                    Some((_, word)) => word,
                    None => self.read_async(&access, u64::from(start), lane, pc) as u32,
                };
                known = Some((start, word));
                factor.push(word >> (8 * (address & 3)), ty, bytes, packed);
            }
        }
        Some(factor)
    }

    /// Lines along k of a factor in tensor memory, where elements share columns.
    fn tensor_lines(
        &mut self,
        (slot, offset): (super::super::lanes::Slot, u64),
        (lines, k, bytes): (u32, u32, u32),
        (ty, packed): (Type, bool),
        lane: usize,
        pc: u32,
    ) -> Option<Factor> {
        let (first_lane, first) = self.tensor_place(slot, offset, lane);
        if first_lane != 0 {
            self.refuse("a factor that does not begin in lane 0", pc);
            return None;
        }
        if !self.has_columns(first, k * bytes / 4, lane, pc) {
            return None;
        }
        let mut factor = Factor::default();
        for line in 0..lines {
            for at in 0..k {
                let byte = at * bytes;
                let word = self.hall.tensors.read(lane_of(lines, line), first + byte / 4);
                factor.push(word >> (8 * (byte % 4)), ty, bytes, packed);
            }
        }
        Some(factor)
    }

    /// `tcgen05.cp`, by one lane.
    pub fn tensor_copy(&mut self, copy: &TensorCopy, lane: usize, pc: u32) {
        let bits = self.warp.file.read(copy.from, lane);
        let Some(descriptor) = Descriptor::of_tensor_core(bits).filter(|descriptor| descriptor.base == 0) else {
            return self.refuse("a matrix descriptor that is not modelled", pc);
        };
        let (first_lane, first) = self.tensor_place(copy.to.0, copy.to.1, lane);
        if first_lane != 0 {
            return self.refuse("a copy that does not begin in lane 0", pc);
        }
        let columns = copy.bytes / 4;
        if !self.has_columns(first, columns, lane, pc) {
            return;
        }
        let access = shared_access();
        for to in 0..128u32 {
            let row = copy.parts[to as usize / 32 % 4] + to % 32;
            for column in 0..columns {
                let address = descriptor.address(row, 4 * column, 1, false);
                let word = self.read_async(&access, u64::from(address), lane, pc) as u32;
                self.hall.tensors.write(to, first + column, word);
            }
        }
        self.writes_columns(first, columns, lane, pc);
    }

    /// `tcgen05.commit`: the mbarrier is arrived at when what the thread has started is over.
    pub fn tensor_commit(&mut self, bar: &Place, multicast: Option<super::super::lanes::Slot>, lane: usize, pc: u32) {
        let mut bars = Vec::new();
        match multicast {
            None => bars.extend(self.mbarrier_spot(bar, lane, pc)),
            Some(mask) => {
                let (mask, address) = (self.warp.file.read(mask, lane), self.address(bar, lane));
                for rank in (0..16).filter(|rank| mask >> rank & 1 == 1) {
                    let there = self.map_to(address, rank, bar.space == Space::Generic);
                    bars.extend(self.spot(bar.space, there, 8, lane, pc, true));
                }
            }
        }
        let me = self.warp.index * 32 + lane as u32;
        let tensors = &mut self.hall.tensors;
        tensors.commits += 1;
        let commit = tensors.commits;
        let mine = tensors
            .writing
            .iter_mut()
            .filter(|writing| writing.thread == me && writing.commit.is_none());
        mine.for_each(|writing| writing.commit = Some(commit));
        for spot in bars {
            self.arrive_later((spot.block, spot.at), Kind::Arrive(commit), spot, lane, pc);
        }
    }
}

impl Factor {
    fn push(&mut self, bits: u32, ty: Type, bytes: u32, packed: bool) {
        let bits = if bytes < 4 {
            bits & ((1 << (8 * bytes)) - 1)
        } else {
            bits
        };
        match ty {
            Type::U8 => self.ints.push(i64::from(bits)),
            Type::S8 => self.ints.push(i64::from(bits as u8 as i8)),
            // Two to a byte.
            Type::E2m1 if packed => {
                let two = [bits & 15, bits >> 4].map(|code| tensor::element(ty, 4, code).unwrap_or(0.0));
                self.floats.extend(two);
            }
            _ => self.floats.push(tensor::element(ty, 8 * bytes, bits).unwrap_or(0.0)),
        }
    }
}

/// Words of shared memory.
fn shared_access() -> Access {
    Access {
        space: Space::Shared,
        ty: Type::B32,
        bytes: 4,
        address: super::super::lanes::Slot::Word(0),
        offset: 0,
        regs: SmallVec::new(),
        extend: Extend::Zero,
        order: Order::default(),
        read_only: false,
    }
}
