//! Addresses: their width, what they may be based on, and whether the space they name is the variable's.

use super::Scope;
use crate::ptx::diag::{Code, Diag, codes};
use crate::ptx::ir::{Address, Base, FunctionKind, Imm, Inst, Operand, SymbolId, SymbolKind, Variable};
use crate::ptx::isa::Effect;
use crate::ptx::source::Span;
use crate::ptx::types::{Kind, Space};

/// Checks every plain address of an instruction.
pub(super) fn check(scope: &Scope, inst: &Inst, span: Span, out: &mut Vec<Diag>) {
    let mut nth = 0;
    for (at, operand) in inst.operands.iter().enumerate() {
        let found = match operand {
            Operand::Address(address) => {
                nth += 1;
                finding(scope, inst, address, nth - 1)
            }
            Operand::Symbol(symbol, by) => function_name(scope, inst, *symbol, *by),
            _ => continue,
        };
        if let Some((code, message, help)) = found {
            let place = scope.pieces(span).operands.get(at).copied().unwrap_or(span);
            let diag = Diag::error(code, place, message);
            out.push(if help.is_empty() { diag } else { diag.help(help) });
        }
    }
    wide_access(scope, inst, span, out);
    cached(scope, inst, span, out);
    policy(scope, inst, span, out);
    generic(scope, inst, span, out);
    let narrow = inst.op.base() == "cvta" && inst.op.ty().is_some_and(|ty| ty.bits() == 32);
    if narrow && scope.environment.wide_addresses {
        let message = format!(
            "`{}` makes a 32-bit address, and this module has 64-bit ones",
            inst.op.text
        );
        let diag = Diag::error(codes::ISA018, scope.pieces(span).opcode, message);
        out.push(diag.help("use `.u64` and a 64-bit register"));
    }
}

/// Generic addresses came with sm_20.
fn generic(scope: &Scope, inst: &Inst, span: Span, out: &mut Vec<Diag>) {
    let plain = matches!(inst.op.base(), "ld" | "st" | "atom" | "red") && inst.op.space == Space::Generic;
    if plain && let Some(target) = scope.environment.target.filter(|target| target.sm < 20) {
        let message = format!("generic addresses need target sm_20 or newer; this module says {target}");
        let diag = Diag::error(codes::GATE001, scope.pieces(span).opcode, message);
        out.push(diag.help("name the space: `.global`, `.shared`, `.local`"));
    }
}

/// Priorities, hints and prefetches of the caches: only for global memory.
fn cached(scope: &Scope, inst: &Inst, span: Span, out: &mut Vec<Diag>) {
    let plain = matches!(inst.op.base(), "ld" | "st" | "atom" | "red") && !inst.op.has("async");
    if !plain || matches!(inst.op.space, Space::Generic | Space::Global) {
        return;
    }
    let hint = inst
        .op
        .mods()
        .position(|name| name.starts_with("L1::") || name.starts_with("L2::"));
    if let Some(at) = hint {
        let pieces = scope.pieces(span);
        let place = pieces.mods.get(at).copied().unwrap_or(pieces.opcode);
        let name = inst.op.mods().nth(at).unwrap_or("");
        let message = format!("`.{name}` is for global memory, not for `.{}`", inst.op.space.name());
        out.push(Diag::error(codes::ISA012, place, message));
    }
}

/// The part of the accesses that a cache policy is for.
fn policy(scope: &Scope, inst: &Inst, span: Span, out: &mut Vec<Diag>) {
    if inst.op.base() != "createpolicy" {
        return;
    }
    let fraction = match inst.operands.get(1) {
        Some(Operand::Imm(Imm::F32(bits))) => f64::from(f32::from_bits(*bits)),
        Some(Operand::Imm(Imm::F64(bits))) => f64::from_bits(*bits),
        _ => return,
    };
    if !(fraction > 0.0 && fraction <= 1.0) {
        let place = scope.pieces(span).operands.get(1).copied().unwrap_or(span);
        let message = format!("the fraction of accesses is {fraction}, and it must be above 0 and at most 1");
        out.push(Diag::error(codes::ISA015, place, message));
    }
}

/// The space in which the instruction's `nth` address must have all 64 bits; `None` where ptxas does not ask.
fn width_space(inst: &Inst, nth: usize) -> Option<Space> {
    let base = inst.op.base();
    let plain = matches!(
        base,
        "ld" | "st" | "ldu" | "atom" | "red" | "prefetch" | "prefetchu" | "mbarrier"
    );
    let other = inst.op.has("async") || inst.op.has("bulk") || inst.op.has("tensormap");
    if base == "multimem" {
        return Some(Space::Global).filter(|_| nth == 0 && !inst.op.has("bulk"));
    }
    (plain && !other && nth == 0).then_some(inst.op.space)
}

