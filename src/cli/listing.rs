//! Listings of `cuobjdump`: several modules in one text, each behind lines about the container it was in.

use crate::ptx::source::Source;

/// What starts the entry of a module, and that of anything else in the container.
const PTX_ENTRY: &str = "Fatbin ptx code:";
const ENTRIES: [&str; 2] = ["Fatbin ", "member "];

/// Whether the text is a listing: an entry comes before any module.
pub fn is_listing(text: &str) -> bool {
    let mut lines = text.lines().take_while(|line| !starts_module(line));
    lines.any(|line| line.starts_with("Fatbin ") && line.trim_end().ends_with(" code:"))
}

/// The modules of a listing, each a source of its own in which lines are counted from the start of the listing.
/// Any other text is returned as it is.
///
/// # Errors
/// What to do about a listing without PTX.
pub fn split(source: Source) -> Result<Vec<Source>, String> {
    if !is_listing(source.text()) {
        return Ok(vec![source]);
    }
    let modules = modules(source.text());
    if modules.is_empty() {
        return Err(
            "is a listing of `cuobjdump` without PTX in it; build the program with `-gencode \
                    arch=compute_80,code=compute_80`, and list it with `cuobjdump -ptx`"
                .into(),
        );
    }
    let part = |(line, text): (usize, String)| Source::new(source.name(), "\n".repeat(line) + &text).ok();
    Ok(modules.into_iter().filter_map(part).collect())
}

/// How many modules a listing holds.
pub fn count(text: &str) -> usize {
    modules(text).len()
}

/// Each module's text with the number of lines before it.
fn modules(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut state = State::Elsewhere;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        if ENTRIES.iter().any(|entry| line.starts_with(entry)) {
            let ptx = line.starts_with(PTX_ENTRY);
            state = if ptx { State::Head } else { State::Elsewhere };
        } else if state == State::Head && starts_module(line) {
            state = State::Module;
            found.push((at, String::new()));
        }
        if state == State::Module
            && let Some((_, module)) = found.last_mut()
        {
            module.push_str(line);
        }
    }
    found
}

/// Where in a listing a line stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// In an entry that holds no PTX.
    Elsewhere,
    /// In the lines about the container of a module.
    Head,
    /// In a module.
    Module,
}

fn starts_module(line: &str) -> bool {
    line.trim_start().starts_with(".version")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "\nFatbin elf code:\n===\narch = sm_80\n\nFatbin ptx code:\n===\narch = sm_80\n\n\n.version 8.0\n\
                           .target sm_80\n\nmember b.o:\nFatbin ptx code:\r\n===\r\n.version 7.0\r\n.target sm_70\r\n";

    #[test]
    fn modules_keep_their_lines() {
        let source = Source::new("a.ptx", LISTING).unwrap();
        let parts = split(source).unwrap();
        let lines: Vec<_> = parts
            .iter()
            .map(|part| (1..30).find(|line| part.line(*line).starts_with(".version")))
            .collect();
        assert_eq!(lines, [Some(11), Some(17)]);
        assert_eq!(parts[0].line(14), "");
        assert_eq!(parts[1].line(18), ".target sm_70");
        assert_eq!(count(LISTING), 2);
    }

    #[test]
    fn a_listing_without_ptx_is_told() {
        let source = Source::new("a.ptx", "Fatbin elf code:\n===\narch = sm_80\n").unwrap();
        assert!(split(source).unwrap_err().contains("without PTX"));
    }

    #[test]
    fn other_texts_are_whole() {
        let text = ".version 8.0\n// Fatbin ptx code:\n";
        assert!(!is_listing(text));
        assert_eq!(split(Source::new("a.ptx", text).unwrap()).unwrap()[0].text(), text);
    }
}
