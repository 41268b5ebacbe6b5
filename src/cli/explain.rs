//! `ptxgen explain`: what a code means, from the rules' own documentation.

use super::{Outcome, output};
use crate::ptx::lint::{self, Entry, GROUPS, MERGED, Merged, Selector, UnknownSelector, catalogue};
use std::fmt::Write;
use std::str::FromStr;

const AFTER_HELP: &str = "\
Examples:
  ptxgen explain                        the list of all codes
  ptxgen explain BAR001
  ptxgen explain false-uni
  ptxgen explain BAR --format md > bar.md
  ptxgen explain --all

Exit status:
  0  explained
  2  there is no such code, name or group";

/// Explain codes: what they find, why that is bad, and how to repair it
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Codes, names or groups [default: list all codes]
    #[arg(value_name = "CODE")]
    codes: Vec<Asked>,

    /// Explain every code
    #[arg(long, conflicts_with = "codes")]
    all: bool,

    /// How explanations are written
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// What is to be explained.
#[derive(Clone, Debug)]
struct Asked {
    selector: Selector,
    /// The code that was named, if its faults are found under the selector's.
    merged: Option<&'static Merged>,
}

impl FromStr for Asked {
    type Err = UnknownSelector;

    fn from_str(word: &str) -> Result<Self, UnknownSelector> {
        let merged = lint::merged(word);
        let selector = merged.map_or(word, |merged| merged.into).parse()?;
        Ok(Self { selector, merged })
    }
}

/// How explanations are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people
    Human,
    /// Markdown
    Md,
}

/// Prints the explanations.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let text = match (args.all, args.codes.as_slice()) {
        (true, _) => many(catalogue(), args.format, true),
        (false, []) => index(args.format),
        (false, codes) => {
            let mut entries: Vec<Entry> = Vec::new();
            for entry in codes.iter().flat_map(|asked| asked.selector.entries()) {
                if !entries.iter().any(|known| known.code == entry.code) {
                    entries.push(*entry);
                }
            }
            let merged = codes.iter().filter_map(|asked| asked.merged);
            let head: String = merged
                .map(|merged| format!("{} is found as {}: {}.\n\n", merged.id, merged.into, merged.why))
                .collect();
            head + &many(
                &entries,
                args.format,
                codes.iter().any(|asked| !asked.selector.is_one()),
            )
        }
    };
    output::print(&text)?;
    Ok(Outcome::Clean)
}

/// One code after the other; in Markdown with a heading for each group, if that is wanted.
fn many(entries: &[Entry], format: Format, headings: bool) -> String {
    let mut out = String::new();
    let mut group = "";
    for entry in entries {
        if !out.is_empty() {
            out.push('\n');
        }
        if format == Format::Md && headings && entry.group() != group {
            group = entry.group();
            // Writing to a string cannot fail.
            let _ = writeln!(out, "# {group}: {}\n", title(group));
        }
        out.push_str(&one(entry, format));
    }
    out
}

/// What a code means.
pub fn one(entry: &Entry, format: Format) -> String {
    let (code, level) = (entry.code, entry.level);
    let asked = match entry.is_default {
        true => "",
        false => "; reports when it is asked for",
    };
    let head = match format {
        Format::Human => format!("{} {} ({level}{asked})\n", code.id, code.name),
        Format::Md => format!("## {} {}\n\nLevel: {level}{asked}.\n", code.id, code.name),
    };
    let mut out = format!("{head}\n{}\n", entry.summary);
    if !entry.explanation.is_empty() {
        let explanation = match format {
            Format::Human => without_fences(entry.explanation),
            Format::Md => spaced_fences(entry.explanation),
        };
        let _ = write!(out, "\n{explanation}");
    }
    out
}

