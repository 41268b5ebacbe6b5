//! What integer and predicate instructions compute, on 64-bit containers.
//!
//! A value is held zero-extended in a `u64`: its low bits are the register's, the rest is zero. Only instructions
//! that index arithmetic and conditions are made of are known; anything else has no value here, and that is safe.

mod columns;
mod ramp;

pub(super) use columns::Column;
pub use ramp::Ramp;

use crate::ptx::ir::Inst;
use crate::ptx::num::bits::{self, Permute};
use crate::ptx::types::{Kind, Type};

/// An instruction, decoded once, ready to be applied to many threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    op: Op,
    /// Width of the result in bits.
    out: u32,
    /// Width of the sources in bits.
    bits: u32,
    signed: bool,
    /// Number of sources.
    pub(super) arity: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Copy,
    Convert,
    Add,
    Sub,
    Mul,
    MulHigh,
    Mad,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Not,
    LogicalNot,
    Neg,
    Abs,
    Min,
    Max,
    Shl,
    Shr,
    Compare(Relation, Option<Join>),
    /// `set`: all ones or zero.
    Set(Relation),
    Select,
    Extract,
    Insert,
    Count,
    LeadingZeros,
    Reverse,
    /// `shf`: to the left or not, modulo the width or not.
    Funnel(bool, bool),
    Permute,
    Table(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    And,
    Or,
    Xor,
}

/// Decodes an instruction; `None` where what it computes is not known here.
pub(super) fn decode(inst: &Inst) -> Option<Scalar> {
    let op = &inst.op;
    let ty = op.ty()?;
    if !(ty.is_integral() || ty == Type::Pred) || ty.bits() > 64 {
        return None;
    }
    // Saturation, carries and the like change what is computed.
    if op.mods().any(|name| matches!(name, "sat" | "cc" | "x")) {
        return None;
    }
    let wide = op.has("wide");
    let (kind, arity) = operation(inst, ty)?;
    let from = match kind {
        Op::Convert => ty,
        _ => op.types.first().copied().filter(|_| op.base() != "set").unwrap_or(ty),
    };
    let to = match op.base() {
        "setp" => Type::Pred,
        "set" | "cvt" => op.types.first().copied()?,
        "popc" | "clz" => Type::U32,
        _ => ty,
    };
    if !(to.is_integral() || to == Type::Pred) || !(from.is_integral() || from == Type::Pred) {
        return None;
    }
    let signed = if op.base() == "set" { ty } else { from }.kind() == Kind::Signed;
    let bits = if op.base() == "set" { ty } else { from }.bits();
    Some(Scalar {
        op: kind,
        out: to.bits() * if wide { 2 } else { 1 },
        bits,
        signed,
        arity,
    })
}

fn operation(inst: &Inst, ty: Type) -> Option<(Op, usize)> {
    let op = &inst.op;
    Some(match op.base() {
        "mov" | "cvta" => (Op::Copy, 1),
        "cvt" => (Op::Convert, 1),
        "add" => (Op::Add, 2),
        "sub" => (Op::Sub, 2),
        "mul" if op.has("hi") => (Op::MulHigh, 2),
        "mul" | "mul24" => (Op::Mul, 2),
        "mad" | "mad24" if !op.has("hi") => (Op::Mad, 3),
        "div" => (Op::Div, 2),
        "rem" => (Op::Rem, 2),
        "and" => (Op::And, 2),
        "or" => (Op::Or, 2),
        "xor" => (Op::Xor, 2),
        "not" if ty == Type::Pred => (Op::LogicalNot, 1),
        "not" => (Op::Not, 1),
        "neg" => (Op::Neg, 1),
        "abs" => (Op::Abs, 1),
        "min" => (Op::Min, 2),
        "max" => (Op::Max, 2),
        "shl" => (Op::Shl, 2),
        "shr" => (Op::Shr, 2),
        "setp" => comparison(inst)?,
        "set" => (Op::Set(op.mods().find_map(relation)?), 2),
        "selp" => (Op::Select, 3),
        "bfe" => (Op::Extract, 3),
        "bfi" => (Op::Insert, 4),
        "popc" => (Op::Count, 1),
        "clz" => (Op::LeadingZeros, 1),
        "brev" => (Op::Reverse, 1),
        "shf" => (Op::Funnel(op.has("l"), op.has("wrap")), 3),
        "prmt" if op.mods().all(|name| name == "b32") => (Op::Permute, 3),
        "lop3" => (Op::Table(u8::try_from(inst.operands.last()?.as_int()?).ok()?), 3),
        _ => return None,
    })
}

