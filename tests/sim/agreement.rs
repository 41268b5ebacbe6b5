//! The linter and the simulator, held against each other on every kernel that can be executed: what the linter calls an error
//! must show in some run, and what runs meet must not be news to the linter. Where they disagree, one of them is wrong, or the
//! reason stands in a table here.

use super::fixtures;
use ptxgen::ptx::diag::{Diag, Level};
use ptxgen::ptx::ir::{FuncId, Function, FunctionKind, Operand};
use ptxgen::ptx::lint::{self, Launch, Options, RULES, Selection};
use ptxgen::ptx::parse::{Parsed, parse};
use ptxgen::ptx::sim::Fault;
use ptxgen::ptx::source::Span;
use ptxgen::ptx::witness::{self, Search};
use rayon::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What is compared: what is wrong among threads, and with memory.
const GROUPS: [&str; 5] = ["RACE", "BAR", "WARP", "MEM", "ASYNC"];

/// A row of a table: file, kernel, code, and why they disagree.
type Row = (&'static str, &'static str, &'static str, &'static str);

const BEHIND: &str = "a barrier in front of it never opens, so no thread comes there";
const EQUAL: &str = "threads store the same in every run; the linter does not know that the values are equal";
const NOT_MADE: &str = "the access is out of bounds or misaligned, and not made";

/// Errors of the linter that no run shows.
const NOT_SHOWN: &[Row] = &[
    ("BAR005/failing", "k", "RACE003", BEHIND),
    ("RACE012/clean", "k", "RACE003", EQUAL),
    ("RACE012/failing", "k", "RACE003", EQUAL),
    ("lint/silent.ptx", "loop_until_all_agree", "RACE003", EQUAL),
    (
        "lint/branch.ptx",
        "shuffle_down",
        "BAR001",
        "of 64 threads none has a number above 100",
    ),
    (
        "lint/calls.ptx",
        "argument_differs",
        "BAR001",
        "what the function returns is never 0; the linter does not compute it",
    ),
    (
        "lint/compilers.ptx",
        "irreducible",
        "BAR004",
        "lanes meet again at the loop's second entry in a run; on hardware nothing makes them",
    ),
    ("lint/copies.ptx", "misaligned_target", "RACE003", NOT_MADE),
    ("lint/counts.ptx", "above_1024", "RACE003", BEHIND),
    ("lint/counts.ptx", "role_of_unknown_cta", "RACE003", BEHIND),
    ("lint/counts.ptx", "too_many", "RACE003", BEHIND),
    ("lint/exit.ptx", "counted", "RACE003", BEHIND),
    ("lint/exit.ptx", "odd_lanes_leave_before_a_count", "RACE003", BEHIND),
    ("lint/flow_paths.ptx", "no_way_out", "RACE003", EQUAL),
    ("lint/flow_undefined.ptx", "flag", "RACE005", EQUAL),
    ("lint/flow_undefined.ptx", "parts", "RACE003", EQUAL),
    ("lint/flow_undefined.ptx", "selected", "RACE003", EQUAL),
    (
        "lint/mbarriers.ptx",
        "too_many",
        "ASYNC006",
        "each arrival completes a phase, which is legal; that threads go on too early shows only in what they would read",
    ),
    ("lint/memory.ptx", "past", "RACE003", NOT_MADE),
    (
        "lint/unknown_shape.ptx",
        "role_of_whole_warps",
        "BAR006",
        "there are two, and a run ends at the first",
    ),
    ("lint/silent.ptx", "loop_until_all_agree", "RACE003", EQUAL),
    ("lint/unknown_shape.ptx", "role_of_whole_warps", "RACE003", BEHIND),
    ("races/idg_tc_plain.ptx", "k", "RACE003", EQUAL),
    ("races/struct_copy_two.ptx", "k", "RACE010", EQUAL),
    ("races/struct_field_overlap.ptx", "k", "RACE003", NOT_MADE),
    (
        "witness/two_at_a_barrier.ptx",
        "two",
        "BAR001",
        "it is made so: behind a number that no launch guesses",
    ),
];

