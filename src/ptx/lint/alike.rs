//! Functions that are the same but for names are linted once: what is found in the first is told of the others.
//!
//! Large modules are full of instances of a template. The rules run on a module in which the later ones are empty; each
//! finding in the first is then moved, place by place, to where the same words stand in the others. Where that cannot be done
//! word for word, all of the module is linted as it stands.

use crate::ptx::analysis::{Call, Callee, Renaming, Twins};
use crate::ptx::diag::{Diag, Edit, Fix, Related};
use crate::ptx::ir::{Body, FuncId, Function, FunctionKind, Label, Module, SymbolId};
use crate::ptx::parse::{FunctionSpans, HeaderSpans, Parsed, Spans};
use crate::ptx::source::{Lines, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;

/// Instructions below which nothing is gained.
const LEAST: usize = 2000;

/// A module in which functions that others are the same as have an empty body.
pub(super) struct Alike {
    /// The module.
    pub(super) reduced: Parsed,
    /// The functions that are left out, in textual order.
    pub(super) twins: Vec<Twin>,
}

/// A function that is the same as an earlier one.
pub(super) struct Twin {
    pub(super) id: FuncId,
    /// The earlier one.
    pub(super) first: FuncId,
    /// What stands in it in place of what.
    pub(super) renaming: Renaming,
    /// Its labels.
    pub(super) labels: Vec<Label>,
}

impl Twin {
    /// The functions that it calls in the place of others, behind these: those that have the body, where there is one.
    pub(super) fn called(&self, module: &Module) -> impl Iterator<Item = (FuncId, FuncId)> {
        let body = |id: FuncId| match Callee::named(module, module.function(id).symbol) {
            Callee::Known(body) => body,
            _ => id,
        };
        let others = self.renaming.functions().filter(|(a, b)| a != b && *b != self.id);
        others.map(move |(a, b)| (body(a), body(b)))
    }
}

impl Alike {
    /// Looks for functions that are the same; `None` where there are few, or the text has faults.
    pub(super) fn find(parsed: &Parsed) -> Option<Self> {
        Self::find_in(parsed, LEAST)
    }

    fn find_in(parsed: &Parsed, least: usize) -> Option<Self> {
        let module = &parsed.module;
        let size = |function: &Function| function.body.as_ref().map_or(0, |body| body.insts.len());
        let all: usize = module.functions.iter().map(size).sum();
        if all < least || !parsed.diags.is_empty() {
            return None;
        }
        let mut seen = Twins::default();
        let twin = |id| {
            let (first, renaming) = seen.first(module, id)?;
            Some(Twin {
                id,
                first,
                renaming,
                labels: module.function(id).body.as_ref()?.labels.clone(),
            })
        };
        let mut twins: Vec<Twin> = (0..module.functions.len() as u32)
            .map(FuncId)
            .filter_map(twin)
            .collect();
        keep_called_alike(module, &mut twins, &callers(calls(module)));
        let left_out: usize = twins.iter().map(|twin| size(module.function(twin.id))).sum();
        if left_out * 2 < all {
            return None;
        }
        let gone: FxHashSet<FuncId> = twins.iter().map(|twin| twin.id).collect();
        Some(Self {
            reduced: reduce(parsed, &gone),
            twins,
        })
    }
}

/// The findings of a module without the twins, with those of the twins; `None` where a finding cannot be moved.
pub(super) fn complete(twins: &[Twin], parsed: &Parsed, text: &str, findings: Vec<Diag>) -> Option<Vec<Diag>> {
    let whole = |id: FuncId| parsed.spans.functions.get(id.index()).map(|spans| spans.whole);
    let gone: Vec<Span> = twins.iter().filter_map(|twin| whole(twin.id)).collect();
    let in_gone = |diag: &Diag| {
        let at = gone.partition_point(|span| span.start <= diag.span.start);
        at.checked_sub(1)
            .and_then(|at| gone.get(at))
            .is_some_and(|span| diag.span.start < span.end)
    };
    // What empty bodies are taken for is no finding.
    let kept: Vec<Diag> = findings.into_iter().filter(|diag| !in_gone(diag)).collect();
    let mut by_function: FxHashMap<FuncId, Vec<&Diag>> = FxHashMap::default();
    for diag in &kept {
        let functions = &parsed.spans.functions;
        let at = functions.partition_point(|spans| spans.whole.start <= diag.span.start);
        let inside = at
            .checked_sub(1)
            .filter(|at| diag.span.start < functions[*at].whole.end);
        if let Some(at) = inside {
            by_function.entry(FuncId(at as u32)).or_default().push(diag);
        }
    }
    if concerns_others(twins, parsed, &kept) {
        return None;
    }
    let lines = OnceCell::new();
    let mut moved = Vec::new();
    for twin in twins {
        let told = by_function.get(&twin.first).map_or(&[][..], Vec::as_slice);
        let local = told.iter().filter(|diag| !is_told_once(diag));
        let mut mover: Option<Mover> = None;
        for diag in local {
            let mover = match &mut mover {
                Some(mover) => mover,
                None => mover.insert(Mover::new(parsed, text, twin, &lines)?),
            };
            moved.push(mover.diag(diag)?);
        }
    }
    Some(kept.into_iter().chain(moved).collect())
}

/// Whether a finding stands at a variable outside of functions that has another one in its place elsewhere.
fn concerns_others(twins: &[Twin], parsed: &Parsed, findings: &[Diag]) -> bool {
    let renamed = twins.iter().flat_map(|twin| twin.renaming.symbols());
    let starts: FxHashSet<u32> = renamed
        .filter(|(a, b)| a != b)
        .filter_map(|(a, _)| parsed.spans.symbols.get(a.index()).map(|span| span.start))
        .collect();
    let functions = &parsed.spans.functions;
    let outside = |diag: &&Diag| {
        let at = functions.partition_point(|spans| spans.whole.start <= diag.span.start);
        at.checked_sub(1)
            .is_none_or(|at| functions[at].whole.end <= diag.span.start)
    };
    findings
        .iter()
        .filter(outside)
        .any(|diag| starts.contains(&diag.span.start))
}

/// Whether legality says it once for all of the module.
fn is_told_once(diag: &Diag) -> bool {
    diag.code.id.starts_with("GATE")
}

pub(super) type Callers = FxHashMap<FuncId, FxHashSet<FuncId>>;

/// Who calls each function.
pub(super) fn callers(calls: impl Iterator<Item = (FuncId, Callee)>) -> Callers {
    let mut callers = Callers::default();
    for (caller, callee) in calls {
        if let Callee::Known(callee) = callee {
            callers.entry(callee).or_default().insert(caller);
        }
    }
    callers
}

/// The calls of a module.
fn calls(module: &Module) -> impl Iterator<Item = (FuncId, Callee)> {
    let functions = (0..).map(FuncId).zip(&module.functions);
    functions.flat_map(|(id, function)| {
        let calls = function.body.iter().flat_map(|body| Call::all(module, body));
        calls.map(move |call| (id, call.callee))
    })
}

/// Device functions count only where their callers are the same, too: what is known of arguments comes from there.
pub(super) fn keep_called_alike(module: &Module, twins: &mut Vec<Twin>, callers: &Callers) {
    loop {
        let firsts: FxHashMap<FuncId, FuncId> = twins.iter().map(|twin| (twin.id, twin.first)).collect();
        let before = twins.len();
        twins.retain(|twin| {
            // What calls a function that stays must stay, too: who calls it is what is known of its arguments.
            let is_told = |(a, b)| {
                firsts
                    .get(&b)
                    .is_some_and(|first| *first == a || firsts.get(&a) == Some(first))
            };
            twin.called(module).all(is_told)
                && (module.function(twin.id).kind == FunctionKind::Entry
                    || called_alike(twin.id, twin.first, callers, &firsts))
        });
        if twins.len() == before {
            return;
        }
    }
}

/// Whether the callers of one function stand in the place of those of the first.
pub(super) fn called_alike(id: FuncId, first: FuncId, callers: &Callers, firsts: &FxHashMap<FuncId, FuncId>) -> bool {
    let none = FxHashSet::default();
    let of = |id| callers.get(&id).unwrap_or(&none);
    let moved: Option<FxHashSet<FuncId>> = of(id).iter().map(|caller| firsts.get(caller).copied()).collect();
    moved.is_some_and(|moved| moved == *of(first))
}

/// The module with these functions empty.
fn reduce(parsed: &Parsed, gone: &FxHashSet<FuncId>) -> Parsed {
    let module = &parsed.module;
    let ids = || (0..).map(FuncId);
    let functions = ids()
        .zip(&module.functions)
        .map(|(id, function)| match gone.contains(&id) {
            true => Function {
                body: Some(Body::default()),
                params: function.params.clone(),
                results: function.results.clone(),
                attrs: function.attrs.clone(),
                ..*function
            },
            false => function.clone(),
        });
    let spans = ids().zip(&parsed.spans.functions).map(|(id, spans)| {
        let bare = FunctionSpans {
            whole: spans.whole,
            name: spans.name,
            attrs: spans.attrs.clone(),
            ..FunctionSpans::default()
        };
        match gone.contains(&id) {
            true => bare,
            false => FunctionSpans {
                stmts: spans.stmts.clone(),
                insts: spans.insts.clone(),
                labels: spans.labels.clone(),
                ..bare
            },
        }
    });
    Parsed {
        module: Module {
            header: module.header.clone(),
            items: module.items.clone(),
            functions: functions.collect(),
            symbols: module.symbols.clone(),
        },
        spans: Spans {
            header: HeaderSpans {
                version: parsed.spans.header.version,
                target: parsed.spans.header.target,
                address_size: parsed.spans.header.address_size,
            },
            items: parsed.spans.items.clone(),
            symbols: parsed.spans.symbols.clone(),
            functions: spans.collect(),
        },
        comments: Vec::new(),
        diags: Vec::new(),
    }
}

/// Moves findings from one function to another.
struct Mover<'a> {
    text: &'a str,
    from: &'a FunctionSpans,
    to: &'a FunctionSpans,
    /// Words that are not the same in both, in order.
    words: Vec<(&'a str, &'a str)>,
    /// How long the shortest of them is.
    shortest: usize,
    /// Where variables and labels are declared that the first names, and where those that stand in their place are.
    declared: Vec<(Span, Span)>,
    /// Where lines start, once that is asked for.
    lines: &'a OnceCell<Lines>,
}

