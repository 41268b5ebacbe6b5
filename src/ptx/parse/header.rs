//! The module: header directives and what stands at module scope.

use super::lexer::Kind;
use super::{Parsed, Parser};
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{FuncId, Item};
use crate::ptx::listing::is_listing;
use crate::ptx::source::Span;

impl<'t> Parser<'t> {
    /// The whole text. `see` is shown each function, with what has been read so far.
    pub(super) fn module(&mut self, mut see: impl FnMut(&mut Parsed, FuncId)) {
        self.names.open();
        self.skip_listing();
        let first = self.token.span;
        while self.token.kind != Kind::End {
            self.depth = 0;
            let start = self.token.span.start;
            let next = self.out.module.functions.len();
            if self.missing.is_some() && self.is_bare() {
                self.bare();
            } else {
                self.item();
            }
            let span = self.since(start);
            self.out.spans.items.resize(self.out.module.items.len(), span);
            if next < self.out.module.functions.len() {
                see(&mut self.out, FuncId(next as u32));
            }
        }
        self.supply_header();
        self.check_header(first);
        self.names.close();
    }

    /// `cuobjdump -ptx` puts lines about the container in front of the text: they are no part of it.
    fn skip_listing(&mut self) {
        if !matches!(self.here(), "Fatbin" | "member") || !is_listing(self.text) {
            return;
        }
        while self.token.kind != Kind::End && (self.here() != ".version" || !self.starts_line()) {
            self.bump();
        }
    }

    fn check_header(&mut self, first: Span) {
        if self.is_header_broken {
            return;
        }
        let header = &self.out.module.header;
        let (version, target) = (header.version.is_some(), !header.target.is_empty());
        if !version {
            let message = "the module does not start with `.version`";
            let help = "start the file with `.version 8.0`, or the version of your toolkit, then `.target sm_80`; \
                        for a part of a module, say `--target sm_80`";
            self.report(Diag::error(codes::SYN003, first, message).help(help));
        } else if !target {
            let message = "the module has no `.target`";
            let help = "write `.target sm_80`, or the GPU you compile for, behind `.version`";
            self.report(Diag::error(codes::SYN003, first, message).help(help));
        }
    }

    /// One directive, variable or function.
    fn item(&mut self) {
        let start = self.token.span.start;
        match self.token.kind {
            Kind::Dot => match self.here() {
                ".version" => self.version(),
                ".target" => self.target(),
                ".address_size" => self.address_size(),
                ".file" => {
                    let text = self.file();
                    self.out.module.items.push(Item::File(text));
                }
                ".section" => self.section(),
                ".pragma" => {
                    if let Some(text) = self.pragma() {
                        self.out.module.items.push(Item::Pragma(text));
                    }
                }
                ".alias" => self.alias(),
                _ => self.declaration(),
            },
            Kind::Punct(b';') => {
                self.unexpected("a directive in front of `;`");
                self.bump();
            }
            Kind::Punct(b'@') if self.slice(Span::new(start, start + 8)) == "@@DWARF " => self.old_debug_line(),
            _ => {
                self.unexpected("a directive such as `.visible`, `.entry`, `.func` or `.global`");
                self.skip_item();
            }
        }
    }

    fn version(&mut self) {
        let start = self.bump().span.start;
        let span = self.token.span;
        if self.token.kind != Kind::Number {
            return self.bad_header("a version such as `8.0` behind `.version`");
        }
        self.bump();
        let text = self.slice(span);
        if self.out.module.header.version.is_some() {
            return self.error(codes::SYN003, self.since(start), "`.version` is stated twice");
        }
        if !self.out.module.items.is_empty() || !self.out.module.header.target.is_empty() {
            self.error(
                codes::SYN003,
                self.since(start),
                "`.version` must be the first directive",
            );
        }
        self.out.module.header.version = Some(text.into());
        self.out.spans.header.version = Some(self.since(start));
    }

