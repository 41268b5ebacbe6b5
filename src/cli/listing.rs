//! Listings of `cuobjdump`: several modules in one text, each behind lines about the container it was in.

use crate::ptx::listing::modules;
use crate::ptx::source::{Source, Span};

/// The modules of a listing, each a source of its own in which lines are counted from the start of the listing.
///
/// # Errors
/// What to do about a listing without PTX.
pub fn split(source: &Source) -> Result<Vec<Source>, String> {
    let modules = modules(source.text());
    if modules.is_empty() {
        return Err(
            "is a listing of `cuobjdump` without PTX in it; build the program with `-gencode \
                    arch=compute_80,code=compute_80`, and list it with `cuobjdump -ptx`"
                .into(),
        );
    }
    let part = |span: Span| {
        let before = Span::new(0, span.start).of(source.text());
        let line = before.bytes().filter(|byte| *byte == b'\n').count();
        Source::new(source.name(), "\n".repeat(line) + span.of(source.text())).ok()
    };
    Ok(modules.into_iter().filter_map(part).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "\nFatbin elf code:\n===\narch = sm_80\n\nFatbin ptx code:\n===\narch = sm_80\n\n\n.version 8.0\n\
                           .target sm_80\n\nmember b.o:\nFatbin ptx code:\r\n===\r\n.version 7.0\r\n.target sm_70\r\n";

    #[test]
    fn modules_keep_their_lines() {
        let source = Source::new("a.ptx", LISTING).unwrap();
        let parts = split(&source).unwrap();
        let lines: Vec<_> = parts
            .iter()
            .map(|part| (1..30).find(|line| part.line(*line).starts_with(".version")))
            .collect();
        assert_eq!(lines, [Some(11), Some(17)]);
        assert_eq!(parts[0].line(14), "");
        assert_eq!(parts[1].line(18), ".target sm_70");
    }

    #[test]
    fn a_listing_without_ptx_is_told() {
        let source = Source::new("a.ptx", "Fatbin elf code:\n===\narch = sm_80\n").unwrap();
        assert!(split(&source).unwrap_err().contains("without PTX"));
    }
}