impl<'a> Mover<'a> {
    fn new(parsed: &'a Parsed, text: &'a str, twin: &'a Twin, lines: &'a OnceCell<Lines>) -> Option<Self> {
        let module = &parsed.module;
        let (first, second) = (module.function(twin.first), module.function(twin.id));
        let mut words: Vec<(&str, &str)> = twin
            .renaming
            .symbols()
            .map(|(a, b)| (module.name(a), module.name(b)))
            .chain([(module.name(first.symbol), module.name(second.symbol))])
            .filter(|(a, b)| a != b)
            .collect();
        let labels = first.body.as_ref()?.labels.iter().zip(&twin.labels);
        words.extend(
            labels
                .map(|(a, b)| (a.name.as_str(), b.name.as_str()))
                .filter(|(a, b)| a != b),
        );
        words.sort_unstable();
        words.dedup();
        let functions = &parsed.spans.functions;
        let (from, to) = (functions.get(twin.first.index())?, functions.get(twin.id.index())?);
        let symbol = |id: SymbolId| parsed.spans.symbols.get(id.index()).copied();
        let symbols = twin.renaming.symbols().map(|(a, b)| Some((symbol(a)?, symbol(b)?)));
        let labels = from.labels.iter().copied().zip(to.labels.iter().copied());
        Some(Self {
            text,
            from,
            to,
            shortest: words.iter().map(|(from, _)| from.len()).min().unwrap_or(usize::MAX),
            words,
            declared: symbols.flatten().chain(labels).collect(),
            lines,
        })
    }

