//! Real files, cut down to one function each so that ptxas takes milliseconds for them.

use super::oracle;
use super::table::{ours, spread};
use crate::common;
use ptxgen::ptx::parse::{Parsed, parse};
use ptxgen::ptx::target::Target;
use std::path::{Path, PathBuf};

/// A module that both sides accept.
pub struct Seed {
    /// Where it comes from: file and function.
    pub name: String,
    /// Its text.
    pub text: String,
    /// What is in it.
    pub parsed: Parsed,
    /// The GPU that ptxas makes code for.
    pub arch: String,
}

/// Longer texts take ptxas too long.
const LONGEST: usize = 12_000;

/// Folders of the project, and those beside the checkout.
const OWN: &[&str] = &["tests/fixtures"];
const BESIDE: &[&str] = &["corpus/compiled", "corpus/public", "cases"];

/// All seeds, in order. The folders beside the checkout take part where `beside` asks for them.
pub fn all(beside: bool) -> Vec<Seed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> = OWN.iter().map(|folder| root.join(folder)).collect();
    if let Some(shared) = common::shared().filter(|_| beside) {
        folders.extend(BESIDE.iter().map(|folder| shared.join(folder)));
    }
    let paths: Vec<_> = folders
        .iter()
        .filter(|folder| folder.is_dir())
        .flat_map(|folder| common::ptx_files(folder))
        .collect();
    let mut texts: Vec<(String, String)> = paths.iter().flat_map(|path| cut(path)).collect();
    texts.sort_by(|a, b| a.1.cmp(&b.1));
    texts.dedup_by(|a, b| a.1 == b.1);
    texts.sort();
    spread(texts, |(name, text)| judge(name, text))
        .into_iter()
        .flatten()
        .collect()
}

/// The file itself where it is short, otherwise one text for each of its functions.
fn cut(path: &Path) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let name = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    let parsed = parse(&text);
    let bodies = parsed
        .module
        .functions
        .iter()
        .filter(|function| function.body.is_some())
        .count();
    if bodies < 2 || text.len() < 4000 {
        return if text.len() <= LONGEST {
            vec![(name, text)]
        } else {
            Vec::new()
        };
    }
    let count = parsed.module.functions.len();
    let cuts = (0..count).filter_map(|keep| one_function(&text, &parsed, keep));
    cuts.map(|(function, text)| (format!("{name}:{function}"), text))
        .filter(|(_, text)| text.len() <= LONGEST)
        .collect()
}

/// The text without the bodies that function `keep` does not mention.
fn one_function(text: &str, parsed: &Parsed, keep: usize) -> Option<(String, String)> {
    let functions = &parsed.module.functions;
    functions.get(keep)?.body.as_ref()?;
    let name = |at: usize| parsed.module.name(functions[at].symbol).to_owned();
    let whole = |at: usize| {
        &text[parsed.spans.functions[at].whole.start as usize..parsed.spans.functions[at].whole.end as usize]
    };
    let mut kept = vec![keep];
    let mut next = 0;
    while let Some(at) = kept.get(next).copied() {
        next += 1;
        for (other, function) in functions.iter().enumerate() {
            if function.body.is_some() && !kept.contains(&other) && whole(at).contains(&name(other)) {
                kept.push(other);
            }
        }
    }
    let mut out = String::new();
    let mut from = 0;
    for (at, spans) in parsed.spans.functions.iter().enumerate() {
        if functions[at].body.is_some() && !kept.contains(&at) {
            out.push_str(text.get(from..spans.whole.start as usize)?);
            from = spans.whole.end as usize;
        }
    }
    out.push_str(text.get(from..)?);
    Some((name(keep), out))
}

/// A seed, where both sides accept it.
fn judge(name: String, text: String) -> Option<Seed> {
    let parsed = parse(&text);
    let target: Target = parsed.module.header.target.first()?.parse().ok()?;
    let arch = target.assembled_as()?.to_string();
    let dir = tempfile::tempdir().unwrap();
    let accepted = ours(&text).is_none() && oracle::module(&text, &arch, dir.path()) == Ok(None);
    accepted.then_some(Seed {
        name,
        text,
        parsed,
        arch,
    })
}
