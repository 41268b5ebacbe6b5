//! What ptxas says: of many instructions in few runs, and of whole modules.

use super::setting::Setting;
use crate::common;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The verdict on one text: `None` where ptxas accepts it, otherwise its first complaint.
pub type Verdict = Option<String>;

/// One run of ptxas.
struct Run {
    accepted: bool,
    output: String,
}

/// Judges instructions of one setting, a batch at a time.
pub fn instructions(setting: &Setting, lines: &[&str]) -> Vec<Verdict> {
    let mut verdicts = vec![None; lines.len()];
    let dir = tempfile::tempdir().unwrap();
    let arch = setting.target.assembled_as().unwrap();
    for batch in (0..lines.len()).collect::<Vec<_>>().chunks(250) {
        let mut alive = batch.to_vec();
        // Reading alone is fast and finds nearly everything; some checks come only when code is made.
        for kind in ["compute", "sm"] {
            let arch = arch.to_string().replace("sm", kind);
            let mut bench = Bench {
                setting,
                lines,
                arch,
                dir: dir.path(),
                verdicts: &mut verdicts,
            };
            bench.judge(&alive);
            alive.retain(|at| verdicts[*at].is_none());
        }
    }
    verdicts
}

/// A batch in work.
struct Bench<'a> {
    setting: &'a Setting,
    lines: &'a [&'a str],
    arch: String,
    dir: &'a Path,
    verdicts: &'a mut [Verdict],
}

impl Bench<'_> {
    /// Takes out what ptxas rejects until the rest passes: after a syntax error nothing else is read, and some checks come
    /// only once nothing else is wrong. Where no line is named, the batch is halved.
    fn judge(&mut self, batch: &[usize]) {
        let mut alive = batch.to_vec();
        while !alive.is_empty() {
            let lines: Vec<_> = alive.iter().map(|at| self.lines[*at]).collect();
            let (text, before) = self.setting.module(&lines);
            let run = run(&text, &self.arch, self.dir);
            if run.accepted {
                return;
            }
            let named = complaints(&run.output);
            let named = named
                .iter()
                .filter_map(|(line, message)| Some((*alive.get(line.checked_sub(before + 1)?)?, message)));
            let count = alive.len();
            for (at, message) in named {
                self.verdicts[at].get_or_insert_with(|| message.clone());
            }
            alive.retain(|at| self.verdicts[*at].is_none());
            if alive.len() < count {
                continue;
            }
            if self.arch.starts_with("sm") && alive.len() < 40 {
                // Code generation gave up on a mixture that no compiler would write; reading has accepted each of them.
                return;
            }
            if let [only] = alive[..] {
                self.verdicts[only] = Some(first_line(&run.output).unwrap_or_else(|| "ptxas crashes".to_owned()));
                return;
            }
            let (left, right) = alive.split_at(alive.len() / 2);
            self.judge(left);
            self.judge(right);
            return;
        }
    }
}

/// Judges a whole module: read first, then made code of, since most of what is wrong shows at once.
///
/// `Err` where ptxas crashes: that is no verdict.
pub fn module(text: &str, arch: &str, dir: &Path) -> Result<Verdict, ()> {
    for arch in [arch.replace("sm", "compute"), arch.to_owned()] {
        let run = run(text, &arch, dir);
        if !run.accepted || run.output.contains("32-bit address") {
            let named = complaints(&run.output).into_iter().next().map(|(_, message)| message);
            return match named.or_else(|| first_line(&run.output)) {
                Some(message) => Ok(Some(message)),
                None => Err(()),
            };
        }
    }
    Ok(None)
}

fn run(text: &str, arch: &str, dir: &Path) -> Run {
    fs::write(dir.join("k.ptx"), text).unwrap();
    // Some instructions without meaning make code generation take all memory.
    let run = Command::new("sh")
        .args(["-c", "ulimit -v 1500000; ulimit -t 3; exec \"$0\" \"$@\""])
        .arg(common::ptxas().unwrap())
        .args(["-arch", arch, "-o", "k.cubin", "k.ptx"])
        .current_dir(dir)
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    Run {
        accepted: run.status.success(),
        output,
    }
}

/// The complaints that name a line, with it. A warning about 32-bit addresses counts: ptxas makes no code for them.
fn complaints(output: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for line in output.lines() {
        if let Some(rest) = line.split_once(".ptx, line ").map(|split| split.1)
            && let Some((number, rest)) = rest.split_once(';')
            && let Some((level, message)) = rest.split_once(':')
            && matches!(level.trim(), "error" | "fatal")
            && let Ok(number) = number.trim().parse()
        {
            found.push((number, message.trim().to_owned()));
        } else if let Some(rest) = line.split_once("uses 32-bit address on line '").map(|split| split.1)
            && let Some(number) = rest.split('\'').next().and_then(|number| number.parse().ok())
        {
            found.push((number, "32-bit address".to_owned()));
        }
    }
    found
}

/// What ptxas says first, apart from warnings. Nothing is what a crash leaves.
fn first_line(output: &str) -> Option<String> {
    let mut lines = output
        .lines()
        .filter(|line| !line.contains("warning") && !line.trim().is_empty());
    lines
        .next()
        .map(|line| line.trim_start_matches("ptxas").trim().to_owned())
}
