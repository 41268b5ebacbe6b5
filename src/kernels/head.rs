//! The comment at the head of an emitted module: its contract.

use super::{Arg, ArgKind, KernelInfo, Launch, Values};

/// A line without text. (An empty string has no lines.)
const BLANK: &str = "\n";

/// The lines, without comment marks.
pub(super) fn lines(kernel: &KernelInfo, values: &Values, launches: &[Launch], remarks: &[String]) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", kernel.name, kernel.summary)];
    lines.extend(kernel.formula.iter().map(|line| format!("  {line}")));
    let values: Vec<_> = kernel
        .params
        .iter()
        .map(|param| format!("{} = {}", param.name, values.of(param)))
        .collect();
    lines.push(format!("emitted for {}", values.join(", ")));
    lines.extend(remarks.iter().cloned());
    for launch in launches {
        lines.push(BLANK.to_owned());
        lines.push(format!("{}: {}", launch.entry, launch.summary));
        lines.push(format!(
            "  grid {}, block {}, shared memory {} bytes static, {} dynamic",
            triple(launch.grid),
            triple(launch.block),
            launch.static_shared,
            launch.dynamic_shared
        ));
        lines.extend(launch.args.iter().map(|arg| format!("  {}", argument(arg))));
    }
    lines.push(BLANK.to_owned());
    lines.push("every buffer starts at a multiple of 16 bytes".to_owned());
    for contract in kernel.contracts {
        lines.push(format!("{}: {}", contract.id, contract.text));
    }
    lines
}

fn triple([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

fn argument(arg: &Arg) -> String {
    match &arg.kind {
        ArgKind::Buffer { element, shape, role } => {
            let shape: Vec<_> = shape.iter().map(u64::to_string).collect();
            format!(
                "{:<16}{}[{}], {}",
                arg.name,
                element.name(),
                shape.join(", "),
                role.word()
            )
        }
        ArgKind::Scalar { value, baked: true } => {
            format!("{:<16}u32 = {value}, baked in: another value traps", arg.name)
        }
        ArgKind::Scalar { value, baked: false } => format!("{:<16}u32 = {value}, or any other", arg.name),
    }
}