fn comparison(inst: &Inst) -> Option<(Op, usize)> {
    let relation = inst.op.mods().find_map(relation)?;
    let join = inst.op.mods().find_map(|name| match name {
        "and" => Some(Join::And),
        "or" => Some(Join::Or),
        "xor" => Some(Join::Xor),
        _ => None,
    });
    Some((Op::Compare(relation, join), if join.is_some() { 3 } else { 2 }))
}

fn relation(name: &str) -> Option<Relation> {
    Some(match name {
        "eq" => Relation::Eq,
        "ne" => Relation::Ne,
        "lt" | "lo" => Relation::Lt,
        "le" | "ls" => Relation::Le,
        "gt" | "hi" => Relation::Gt,
        "ge" | "hs" => Relation::Ge,
        _ => return None,
    })
}

/// The low `bits` bits of a value.
#[inline]
pub(super) fn truncate(value: u64, bits: u32) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

#[inline]
fn extend(value: u64, bits: u32) -> i64 {
    if bits >= 64 || bits == 0 {
        return value as i64;
    }
    ((value << (64 - bits)) as i64) >> (64 - bits)
}

impl Scalar {
    /// Whether an address goes through it: a sum, a difference, or the addend of a product.
    pub(super) fn is_sum(self) -> bool {
        matches!(self.op, Op::Add | Op::Sub | Op::Mad)
    }

    /// A source that decides the result alone: zero for a product or `and`.
    pub(super) fn absorbs(self, value: u64) -> bool {
        match self.op {
            Op::And | Op::Mul => truncate(value, self.bits) == 0,
            Op::Or => truncate(value, self.bits) == truncate(u64::MAX, self.bits),
            _ => false,
        }
    }

    /// The result for these sources; `None` where it is undefined (division by zero).
    pub(super) fn apply(self, args: &[u64]) -> Option<u64> {
        let source = |at: usize| args.get(at).copied().unwrap_or(0);
        // The usual ones, where the sign makes no difference and no bit above the result's matters.
        if self.out == self.bits {
            let quick = match self.op {
                Op::Add => Some(source(0).wrapping_add(source(1))),
                Op::Sub => Some(source(0).wrapping_sub(source(1))),
                Op::Mul => Some(source(0).wrapping_mul(source(1))),
                Op::Mad => Some(source(0).wrapping_mul(source(1)).wrapping_add(source(2))),
                Op::And => Some(source(0) & source(1)),
                Op::Or => Some(source(0) | source(1)),
                Op::Xor => Some(source(0) ^ source(1)),
                Op::Shl if source(1) < 64 => Some(source(0) << source(1)),
                _ => None,
            };
            if let Some(quick) = quick {
                return Some(truncate(quick, self.out));
            }
        }
        if self.bits <= 32
            && let Some(narrow) = self.narrow(source(0), source(1), source(2))
        {
            return Some(truncate(narrow as u64, self.out));
        }
        let wide = |at: usize| -> i128 {
            let value = truncate(source(at), self.bits);
            if self.signed {
                i128::from(extend(value, self.bits))
            } else {
                i128::from(value)
            }
        };
        let (a, b) = (wide(0), wide(1));
        let result = match self.op {
            Op::Copy => source(0) as i128,
            Op::Convert => a,
            Op::Add => a + b,
            Op::Sub => a - b,
            Op::Mul => a.wrapping_mul(b),
            Op::MulHigh => a.wrapping_mul(b) >> self.bits,
            // The addend of `mad.wide` has the width of the result.
            Op::Mad => a.wrapping_mul(b).wrapping_add(i128::from(source(2))),
            Op::Div => a.checked_div(b)?,
            Op::Rem => a.checked_rem(b)?,
            Op::And => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            Op::Not => !a,
            Op::LogicalNot => a ^ 1,
            Op::Neg => -a,
            Op::Abs => a.abs(),
            Op::Min => a.min(b),
            Op::Max => a.max(b),
            Op::Shl => shift_left(a, source(1)),
            Op::Shr => a >> source(1).min(64),
            Op::Compare(relation, join) => i128::from(compare(relation, join, a, b, source(2))),
            Op::Set(relation) => -i128::from(compare(relation, None, a, b, 0)),
            Op::Select => {
                if source(2) & 1 == 1 {
                    source(0) as i128
                } else {
                    source(1) as i128
                }
            }
            Op::Extract => self.extract(source(0), source(1), source(2)),
            Op::Insert => self.insert(args),
            Op::Count => i128::from(truncate(source(0), self.bits).count_ones()),
            Op::LeadingZeros => i128::from(truncate(source(0), self.bits).leading_zeros() + self.bits) - 64,
            Op::Reverse => i128::from(source(0).reverse_bits() >> (64 - self.bits)),
            Op::Funnel(left, wrap) => {
                let words = [source(0), source(1), source(2)].map(|word| word as u32);
                let shift = if left { bits::shf_l } else { bits::shf_r };
                i128::from(shift(words[0], words[1], words[2], wrap))
            }
            Op::Permute => {
                let words = [source(0), source(1), source(2)].map(|word| word as u32);
                i128::from(bits::prmt(words[0], words[1], words[2], Permute::Index))
            }
            Op::Table(table) => lop3(table, source(0), source(1), source(2)),
        };
        Some(truncate(result as u64, self.out))
    }

