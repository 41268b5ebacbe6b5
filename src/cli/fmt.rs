//! `ptxgen fmt`: canonical layout, nothing else changed.

use super::fragment::HeaderArgs;
use super::{Outcome, input, listing, output, sniff};
use crate::ptx::diag::Diag;
use crate::ptx::format;
use crate::ptx::listing::is_listing;
use crate::ptx::parse::Parsed;
use crate::ptx::source::Source;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
Examples:
  ptxgen fmt kernel.ptx                 rewrite the file
  ptxgen fmt --check build/*.ptx        name the files that would change
  ptxgen fmt --diff kernel.ptx          show what would change
  cat kernel.ptx | ptxgen fmt - > out.ptx

Exit status:
  0  done; with --check or --diff: nothing would change
  1  with --check or --diff: something would
  2  a file that cannot be read, written or parsed (the others are
     formatted all the same), or wrong arguments

Only blanks change: every token keeps its spelling and every comment its
place. The output goes through once more unchanged. Listings of `cuobjdump`
keep the lines between their modules; parts of modules need no header.";

/// Bring PTX into canonical layout
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// PTX files, rewritten in place; `-` is standard input, written to standard output
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Write nothing; name the files that would change
    #[arg(long)]
    check: bool,

    /// Write nothing; show what would change as a unified diff
    #[arg(long)]
    diff: bool,

    #[command(flatten)]
    header: HeaderArgs,
}

/// Formats the files.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    if input::reads_stdin_twice(&args.files) {
        anyhow::bail!("standard input (`-`) is named more than once");
    }
    let mut worst = Outcome::Clean;
    for path in &args.files {
        worst = worst.max(one(path, args)?);
    }
    Ok(worst)
}

fn one(path: &Path, args: &Args) -> anyhow::Result<Outcome> {
    let formatted = input::read_part(path).and_then(|source| match formatted(&source, &args.header) {
        Ok(text) => Ok((source, text)),
        Err(message) => Err(input::Unreadable {
            file: source.name().to_owned(),
            message,
        }),
    });
    let (source, text) = match formatted {
        Ok(both) => both,
        Err(unreadable) => {
            output::complain_of(&unreadable.file, &unreadable.message);
            return Ok(Outcome::Failed);
        }
    };
    let changed = text != source.text();
    if args.diff && changed {
        output::print(&output::diff(source.name(), source.text(), &text))?;
    }
    if args.check && changed {
        output::note(&format!("{} would change", output::printable(source.name())));
    }
    if args.check || args.diff {
        return Ok(if changed { Outcome::Findings } else { Outcome::Clean });
    }
    if path.as_os_str() == input::STDIN {
        output::print(&text)?;
    } else if changed && let Err(error) = output::write_file(path, &text) {
        output::complain(&format!("{error:#}"));
        return Ok(Outcome::Failed);
    }
    Ok(Outcome::Clean)
}

/// The text in canonical layout.
///
/// # Errors
/// Why a text is left alone.
fn formatted(source: &Source, header: &HeaderArgs) -> Result<String, String> {
    let text = source.text();
    if let Some(at) = text.find(char::REPLACEMENT_CHARACTER) {
        let at = source.position(at as u32);
        return Err(format!("not formatted: {at}: bytes that are not UTF-8 would be lost"));
    }
    if is_listing(text) {
        for module in listing::split(source)? {
            well_formed(&module, header)?;
        }
    } else {
        let parsed = well_formed(source, header)?;
        if !header.is_given() && !sniff::is_ptx(text) && !is_known(&parsed) {
            return Err(sniff::guess(text));
        }
    }
    Ok(format::format(text))
}

/// The module, if it is clear where its statements end. Names that nothing defines do not matter for that.
fn well_formed(source: &Source, header: &HeaderArgs) -> Result<Parsed, String> {
    let parsed = header.parse_part(source.text());
    let mut diags: Vec<_> = parsed.diags.iter().filter(|diag| !format::is_harmless(diag)).collect();
    diags.sort_by_key(|diag| diag.span);
    let Some((Diag { span, message, .. }, rest)) = diags.split_first() else {
        return Ok(parsed);
    };
    let at = source.position(span.start);
    let more = match rest.len() {
        0 => String::new(),
        rest => format!(" ({rest} more errors: see `ptxgen lint`)"),
    };
    Err(format!("not formatted: {at}: {message}{more}"))
}

/// Whether a text without directives is PTX all the same: it has instructions, and the table knows them all.
fn is_known(parsed: &Parsed) -> bool {
    let bodies = parsed
        .module
        .functions
        .iter()
        .filter_map(|function| function.body.as_ref());
    let mut insts = bodies.flat_map(|body| &body.insts).peekable();
    insts.peek().is_some() && insts.all(|inst| inst.op.row.is_some())
}
