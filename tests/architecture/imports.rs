//! Reads the module paths that a Rust file refers to: a lexer just good enough for that.

/// A path that a file refers to, made absolute.
#[derive(Debug, PartialEq, Eq)]
pub struct Import {
    /// Line, from 1.
    pub line: usize,
    /// `crate::ptx::isa::Row`, or a path that starts with an external crate.
    pub path: String,
}

#[derive(Debug, PartialEq)]
enum Token {
    Word(String),
    Path,
    Punct(char),
}

/// Every path in `text` that starts with `crate`, `super` or `self`, or that a `use` names, or that starts with one of
/// `externals`. Paths in comments, strings and `#[cfg(test)]` modules do not count. `module` is the file's own path.
pub fn imports(text: &str, module: &str, externals: &[&str]) -> Vec<Import> {
    let tokens = tokens(text);
    let mut reader = Reader {
        tokens: &tokens,
        externals,
        stack: vec![module.split("::").map(str::to_owned).collect()],
        depths: Vec::new(),
        out: Vec::new(),
    };
    reader.read();
    reader.out
}

/// The module path of a file: `src/ptx/isa/form.rs` is `crate::ptx::isa::form`.
pub fn module_of(file: &str) -> String {
    let inner = file.trim_start_matches("src/").trim_end_matches(".rs");
    let inner = inner.strip_suffix("/mod").unwrap_or(inner);
    match inner {
        "lib" | "main" => "crate".into(),
        _ => format!("crate::{}", inner.replace('/', "::")),
    }
}

fn tokens(text: &str) -> Vec<(usize, Token)> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    let starts = |at: usize, what: &str| what.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c));
    while at < chars.len() {
        let begin = at;
        let c = chars[at];
        if starts(at, "//") {
            at = (at..chars.len()).find(|i| chars[*i] == '\n').unwrap_or(chars.len());
        } else if starts(at, "/*") {
            at = (at + 2..chars.len())
                .find(|i| starts(*i, "*/"))
                .map_or(chars.len(), |i| i + 2);
        } else if c == '"' {
            at = string_end(&chars, at);
        } else if c == 'r' && raw_string_end(&chars, at).is_some() {
            at = raw_string_end(&chars, at).unwrap();
        } else if c == '\'' {
            at = char_end(&chars, at);
        } else if c.is_alphabetic() || c == '_' {
            at = (at..chars.len())
                .find(|i| !chars[*i].is_alphanumeric() && chars[*i] != '_')
                .unwrap_or(chars.len());
            tokens.push((line, Token::Word(chars[begin..at].iter().collect())));
        } else if starts(at, "::") {
            at += 2;
            tokens.push((line, Token::Path));
        } else {
            at += 1;
            if !c.is_whitespace() {
                tokens.push((line, Token::Punct(c)));
            }
        }
        line += chars[begin..at].iter().filter(|c| **c == '\n').count();
    }
    tokens
}

fn string_end(chars: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

/// The end of `r"..."` or `r#"..."#`, where one starts here.
fn raw_string_end(chars: &[char], start: usize) -> Option<usize> {
    let hashes = chars[start + 1..].iter().take_while(|c| **c == '#').count();
    let open = start + 1 + hashes;
    if chars.get(open) != Some(&'"') {
        return None;
    }
    let closes =
        |at: &usize| chars[*at] == '"' && chars[at + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes;
    Some(
        (open + 1..chars.len())
            .find(closes)
            .map_or(chars.len(), |at| at + 1 + hashes),
    )
}

/// The end of a character literal; just past the quote of a lifetime.
fn char_end(chars: &[char], start: usize) -> usize {
    if chars.get(start + 1) == Some(&'\\') {
        // Behind the escaped character, which may be a quote itself.
        return (start + 3..chars.len())
            .find(|at| chars[*at] == '\'')
            .map_or(chars.len(), |at| at + 1);
    }
    if chars.get(start + 2) == Some(&'\'') {
        start + 3
    } else {
        start + 1
    }
}

struct Reader<'a> {
    tokens: &'a [(usize, Token)],
    externals: &'a [&'a str],
    /// The module each open `mod x {` is in, outermost first.
    stack: Vec<Vec<String>>,
    /// Brace depth at which each of the inner ones opened.
    depths: Vec<usize>,
    out: Vec<Import>,
}