    /// The usual ones again, of sources so narrow that nothing is lost in 64 bits.
    fn narrow(self, a: u64, b: u64, c: u64) -> Option<i64> {
        let widen = |value: u64| {
            let value = truncate(value, self.bits);
            if self.signed {
                extend(value, self.bits)
            } else {
                value as i64
            }
        };
        let (a, b) = (widen(a), widen(b));
        Some(match self.op {
            Op::Convert => a,
            Op::Mul => a.wrapping_mul(b),
            Op::Mad => a.wrapping_mul(b).wrapping_add(c as i64),
            Op::Min => a.min(b),
            Op::Max => a.max(b),
            Op::Compare(relation, join) => i64::from(compare(relation, join, a, b, c)),
            _ => return None,
        })
    }

    /// `bfe`: a field of `length` bits at `start`, filled with the sign where signed.
    fn extract(self, value: u64, start: u64, length: u64) -> i128 {
        let (start, length) = ((start & 0xff) as u32, (length & 0xff) as u32);
        if length == 0 {
            return 0;
        }
        let value = truncate(value, self.bits);
        let whole = if self.signed {
            i128::from(extend(value, self.bits))
        } else {
            i128::from(value)
        };
        let field = whole >> start.min(100);
        if length >= 64 || !self.signed {
            return i128::from(truncate(field as u64, length));
        }
        i128::from(extend(truncate(field as u64, length), length))
    }

    /// `bfi`: the low bits of the first source put into the second.
    fn insert(self, args: &[u64]) -> i128 {
        let [field, base, start, length] = args else { return 0 };
        let (start, length) = ((start & 0xff) as u32, (length & 0xff) as u32);
        if start >= self.bits || length == 0 {
            return i128::from(*base);
        }
        let mask = truncate(u64::MAX, length) << start;
        i128::from((base & !mask) | ((field << start) & mask))
    }
}

fn shift_left(value: i128, by: u64) -> i128 {
    if by >= 64 { 0 } else { value << by }
}

#[inline]
fn compare<T: Ord>(relation: Relation, join: Option<Join>, a: T, b: T, with: u64) -> bool {
    let holds = match relation {
        Relation::Eq => a == b,
        Relation::Ne => a != b,
        Relation::Lt => a < b,
        Relation::Le => a <= b,
        Relation::Gt => a > b,
        Relation::Ge => a >= b,
    };
    joined(holds, join, with)
}

