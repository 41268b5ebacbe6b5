//! Arguments to files: folders and patterns are looked through, `.gitignore` is honoured.

use super::config::Configs;
use crate::cli::input::{STDIN, Unreadable};
use globset::{GlobBuilder, GlobMatcher};
use ignore::{DirEntry, WalkBuilder};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// What the arguments come to.
#[derive(Debug, Default)]
pub struct Found {
    /// Files, and `-`, in the order of the arguments; those of a folder or pattern sorted by path.
    pub files: Vec<PathBuf>,
    /// Arguments that come to nothing.
    pub nothing: Vec<Unreadable>,
}

/// Looks for the files. What is named itself is never left out; what is found is, where it is ignored or excluded, and
/// comes once however often it is found. The error is a report on a config file, ready to be shown.
pub fn expand(args: &[PathBuf], honour_ignores: bool, configs: &mut Configs) -> Result<Found, String> {
    let mut found = Found::default();
    let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
    for arg in args {
        let search = match Search::of(arg) {
            Ok(Some(search)) => search,
            Ok(None) => {
                seen.insert(arg.clone());
                found.files.push(arg.clone());
                continue;
            }
            Err(nothing) => {
                found.nothing.push(nothing);
                continue;
            }
        };
        let mut hits = 0;
        for path in search.walk(honour_ignores) {
            if configs.of(&path)?.excludes(&path) {
                continue;
            }
            hits += 1;
            if seen.insert(path.clone()) {
                found.files.push(path);
            }
        }
        if hits == 0 {
            found.nothing.push(search.nothing(arg));
        }
    }
    Ok(found)
}

/// Where to look, and what for.
struct Search {
    folder: PathBuf,
    pattern: Option<GlobMatcher>,
}

impl Search {
    /// The search that an argument asks for; `None` if it is a file, and where nothing is by that name.
    fn of(arg: &Path) -> Result<Option<Self>, Unreadable> {
        if arg.as_os_str() == STDIN || arg.is_file() {
            return Ok(None);
        }
        if arg.is_dir() {
            return Ok(Some(Self {
                folder: arg.to_path_buf(),
                pattern: None,
            }));
        }
        let Some(text) = arg.to_str().filter(|text| has_wildcard(text)) else {
            return Ok(None);
        };
        let glob = GlobBuilder::new(text).literal_separator(true).build();
        let glob = glob.map_err(|error| Unreadable {
            file: text.to_owned(),
            message: format!("is no pattern: {}", error.kind()),
        })?;
        Ok(Some(Self {
            folder: fixed_part(arg),
            pattern: Some(glob.compile_matcher()),
        }))
    }

    /// The files, sorted by path.
    fn walk(&self, honour_ignores: bool) -> Vec<PathBuf> {
        let mut walk = WalkBuilder::new(&self.folder);
        walk.standard_filters(honour_ignores)
            .require_git(false)
            .sort_by_file_path(Path::cmp);
        let is_file = |entry: &DirEntry| entry.file_type().is_some_and(|kind| kind.is_file()) || entry.path().is_file();
        walk.build()
            // What cannot be read on the way is no file of ours.
            .filter_map(Result::ok)
            .filter(is_file)
            .map(|entry| tidy(entry.into_path()))
            .filter(|path| self.wants(path))
            .collect()
    }

    fn wants(&self, path: &Path) -> bool {
        match &self.pattern {
            Some(pattern) => pattern.is_match(path) || pattern.is_match(Path::new(".").join(path)),
            None => path.extension().is_some_and(|end| end.eq_ignore_ascii_case("ptx")),
        }
    }

    fn nothing(&self, arg: &Path) -> Unreadable {
        let message = match self.pattern {
            Some(_) => "no file fits this pattern; those that .gitignore or the configuration leave out must be named",
            None => "no .ptx file is in it; those that .gitignore or the configuration leave out must be named",
        };
        Unreadable {
            file: arg.display().to_string(),
            message: message.to_owned(),
        }
    }
}

fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// The part of a pattern in front of the first component with a wildcard.
fn fixed_part(pattern: &Path) -> PathBuf {
    let fixed = |part: &Component| !has_wildcard(&part.as_os_str().to_string_lossy());
    let folder: PathBuf = pattern.components().take_while(fixed).collect();
    match folder.as_os_str() == OsStr::new("") {
        true => PathBuf::from("."),
        false => folder,
    }
}

/// The path without the `./` that a walk of the folder at hand puts in front.
fn tidy(path: PathBuf) -> PathBuf {
    path.strip_prefix(".").map(Path::to_path_buf).unwrap_or(path)
}