/// The list of all codes by group.
fn index(format: Format) -> String {
    let mut groups = Vec::new();
    for (group, title) in GROUPS {
        let entries: Vec<_> = catalogue().iter().filter(|entry| entry.group() == *group).collect();
        if entries.is_empty() {
            continue;
        }
        let page = format!("{}.md", group.to_ascii_lowercase());
        let (head, lines): (_, String) = match format {
            Format::Human => (
                format!("{group}: {title}\n"),
                entries.iter().map(|entry| listed(entry)).collect(),
            ),
            Format::Md => (
                format!(
                    "## [{group}: {title}]({page})\n\n| code | name | level | what it finds |\n|---|---|---|---|\n"
                ),
                entries.iter().map(|entry| row(entry, &page)).collect(),
            ),
        };
        groups.push(head + &lines);
    }
    let list = groups.join("\n");
    match format {
        Format::Human => list,
        Format::Md => format!("{INDEX_HEAD}\n{list}\n{}", merged_table()),
    }
}

/// The codes that other catalogues may have, and where their faults are found here.
fn merged_table() -> String {
    let rows = MERGED
        .iter()
        .map(|merged| format!("| {} | {} | {} |\n", merged.id, merged.into, merged.why));
    let head = "## Found under another code\n\n| code | found as | what it is about |\n|---|---|---|\n";
    head.to_owned() + &rows.collect::<String>()
}

/// A code's line for people.
fn listed(entry: &Entry) -> String {
    format!("  {:<8} {:<32} {}\n", entry.code.id, entry.code.name, entry.summary)
}

/// A code's row of the table, with a link to where it is explained.
fn row(entry: &Entry, page: &str) -> String {
    let code = entry.code;
    let anchor = format!("{} {}", code.id, code.name)
        .to_ascii_lowercase()
        .replace(' ', "-");
    let asked = match entry.is_default {
        true => "",
        false => ", on request",
    };
    let summary = entry.summary.replace('|', "\\|");
    format!(
        "| [{}]({page}#{anchor}) | {} | {}{asked} | {summary} |\n",
        code.id, code.name, entry.level
    )
}

const INDEX_HEAD: &str = "\
# Rules

What `ptxgen lint` reports. A code, its name and its group select it: `--ignore BAR005`, `--deny false-uni`, `--select BAR`.
`ptxgen explain CODE` prints what stands here. These pages are made from the rules' own documentation by a test.
";

fn title(group: &str) -> &'static str {
    GROUPS
        .iter()
        .find(|(name, _)| *name == group)
        .map_or("", |group| group.1)
}

/// Code blocks indented instead of fenced.
fn without_fences(markdown: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in spaced_fences(markdown).lines() {
        if line.starts_with("```") {
            inside = !inside;
        } else if inside && !line.is_empty() {
            let _ = writeln!(out, "    {line}");
        } else {
            let _ = writeln!(out, "{line}");
        }
    }
    out
}

/// Code blocks with empty lines around them, as every reader of Markdown wants them.
fn spaced_fences(markdown: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    let mut closed = false;
    for line in markdown.lines() {
        let fence = line.starts_with("```");
        let opens = fence && !inside;
        if (opens || closed && !line.is_empty()) && !out.ends_with("\n\n") && !out.is_empty() {
            out.push('\n');
        }
        closed = fence && inside;
        inside ^= fence;
        let _ = writeln!(out, "{line}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_blocks_are_indented_or_set_apart() {
        let text = "Fails:\n```ptx\na;\n\nb;\n```\nClean.\n";
        assert_eq!(without_fences(text), "Fails:\n\n    a;\n\n    b;\n\nClean.\n");
        assert_eq!(spaced_fences(text), "Fails:\n\n```ptx\na;\n\nb;\n```\n\nClean.\n");
    }

    #[test]
    fn the_list_and_the_pages_hold_every_code() {
        for format in [Format::Human, Format::Md] {
            let (index, pages) = (index(format), many(catalogue(), format, true));
            for entry in catalogue() {
                assert!(
                    index.contains(entry.code.id) && pages.contains(entry.summary),
                    "{}",
                    entry.code.id
                );
            }
        }
    }
}
