//! Makes the repairs that findings carry.

use crate::ptx::diag::{Applicability, Diag, Edit, Fix};

/// The text with every repair that is at most that unsafe, and how many were made. One that touches the place of another
/// waits for the next round: lint the new text again.
pub fn apply<'d>(text: &str, findings: impl IntoIterator<Item = &'d Diag>, most: Applicability) -> (String, usize) {
    let fixes = findings.into_iter().filter_map(|diag| diag.fix.as_ref());
    let mut fixes: Vec<&Fix> = fixes
        .filter(|fix| fix.applicability <= most && is_sound(text, fix))
        .collect();
    fixes.sort_by_key(|fix| fix.edits.first().map(|edit| (edit.span.start, edit.span.end)));
    let mut out = String::with_capacity(text.len());
    let (mut at, mut made) = (0, 0);
    for fix in fixes {
        // Two insertions at one place would come in an order that nobody chose.
        if made > 0 && start(fix) <= at {
            continue;
        }
        for Edit { span, text: new } in &fix.edits {
            out.push_str(&text[at..span.start as usize]);
            out.push_str(new);
            at = span.end as usize;
        }
        made += 1;
    }
    out.push_str(&text[at..]);
    (out, made)
}

fn start(fix: &Fix) -> usize {
    fix.edits.first().map_or(0, |edit| edit.span.start as usize)
}

/// Whether the edits are in order, apart, and on the boundaries of characters.
fn is_sound(text: &str, fix: &Fix) -> bool {
    let mut end = 0;
    let mut fits = |edit: &Edit| {
        let span = edit.span.start as usize..edit.span.end as usize;
        let in_order = end <= span.start;
        end = span.end;
        in_order && text.get(span).is_some()
    };
    !fix.edits.is_empty() && fix.edits.iter().all(&mut fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::diag::Code;
    use crate::ptx::source::Span;

    fn with(edits: &[(u32, u32, &str)]) -> Diag {
        let edit = |(start, end, text): &(u32, u32, &str)| Edit {
            span: Span::new(*start, *end),
            text: (*text).to_owned(),
        };
        let code = Code::new("TST001", "test-finding");
        Diag::warning(code, Span::default(), "m").safe_fix(edits.iter().map(edit).collect())
    }

    fn applied(text: &str, findings: &[Diag]) -> (String, usize) {
        apply(text, findings, Applicability::Safe)
    }

    #[test]
    fn repairs_are_made_in_textual_order() {
        let findings = [with(&[(4, 5, "E")]), with(&[(0, 1, ""), (2, 2, "x")])];
        assert_eq!(applied("abcde", &findings), ("bxcdE".to_owned(), 2));
    }

    #[test]
    fn of_two_at_one_place_the_second_waits() {
        assert_eq!(
            applied("abc", &[with(&[(0, 2, "x")]), with(&[(1, 3, "y")])]),
            ("xc".to_owned(), 1)
        );
        assert_eq!(
            applied("abc", &[with(&[(1, 1, "x")]), with(&[(1, 1, "x")])]),
            ("axbc".to_owned(), 1)
        );
        assert_eq!(
            applied("abc", &[with(&[(0, 0, "x")]), with(&[(2, 3, "")])]),
            ("xab".to_owned(), 2)
        );
    }

    #[test]
    fn unsafe_and_broken_ones_are_left_out() {
        let mut risky = with(&[(0, 1, "")]);
        risky.fix.as_mut().unwrap().applicability = Applicability::Unsafe;
        assert_eq!(applied("abc", &[risky.clone()]).1, 0);
        assert_eq!(apply("abc", &[risky], Applicability::Unsafe), ("bc".to_owned(), 1));
        for edits in [&[(0, 9, "")][..], &[(2, 1, "")], &[(1, 2, ""), (0, 1, "")], &[]] {
            assert_eq!(applied("abc", &[with(edits)]), ("abc".to_owned(), 0));
        }
        assert_eq!(applied("\u{fc}b", &[with(&[(1, 2, "")])]).1, 0);
    }
}