    fn target(&mut self) {
        let start = self.bump().span.start;
        let header = &self.out.module.header;
        let again = header.address_size.is_some() && !header.target.is_empty();
        if !self.out.module.items.is_empty() || again {
            let message = "`.target` stands behind `.version`, in front of everything else";
            self.error(codes::SYN003, Span::new(start, self.end), message);
        }
        loop {
            if self.token.kind != Kind::Word {
                return self.bad_header("a target such as `sm_80` behind `.target`");
            }
            let word = self.here();
            self.bump();
            self.out.module.header.target.push(word.into());
            if !self.eat(b',') {
                break;
            }
        }
        self.out.spans.header.target.get_or_insert(Span::new(start, start));
        self.out.spans.header.target = Some(self.since(start));
    }

    fn address_size(&mut self) {
        let start = self.bump().span.start;
        let size = self.integer("32 or 64 behind `.address_size`");
        if self.out.module.header.target.is_empty() && self.missing.is_none() {
            self.error(
                codes::SYN003,
                self.since(start),
                "`.address_size` stands behind `.target`",
            );
        }
        let span = self.since(start);
        if !matches!(size, Some(32 | 64)) && size.is_some() {
            self.error(codes::SYN003, span, "`.address_size` is 32 or 64");
        }
        if self.out.module.header.address_size.is_some() {
            self.error(codes::SYN003, span, "`.address_size` is stated twice");
        }
        self.out.module.header.address_size = size.and_then(|size| u32::try_from(size).ok());
        self.out.spans.header.address_size = Some(span);
    }

    fn bad_header(&mut self, wanted: &str) {
        self.is_header_broken = true;
        self.unexpected(wanted);
        if !self.starts_line() {
            self.skip_statement();
        }
    }

    /// `.section NAME { ... }`: kept to the letter.
    fn section(&mut self) {
        let start = self.bump().span.start;
        while !matches!(self.token.kind, Kind::End | Kind::Punct(b'{')) && !self.starts_line_but_brace() {
            self.bump();
        }
        if self.token.is(b'{') {
            // The lexer stands behind the brace: what follows is data, read as text up to the closing one.
            let open = self.token.span;
            let data = self.lexer.verbatim(&['}']);
            self.debug_section(data);
            self.token = self.lexer.next();
            if !self.eat(b'}') {
                self.error(codes::SYN002, open, "this section never ends");
            }
        }
        let text = self.slice(self.since(start)).replace('\r', "");
        self.out.module.items.push(Item::Section(text.into()));
    }

    /// The brace of a section may stand on the next line; anything else there ends it.
    fn starts_line_but_brace(&self) -> bool {
        self.starts_line() && !self.token.is(b'{')
    }

    /// `@@DWARF ...`: debug data as compilers wrote it before PTX 2.0, one directive a line.
    fn old_debug_line(&mut self) {
        let start = self.token.span.start;
        let line = self.lexer.verbatim(&['\n']);
        self.end = line.end;
        self.token = self.lexer.next();
        let text = self.slice(Span::new(start, line.end)).trim_end();
        self.out.module.items.push(Item::Raw(text.into()));
    }

    /// `.pragma "a", "b";` gives `a", "b`: the strings without the outer quotes.
    pub(super) fn pragma(&mut self) -> Option<Box<str>> {
        self.bump();
        let start = self.token.span.start;
        loop {
            if self.token.kind != Kind::Text {
                self.unexpected("a string behind `.pragma`");
                self.skip_statement();
                return None;
            }
            self.bump();
            if !self.eat(b',') {
                break;
            }
        }
        let text = self.text_since(start, " ");
        self.expect(b';', "behind `.pragma`");
        let inner = text.strip_prefix('"').unwrap_or(&text);
        Some(inner.strip_suffix('"').unwrap_or(inner).into())
    }

    /// `.alias name, aliasee;`
    fn alias(&mut self) {
        let start = self.bump().span.start;
        let mut ends = Vec::new();
        while self.token.kind == Kind::Word {
            let name = self.bump();
            ends.push(self.symbol_reference(name.span));
            self.eat(b',');
        }
        match ends[..] {
            [name, aliasee] => self.out.module.items.push(Item::Alias(name, aliasee)),
            _ => self.error(codes::SYN001, self.since(start), "`.alias` takes two function names"),
        }
        if !self.expect(b';', "behind `.alias`") {
            self.skip_statement();
        }
    }
}
