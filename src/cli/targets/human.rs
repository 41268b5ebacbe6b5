//! What modules need, for people.

use super::{Looked, Reason, Report, Wanted};
use crate::cli::output::printable;
use crate::ptx::needs::Least;
use crate::ptx::target::{PtxVersion, Target};
use std::fmt::Write;

/// Reasons shown for one kernel: the others ask for nothing else.
const SHOWN: usize = 6;

/// Every module with its kernels.
pub(super) fn render(report: &Report) -> String {
    let mut out = String::new();
    for module in &report.modules {
        one(module, &mut out);
    }
    out
}

fn one(module: &Looked, out: &mut String) {
    let file = printable(module.source.name());
    let _ = writeln!(out, "{file}: {}", needed(&module.all));
    if let Some(least) = module.all.least {
        let _ = writeln!(out, "  {}", came_with(least.version));
    }
    let _ = writeln!(out, "  {}", stated(module));
    // What asks for it stands at the kernel that does, where one does.
    let least = module.all.least;
    if least.is_none() || module.kernels.iter().all(|(.., wanted)| wanted.least != least) {
        reasons(&module.all, &file, "  ", out);
    }
    for (name, at, wanted) in &module.kernels {
        let _ = writeln!(
            out,
            "  kernel {} (line {}): {}",
            printable(name),
            at.line,
            needed(wanted)
        );
        reasons(wanted, &file, "    ", out);
    }
    if let Some(first) = module.unknown.first() {
        let more = match module.unknown.len() {
            1 => "an instruction is".to_owned(),
            many => format!("{many} instructions are"),
        };
        let _ = writeln!(
            out,
            "  {more} unknown and not counted, first at {file}:{}: {}",
            first.at, first.text
        );
    }
}

fn needed(wanted: &Wanted) -> String {
    match wanted.least {
        Some(Least { version, target }) => format!("needs .version {version} and .target {target}"),
        None => "no version and target have all of it".to_owned(),
    }
}

/// `PTX 7.8 came with CUDA 11.8 and driver r520`.
fn came_with(version: PtxVersion) -> String {
    let release = version.release();
    let cuda = release.and_then(|release| release.cuda);
    let driver = release.and_then(|release| release.driver);
    let parts: Vec<_> = cuda
        .map(|(major, minor)| format!("CUDA {major}.{minor}"))
        .into_iter()
        .chain(driver.map(|driver| format!("driver r{driver}")))
        .collect();
    match parts.is_empty() {
        true => format!("PTX {version} came with no release that is known"),
        false => format!("PTX {version} came with {}", parts.join(" and ")),
    }
}

fn stated(module: &Looked) -> String {
    let says = match (module.version, module.target) {
        (None, None) => return "it states neither".to_owned(),
        (Some(version), None) => format!("it states .version {version} and no known target"),
        (None, Some(target)) => format!("it states .target {target} and no known version"),
        (Some(version), Some(target)) => format!("it states .version {version} and .target {target}"),
    };
    if module.enough {
        says
    } else {
        format!("{says}, which is not enough")
    }
}

fn reasons(wanted: &Wanted, file: &str, indent: &str, out: &mut String) {
    for reason in wanted.because.iter().take(SHOWN) {
        let at = reason.place.at;
        let _ = writeln!(out, "{indent}{}: {file}:{at}: {}", asks(reason), shown(reason));
    }
    if let Some(more) = wanted.because.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let _ = writeln!(out, "{indent}and {more} more");
    }
}

/// The text at the place where it names what is needed, else both.
fn shown(reason: &Reason) -> String {
    let Reason { what, place, .. } = reason;
    if place.text.contains(what.as_str()) {
        place.text.clone()
    } else {
        format!("{what}: {}", place.text)
    }
}

/// `7.8 and sm_90`, `sm_100f or sm_110f`, `gone since PTX 6.4 and sm_70`.
fn asks(reason: &Reason) -> String {
    let targets: Vec<_> = reason.targets.iter().map(Target::to_string).collect();
    let targets = (!targets.is_empty()).then(|| targets.join(" or "));
    let version = reason.version.map(|version| version.to_string());
    let both: Vec<_> = version.into_iter().chain(targets).collect();
    let gone = reason.gone.as_ref().map(|since| format!("gone since {since}"));
    let parts: Vec<_> = (!both.is_empty())
        .then(|| both.join(" and "))
        .into_iter()
        .chain(gone)
        .collect();
    parts.join(", ")
}
