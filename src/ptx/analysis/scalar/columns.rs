//! One instruction for many threads at once.

use super::{Op, Ramp, Scalar, compare, extend, lop3, truncate};
use smallvec::SmallVec;
use std::borrow::Cow;

/// A source of many threads.
#[derive(Clone, Copy, Debug)]
pub(in crate::ptx::analysis) enum Column<'a> {
    /// The same number in all of them.
    Same(u64),
    /// Numbers that rise from thread to thread.
    Ramp(Ramp),
    /// A number for each.
    Each(&'a [u64]),
}

impl<'a> Column<'a> {
    /// The numbers of the first threads.
    fn numbers(self, threads: usize) -> Cow<'a, [u64]> {
        match self {
            Column::Same(value) => Cow::Owned(vec![value; threads]),
            Column::Ramp(ramp) => Cow::Owned((0..threads).map(|thread| ramp.at(thread)).collect()),
            Column::Each(values) => Cow::Borrowed(values),
        }
    }
}

/// Fills in what two sources make, thread by thread; loops as plain as this one run on many threads at once.
#[inline]
fn fill(out: &mut [u64], (a, b): (&[u64], &[u64]), make: impl Fn(u64, u64) -> u64) {
    for (place, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        *place = make(*a, *b);
    }
}

#[inline]
fn fill_three(out: &mut [u64], (a, b): (&[u64], &[u64]), c: &[u64], make: impl Fn(u64, u64, u64) -> u64) {
    for ((place, (a, b)), c) in out.iter_mut().zip(a.iter().zip(b)).zip(c) {
        *place = make(*a, *b, *c);
    }
}

impl Scalar {
    /// The results for many threads; `false` where one is undefined.
    pub(in crate::ptx::analysis) fn apply_all(self, columns: &[Column], out: &mut [u64]) -> bool {
        let numbers: SmallVec<[Cow<[u64]>; 4]> = columns.iter().map(|column| column.numbers(out.len())).collect();
        match &numbers[..] {
            [a] if self.of_one(a, out) => true,
            [a, b] if self.of_two((a, b), out) => true,
            [a, b, c] if self.of_three((a, b), c, out) => true,
            _ => self.one_by_one(&numbers, out),
        }
    }

    /// Whatever has no quicker way.
    fn one_by_one(self, numbers: &[Cow<[u64]>], out: &mut [u64]) -> bool {
        let mut sources = [0u64; 4];
        let count = numbers.len().min(4);
        for (thread, place) in out.iter_mut().enumerate() {
            for (source, numbers) in sources.iter_mut().zip(numbers) {
                *source = numbers.get(thread).copied().unwrap_or(0);
            }
            match self.apply(&sources[..count]) {
                Some(result) => *place = result,
                None => return false,
            }
        }
        true
    }

    /// A number as the instruction reads it, in 64 bits.
    #[inline]
    fn read(self, value: u64) -> u64 {
        match self.signed {
            true => extend(truncate(value, self.bits), self.bits) as u64,
            false => truncate(value, self.bits),
        }
    }

    /// A number such that comparing two without a sign is comparing what they mean.
    #[inline]
    fn order(self, value: u64) -> u64 {
        self.read(value) ^ if self.signed { 1 << 63 } else { 0 }
    }

    fn of_one(self, a: &[u64], out: &mut [u64]) -> bool {
        match self.op {
            Op::Convert => fill(out, (a, a), |a, _| truncate(self.read(a), self.out)),
            Op::Copy => fill(out, (a, a), |a, _| truncate(a, self.out)),
            _ => return false,
        }
        true
    }

