//! What modules need as JSON, schema version 1. Names are fixed: a change of meaning needs a new version number.

use super::{Looked, Place, Reason, Report, Wanted};
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    modules: Vec<Module<'a>>,
    errors: Vec<Failure<'a>>,
}

#[derive(Serialize)]
struct Module<'a> {
    file: &'a str,
    states: States,
    needs: NeedsOf<'a>,
    kernels: Vec<Kernel<'a>>,
    unknown: Vec<Where<'a>>,
}

#[derive(Serialize)]
struct States {
    version: Option<String>,
    target: Option<String>,
    enough: bool,
}

#[derive(Serialize)]
struct Kernel<'a> {
    name: &'a str,
    line: u32,
    needs: NeedsOf<'a>,
}

/// Version and target are null where no target has everything; `because` then names what excludes each other.
#[derive(Serialize)]
struct NeedsOf<'a> {
    version: Option<String>,
    target: Option<String>,
    cuda: Option<String>,
    driver: Option<u16>,
    because: Vec<Because<'a>>,
}

#[derive(Serialize)]
struct Because<'a> {
    what: &'a str,
    version: Option<String>,
    targets: Vec<String>,
    #[serde(flatten)]
    place: Where<'a>,
}

#[derive(Serialize)]
struct Where<'a> {
    line: u32,
    column: u32,
    text: &'a str,
}

#[derive(Serialize)]
struct Failure<'a> {
    file: &'a str,
    message: &'a str,
}

/// The whole run as one object on one line.
pub(super) fn render(report: &Report) -> serde_json::Result<String> {
    let errors = report.unreadable.iter().map(|unreadable| Failure {
        file: &unreadable.file,
        message: &unreadable.message,
    });
    let mut text = serde_json::to_string(&Document {
        schema: 1,
        modules: report.modules.iter().map(module).collect(),
        errors: errors.collect(),
    })?;
    text.push('\n');
    Ok(text)
}

fn module(module: &Looked) -> Module<'_> {
    let kernels = module.kernels.iter().map(|(name, at, wanted)| Kernel {
        name,
        line: at.line,
        needs: needs(wanted),
    });
    Module {
        file: module.source.name(),
        states: States {
            version: module.version.map(|version| version.to_string()),
            target: module.target.map(|target| target.to_string()),
            enough: module.enough,
        },
        needs: needs(&module.all),
        kernels: kernels.collect(),
        unknown: module.unknown.iter().map(place).collect(),
    }
}

fn needs(wanted: &Wanted) -> NeedsOf<'_> {
    let release = wanted.least.and_then(|least| least.version.release());
    let cuda = release.and_then(|release| release.cuda);
    NeedsOf {
        version: wanted.least.map(|least| least.version.to_string()),
        target: wanted.least.map(|least| least.target.to_string()),
        cuda: cuda.map(|(major, minor)| format!("{major}.{minor}")),
        driver: release.and_then(|release| release.driver),
        because: wanted.because.iter().map(because).collect(),
    }
}

fn because(reason: &Reason) -> Because<'_> {
    Because {
        what: &reason.what,
        version: reason.version.map(|version| version.to_string()),
        targets: reason.targets.iter().map(ToString::to_string).collect(),
        place: place(&reason.place),
    }
}

fn place(place: &Place) -> Where<'_> {
    Where {
        line: place.at.line,
        column: place.at.column,
        text: &place.text,
    }
}
