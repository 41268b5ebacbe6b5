//! The formatter: a text in canonical layout, token by token.
//!
//! It moves blanks and nothing else. Every token keeps its spelling (`0xFF` stays hexadecimal), every comment its place among the
//! tokens, and sections of debug data are kept to the letter; so the meaning cannot change. The layout is that of
//! [`print`](crate::ptx::print).

use crate::ptx::diag::{Diag, codes};
use crate::ptx::listing::{is_listing, modules};
use crate::ptx::parse::lexer::Kind;
use crate::ptx::print::DEEPEST_INDENT;
use crate::ptx::source::Span;
use pieces::{Piece, pieces};

mod pieces;

/// The text in canonical layout. It may be a part of a module, or a listing of `cuobjdump`, whose lines between the modules stay.
///
/// Give it only texts in which [`parse`](crate::ptx::parse::parse) finds nothing but [harmless](is_harmless) errors: where statements
/// end is anybody's guess in others.
pub fn format(text: &str) -> String {
    if is_listing(text) {
        return listing(text);
    }
    module(text)
}

/// Whether an error says nothing about where statements end: a name that nothing defines.
pub fn is_harmless(diag: &Diag) -> bool {
    [codes::SYN006, codes::SYN007, codes::SYN008].contains(&diag.code)
}

/// Each module of a listing in canonical layout. What stands around them is no PTX and stays, line ends apart.
fn listing(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for span in modules(text) {
        around(Span::new(end, span.start).of(text), &mut out);
        out.push_str(&module(span.of(text)));
        end = span.end;
    }
    around(Span::new(end, text.len() as u32).of(text), &mut out);
    out.truncate(out.trim_end_matches('\n').len());
    out.push('\n');
    out
}

/// Lines between modules, set off by one empty line.
fn around(lines: &str, out: &mut String) {
    let lines = lines.replace('\r', "");
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(lines.trim_end_matches('\n'));
    out.push_str("\n\n");
}

fn module(text: &str) -> String {
    let out = String::with_capacity(text.len());
    let mut formatter = Formatter {
        text,
        pieces: pieces(text),
        at: 0,
        out,
        depth: 0,
    };
    while formatter.at < formatter.pieces.len() {
        formatter.next();
    }
    formatter.end_line();
    formatter.out
}

/// What a statement is, as far as its layout goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// Starts with a directive: `.reg .b32 %r<5>;`.
    Declaration,
    /// Guard, dotted opcode, operands.
    Instruction,
    /// Ends with its line: `.loc 1 2 3`.
    Line,
    /// Ends with its line, or where the next directive starts: `.version 8.0 .target sm_80`.
    Header,
}

struct Formatter<'t> {
    text: &'t str,
    pieces: Vec<Piece>,
    /// The piece to be written next.
    at: usize,
    out: String,
    /// Open scopes.
    depth: usize,
}

impl<'t> Formatter<'t> {
    fn peek(&self, ahead: usize) -> Option<Piece> {
        self.pieces.get(self.at + ahead).copied()
    }

