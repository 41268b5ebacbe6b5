//! What the integration tests share: the assembler to compare with, and the shared test data.

#![allow(dead_code, reason = "each test binary uses some of these helpers")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The release of ptxas that the tables in this crate were checked against.
pub const PTXAS_RELEASE: &str = "13.5";

/// The ptxas to compare with, found or installed once per process.
///
/// `None` means that a test which needs it must return early; the reason has then been printed.
/// Where `CI` or `PTXGEN_REQUIRE_PTXAS` is set, its absence fails the test instead, so that a
/// green run cannot mean that nothing was compared.
pub fn ptxas() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || find_ptxas().inspect_err(|why| report_missing(why)).ok();
    FOUND.get_or_init(find).as_deref()
}

/// Assembles `ptx` for `arch` (`sm_90a`, or `compute_90` to parse only).
///
/// # Errors
///
/// What ptxas printed, where it rejects the module (it calls the file `kernel.ptx`), or why it
/// could not be run.
pub fn assemble(ptx: &str, arch: &str) -> Result<(), String> {
    cubin(ptx, arch).map(|_| ())
}

/// The machine code that ptxas makes of `ptx`; nothing but empty bytes where `arch` asks for parsing only.
///
/// # Errors
///
/// As [`assemble`].
pub fn cubin(ptx: &str, arch: &str) -> Result<Vec<u8>, String> {
    let ptxas = ptxas().ok_or("there is no ptxas to assemble with")?;
    let dir = tempfile::tempdir().map_err(|e| format!("no temporary directory: {e}"))?;
    fs::write(dir.path().join("kernel.ptx"), ptx).map_err(|e| format!("kernel.ptx: {e}"))?;
    let run = Command::new(ptxas)
        .args(["-arch", arch, "-o", "kernel.cubin", "kernel.ptx"])
        .current_dir(dir.path())
        .output()
        .map_err(|e| format!("{}: {e}", ptxas.display()))?;
    if run.status.success() {
        return Ok(fs::read(dir.path().join("kernel.cubin")).unwrap_or_default());
    }
    Err(text(&run.stdout) + &text(&run.stderr))
}

/// The directory of test data beside the checkout, where there is one.
pub fn shared() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    dir.is_dir().then_some(dir)
}

/// Asks `scripts/ptxas`, which installs the assembler where it is missing.
fn find_ptxas() -> Result<PathBuf, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/ptxas");
    let run = Command::new(&script)
        .args(["--require", PTXAS_RELEASE])
        .output()
        .map_err(|e| format!("{}: {e}", script.display()))?;
    if !run.status.success() {
        return Err(text(&run.stderr).trim_start_matches("ptxas: ").to_owned());
    }
    Ok(PathBuf::from(text(&run.stdout)))
}

/// Fails where ptxas is required, and elsewhere says aloud that nothing is compared with it.
fn report_missing(why: &str) {
    let required = ["CI", "PTXGEN_REQUIRE_PTXAS"].map(|name| env::var_os(name).is_some());
    assert!(required == [false; 2], "ptxas is required here: {why}");
    // Straight to stderr: what `eprintln!` prints in a passing test is not shown.
    let notice = "SKIPPED: tests that compare with ptxas";
    let _ = writeln!(io::stderr(), "\n!!!! {notice}: {why} !!!!\n");
}

/// The text of a program's output, without the line end.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

/// Every `.ptx` file below a folder, in order.
pub fn ptx_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "ptx") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
