//! Kernels that are the same but for names are found while a text is read, and the later ones lose their bodies at once.
//!
//! Instructions take most of the memory of a large module, and to get it from the system takes longer than to lint what it
//! holds. What is found in the first of such kernels is told of the others, as in `alike`; where that cannot be done, the
//! text is read again, and all of it is kept.

use super::alike::{self, Twin};
use super::{Options, Report, report, run, run_all, status};
use crate::ptx::analysis::Twins;
use crate::ptx::diag::Diag;
use crate::ptx::ir::{Body, FuncId, FunctionKind, Inst, Operand, Stmt, SymbolId};
use crate::ptx::isa::Effect;
use crate::ptx::parse::{Parsed, parse_seeing};

/// Bytes of text below which nothing is gained.
const LEAST: usize = 1 << 16;
/// Comments with this word say what is to be reported of a statement, which must be there then.
const DIRECTIVE: &[u8] = b"ptxgen:";

/// Reads a text and lints it; `None` where it must be read as a whole.
pub(super) fn lint(text: &str, options: &Options) -> Option<(Parsed, Report)> {
    let by_name = !options.launch.params.is_empty();
    if text.len() < LEAST || by_name || memchr::memmem::find(text.as_bytes(), DIRECTIVE).is_some() {
        return None;
    }
    read(text, options)
}

fn read(text: &str, options: &Options) -> Option<(Parsed, Report)> {
    let mut fold = Fold::default();
    let mut parsed = parse_seeing(text, |parsed, id| fold.see(parsed, id));
    let findings = match fold.twins.is_empty() {
        true => run(&parsed, text, options),
        false => fold.findings(&mut parsed, text, options)?,
    };
    let report = report(&parsed, text, options, findings);
    Some((parsed, report))
}

/// The functions that have lost their bodies.
#[derive(Default)]
struct Fold {
    seen: Twins,
    twins: Vec<Twin>,
    /// The functions that they call.
    calls: Vec<(FuncId, SymbolId)>,
}

impl Fold {
    /// Takes a kernel's body where there is one like it.
    fn see(&mut self, parsed: &mut Parsed, id: FuncId) {
        if parsed.diags.is_empty() && parsed.module.function(id).kind == FunctionKind::Entry {
            self.take(parsed, id);
        }
    }

    fn take(&mut self, parsed: &mut Parsed, id: FuncId) -> Option<()> {
        let module = &mut parsed.module;
        if !is_plain(module.function(id).body.as_ref()?) {
            return None;
        }
        let (first, renaming) = self.seen.first(module, id)?;
        let body = module.functions[id.index()].body.as_mut()?;
        let called = body.insts.iter().filter_map(callee);
        self.calls.extend(called.map(|symbol| (id, symbol)));
        self.twins.push(Twin {
            id,
            first,
            renaming,
            labels: std::mem::take(body).labels,
        });
        Some(())
    }

    /// What is found in the module, the bodies that are gone included.
    fn findings(mut self, parsed: &mut Parsed, text: &str, options: &Options) -> Option<Vec<Diag>> {
        let holds = |twin: &Twin| twin.renaming.holds(&parsed.module);
        if !parsed.diags.is_empty() || !self.twins.iter().all(holds) || !status::is_clear(parsed, text) {
            return None;
        }
        let kernels = self.twins.len();
        let functions = (0..parsed.module.functions.len() as u32).map(FuncId);
        let functions = functions.filter(|id| parsed.module.function(*id).kind != FunctionKind::Entry);
        for id in functions.collect::<Vec<_>>() {
            self.look(parsed, id);
        }
        let callers = alike::callers(&parsed.module, &self.calls);
        alike::keep_called_alike(&parsed.module, &mut self.twins, &callers);
        let is_kernel = |twin: &&Twin| parsed.module.function(twin.id).kind == FunctionKind::Entry;
        if self.twins.iter().filter(is_kernel).count() < kernels {
            return None;
        }
        self.twins.sort_by_key(|twin| twin.id);
        for twin in &self.twins {
            parsed.module.functions[twin.id.index()].body = Some(Body::default());
        }
        let findings = run_all(parsed, text, options);
        alike::complete(&self.twins, parsed, text, findings)
    }

    /// Notes a device function where there is one like it; who calls it decides whether it can do without its body.
    fn look(&mut self, parsed: &Parsed, id: FuncId) -> Option<()> {
        let body = parsed.module.function(id).body.as_ref().filter(|body| is_plain(body))?;
        let (first, renaming) = self.seen.first(&parsed.module, id)?;
        self.twins.push(Twin {
            id,
            first,
            renaming,
            labels: body.labels.clone(),
        });
        Some(())
    }
}

/// Whether nothing but the rules has a use for the body: no lines of a source text stand in it, and all of it can be analysed.
fn is_plain(body: &Body) -> bool {
    let is_clear = |inst: &Inst| inst.op.is_known() && (inst.op.effect != Effect::Call || callee(inst).is_some());
    let is_kept = |stmt: &Stmt| matches!(stmt, Stmt::Loc(_) | Stmt::Pragma(_) | Stmt::Raw(_) | Stmt::Table(_));
    body.insts.iter().all(is_clear) && !body.stmts.iter().any(is_kept)
}

/// The function that a call names.
fn callee(inst: &Inst) -> Option<SymbolId> {
    if inst.op.effect != Effect::Call {
        return None;
    }
    inst.operands.iter().find_map(|operand| match operand {
        Operand::Symbol(symbol, _) => Some(*symbol),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::alike::tests::{FILES, fixture, thrice};
    use super::super::{Selection, lint_with};
    use super::*;
    use crate::ptx::parse::parse;

    #[test]
    fn nothing_changes_but_the_memory_it_takes() {
        let options = Options {
            selection: Selection::all(),
            ..Options::default()
        };
        let mut folded = 0;
        for file in FILES {
            let text = thrice(&fixture(file));
            let Some((parsed, report)) = read(&text, &options) else {
                continue;
            };
            let whole = parse(&text);
            let plain = lint_with(&whole, &text, &options);
            assert_eq!(report.findings, plain.findings, "{file}");
            assert_eq!(report.kernels, plain.kernels, "{file}");
            assert_eq!(parsed.spans.functions.len(), whole.spans.functions.len());
            let insts = |parsed: &Parsed| -> usize {
                let bodies = parsed
                    .module
                    .functions
                    .iter()
                    .filter_map(|function| function.body.as_ref());
                bodies.map(|body| body.insts.len()).sum()
            };
            folded += usize::from(insts(&parsed) * 2 < insts(&whole));
        }
        assert!(folded >= FILES.len() / 2, "{folded}");
    }

    #[test]
    fn what_a_comment_speaks_of_is_kept() {
        let text = thrice(&fixture("compiled/nvcc_math_sm_75.ptx"));
        assert!(text.len() > LEAST && lint(&text, &Options::default()).is_some());
        let spoken = format!("{text}\n// ptxgen: allow(BAR001) none");
        assert!(lint(&spoken, &Options::default()).is_none());
    }
}
