//! `ptxgen list`: the kernels that can be emitted.

use super::params::{flag, value_name};
use super::{Outcome, output};
use crate::kernels::spec::unknown_kernel;
use crate::kernels::{KERNELS, KernelInfo, Range, Value, Values};
use anyhow::Context;
use serde_json::json;
use std::fmt::Write;

const AFTER_HELP: &str = "\
Examples:
  ptxgen list
  ptxgen list nf4-gemv
  ptxgen list --format json | jq '.kernels[].name'

Exit status:
  0  listed
  2  there is no such kernel";

/// Show the kernels, what they compute, and their parameters
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Kernels to show [default: all]
    #[arg(value_name = "KERNEL")]
    kernels: Vec<String>,

    /// How they are shown
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Human,
    /// For programs
    Json,
}

/// Prints the list.
///
/// # Errors
/// If there is no such kernel, or standard output cannot be written.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let find = |name: &String| KernelInfo::find(name).with_context(|| unknown_kernel(name));
    let kernels: Vec<&KernelInfo> = match args.kernels.as_slice() {
        [] => KERNELS.iter().collect(),
        names => names.iter().map(find).collect::<Result<_, _>>()?,
    };
    let text = match args.format {
        Format::Human => kernels
            .iter()
            .map(|kernel| human(kernel))
            .collect::<Vec<_>>()
            .join("\n"),
        Format::Json => {
            let kernels: Vec<_> = kernels.iter().map(|kernel| json_of(kernel)).collect();
            serde_json::to_string_pretty(&json!({ "kernels": kernels }))? + "\n"
        }
    };
    output::print(&text)?;
    Ok(Outcome::Clean)
}

/// A paragraph on a kernel.
fn human(kernel: &KernelInfo) -> String {
    let mut text = format!("{}: {}\n", kernel.name, kernel.summary);
    // Writing to a string cannot fail.
    for line in kernel.formula {
        let _ = writeln!(text, "  {line}");
    }
    for param in kernel.params {
        let flag = format!("--{} {}", flag(param.name), value_name(&param.range));
        let range = match param.range {
            // The words stand beside the flag already.
            Range::Words(_) => String::new(),
            range => format!("; {range}"),
        };
        let help = param.help.trim_end_matches('.');
        let _ = writeln!(text, "  {flag:<28} {help}{range} [default: {}]", (param.default)());
    }
    for launch in kernel.launches(&Values::default()) {
        let (grid, block) = (launch.grid[0], launch.block[0]);
        let _ = writeln!(
            text,
            "  {}: {} ({grid} blocks of {block} by default)",
            launch.entry, launch.summary
        );
    }
    for contract in kernel.contracts {
        let _ = writeln!(text, "  {}: {}", contract.id, contract.text);
    }
    text
}

/// The same for programs.
fn json_of(kernel: &KernelInfo) -> serde_json::Value {
    let params: Vec<_> = kernel
        .params
        .iter()
        .map(|param| {
            json!({
                "name": param.name,
                "flag": format!("--{}", flag(param.name)),
                "help": param.help,
                "range": range(&param.range),
                "default": value((param.default)()),
            })
        })
        .collect();
    let contracts: Vec<_> = kernel
        .contracts
        .iter()
        .map(|c| json!({ "id": c.id, "text": c.text }))
        .collect();
    let launches: Vec<_> = kernel
        .launches(&Values::default())
        .iter()
        .map(|launch| {
            let (grid, block) = (launch.grid, launch.block);
            json!({ "entry": launch.entry, "summary": launch.summary, "grid": grid, "block": block })
        })
        .collect();
    json!({
        "name": kernel.name,
        "summary": kernel.summary,
        "formula": kernel.formula,
        "parameters": params,
        "entries": kernel.entries,
        "default_launches": launches,
        "contracts": contracts,
    })
}

fn range(range: &Range) -> serde_json::Value {
    match range {
        Range::Int { min, max, multiple } => {
            json!({ "type": "integer", "min": min, "max": max, "multiple_of": multiple })
        }
        Range::Float { min, max } => json!({ "type": "number", "min": min, "max": max }),
        Range::Words(words) => json!({ "type": "string", "one_of": words }),
    }
}

fn value(value: Value) -> serde_json::Value {
    match value {
        Value::Int(value) => json!(value),
        Value::Float(value) => json!(value),
        Value::Word(word) => json!(word),
    }
}
