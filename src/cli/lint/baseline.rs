//! Baselines: findings that are known and not reported again, in a JSON file.
//!
//! A finding is known by its file, code, kernel and statement, not by its line: see `ptx::lint::fingerprints`. Of several
//! that are alike, as many are known as the file says.

use crate::cli::report::{Linted, Run};
use crate::cli::{Outcome, input, output};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The format's version.
const VERSION: u32 = 1;

/// The baselines that the files of a run have, by path.
pub struct Baselines(BTreeMap<PathBuf, Document>);

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    baseline: u32,
    findings: Vec<Known>,
    #[serde(default)]
    not_analysed: BTreeSet<Kernel>,
}

/// Findings that are alike.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    #[serde(flatten)]
    key: Key,
    count: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Key {
    /// Relative to the baseline's folder, with `/`.
    file: String,
    code: String,
    kernel: Option<String>,
    fingerprint: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kernel {
    file: String,
    kernel: String,
}

impl Baselines {
    /// Reads them; one that is to be written need not be there yet. The error is a report, ready to be shown.
    pub fn new(run: &Run, to_write: bool) -> Result<Self, String> {
        let paths: BTreeSet<_> = run.files.iter().filter_map(|file| file.baseline.clone()).collect();
        let mut baselines = BTreeMap::new();
        for path in paths {
            let document = match path.try_exists() {
                Ok(false) if to_write => Document::default(),
                _ => read(&path)?,
            };
            baselines.insert(path, document);
        }
        Ok(Self(baselines))
    }

    /// Takes out of the run what is known.
    pub fn take_out(&mut self, run: &mut Run) {
        let mut left: BTreeMap<(PathBuf, Key), u32> = BTreeMap::new();
        for (path, document) in &self.0 {
            let known = document.findings.iter();
            left.extend(known.map(|known| ((path.clone(), known.key.clone()), known.count)));
        }
        for file in &mut run.files {
            let Some(path) = file.baseline.clone() else { continue };
            let keys = keys(file, &path);
            let mut is_new = keys.into_iter().map(|key| match left.get_mut(&(path.clone(), key)) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            });
            let before = file.report.findings.len();
            let keep: Vec<bool> = is_new.by_ref().collect();
            let mut at = keep.iter();
            file.report.findings.retain(|_| at.next().is_none_or(|keep| *keep));
            let mut at = keep.iter();
            file.fingerprints.retain(|_| at.next().is_none_or(|keep| *keep));
            let mut at = keep.iter();
            file.witnesses.retain(|_| at.next().is_none_or(|keep| *keep));
            file.known = before - file.report.findings.len();
            if let Some(document) = self.0.get(&path) {
                file.waived = waived(file, &path, document);
            }
        }
    }

    /// Writes what the run found. What is known of files that the run did not look at stays, as long as they exist.
    ///
    /// # Errors
    /// When there is no baseline to write, or it cannot be written.
    pub fn write(&mut self, run: &Run) -> anyhow::Result<Outcome> {
        if self.0.is_empty() {
            anyhow::bail!("--write-baseline needs --baseline FILE, or `baseline` in the configuration");
        }
        for (path, document) in &mut self.0 {
            let files: Vec<_> = run
                .files
                .iter()
                .filter(|file| file.baseline.as_ref() == Some(path))
                .collect();
            document.renew(path, &files);
            output::write_file(path, &(serde_json::to_string_pretty(document)? + "\n"))?;
            let count: u32 = document.findings.iter().map(|known| known.count).sum();
            let name = output::printable(&path.display().to_string());
            output::note(&format!("{name}: {count} known findings"));
        }
        Ok(match run.unreadable.is_empty() {
            true => Outcome::Clean,
            false => Outcome::Failed,
        })
    }
}

impl Document {
    fn renew(&mut self, path: &Path, files: &[&Linted]) {
        let looked_at: BTreeSet<_> = files.iter().map(|file| relative(file, path)).collect();
        let folder = path.parent().unwrap_or(Path::new("."));
        let stays = |name: &String| !looked_at.contains(name) && folder.join(name).exists();
        let mut counts: BTreeMap<Key, u32> = BTreeMap::new();
        for known in std::mem::take(&mut self.findings) {
            if stays(&known.key.file) {
                *counts.entry(known.key).or_default() += known.count;
            }
        }
        self.not_analysed.retain(|kernel| stays(&kernel.file));
        for file in files {
            for key in keys(file, path) {
                *counts.entry(key).or_default() += 1;
            }
            let not_analysed = file
                .report
                .kernels
                .iter()
                .filter(|kernel| kernel.not_analysed.is_some());
            self.not_analysed.extend(not_analysed.map(|kernel| Kernel {
                file: relative(file, path),
                kernel: kernel.name.clone(),
            }));
        }
        self.baseline = VERSION;
        self.findings = counts.into_iter().map(|(key, count)| Known { key, count }).collect();
    }
}

fn read(path: &Path) -> Result<Document, String> {
    let name = output::printable(&path.display().to_string());
    let text = fs::read_to_string(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("{name}: error: no such baseline; --write-baseline writes it"),
        _ => format!("{name}: error: {}", input::explain(&error, path)),
    })?;
    match serde_json::from_str::<Document>(&text) {
        Ok(document) if document.baseline == VERSION => Ok(document),
        Ok(document) => Err(format!(
            "{name}: error: a baseline of version {}; this program reads version {VERSION}",
            document.baseline
        )),
        Err(error) => Err(format!("{name}: error: is no baseline: {error}")),
    }
}

/// What each finding of a file is known by.
fn keys(file: &Linted, baseline: &Path) -> Vec<Key> {
    let name = relative(file, baseline);
    let findings = file.report.findings.iter().zip(&file.fingerprints);
    findings
        .map(|(diag, print)| Key {
            file: name.clone(),
            code: diag.code.id.to_owned(),
            kernel: print.kernel.clone(),
            fingerprint: format!("{:016x}", print.hash),
        })
        .collect()
}

/// The kernels that are known not to be analysed, by their place in the report.
fn waived(file: &Linted, path: &Path, document: &Document) -> Vec<usize> {
    let name = relative(file, path);
    let is_known = |kernel: &str| {
        let known = Kernel {
            file: name.clone(),
            kernel: kernel.to_owned(),
        };
        document.not_analysed.contains(&known)
    };
    let kernels = file.report.kernels.iter().enumerate();
    kernels
        .filter(|(_, kernel)| is_known(&kernel.name))
        .map(|(at, _)| at)
        .collect()
}

/// The file's name as seen from the baseline's folder, so that it does not matter where the program is started.
fn relative(file: &Linted, baseline: &Path) -> String {
    let name = file.source.name();
    if name.starts_with('<') {
        return name.to_owned();
    }
    let (Ok(file), Ok(baseline)) = (std::path::absolute(name), std::path::absolute(baseline)) else {
        return name.to_owned();
    };
    let folder: Vec<Component> = baseline
        .parent()
        .map(|folder| folder.components().collect())
        .unwrap_or_default();
    let parts: Vec<Component> = file.components().collect();
    let common = folder.iter().zip(&parts).take_while(|(a, b)| a == b).count();
    let up = folder[common..].iter().map(|_| "..".to_owned());
    let down = parts[common..]
        .iter()
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}
