//! Modifiers come in any order, but for a few that ptxas takes for a part of the name: `mul.lo.s32` is no `mul.s32.lo`.

use super::Scope;
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::Inst;
use crate::ptx::source::Span;

/// First words of names, words behind them, and how many words stand between.
const FIXED: &[(&[&str], &[&str], usize)] = &[
    (&["mul", "mad", "madc", "mul24", "mad24"], &["lo", "hi", "wide"], 0),
    (&["dp2a"], &["lo", "hi"], 0),
    (&["cvta"], &["to"], 0),
    (&["shf"], &["l", "r"], 0),
    (&["suld", "sust", "sured"], &["b", "p"], 0),
    (&["fence"], &["proxy"], 0),
    (&["createpolicy"], &["fractional", "range", "cvt"], 0),
    (&["wmma"], &["load", "store", "mma"], 0),
    (&["wmma"], &["a", "b", "c", "d"], 1),
    (&["bar", "barrier"], &["cta", "cluster"], 0),
    (&["bar", "barrier"], &["red"], 0),
    (&["barrier.cluster"], &["arrive", "wait"], 1),
    (&["mbarrier"], &["parity"], 1),
];

/// Checks the order of the words.
pub(super) fn check(scope: &Scope, inst: &Inst, span: Span, out: &mut Vec<Diag>) {
    let Some((word, place)) = misplaced(inst) else { return };
    let pieces = scope.pieces(span);
    let at = pieces
        .mods
        .iter()
        .find(|at| at.of(scope.text).strip_prefix('.') == Some(word));
    let name = inst.op.text.split('.').next().unwrap_or("");
    let behind = inst.op.mods().filter(|other| *other != word).take(place);
    let before: String = behind.fold(name.to_owned(), |name, other| format!("{name}.{other}"));
    let message = format!("`.{word}` stands right behind `{before}`");
    let rest = inst.op.mods().filter(|other| *other != word).skip(place);
    let whole = rest.fold(format!("{before}.{word}"), |name, other| format!("{name}.{other}"));
    let diag = Diag::error(codes::ISA010, at.copied().unwrap_or(pieces.opcode), message);
    out.push(diag.help(format!("write `{whole}`")));
}

/// A word that stands elsewhere than where it must, and how many words go before it.
fn misplaced(inst: &Inst) -> Option<(&str, usize)> {
    let name = inst.op.text.split('.').next()?;
    if name == "mma" {
        return layouts(inst).map(|word| (word, 3));
    }
    // `bar.cta.red`: the scope goes first.
    let scoped = usize::from(inst.op.mods().next() == Some("cta"));
    let name = match inst.op.mods().next() {
        Some("cluster") if name == "barrier" => "barrier.cluster",
        _ => name,
    };
    FIXED.iter().find_map(|(names, words, place)| {
        names.contains(&name).then_some(())?;
        let place = if words.contains(&"red") { scoped } else { *place };
        let at = inst.op.mods().position(|word| words.contains(&word))?;
        (at != place).then_some(())?;
        Some((inst.op.mods().nth(at)?, place))
    })
}

/// `.row.col`: the first matrix is stored by rows, the second by columns, in all shapes but the oldest.
fn layouts(inst: &Inst) -> Option<&str> {
    let mut found = inst.op.mods().filter(|word| matches!(*word, "row" | "col"));
    let swapped = found.next() == Some("col") && found.next() == Some("row");
    let oldest = inst.op.has("m8n8k4");
    (swapped && !oldest).then_some("row")
}
