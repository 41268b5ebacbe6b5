//! Listings of `cuobjdump`: several modules in one text, each behind lines about the container it was in.

use super::source::Span;

/// What starts the entry of a module, and that of anything else in the container.
const PTX_ENTRY: &str = "Fatbin ptx code:";
const ENTRIES: [&str; 2] = ["Fatbin ", "member "];

/// Whether the text is a listing: an entry comes before any module.
pub fn is_listing(text: &str) -> bool {
    let mut lines = text.lines().take_while(|line| !starts_module(line));
    lines.any(|line| line.starts_with("Fatbin ") && line.trim_end().ends_with(" code:"))
}

/// Where the modules of a listing stand: whole lines, from `.version` to the next entry.
pub fn modules(text: &str) -> Vec<Span> {
    let mut found: Vec<Span> = Vec::new();
    let mut state = State::Elsewhere;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if ENTRIES.iter().any(|entry| line.starts_with(entry)) {
            let ptx = line.starts_with(PTX_ENTRY);
            state = if ptx { State::Head } else { State::Elsewhere };
        } else if state == State::Head && starts_module(line) {
            state = State::Module;
            found.push(Span::new(start, start));
        }
        start += line.len() as u32;
        if state == State::Module
            && let Some(module) = found.last_mut()
        {
            module.end = start;
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

    #[test]
    fn modules_end_at_the_next_entry() {
        let text = "\nFatbin elf code:\n===\narch = sm_80\n\nFatbin ptx code:\n===\n\n.version 8.0\n.target sm_80\n\n\
                    member b.o:\nFatbin ptx code:\r\n===\r\n.version 7.0\r\n.target sm_70\r\n";
        let found: Vec<_> = modules(text).iter().map(|span| span.of(text)).collect();
        assert_eq!(
            found,
            [".version 8.0\n.target sm_80\n\n", ".version 7.0\r\n.target sm_70\r\n"]
        );
    }

    #[test]
    fn other_texts_are_none() {
        assert!(!is_listing(".version 8.0\n// Fatbin ptx code:\n"));
        assert!(!is_listing("Fatbin\n"));
    }
}
