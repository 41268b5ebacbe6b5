//! One launch of a kernel in a text.

use ptxgen::ptx::parse::parse;
use ptxgen::ptx::sim::{self, Arg, Buffer, Launch, Options};

/// Runs kernel `k` with one CTA and those buffers; the buffers afterwards, or what is wrong.
pub fn launch(text: &str, threads: u32, buffers: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, String> {
    let parsed = parse(text);
    if !parsed.diags.is_empty() {
        return Err(format!("{:?}", parsed.diags));
    }
    let args = buffers.into_iter().map(|bytes| {
        Arg::Buffer(Buffer {
            name: String::new(),
            bytes: bytes.into(),
            unwritten: false,
        })
    });
    let launch = Launch {
        grid: [1; 3],
        block: [threads, 1, 1],
        dynamic_shared: 0,
        args: args.collect(),
        options: Options::default(),
    };
    let outcome = sim::run(&parsed.module, "k", &launch).map_err(|stopped| stopped.stop.to_string())?;
    if let Some(fault) = outcome.faults.first() {
        return Err(fault.message.clone());
    }
    Ok(outcome
        .buffers
        .into_iter()
        .flatten()
        .map(|buffer| buffer.bytes.into_vec())
        .collect())
}