const BULK: &str = "what copies read and write in global memory is not compared with other accesses to it";
const NUMBERS: &str = "the numbers made up for its parameters are too small for its rows, and those rows overlap";
const DESCRIPTOR: &str = "the matrix descriptors of the example are made up";
const TWO_PLACES: &str =
    "trial runs stop where threads wait at barriers in two places, and look for no races behind it";
const LAST_CTA: &str = "no fence stands behind the counter by which the last CTA is told: unordered by the letter, and the linter knows the idiom";
const UNDEFINED: &str = "what is stored is undefined, and that is told (FLOW002)";

/// Faults that runs meet and the linter says nothing of.
const NOT_FOUND: &[Row] = &[
    ("ASYNC008/clean", "k", "ASYNC010", BULK),
    ("ASYNC008/clean", "k", "RACE001", BULK),
    ("ASYNC008/clean", "k", "RACE002", BULK),
    ("ASYNC013/clean", "k", "MEM002", DESCRIPTOR),
    ("ASYNC013/failing", "k", "MEM002", DESCRIPTOR),
    ("ASYNC014/clean", "k", "MEM002", DESCRIPTOR),
    ("ASYNC014/failing", "k", "MEM002", DESCRIPTOR),
    ("ASYNC015/clean", "k", "MEM002", DESCRIPTOR),
    ("ASYNC015/failing", "k", "MEM002", DESCRIPTOR),
    ("BAR002/clean", "k", "RACE003", TWO_PLACES),
    (
        "MEM014/failing",
        "k",
        "RACE003",
        "addresses of local memory name their thread in the simulator, and are alike on hardware",
    ),
    (
        "lint/exit.ptx",
        "in_loop",
        "BAR004",
        "threads leave a loop with a barrier one by one; the linter tells that as leaving early, which is legal (BAR005)",
    ),
    ("lint/flow_undefined.ptx", "copied", "RACE003", UNDEFINED),
    (
        "lint/flow_undefined.ptx",
        "idle_lanes",
        "RACE010",
        "a shuffle lies between; the simulator takes only `bar.warp.sync` to order memory",
    ),
    ("lint/flow_undefined.ptx", "one_arm", "RACE003", UNDEFINED),
    (
        "lint/masks.ptx",
        "matches_the_ballot",
        "WARP003",
        "the masks that `match.any` gives are not computed",
    ),
    ("lint/pipelines.ptx", "producer_and_consumers", "ASYNC010", BULK),
    ("lint/pipelines.ptx", "roles_with_constant_addresses", "ASYNC010", BULK),
    ("lint/pipelines.ptx", "producer_and_consumers", "RACE001", BULK),
    ("lint/pipelines.ptx", "producer_and_consumers", "RACE002", BULK),
    (
        "lint/pipelines.ptx",
        "three_stages_unrolled",
        "ASYNC012",
        "the alignment of what is copied from global memory is not followed",
    ),
    ("lint/pipelines.ptx", "three_stages_unrolled", "RACE010", BULK),
    ("lint/proxies.ptx", "beyond_the_copy", "ASYNC004", BULK),
    ("lint/proxies.ptx", "beyond_the_copy", "RACE003", BULK),
    ("lint/proxies.ptx", "other_array_unfenced", "ASYNC004", BULK),
    ("lint/proxies.ptx", "right", "ASYNC004", BULK),
    ("lint/proxies.ptx", "right", "RACE003", BULK),
    ("lint/silent.ptx", "one_warp_vote", "RACE003", TWO_PLACES),
    ("lint/silent.ptx", "unaligned_arms", "RACE003", TWO_PLACES),
    (
        "lint/silent.ptx",
        "uniform_global_word",
        "BAR001",
        "it follows from the race on the word, which is told",
    ),
    (
        "patterns/b42_barrier_in_func_divergent.ptx",
        "k",
        "BAR001",
        "lanes that return round the barrier exit next: told as leaving early (BAR005)",
    ),
    ("races/last_block_all_store.ptx", "k", "RACE006", LAST_CTA),
    ("races/scr_ticket_fence.ptx", "k", "RACE006", LAST_CTA),
    (
        "races/smp_hist256_nosync_end.ptx",
        "k",
        "RACE007",
        "bins of a warp that data picks are not held against what other warps read",
    ),
    ("races/lud_internal.ptx", "k", "RACE001", NUMBERS),
    ("races/lud_internal.ptx", "k", "RACE002", NUMBERS),
    ("races/lud_internal.ptx", "k", "RACE003", NUMBERS),
    ("races/lud_internal.ptx", "k", "RACE006", NUMBERS),
    ("races/lud_internal.ptx", "k", "RACE010", NUMBERS),
    ("races/pitch_rows.ptx", "k", "RACE006", NUMBERS),
    (
        "races/producer_consumer_named_no_back.ptx",
        "k",
        "BAR006",
        "arrivals that overtake the wait are told as the races that they lead to",
    ),
    (
        "races/struct_field_overlap.ptx",
        "k",
        "MEM003",
        "the alignment of accesses through parameters is not followed",
    ),
];

