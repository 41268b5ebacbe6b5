//! Addresses: their width, what they may be based on, and whether the space they name is the variable's.

use super::Scope;
use crate::ptx::diag::{Code, Diag, codes};
use crate::ptx::ir::{Address, Base, FunctionKind, Inst, Operand, SymbolId};
use crate::ptx::isa::Effect;
use crate::ptx::source::Span;
use crate::ptx::types::{Kind, Space};

/// Checks every plain address of an instruction.
pub(super) fn check(scope: &Scope, inst: &Inst, span: Span, out: &mut Vec<Diag>) {
    let mut nth = 0;
    for (at, operand) in inst.operands.iter().enumerate() {
        let Operand::Address(address) = operand else { continue };
        let found = finding(scope, inst, address, nth);
        nth += 1;
        if let Some((code, message, help)) = found {
            let place = scope.pieces(span).operands.get(at).copied().unwrap_or(span);
            let diag = Diag::error(code, place, message);
            out.push(if help.is_empty() { diag } else { diag.help(help) });
        }
    }
    wide_access(scope, inst, span, out);
}

/// The space of the instruction's `nth` address; `None` where the instruction has rules of its own.
fn space_of(inst: &Inst, nth: usize) -> Option<Space> {
    let base = inst.op.base();
    let plain = matches!(
        base,
        "ld" | "st" | "ldu" | "atom" | "red" | "prefetch" | "prefetchu" | "mbarrier"
    );
    let copy = base == "cp" && inst.op.effect == Effect::Async && !inst.op.has("bulk") && !inst.op.has("reduce");
    if copy {
        return inst.op.mods().filter_map(Space::from_name).nth(nth);
    }
    let other = inst.op.has("async") || inst.op.has("bulk") || inst.op.has("tensormap");
    (plain && !other && nth == 0).then_some(inst.op.space)
}

fn finding(scope: &Scope, inst: &Inst, address: &Address, nth: usize) -> Option<(Code, String, String)> {
    match address.base {
        Base::Reg(reg) => {
            let ty = scope.reg_type(reg)?;
            let name = scope.reg_name(reg);
            if !matches!(ty.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed) {
                let message = format!("`{name}` is `.{}`, and an address is an integer", ty.name());
                return Some((codes::ISA004, message, String::new()));
            }
            let space = space_of(inst, nth)?;
            let narrow = ty.bits() < 64 && scope.environment.wide_addresses;
            if narrow && matches!(space, Space::Generic | Space::Global) {
                let what = if space == Space::Global { "global" } else { "generic" };
                let message = format!("{what} addresses have 64 bits, and `{name}` is `.{}`", ty.name());
                let help = match space {
                    Space::Generic if inst.op.base() == "mbarrier" => {
                        "name the space: `.shared::cta` takes 32-bit addresses"
                    }
                    Space::Generic => "name the space (`.shared` takes 32-bit addresses), or use a 64-bit register",
                    _ => "use a 64-bit register",
                };
                return Some((codes::ISA018, message, help.into()));
            }
            None
        }
        Base::Symbol(symbol) => symbol_finding(scope, inst, symbol, space_of(inst, nth)?),
        Base::Absolute => {
            let plain = matches!(inst.op.base(), "ld" | "st" | "atom" | "red" | "ldu");
            (plain && space_of(inst, nth)? != Space::Local).then(|| {
                let message = "only `.local` takes a number as an address".to_owned();
                (codes::ISA002, message, "put the address into a register".to_owned())
            })
        }
    }
}

/// Whether a variable lives where the instruction looks, and may be written.
fn symbol_finding(scope: &Scope, inst: &Inst, symbol: SymbolId, space: Space) -> Option<(Code, String, String)> {
    let variable = scope.module.variable(symbol)?;
    let name = scope.module.name(symbol);
    let fits = match (space, variable.space) {
        (_, Space::Tex | Space::Reg) => true,
        (Space::Generic, home) => home != Space::Param,
        (Space::SharedCluster, home) => home == Space::Shared,
        (space, home) => space == home,
    };
    if !fits {
        let message = format!("`{name}` lives in `.{}`", variable.space.name());
        let help = format!("write `.{}` here", variable.space.name());
        return Some((codes::ISA012, message, help));
    }
    let writes = inst.op.effect == Effect::Store || inst.op.effect == Effect::Atomic;
    let is_input = scope.function.params.contains(&symbol);
    if writes && space == Space::Param && is_input {
        let whose = match scope.function.kind {
            FunctionKind::Entry => "kernel",
            FunctionKind::Func => "function",
        };
        let message = format!("`{name}` is a parameter of this {whose} and cannot be written");
        return Some((
            codes::ISA017,
            message,
            "copy it into a register or a `.local` variable".into(),
        ));
    }
    None
}

/// More than 16 bytes at once: global memory only, on GPUs that have it.
fn wide_access(scope: &Scope, inst: &Inst, span: Span, out: &mut Vec<Diag>) {
    if !matches!(inst.op.base(), "ld" | "st") {
        return;
    }
    let Some(ty) = inst.op.ty() else { return };
    let bits = ty.bits() * u32::from(inst.op.lanes);
    let eviction = inst.op.mods().position(|name| name.starts_with("L2::evict"));
    if let Some(at) = eviction.filter(|_| bits != 256) {
        let pieces = scope.pieces(span);
        let place = pieces.mods.get(at).copied().unwrap_or(pieces.opcode);
        let message = format!(
            "`{}` goes with accesses of 32 bytes only: `.v8.b32` or `.v4.b64`",
            place.of(scope.text)
        );
        out.push(Diag::error(codes::ISA010, place, message).help("`.L2::cache_hint` with a policy works for any size"));
    }
    if bits <= 128 || inst.op.lanes < 2 {
        return;
    }
    let place = scope.pieces(span).opcode;
    if bits > 256 {
        let message = format!("`{}` moves {} bytes at once; the most is 32", inst.op.text, bits / 8);
        out.push(Diag::error(codes::ISA013, place, message));
    } else if !matches!(inst.op.space, Space::Global | Space::Generic) {
        let message = format!(
            "`{}` moves {} bytes at once, which only global memory does",
            inst.op.text,
            bits / 8
        );
        out.push(Diag::error(codes::ISA012, place, message).help("split it into accesses of at most 16 bytes"));
    } else if inst.op.lanes < 8
        && let Some(target) = scope.environment.target.filter(|target| target.sm < 100)
    {
        let message = format!("accesses of 32 bytes need target sm_100 or newer; this module says {target}");
        out.push(Diag::error(codes::GATE001, place, message).help("split it into accesses of at most 16 bytes"));
    }
}
