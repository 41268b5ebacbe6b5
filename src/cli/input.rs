//! Reading PTX from files and standard input.

use super::{listing, sniff};
use crate::ptx::listing::is_listing;
use crate::ptx::source::Source;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The argument that stands for standard input.
pub const STDIN: &str = "-";

/// Why an input is no PTX text. What it is called stands beside it, so the message does not repeat the name.
#[derive(Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The name findings would have shown.
    pub file: String,
    /// What is wrong with it, and what to do.
    pub message: String,
}

/// Reads one argument, a path or `-` for standard input: a text that may be a part of a module, and a listing as a whole.
///
/// # Errors
/// When it cannot be read or is no text that could be PTX.
pub fn read_part(path: &Path) -> Result<Source, Unreadable> {
    read_as(path, None, true)
}

/// What an argument holds.
#[derive(Debug)]
pub struct Modules {
    /// The modules: one, except in a listing of `cuobjdump`.
    pub sources: Vec<Source>,
    /// Whether it is a listing: its modules are only parts of it.
    pub is_listing: bool,
}

/// The modules of an argument. Standard input is called `stdin_name`, if there is one. With `fragment`, a text that is only a part of
/// a module will do.
///
/// # Errors
/// When it cannot be read or is not PTX text.
pub fn modules(path: &Path, stdin_name: Option<&Path>, fragment: bool) -> Result<Modules, Unreadable> {
    let source = read_as(path, stdin_name, fragment)?;
    let file = source.name().to_owned();
    let is_listing = is_listing(source.text());
    if !is_listing {
        return Ok(Modules {
            sources: vec![source],
            is_listing,
        });
    }
    match listing::split(&source) {
        Ok(sources) => Ok(Modules { sources, is_listing }),
        Err(message) => Err(Unreadable { file, message }),
    }
}

fn read_as(path: &Path, stdin_name: Option<&Path>, fragment: bool) -> Result<Source, Unreadable> {
    let stdin = path.as_os_str() == STDIN;
    let file = match stdin_name {
        Some(name) if stdin => name.display().to_string(),
        None if stdin => "<stdin>".into(),
        _ => path.display().to_string(),
    };
    let bytes = if stdin { read_stdin() } else { fs::read(path) };
    let text = bytes
        .map_err(|error| explain(&error, path))
        .and_then(|bytes| sniff::ptx_text(bytes, fragment));
    match text.and_then(|text| Source::new(&*file, text).map_err(too_large)) {
        Ok(source) => Ok(source),
        Err(message) => Err(Unreadable { file, message }),
    }
}

/// Whether standard input is asked for more than once: the second reading would find nothing.
pub fn reads_stdin_twice(paths: &[PathBuf]) -> bool {
    paths.iter().filter(|path| path.as_os_str() == STDIN).count() > 1
}

fn read_stdin() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Why a path could not be read.
pub fn explain(error: &io::Error, path: &Path) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => is_a_directory(),
        _ if path.is_dir() => is_a_directory(),
        _ => format!("cannot be read: {error}"),
    }
}

fn is_a_directory() -> String {
    "is a directory; name the files in it".into()
}

fn too_large(size: usize) -> String {
    format!("{size} bytes are too many; a file may have up to 4 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = read_part(folder.path()).unwrap_err();
        assert!(error.message.starts_with("is a directory"), "{error:?}");
        let error = read_part(&folder.path().join("a.ptx")).unwrap_err();
        assert_eq!(error.message, "no such file");
        assert!(error.file.ends_with("a.ptx"));
    }

    #[test]
    fn standard_input_can_be_read_once() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert!(reads_stdin_twice(&paths(&["-", "a", "-"])));
        assert!(!reads_stdin_twice(&paths(&["-", "a", "a"])));
    }
}
