//! BAR006: a barrier whose count the threads that come cannot make up.

use crate::ptx::analysis::{Exact, MOST_THREADS, Shape, Threads};
use crate::ptx::diag::{Code, Diag, Level};
use crate::ptx::ir::{BarrierOp, FuncId};
use crate::ptx::lint::context::Context;
use crate::ptx::lint::named::{Numbered, Part};
use crate::ptx::lint::rule::Rule;
use std::collections::BTreeSet;

/// A barrier whose count the threads that come cannot make up.
pub const RULE: Rule = Rule {
    code: Code::new("BAR006", "barrier-cannot-fill"),
    level: Level::Error,
    summary: "The threads that come to a counted barrier cannot make up its count.",
    explanation: EXPLANATION,
    restates_legality: false,
    check,
};

const EXPLANATION: &str = "\
Finds counted barriers at which too few threads can arrive, or whose arrivals do not come out even: a barrier of 256 that only
128 threads can reach, two roles that name different counts for one barrier, a role that arrives twice.

A counted barrier completes when exactly that many threads, in whole warps, have arrived. Otherwise those that wait never go on,
or the surplus arrivals open the next phase too early. Which threads come follows from conditions on `%tid` and constants; where
that is not known, only the upper bound is used.

More threads at one barrier than it counts, or one barrier that all threads come to with different counts, are a warning: it completes with
the first that come, whichever they are.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k()
.reqntid 256, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 128;
    @%p1 bra OTHER;
    bar.sync 1, 256;
OTHER:
    bar.sync 0;
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k()
.reqntid 256, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 128;
    @%p1 bra OTHER;
    bar.sync 1, 128;
