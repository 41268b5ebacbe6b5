//! Calls: what is called, and with how many arguments.

use super::Scope;
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{
    Body, FunctionKind, Inst, LabelId, Module, Operand, Prototype, Stmt, SymbolId, SymbolKind, TableKind,
};
use crate::ptx::source::Span;
use crate::ptx::types::Space;
use rustc_hash::FxHashMap;

/// The tables of a function that calls use: how many results and parameters each names. Found at the first indirect call.
#[derive(Default)]
pub(super) struct Prototypes {
    counts: Option<FxHashMap<LabelId, (usize, usize)>>,
}

impl Prototypes {
    fn get(&mut self, module: &Module, body: &Body, label: LabelId) -> Option<(usize, usize)> {
        let counts = self.counts.get_or_insert_with(|| {
            let tables = body.stmts.iter().filter_map(|stmt| match stmt {
                Stmt::Table(table) => Some(table),
                _ => None,
            });
            tables
                .filter_map(|table| match &table.kind {
                    TableKind::Prototype(Prototype { results, params, .. }) => {
                        Some((table.label, (results.len(), params.len())))
                    }
                    TableKind::Call(targets) => {
                        let SymbolKind::Function(id) = module.symbol(*targets.first()?).kind else {
                            return None;
                        };
                        let function = module.function(id);
                        Some((table.label, (function.results.len(), function.params.len())))
                    }
                    _ => None,
                })
                .collect()
        });
        counts.get(&label).copied()
    }
}

/// Checks a call.
pub(super) fn check(scope: &Scope, inst: &Inst, span: Span, prototypes: &mut Prototypes, out: &mut Vec<Diag>) {
    let is_callee = |operand: &Operand| matches!(operand, Operand::Symbol(..) | Operand::Reg(_));
    let Some(at) = inst.operands.iter().position(is_callee) else {
        return;
    };
    let results = list_length(inst.operands.get(..at).and_then(<[_]>::first));
    let arguments = list_length(inst.operands.get(at + 1));
    let place = || scope.pieces(span).operands.get(at).copied().unwrap_or(span);
    let (wanted, related) = match inst.operands.get(at) {
        Some(Operand::Symbol(symbol, _)) => {
            let SymbolKind::Function(id) = scope.module.symbol(*symbol).kind else {
                if scope.module.variable(*symbol).is_some() {
                    let message = format!("`{}` is a variable, not a function", scope.module.name(*symbol));
                    out.push(Diag::error(codes::ISA002, place(), message));
                }
                return;
            };
            let callee = scope.module.function(id);
            if callee.kind == FunctionKind::Entry {
                let message = format!(
                    "`{}` is a kernel, and kernels cannot be called",
                    scope.module.name(*symbol)
                );
                let help = "make it a `.func`, or move its body into one that both use";
                out.push(Diag::error(codes::SYN016, place(), message).help(help));
                return;
            }
            ((callee.results.len(), callee.params.len()), scope.module.name(*symbol))
        }
        _ => {
            let label = inst.operands.iter().find_map(|operand| match operand {
                Operand::Label(label) => Some(*label),
                _ => None,
            });
            if inst.operands.len() <= at + 2 && !inst.operands.iter().any(is_table) {
                let message = "an indirect call needs a `.callprototype` or `.calltargets` as its last operand";
                out.push(Diag::error(codes::SYN015, place(), message));
                return;
            }
            let Some(counts) = label.and_then(|label| prototypes.get(scope.module, scope.body, label)) else {
                return;
            };
            (counts, "the prototype")
        }
    };
    if (results, arguments) != wanted {
        let message = format!(
            "this call has {} and {}; `{related}` has {} and {}",
            count(arguments, "argument"),
            count(results, "result"),
            count(wanted.1, "parameter"),
            count(wanted.0, "result"),
        );
        out.push(Diag::error(codes::SYN015, place(), message));
    } else if let Some(Operand::Symbol(symbol, _)) = inst.operands.get(at)
        && let SymbolKind::Function(id) = scope.module.symbol(*symbol).kind
        && let Some(message) =
            misfit(scope, inst.operands.get(at + 1), &scope.module.function(id).params).or_else(|| {
                misfit(
                    scope,
                    inst.operands.get(..at)?.first(),
                    &scope.module.function(id).results,
                )
            })
    {
        let message = format!("{message} of `{related}`");
        out.push(Diag::error(codes::SYN015, place(), message));
    }
}

/// What is wrong with the first argument or result that does not fit its parameter.
fn misfit(scope: &Scope, arguments: Option<&Operand>, params: &[SymbolId]) -> Option<String> {
    let Some(Operand::List(arguments)) = arguments else {
        return None;
    };
    arguments.iter().zip(params).find_map(|(argument, param)| {
        let name = scope.module.name(*param);
        let param = scope.module.variable(*param)?;
        let (size, alignment) = match argument {
            Operand::Reg(reg) => {
                let decl = scope.body.regs.get(reg.index()).filter(|decl| decl.declared)?;
                (u64::from(decl.ty.bytes()) * u64::from(decl.lanes), None)
            }
            Operand::Symbol(symbol, 0) => {
                let variable = scope.module.variable(*symbol)?;
                let copied = variable.space == Space::Param;
                (variable.size()?, copied.then(|| variable.alignment()))
            }
            _ => return None,
        };
        // An array without a length takes arguments of any size.
        let wanted = param.size()?;
        if size != wanted {
            return Some(format!("{size} bytes stand for the {wanted} of the parameter `{name}`"));
        }
        let least = param.alignment();
        let is = alignment.filter(|is| *is < least)?;
        Some(format!(
            "an argument aligned to {is} bytes stands for the parameter `{name}`, aligned to {least},"
        ))
    })
}

fn is_table(operand: &Operand) -> bool {
    matches!(operand, Operand::Label(_) | Operand::Symbol(..))
}

fn list_length(operand: Option<&Operand>) -> usize {
    match operand {
        Some(Operand::List(parts)) => parts.len(),
        _ => 0,
    }
}

fn count(number: usize, what: &str) -> String {
    match number {
        0 => format!("no {what}"),
        1 => format!("one {what}"),
        _ => format!("{number} {what}s"),
    }
}