    fn diag(&self, diag: &Diag) -> Option<Diag> {
        let related = diag.related.iter().map(|related| {
            Some(Related {
                span: self.span(related.span)?,
                message: self.string(&related.message)?,
            })
        });
        let edit = |edit: &Edit| {
            Some(Edit {
                span: self.span(edit.span)?,
                text: self.string(&edit.text)?,
            })
        };
        let fix = |fix: &Fix| {
            Some(Fix {
                applicability: fix.applicability,
                edits: fix.edits.iter().map(edit).collect::<Option<_>>()?,
            })
        };
        Some(Diag {
            code: diag.code,
            level: diag.level,
            message: self.string(&diag.message)?,
            span: self.span(diag.span)?,
            label: self.string(&diag.label)?,
            related: related.collect::<Option<_>>()?,
            notes: diag.notes.iter().map(|note| self.string(note)).collect::<Option<_>>()?,
            help: match &diag.help {
                Some(help) => Some(self.string(help)?),
                None => None,
            },
            fix: match &diag.fix {
                Some(known) => Some(fix(known)?),
                None => None,
            },
        })
    }

    /// The same place in the other function: within an instruction, its name, or where something is declared.
    fn span(&self, span: Span) -> Option<Span> {
        if span == self.from.name {
            return Some(self.to.name);
        }
        if let Some((_, to)) = self.declared.iter().find(|(from, _)| *from == span) {
            return Some(*to);
        }
        let at = self
            .from
            .insts
            .partition_point(|inst| inst.start <= span.start)
            .checked_sub(1)?;
        let (from, to) = (self.from.insts.get(at)?, self.to.insts.get(at)?);
        if span.end > from.end {
            return None;
        }
        let moved = Span {
            start: to.start + (span.start - from.start),
            end: to.start + (span.end - from.start),
        };
        let words = |start: u32, end: u32| self.text.get(start as usize..end as usize);
        if span == *from {
            return Some(*to);
        }
        // What stands in front of it, and itself, must be the same letter for letter.
        let same = words(from.start, span.end)? == words(to.start, moved.end)?;
        same.then_some(moved)
    }