const ANY_FENCE: &str = "a proxy fence on the way counts, whatever memory it names and whoever executes it";
const ANY_ORDER: &str = "a `wgmma.fence` on the way counts, though the register is used behind it";

/// As [`NOT_FOUND`], of the simulator's own fixtures.
const FIXTURES_NOT_FOUND: &[Row] = &[
    (
        "sim/false_uni.ptx",
        "k",
        "BAR019",
        "the branch leads to where threads come without it: they do not part",
    ),
    (
        "sim/misaligned.ptx",
        "k",
        "MEM003",
        "the alignment of accesses through parameters is not followed",
    ),
    (
        "sim/out_of_bounds.ptx",
        "k",
        "MEM002",
        "the buffer is the launch's, which the text does not know",
    ),
    ("sim/proxy_other.ptx", "k", "ASYNC010", ANY_FENCE),
    ("sim/proxy_some.ptx", "k", "ASYNC010", ANY_FENCE),
    ("sim/wgmma_late_fence.ptx", "k", "ASYNC013", ANY_ORDER),
    ("sim/wgmma_not_fenced_again.ptx", "k", "ASYNC013", ANY_ORDER),
    (
        "sim/wgmma_proxy.ptx",
        "k",
        "ASYNC010",
        "the address in a computed descriptor is not followed, and the function has a fence",
    ),
];

/// Texts with what is known of their launch.
struct Subject {
    file: String,
    text: String,
    launch: Launch,
}

/// A disagreement: file, kernel, code.
type Case = (String, String, String);

fn dims(text: &str) -> [u32; 3] {
    let mut dims = [1; 3];
    for (to, from) in dims.iter_mut().zip(text.split(',')) {
        *to = from.trim().parse().unwrap();
    }
    dims
}

/// The launch that the first lines say: `// race: --block 64 --grid 2`, `// launch: --block 8,8`.
fn stated(text: &str) -> Launch {
    let words: Vec<&str> = text.lines().take(4).flat_map(str::split_whitespace).collect();
    let of = |flag: &str| {
        let at = words.iter().position(|word| *word == flag)?;
        words.get(at + 1).map(|word| dims(word))
    };
    Launch {
        block: of("--block"),
        grid: of("--grid"),
        ..Launch::default()
    }
}

fn folder(path: &Path) -> Vec<Subject> {
    let mut files: Vec<PathBuf> = match fs::read_dir(path) {
        Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
        Err(_) => Vec::new(),
    };
    files.retain(|file| file.extension().is_some_and(|ending| ending == "ptx"));
    files.sort();
    let place = path.file_name().unwrap().to_string_lossy();
    let read = |file: &PathBuf| {
        let text = fs::read_to_string(file).unwrap();
        Subject {
            file: format!("{place}/{}", file.file_name().unwrap().to_string_lossy()),
            launch: stated(&text),
            text,
        }
    };
    files.iter().map(read).collect()
}

