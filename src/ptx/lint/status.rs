//! Which kernels could be analysed, and why not the others.

use super::KernelStatus;
use crate::ptx::analysis::{Call, Callee, called};
use crate::ptx::ir::{Body, FuncId, FunctionKind, Inst, InstId, Module, Stmt, TableKind};
use crate::ptx::isa::Effect;
use crate::ptx::parse::Parsed;

/// The status of every kernel, in textual order.
pub(super) fn kernels(parsed: &Parsed, text: &str) -> Vec<KernelStatus> {
    let module = &parsed.module;
    let own: Vec<Option<String>> = troubles(parsed, text).collect();
    let is_kernel = |id: &FuncId| {
        let function = module.function(*id);
        function.kind == FunctionKind::Entry && function.body.is_some()
    };
    (0..module.functions.len() as u32)
        .map(FuncId)
        .filter(is_kernel)
        .map(|root| KernelStatus {
            name: module.name(module.function(root).symbol).to_owned(),
            span: parsed
                .spans
                .functions
                .get(root.index())
                .map(|spans| spans.name)
                .unwrap_or_default(),
            not_analysed: reached(module, root).find_map(|id| {
                let why = own[id.index()].as_ref()?;
                let name = module.name(module.function(id).symbol);
                Some(if id == root {
                    why.clone()
                } else {
                    format!("in `{name}`, which it calls: {why}")
                })
            }),
        })
        .collect()
}

/// Whether all functions can be analysed.
pub(super) fn is_clear(parsed: &Parsed, text: &str) -> bool {
    troubles(parsed, text).all(|trouble| trouble.is_none())
}

/// What keeps each function from being analysed.
fn troubles(parsed: &Parsed, text: &str) -> impl Iterator<Item = Option<String>> {
    let functions = (0..).map(FuncId).zip(&parsed.module.functions);
    functions.map(move |(id, function)| function.body.as_ref().and_then(|body| trouble(parsed, text, id, body)))
}

/// The function and those it calls, itself first.
fn reached(module: &Module, root: FuncId) -> impl Iterator<Item = FuncId> {
    let body = module.function(root).body.as_ref();
    let called = body.map(|body| called(module, body)).unwrap_or_default();
    std::iter::once(root).chain(called)
}

/// What keeps a function from being analysed.
fn trouble(parsed: &Parsed, text: &str, id: FuncId, body: &Body) -> Option<String> {
    let mut found = (0..)
        .map(InstId)
        .zip(&body.insts)
        .filter_map(|(at, inst)| Some((at, unclear(parsed, body, inst)?)));
    let (at, why) = found.next()?;
    let more = found.count();
    let spans = parsed.spans.functions.get(id.index())?;
    let start = spans.insts.get(at.index()).map_or(0, |span| span.start as usize);
    let line = text
        .get(..start)
        .map_or(0, |before| before.bytes().filter(|byte| *byte == b'\n').count())
        + 1;
    let others = if more > 0 {
        format!(" (and {more} more)")
    } else {
        String::new()
    };
    Some(format!("{why} at line {line}{others}"))
}

/// What is not known of an instruction that decides where control goes or what it does.
fn unclear(parsed: &Parsed, body: &Body, inst: &Inst) -> Option<String> {
    if !inst.op.is_known() {
        return Some(format!("unknown instruction `{}`", inst.op.text));
    }
    match inst.op.effect {
        Effect::Branch => {
            let Some(branch) = inst.as_branch() else {
                return Some("branch without a target".to_owned());
            };
            let label = body.labels.get(branch.target.index())?;
            let has_table = || {
                body.stmts.iter().any(|stmt| matches!(stmt, Stmt::Table(table) if table.label == branch.target && matches!(table.kind, TableKind::Branch(_))))
            };
            if branch.indexed {
                return (!has_table()).then(|| format!("indirect branch without the table `{}`", label.name));
            }
            label
                .at
                .is_none()
                .then(|| format!("branch to `{}`, which is not defined", label.name))
        }
        Effect::Call => {
            let call = Call::of(&parsed.module, InstId(0), inst);
            let known = call.is_some_and(|call| call.callee != Callee::Indirect);
            (!known).then(|| "indirect call".to_owned())
        }
        _ => None,
    }
}
