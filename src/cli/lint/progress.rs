//! A bar on a terminal while many files are linted.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Fewer files than this are done before anybody could read a bar.
const MANY: usize = 20;
/// Redrawings a second.
const RATE: u8 = 10;

/// The bar for that many files: nothing is shown of it unless they are many and standard error is a terminal.
pub fn bar(files: usize) -> ProgressBar {
    if files < MANY {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(files as u64), ProgressDrawTarget::stderr_with_hz(RATE));
    match ProgressStyle::with_template("linting {bar:30} {pos}/{len} files, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