impl Reader<'_> {
    fn word(&self, at: usize) -> Option<&str> {
        match self.tokens.get(at) {
            Some((_, Token::Word(word))) => Some(word),
            _ => None,
        }
    }

    fn is(&self, at: usize, token: &Token) -> bool {
        self.tokens.get(at).is_some_and(|(_, found)| found == token)
    }

    fn read(&mut self) {
        let (mut at, mut depth) = (0, 0usize);
        while at < self.tokens.len() {
            if self.is_test_module(at) {
                at = self.skip_block(at);
            } else if self.word(at) == Some("mod") && self.is(at + 2, &Token::Punct('{')) {
                let mut inner = self.stack.last().unwrap().clone();
                inner.push(self.word(at + 1).unwrap_or_default().to_owned());
                self.stack.push(inner);
                self.depths.push(depth);
                depth += 1;
                at += 3;
            } else if self.word(at) == Some("use") {
                at = self.tree(at + 1, &[]);
            } else if self.starts_path(at) {
                at = self.tree(at, &[]);
            } else {
                match self.tokens[at].1 {
                    Token::Punct('{') => depth += 1,
                    Token::Punct('}') => {
                        depth = depth.saturating_sub(1);
                        if self.depths.last() == Some(&depth) {
                            self.depths.pop();
                            self.stack.pop();
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
        }
    }

    /// Whether a path starts here that is worth reading. `pub(in crate::x)` names no import.
    fn starts_path(&self, at: usize) -> bool {
        let inside = at > 0 && (self.is(at - 1, &Token::Path) || self.word(at - 1) == Some("in"));
        match self.word(at) {
            Some("crate" | "super" | "self") => !inside && self.is(at + 1, &Token::Path),
            Some(word) if self.is(at + 1, &Token::Punct('!')) => self.externals.contains(&format!("{word}!").as_str()),
            Some(word) => !inside && self.externals.contains(&word) && self.is(at + 1, &Token::Path),
            None => false,
        }
    }

    /// `#[cfg(test)] mod`, attributes between aside.
    fn is_test_module(&self, at: usize) -> bool {
        let cfg = [
            Token::Punct('#'),
            Token::Punct('['),
            Token::Word("cfg".into()),
            Token::Punct('('),
            Token::Word("test".into()),
        ];
        cfg.iter().enumerate().all(|(i, token)| self.is(at + i, token))
            && (at + 7..at + 24)
                .map_while(|i| self.tokens.get(i))
                .take_while(|(_, t)| *t != Token::Punct(';'))
                .any(|(_, t)| *t == Token::Word("mod".into()))
            && self.word(at + 7) != Some("use")
    }

    /// Just past the next `{...}` or `;`, whichever comes first.
    fn skip_block(&self, mut at: usize) -> usize {
        let mut depth = 0usize;
        while let Some((_, token)) = self.tokens.get(at) {
            at += 1;
            match token {
                Token::Punct('{') => depth += 1,
                Token::Punct('}') if depth == 1 => break,
                Token::Punct('}') => depth = depth.saturating_sub(1),
                Token::Punct(';') if depth == 0 => break,
                _ => {}
            }
        }
        at
    }

    /// Reads a path or use tree from `at` and notes every leaf; returns where it ends.
    fn tree(&mut self, mut at: usize, prefix: &[String]) -> usize {
        let line = self.tokens.get(at).map_or(0, |(line, _)| *line);
        let mut path = prefix.to_vec();
        loop {
            match self.tokens.get(at).map(|(_, token)| token) {
                Some(Token::Path) => at += 1,
                Some(Token::Word(word)) if word == "as" => break,
                Some(Token::Word(word)) => {
                    let is_macro = path.is_empty() && self.is(at + 1, &Token::Punct('!'));
                    path.push(if is_macro { format!("{word}!") } else { word.clone() });
                    at += 1;
                    if !self.is(at, &Token::Path) {
                        break;
                    }
                }
                Some(Token::Punct('*')) => {
                    path.push("*".into());
                    at += 1;
                    break;
                }
                Some(Token::Punct('{')) => return self.group(at + 1, &path),
                _ => break,
            }
        }
        self.note(line, &path);
        at
    }

    fn group(&mut self, mut at: usize, prefix: &[String]) -> usize {
        while let Some((_, token)) = self.tokens.get(at) {
            match token {
                Token::Punct('}') => return at + 1,
                Token::Punct(',') => at += 1,
                // `as name` behind a leaf.
                Token::Word(word) if word == "as" => at += 2,
                Token::Word(_) | Token::Path | Token::Punct('{' | '*') => at = self.tree(at, prefix),
                Token::Punct(_) => at += 1,
            }
        }
        at
    }

    fn note(&mut self, line: usize, path: &[String]) {
        let mut absolute = Vec::new();
        let mut words = path.iter().peekable();
        match words.peek().map(|word| word.as_str()) {
            Some("self" | "super") => absolute = self.stack.last().unwrap().clone(),
            None => return,
            _ => {}
        }
        for word in words {
            match word.as_str() {
                "self" => {}
                "super" => drop(absolute.pop()),
                _ => absolute.push(word.clone()),
            }
        }
        let path = absolute.join("::");
        self.out.push(Import { line, path });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str, module: &str) -> Vec<String> {
        imports(text, module, &["std", "println!"])
            .into_iter()
            .map(|import| import.path)
            .collect()
    }

    #[test]
    fn modules_follow_files() {
        assert_eq!(module_of("src/ptx/isa/form.rs"), "crate::ptx::isa::form");
        assert_eq!(module_of("src/ptx/isa/mod.rs"), "crate::ptx::isa");
        assert_eq!(module_of("src/lib.rs"), "crate");
    }

    #[test]
    fn trees_are_spread_and_relative_paths_resolved() {
        let text =
            "use crate::ptx::{ir::{self, Inst as I, *}, isa};\nuse super::super::flow::Cfg;\npub use self::inner::X;";
        let found = [
            "crate::ptx::ir",
            "crate::ptx::ir::Inst",
            "crate::ptx::ir::*",
            "crate::ptx::isa",
            "crate::ptx::flow::Cfg",
        ];
        let mut expected: Vec<_> = found.iter().map(|path| path.to_string()).collect();
        expected.push("crate::ptx::lint::rules::inner::X".into());
        assert_eq!(paths(text, "crate::ptx::lint::rules"), expected);
    }

    #[test]
    fn paths_in_expressions_count_and_visibility_does_not() {
        let text = "pub(in crate::ptx) fn f() { super::verify::verify(); std::fs::read(); println!(); print::x(); }";
        assert_eq!(
            paths(text, "crate::ptx::lint"),
            ["crate::ptx::verify::verify", "std::fs::read", "println!"]
        );
    }

    #[test]
    fn inner_modules_have_their_own_super() {
        let text = "mod inner { use super::Code; fn f() { } }\nuse super::source::Span;";
        assert_eq!(
            paths(text, "crate::ptx::diag"),
            ["crate::ptx::diag::Code", "crate::ptx::source::Span"]
        );
    }

    #[test]
    fn comments_strings_and_tests_do_not_count() {
        let text = "// crate::a\n/* crate::b */ const A: &str = \"crate::c \\\" crate::d\";\nconst B: &str = r#\"\" crate::e\"#; \
                    const C: [char; 3] = ['\\'', '\"', '\\\\']; fn f<'a>() {}\n#[cfg(test)]\nmod tests { use crate::f; fn g() { {} } }\nuse crate::h;";
        assert_eq!(paths(text, "crate::x"), ["crate::h"]);
        assert_eq!(imports(text, "crate::x", &[])[0].line, 6);
    }
}