OTHER:
    bar.sync 0;
    ret;
}
```
Let the count be the number of threads of all roles that arrive or wait.
";

/// The barriers of one function that share a number and a count.
struct Class<'n> {
    id: u64,
    count: u64,
    members: Vec<&'n Numbered>,
}

fn check(context: &Context) -> Vec<Diag> {
    let numbered = context.numbered();
    let functions: BTreeSet<FuncId> = numbered.iter().map(|numbered| numbered.function).collect();
    let mut found: Vec<Diag> = numbered
        .iter()
        .filter_map(|numbered| oversized(context, numbered))
        .collect();
    for function in functions {
        let own: Vec<&Numbered> = numbered
            .iter()
            .filter(|numbered| numbered.function == function)
            .collect();
        let faulty: Vec<Diag> = classes(&own)
            .into_iter()
            .filter_map(|class| judge(context, &class))
            .collect();
        if faulty.is_empty() && !own.iter().any(|numbered| oversized(context, numbered).is_some()) {
            found.extend(uneven(context, &own));
        }
        found.extend(faulty);
    }
    found
}

/// One barrier that all threads of the CTA come to, and that counts so many here and others there.
fn uneven(context: &Context, all: &[&Numbered]) -> Option<Diag> {
    let by_all = |numbered: &Numbered| {
        let everyone = Threads::first(numbered.shape.most_threads());
        numbered.whole && !numbered.shared && numbered.op != BarrierOp::Arrive && numbered.threads == everyone
    };
    // How many are counted: all threads, where that is not said.
    let counts = |numbered: &Numbered| match numbered.counted {
        true => numbered.count().map(Some),
        false => Some(numbered.shape.threads().map(u64::from)),
    };
    let sites = || {
        all.iter().filter(|numbered| by_all(numbered)).filter_map(|numbered| {
            let id = numbered.id.as_ref().and_then(Exact::constant)?;
            Some((*numbered, id, counts(numbered)?))
        })
    };
    let (odd, id, count, other) = sites().find_map(|(numbered, id, count)| {
        let count = count.filter(|_| numbered.counted && is_sound(numbered))?;
        let (other, ..) = sites().find(|(_, own, other)| *own == id && *other != Some(count))?;
        Some((numbered, id, count, other))
    })?;
    let message = format!(
        "all threads come to barrier {id} here, which counts {count}, and to the same barrier elsewhere, which counts others"
    );
    let elsewhere = match other.count() {
        Some(count) => format!("it counts {count} threads here"),
        None => "it counts all threads of the CTA here".to_owned(),
    };
    let diag = Diag::warning(RULE.code, context.span(odd.function, odd.inst), message)
        .related(context.span(other.function, other.inst), elsewhere)
        .note("a barrier completes as soon as so many threads have come as it counts, whichever they are")
        .help("let both count the same threads, or use barriers of different numbers");
    Some(diag)
}

/// Numbers that are wrong in themselves have rules of their own.
fn is_sound(numbered: &Numbered) -> bool {
    numbered
        .count()
        .is_some_and(|count| count > 0 && count.is_multiple_of(32) && count <= u64::from(MOST_THREADS))
}

/// A count above the CTA's own size.
fn oversized(context: &Context, numbered: &Numbered) -> Option<Diag> {
    let most = u64::from(numbered.shape.most_threads());
    let count = numbered.any(numbered.count.as_ref(), |count| {
        count > most && count <= u64::from(MOST_THREADS)
    })?;
    let message = format!("the barrier counts {count} threads, but the CTA has {most}: it never completes");
    let diag = Diag::error(RULE.code, context.span(numbered.function, numbered.inst), message);
    let diag = numbered.told(context, Part::Count, diag);
    Some(match numbered.shape.threads() {
        None => diag.note(format!("`.maxntid` allows at most {most} threads")),
        Some(_) => diag,
    })
}

/// Groups the counted barriers; none where a number or count is not known, since it could be any.
fn classes<'n>(all: &[&'n Numbered]) -> Vec<Class<'n>> {
    let unknown = |numbered: &&Numbered| {
        numbered.shared || numbered.id.is_none() || (numbered.counted && numbered.count().is_none())
    };
    if all.iter().any(unknown) {
        return Vec::new();
    }
    let keys: BTreeSet<(u64, u64)> = all.iter().flat_map(|numbered| keys(numbered)).collect();
    keys.into_iter()
        .map(|(id, count)| Class {
            id,
            count,
            members: all
                .iter()
                .copied()
                .filter(|numbered| numbered.count() == Some(count) && !numbered.coming(id).is_empty())
                .collect(),
        })
        .collect()
}

/// The numbers that a barrier has in the threads that come, with its count.
fn keys(numbered: &Numbered) -> Vec<(u64, u64)> {
    let (Some(id), Some(count)) = (&numbered.id, numbered.count()) else {
        return Vec::new();
    };
    match id.constant() {
        Some(id) => vec![(id & 0xffff_ffff, count)],
        // Without the exact shape there may be fewer threads, and then fewer of these barriers.
        None if numbered.shape.threads().is_none() => Vec::new(),
        None => numbered
            .threads
            .iter()
            .map(|thread| (id.of(thread) & 0xffff_ffff, count))
            .collect(),
    }
}

fn judge(context: &Context, class: &Class) -> Option<Diag> {
    let first = class.members.first()?;
    // Numbers that are wrong in themselves have rules of their own.
    if class.count == 0
        || !class.count.is_multiple_of(32)
        || class.count > u64::from(first.shape.most_threads())
        || class.id > 15
    {
        return None;
    }
    if first.shape.most_threads() < 32 || matches!(first.shape, Shape::Unknown(_)) {
        return None;
    }
    let arrivals = |numbered: &&&Numbered| u64::from(numbered.coming(class.id).warps()) * 32;
    let is_arrive = |numbered: &&&Numbered| numbered.op == BarrierOp::Arrive;
    let waiting: Vec<&Numbered> = class
        .members
        .iter()
        .copied()
        .filter(|numbered| !is_arrive(&numbered))
        .collect();
    let waiters = waiting
        .iter()
        .fold(Threads::default(), |sum, numbered| sum.union(numbered.coming(class.id)));
    let arriving: u64 = class
        .members
        .iter()
        .filter(is_arrive)
        .map(|numbered| arrivals(&numbered))
        .sum();
    let endless = class.members.iter().filter(is_arrive).any(|numbered| numbered.in_loop);
    let most = u64::from(waiters.warps()) * 32 + arriving;
    // A warp that waits arrives once; one that does not may arrive at each of its `arrive`s.
    if !endless && most < class.count {
        let what = format!(
            "barrier {} counts {} threads, but at most {most} can come: it never completes",
            class.id, class.count
        );
        return Some(diag(context, class, what));
    }
    let total: u64 = class.members.iter().map(|numbered| arrivals(&numbered)).sum();
    let settled =
        first.shape.threads().is_some() && class.members.iter().all(|numbered| numbered.sure && !numbered.in_loop);
    if settled && !total.is_multiple_of(class.count) {
        let what = format!(
            "{total} threads come to barrier {} altogether, which counts {}: the last {} are left over",
            class.id,
            class.count,
            total % class.count
        );
        return Some(diag(context, class, what));
    }
    overfull(context, class, &waiting)
}

/// More threads wait at one instruction than the barrier counts: it completes with any of them.
fn overfull(context: &Context, class: &Class, waiting: &[&Numbered]) -> Option<Diag> {
    let comers = |numbered: &Numbered| u64::from(numbered.coming(class.id).warps()) * 32;
    let over = waiting
        .iter()
        .find(|numbered| numbered.shape.threads().is_some() && numbered.whole && comers(numbered) > class.count)?;
    let what = format!(
        "{} threads wait at barrier {} here, which completes with any {} of them",
        comers(over),
        class.id,
        class.count
    );
    let mut diag = diag(context, class, what);
    diag.level = Level::Warning;
    diag.span = context.span(over.function, over.inst);
    diag.related.retain(|related| related.span != diag.span);
    Some(diag)
}

fn diag(context: &Context, class: &Class, message: String) -> Diag {
    let first = class.members[0];
    let mut diag = Diag::error(RULE.code, context.span(first.function, first.inst), message);
    for numbered in &class.members {
        let come = numbered.coming(class.id).len();
        let bound = if numbered.sure { "" } else { "up to " };
        let verb = if numbered.op == BarrierOp::Arrive {
            "arrive"
        } else {
            "arrive and wait"
        };
        diag = diag.related(
            context.span(numbered.function, numbered.inst),
            format!("{bound}{come} threads {verb} here"),
        );
    }
    if first.shape.threads().is_none() {
        diag = diag.note("the CTA's shape is not known: this holds for every one-dimensional CTA");
    }
    diag.help("let the count be the number of threads of all roles that arrive or wait, in whole warps")
}
