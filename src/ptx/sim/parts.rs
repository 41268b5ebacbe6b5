//! A grid in parts, each run on its own, where its CTAs have nothing to do with each other.
//!
//! Each part begins with the memory of the launch, and none sees what another one writes. If in the end no part has touched
//! what another one has written, and nothing at all was wrong, the run in one piece would have come to the same, bit for
//! bit; the parts together are its outcome. Else the parts are thrown away, and whoever asked runs the grid in one piece,
//! which says what is wrong and where it shows first.

use super::exec::{self, World};
use super::memory::Block;
use super::program::{Async, Program, Rare};
use super::stats::Stats;
use super::{Arg, Launch, Outcome, Stop, Stopped, Written};
use crate::ptx::types::Space;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Threads of a grid that are worth a part.
const THREADS: u64 = 1 << 12;
/// The most bytes of buffers that are copied for each thread: beyond that copying takes longer than running.
const BYTES: u64 = 512;
/// The most bytes of buffers that all parts may take.
const MOST: u64 = 1 << 30;

/// A part that was run.
pub struct Part {
    world: World,
    /// Whether it has come to its end, and nothing was wrong.
    is_clean: bool,
}

/// Into how many parts it is worth to cut a launch, at most `most`: 1 if it should be run in one piece.
pub fn count(program: &Program, launch: &Launch, most: usize) -> usize {
    let product = |sizes: [u32; 3]| {
        sizes
            .iter()
            .try_fold(1u64, |all, size| all.checked_mul(u64::from(*size)))
    };
    let (Some(ctas), Some(block)) = (product(launch.grid), product(launch.block)) else {
        return 1;
    };
    let threads = ctas.saturating_mul(block);
    let bytes: u64 = launch.args.iter().map(bytes).sum();
    if !can_be(program, launch) || bytes > threads.saturating_mul(BYTES) {
        return 1;
    }
    let fits = MOST.checked_div(bytes).unwrap_or(u64::MAX);
    (most as u64).min(fits).min(threads / THREADS).min(ctas).max(1) as usize
}

/// Whether a launch may be run in parts at all.
pub(super) fn can_be(program: &Program, launch: &Launch) -> bool {
    let options = &launch.options;
    let is_plain =
        options.schedule == 0 && !options.trace && !options.precision && options.checks.races && options.checks.memory;
    is_plain && is_separate(program)
}

fn bytes(arg: &Arg) -> u64 {
    arg.buffer().map_or(0, |buffer| buffer.bytes.len() as u64)
}

/// Whether nothing in a program lets CTAs take notice of each other, but for plain loads and stores.
fn is_separate(program: &Program) -> bool {
    let own = |space| matches!(space, Space::Shared | Space::Local | Space::Param);
    let plain = program
        .accesses
        .iter()
        .all(|access| !access.order.strong || own(access.space));
    let rares = program.rares.iter().all(|rare| match rare {
        Rare::Atomic(atomic) => own(atomic.access.space),
        Rare::Async(what) => matches!(
            what,
            Async::Copy { .. } | Async::Commit | Async::Wait(_) | Async::WaitAll
        ),
        Rare::Unsupported(_)
        | Rare::Table(..)
        | Rare::Call(_)
        | Rare::Return
        | Rare::Exit
        | Rare::Trap
        | Rare::Special(..)
        | Rare::Barrier(_)
        | Rare::Together(..)
        | Rare::ActiveMask(_)
        | Rare::Fence(_)
        | Rare::Uniform(_)
        | Rare::Space(_)
        | Rare::Stack(_)
        | Rare::Proxy(_)
        | Rare::Order(_)
        | Rare::Touch(_)
        | Rare::Nothing => true,
    });
    plain && rares
}

/// The clusters of part `nth` of `count`; CTAs of one cluster stay together.
fn range(clusters: u64, nth: usize, count: usize) -> Range<u64> {
    let at = |nth: usize| (u128::from(clusters) * nth as u128 / count.max(1) as u128) as u64;
    at(nth)..at(nth + 1)
}

/// Runs part `nth` of `count`, until `given_up` is set: once it is clear that parts are of no use.
pub(super) fn run(
    program: &Program,
    launch: &Launch,
    mut world: World,
    (nth, count): (usize, usize),
    given_up: &Arc<AtomicBool>,
) -> Part {
    world.stop_at(given_up);
    let cluster = world.options.cluster;
    let clusters = (0..3)
        .map(|at| u64::from(world.grid[at] / cluster[at].max(1)))
        .product();
    let ran = exec::run_some(program, &mut world, launch.block, range(clusters, nth, count));
    let is_clean = ran.is_ok()
        && world.stop.is_none()
        && world.faults.is_empty()
        && world.doubtful.is_empty()
        && world.printed.is_empty()
        && !world.over
        && !world.forgot;
    if !is_clean {
        given_up.store(true, Ordering::Relaxed);
    }
    Part { world, is_clean }
}

/// What is known where whoever watches wants no more: the counts of all parts, and the faults of the first one, which are
/// those that the run in one piece would have met by then.
pub(super) fn interrupted(parts: &[Part]) -> Option<Stopped> {
    let mut stops = parts.iter().filter_map(|part| part.world.stop.clone());
    let mut stats = Stats::default();
    parts.iter().for_each(|part| stats.join(&part.world.stats));
    Some(Stopped {
        stop: stops.find(|stop| matches!(stop, Stop::Interrupted(_)))?,
        faults: parts.first()?.world.faults.clone(),
        stats: Box::new(stats),
        printed: parts.first()?.world.printed.clone(),
    })
}

