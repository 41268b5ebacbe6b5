//! Numbers that rise by the same amount from thread to thread, and what instructions make of them without a look at each.

use super::{Join, Op, Relation, Scalar, extend, truncate};

/// The number in thread `t` is `start + step * t`, in 64 bits that wrap around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ramp {
    start: u64,
    step: u64,
}

/// The numbers of a ramp as they are meant, signed or not: the first, and the difference from one to the next.
#[derive(Clone, Copy, Debug)]
struct Meant {
    start: i128,
    step: i128,
}

impl Ramp {
    /// The same number in every thread.
    pub(in crate::ptx::analysis) fn constant(start: u64) -> Self {
        Self { start, step: 0 }
    }

    /// The index of each of so many threads.
    pub(in crate::ptx::analysis) fn rising(threads: u32) -> Self {
        Self {
            start: 0,
            step: u64::from(threads > 1),
        }
    }

    /// The ramp that these numbers are, if they are one.
    pub(in crate::ptx::analysis) fn of(values: &[u64]) -> Option<Self> {
        let (&start, rest) = values.split_first()?;
        let step = rest.first().map_or(0, |second| second.wrapping_sub(start));
        let pairs = values.iter().zip(rest);
        let even = pairs.into_iter().all(|(one, next)| next.wrapping_sub(*one) == step);
        even.then_some(Self { start, step })
    }

    /// The number in a thread.
    #[inline]
    pub(in crate::ptx::analysis) fn at(self, thread: usize) -> u64 {
        self.start.wrapping_add(self.step.wrapping_mul(thread as u64))
    }

    /// All numbers, made greater by one amount.
    pub(in crate::ptx::analysis) fn raised(self, by: u64) -> Self {
        Self {
            start: self.start.wrapping_add(by),
            ..self
        }
    }

    /// The number, where it is the same in every thread.
    pub(in crate::ptx::analysis) fn as_constant(self) -> Option<u64> {
        (self.step == 0).then_some(self.start)
    }

    /// The difference from one thread to the next.
    pub(in crate::ptx::analysis) fn step(self) -> i64 {
        self.step as i64
    }

    /// The least and the greatest number up to thread `last`, unless the numbers wrap around.
    pub(in crate::ptx::analysis) fn ends(self, last: usize) -> Option<(u64, u64)> {
        let meant = self.meant(64, false, last)?;
        let (a, b) = (meant.start as u64, meant.at(last) as u64);
        Some((a.min(b), a.max(b)))
    }

    /// As numbers of so many bits; none where they wrap around on the way, or change their sign.
    fn meant(self, bits: u32, signed: bool, last: usize) -> Option<Meant> {
        let range = 1i128 << bits;
        let read = |number: u64| match signed {
            true => i128::from(extend(truncate(number, bits), bits)),
            false => i128::from(truncate(number, bits)),
        };
        let meant = Meant {
            start: read(self.start),
            step: i128::from(self.step as i64),
        };
        if self.step == 0 {
            return Some(meant);
        }
        let (low, high) = if signed { (-range / 2, range / 2) } else { (0, range) };
        // What lies between two numbers in the range lies in it, too.
        (low..high).contains(&meant.at(last)).then_some(meant)
    }
}

impl Meant {
    fn at(self, thread: usize) -> i128 {
        self.start + self.step * thread as i128
    }

    fn minus(self, other: Meant) -> Meant {
        Meant {
            start: self.start - other.start,
            step: self.step - other.step,
        }
    }

    fn plus(self, other: Meant) -> Meant {
        Meant {
            start: self.start + other.start,
            step: self.step + other.step,
        }
    }

    /// The product, where one of them is the same in every thread.
    fn times(self, other: Meant) -> Option<Meant> {
        let (one, by) = if other.step == 0 { (self, other) } else { (other, self) };
        (by.step == 0).then_some(Meant {
            start: one.start * by.start,
            step: one.step * by.start,
        })
    }

    /// As the low bits of a register; none where they wrap around on the way.
    fn cut(self, bits: u32, last: usize) -> Option<Ramp> {
        let range = 1i128 << bits;
        let start = self.start.rem_euclid(range);
        let end = start + self.step * last as i128;
        (self.step == 0 || (0..range).contains(&end)).then_some(Ramp {
            start: start as u64,
            step: self.step as u64,
        })
    }
}

