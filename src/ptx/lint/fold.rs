//! Functions that are the same but for names are found while a text is read, and the later ones lose their bodies at once.
//!
//! Instructions take most of the memory of a large module, and to get it from the system takes longer than to lint what it
//! holds. What is found in the first of them is told of the others, as in `alike`; where that cannot be done, the
//! text is read again, and all of it is kept.

use super::alike::{self, Twin};
use super::{Options, Report, report, run, run_all, status};
use crate::ptx::analysis::{Callee, Renaming, Twins};
use crate::ptx::diag::Diag;
use crate::ptx::ir::{Body, FuncId, FunctionKind, Inst, Module, Operand, Stmt, SymbolId};
use crate::ptx::isa::Effect;
use crate::ptx::parse::{Parsed, parse_seeing};
use rustc_hash::FxHashMap;

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
    let mut fold = Fold::new();
    let mut parsed = parse_seeing(text, |parsed, id| fold.see(parsed, id));
    let findings = match fold.gone.is_empty() {
        true => run(&parsed, text, options),
        false => fold.findings(&mut parsed, text, options)?,
    };
    let report = report(&parsed, text, options, findings);
    Some((parsed, report))
}

/// The functions that have lost their bodies.
struct Fold {
    seen: Twins,
    twins: Vec<Twin>,
    /// Per twin whose body is gone, the earlier function.
    gone: FxHashMap<FuncId, FuncId>,
    /// Who calls what, in all of the text so far.
    called: FxHashMap<SymbolId, Vec<FuncId>>,
}

impl Fold {
    fn new() -> Self {
        Self {
            seen: Twins::trusting(),
            twins: Vec::new(),
            gone: FxHashMap::default(),
            called: FxHashMap::default(),
        }
    }

    /// Takes a function's body where there is one like it.
    fn see(&mut self, parsed: &mut Parsed, id: FuncId) {
        let body = parsed.module.function(id).body.as_ref();
        for symbol in body.iter().flat_map(|body| &body.insts).filter_map(callee) {
            self.called.entry(symbol).or_default().push(id);
        }
        if parsed.diags.is_empty() {
            let now = self.may_go(parsed, id);
            self.look(parsed, id, now);
        }
    }

    /// Whether a function may lose its body at once: what is known of a device function comes from its callers, and nothing is
    /// if these are still to come.
    fn may_go(&self, parsed: &Parsed, id: FuncId) -> bool {
        let function = parsed.module.function(id);
        let callers = self.called.get(&function.symbol);
        let gone = |callers: &Vec<FuncId>| callers.iter().all(|caller| self.gone.contains_key(caller));
        function.kind == FunctionKind::Entry || callers.is_some_and(gone)
    }

    /// Notes a function where there is one like it. `now`: it loses its body at once.
    fn look(&mut self, parsed: &mut Parsed, id: FuncId, now: bool) -> Option<()> {
        let module = &mut parsed.module;
        if !is_plain(module.function(id).body.as_ref()?) {
            return None;
        }
        let (first, renaming) = self.seen.first(module, id)?;
        let body = module.functions[id.index()].body.as_mut()?;
        let labels = match now {
            true => {
                self.seen.lose(id, first, &renaming);
                self.gone.insert(id, first);
                std::mem::take(body).labels
            }
            false => body.labels.clone(),
        };
        self.twins.push(Twin {
            id,
            first,
            renaming,
            labels,
        });
        Some(())
    }

    /// What is found in the module, the bodies that are gone included.
    fn findings(mut self, parsed: &mut Parsed, text: &str, options: &Options) -> Option<Vec<Diag>> {
        if !parsed.diags.is_empty() || !status::is_clear(parsed, text) {
            return None;
        }
        // What was compared before all bodies were there is compared again.
        self.twins.retain(|twin| self.gone.contains_key(&twin.id));
        for id in (0..parsed.module.functions.len() as u32).map(FuncId) {
            if !self.gone.contains_key(&id) {
                self.look(parsed, id, false);
            }
        }
        let module = &parsed.module;
        let calls = self.called.iter().flat_map(|(symbol, callers)| {
            let callee = Callee::named(module, *symbol);
            callers.iter().map(move |caller| (*caller, callee))
        });
        alike::keep_called_alike(module, &mut self.twins, &alike::callers(calls));
        let kept = self
            .twins
            .iter()
            .filter(|twin| self.gone.contains_key(&twin.id))
            .count();
        if kept < self.gone.len() || !self.is_settled(module) {
            return None;
        }
        self.twins.sort_by_key(|twin| twin.id);
        for twin in &self.twins {
            parsed.module.functions[twin.id.index()].body = Some(Body::default());
        }
        let findings = run_all(parsed, text, options);
        alike::complete(&self.twins, parsed, text, findings)
    }

    /// Whether all that was taken on trust while the text was read has turned out to be so.
    fn is_settled(&self, module: &Module) -> bool {
        let renamings: FxHashMap<FuncId, &Renaming> = self.twins.iter().map(|twin| (twin.id, &twin.renaming)).collect();
        let agrees = |twin: &Twin| {
            let called = twin.called(module).filter_map(|(_, b)| renamings.get(&b));
            let mut called = called.map(|renaming| twin.renaming.agrees(renaming));
            called.all(|agrees| agrees)
        };
        self.twins
            .iter()
            .all(|twin| twin.renaming.holds(module) && agrees(twin))
    }
}

/// Whether nothing but the rules has a use for the body: no lines of a source text stand in it, and all of it can be analysed.
fn is_plain(body: &Body) -> bool {
    let is_clear = |inst: &Inst| inst.op.is_known() && (inst.op.effect != Effect::Call || callee(inst).is_some());
    let is_kept = |stmt: &Stmt| matches!(stmt, Stmt::Loc(_) | Stmt::Raw(_));
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

    /// Two kernels that call functions which only have a name so far; what each does is said behind them.
    fn calling(first: &str, second: &str) -> String {
        let head = ".version 7.0\n.target sm_80\n.address_size 64\n.func f_a();\n.func f_b();\n";
        let kernel = |name: &str| format!(".visible .entry k_{name}()\n{{\ncall.uni f_{name}, ();\nret;\n}}\n");
        let function = |name: &str, body: &str| format!(".func f_{name}()\n{{\n{body}ret;\n}}\n");
        let functions = [function("a", first), function("b", second)].concat();
        [head, &kernel("a"), &kernel("b"), &functions].concat()
    }

    #[test]
    fn functions_that_come_later_are_compared_when_they_do() {
        let options = Options::default();
        let (parsed, _) = read(&calling("bar.sync 0;\n", "bar.sync 0;\n"), &options).unwrap();
        let bodies = parsed
            .module
            .functions
            .iter()
            .filter_map(|function| function.body.as_ref());
        assert_eq!(bodies.filter(|body| !body.insts.is_empty()).count(), 2);
        assert!(read(&calling("bar.sync 0;\n", "bar.sync 1;\n"), &options).is_none());
        assert!(read(&calling("", "bar.sync 0;\n"), &options).is_none());
    }
}
