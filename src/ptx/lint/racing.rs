//! What the rules on races say alike.

use super::context::Context;
use super::trials::{Race, Tried};
use crate::ptx::analysis::trial::{Conflict, Sample, Site};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{Module, SymbolId};
use crate::ptx::isa::Effect;

/// How two accesses race: one rule each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// What another thread has written is read (RACE001).
    ReadAfterWrite,
    /// What another thread has read is overwritten (RACE002).
    WriteAfterRead,
    /// Both write, and not the same (RACE003).
    WriteWrite,
    /// Both write the same (RACE004).
    Equal,
    /// What all threads read at one address is overwritten (RACE005).
    Broadcast,
    /// One is atomic, the other is not (RACE007).
    Atomic,
    /// Volatile accesses are taken to wait for each other (RACE009).
    Volatile,
    /// Lanes of one warp are taken to run in step (RACE010).
    InWarp,
}

/// How the two accesses race.
pub(super) fn kind(conflict: &Conflict) -> Kind {
    if conflict.atomic.0 || conflict.atomic.1 {
        Kind::Atomic
    } else if conflict.equal {
        Kind::Equal
    } else if conflict.in_warp && conflict.first != conflict.second {
        Kind::InWarp
    } else if conflict.strong {
        Kind::Volatile
    } else {
        match conflict.writes {
            (true, true) => Kind::WriteWrite,
            (true, false) => Kind::ReadAfterWrite,
            _ if conflict.broadcast => Kind::Broadcast,
            _ => Kind::WriteAfterRead,
        }
    }
}

/// The findings for one kind of race.
pub(super) fn findings(
    context: &Context,
    code: Code,
    wanted: Kind,
    say: impl Fn(&Context, &Tried, &Race) -> String,
) -> Vec<Diag> {
    let mut found = Vec::new();
    for tried in context.tried() {
        let told = told_of_copies(context, tried);
        let is_new = |race: &&Race| kind(&race.conflict) == wanted && !(told && is_of_copy(context, &race.conflict));
        for race in tried.races.iter().filter(is_new) {
            found.push(finding(context, tried, race, code, say(context, tried, race)));
        }
    }
    found
}

/// Whether the rules on asynchronous copies have something to say of the kernel.
fn told_of_copies(context: &Context, tried: &Tried) -> bool {
    let mut copies = context
        .copies()
        .iter()
        .filter(|copies| copies.function == tried.function);
    copies.any(|copies| !copies.early.is_empty() || !copies.refills.is_empty())
}

/// Whether one of the accesses is an asynchronous copy.
fn is_of_copy(context: &Context, conflict: &Conflict) -> bool {
    [conflict.first, conflict.second].iter().any(|site| {
        let body = context.parsed.module.function(site.function).body.as_ref();
        let inst = body.and_then(|body| body.insts.get(site.inst.index()));
        inst.is_some_and(|inst| inst.op.effect == Effect::Async)
    })
}

/// The finding for a race.
pub(super) fn finding(context: &Context, tried: &Tried, race: &Race, code: Code, message: String) -> Diag {
    let conflict = &race.conflict;
    let at = |site: Site| context.span(site.function, site.inst);
    let place = place(context, conflict);
    let does = |writes: bool, atomic: bool| match (writes, atomic) {
        (_, true) => "updates",
        (true, _) => "writes",
        _ => "reads",
    };
    let say = |index: u32, writes: bool, atomic: bool| {
        format!("thread {} {} {place}", thread(index, race.block), does(writes, atomic))
    };
    let (first, second) = (
        say(conflict.threads.0, conflict.writes.0, conflict.atomic.0),
        say(conflict.threads.1, conflict.writes.1, conflict.atomic.1),
    );
    let mut diag = Diag::new(code, race.level, at(conflict.second), message);
    if conflict.first == conflict.second {
        diag = diag.label(format!(
            "{first}, and so does thread {}",
            thread(conflict.threads.1, race.block)
        ));
    } else {
        diag = diag.label(second).related(at(conflict.first), format!("{first} here"));
    }
    let mut seen = vec![conflict.first, conflict.second];
    for other in &race.others {
        for site in [other.first, other.second] {
            if !seen.contains(&site) && seen.len() < 6 {
                seen.push(site);
                diag = diag.related(at(site), "the same missing barrier concerns this access, too");
            }
        }
    }
    repair(context, conflict, assume(tried, race, diag))
}

