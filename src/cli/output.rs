//! Writing: standard output and standard error that survive a closed pipe, and files that appear whole or not at all.

use anyhow::Context;
use owo_colors::OwoColorize;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Writes a product to standard output, with colours only where they are wanted.
///
/// A reader that has gone away (`ptxgen ... | head`) is no error: the rest is dropped and the outcome stands.
///
/// # Errors
/// When standard output cannot take the text, as on a full disk.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error. Failures are ignored: there is nowhere to report them.
pub fn note(line: &str) {
    let mut err = anstream::stderr().lock();
    let _ = writeln!(err, "{line}");
}

/// Writes `error: MESSAGE` to standard error.
pub fn complain(message: &str) {
    note(&format!("{} {message}", "error:".red().bold()));
}

/// Writes `FILE: error: MESSAGE` to standard error.
pub fn complain_of(file: &str, message: &str) {
    note(&format!("{}: {} {message}", printable(file), "error:".red().bold()));
}

/// The text without colours.
pub fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// What changed in a text, as a unified diff; empty if nothing did.
pub fn diff(name: &str, old: &str, new: &str) -> String {
    let diff = similar::TextDiff::from_lines(old, new);
    let name = printable(name);
    diff.unified_diff().header(&name, &name).to_string()
}

/// The text on one line and without control characters, which a file could use to fool a terminal.
pub fn printable(text: &str) -> String {
    let visible = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    text.chars().map(visible).collect()
}

/// Writes a file so that it holds either what it held before or all of `text`.
///
/// The text goes to a temporary file beside the target, which then takes its name. An existing file keeps its
/// permissions; a link is followed; what is not a regular file (`/dev/null`, a pipe) is written to directly.
///
/// # Errors
/// When the folder or the file cannot be written; nothing is left behind then.
pub fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    write_bytes(path, text.as_bytes())
}

/// The same for what is no text.
///
/// # Errors
/// As [`write_file`].
pub fn write_bytes(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let written = match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(meta) if meta.is_file() => replace(path, bytes, Some(meta.permissions())),
        Ok(_) => fs::write(path, bytes),
        Err(_) => replace(path, bytes, None),
    };
    written.map_err(|error| {
        // What failed may be the temporary file, whose name means nothing to anybody.
        let why = match error.kind() {
            io::ErrorKind::NotFound => "there is no such folder".into(),
            io::ErrorKind::PermissionDenied => "permission denied".into(),
            io::ErrorKind::IsADirectory => "it is a directory".into(),
            io::ErrorKind::StorageFull => "no space is left".into(),
            _ => error.to_string(),
        };
        anyhow::anyhow!("cannot write {}: {why}", path.display())
    })
}

fn replace(path: &Path, bytes: &[u8], permissions: Option<fs::Permissions>) -> io::Result<()> {
    // A dangling link has no canonical form; it is replaced by the file.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "there is no such folder"));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ptxgen-");
    // Temporary files are private by default; a new product gets what the process' umask leaves of this.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        if permissions.readonly() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        file.as_file().set_permissions(permissions)?;
    }
    file.persist(&path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ptx");
        write_file(&path, "first, and longer").unwrap();
        write_file(&path, "second").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_and_a_folder_are_errors_that_name_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no/such/a.ptx");
        let error = write_file(&missing, "x").unwrap_err().to_string();
        assert!(error.ends_with("no/such/a.ptx: there is no such folder"), "{error}");
        assert!(write_file(folder.path(), "x").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_kept_and_new_files_are_readable() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ptx");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        write_file(&path, "x").unwrap();
        assert_eq!(mode() & 0o600, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        write_file(&path, "y").unwrap();
        assert_eq!(mode(), 0o640);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).unwrap();
        assert!(write_file(&path, "z").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "y");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.ptx"), folder.path().join("link.ptx"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_file(&link, "new").unwrap();
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
