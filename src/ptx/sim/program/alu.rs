//! Integer arithmetic.

use super::super::lanes::Slot;
use super::Op;
use super::decoder::{Decoder, Refused, long, word};
use crate::ptx::ir::Inst;
use crate::ptx::num::{Int, half, int};
use crate::ptx::types::{Kind, Type};

/// Integers as the bits of a slot.
pub trait Bits: Int + Send + Sync + 'static {
    /// The low bits as a value.
    fn of(bits: u64) -> Self;
    /// The value, zeros above it.
    fn bits(self) -> u64;
}

macro_rules! bits {
    ($($ty:ty, $unsigned:ty;)*) => {$(
        impl Bits for $ty {
            #[inline(always)]
            fn of(bits: u64) -> Self { bits as $ty }
            #[inline(always)]
            fn bits(self) -> u64 { self as $unsigned as u64 }
        }
    )*};
}

bits! { u8, u8; i8, u8; u16, u16; i16, u16; u32, u32; i32, u32; u64, u64; i64, u64; }

/// Runs code with the Rust type of an integer type; others refuse.
macro_rules! by_int {
    ($ty:expr, $T:ident => $body:expr) => {
        match $ty {
            Type::U8 | Type::B8 => {
                type $T = u8;
                $body
            }
            Type::S8 => {
                type $T = i8;
                $body
            }
            Type::U16 | Type::B16 => {
                type $T = u16;
                $body
            }
            Type::S16 => {
                type $T = i16;
                $body
            }
            Type::U32 | Type::B32 => {
                type $T = u32;
                $body
            }
            Type::S32 => {
                type $T = i32;
                $body
            }
            Type::U64 | Type::B64 => {
                type $T = u64;
                $body
            }
            Type::S64 => {
                type $T = i64;
                $body
            }
            ty => return Err(format!("the type `.{}`", ty.name())),
        }
    };
}
pub(super) use by_int;

/// The type of twice the width.
pub fn wide(ty: Type) -> Type {
    match ty {
        Type::U16 | Type::B16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 | Type::B32 => Type::U64,
        Type::S32 => Type::S64,
        other => other,
    }
}

fn is_packed(ty: Type) -> bool {
    matches!(ty, Type::U16x2 | Type::S16x2 | Type::U8x4 | Type::S8x4)
}