/// What was taken for granted.
fn assume(tried: &Tried, race: &Race, mut diag: Diag) -> Diag {
    let conflict = &race.conflict;
    let [x, y, z] = race.block;
    if tried.assumed {
        let scope = if race.level == Level::Info && !conflict.equal {
            "shown for"
        } else {
            "shown for several shapes of the CTA, here"
        };
        diag = diag.note(format!(
            "{scope} {x} x {y} x {z} threads; the kernel does not say how it is launched"
        ));
    }
    if let Some(numbers) = race.numbers {
        diag = diag.note(match numbers {
            Sample::Rounds => {
                "shown where integer parameters are 2, but for sizes: it depends on them whether the threads meet"
            }
            Sample::One => "shown where integer parameters are 1: it depends on them whether the threads meet",
            _ => {
                "shown where integer parameters are the number of threads: it depends on them whether the threads meet"
            }
        });
    }
    if conflict.anywhere && conflict.first == conflict.second {
        diag = diag.note("the place depends on loaded data: two threads may be given the same");
    } else if conflict.anywhere {
        diag = diag.note("one of the two accesses goes to a place in the variable that depends on data");
    } else if conflict.maybe {
        diag = diag.note("it depends on data whether the threads come here");
    }
    if !conflict.shared {
        diag = diag.note("different parameters are taken to point to different memory");
    }
    diag
}

fn repair(context: &Context, conflict: &Conflict, diag: Diag) -> Diag {
    let line = |site: Site| context.line(site.function, site.inst);
    let (first, second) = (line(conflict.first), line(conflict.second));
    match kind(conflict) {
        Kind::WriteWrite | Kind::Equal if conflict.first == conflict.second => {
            diag.help("let one thread write, give each thread an address of its own, or use an atomic")
        }
        Kind::InWarp => diag.help(format!("put `bar.warp.sync 0xffffffff;` in front of line {second}")),
        _ if conflict.first.inst >= conflict.second.inst && conflict.first.function == conflict.second.function => diag
            .help(format!(
                "put `bar.sync 0;` behind line {first}, before the loop comes back to line {second}"
            )),
        _ => diag.help(format!(
            "put `bar.sync 0;` between line {first} and line {second}, where all threads pass"
        )),
    }
}

/// The common address in words.
fn place(context: &Context, conflict: &Conflict) -> String {
    match conflict.object {
        Some((symbol, offset)) => address(context, symbol, offset),
        None if conflict.shared => format!("shared address {}", conflict.address),
        None => "one address".to_owned(),
    }
}

/// A variable's or parameter's name with an offset.
pub(super) fn address(context: &Context, symbol: SymbolId, offset: i64) -> String {
    let name = context.parsed.module.name(symbol);
    match offset {
        0 => format!("`{name}`"),
        1.. => format!("`{name}+{offset}`"),
        _ => format!("`{name}{offset}`"),
    }
}

/// A thread by its place in the CTA.
pub(super) fn thread(index: u32, [x, y, _]: [u32; 3]) -> String {
    let (x, y) = (x.max(1), y.max(1));
    format!("({}, {}, {})", index % x, index / x % y, index / x / y)
}

/// The `sm_` number of the module's target.
pub(super) fn sm(module: &Module) -> Option<u32> {
    let words = &module.header.target;
    let number = words.iter().find_map(|word| word.strip_prefix("sm_"))?;
    number
        .trim_end_matches(|letter: char| letter.is_ascii_alphabetic())
        .parse()
        .ok()
}

/// The opcode at a site, in backquotes.
pub(super) fn opcode(context: &Context, site: Site) -> String {
    let body = context.parsed.module.function(site.function).body.as_ref();
    let inst = body.and_then(|body| body.insts.get(site.inst.index()));
    inst.map_or_else(|| "the access".to_owned(), |inst| format!("`{}`", inst.op.text))
}

/// The opcodes of both accesses; one where they are alike.
pub(super) fn opcodes(context: &Context, conflict: &Conflict) -> String {
    let (first, second) = (opcode(context, conflict.first), opcode(context, conflict.second));
    if first == second {
        first
    } else {
        format!("{first} and {second}")
    }
}
