//! Emitting each kernel of the registry with its default parameters, to text.
//!
//! `cargo bench --bench emit`.

use criterion::Criterion;
use ptxgen::kernels::{DEFAULT_TARGET, KERNELS, Values};
use std::hint::black_box;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("emit");
    for kernel in KERNELS {
        let emit = || {
            kernel
                .emit(&Values::default(), DEFAULT_TARGET, None)
                .map(|emitted| emitted.text())
        };
        if let Err(error) = emit() {
            eprintln!("{} cannot be emitted: {error}", kernel.name);
            continue;
        }
        group.bench_function(kernel.name, |bencher| bencher.iter(|| black_box(emit())));
    }
    group.finish();
    criterion.final_summary();
}