impl Decoder<'_> {
    /// The instruction's type.
    pub(super) fn ty(&self, inst: &Inst) -> Result<Type, Refused> {
        inst.op.ty().ok_or_else(|| "an instruction without a type".to_owned())
    }

    /// Two sources and a destination of one type.
    pub(super) fn three(&mut self, inst: &Inst, ty: Type) -> Result<(Slot, Slot, Slot), Refused> {
        Ok((self.dest(inst, ty)?, self.arg(inst, 1, ty)?, self.arg(inst, 2, ty)?))
    }

    /// `add`, `sub` of integers.
    pub(super) fn add_sub(&mut self, inst: &Inst, ty: Type, sub: bool) -> Result<(), Refused> {
        let (d, a, b) = self.three(inst, ty)?;
        let sat = inst.op.has("sat");
        if is_packed(ty) {
            return self.packed2(ty, d, [a, b], if sub { Packed::Sub(sat) } else { Packed::Add(sat) });
        }
        if !sat && ty.bits() == 32 {
            return self.on_words(if sub { Op::Sub32 } else { Op::Add32 }, d, &[a, b]);
        }
        if !sat && ty.bits() == 64 {
            return self.on_longs(if sub { Op::Sub64 } else { Op::Add64 }, d, &[a, b]);
        }
        by_int!(ty, T => match (sub, sat) {
            (false, true) => self.lanewise2(d, a, b, |a, b| T::of(a).add_sat(T::of(b)).bits()),
            (true, true) => self.lanewise2(d, a, b, |a, b| T::of(a).sub_sat(T::of(b)).bits()),
            (false, false) => self.lanewise2(d, a, b, |a, b| T::of(a.wrapping_add(b)).bits()),
            (true, false) => self.lanewise2(d, a, b, |a, b| T::of(a.wrapping_sub(b)).bits()),
        });
        Ok(())
    }

    /// `min`, `max` of integers.
    pub(super) fn min_max(&mut self, inst: &Inst, ty: Type, most: bool) -> Result<(), Refused> {
        let (d, a, b) = self.three(inst, ty)?;
        let relu = inst.op.has("relu");
        if is_packed(ty) {
            return self.packed2(ty, d, [a, b], Packed::Pick { most, relu });
        }
        if !relu && ty.bits() == 32 {
            let op = match (most, ty == Type::S32) {
                (false, false) => Op::MinU32,
                (false, true) => Op::MinS32,
                (true, false) => Op::MaxU32,
                (true, true) => Op::MaxS32,
            };
            return self.on_words(op, d, &[a, b]);
        }
        by_int!(ty, T => self.lanewise2(d, a, b, move |a, b| {
            let (a, b) = (T::of(a), T::of(b));
            let pick = if most { a.max(b) } else { a.min(b) };
            if relu { pick.max(T::of(0)).bits() } else { pick.bits() }
        }));
        Ok(())
    }

    fn packed2(&mut self, ty: Type, d: Slot, s: [Slot; 2], what: Packed) -> Result<(), Refused> {
        match ty {
            Type::U16x2 => self.lanewise2(d, s[0], s[1], move |a, b| {
                u64::from(int::pair([a as u32, b as u32], |[a, b]| what.apply(a, b)))
            }),
            Type::S16x2 => self.lanewise2(d, s[0], s[1], move |a, b| {
                u64::from(int::pair([a as u32, b as u32], |[a, b]| {
                    what.apply(a as i16, b as i16) as u16
                }))
            }),
            Type::U8x4 => self.lanewise2(d, s[0], s[1], move |a, b| bytes(a, b, |a, b| what.apply(a, b))),
            _ => self.lanewise2(d, s[0], s[1], move |a, b| {
                bytes(a, b, |a, b| what.apply(a as i8, b as i8) as u8)
            }),
        }
        Ok(())
    }

    /// `mul` of integers.
    pub(super) fn mul(&mut self, inst: &Inst, ty: Type) -> Result<(), Refused> {
        if inst.op.has("wide") {
            let d = self.dest(inst, wide(ty))?;
            let (a, b) = (self.arg(inst, 1, ty)?, self.arg(inst, 2, ty)?);
            if let (Slot::Long(d), 32) = (d, ty.bits()) {
                let op = if ty == Type::S32 { Op::WideS } else { Op::WideU };
                self.on_rows(op, d, &[word(a)?, word(b)?]);
                return Ok(());
            }
            return match ty {
                Type::S16 => {
                    self.lanewise2(d, a, b, |a, b| u64::from((a as i16).mul_wide(b as i16) as u32));
                    Ok(())
                }
                Type::U16 | Type::B16 => {
                    self.lanewise2(d, a, b, |a, b| u64::from((a as u16).mul_wide(b as u16)));
                    Ok(())
                }
                _ => Err("a wide product of this type".into()),
            };
        }
        let (d, a, b) = self.three(inst, ty)?;
        if inst.op.has("hi") {
            by_int!(ty, T => self.lanewise2(d, a, b, |a, b| T::of(a).mul_hi(T::of(b)).bits()));
            return Ok(());
        }
        match ty.bits() {
            32 => self.on_words(Op::Mul32, d, &[a, b]),
            64 => self.on_longs(Op::Mul64, d, &[a, b]),
            _ => {
                by_int!(ty, T => self.lanewise2(d, a, b, |a, b| T::of(a.wrapping_mul(b)).bits()));
                Ok(())
            }
        }
    }

    /// `mad` of integers.
    pub(super) fn mad(&mut self, inst: &Inst, ty: Type) -> Result<(), Refused> {
        if inst.op.has("wide") {
            return self.mad_wide(inst, ty);
        }
        let (d, a, b) = self.three(inst, ty)?;
        let c = self.arg(inst, 3, ty)?;
        if inst.op.has("hi") {
            let sat = inst.op.has("sat");
            by_int!(ty, T => match sat {
                true => self.lanewise3(d, [a, b, c], |a, b, c| T::of(a).mad_hi_sat(T::of(b), T::of(c)).bits()),
                false => self.lanewise3(d, [a, b, c], |a, b, c| T::of(a).mad_hi(T::of(b), T::of(c)).bits()),
            });
            return Ok(());
        }
        match ty.bits() {
            32 => self.on_words(Op::Mad32, d, &[a, b, c]),
            64 => self.on_longs(Op::Mad64, d, &[a, b, c]),
            _ => {
                by_int!(ty, T => self.lanewise3(d, [a, b, c], |a, b, c| T::of(a).mad_lo(T::of(b), T::of(c)).bits()));
                Ok(())
            }
        }
    }

    fn mad_wide(&mut self, inst: &Inst, ty: Type) -> Result<(), Refused> {
        let d = self.dest(inst, wide(ty))?;
        let (a, b) = (self.arg(inst, 1, ty)?, self.arg(inst, 2, ty)?);
        let c = self.arg(inst, 3, wide(ty))?;
        if let (Slot::Long(d), 32) = (d, ty.bits()) {
            let op = if ty == Type::S32 { Op::MadWideS } else { Op::MadWideU };
            self.on_rows(op, d, &[word(a)?, word(b)?, long(c)?]);
            return Ok(());
        }
        let signed = ty == Type::S16;
        self.lanewise3(d, [a, b, c], move |a, b, c| {
            u64::from(match signed {
                true => (a as i16).mad_wide(b as i16, c as i32) as u32,
                false => (a as u16).mad_wide(b as u16, c as u32),
            })
        });
        Ok(())
    }

    /// `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`.
    pub(super) fn carrying(&mut self, inst: &Inst) -> Result<(), Refused> {
        let ty = self.ty(inst)?;
        let (d, a, b) = self.three(inst, ty)?;
        let base = inst.op.base();
        let c = if base.starts_with("mad") {
            Some(self.arg(inst, 3, ty)?)
        } else {
            None
        };
        let carry = match self.carry {
            Some(carry) => carry,
            None => {
                let carry = Slot::Pred(self.new_pred(), false);
                *self.carry.insert(carry)
            }
        };
        let (takes, gives) = (base.ends_with('c'), inst.op.has("cc"));
        let kind = (
            base.starts_with("sub"),
            inst.op.has("hi"),
            ty.kind() == Kind::Signed,
            ty.bits() == 64,
        );
        let third = c.unwrap_or(a);
        let has_third = c.is_some();
        self.step(Box::new(move |file, mask| {
            for lane in super::super::lanes::lanes(mask) {
                let carry_in = if takes { file.read(carry, lane) == 1 } else { kind.0 };
                let (a, b) = (file.read(a, lane), file.read(b, lane));
                let c = has_third.then(|| file.read(third, lane));
                let (value, carry_out) = with_carry(kind, a, b, c, carry_in);
                file.write(d, lane, value);
                if gives {
                    file.write(carry, lane, u64::from(carry_out));
                }
            }
        }));
        Ok(())
    }

    /// `mul24`, `mad24`.
    pub(super) fn product24(&mut self, inst: &Inst, add: bool) -> Result<(), Refused> {
        let ty = self.ty(inst)?;
        let (d, a, b) = self.three(inst, ty)?;
        let c = if add { self.arg(inst, 3, ty)? } else { a };
        let (signed, high, sat) = (ty == Type::S32, inst.op.has("hi"), inst.op.has("sat"));
        self.lanewise3(d, [a, b, c], move |a, b, c| {
            let (a, b, c) = (a as u32, b as u32, c as u32);
            u64::from(match (add, sat) {
                (false, _) => int::mul24(a, b, signed, high),
                (true, false) => int::mad24(a, b, c, signed, high),
                (true, true) => int::mad24_hi_sat(a, b, c),
            })
        });
        Ok(())
    }

    /// `sad`, `div`, `rem` of integers.
    pub(super) fn quotient(&mut self, inst: &Inst, ty: Type) -> Result<(), Refused> {
        let (d, a, b) = self.three(inst, ty)?;
        match inst.op.base() {
            "div" => by_int!(ty, T => self.lanewise2(d, a, b, |a, b| T::of(a).quotient(T::of(b)).bits())),
            "rem" => by_int!(ty, T => self.lanewise2(d, a, b, |a, b| T::of(a).remainder(T::of(b)).bits())),
            _ => {
                let c = self.arg(inst, 3, ty)?;
                by_int!(ty, T => self.lanewise3(d, [a, b, c], |a, b, c| T::of(a).sad(T::of(b), T::of(c)).bits()));
            }
        }
        Ok(())
    }

    /// `abs`, `neg` of integers.
    pub(super) fn sign(&mut self, inst: &Inst, ty: Type, negate: bool) -> Result<(), Refused> {
        let (d, a) = (self.dest(inst, ty)?, self.arg(inst, 1, ty)?);
        if is_packed(ty) {
            return self.packed2(ty, d, [a, a], if negate { Packed::Neg } else { Packed::Abs });
        }
        by_int!(ty, T => match negate {
            true => self.lanewise1(d, a, |a| T::of(a).negate().bits()),
            false => self.lanewise1(d, a, |a| T::of(a).magnitude().bits()),
        });
        Ok(())
    }

    /// `dp4a`, `dp2a`.
    pub(super) fn dot(&mut self, inst: &Inst) -> Result<(), Refused> {
        let (d, a, b) = self.three(inst, Type::B32)?;
        let c = self.arg(inst, 3, Type::B32)?;
        let signed: Vec<bool> = inst.op.types.iter().map(|ty| *ty == Type::S32).collect();
        let (a_signed, b_signed) = match signed.as_slice() {
            [a, b] => (*a, *b),
            _ => return Err("its types".into()),
        };
        let (four, high) = (inst.op.base() == "dp4a", inst.op.has("hi"));
        self.lanewise3(d, [a, b, c], move |a, b, c| {
            let (a, b, c) = (a as u32, b as u32, c as u32);
            u64::from(match four {
                true => int::dp4a(a, b, c, a_signed, b_signed),
                false => int::dp2a(a, b, c, a_signed, b_signed, high),
            })
        });
        Ok(())
    }
}