impl Scalar {
    /// The result for ramps up to thread `last`, where it is one and that is plain to see.
    pub(in crate::ptx::analysis) fn apply_ramps(self, sources: &[Ramp], last: usize) -> Option<Ramp> {
        if self.out == 64
            && self.bits == 64
            && let Some(wrapped) = self.wrapping(sources)
        {
            return Some(wrapped);
        }
        let source = |at: usize| sources.get(at).copied();
        let meant = |at: usize| source(at)?.meant(self.bits, self.signed, last);
        let whole = |ramp: Ramp| ramp.meant(self.out, false, last)?.cut(self.out, last);
        let sum = match self.op {
            Op::Copy => return whole(source(0)?),
            Op::Select => {
                let choice = source(2)?.as_constant()?;
                return whole(source(usize::from(choice & 1 == 0))?);
            }
            Op::And => return self.masked(source(0)?, source(1)?, last),
            Op::Or => return whole(disjoint(source(0)?, source(1)?)?),
            Op::Shr => return self.shifted(meant(0)?, source(1)?.as_constant()?, last),
            Op::Compare(relation, join) => {
                let with = match join {
                    Some(join) => Some((join, source(2)?.as_constant()?)),
                    None => None,
                };
                return compared(relation, with, meant(0)?.minus(meant(1)?), last);
            }
            Op::Convert => meant(0)?,
            Op::Add => meant(0)?.plus(meant(1)?),
            Op::Sub => meant(0)?.minus(meant(1)?),
            Op::Mul if self.bits <= 32 => meant(0)?.times(meant(1)?)?,
            // The addend has the width of the result.
            Op::Mad if self.bits <= 32 => {
                let addend = source(2)?.meant(self.out, false, last)?;
                meant(0)?.times(meant(1)?)?.plus(addend)
            }
            Op::Shl if self.bits <= 32 => {
                let by = source(1)?.as_constant().filter(|by| *by < 32)?;
                let meant = meant(0)?;
                Meant {
                    start: meant.start << by,
                    step: meant.step << by,
                }
            }
            Op::Min | Op::Max => {
                let (a, b) = (meant(0)?, meant(1)?);
                let more = a.minus(b);
                let first = more.start >= 0;
                if first != (more.at(last) >= 0) {
                    return None;
                }
                if first == (self.op == Op::Max) { a } else { b }
            }
            _ => return None,
        };
        sum.cut(self.out, last)
    }

    /// Sums and products of 64 bits, which may wrap around.
    fn wrapping(self, sources: &[Ramp]) -> Option<Ramp> {
        let source = |at: usize| sources.get(at).copied();
        let plus = |a: Ramp, b: Ramp| Ramp {
            start: a.start.wrapping_add(b.start),
            step: a.step.wrapping_add(b.step),
        };
        let times = |a: Ramp, by: u64| Ramp {
            start: a.start.wrapping_mul(by),
            step: a.step.wrapping_mul(by),
        };
        let product = |a: Ramp, b: Ramp| match (a.as_constant(), b.as_constant()) {
            (_, Some(by)) => Some(times(a, by)),
            (Some(by), _) => Some(times(b, by)),
            _ => None,
        };
        match self.op {
            Op::Copy => source(0),
            Op::Add => Some(plus(source(0)?, source(1)?)),
            Op::Sub => Some(plus(source(0)?, times(source(1)?, u64::MAX))),
            Op::Mul => product(source(0)?, source(1)?),
            Op::Mad => Some(plus(product(source(0)?, source(1)?)?, source(2)?)),
            Op::Shl => {
                let by = source(1)?.as_constant().filter(|by| *by < 64)?;
                Some(times(source(0)?, 1 << by))
            }
            _ => None,
        }
    }

    /// A mask that takes nothing away.
    fn masked(self, a: Ramp, b: Ramp, last: usize) -> Option<Ramp> {
        let (ramp, mask) = match b.as_constant() {
            Some(mask) => (a, mask),
            None => (b, a.as_constant()?),
        };
        let low = mask.trailing_ones().min(self.out);
        let (_, greatest) = ramp.ends(last)?;
        (low >= 64 || greatest >> low == 0).then_some(ramp)
    }

    /// `shr` of numbers that have nothing in the bits it takes away.
    fn shifted(self, value: Meant, by: u64, last: usize) -> Option<Ramp> {
        let by = u32::try_from(by).ok().filter(|by| *by < self.bits)?;
        let even = |number: i128| number & ((1 << by) - 1) == 0;
        let positive = value.start >= 0 && value.at(last) >= 0;
        (positive && even(value.start) && even(value.step)).then_some(Ramp {
            start: (value.start >> by) as u64,
            step: (value.step >> by) as u64,
        })
    }
}