    /// The words with the other function's names and lines; `None` where a line is none of an instruction.
    fn string(&self, text: &str) -> Option<String> {
        let named = self.named(text);
        if named.contains("lines ") {
            return None;
        }
        if !named.contains("line ") {
            return Some(named);
        }
        let mut moved = String::with_capacity(named.len());
        let mut rest = named.as_str();
        while let Some(at) = rest.find("line ") {
            let (before, behind) = rest.split_at(at + 5);
            moved.push_str(before);
            let end = behind
                .find(|letter: char| !letter.is_ascii_digit())
                .unwrap_or(behind.len());
            let (digits, behind) = behind.split_at(end);
            if let Ok(line) = digits.parse() {
                moved.push_str(&self.line(line)?.to_string());
            }
            rest = behind;
        }
        moved.push_str(rest);
        Some(moved)
    }

    /// The line of the instruction that stands in the place of the first on this line.
    fn line(&self, line: usize) -> Option<u32> {
        let lines = self.lines.get_or_init(|| Lines::of(self.text));
        let line = u32::try_from(line).ok()?;
        let start = lines.start(self.text, line)?;
        let end = lines.start(self.text, line + 1).unwrap_or(u32::MAX);
        let at = self.from.insts.partition_point(|inst| inst.start < start);
        self.from.insts.get(at).filter(|inst| inst.start < end)?;
        Some(lines.at(self.text, self.to.insts.get(at)?.start))
    }