/// An operation on the parts of packed integers.
#[derive(Clone, Copy)]
enum Packed {
    Add(bool),
    Sub(bool),
    Pick { most: bool, relu: bool },
    Neg,
    Abs,
}

impl Packed {
    fn apply<T: Bits>(self, a: T, b: T) -> T {
        match self {
            Packed::Add(true) => a.add_sat(b),
            Packed::Add(false) => T::of(a.bits().wrapping_add(b.bits())),
            Packed::Sub(true) => a.sub_sat(b),
            Packed::Sub(false) => T::of(a.bits().wrapping_sub(b.bits())),
            Packed::Pick { most, relu } => {
                let pick = if most { a.max(b) } else { a.min(b) };
                if relu { pick.max(T::of(0)) } else { pick }
            }
            Packed::Neg => a.negate(),
            Packed::Abs => a.magnitude(),
        }
    }
}

fn bytes(a: u64, b: u64, f: impl Fn(u8, u8) -> u8) -> u64 {
    let (a, b) = ((a as u32).to_le_bytes(), (b as u32).to_le_bytes());
    let each = |at: usize| f(a[at], b[at]);
    u64::from(u32::from_le_bytes([each(0), each(1), each(2), each(3)]))
}

/// Subtraction, high half, signed, 64 bits.
type Carrying = (bool, bool, bool, bool);