    fn of_two(self, sources: (&[u64], &[u64]), out: &mut [u64]) -> bool {
        let cut = |value: u64| truncate(value, self.out);
        // No bit of the sources above the result's matters, or none is lost in 64 bits.
        let plain = self.out == self.bits;
        match self.op {
            Op::Add if plain => fill(out, sources, |a, b| cut(a.wrapping_add(b))),
            Op::Sub if plain => fill(out, sources, |a, b| cut(a.wrapping_sub(b))),
            Op::Mul if plain => fill(out, sources, |a, b| cut(a.wrapping_mul(b))),
            Op::Mul if self.bits <= 32 => fill(out, sources, |a, b| cut(self.read(a).wrapping_mul(self.read(b)))),
            Op::And if plain => fill(out, sources, |a, b| cut(a & b)),
            Op::Or if plain => fill(out, sources, |a, b| cut(a | b)),
            Op::Xor if plain => fill(out, sources, |a, b| cut(a ^ b)),
            Op::Shl if plain => fill(out, sources, |a, b| cut(if b < 64 { a << b } else { 0 })),
            Op::Shr if self.signed => fill(out, sources, |a, b| cut((self.read(a) as i64 >> b.min(63)) as u64)),
            Op::Shr => fill(out, sources, |a, b| cut(if b < 64 { self.read(a) >> b } else { 0 })),
            Op::Compare(relation, None) => fill(out, sources, |a, b| {
                u64::from(compare(relation, None, self.order(a), self.order(b), 0))
            }),
            _ => return false,
        }
        true
    }

    fn of_three(self, sources: (&[u64], &[u64]), third: &[u64], out: &mut [u64]) -> bool {
        let cut = |value: u64| truncate(value, self.out);
        match self.op {
            Op::Mad if self.bits <= 32 || self.out == self.bits => fill_three(out, sources, third, |a, b, c| {
                cut(self.read(a).wrapping_mul(self.read(b)).wrapping_add(c))
            }),
            Op::Select => fill_three(out, sources, third, |a, b, c| cut(if c & 1 == 1 { a } else { b })),
            Op::Table(table) => fill_three(out, sources, third, |a, b, c| cut(lop3(table, a, b, c) as u64)),
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::decode;
    use super::*;
    use crate::ptx::ir::Inst;

    /// Instructions that have a way of their own for many threads give what they give one by one.
    #[test]
    fn like_one_by_one() {
        let opcodes = [
            "add.s32",
            "add.u64",
            "sub.s32",
            "sub.u64",
            "mul.lo.s32",
            "mul.lo.u64",
            "mul.wide.s32",
            "mul.wide.u32",
            "mul.wide.u16",
            "and.b32",
            "or.b64",
            "xor.b32",
            "shl.b32",
            "shl.b64",
            "shr.u32",
            "shr.s32",
            "shr.u64",
            "shr.s64",
            "shr.s16",
            "setp.lt.s32",
            "setp.ge.u32",
            "setp.eq.s64",
            "setp.gt.s64",
            "setp.le.u64",
            "setp.ne.b32",
            "mad.lo.s32",
            "mad.lo.u64",
            "mad.wide.s32",
            "mad.wide.u32",
            "selp.b32",
            "selp.b64",
            "lop3.b32",
            "cvt.s64.s32",
            "cvt.u64.u32",
            "cvt.u16.u32",
            "cvt.s32.s8",
            "mov.b32",
            "mov.u64",
        ];
        let numbers = [
            0,
            1,
            2,
            3,
            31,
            32,
            33,
            63,
            64,
            65,
            127,
            128,
            0x7fff,
            0x8000,
            0xffff,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            1 << 40,
            1 << 63,
            u64::MAX,
            u64::MAX - 5,
        ];
        let mut columns = [const { Vec::new() }; 3];
        for a in numbers {
            for b in numbers {
                columns[0].push(a);
                columns[1].push(b);
                columns[2].push(a.rotate_left(7) ^ b);
            }
        }
        for opcode in opcodes {
            let table = crate::ptx::ir::Operand::Imm(crate::ptx::ir::Imm::Int(0xca));
            let inst = Inst::new(opcode, if opcode == "lop3.b32" { vec![table] } else { Vec::new() });
            let scalar = decode(&inst).unwrap();
            let sources: Vec<Column> = columns[..scalar.arity]
                .iter()
                .map(|column| Column::Each(column))
                .collect();
            let mut results = vec![0; columns[0].len()];
            assert!(scalar.apply_all(&sources, &mut results));
            for (thread, result) in results.iter().enumerate() {
                let single: Vec<u64> = columns[..scalar.arity].iter().map(|column| column[thread]).collect();
                assert_eq!(scalar.apply(&single), Some(*result), "{opcode} {single:x?}");
            }
        }
    }
}
