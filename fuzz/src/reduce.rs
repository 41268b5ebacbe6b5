//! Cuts a failing text down.

use ptxgen::ptx::parse::tokens;

/// Tries that one text is worth.
const TRIES: usize = 4_000;

/// A part of the text that still fails, in which no run of tokens can be left out.
pub fn reduced(text: &str, fails: impl Fn(&str) -> bool) -> String {
    let mut text = text.to_owned();
    let mut tries = 0;
    let mut run = tokens(&text).len().max(1);
    while run > 0 && tries < TRIES {
        let mut at = 0;
        // Tokens are found anew each time: what is left may read as others.
        while tries < TRIES {
            let spans = tokens(&text);
            let Some(first) = spans.get(at) else { break };
            let last = spans[(at + run).min(spans.len()) - 1];
            let mut shorter = text.clone();
            shorter.replace_range(first.start as usize..last.end as usize, "");
            tries += 1;
            if fails(&shorter) {
                text = shorter;
            } else {
                at += run;
            }
        }
        run /= 2;
    }
    text
}