/// The cases beside the project, where they are.
fn shared() -> Vec<Subject> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases");
    let mut subjects = Vec::new();
    for name in ["micro", "patterns", "faulty", "clean"] {
        subjects.extend(folder(&root.join(name)));
    }
    // From 51 on they are illegal.
    subjects.retain(|subject| !subject.file.starts_with("faulty/") || subject.file.as_str() < "faulty/5");
    let one = Launch {
        grid: Some([1, 1, 1]),
        ..Launch::default()
    };
    subjects.iter_mut().for_each(|subject| subject.launch = one.clone());
    let patterns = fs::read_to_string(root.join("patterns.json")).unwrap_or("[]".to_owned());
    let patterns: Value = serde_json::from_str(&patterns).unwrap();
    for case in patterns.as_array().unwrap() {
        let file = format!("patterns/{}", case["file"].as_str().unwrap());
        let of = |name: &str| Some(dims(case[name].as_str().unwrap()));
        if let Some(subject) = subjects.iter_mut().find(|subject| subject.file == file) {
            (subject.launch.block, subject.launch.grid) = (of("block"), of("grid"));
        }
    }
    subjects
}

/// The examples of the rules.
fn examples() -> Vec<Subject> {
    let rules = RULES.iter().filter(|rule| GROUPS.contains(&rule.group()));
    let named = |code: &str, at: usize, text: &str| Subject {
        file: format!("{code}/{}", ["failing", "clean"][at]),
        text: text.to_owned(),
        launch: Launch::default(),
    };
    rules
        .flat_map(|rule| {
            rule.examples()
                .enumerate()
                .map(move |(at, text)| named(rule.code.id, at, text))
        })
        .collect()
}

fn subjects() -> Vec<Subject> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut subjects = Vec::new();
    for name in ["lint", "races", "witness"] {
        subjects.extend(folder(&fixtures.join(name)));
    }
    subjects.extend(examples());
    subjects.extend(shared());
    subjects
}

/// Kernels that are launched alike, and what the linter finds in them.
struct Group {
    launch: Launch,
    kernels: Vec<FuncId>,
    findings: Vec<Diag>,
}

/// The launch that a kernel is taken to have: as stated, else two warps, in a square where it looks at `%tid.y`.
fn launch_of(subject: &Subject, function: &Function) -> Option<Launch> {
    let body = function
        .body
        .as_ref()
        .filter(|_| function.kind == FunctionKind::Entry)?;
    let mut operands = body.insts.iter().flat_map(|inst| &inst.operands);
    let square = operands.any(|operand| matches!(operand, Operand::Special(special) if special.name() == "%tid.y"));
    let most = function
        .attr("maxntid")
        .map_or(64, |dims| dims.iter().product::<u64>() as u32);
    let block = match square {
        _ if most < 64 => [most, 1, 1],
        true => [8, 8, 1],
        false => [64, 1, 1],
    };
    // Most are made for one CTA.
    let wide = ["RACE006", "RACE008", "RACE012", "BAR013", "BAR020"];
    let ctas = if wide.iter().any(|code| subject.file.starts_with(code)) {
        2
    } else {
        1
    };
    Some(Launch {
        block: Some(subject.launch.block.unwrap_or(block)),
        grid: Some(subject.launch.grid.unwrap_or([ctas, 1, 1])),
        ..Launch::default()
    })
}

fn groups(subject: &Subject, parsed: &Parsed) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (id, function) in (0..).map(FuncId).zip(&parsed.module.functions) {
        let Some(launch) = launch_of(subject, function) else {
            continue;
        };
        match groups.iter_mut().find(|group| group.launch.block == launch.block) {
            Some(group) => group.kernels.push(id),
            None => groups.push(Group {
                launch,
                kernels: vec![id],
                findings: Vec::new(),
            }),
        }
    }
    for group in &mut groups {
        let options = Options {
            launch: group.launch.clone(),
            selection: Selection::all(),
            ..Options::default()
        };
        group.findings = lint::lint_with(parsed, &subject.text, &options).findings;
        let launched_otherwise = |id: &FuncId| {
            let is_entry = parsed.module.function(*id).kind == FunctionKind::Entry;
            is_entry && !group.kernels.contains(id)
        };
        group
            .findings
            .retain(|diag| function_at(parsed, diag).is_none_or(|id| !launched_otherwise(&id)));
    }
    groups
}

