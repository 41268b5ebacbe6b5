//! What must hold for every text, well-formed or not. Each target panics where something does not.
//!
//! The same functions run as property tests on stable (`tests/robust.rs`) and for millions of inputs in `fuzz/`.

use ptxgen::ptx::diag::{Applicability, Diag};
use ptxgen::ptx::format::{format, is_harmless};
use ptxgen::ptx::ir::{FunctionKind, Header};
use ptxgen::ptx::lint::{Launch, Options, Selection, apply_fixes, fingerprints, lint_with};
use ptxgen::ptx::listing::{is_listing, modules};
use ptxgen::ptx::needs::{Needs, conflict, least};
use ptxgen::ptx::parse::{Parsed, parse as read, parse_fragment, pieces, tokens};
use ptxgen::ptx::print::{Notes, print as write};
use ptxgen::ptx::sim::{self as simulator, Arg, Buffer, Data, TensorMap};
use ptxgen::ptx::source::Span;
use ptxgen::ptx::verify::verify as check;

/// A property of all texts. It tells whether the text exercised it: a text with errors does not get as far as being printed.
pub type Target = fn(&str) -> bool;

/// The targets by name.
pub const TARGETS: &[(&str, Target)] = &[
    ("lex", lex),
    ("parse", parse),
    ("print", print),
    ("verify", verify),
    ("fmt", fmt),
    ("lint", lint),
    ("fragment", fragment),
    ("needs", needs),
    ("sim", sim),
];

/// A span lies in the text, on character boundaries.
fn in_text(text: &str, span: Span) {
    let (start, end) = (span.start as usize, span.end as usize);
    assert!(start <= end && end <= text.len(), "{span:?} in {} bytes", text.len());
    assert!(
        text.is_char_boundary(start) && text.is_char_boundary(end),
        "{span:?} cuts a character"
    );
}

fn diags_in_text(text: &str, diags: &[Diag]) {
    for diag in diags {
        in_text(text, diag.span);
        diag.related.iter().for_each(|related| in_text(text, related.span));
        let edits = diag.fix.iter().flat_map(|fix| &fix.edits);
        edits.for_each(|edit| in_text(text, edit.span));
    }
}

/// Tokens and comments come in order, do not overlap, and leave nothing but blanks between them.
pub fn lex(text: &str) -> bool {
    let mut end = if text.starts_with('\u{feff}') { 3 } else { 0 };
    for span in tokens(text) {
        in_text(text, span);
        assert!(span.start >= end && span.end > span.start, "{span:?} behind {end}");
        assert!(
            Span::new(end, span.start).of(text).trim().is_empty(),
            "something before {span:?} is lost"
        );
        end = span.end;
    }
    assert!(text[end as usize..].trim().is_empty(), "the end is lost");
    true
}

/// The text with a blank in front of every semicolon: no instruction is as plain any more as those that have a path of their own.
fn roomy(text: &str) -> String {
    let mut out = String::new();
    let mut end = 0;
    for span in tokens(text).into_iter().filter(|span| span.of(text) == ";") {
        out += &text[end..span.start as usize];
        out += " ";
        end = span.start as usize;
    }
    out + &text[end..]
}

/// Every span of the side tables lies in the text, every statement has one, and blanks mean nothing.
pub fn parse(text: &str) -> bool {
    let parsed = read(text);
    diags_in_text(text, &parsed.diags);
    assert_eq!(parsed.spans.symbols.len(), parsed.module.symbols.len());
    for (function, spans) in parsed.module.functions.iter().zip(&parsed.spans.functions) {
        in_text(text, spans.whole);
        let Some(body) = &function.body else { continue };
        assert_eq!(spans.insts.len(), body.insts.len());
        assert_eq!(spans.stmts.len(), body.stmts.len());
        assert_eq!(spans.labels.len(), body.labels.len());
        for (inst, span) in body.insts.iter().zip(&spans.insts) {
            in_text(text, *span);
            assert_eq!(
                pieces(text, *span).operands.len(),
                inst.operands.len(),
                "{}",
                span.of(text)
            );
        }
    }
    // Sections and debug data are kept to the letter, blanks included.
    if parsed.diags.is_empty() && !text.contains(".section") && !text.contains("@@") {
        let again = read(&roomy(text));
        assert!(again.module == parsed.module, "blanks make a difference");
    }
    parsed.diags.is_empty()
}

/// What is printed reads as the same module, and prints the same again.
pub fn print(text: &str) -> bool {
    let parsed = read(text);
    let printed = write(&parsed.module, &Notes::default());
    let again = read(&printed);
    if !parsed.diags.is_empty() {
        return false;
    }
    assert!(again.diags.is_empty(), "{:?}\n{printed}", again.diags);
    assert!(again.module == parsed.module, "reads differently:\n{printed}");
    assert_eq!(write(&again.module, &Notes::default()), printed);
    true
}

/// Legality checks answer, and point into the text.
pub fn verify(text: &str) -> bool {
    let parsed = read(text);
    let diags = check(&parsed, text);
    diags_in_text(text, &diags);
    parsed.diags.is_empty() && diags.is_empty()
}

