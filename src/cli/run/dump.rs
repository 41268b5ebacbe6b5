//! What a run leaves: buffers to look at, files, and the JSON document.

use super::args::Spot;
use super::{Args, Subject, precision, profile, schedules};
use crate::cli::output;
use crate::cli::report::{Format, Run};
use crate::ptx::num::convert::Convert;
use crate::ptx::sim::program::Program;
use crate::ptx::sim::{self, Outcome, Precision, Stats, Stopped, Written};
use crate::ptx::types::{Kind, Type};
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;

/// A buffer, and the file it goes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Out {
    spot: Spot,
    path: PathBuf,
}

impl Out {
    /// Reads it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let (spot, path) = text.split_once('=').ok_or("it must be N=PATH, as in 2=y.bin")?;
        Ok(Out {
            spot: Spot::read(spot)?,
            path: path.into(),
        })
    }

    /// Writes the file.
    ///
    /// # Errors
    /// If there is no such buffer, or the file cannot be written.
    pub fn write(&self, program: &Program, outcome: &Outcome) -> anyhow::Result<()> {
        let (_, buffer) = buffer(&self.spot, program, outcome)?;
        let npy = self.path.extension().is_some_and(|ending| ending == "npy");
        let bytes = match npy {
            true => super::npy::array(&buffer.bytes, self.spot.ty.unwrap_or(Type::U8)),
            false => buffer.bytes.to_vec(),
        };
        output::write_bytes(&self.path, &bytes)
    }
}

fn buffer<'o>(spot: &Spot, program: &Program, outcome: &'o Outcome) -> anyhow::Result<(usize, &'o Written)> {
    let names: Vec<_> = sim::params(program).map(|(name, ..)| name).collect();
    let at = spot.find(&names)?;
    match outcome.buffers.get(at) {
        Some(Some(buffer)) => Ok((at, buffer)),
        _ => bail!("argument {at} is a number, not a buffer"),
    }
}

/// The elements of a buffer as text.
fn elements(buffer: &Written, spot: &Spot) -> Vec<String> {
    let ty = spot.ty.unwrap_or(Type::B8);
    let size = ty.bytes() as usize;
    let chunks = buffer.bytes.chunks_exact(size.max(1));
    chunks
        .take(spot.count.unwrap_or(usize::MAX))
        .map(|bytes| element(bytes, ty))
        .collect()
}

fn element(bytes: &[u8], ty: Type) -> String {
    let bits = bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
    match (ty, ty.kind()) {
        (Type::F32, _) => format!("{:?}", f32::from_bits(bits as u32)),
        (Type::F64, _) => format!("{:?}", f64::from_bits(bits)),
        (_, Kind::Float) => {
            let wide = Convert::new(Type::F32, ty).apply(bits).unwrap_or(0);
            format!("{:?}", f32::from_bits(wide as u32))
        }
        (_, Kind::Signed) => {
            let shift = 64 - ty.bits();
            ((bits << shift) as i64 >> shift).to_string()
        }
        (_, Kind::Unsigned) => bits.to_string(),
        _ => format!("{bits:0width$x}", width = bytes.len() * 2),
    }
}

/// Dumps, what the kernel printed, trace and profile, for people.
///
/// # Errors
/// If a dump names no buffer.
pub fn text(subject: &Subject, program: &Program, result: &schedules::Result, args: &Args) -> anyhow::Result<String> {
    let mut out = String::new();
    if args.trace {
        out.push_str(&profile::trace(subject, &result.outcome.stats.trace));
    }
    out.push_str(&result.outcome.printed);
    for spot in &args.dump {
        let (at, buffer) = buffer(spot, program, &result.outcome)?;
        let name = sim::params(program).nth(at).map_or("", |(name, ..)| name);
        let _ = writeln!(out, "{at} {name}: {}", elements(buffer, spot).join(" "));
    }
    if let Some(found) = &result.outcome.precision {
        out.push_str(&precision::text(subject, program, found));
    }
    if args.profile {
        out.push_str(&profile::table(subject, program, &result.outcome.stats));
    }
    Ok(out)
}

/// What a run that stopped had come to: trace, what the kernel had printed, profile.
pub fn partial(subject: &Subject, program: &Program, stopped: &Stopped, args: &Args) -> String {
    let mut out = String::new();
    if args.trace {
        out.push_str(&profile::trace(subject, &stopped.stats.trace));
    }
    out.push_str(&stopped.printed);
    if args.profile {
        out.push_str(&profile::table(subject, program, &stopped.stats));
    }
    out
}

/// The whole as one JSON document.
///
/// # Errors
/// If a dump names no buffer, or JSON cannot be made.
pub fn json(
    subject: &Subject,
    program: &Program,
    report: &Run,
    result: &schedules::Result,
    args: &Args,
) -> anyhow::Result<String> {
    let outcome = &result.outcome;
    let mut dumps = Vec::new();
    for spot in &args.dump {
        let (at, buffer) = buffer(spot, program, outcome)?;
        dumps.push(json!({
            "argument": at,
            "type": spot.ty.unwrap_or(Type::B8).name(),
            "values": elements(buffer, spot),
        }));
    }
    let told = Told {
        runs: result.runs,
        printed: &outcome.printed,
        stats: &outcome.stats,
        partial: result.interrupted,
        precision: outcome.precision.as_ref(),
    };
    told.json(subject, program, report, dumps, args)
}

/// The same of a run that stopped.
///
/// # Errors
/// If JSON cannot be made.
pub fn partial_json(
    subject: &Subject,
    program: &Program,
    report: &Run,
    stopped: &Stopped,
    args: &Args,
) -> anyhow::Result<String> {
    let told = Told {
        runs: 0,
        printed: &stopped.printed,
        stats: &stopped.stats,
        partial: true,
        precision: None,
    };
    told.json(subject, program, report, Vec::new(), args)
}

/// What there is to tell beside findings and buffers.
struct Told<'a> {
    runs: u64,
    printed: &'a str,
    stats: &'a Stats,
    partial: bool,
    precision: Option<&'a Precision>,
}

impl Told<'_> {
    fn json(
        &self,
        subject: &Subject,
        program: &Program,
        report: &Run,
        dumps: Vec<Value>,
        args: &Args,
    ) -> anyhow::Result<String> {
        let lint: Value = serde_json::from_str(&report.render(Format::Json)?)?;
        let mut document = json!({
            "schema": 1,
            "findings": lint.get("findings").context("a report without findings")?,
            "kernels": lint.get("kernels").context("a report without kernels")?,
            "runs": self.runs,
            "thread_instructions": self.stats.thread_instructions,
            "warp_instructions": self.stats.warp_instructions,
            "printed": self.printed,
            "dumps": dumps,
        });
        if self.partial {
            document["partial"] = true.into();
        }
        if let Some(found) = self.precision {
            document["precision"] = precision::json(subject, program, found);
        }
        if args.profile {
            document["profile"] = profile::json(subject, program, self.stats);
        }
        Ok(serde_json::to_string_pretty(&document)? + "\n")
    }
}
