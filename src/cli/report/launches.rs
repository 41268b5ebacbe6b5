//! What was said of launches, by the command line or the configuration, for reports that programs read.

use super::{Linted, Run};
use crate::ptx::lint::Launch;
use serde::Serialize;

/// What was said of the launch, and of which files.
#[derive(Serialize)]
pub(super) struct Object<'a> {
    files: Vec<&'a str>,
    /// Threads of a CTA in x, y, z; `.reqntid` wins.
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<[u32; 3]>,
    /// CTAs of the grid in x, y, z.
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<[u32; 3]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    params: Vec<Param<'a>>,
}

#[derive(Serialize)]
struct Param<'a> {
    /// The name, or the number from 0.
    name: &'a str,
    value: i64,
}

/// What was said, each with its files in the order of the arguments; nothing of those of which nothing was.
pub(super) fn objects(run: &Run) -> Vec<Object<'_>> {
    let mut all: Vec<(&Launch, Object)> = Vec::new();
    for Linted { source, launch, .. } in &run.files {
        if *launch == Launch::default() {
            continue;
        }
        let file = source.name();
        match all.iter_mut().find(|(known, _)| *known == launch) {
            // The modules of one file have one launch.
            Some((_, object)) if object.files.last() == Some(&file) => {}
            Some((_, object)) => object.files.push(file),
            None => all.push((launch, object(launch, file))),
        }
    }
    all.into_iter().map(|(_, object)| object).collect()
}

fn object<'a>(launch: &'a Launch, file: &'a str) -> Object<'a> {
    let params = launch.params.iter().map(|given| Param {
        name: &given.name,
        value: given.value as i64,
    });
    Object {
        files: vec![file],
        block: launch.block,
        grid: launch.grid,
        params: params.collect(),
    }
}