#[inline]
fn joined(holds: bool, join: Option<Join>, with: u64) -> bool {
    let with = with & 1 == 1;
    match join {
        None => holds,
        Some(Join::And) => holds && with,
        Some(Join::Or) => holds || with,
        Some(Join::Xor) => holds != with,
    }
}

/// Bit by bit, the table's entry for the three bits.
fn lop3(table: u8, a: u64, b: u64, c: u64) -> i128 {
    let mut result = 0u64;
    for entry in (0..8u32).filter(|entry| table >> entry & 1 == 1) {
        let pick = |on: bool, value: u64| if on { value } else { !value };
        result |= pick(entry & 4 != 0, a) & pick(entry & 2 != 0, b) & pick(entry & 1 != 0, c);
    }
    i128::from(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(opcode: &str, args: &[u64]) -> Option<u64> {
        decode(&Inst::new(opcode, [])).and_then(|scalar| scalar.apply(args))
    }

    #[test]
    fn integers() {
        assert_eq!(run("add.s32", &[u64::from(u32::MAX), 2]), Some(1));
        assert_eq!(run("sub.s32", &[1, 2]), Some(0xffff_ffff));
        assert_eq!(run("mul.wide.u32", &[0xffff_ffff, 4]), Some(0x3_ffff_fffc));
        assert_eq!(run("mul.wide.s32", &[0xffff_ffff, 4]), Some(-4i64 as u64));
        assert_eq!(run("mad.lo.s32", &[3, 4, 5]), Some(17));
        assert_eq!(run("shr.s32", &[0x8000_0000, 31]), Some(0xffff_ffff));
        assert_eq!(run("shr.u32", &[0x8000_0000, 31]), Some(1));
        assert_eq!(run("shl.b32", &[1, 40]), Some(0));
        assert_eq!(run("div.s32", &[0xffff_fff9, 2]), Some(0xffff_fffd));
        assert_eq!(run("rem.u32", &[7, 0]), None);
        assert_eq!(run("cvt.s64.s32", &[0xffff_ffff]), Some(u64::MAX));
        assert_eq!(run("cvt.u64.u32", &[0xffff_ffff]), Some(0xffff_ffff));
        assert_eq!(run("bfe.u32", &[0xabcd, 4, 8]), Some(0xbc));
        assert_eq!(run("bfe.s32", &[0x80, 4, 4]), Some(0xffff_fff8));
        assert_eq!(run("bfi.b32", &[0xf, 0, 4, 4]), Some(0xf0));
        assert_eq!(run("clz.b32", &[1]), Some(31));
        assert_eq!(run("popc.b32", &[7]), Some(3));
        assert_eq!(run("brev.b32", &[1]), Some(0x8000_0000));
        assert_eq!(run("brev.b64", &[1]), Some(1 << 63));
        assert_eq!(run("shf.l.wrap.b32", &[0x8000_0000, 1, 33]), Some(3));
        assert_eq!(run("shf.r.clamp.b32", &[0x8000_0000, 1, 31]), Some(3));
        assert_eq!(run("prmt.b32", &[0x3322_1100, 0x7766_5544, 0x7531]), Some(0x7755_3311));
        assert_eq!(run("prmt.b32.rc8", &[1, 2, 3]), None);
        assert_eq!(run("add.f32", &[1, 2]), None);
    }

    #[test]
    fn predicates() {
        assert_eq!(run("setp.lt.s32", &[0xffff_ffff, 0]), Some(1));
        assert_eq!(run("setp.lt.u32", &[0xffff_ffff, 0]), Some(0));
        assert_eq!(run("setp.ge.and.u32", &[3, 2, 0]), Some(0));
        assert_eq!(run("selp.b32", &[5, 6, 1]), Some(5));
        assert_eq!(run("not.pred", &[0]), Some(1));
        assert_eq!(run("set.gt.u32.u32", &[3, 2]), Some(0xffff_ffff));
    }
}