/// The function in which a finding stands.
fn function_at(parsed: &Parsed, diag: &Diag) -> Option<FuncId> {
    let mut functions = (0..).map(FuncId).zip(&parsed.spans.functions);
    let inside = |outer: Span| outer.start <= diag.span.start && diag.span.start < outer.end;
    functions.find(|(_, spans)| inside(spans.whole)).map(|(id, _)| id)
}

fn name(parsed: &Parsed, function: FuncId) -> String {
    parsed.module.name(parsed.module.function(function).symbol).to_owned()
}

fn is_compared(code: &str) -> bool {
    GROUPS.iter().any(|group| code.starts_with(group))
}

/// Errors that no run shows.
fn not_shown(subject: &Subject) -> Vec<Case> {
    let parsed = parse(&subject.text);
    let mut cases = Vec::new();
    for group in groups(subject, &parsed) {
        let mut errors = group.findings;
        errors.retain(|diag| diag.level == Level::Error && is_compared(diag.code.id));
        let searches = witness::search(&parsed, &errors, &group.launch);
        for (diag, search) in errors.iter().zip(searches) {
            if let (Some(Search::NotShown(_)), Some(function)) = (search, function_at(&parsed, diag)) {
                cases.push((subject.file.clone(), name(&parsed, function), diag.code.id.to_owned()));
            }
        }
    }
    cases
}

/// Faults that are news to the linter.
fn not_found(subject: &Subject) -> Vec<Case> {
    // One beside the plain order; CI may ask for more.
    let asked = std::env::var("PTXGEN_ORDERS").ok().and_then(|text| text.parse().ok());
    let orders = asked.unwrap_or(1);
    let parsed = parse(&subject.text);
    let mut cases = Vec::new();
    for group in groups(subject, &parsed) {
        for kernel in group.kernels {
            let Ok(faults) = witness::explore(&parsed, kernel, &group.launch, orders) else {
                continue;
            };
            let news = news(&parsed, kernel, &group.findings, &faults).into_iter();
            cases.extend(news.map(|code| (subject.file.clone(), name(&parsed, kernel), code)));
        }
    }
    cases
}

/// The codes of a kernel's faults of which no finding tells. The linter tells a missing barrier once, by the first race that it
/// lets happen; so a fault is told where some finding is of its family.
fn news(parsed: &Parsed, kernel: FuncId, findings: &[Diag], faults: &[Fault]) -> BTreeSet<String> {
    let is_near = |diag: &&Diag| {
        let function = function_at(parsed, diag);
        function.is_none_or(|id| id == kernel || parsed.module.function(id).kind == FunctionKind::Func)
    };
    let near: Vec<&Diag> = findings.iter().filter(is_near).collect();
    let told = |fault: &Fault| {
        let one = std::slice::from_ref(fault);
        near.iter()
            .any(|diag| tells_of(diag, fault.code.id) || witness::is_shown(parsed, diag, one) == Some(true))
    };
    // How far an index goes may depend on numbers that are made up.
    let is_made_up = |fault: &Fault| fault.code.id == "MEM002" && takes_integers(parsed, kernel);
    let counts = |fault: &&Fault| fault.level != Level::Info && is_compared(fault.code.id) && !is_made_up(fault);
    let news = faults.iter().filter(counts).filter(|fault| !told(fault));
    news.map(|fault| fault.code.id.to_owned()).collect()
}

/// Whether a kernel has parameters of 32 bits.
fn takes_integers(parsed: &Parsed, kernel: FuncId) -> bool {
    let params = parsed.module.function(kernel).params.iter();
    let mut variables = params.filter_map(|param| parsed.module.variable(*param));
    variables.any(|variable| variable.ty.is_integral() && variable.ty.bits() == 32)
}