/// The space that a variable must live in to stand at the instruction's `nth` address; `None` where ptxas does not ask.
fn home_space(inst: &Inst, nth: usize) -> Option<Space> {
    let named = Some(inst.op.space).filter(|space| *space != Space::Generic);
    match inst.op.base() {
        "cp" if inst.op.has("mbarrier") && !inst.op.has("bulk") => named,
        "cp" => copied(inst, nth),
        "multimem" if inst.op.has("cp") => copied(inst, nth),
        "mbarrier" => Some(named.unwrap_or(Space::Shared)),
        "st" if inst.op.has("async") && nth > 0 => Some(Space::Shared),
        "st" | "red" if inst.op.has("async") => named.filter(|_| nth == 0),
        "tensormap" => copied(inst, nth).filter(|_| named.is_some()),
        _ if nth > 0 => None,
        "ld" | "st" | "ldu" | "atom" | "red" if !inst.op.has("bulk") => Some(inst.op.space),
        "prefetch" if !inst.op.has("tensormap") => Some(inst.op.space),
        _ => named,
    }
}

/// The space of the `nth` address of a copy: destination, source, then the barrier. Brackets of tensors are no plain addresses.
fn copied(inst: &Inst, nth: usize) -> Option<Space> {
    let tensor = inst.op.has("tensor");
    let loads = matches!(inst.operands.first(), Some(Operand::Address(_)));
    let nth = match (tensor, loads) {
        (true, true) => 2 * nth,
        (true, false) => nth + 1,
        _ => nth,
    };
    let spaces = inst.op.mods().filter_map(Space::from_name);
    spaces.chain([Space::Shared]).nth(nth)
}

/// Whether `.param::entry` and `.param::func` are said of the other: parameters of a kernel, or those of a function and of its calls.
fn param_of_another(scope: &Scope, inst: &Inst, address: &Address) -> Option<(Code, String, String)> {
    let of_calls = match () {
        () if inst.op.has("param::func") => true,
        () if inst.op.has("param::entry") => false,
        () => return None,
    };
    let is_kernel = scope.function.kind == FunctionKind::Entry;
    let is_local = match address.base {
        Base::Symbol(symbol) => {
            let is_param = |variable: &Variable| variable.space == Space::Param;
            let own = scope.function.params.contains(&symbol) || scope.function.results.contains(&symbol);
            !own && scope.module.variable(symbol).is_some_and(is_param)
        }
        _ => false,
    };
    let (said, other) = match (of_calls, is_local, is_kernel) {
        (true, false, true) => (".param::func", ".param::entry"),
        (false, true, _) => (".param::entry", ".param::func"),
        _ => return None,
    };
    let message = format!("`{said}` is another space than that of this parameter");
    Some((codes::ISA012, message, format!("write `.param` or `{other}`")))
}

fn finding(scope: &Scope, inst: &Inst, address: &Address, nth: usize) -> Option<(Code, String, String)> {
    if let Some(found) = param_of_another(scope, inst, address) {
        return Some(found);
    }
    match address.base {
        Base::Reg(reg) => {
            let ty = scope.reg_type(reg)?;
            let name = scope.reg_name(reg);
            if !matches!(ty.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed) {
                let message = format!("`{name}` is `.{}`, and an address is an integer", ty.name());
                return Some((codes::ISA004, message, String::new()));
            }
            let space = width_space(inst, nth)?;
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
        Base::Symbol(symbol) if is_function(scope, symbol) => {
            let message = format!("`{}` is a function, and no address", scope.module.name(symbol));
            Some((codes::ISA002, message, "name a variable or a register".into()))
        }
        Base::Symbol(symbol) => symbol_finding(scope, inst, symbol, home_space(inst, nth)?),
        Base::Absolute => {
            let plain = matches!(inst.op.base(), "ld" | "st" | "atom" | "red" | "ldu");
            (plain && home_space(inst, nth)? != Space::Local).then(|| {
                let message = "only `.local` takes a number as an address".to_owned();
                (codes::ISA002, message, "put the address into a register".to_owned())
            })
        }
    }
}

fn is_function(scope: &Scope, symbol: SymbolId) -> bool {
    matches!(scope.module.symbol(symbol).kind, SymbolKind::Function(_))
}

/// The name of a function or kernel as a number: it is of no space, and there is nothing behind it.
fn function_name(scope: &Scope, inst: &Inst, symbol: SymbolId, by: i64) -> Option<(Code, String, String)> {
    if !is_function(scope, symbol) {
        return None;
    }
    let name = scope.module.name(symbol);
    if inst.op.base() == "cvta" && !inst.op.has("to") {
        let message = format!("`{name}` is a function and lives in no space");
        return Some((codes::ISA012, message, "take its address by `mov.u64`".into()));
    }
    (by != 0).then(|| {
        let message = format!("nothing can be added to the address of the function `{name}`");
        (codes::ISA002, message, format!("write `{name}`"))
    })
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
    let most = match inst.op.base() {
        "ld" | "st" => 256,
        "mov" | "suld" | "sust" => 128,
        _ => return,
    };
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
    if bits > most {
        let (text, bytes) = (&inst.op.text, bits / 8);
        let message = format!("`{text}` moves {bytes} bytes at once; the most is {}", most / 8);
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
