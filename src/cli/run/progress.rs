//! How far a run is, on a terminal.

use crate::ptx::sim::Watch;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// Cells of the bar.
const CELLS: usize = 24;
/// Between two drawings. Runs that are over sooner never show a bar.
const TICK: Duration = Duration::from_millis(200);

/// A bar over so many CTAs, on standard error if that is a terminal.
pub fn bar(watch: &Arc<Watch>, ctas: u64) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(10);
    if target.is_hidden() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(ctas), target);
    let watch = Arc::clone(watch);
    let text = move |state: &ProgressState, out: &mut dyn Write| {
        let _ = out.write_str(&line(&watch, ctas, state.elapsed()));
    };
    if let Ok(style) = ProgressStyle::with_template("{run}") {
        bar.set_style(style.with_key("run", text));
        bar.enable_steady_tick(TICK);
    }
    bar
}

/// What the bar says.
fn line(watch: &Watch, ctas: u64, elapsed: Duration) -> String {
    let (done, instructions) = (watch.ctas().min(ctas), watch.instructions());
    let full = (done as usize * CELLS).checked_div(ctas as usize).unwrap_or(0);
    let rate = instructions as f64 / elapsed.as_secs_f64().max(1e-3);
    format!(
        "running {}{} {done}/{ctas} CTAs, {}instructions/s",
        "█".repeat(full),
        "░".repeat(CELLS - full),
        short(rate)
    )
}

/// A number in few letters, for a unit to follow.
fn short(value: f64) -> String {
    match value {
        1e9.. => format!("{:.2} G", value / 1e9),
        1e6.. => format!("{:.1} M", value / 1e6),
        1e3.. => format!("{:.1} k", value / 1e3),
        _ => format!("{value:.0} "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_and_how_fast() {
        let line = line(&Watch::default(), 4, Duration::from_secs(1));
        assert_eq!(
            line,
            format!("running {} 0/4 CTAs, 0 instructions/s", "░".repeat(CELLS))
        );
        assert_eq!(
            [2.0, 1234.0, 5e6, 1.5e9].map(short),
            ["2 ", "1.2 k", "5.0 M", "1.50 G"].map(String::from)
        );
    }
}