/// What the launch came to, if all parts are clean and none has touched what another one has written.
pub(super) fn join(program: &Program, launch: &Launch, mut parts: Vec<Part>) -> Option<Outcome> {
    let mut stats = Stats::default();
    parts.iter().for_each(|part| stats.join(&part.world.stats));
    if stats.thread_instructions > launch.options.budget || !parts.iter().all(|part| part.is_clean) {
        return None;
    }
    let mut joined = Vec::new();
    let blocks = parts.first()?.world.buffers.len();
    for at in 0..blocks {
        let pieces = parts.iter_mut().filter_map(|part| part.world.buffers.get_mut(at));
        joined.push(Block::join(pieces.collect())?);
    }
    let mut joined = joined.into_iter().skip(program.layout.blocks.len());
    let buffers = launch.args.iter().map(|arg| {
        let (bytes, stores) = arg.buffer().and_then(|_| joined.next())?;
        Some(Written { bytes, stores })
    });
    Some(Outcome {
        faults: Vec::new(),
        printed: String::new(),
        stats,
        buffers: buffers.collect(),
        precision: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::ptx::ir::Module;
    use crate::ptx::parse::parse;
    use crate::ptx::sim::{self, Buffer, Options};

    /// A kernel of one thread a CTA that does something to the words of a buffer; `%rd2` is where the CTA's own one is.
    fn kernel(body: &str) -> Module {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n\
             .reg .b32 %r<4>; .reg .b64 %rd<4>;\n\
             ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;\n{body}\nret;\n}}\n"
        );
        let parsed = parse(&text);
        assert!(parsed.diags.is_empty(), "{:?}", parsed.diags);
        parsed.module
    }

    /// What four CTAs in two parts come to; `None` where they must be run in one piece.
    fn joined(body: &str) -> Option<Vec<u8>> {
        let module = kernel(body);
        let program = sim::prepare(&module, "k", 0).unwrap();
        let launch = Launch {
            grid: [4, 1, 1],
            block: [1, 1, 1],
            dynamic_shared: 0,
            args: vec![Arg::Buffer(Buffer {
                bytes: vec![7; 32].into(),
                ..Buffer::default()
            })],
            options: Options::default(),
        };
        if !can_be(&program, &launch) {
            return None;
        }
        let given_up = Arc::default();
        let part = |nth| {
            let world = sim::fresh("k", &program, &launch, [1; 3], 0).unwrap();
            run(&program, &launch, world, (nth, 2), &given_up)
        };
        let outcome = join(&program, &launch, vec![part(0), part(1)])?;
        assert_eq!(outcome.stats.warp_instructions % 4, 0);
        outcome
            .buffers
            .into_iter()
            .next()?
            .map(|written| written.bytes.into_vec())
    }

    #[test]
    fn what_each_writes_alone_is_put_together() {
        let words = joined("st.global.u32 [%rd2], %r1;").unwrap();
        assert_eq!(words[..16], [0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(words[16..], [7; 16]);
        // Bytes of one word are told apart, whichever parts they belong to.
        let bytes = joined("cvt.u64.u32 %rd3, %r1; add.s64 %rd3, %rd3, %rd1; st.global.u8 [%rd3], %r1;").unwrap();
        assert_eq!(bytes[..8], [0, 1, 2, 3, 7, 7, 7, 7]);
        assert!(
            joined("ld.global.u32 %r2, [%rd1]; st.shared.u32 [%r1], %r2;").is_none(),
            "a fault"
        );
        assert!(joined("ld.global.u32 %r2, [%rd1+16]; st.global.u32 [%rd2], %r2;").is_some());
    }

    #[test]
    fn what_another_part_touches_is_no_part() {
        for body in [
            "st.global.u32 [%rd1], %r1;",
            "ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd2], %r1;",
            "st.global.u32 [%rd2], %r1; ld.global.u32 %r2, [%rd1+12];",
            "st.global.u8 [%rd2], %r1; ld.global.u32 %r2, [%rd1+12];",
            "red.global.add.u32 [%rd1], %r1;",
            "st.volatile.global.u32 [%rd2], %r1;",
        ] {
            assert_eq!(joined(body), None, "{body}");
        }
    }

    #[test]
    fn an_interrupted_run_tells_the_counts_of_all_parts() {
        let module = kernel("L: bra L;");
        let program = sim::prepare(&module, "k", 0).unwrap();
        let end = Arc::new(AtomicBool::new(true));
        let launch = Launch {
            grid: [4, 1, 1],
            block: [1, 1, 1],
            dynamic_shared: 0,
            args: vec![Arg::Buffer(Buffer::default())],
            options: Options {
                watch: Some(Arc::new(sim::Watch::new(end))),
                profile: true,
                ..Options::default()
            },
        };
        let share: &sim::Share<'_> = &|count, work| (0..count).map(work).collect();
        let stopped = sim::run_in_parts(&module, "k", &program, &launch, 2, share).unwrap_err();
        assert!(matches!(stopped.stop, Stop::Interrupted(_)), "{stopped:?}");
        // Each part has looked at the watch once.
        assert!(stopped.stats.thread_instructions >= 2 << 18, "{stopped:?}");
        assert!(stopped.stats.counts().iter().any(|count| count.threads > 1 << 18));
    }

    #[test]
    fn parts_are_all_of_it() {
        let all: Vec<u64> = (0..3).flat_map(|nth| range(10, nth, 3)).collect();
        assert_eq!(all, Vec::from_iter(0..10));
        assert_eq!(range(u64::MAX, 1, 2).end, u64::MAX);
    }
}