/// Whether a finding tells of faults of that code in its kernel.
fn tells_of(diag: &Diag, fault: &str) -> bool {
    let is = |code: &str, groups: &[&str]| groups.iter().any(|group| code.starts_with(group));
    let (code, level) = (diag.code.id, diag.level);
    match fault {
        // Where barriers are broken, races are not looked for; what RACE013 says it has not looked at is no news.
        _ if is(fault, &["RACE", "ASYNC"]) => {
            let broken = level != Level::Info && is(code, &["BAR", "WARP", "ISA02"]);
            let deaf = code == "BAR006" || code == "BAR015" || code == "BAR020";
            code != "RACE004" && is(code, &["RACE", "ASYNC"]) || broken || deaf
        }
        _ if is(fault, &["BAR", "WARP"]) => is(code, &["BAR", "WARP", "ISA02"]) && level != Level::Info,
        _ => diag.code.id == fault,
    }
}

/// The disagreements that the table does not hold, and its entries that are none.
fn hold_against(table: &[Row], found: &BTreeSet<Case>, have_shared: bool) -> Vec<String> {
    let is_known = |case: &Case| {
        table
            .iter()
            .any(|(file, kernel, code, _)| (*file, *kernel, *code) == (&case.0, &case.1, &case.2))
    };
    let new = found.iter().filter(|case| !is_known(case));
    let mut problems: Vec<String> = new
        .map(|(file, kernel, code)| format!("{file} {kernel} {code}: they disagree"))
        .collect();
    for (file, kernel, code, why) in table {
        assert!(!why.is_empty());
        let case = ((*file).to_owned(), (*kernel).to_owned(), (*code).to_owned());
        let elsewhere = ["micro/", "patterns/", "faulty/", "clean/"]
            .iter()
            .any(|place| file.starts_with(place));
        if !found.contains(&case) && (have_shared || !elsewhere) {
            problems.push(format!("{file} {kernel} {code}: the table has it, and they agree"));
        }
    }
    problems
}

fn check(table: &[Row], compare: fn(&Subject) -> Vec<Case>) {
    let subjects = subjects();
    let have_shared = subjects.iter().any(|subject| subject.file.starts_with("micro/"));
    let found: BTreeSet<Case> = subjects.par_iter().flat_map_iter(compare).collect();
    let problems = hold_against(table, &found, have_shared);
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn what_the_linter_calls_an_error_shows_in_a_run() {
    check(NOT_SHOWN, not_shown);
}

#[test]
fn what_runs_meet_the_linter_tells() {
    check(NOT_FOUND, not_found);
}

/// Fixtures that say how they are launched, with what arguments, and what is to be found.
#[test]
fn fixtures_are_found_by_the_linter_too() {
    let found: BTreeSet<Case> = fixtures::all()
        .into_iter()
        .flat_map(|(file, text, faults)| {
            let parsed = parse(&text);
            let launch = fixtures::launch_of(&text);
            let subject = Subject {
                file: format!("sim/{file}"),
                text,
                launch,
            };
            let mut cases = Vec::new();
            for group in groups(&subject, &parsed) {
                for kernel in group.kernels {
                    let news = news(&parsed, kernel, &group.findings, &faults).into_iter();
                    cases.extend(news.map(|code| (subject.file.clone(), name(&parsed, kernel), code)));
                }
            }
            cases
        })
        .collect();
    let problems = hold_against(FIXTURES_NOT_FOUND, &found, true);
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn the_comparison_can_fail() {
    let case = |code: &str| ("f".to_owned(), "k".to_owned(), code.to_owned());
    let found = BTreeSet::from([case("RACE001")]);
    assert_eq!(
        hold_against(&[("f", "k", "RACE001", "why")], &found, true),
        Vec::<String>::new()
    );
    assert_eq!(hold_against(&[], &found, true).len(), 1);
    assert_eq!(hold_against(&[("f", "k", "RACE002", "why")], &found, true).len(), 2);
}
