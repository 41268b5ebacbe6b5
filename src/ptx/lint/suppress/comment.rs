//! Reads one comment.

use crate::ptx::lint::select::Selector;
use crate::ptx::source::Span;

/// What a comment of ours starts with.
const MARK: &str = "ptxgen:";

/// A suppression as written.
#[derive(Debug)]
pub(super) struct Comment {
    /// The whole comment.
    pub(super) span: Span,
    /// `allow-file`.
    pub(super) whole_file: bool,
    /// What is allowed.
    pub(super) items: Vec<Item>,
    /// The text between the parentheses.
    pub(super) list: Span,
}

/// One word of the list.
#[derive(Debug)]
pub(super) struct Item {
    /// Where it stands.
    pub(super) span: Span,
    /// What it names.
    pub(super) selector: Selector,
}

/// What is wrong with a comment that is marked as ours.
#[derive(Debug)]
pub(super) struct Malformed {
    /// Where.
    pub(super) span: Span,
    /// What.
    pub(super) message: String,
    /// What would be right.
    pub(super) help: String,
}

/// Reads the comment at `span`; `None` if it is not marked as ours.
pub(super) fn read(text: &str, span: Span) -> Option<Result<Comment, Malformed>> {
    let whole = span.of(text);
    let inner = whole.get(2..)?;
    let inner = inner
        .strip_suffix("*/")
        .filter(|_| whole.starts_with("/*"))
        .unwrap_or(inner);
    let trimmed = inner.trim_start();
    let rest = trimmed.strip_prefix(MARK)?;
    let at = span.start + (2 + inner.len() - rest.len()) as u32;
    Some(read_rest(rest, at, span))
}

/// What follows the mark, which starts at the offset `at`.
fn read_rest(rest: &str, at: u32, span: Span) -> Result<Comment, Malformed> {
    let wrong = |message: String| Malformed {
        span,
        message,
        help: "write `// ptxgen: allow(CODE, ...) reason`, or `allow-file` for the whole file".to_owned(),
    };
    let word = rest.trim_start();
    let at = at + (rest.len() - word.len()) as u32;
    let end = word
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .unwrap_or(word.len());
    let (verb, behind) = word.split_at(end);
    let whole_file = match verb {
        "allow" => false,
        "allow-file" => true,
        "" => return Err(wrong("this comment says nothing to the linter".to_owned())),
        other => {
            return Err(wrong(format!(
                "`{other}` is nothing that a comment can say to the linter"
            )));
        }
    };
    let open = behind.len() - behind.trim_start().len();
    let close = behind.find(')').filter(|_| behind[open..].starts_with('('));
    let Some(close) = close else {
        return Err(wrong(format!("`{verb}` needs its codes in parentheses")));
    };
    let start = at + (end + open + 1) as u32;
    let list = &behind[open + 1..close];
    Ok(Comment {
        span,
        whole_file,
        items: items(list, start).map_err(|item| item.unwrap_or_else(|| wrong(format!("`{verb}` names no code"))))?,
        list: Span::new(start, start + list.len() as u32),
    })
}

/// The words of a list that starts at an offset. The error is `None` where there is no word.
fn items(list: &str, start: u32) -> Result<Vec<Item>, Option<Malformed>> {
    let mut items = Vec::new();
    let mut at = start;
    for part in list.split(',') {
        let word = part.trim();
        let blanks = part.len() - part.trim_start().len();
        let begin = at + blanks as u32;
        at += part.len() as u32 + 1;
        if word.is_empty() {
            return Err(None);
        }
        let span = Span::new(begin, begin + word.len() as u32);
        let selector: Selector = word.parse().map_err(|unknown: crate::ptx::lint::UnknownSelector| {
            Some(Malformed {
                span,
                message: format!("`{word}` is no code, name or group of rules"),
                help: match unknown.nearest {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "`ptxgen explain` lists them".to_owned(),
                },
            })
        })?;
        items.push(Item { span, selector });
    }
    Ok(items)
}

/// The comment with the blanks that would be left over without it: its line, where it stands alone.
pub(super) fn with_blanks(text: &str, comment: Span) -> Span {
    let (before, behind) = (
        text.get(..comment.start as usize).unwrap_or(""),
        text.get(comment.end as usize..).unwrap_or(""),
    );
    let is_blank = |c: char| c == ' ' || c == '\t';
    let start = before.trim_end_matches(is_blank).len();
    let blanks = behind.len() - behind.trim_start_matches([' ', '\t', '\r']).len();
    let alone = start == 0 || before[..start].ends_with('\n');
    let ends_line = behind[blanks..].starts_with('\n') || blanks == behind.len();
    match (alone, ends_line) {
        (true, true) => {
            let newline = usize::from(blanks < behind.len());
            Span::new(start as u32, comment.end + (blanks + newline) as u32)
        }
        (false, true) => Span::new(start as u32, comment.end),
        _ => comment,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Option<Result<(bool, Vec<&str>), String>> {
        let read = read(text, Span::new(0, text.len() as u32))?;
        Some(
            read.map(|comment| {
                let words = comment.items.iter().map(|item| item.span.of(text));
                (comment.whole_file, words.collect())
            })
            .map_err(|wrong| format!("{} | {}", wrong.span.of(text), wrong.message)),
        )
    }

    #[test]
    fn lists_are_read_in_both_kinds_of_comment() {
        for text in [
            "// ptxgen: allow(BAR001, false-uni) because",
            "//ptxgen:allow( BAR001,false-uni )",
            "/* ptxgen: allow (BAR001 , false-uni): why */",
        ] {
            assert_eq!(parts(text), Some(Ok((false, vec!["BAR001", "false-uni"]))), "{text}");
        }
        assert_eq!(parts("// ptxgen: allow-file(BAR)"), Some(Ok((true, vec!["BAR"]))));
    }

    #[test]
    fn other_comments_are_nobodys_business() {
        for text in [
            "// allow(BAR001)",
            "/**/",
            "//",
            "// see ptxgen: allow(BAR001)",
            "// \u{fc}",
        ] {
            assert_eq!(parts(text), None, "{text}");
        }
    }

    #[test]
    fn mistakes_are_told() {
        let wrong = |text| parts(text).unwrap().unwrap_err();
        assert_eq!(
            wrong("// ptxgen: allow(BAR999)"),
            "BAR999 | `BAR999` is no code, name or group of rules"
        );
        assert!(wrong("// ptxgen: allow BAR001").contains("in parentheses"));
        assert!(wrong("// ptxgen: allow(BAR001").contains("in parentheses"));
        assert!(wrong("// ptxgen: allow()").contains("names no code"));
        assert!(wrong("// ptxgen: allow(BAR001,)").contains("names no code"));
        assert!(wrong("// ptxgen: disable(BAR001)").contains("`disable`"));
        assert!(wrong("// ptxgen:").contains("says nothing"));
    }

    #[test]
    fn a_comment_goes_with_its_blanks() {
        let gone = |text: &str| {
            let start = text.find("//").unwrap();
            let end = text[start..].find(['\r', '\n']).map_or(text.len(), |at| start + at);
            let span = with_blanks(text, Span::new(start as u32, end as u32));
            text[..span.start as usize].to_owned() + &text[span.end as usize..]
        };
        assert_eq!(gone("a;\n  // x\nb;\n"), "a;\nb;\n");
        assert_eq!(gone("a; // x\r\nb;\n"), "a;\r\nb;\n");
        assert_eq!(gone("// x"), "");
        assert_eq!(gone("a;\r\n\t// x\r\nb;"), "a;\r\nb;");
    }
}
