//! What a run has shown of a finding: in words, as JSON, and as the command that runs it again.

use crate::ptx::sim::Thread;
use crate::ptx::source::{Source, Span};
use crate::ptx::witness::{Launched, Other, Search, Tried, Witness};
use serde::Serialize;
use std::fmt::Write;

/// The sentences that a finding gets.
pub(super) fn notes(source: &Source, search: &Search) -> Vec<String> {
    match search {
        Search::Shown(witness) => {
            let told = format!("witness, {}: {}", on(&witness.launch), happening(source, witness));
            let mut notes = vec![told];
            notes.extend(witness.reserve.iter().map(|why| format!("in the same run, {why}")));
            notes.push(format!("to see it: {}", command(source, &witness.launch)));
            notes
        }
        Search::NotShown(tried) => vec![format!("no witness: {}", failure(tried))],
    }
}

/// What happens, and where the others are.
fn happening(source: &Source, witness: &Witness) -> String {
    let mut text = witness.message.clone();
    let line = |span: Span| source.position(span.start).line;
    let _ = write!(text, " (line {}", line(witness.span));
    if let Some(Other { span: Some(span), .. }) = witness.others.first() {
        let _ = write!(text, " and line {}", line(*span));
    }
    text.push(')');
    if let Some(address) = witness.address
        && !text.contains(&format!("{address:#x}"))
    {
        let _ = write!(text, ", at {address:#x}");
    }
    text
}

/// `on a grid of 2,1,1 CTAs of 64,1,1 threads`.
fn on(launch: &Launched) -> String {
    format!(
        "`{}` on a grid of {} CTAs of {} threads",
        launch.kernel,
        dims(launch.grid),
        dims(launch.block)
    )
}

fn failure(tried: &Tried) -> String {
    let mut text = match tried.launches {
        0 => "no launch could be made up".to_owned(),
        1 => "the one launch that was tried does not show it".to_owned(),
        launches => format!("none of the {launches} launches that were tried shows it"),
    };
    for (at, (why, count)) in tried.why.iter().enumerate() {
        text.push_str(if at == 0 { "; " } else { ", " });
        match tried.launches {
            0 | 1 => text.push_str(why),
            _ => {
                let _ = write!(text, "{count} of them: {why}");
            }
        }
    }
    text
}

fn dims(dims: [u32; 3]) -> String {
    let [x, y, z] = dims;
    match (y, z) {
        (1, 1) => x.to_string(),
        (y, 1) => format!("{x},{y}"),
        (y, z) => format!("{x},{y},{z}"),
    }
}

/// The command that runs the launch again.
fn command(source: &Source, launch: &Launched) -> String {
    let mut text = format!(
        "ptxgen run {} --entry {}",
        quoted(source.name()),
        quoted(&launch.kernel)
    );
    let _ = write!(text, " --grid {} --block {}", dims(launch.grid), dims(launch.block));
    if launch.cluster != [1, 1, 1] {
        let _ = write!(text, " --cluster {}", dims(launch.cluster));
    }
    if launch.dynamic_shared > 0 {
        let _ = write!(text, " --dynamic-shared {}", launch.dynamic_shared);
    }
    for arg in &launch.args {
        let _ = write!(text, " --arg {}", arg.value);
    }
    if launch.schedule > 0 {
        let _ = write!(text, " --schedules 2 --seed {}", launch.schedule);
    }
    text
}

/// The word as a shell takes it whatever it holds.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./+:,=@%".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The member `witness` of a finding.
#[derive(Serialize)]
pub(super) struct Object<'a> {
    shown: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    launch: Option<Launch<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<Fault<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    launches: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Vec<Reason<'a>>>,
}

#[derive(Serialize)]
struct Launch<'a> {
    kernel: &'a str,
    grid: [u32; 3],
    block: [u32; 3],
    cluster: [u32; 3],
    dynamic_shared: u64,
    args: Vec<Arg<'a>>,
    schedule: u64,
}

#[derive(Serialize)]
struct Arg<'a> {
    name: &'a str,
    value: String,
}

#[derive(Serialize)]
struct Fault<'a> {
    code: &'a str,
    message: &'a str,
    line: u32,
    column: u32,
    thread: Option<Place>,
    /// Hexadecimal: JSON's numbers have not enough bits everywhere.
    address: Option<String>,
    others: Vec<Party<'a>>,
    times: u64,
    /// What else the run meets because its arguments are made up.
    #[serde(skip_serializing_if = "Option::is_none")]
    reserve: Option<&'a str>,
}

#[derive(Serialize)]
struct Place {
    cta: [u32; 3],
    tid: [u32; 3],
}

#[derive(Serialize)]
struct Party<'a> {
    message: &'a str,
    line: Option<u32>,
    column: Option<u32>,
    thread: Option<Place>,
}

#[derive(Serialize)]
struct Reason<'a> {
    reason: &'a str,
    launches: u32,
}

impl From<Thread> for Place {
    fn from(Thread { cta, tid }: Thread) -> Self {
        Self { cta, tid }
    }
}

/// The search as JSON has it.
pub(super) fn object<'a>(source: &Source, search: &'a Search) -> Object<'a> {
    let mut object = Object {
        shown: matches!(search, Search::Shown(_)),
        launch: None,
        fault: None,
        command: None,
        launches: None,
        why: None,
    };
    match search {
        Search::Shown(witness) => {
            object.launch = Some(launch(&witness.launch));
            object.fault = Some(fault(source, witness));
            object.command = Some(command(source, &witness.launch));
        }
        Search::NotShown(tried) => {
            object.launches = Some(tried.launches);
            let reasons = tried.why.iter();
            let reasons = reasons.map(|(reason, launches)| Reason {
                reason,
                launches: *launches,
            });
            object.why = Some(reasons.collect());
        }
    }
    object
}

fn launch(launch: &Launched) -> Launch<'_> {
    let args = launch.args.iter().map(|arg| Arg {
        name: &arg.name,
        value: arg.value.to_string(),
    });
    Launch {
        kernel: &launch.kernel,
        grid: launch.grid,
        block: launch.block,
        cluster: launch.cluster,
        dynamic_shared: launch.dynamic_shared,
        args: args.collect(),
        schedule: launch.schedule,
    }
}

fn fault<'a>(source: &Source, witness: &'a Witness) -> Fault<'a> {
    let at = source.position(witness.span.start);
    let others = witness.others.iter().map(|other| {
        let at = other.span.map(|span| source.position(span.start));
        Party {
            message: &other.message,
            line: at.map(|at| at.line),
            column: at.map(|at| at.column),
            thread: other.thread.map(Place::from),
        }
    });
    Fault {
        code: witness.code.id,
        message: &witness.message,
        line: at.line,
        column: at.column,
        thread: witness.thread.map(Place::from),
        address: witness.address.map(|address| format!("{address:#x}")),
        others: others.collect(),
        times: witness.times,
        reserve: witness.reserve.as_deref(),
    }
}
