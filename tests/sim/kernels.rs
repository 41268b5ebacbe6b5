//! Our own kernels, executed: what they compute, and that nothing is wrong with how.

use ptxgen::kernels::{ArgKind, DEFAULT_TARGET, Emitted, KernelInfo, Role, Value, Values};
use ptxgen::ptx::sim::{self, Arg, Buffer, Launch, Options, Outcome};

fn emit(name: &str, given: &[(&str, u64)]) -> Emitted {
    let kernel = KernelInfo::find(name).unwrap();
    let mut values = Values::default();
    for (name, value) in given {
        let param = kernel.params.iter().find(|param| param.name == *name).unwrap();
        values.set(param, Value::Int(*value)).unwrap();
    }
    kernel.emit(&values, DEFAULT_TARGET, None).unwrap()
}

/// Numbers between -1 and 1 that differ from buffer to buffer.
fn noise(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(747_796_405).wrapping_add(1);
    let mut draw = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| draw()).collect()
}

/// Runs the first entry. Inputs are made by name; outputs may not be read before they are written.
fn run(emitted: &Emitted, input: impl Fn(&str, usize) -> Vec<u8>, schedule: u64) -> Outcome {
    let planned = &emitted.launches[0];
    let args = planned.args.iter().map(|arg| match &arg.kind {
        ArgKind::Scalar { value, .. } => Arg::Bytes(value.to_le_bytes().to_vec()),
        ArgKind::Buffer { element, shape, role } => {
            let len = shape.iter().product::<u64>() as usize * element.bytes() as usize;
            let is_input = *role == Role::Input;
            Arg::Buffer(Buffer {
                name: arg.name.into(),
                bytes: if is_input { input(arg.name, len) } else { vec![0; len] }.into(),
                unwritten: !is_input,
            })
        }
    });
    let launch = Launch {
        grid: planned.grid,
        block: planned.block,
        dynamic_shared: planned.dynamic_shared.into(),
        args: args.collect(),
        options: Options {
            schedule,
            count_stores: true,
            ..Options::default()
        },
    };
    let outcome = sim::run(&emitted.module, planned.entry, &launch);
    let outcome = outcome.unwrap_or_else(|stopped| panic!("{}", stopped.stop));
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    for (arg, buffer) in planned.args.iter().zip(&outcome.buffers) {
        if let (ArgKind::Buffer { role: Role::Output, .. }, Some(buffer)) = (&arg.kind, buffer) {
            assert!(
                buffer.stores.iter().all(|count| *count == 1),
                "{} is not written once",
                arg.name
            );
        }
    }
    outcome
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes
        .chunks(4)
        .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
        .collect()
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn rmsnorm_is_what_it_says() {
    let (rows, hidden) = (3, 100);
    let emitted = emit("rmsnorm", &[("hidden", hidden as u64), ("rows", rows as u64)]);
    let (x, gamma) = (noise(rows * hidden, 1), noise(hidden, 2));
    let input = |name: &str, _| if name == "gamma_ptr" { bytes(&gamma) } else { bytes(&x) };
    for schedule in 0..4 {
        let outcome = run(&emitted, input, schedule);
        let at = emitted.launches[0]
            .args
            .iter()
            .position(|arg| arg.name == "output_ptr")
            .unwrap();
        let y = floats(&outcome.buffers[at].as_ref().unwrap().bytes);
        for row in 0..rows {
            let x = &x[row * hidden..][..hidden];
            let mean = x.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / hidden as f64;
            let rms = (mean + 1e-6).sqrt();
            for (at, x) in x.iter().enumerate() {
                let exact = f64::from(*x) / rms * f64::from(gamma[at]);
                let error = (f64::from(y[row * hidden + at]) - exact).abs();
                assert!(error < 1e-6, "row {row}, element {at}: off by {error:e}");
            }
        }
    }
}

#[test]
fn the_other_kernels_run_clean() {
    for (name, given) in [
        ("rmsnorm-backward", vec![("hidden", 96), ("rows", 4)]),
        ("nf4-gemv", vec![("k", 128), ("n", 7)]),
        ("fused-rmsnorm-nf4-gemv", vec![("k", 128), ("n", 7)]),
    ] {
        let emitted = emit(name, &given);
        let input = |name: &str, len: usize| bytes(&noise(len.div_ceil(4), name.len() as u32))[..len].to_vec();
        let first = run(&emitted, input, 0);
        for schedule in 1..4 {
            assert_eq!(
                run(&emitted, input, schedule).buffers,
                first.buffers,
                "{name}, order {schedule}"
            );
        }
    }
}
