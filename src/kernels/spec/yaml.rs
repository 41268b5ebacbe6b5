//! YAML with the place of everything in it, and errors that show where they stand. Specs and the configuration are read so.

use crate::kernels::params::Value;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::NonFiniteFloatPolicy;
use std::error::Error;
use std::fmt;

pub use serde_yaml::{Location, Spanned};

/// What is wrong with a YAML text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// What is wrong.
    pub message: String,
    /// Line, from 1 on; 0 where there is no place to show.
    pub line: usize,
    /// Column in characters, from 1 on.
    pub column: usize,
    /// Characters to underline.
    pub len: usize,
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "{line}:{}: {}", self.column, self.message),
        }
    }
}

impl Error for YamlError {}

impl YamlError {
    /// An error at a place.
    pub fn new(message: impl Into<String>, at: Location) -> Self {
        Self {
            message: message.into(),
            line: at.line() as usize,
            column: at.column() as usize,
            len: at.span().len() as usize,
        }
    }

    /// The error with its place, the line it stands in and a mark below: `file` is what the text is called. Control
    /// characters are replaced: they could fool a terminal.
    pub fn render(&self, file: &str, text: &str) -> String {
        let visible = |c: char| {
            if c.is_control() && c != '\t' && c != '\n' {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        };
        self.raw(file, text).chars().map(visible).collect()
    }

    fn raw(&self, file: &str, text: &str) -> String {
        let Some(line) = self.line.checked_sub(1).and_then(|at| text.lines().nth(at)) else {
            return format!("{file}: error: {}", self.message);
        };
        // Tabs are kept, so that the mark stands below its place whatever their width.
        let before = line.chars().take(self.column.saturating_sub(1));
        let blank: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let rest = line.chars().count().saturating_sub(blank.chars().count());
        let mark = "^".repeat(self.len.min(rest).max(1));
        let number = self.line.to_string();
        let gutter = " ".repeat(number.len());
        format!(
            "{file}:{number}:{}: error: {}\n{gutter} |\n{number} | {line}\n{gutter} | {blank}{mark}",
            self.column, self.message
        )
    }
}

/// Reads a text; `what` names it in errors: `a spec`.
///
/// # Errors
/// If it is no YAML, repeats a key, or holds several documents.
pub fn read(text: &str, what: &str) -> Result<Spanned<Node>, YamlError> {
    // `.nan` becomes a word, and is out of range like any other.
    let options = serde_yaml::options! { non_finite_float_policy: NonFiniteFloatPolicy::AsString };
    serde_yaml::from_str_with_options(text, options).map_err(|error| unreadable(&error, what))
}

/// An error of the YAML parser, with its place if it has one.
fn unreadable(error: &serde_yaml::Error, what: &str) -> YamlError {
    let error = error.without_snippet();
    let at = error.location().unwrap_or(Location::UNKNOWN);
    let message = match error {
        serde_yaml::Error::DuplicateMappingKey { key: Some(key), .. } => format!("the key `{key}` stands here twice"),
        serde_yaml::Error::MultipleDocuments { .. } => format!("{what} is a single document"),
        error => {
            let text = error.to_string();
            // The place is shown in front; the parser repeats it behind its message.
            text.split(" at line ").next().unwrap_or(&text).to_owned()
        }
    };
    YamlError::new(message, at)
}

/// The characters of the text at a place.
pub fn source(text: &str, at: Location) -> Option<&str> {
    let start = usize::try_from(at.span().byte_offset()?).ok()?;
    let len = usize::try_from(at.span().byte_len()?).ok()?;
    text.get(start..start + len)
}

/// Whatever YAML has.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Nothing.
    Null,
    /// A number or a word.
    Scalar(Value),
    /// A list.
    List(Vec<Spanned<Node>>),
    /// A mapping, in textual order.
    Map(Vec<(Spanned<String>, Spanned<Node>)>),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Word(value.to_string())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Int(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(
            u64::try_from(value).map_or(Value::Float(value as f64), Value::Int),
        ))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Float(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Word(value.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Map(entries))
    }
}