/// Formatting keeps modules and comments, and does nothing the second time. Listings have several modules, and parts of
/// modules no header.
pub fn fmt(text: &str) -> bool {
    let parts = parts(text);
    if parts.is_empty() || !parts.iter().all(|part| part.diags.iter().all(is_harmless)) {
        return false;
    }
    let formatted = format(text);
    let again = self::parts(&formatted);
    assert_eq!(parts.len(), again.len(), "modules:\n{formatted}");
    for (before, after) in parts.iter().zip(&again) {
        assert!(after.module == before.module, "reads differently:\n{formatted}");
        assert_eq!(after.comments.len(), before.comments.len(), "comments:\n{formatted}");
    }
    assert_eq!(format(&formatted), formatted);
    true
}

/// The modules of a listing; any other text is one, or a part of one.
fn parts(text: &str) -> Vec<Parsed> {
    let whole = vec![Span::new(0, text.len() as u32)];
    let spans = if is_listing(text) { modules(text) } else { whole };
    spans
        .iter()
        .map(|span| parse_fragment(span.of(text), &header()))
        .collect()
}

/// All rules answer, and point into the text; sure repairs do not make it worse.
pub fn lint(text: &str) -> bool {
    let parsed = read(text);
    // Running every kernel on the CPU would be most of the time; a few of them are run.
    let launch = match text.len() % 4 {
        0 => Launch {
            block: Some([48, 2, 1]),
            grid: Some([3, 1, 1]),
            ..Launch::default()
        },
        1 => Launch {
            block: Some([32, 1, 1]),
            ..Launch::default()
        },
        _ => Launch::default(),
    };
    let options = Options {
        launch,
        selection: Selection::all(),
        ..Options::default()
    };
    let report = lint_with(&parsed, text, &options);
    diags_in_text(text, &report.findings);
    report.kernels.iter().for_each(|kernel| in_text(text, kernel.span));
    assert_eq!(
        fingerprints(&parsed, text, &report.findings).len(),
        report.findings.len()
    );
    let (repaired, made) = apply_fixes(text, &report.findings, Applicability::Safe);
    if made > 0 {
        let worse = read(&repaired).diags.len() > parsed.diags.len();
        assert!(!worse, "repaired to worse:\n{repaired}");
    }
    parsed.diags.is_empty()
}

/// A text read as a fragment, with a header in reserve, is survived too.
pub fn fragment(text: &str) -> bool {
    let parsed = parse_fragment(text, &header());
    diags_in_text(text, &parsed.diags);
    diags_in_text(text, &check(&parsed, text));
    parsed.diags.is_empty()
}

fn header() -> Header {
    Header {
        version: Some("8.6".into()),
        target: vec!["sm_90a".into()],
        address_size: Some(64),
    }
}

/// The least version and target can be asked for, or the needs that contradict each other.
pub fn needs(text: &str) -> bool {
    let parsed = read(text);
    let needs = Needs::of(&parsed.module);
    let all: Vec<_> = needs.all.iter().collect();
    if least(&all).is_none() {
        conflict(&all);
    }
    parsed.diags.is_empty()
}

/// Every kernel runs, is refused or is stopped, legal or not, and it is the same every time. A text exercises this if a kernel comes to
/// its end.
pub fn sim(text: &str) -> bool {
    let parsed = read(text);
    let module = &parsed.module;
    let kernels = module
        .functions
        .iter()
        .filter(|function| function.kind == FunctionKind::Entry && function.body.is_some());
    let mut ended = false;
    for kernel in kernels.take(2) {
        let name = module.name(kernel.symbol);
        let Ok(program) = simulator::prepare(module, name, 64) else {
            continue;
        };
        let args = simulator::params(&program).map(|(_, _, size)| argument(size)).collect();
        let launch = simulator::Launch {
            grid: [2, 1, 1],
            block: [48, 1, 1],
            dynamic_shared: 64,
            args,
            options: simulator::Options {
                budget: 1 << 14,
                schedule: text.len() as u64 % 3,
                cluster: [1 + text.len() as u32 % 2, 1, 1],
                ..simulator::Options::default()
            },
        };
        let run = || match simulator::run_prepared(module, name, &program, &launch) {
            Ok(outcome) => (None, outcome.faults, outcome.buffers),
            Err(stopped) => (Some(stopped.stop), stopped.faults, Vec::new()),
        };
        let (first, second) = (run(), run());
        assert_eq!(first.0, second.0);
        assert!(first.1 == second.1, "other faults");
        assert!(first.2 == second.2, "other results");
        ended |= first.0.is_none();
    }
    ended
}

/// Something that fits a parameter: addresses lead to buffers, and structures of the size of a tensor map are one.
fn argument(size: u64) -> Arg {
    let buffer = || Buffer {
        name: String::new(),
        bytes: (0..=255).cycle().take(1024).collect(),
        unwritten: false,
    };
    match size {
        8 => Arg::Buffer(buffer()),
        128 => Arg::TensorMap(
            TensorMap {
                element: 7,
                dims: vec![16, 16],
                strides: vec![64],
                size: vec![8, 4],
                steps: vec![1, 1],
                swizzle: 1,
                nan: false,
            },
            Data::Own(buffer()),
        ),
        _ => Arg::Bytes(vec![1; usize::try_from(size).unwrap_or(0).min(1 << 20)]),
    }
}
