//! Parsing and linting in bytes a second, over a 4 MB module such as a compiler makes.
//!
//! `cargo bench --bench throughput`; a run of a minute says what changed against the run before.

use criterion::{Criterion, SamplingMode, Throughput};
use ptxgen::ptx::lint::{Launch, lint};
use ptxgen::ptx::parse::parse;
use std::hint::black_box;
use std::time::Duration;

const FIXTURES: [(&str, &str); 2] = [
    ("block_sum", include_str!("../tests/fixtures/clean.ptx")),
    ("divergent_sum", include_str!("../tests/fixtures/divergent.ptx")),
];

/// The fixtures' kernels over and over under one header, each under a name of its own.
fn module(bytes: usize, fixtures: &[(&str, &str)]) -> String {
    let mut text = String::from(".version 7.0\n.target sm_80\n.address_size 64\n");
    for copy in 0.. {
        for (name, fixture) in fixtures {
            if text.len() >= bytes {
                return text;
            }
            let body = fixture
                .split_once(".address_size 64")
                .map_or(*fixture, |(_, body)| body);
            text.push_str(&body.replace(name, &format!("{name}_{copy}")));
        }
    }
    text
}

fn main() {
    let mut criterion = Criterion::default()
        .configure_from_args()
        .sample_size(10)
        .measurement_time(Duration::from_secs(5));
    let mut group = criterion.benchmark_group("4MB");
    group.sampling_mode(SamplingMode::Flat);
    let clean = module(4 << 20, &FIXTURES[..1]);
    let mixed = module(4 << 20, &FIXTURES);
    group.throughput(Throughput::Bytes(clean.len() as u64));
    group.bench_function("parse", |bencher| bencher.iter(|| parse(black_box(&clean))));
    let parsed = parse(&clean);
    group.bench_function("lint of parsed", |bencher| {
        bencher.iter(|| lint(black_box(&parsed), &clean, &Launch::default()));
    });
    group.bench_function("parse and lint, half the kernels faulty", |bencher| {
        bencher.iter(|| lint(&parse(black_box(&mixed)), &mixed, &Launch::default()));
    });
    group.finish();
    criterion.final_summary();
}