fn with_carry(kind: Carrying, a: u64, b: u64, c: Option<u64>, carry: bool) -> (u64, bool) {
    let narrow = |(value, carry): (u32, bool)| (u64::from(value), carry);
    let (x, y) = (a as u32, b as u32);
    match (kind, c) {
        ((false, _, _, false), None) => narrow(int::add_carry_32(x, y, carry)),
        ((false, _, _, true), None) => int::add_carry_64(a, b, carry),
        // The flag is the carry of `a + !b + 1`: set where nothing is borrowed.
        ((true, _, _, false), _) => unborrowed(narrow(int::sub_borrow_32(x, y, !carry))),
        ((true, _, _, true), _) => unborrowed(int::sub_borrow_64(a, b, !carry)),
        ((_, false, _, false), Some(c)) => narrow(int::mad_lo_carry_32(x, y, c as u32, carry)),
        ((_, false, _, true), Some(c)) => int::mad_lo_carry_64(a, b, c, carry),
        ((_, true, false, false), Some(c)) => narrow(int::mad_hi_carry_u32(x, y, c as u32, carry)),
        ((_, true, true, false), Some(c)) => narrow(int::mad_hi_carry_s32(x, y, c as u32, carry)),
        ((_, true, false, true), Some(c)) => int::mad_hi_carry_u64(a, b, c, carry),
        ((_, true, true, true), Some(c)) => int::mad_hi_carry_s64(a, b, c, carry),
    }
}

fn unborrowed((value, borrow): (u64, bool)) -> (u64, bool) {
    (value, !borrow)
}

/// Applies a function of half words to both halves.
pub fn halves<const N: usize>(operands: [u64; N], f: impl FnMut([u16; N]) -> u16) -> u64 {
    u64::from(half::pair(operands.map(|bits| bits as u32), f))
}