/// `or` of numbers that share no bit is a sum: one lies below all bits of the other.
fn disjoint(a: Ramp, b: Ramp) -> Option<Ramp> {
    let (ramp, bits) = match b.as_constant() {
        Some(bits) => (a, bits),
        None => (b, a.as_constant()?),
    };
    let free = ramp.start.trailing_zeros().min(ramp.step.trailing_zeros());
    (free >= 64 || bits >> free == 0).then_some(ramp.raised(bits))
}

/// A comparison that comes out alike in all threads; `more` is how much the first is greater.
fn compared(relation: Relation, with: Option<(Join, u64)>, more: Meant, last: usize) -> Option<Ramp> {
    let holds = |more: i128| super::compare(relation, None, more, 0, 0);
    let first = holds(more.start);
    let alike = match relation {
        // The difference may be zero in one thread between.
        Relation::Eq | Relation::Ne => {
            let meets = more.step != 0 && more.start % more.step == 0;
            let thread = if meets { -more.start / more.step } else { -1 };
            more.step == 0 || !(0..=last as i128).contains(&thread)
        }
        _ => first == holds(more.at(last)),
    };
    let (join, other) = match with {
        Some((join, other)) => (Some(join), other),
        None => (None, 0),
    };
    let joined = super::joined(first, join, other);
    alike.then_some(Ramp::constant(u64::from(joined)))
}

#[cfg(test)]
mod tests {
    use super::super::decode;
    use super::*;
    use crate::ptx::ir::Inst;

    const LAST: usize = 255;

    /// Every instruction, of every kind of source: what is said at once is what each thread says for itself.
    #[test]
    fn like_thread_by_thread() {
        let opcodes = [
            "add.s32",
            "add.u64",
            "sub.s32",
            "sub.s64",
            "mul.lo.s32",
            "mul.lo.u64",
            "mul.wide.s32",
            "mul.wide.u32",
            "mad.lo.s32",
            "mad.lo.s64",
            "mad.wide.u32",
            "mad.wide.s32",
            "shl.b32",
            "shl.b64",
            "shr.u32",
            "shr.s32",
            "shr.u64",
            "and.b32",
            "and.b64",
            "or.b32",
            "or.b64",
            "mov.u32",
            "mov.b64",
            "cvt.u64.u32",
            "cvt.s64.s32",
            "cvt.u32.u64",
            "cvt.u16.u32",
            "cvt.s32.s16",
            "min.s32",
            "max.u32",
            "max.s64",
            "setp.lt.s32",
            "setp.ge.u32",
            "setp.eq.s32",
            "setp.ne.u64",
            "setp.gt.and.s32",
            "setp.lt.or.u64",
            "selp.b32",
            "selp.b64",
            "xor.b32",
            "div.u32",
            "rem.u32",
        ];
        let starts = [
            0,
            1,
            5,
            31,
            32,
            64,
            255,
            256,
            4096,
            0x7fff_ff80,
            0xffff_ff00,
            0xffff_fffb,
            1 << 40,
            u64::MAX - 3,
        ];
        let steps = [0, 1, 2, 4, 8, 12, 1 << 20, 1 << 33, u64::MAX, u64::MAX - 3];
        let mut ramps = Vec::new();
        for start in starts {
            ramps.extend(steps.map(|step| Ramp { start, step }));
        }
        let (mut told, mut asked) = (0, 0);
        for opcode in opcodes {
            let scalar = decode(&Inst::new(opcode, [])).unwrap();
            for (at, a) in ramps.iter().enumerate() {
                for (by, b) in ramps.iter().enumerate().filter(|(by, _)| (at + by) % 11 == 0) {
                    let c = ramps[(at * 7 + by) % ramps.len()];
                    let sources = [*a, *b, c];
                    asked += 1;
                    let Some(ramp) = scalar.apply_ramps(&sources, LAST) else {
                        continue;
                    };
                    told += 1;
                    for thread in 0..=LAST {
                        let single = scalar.apply(&sources.map(|source| source.at(thread)));
                        assert_eq!(Some(ramp.at(thread)), single, "{opcode} {sources:?} in thread {thread}");
                    }
                }
            }
        }
        assert!(told * 4 > asked, "{told} of {asked} are seen");
    }

    #[test]
    fn numbers_of_a_ramp() {
        assert_eq!(Ramp::of(&[3, 5, 7]), Some(Ramp { start: 3, step: 2 }));
        assert_eq!(Ramp::of(&[3, 5, 8]), None);
        assert_eq!(Ramp { start: 8, step: 4 }.ends(3), Some((8, 20)));
        assert_eq!(
            Ramp {
                start: 2,
                step: u64::MAX
            }
            .ends(3),
            None
        );
    }
}
