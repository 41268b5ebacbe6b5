//! Which registers and constants a typed operand takes.

use crate::ptx::ir::{Imm, Special};
use crate::ptx::types::{Kind, Type};

/// Whether a register of type `reg` may stand where `want` is asked for; `loose` lets it be wider.
///
/// Untyped bits fit every type of their width and take every one; signed and unsigned are the same; floating-point numbers
/// keep to their own. Half-precision pairs count as 32 bits, since ptxas lets them take part in integer arithmetic.
pub(super) fn takes_register(want: Type, loose: bool, reg: Type) -> bool {
    let fits = |bits: u32| reg.bits() == bits || (loose && reg.bits() > bits);
    match (want.kind(), reg.kind()) {
        (Kind::Pred, _) | (_, Kind::Pred) => want == reg,
        (Kind::Opaque, _) => reg.bits() == 64 || want == reg,
        (Kind::Bits, _) => fits(want.bits()),
        (Kind::Unsigned | Kind::Signed, _) if is_packed(want) => reg == Type::B32 || reg == Type::F16x2,
        (Kind::Unsigned | Kind::Signed, Kind::Float) => reg == Type::F16x2 && fits(want.bits()),
        (Kind::Unsigned | Kind::Signed, _) => fits(want.bits()),
        (Kind::Float, Kind::Bits) => fits(want.bits()),
        (Kind::Float, _) => want == reg,
    }
}

/// Several small integers in one register.
fn is_packed(ty: Type) -> bool {
    matches!(ty, Type::U16x2 | Type::S16x2 | Type::U8x4 | Type::S8x4)
}

/// Whether a constant may stand where `want` is asked for.
pub(super) fn takes_constant(want: Type, imm: Imm) -> bool {
    match (want.kind(), imm) {
        (Kind::Opaque, _) => false,
        (Kind::Unsigned | Kind::Signed, _) if is_packed(want) => false,
        (Kind::Pred | Kind::Bits | Kind::Unsigned | Kind::Signed, Imm::Int(_) | Imm::Unsigned(_)) => true,
        (Kind::Bits, Imm::F32(_)) => want == Type::B32,
        (Kind::Bits, Imm::F64(_)) => want == Type::B64,
        (Kind::Float, Imm::F32(_) | Imm::F64(_)) => matches!(want, Type::F32 | Type::F64),
        _ => false,
    }
}

/// The special registers that had 16 bits in PTX 1, and are still read as that.
const ONCE_SHORT: [&str; 5] = ["%tid", "%ntid", "%ctaid", "%nctaid", "%gridid"];

/// Whether a special register may be read as `want`; `loose` lets it be wider.
pub(super) fn takes_special(want: Type, loose: bool, special: Special) -> bool {
    let name = special.name();
    let ty = special.info().ty;
    let stem = name.split('.').next().unwrap_or(name);
    match want.kind() {
        Kind::Pred => ty == Type::Pred,
        // It grew from 32 to 64 bits and is still read as either.
        Kind::Bits | Kind::Unsigned | Kind::Signed if name == "%gridid" && want.bits() >= 32 => true,
        Kind::Bits | Kind::Unsigned | Kind::Signed => {
            let narrow = want.bits() <= 16 && ty.bits() == 32;
            want.bits() == ty.bits() || narrow && (loose || ONCE_SHORT.contains(&stem))
        }
        Kind::Float | Kind::Opaque => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_follow_ptxas() {
        let yes = [
            (Type::S32, Type::U32),
            (Type::F32, Type::B32),
            (Type::B32, Type::F32),
            (Type::F16, Type::B16),
            (Type::F16x2, Type::B32),
            (Type::U32, Type::F16x2),
            (Type::Bf16, Type::B16),
        ];
        let no = [
            (Type::S32, Type::F32),
            (Type::F32, Type::U32),
            (Type::F16, Type::U16),
            (Type::Bf16, Type::F16),
            (Type::B32, Type::B64),
            (Type::Pred, Type::B32),
            (Type::B32, Type::Pred),
        ];
        for (want, reg) in yes {
            assert!(takes_register(want, false, reg), "{want:?} {reg:?}");
        }
        for (want, reg) in no {
            assert!(!takes_register(want, false, reg), "{want:?} {reg:?}");
        }
        assert!(takes_register(Type::F32, true, Type::B64));
        assert!(!takes_register(Type::F32, true, Type::F64));
        assert!(takes_register(Type::B16, true, Type::F32));
    }
}
