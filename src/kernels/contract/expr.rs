//! Expressions of contracts: lengths, grids, tolerances, and what an elementwise kernel computes.

use std::fmt;

/// More text than this is no expression; it also bounds how deep one nests.
const LONGEST: usize = 1000;

/// A number, made of numbers and names.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    text: String,
    node: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Name(String),
    Negative(Box<Node>),
    Binary(char, Box<Node>, Box<Node>),
    Call(&'static Function, Vec<Node>),
}

/// A function of one or two numbers.
#[derive(Debug)]
struct Function {
    name: &'static str,
    arity: usize,
    apply: fn(f64, f64) -> f64,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

const FUNCTIONS: &[Function] = &[
    one("ceil", |x, _| x.ceil()),
    one("floor", |x, _| x.floor()),
    one("sqrt", |x, _| x.sqrt()),
    one("exp", |x, _| x.exp()),
    one("log", |x, _| x.ln()),
    one("abs", |x, _| x.abs()),
    one("tanh", |x, _| x.tanh()),
    one("sin", |x, _| x.sin()),
    one("cos", |x, _| x.cos()),
    one("sigmoid", |x, _| 1.0 / (1.0 + (-x).exp())),
    two("min", |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }),
    two("max", |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }),
    two("pow", f64::powf),
];

const fn one(name: &'static str, apply: fn(f64, f64) -> f64) -> Function {
    Function { name, arity: 1, apply }
}

const fn two(name: &'static str, apply: fn(f64, f64) -> f64) -> Function {
    Function { name, arity: 2, apply }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Expr {
    /// Reads an expression: `+ - * /`, brackets, numbers, names and functions.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("an expression has up to {LONGEST} characters"));
        }
        let mut reader = Reader { rest: text };
        let node = reader.sum()?;
        reader.skip();
        match reader.rest {
            "" => Ok(Self {
                text: text.trim().to_owned(),
                node,
            }),
            rest => Err(format!("`{rest}` is left over in the expression `{text}`")),
        }
    }

    /// The names in it, in order, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.node.names(&mut names);
        names
    }

    /// Its value. Names that `of` does not know are `None`.
    pub fn value(&self, of: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
        self.node.value(of)
    }
}

impl Node {
    fn names<'n>(&'n self, names: &mut Vec<&'n str>) {
        match self {
            Node::Number(_) => {}
            Node::Name(name) if names.contains(&name.as_str()) => {}
            Node::Name(name) => names.push(name),
            Node::Negative(a) => a.names(names),
            Node::Binary(_, a, b) => {
                a.names(names);
                b.names(names);
            }
            Node::Call(_, args) => args.iter().for_each(|arg| arg.names(names)),
        }
    }

    fn value(&self, of: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
        Some(match self {
            Node::Number(value) => *value,
            Node::Name(name) => of(name)?,
            Node::Negative(a) => -a.value(of)?,
            Node::Binary(op, a, b) => {
                let (a, b) = (a.value(of)?, b.value(of)?);
                match op {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    _ => a / b,
                }
            }
            Node::Call(function, args) => {
                let mut values = args.iter().map(|arg| arg.value(of));
                let first = values.next()??;
                (function.apply)(first, values.next().unwrap_or(Some(0.0))?)
            }
        })
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Takes one of these characters.
    fn take(&mut self, of: &str) -> Option<char> {
        self.skip();
        let c = self.rest.chars().next().filter(|c| of.contains(*c))?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    /// Takes characters as long as they fit.
    fn word(&mut self, fits: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !fits(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn sum(&mut self) -> Result<Node, String> {
        let mut left = self.product()?;
        while let Some(op) = self.take("+-") {
            left = Node::Binary(op, Box::new(left), Box::new(self.product()?));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Node, String> {
        let mut left = self.factor()?;
        while let Some(op) = self.take("*/") {
            left = Node::Binary(op, Box::new(left), Box::new(self.factor()?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Node, String> {
        if self.take("-").is_some() {
            return Ok(Node::Negative(Box::new(self.factor()?)));
        }
        if self.take("(").is_some() {
            let inner = self.sum()?;
            return self.closed(inner);
        }
        self.skip();
        match self.rest.chars().next() {
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.name(),
            Some(c) => Err(format!("`{c}` where a number or a name should stand")),
            None => Err("the expression ends where a number or a name should stand".into()),
        }
    }

    fn closed(&mut self, inner: Node) -> Result<Node, String> {
        match self.take(")") {
            Some(_) => Ok(inner),
            None => Err("a bracket is not closed".into()),
        }
    }

    fn number(&mut self) -> Result<Node, String> {
        let start = self.rest;
        self.word(|c| c.is_ascii_digit() || c == '.');
        if self.rest.starts_with(['e', 'E']) {
            self.rest = &self.rest[1..];
            if self.rest.starts_with(['+', '-']) {
                self.rest = &self.rest[1..];
            }
            self.word(|c| c.is_ascii_digit());
        }
        let text = &start[..start.len() - self.rest.len()];
        text.parse()
            .map(Node::Number)
            .map_err(|_| format!("`{text}` is no number"))
    }

    fn name(&mut self) -> Result<Node, String> {
        let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
        if self.take("(").is_none() {
            return Ok(Node::Name(name.to_owned()));
        }
        let Some(function) = FUNCTIONS.iter().find(|function| function.name == name) else {
            let names: Vec<_> = FUNCTIONS.iter().map(|function| function.name).collect();
            return Err(format!("there is no function `{name}`; there are {}", names.join(", ")));
        };
        let mut args = vec![self.sum()?];
        while self.take(",").is_some() {
            args.push(self.sum()?);
        }
        if args.len() != function.arity {
            return Err(format!("`{name}` takes {} numbers, not {}", function.arity, args.len()));
        }
        self.closed(Node::Call(function, args))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        let of = |name: &str| (name == "n").then_some(10.0);
        Expr::read(text).unwrap().value(&of).unwrap()
    }

    #[test]
    fn expressions_have_values() {
        assert_eq!(value("1 + 2 * 3 - 4 / 2"), 5.0);
        assert_eq!(value("-(n - 3) * 2"), -14.0);
        assert_eq!(value("ceil(n / 4)"), 3.0);
        assert_eq!(value("min(ceil(n/8), 1024)"), 2.0);
        assert_eq!(value("5e-6 * sqrt(n * n)"), 5e-5);
        assert_eq!(value("max(1, n)"), 10.0);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let error = |text: &str| Expr::read(text).unwrap_err();
        assert!(error("1 +").contains("ends"));
        assert!(error("(1").contains("not closed"));
        assert!(error("sine(1)").contains("sigmoid"));
        assert!(error("min(1)").contains("2 numbers"));
        assert!(error("1 2").contains("left over"));
        assert!(error("1.2.3").contains("no number"));
        assert!(error(&"(".repeat(5000)).contains("characters"));
        assert_eq!(Expr::read("m").unwrap().value(&|_| None), None);
        assert_eq!(Expr::read("a * x + a").unwrap().names(), ["a", "x"]);
    }
}
