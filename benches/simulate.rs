//! Simulated thread instructions a second on one core, every check on.
//!
//! `cargo bench --bench simulate`; elements are thread instructions, and their number is printed first.

#![allow(clippy::panic, reason = "a bench that cannot run says why")]

use criterion::{Criterion, SamplingMode, Throughput};
use ptxgen::kernels::{ArgKind, DEFAULT_TARGET, KernelInfo, Value, Values};
use ptxgen::ptx::ir::Module;
use ptxgen::ptx::parse::parse;
use ptxgen::ptx::sim::program::Program;
use ptxgen::ptx::sim::{self, Arg, Buffer, Launch, Options};
use std::hint::black_box;
use std::time::Duration;

const VECTOR_ADD: &str = include_str!("../tests/fixtures/sim/vector_add.ptx");
const BLOCK_SUM: &str = include_str!("../tests/fixtures/sim/block_sum.ptx");

/// A launch that can be run over and over.
struct Subject {
    name: &'static str,
    module: Module,
    entry: String,
    program: Program,
    launch: Launch,
}

fn buffer(len: usize) -> Arg {
    // Small numbers, none of them special.
    let bytes = (0..len / 4).flat_map(|at| ((at % 1000) as f32).to_le_bytes());
    Arg::Buffer(Buffer {
        bytes: bytes.collect(),
        ..Buffer::default()
    })
}

fn word(value: u32) -> Arg {
    Arg::Bytes(value.to_le_bytes().to_vec())
}

fn subject(name: &'static str, module: Module, entry: &str, grid: u32, block: u32, args: Vec<Arg>) -> Subject {
    let program = match sim::prepare(&module, entry, 0) {
        Ok(program) => program,
        Err(stop) => panic!("{name}: {stop}"),
    };
    let launch = Launch {
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        dynamic_shared: 0,
        args,
        options: Options::default(),
    };
    Subject {
        name,
        entry: entry.to_owned(),
        module,
        program,
        launch,
    }
}

/// `nf4-gemv` of a square matrix.
fn gemv(size: u64) -> Option<Subject> {
    let kernel = KernelInfo::find("nf4-gemv")?;
    let mut values = Values::default();
    for param in kernel.params.iter().filter(|param| matches!(param.name, "k" | "n")) {
        values.set(param, Value::Int(size)).ok()?;
    }
    let emitted = kernel.emit(&values, DEFAULT_TARGET, None).ok()?;
    let planned = emitted.launches.first()?;
    let args = planned.args.iter().map(|arg| match &arg.kind {
        ArgKind::Buffer { element, shape, .. } => {
            buffer((shape.iter().product::<u64>() * u64::from(element.bytes())) as usize)
        }
        ArgKind::Scalar { value, .. } => word(*value),
    });
    let args = args.collect();
    let (entry, grid, block) = (planned.entry, planned.grid[0], planned.block[0]);
    Some(subject(
        "nf4-gemv, 1024 by 1024",
        emitted.module,
        entry,
        grid,
        block,
        args,
    ))
}

fn main() {
    let count = 1 << 18;
    let (len, blocks) = (4 * count as usize, count / 256);
    let add = subject(
        "vector add",
        parse(VECTOR_ADD).module,
        "vector_add",
        blocks,
        256,
        vec![buffer(len), buffer(len), buffer(len), word(count)],
    );
    let sum = subject(
        "block reduction",
        parse(BLOCK_SUM).module,
        "block_sum",
        blocks,
        256,
        vec![buffer(len), buffer(4 * blocks as usize), word(count)],
    );
    let mut criterion = Criterion::default()
        .configure_from_args()
        .sample_size(10)
        .measurement_time(Duration::from_secs(5));
    let mut group = criterion.benchmark_group("simulate");
    group.sampling_mode(SamplingMode::Flat);
    for subject in [add, sum].into_iter().chain(gemv(1024)) {
        let run = || sim::run_prepared(&subject.module, &subject.entry, &subject.program, &subject.launch);
        let outcome = match run() {
            Ok(outcome) if outcome.faults.is_empty() => outcome,
            Ok(outcome) => panic!("{}: {:?}", subject.name, outcome.faults),
            Err(stopped) => panic!("{}: {}", subject.name, stopped.stop),
        };
        let count = outcome.stats.thread_instructions;
        println!(
            "{}: {count} thread instructions, {} of warps",
            subject.name, outcome.stats.warp_instructions
        );
        group.throughput(Throughput::Elements(count));
        group.bench_function(subject.name, |bencher| bencher.iter(|| black_box(run())));
    }
    group.finish();
    criterion.final_summary();
}
