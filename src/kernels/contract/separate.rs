//! What a fused kernel is compared with: our separate kernels, run one behind the other in the simulator.

use super::plan::{Plan, values};
use super::reference::{Named, Reference, Shape};
use super::trial::{Bench, decode, encode};
use crate::kernels::{DEFAULT_TARGET, KernelInfo, Value};
use crate::ptx::sim::Options;

/// The kernel that two others make up.
const FUSED: &str = "fused-rmsnorm-nf4-gemv";

/// Whether there are separate kernels for it.
pub fn is_known(reference: &Reference) -> bool {
    reference.name == FUSED
}

/// The output of the separate kernels.
///
/// # Errors
/// If one of them cannot be run or has a fault.
pub fn output(shape: &Shape, inputs: &Named) -> Result<Vec<f64>, String> {
    let input = |name: &str| inputs.get(name).cloned().unwrap_or_default();
    let setting = |name: &str| shape.get(name).cloned();
    let mut norm = Shape::new();
    norm.insert("rows".into(), Value::Int(1));
    norm.insert("save".into(), Value::Word("none".into()));
    norm.extend(setting("k").map(|k| ("hidden".to_owned(), k)));
    norm.extend(setting("eps").map(|eps| ("eps".to_owned(), eps)));
    let normal = run("rmsnorm", &norm, &|name| match name {
        "gamma_ptr" => input("gamma"),
        _ => input("x"),
    })?;
    run("nf4-gemv", shape, &|name| match name {
        "scales_ptr" => input("scales"),
        "data_ptr" => input("data"),
        _ => normal.clone(),
    })
}

/// Runs a kernel of ours that has one output.
fn run(name: &str, shape: &Shape, input: &dyn Fn(&str) -> Vec<f64>) -> Result<Vec<f64>, String> {
    let kernel = KernelInfo::find(name).ok_or_else(|| format!("there is no kernel `{name}`"))?;
    let values = values(kernel, shape)?;
    let emitted = kernel
        .emit(&values, DEFAULT_TARGET, None)
        .map_err(|error| error.to_string())?;
    let plan = Plan::of_kernel(kernel, &values, &[]);
    let bench = Bench::new(&emitted.module, plan).map_err(|stop| format!("{name}: {stop}"))?;
    let buffers = &bench.plan.buffers;
    let inputs: Vec<_> = buffers
        .iter()
        .map(|buffer| (buffer.role == super::Role::In).then(|| encode(&input(&buffer.name), buffer.ty).into()))
        .collect();
    let trial = bench
        .run(&inputs, &Options::default())
        .map_err(|stopped| format!("{name}: {}", stopped.stop))?;
    if let Some(fault) = trial.faults.first() {
        return Err(format!("{name}: {}", fault.message));
    }
    let output = buffers.iter().position(|buffer| buffer.role == super::Role::Out);
    let output = output.ok_or_else(|| format!("`{name}` has no output"))?;
    Ok(decode(&trial.buffers[output], buffers[output].ty))
}
