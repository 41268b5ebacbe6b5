//! Legality: is every instruction one that the table knows, with operands that fit, on this target and version?

use super::diag::Diag;
use super::parse::Parsed;

/// Everything that is illegal in a parsed module, beyond what the parser has reported already.
pub fn verify(_parsed: &Parsed, _text: &str) -> Vec<Diag> {
    Vec::new()
}
