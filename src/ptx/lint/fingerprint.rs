//! What a finding is known by when lines and numbers of registers have changed: code, kernel, and the statement's words.

use crate::ptx::diag::Diag;
use crate::ptx::parse::Parsed;
use crate::ptx::parse::lexer::{Kind, Lexer};
use crate::ptx::source::Span;
use rustc_hash::FxHashMap;
use std::fmt;

/// More tokens than this of a statement say nothing new.
const MOST_TOKENS: usize = 64;

/// What a finding is known by.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint {
    /// The function in which it lies.
    pub kernel: Option<String>,
    /// A hash of code, kernel and statement.
    pub hash: u64,
    /// Which one it is of those that are alike in all this, from 0.
    pub occurrence: u32,
}

/// The hash in hexadecimal and the occurrence: one word that no other finding of the file has.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}:{}", self.hash, self.occurrence)
    }
}

/// The fingerprint of each finding, in the same order.
pub fn fingerprints(parsed: &Parsed, text: &str, findings: &[Diag]) -> Vec<Fingerprint> {
    let mut seen: FxHashMap<u64, u32> = FxHashMap::default();
    findings
        .iter()
        .map(|diag| {
            let kernel = kernel_at(parsed, diag.span.start);
            let statement = statement(text, diag.span, statement_at(parsed, diag.span));
            let hash = hash([diag.code.id, kernel.unwrap_or(""), &statement]);
            let count = seen.entry(hash).or_default();
            let occurrence = *count;
            *count += 1;
            Fingerprint {
                kernel: kernel.map(str::to_owned),
                hash,
                occurrence,
            }
        })
        .collect()
}

/// The function around an offset.
fn function_at(parsed: &Parsed, offset: u32) -> Option<usize> {
    let spans = &parsed.spans.functions;
    let at = spans
        .partition_point(|function| function.whole.start <= offset)
        .checked_sub(1)?;
    (offset < spans[at].whole.end).then_some(at)
}

/// The name of the function around an offset.
fn kernel_at(parsed: &Parsed, offset: u32) -> Option<&str> {
    let function = parsed.module.functions.get(function_at(parsed, offset)?)?;
    Some(parsed.module.name(function.symbol))
}

/// The statement in which a span lies.
fn statement_at(parsed: &Parsed, span: Span) -> Option<Span> {
    let statements = &parsed.spans.functions[function_at(parsed, span.start)?].stmts;
    let at = statements
        .partition_point(|statement| statement.start <= span.start)
        .checked_sub(1)?;
    Some(statements[at]).filter(|statement| span.start < statement.end)
}

/// The words of a statement, the numbers in names of registers and labels left out: compilers number anew each time.
fn statement(text: &str, span: Span, whole: Option<Span>) -> String {
    let whole = whole.unwrap_or(span);
    let mut lexer = Lexer::starting_at(text, whole.start as usize);
    let mut words = String::new();
    for _ in 0..MOST_TOKENS {
        let token = lexer.next();
        if token.kind == Kind::End || token.span.start >= whole.end {
            break;
        }
        let word = token.span.of(text);
        words.push(' ');
        match token.kind {
            Kind::Word if word.starts_with(['%', '$']) => without_numbers(word, &mut words),
            _ => words.push_str(word),
        }
    }
    words
}

fn without_numbers(word: &str, out: &mut String) {
    let mut digits = false;
    for c in word.chars() {
        match (c.is_ascii_digit(), digits) {
            (true, true) => {}
            (true, false) => out.push('#'),
            (false, _) => out.push(c),
        }
        digits = c.is_ascii_digit();
    }
}

/// FNV-1a in 64 bits: the value must be the same in every release, so it is no hasher of a library.
fn hash(parts: [&str; 3]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in parts.iter().flat_map(|part| part.bytes().chain([0xff])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::lint::{Launch, lint};
    use crate::ptx::parse::parse;

    fn of(body: &str) -> Vec<(Option<String>, u64, u32)> {
        let text = format!(".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{{\n{body}\n}}\n");
        let parsed = parse(&text);
        let findings = lint(&parsed, &text, &Launch::default()).findings;
        let prints = fingerprints(&parsed, &text, &findings);
        prints
            .into_iter()
            .map(|print| (print.kernel, print.hash, print.occurrence))
            .collect()
    }

    #[test]
    fn lines_blanks_comments_and_numbers_do_not_matter() {
        let one = of("bra $L1;");
        assert_eq!(one.len(), 1);
        assert_eq!(one[0].0.as_deref(), Some("k"));
        assert_eq!(one, of("// more\n\n   bra /* x */  $L22 ;"));
        assert_ne!(one, of("bra.uni $L1;"));
    }

    #[test]
    fn equal_ones_are_counted() {
        let two = of("bra $L1; bra $L2;");
        assert_eq!((two[0].1, two[0].2), (two[1].1, 0));
        assert_eq!(two[1].2, 1);
    }

    #[test]
    fn findings_outside_of_functions_have_one_too() {
        let text = ".version 8.0\n.target sm_1234\n.address_size 64\n";
        let parsed = parse(text);
        let findings = lint(&parsed, text, &Launch::default()).findings;
        assert!(!findings.is_empty());
        assert!(
            fingerprints(&parsed, text, &findings)
                .iter()
                .all(|print| print.kernel.is_none())
        );
    }
}