    fn named(&self, text: &str) -> String {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.');
        let bytes = text.as_bytes();
        let mut moved = String::with_capacity(text.len());
        let (mut at, mut copied) = (0, 0);
        while at < bytes.len() {
            let end = at + bytes[at..].iter().take_while(|byte| is_word(byte)).count();
            if let Some(new) = text.get(at..end).and_then(|word| self.word(word)) {
                moved.push_str(&text[copied..at]);
                moved.push_str(new);
                copied = end;
            }
            at = end + 1;
        }
        moved.push_str(&text[copied..]);
        moved
    }

    /// What stands in the other function in place of a word.
    fn word(&self, word: &str) -> Option<&'a str> {
        if word.len() < self.shortest {
            return None;
        }
        let at = self.words.partition_point(|(from, _)| *from < word);
        self.words.get(at).filter(|(from, _)| *from == word).map(|(_, to)| *to)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::ptx::lint::{Options, Selection, run_all};
    use crate::ptx::parse::parse;

    /// Fixtures of all kinds.
    pub(in crate::ptx::lint) const FILES: [&str; 12] = [
        "compiled/nvcc_gemm_sm_80.ptx",
        "compiled/nvcc_hist_sm_80.ptx",
        "compiled/nvcc_reduce_sm_75.ptx",
        "compiled/nvcc_diverge_sm_75.ptx",
        "compiled/nvcc_math_sm_75.ptx",
        "compiled/nvcc_cpasync_sm_80.ptx",
        "compiled/nvcc_local_sm_80.ptx",
        "compiled/clang_a_sm_86.ptx",
        "lint/branch.ptx",
        "lint/masks.ptx",
        "lint/calls.ptx",
        "lint/loop.ptx",
    ];

    pub(in crate::ptx::lint) fn fixture(file: &str) -> String {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        std::fs::read_to_string(folder.join(file)).unwrap()
    }

    /// The text with each word that is one of these under a name of the copy's own.
    fn renamed(text: &str, names: &[String], copy: u32) -> String {
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$' | '%');
        let mut out = String::new();
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let end = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end.max(letter.len_utf8()));
            out.push_str(word);
            if names.iter().any(|name| name == word) {
                out.push_str(&format!("_c{copy}"));
            }
            rest = behind;
        }
        out
    }

    /// The module with its body three times over.
    pub(in crate::ptx::lint) fn thrice(text: &str) -> String {
        let parsed = parse(text);
        let named = |symbol: &crate::ptx::ir::Symbol| symbol.name.to_string();
        let names: Vec<String> = parsed.module.symbols.iter().map(named).collect();
        let at = text.find(".address_size 64").unwrap() + ".address_size 64".len();
        let (head, body) = text.split_at(at);
        let copies: String = (0..3).map(|copy| renamed(body, &names, copy)).collect();
        format!("{head}\n{copies}")
    }

    #[test]
    fn what_is_found_once_is_found_in_each() {
        let options = Options {
            selection: Selection::all(),
            ..Options::default()
        };
        let mut told = 0;
        for file in FILES {
            let text = thrice(&fixture(file));
            let parsed = parse(&text);
            let Some(alike) = Alike::find_in(&parsed, 0) else {
                assert!(!parsed.diags.is_empty(), "{file}: nothing is alike");
                continue;
            };
            let findings = run_all(&alike.reduced, &text, &options);
            let Some(mut moved) = complete(&alike.twins, &parsed, &text, findings) else {
                continue;
            };
            let mut plain = run_all(&parsed, &text, &options);
            let key = |diag: &Diag| (diag.span.start, diag.code.id, diag.message.clone());
            moved.sort_by_key(key);
            plain.sort_by_key(key);
            for (a, b) in moved.iter().zip(&plain) {
                assert_eq!(a, b, "{file}");
            }
            assert_eq!(moved.len(), plain.len(), "{file}");
            told += 1;
        }
        assert!(told >= FILES.len() / 2, "{told}");
    }
}