    /// The text of a piece ahead; empty past the end.
    fn word(&self, ahead: usize) -> &'t str {
        self.peek(ahead).map_or("", |piece| piece.span.of(self.text))
    }

    fn end_line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// Starts a line at the depth of scopes; an empty one goes in front where the text has one, or `blank` asks for it.
    fn start_line(&mut self, blank: bool) {
        self.end_line();
        let wanted = blank || self.peek(0).is_some_and(|piece| piece.newlines > 1);
        if wanted && !self.out.is_empty() && !self.out.ends_with("{\n") && !self.word(0).starts_with('}') {
            self.out.push('\n');
        }
        self.indent(self.depth);
    }

    fn indent(&mut self, depth: usize) {
        self.out.extend(std::iter::repeat_n('\t', depth.min(DEEPEST_INDENT)));
    }

    /// Writes the piece at hand as it is.
    fn put(&mut self) {
        self.out.push_str(self.word(0));
        self.at += 1;
    }

    /// One comment or statement.
    fn next(&mut self) {
        let Some(piece) = self.peek(0) else { return };
        match piece.kind {
            None => self.comment(),
            Some(Kind::Punct(b'{')) => {
                self.start_line(false);
                self.put();
                self.depth += 1;
            }
            Some(Kind::Punct(b'}')) => {
                self.depth = self.depth.saturating_sub(1);
                self.start_line(false);
                self.put();
            }
            Some(Kind::Dot) => self.directive(),
            Some(Kind::Word) if self.peek(1).is_some_and(|next| next.is(b':')) => self.label(),
            Some(Kind::Text) => {
                self.start_line(false);
                self.put();
            }
            _ => self.statement(Style::Instruction),
        }
    }

    /// A comment stays behind what it stood behind, or on its own line.
    fn comment(&mut self) {
        match self.peek(0) {
            Some(piece) if piece.newlines == 0 && !self.out.is_empty() => {
                self.space();
                self.put();
                let next = self.peek(0);
                if next.is_some_and(|next| next.newlines > 0) {
                    self.end_line();
                }
            }
            _ => {
                self.start_line(false);
                self.put();
            }
        }
    }

    fn space(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with(['\n', '\t', ' ']) {
            self.out.push(' ');
        }
    }

    fn label(&mut self) {
        self.end_line();
        let blank = self.peek(0).is_some_and(|piece| piece.newlines > 1);
        if blank && !self.out.is_empty() && !self.out.ends_with("{\n") {
            self.out.push('\n');
        }
        self.put();
        self.put();
        if matches!(self.word(0), ".branchtargets" | ".calltargets" | ".callprototype") {
            self.out.push(' ');
            self.tokens(Style::Declaration);
        }
    }

    fn directive(&mut self) {
        match self.word(0) {
            ".section" => self.section(),
            ".version" | ".target" | ".address_size" => self.statement(Style::Header),
            ".loc" | ".file" => self.statement(Style::Line),
            _ if self.is_function() => self.function(),
            _ => self.statement(Style::Declaration),
        }
    }

    fn is_function(&self) -> bool {
        let linkage = |ahead: &usize| matches!(self.word(*ahead), ".visible" | ".extern" | ".weak" | ".common");
        let behind = (0..4).find(|ahead| !linkage(ahead)).unwrap_or(0);
        matches!(self.word(behind), ".entry" | ".func")
    }

    /// To the letter, up to the closing brace or, without braces, the line's end.
    fn section(&mut self) {
        self.start_line(false);
        let start = self.at;
        let mut end = start + 1;
        let mut braced = false;
        while let Some(piece) = self.pieces.get(end) {
            if !braced && piece.newlines > 0 && !piece.is(b'{') {
                break;
            }
            braced |= piece.is(b'{');
            end += 1;
            if braced && piece.is(b'}') {
                break;
            }
        }
        let span = self.pieces[start].span.to(self.pieces[end - 1].span);
        self.out.push_str(&span.of(self.text).replace('\r', ""));
        self.at = end;
    }

    fn statement(&mut self, style: Style) {
        self.start_line(false);
        self.tokens(style);
    }

    /// The tokens of one statement, from the one at hand to its end.
    fn tokens(&mut self, style: Style) {
        let first = self.at;
        // In an instruction, the last token of guard and opcode: behind it the operands start.
        let opcode = if style == Style::Instruction {
            self.opcode_end()
        } else {
            first
        };
        while let Some(piece) = self.peek(0) {
            if self.at > first && self.ends_line(style, piece) {
                return;
            }
            if piece.kind.is_none() {
                self.inner_comment();
                continue;
            }
            if self.at > first && self.spaced(style, opcode) {
                self.space();
            }
            self.put();
            if piece.is(b';') {
                return;
            }
        }
    }

    /// Whether a statement that ends with its line ends in front of a piece.
    fn ends_line(&self, style: Style, piece: Piece) -> bool {
        let continued = style == Style::Header && self.wants_more(piece);
        let ended = match (style, piece.kind) {
            (Style::Line | Style::Header, None) => piece.newlines > 0 || self.closes_line(),
            (Style::Header, Some(Kind::Dot)) => true,
            (Style::Line | Style::Header, _) => piece.newlines > 0 || piece.is(b'{') || piece.is(b'}'),
            _ => false,
        };
        ended && !continued
    }

    /// Whether a header directive goes on with a piece, whatever line that is on: at and behind a comma, and behind its keyword.
    fn wants_more(&self, piece: Piece) -> bool {
        if piece.is(b',') {
            return true;
        }
        let before = self.pieces[..self.at].iter().rev().find(|piece| piece.kind.is_some());
        before.is_some_and(|before| before.is(b',') || before.kind == Some(Kind::Dot) && piece.kind != Some(Kind::Dot))
    }

    /// Whether the comment at hand is the last thing on its line, or has a line's end in it.
    fn closes_line(&self) -> bool {
        let comment = self.word(0);
        comment.starts_with("//") || comment.contains('\n') || self.peek(1).is_none_or(|next| next.newlines > 0)
    }

    /// Index of the last piece of an instruction's dotted opcode.
    fn opcode_end(&self) -> usize {
        let mut at = self.at;
        let kind = |at: usize| self.pieces.get(at).and_then(|piece| piece.kind);
        if kind(at) == Some(Kind::Punct(b'@')) {
            at += 1 + usize::from(kind(at + 1) == Some(Kind::Punct(b'!'))) + 1;
        }
        while kind(at + 1) == Some(Kind::Dot) {
            at += 1;
        }
        at
    }

    fn previous(&self) -> Piece {
        self.pieces[self.at.saturating_sub(1)]
    }

    /// A comment within a statement: one that runs to its line's end ends the line here too.
    fn inner_comment(&mut self) {
        let runs_on = self.word(0).starts_with("//");
        self.space();
        self.put();
        if runs_on {
            self.end_line();
            self.indent(self.depth + 1);
        }
    }

    /// Whether a blank goes between the piece before and the one at hand, inside a statement.
    fn spaced(&self, style: Style, opcode: usize) -> bool {
        let (before, piece) = (self.previous(), self.pieces[self.at]);
        let glued = before.span.end == piece.span.start;
        let Some(kind) = piece.kind else { return true };
        let Some(last) = before.kind else { return true };
        if style == Style::Instruction && self.at <= opcode {
            // `@%p1 add.s32`: the blank is behind the guard.
            return kind == Kind::Word && last == Kind::Word;
        }
        if style == Style::Instruction && self.at == opcode + 1 {
            return kind != Kind::Punct(b';');
        }
        if style == Style::Line {
            return !glued;
        }
        match (last, kind) {
            (_, Kind::Punct(b',' | b';' | b')' | b']' | b'}' | b':')) => false,
            (Kind::Punct(b','), _) => true,
            (_, Kind::Punct(b'=')) | (Kind::Punct(b'='), _) => true,
            (Kind::Punct(b'%'), _) | (_, Kind::Punct(b'%')) => true,
            (Kind::Punct(b')'), Kind::Word | Kind::Dot | Kind::Punct(b'(')) => true,
            (Kind::Punct(_), _) => false,
            (Kind::Dot, Kind::Punct(b'(')) => style == Style::Declaration && !glued,
            (_, Kind::Punct(_)) => false,
            (Kind::Word, Kind::Dot) => style == Style::Declaration || !glued,
            _ => true,
        }
    }

    /// The head of a function: parameters, if several, and launch directives on lines of their own.
    fn function(&mut self) {
        let commented = self.at > 0 && self.previous().kind.is_none();
        self.start_line(!commented);
        let first = self.at;
        let mut named = false;
        let mut broken = false;
        let mut depth = 0usize;
        while let Some(piece) = self.peek(0) {
            match piece.kind {
                None => {
                    self.head_comment(depth);
                    continue;
                }
                Some(Kind::Punct(b'{')) if depth == 0 => return,
                Some(Kind::Punct(b'(')) => {
                    depth += 1;
                    broken = depth == 1 && self.has_several();
                    if self.at > first && self.spaced_open(named) {
                        self.space();
                    }
                    self.put();
                    self.break_list(broken && depth == 1);
                }
                Some(Kind::Punct(b')')) => {
                    if broken && depth == 1 {
                        self.end_line();
                    }
                    depth = depth.saturating_sub(1);
                    self.put();
                }
                Some(Kind::Punct(b',')) if depth == 1 && broken => {
                    self.put();
                    self.break_list(true);
                }
                Some(Kind::Punct(b';')) => return self.put(),
                Some(Kind::Dot) if depth == 0 && named => {
                    if self.opens_item() && self.starts_line() {
                        return;
                    }
                    self.end_line();
                    self.put();
                }
                Some(kind) => {
                    named |= kind == Kind::Word && depth == 0;
                    if self.at > first && !self.out.ends_with('\t') && self.spaced(Style::Declaration, 0) {
                        self.space();
                    }
                    self.put();
                }
            }
        }
    }

    /// `.func (` and `) name(`: a blank goes before a list unless it is the parameters'.
    fn spaced_open(&self, named: bool) -> bool {
        !named && self.previous().kind != Some(Kind::Punct(b'(')) && !self.word(0).is_empty() && {
            let before = self.previous();
            before.kind != Some(Kind::Dot) || before.span.of(self.text) == ".func"
        }
    }

    /// Whether the list that opens here has more than one entry.
    fn has_several(&self) -> bool {
        let mut depth = 0usize;
        for piece in &self.pieces[self.at..] {
            match piece.kind {
                Some(Kind::Punct(b'(')) => depth += 1,
                Some(Kind::Punct(b')')) if depth <= 1 => return false,
                Some(Kind::Punct(b')')) => depth -= 1,
                Some(Kind::Punct(b',')) if depth == 1 => return true,
                _ => {}
            }
        }
        false
    }

    /// Starts the next entry of a list on its own line, behind the comment that belongs to the one before.
    fn break_list(&mut self, broken: bool) {
        if !broken {
            return;
        }
        if self
            .peek(0)
            .is_some_and(|next| next.kind.is_none() && next.newlines == 0)
        {
            self.space();
            self.put();
        }
        self.end_line();
        self.indent(1);
    }

    /// A comment in a function's head.
    fn head_comment(&mut self, depth: usize) {
        let own_line = self.peek(0).is_some_and(|piece| piece.newlines > 0);
        if own_line && !self.out.ends_with('\t') {
            self.end_line();
            self.indent(depth);
        }
        self.space();
        let runs_on = self.word(0).starts_with("//");
        self.put();
        if runs_on || own_line {
            self.end_line();
            self.indent(if self.peek(0).is_some_and(|next| next.is(b')')) {
                0
            } else {
                depth
            });
        }
    }

    /// Whether a line ends between the token at hand and the one before.
    fn starts_line(&self) -> bool {
        let before = self.pieces[..self.at].iter().rfind(|piece| piece.kind.is_some());
        let between = before.zip(self.peek(0));
        between.is_none_or(|(before, here)| Span::new(before.span.end, here.span.start).of(self.text).contains('\n'))
    }

    /// Whether the directive at hand starts something new at module scope. Before PTX 2.2 a prototype had no semicolon.
    fn opens_item(&self) -> bool {
        let word = self.word(0);
        crate::ptx::parse::OPENERS.contains(&word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::parse::parse;

    fn check(text: &str, expected: &str) {
        let formatted = format(text);
        assert_eq!(formatted, expected);
        assert_eq!(format(&formatted), formatted, "not idempotent");
        assert!(parse(text).module == parse(&formatted).module, "another meaning");
    }

    #[test]
    fn debug_data_is_kept_to_the_letter() {
        check(
            ".version 1.4\n.target sm_13\n @@DWARF .4byte\t1,  2 \r\n.section .debug_str }\r\n{\r\n\t.b8  1 ,2 // \"\r\n }\n",
            ".version 1.4\n.target sm_13\n@@DWARF .4byte\t1,  2\n.section .debug_str }\n{\n\t.b8  1 ,2 // \"\n }\n",
        );
    }

    #[test]
    fn a_header_directive_may_run_over_lines() {
        check(
            ".version\n 8.0 .target // t\n sm_80\n,\n debug\n.address_size\n\n64\n.section .debug_str\n{\n.b8 1\n}\n.shared .b8 w[4];",
            ".version 8.0\n.target // t\n\tsm_80, debug\n.address_size 64\n.section .debug_str\n{\n.b8 1\n}\n.shared .b8 w[4];\n",
        );
    }

    #[test]
    fn a_modifier_called_section_is_none() {
        check(
            ".version 1.4\n.target sm_13\n.entry k(.param .u64.ptr.global.align 8 p) { red.section [p];\n{ .reg .b32 %r; }}",
            ".version 1.4\n.target sm_13\n\n.entry k(.param .u64 .ptr .global .align 8 p)\n{\n\tred.section [p];\n\t{\n\t\t.reg .b32 %r;\n\t}\n}\n",
        );
    }

    #[test]
    fn a_prototype_without_a_semicolon_ends_with_its_line() {
        check(
            ".version 1.4\n.target sm_13\n.func f /* a\n b */ .visible .entry k( )\n{ret;}",
            ".version 1.4\n.target sm_13\n\n.func f /* a\n b */\n.visible .entry k()\n{\n\tret;\n}\n",
        );
    }

    #[test]
    fn a_part_of_a_module_has_no_depth() {
        let text = "\n\nL1:add.s32 %r1,%r2 , 1;\n{ ret; }";
        let formatted = format(text);
        assert_eq!(formatted, "L1:\nadd.s32 %r1, %r2, 1;\n{\n\tret;\n}\n");
        assert_eq!(format(&formatted), formatted);
    }

    #[test]
    fn a_listing_keeps_the_lines_around_its_modules() {
        let text = "\nFatbin elf code:\r\n===\n\n\nFatbin ptx code:\n=== ==\n\n\n\n.version 8.0\n.target   sm_80\n\n\nmember b:\n\
                    Fatbin ptx code:\n===\n.version 8.0 .target sm_90\nFatbin elf code:\n===\n\n";
        let formatted = format(text);
        assert_eq!(
            formatted,
            "\nFatbin elf code:\n===\n\n\nFatbin ptx code:\n=== ==\n\n.version 8.0\n.target sm_80\n\nmember b:\n\
             Fatbin ptx code:\n===\n\n.version 8.0\n.target sm_90\n\nFatbin elf code:\n===\n"
        );
        assert_eq!(format(&formatted), formatted);
    }

    #[test]
    fn statements_get_lines_and_tokens_keep_their_spelling() {
        check(
            "\u{feff}.version 8.0 .target sm_90,debug\r\n.address_size   64 // bits\r\n\r\n\r\n.shared .align 4 .b8 s[ 16 ];.const .b32 c[2]={ 0x1F,- 1 };\n\
             .visible .entry k( .param .u64 a,  // first\n .param .u32 b )\n .maxntid 256,1 , 1 .minnctapersm 2{.reg.b32 %r< 5 >;  .reg .pred p;\n\
             L:   @ ! p   ld .global.v2 .u32 {%r1,%r2},[ %r3+ 4 ];/* in */ mov.u32 %r1,%tid.x; // out\n  // own\n\n\n{ bra L; }\n}\n.func (.reg .b32 r)f(.reg .b32 x){ret;}",
            ".version 8.0\n.target sm_90, debug\n.address_size 64 // bits\n\n.shared .align 4 .b8 s[16];\n.const .b32 c[2] = {0x1F, -1};\n\n\
             .visible .entry k(\n\t.param .u64 a, // first\n\t.param .u32 b\n)\n.maxntid 256, 1, 1\n.minnctapersm 2\n{\n\
             \t.reg .b32 %r<5>;\n\t.reg .pred p;\nL:\n\t@!p ld.global.v2.u32 {%r1, %r2}, [%r3+4]; /* in */\n\tmov.u32 %r1, %tid.x; // out\n\t// own\n\n\
             \t{\n\t\tbra L;\n\t}\n}\n\n.func (.reg .b32 r) f(.reg .b32 x)\n{\n\tret;\n}\n",
        );
    }
}
