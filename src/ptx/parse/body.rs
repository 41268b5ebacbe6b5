//! Function bodies: statements.

use super::Parser;
use super::labels::{self, Labels, Place, Reference};
use super::lexer::Kind;
use super::names::Binding;
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{Body, Guard, Inst, InstId, Label, LabelId, Linkage, Opcode, Stmt, SymbolKind, Table, TableKind};
use crate::ptx::source::Span;
use crate::ptx::types::Space;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;

/// A body while it is read.
pub(super) struct BodyState<'t> {
    pub body: Body,
    pub stmt_spans: Vec<Span>,
    pub inst_spans: Vec<Span>,
    pub label_spans: Vec<Span>,
    pub labels: Labels<'t>,
    /// The opening braces that are still open.
    pub open: Vec<Span>,
}

impl BodyState<'_> {
    /// A body with room for so many statements.
    pub fn new(opening: Span, room: usize) -> Self {
        let mut body = Body::default();
        body.stmts.reserve(room);
        body.insts.reserve(room);
        body.regs.reserve(room);
        Self {
            body,
            stmt_spans: Vec::with_capacity(room),
            inst_spans: Vec::with_capacity(room),
            label_spans: Vec::new(),
            labels: Labels::new(),
            open: vec![opening],
        }
    }

    /// Gives back the room that was not needed.
    pub fn shrink(&mut self) {
        self.body.stmts.shrink_to_fit();
        self.body.insts.shrink_to_fit();
        self.body.regs.shrink_to_fit();
        self.stmt_spans.shrink_to_fit();
        self.inst_spans.shrink_to_fit();
    }

    fn push(&mut self, stmt: Stmt, span: Span) {
        self.body.stmts.push(stmt);
        self.stmt_spans.push(span);
    }

    /// Enters the newest instruction, which lies at `span`; with its semicolon, the statement ends at `end`.
    pub fn finish_inst(&mut self, span: Span, end: u32) {
        let id = InstId(self.body.insts.len() as u32 - 1);
        self.inst_spans.push(span);
        self.push(Stmt::Inst(id), Span::new(span.start, end));
    }

    /// A new entry of the label table.
    fn label(&mut self, name: &str, span: Span, at: Option<InstId>) -> LabelId {
        let id = LabelId(self.body.labels.len() as u32);
        self.body.labels.push(Label { name: name.into(), at });
        self.label_spans.push(span);
        id
    }
}

impl<'t> Parser<'t> {
    /// From the opening brace to the closing one.
    pub(super) fn body(&mut self, state: &mut BodyState<'t>) {
        self.bump();
        self.names.open();
        while !state.open.is_empty() {
            self.depth = 0;
            if self.token.kind == Kind::End {
                self.missing_brace(state.open[0]);
                break;
            }
            self.statement(state);
        }
        while !state.open.is_empty() {
            self.close_scope(state);
        }
    }

    /// The file ends inside a function. A comment that never ends is reported by itself.
    fn missing_brace(&mut self, opening: Span) {
        if self.lexer.unterminated.is_empty() {
            let message = "the file ends inside a function: a `}` is missing";
            let diag = Diag::error(codes::SYN002, self.token.span, message);
            self.report(diag.related(opening, "the body starts here"));
        }
    }

    pub(super) fn statement(&mut self, state: &mut BodyState<'t>) {
        let start = self.token.span.start;
        match self.token.kind {
            Kind::Punct(b'{') => {
                state.open.push(self.bump().span);
                state.labels.open();
                self.names.open();
                state.push(Stmt::Open, self.since(start));
            }
            Kind::Punct(b'}') => {
                self.bump();
                if state.open.len() > 1 {
                    state.push(Stmt::Close, self.since(start));
                }
                self.close_scope(state);
            }
            Kind::Punct(b';') => {
                self.unexpected("a statement in front of `;`");
                self.bump();
            }
            Kind::Dot => self.directive(state),
            Kind::Word if self.lexer.before_colon() => self.label(state),
            Kind::Word | Kind::Punct(b'@') => {
                if !self.plain_instructions(state) {
                    self.instruction(state);
                }
            }
            _ => {
                self.unexpected("an instruction, a label or a directive");
                self.skip_broken(state);
            }
        }
    }

    /// Passes the rest of a statement that could not be read. It stays in the body as text, so that it is not lost,
    /// unless it is too little to be passed at all.
    fn skip_broken(&mut self, state: &mut BodyState<'t>) {
        let before = self.token.span.start;
        let span = self.skip_statement();
        if self.token.span.start == before && !matches!(self.token.kind, Kind::End | Kind::Punct(b'{' | b'}')) {
            self.bump();
        }
        let text = self.slice(span);
        if !text.is_empty() {
            state.push(Stmt::Raw(text.into()), span);
        }
    }

    pub(super) fn close_scope(&mut self, state: &mut BodyState<'t>) {
        state.open.pop();
        self.names.close();
        let lost = state.labels.close(&mut state.body);
        self.undefined_labels(state, &lost);
    }

    /// Reports labels that are nowhere, once each, and gives them ids all the same.
    fn undefined_labels(&mut self, state: &mut BodyState<'t>, lost: &[Reference<'t>]) {
        let mut told: Vec<(&str, LabelId)> = Vec::new();
        for reference in lost {
            let known = told.iter().find(|(name, _)| *name == reference.name);
            let id = match known {
                Some((_, id)) => *id,
                None => {
                    let message = format!("`{}` is no label of this function", reference.name);
                    self.error(codes::SYN007, reference.span, message);
                    let id = state.label(reference.name, reference.span, None);
                    told.push((reference.name, id));
                    id
                }
            };
            labels::settle(&mut state.body, reference.place, id);
        }
    }

    fn directive(&mut self, state: &mut BodyState<'t>) {
        let start = self.token.span.start;
        let name = self.here();
        match name {
            ".reg" => {
                if let Some(line) = self.registers() {
                    state.push(Stmt::Regs(Box::new(line)), self.since(start));
                }
            }
            ".loc" => {
                let text = self.location();
                state.push(Stmt::Loc(text), self.since(start));
            }
            ".pragma" => {
                if let Some(text) = self.pragma() {
                    state.push(Stmt::Pragma(text), self.since(start));
                }
            }
            ".file" => {
                let message = "`.file` stands at module scope, not in a function";
                self.error(codes::SYN001, self.token.span, message);
                let text = self.file();
                state.push(Stmt::Raw(format!(".file {text}").into()), self.since(start));
            }
            ".branchtargets" | ".calltargets" | ".callprototype" => {
                self.error(
                    codes::SYN001,
                    self.token.span,
                    format!("`{name}` needs a label in front of it"),
                );
                self.skip_broken(state);
            }
            _ => self.local_variable(state),
        }
    }

    fn local_variable(&mut self, state: &mut BodyState<'t>) {
        let start = self.token.span.start;
        let linkage = self.linkage();
        let attribute = self.early_attribute();
        let space = if self.token.kind == Kind::Dot {
            Space::of_declaration(&self.here()[1..])
        } else {
            None
        };
        match space {
            Some(space) => {
                for symbol in self.variables(space, linkage, attribute) {
                    let span = self.since(start);
                    state.push(Stmt::Variable(symbol), span);
                }
            }
            None => {
                let name = self.here();
                if linkage == Linkage::None {
                    self.error(
                        codes::SYN005,
                        self.token.span,
                        format!("`{name}` is no directive of PTX"),
                    );
                } else {
                    self.unexpected("a state space such as `.shared`");
                }
                self.skip_broken(state);
            }
        }
    }

    /// `name:`, and the table behind it where there is one.
    fn label(&mut self, state: &mut BodyState<'t>) {
        let token = self.bump();
        self.bump();
        let name = self.slice(token.span);
        self.reject_reserved(name, token.span, "a label");
        let table =
            self.token.kind == Kind::Dot && matches!(self.here(), ".branchtargets" | ".calltargets" | ".callprototype");
        let next = InstId(state.body.insts.len() as u32);
        let id = self.define_label(state, name, token.span, (!table).then_some(next));
        if table {
            self.table(state, id, token.span.start);
        } else {
            state.push(Stmt::Label(id), token.span);
        }
    }

    fn define_label(&mut self, state: &mut BodyState<'t>, name: &'t str, span: Span, at: Option<InstId>) -> LabelId {
        let id = state.label(name, span, at);
        if let Err(old) = self.names.label(name) {
            self.twice(name, span, Some(old));
        }
        if let Some(old) = state.labels.define(name, id) {
            let first = state.label_spans[old.index()];
            let message = format!("the label `{name}` is defined twice in this scope");
            self.report(Diag::error(codes::SYN009, span, message).related(first, "first defined here"));
        }
        id
    }

    fn table(&mut self, state: &mut BodyState<'t>, label: LabelId, start: u32) {
        let directive = self.here();
        self.bump();
        let kind = match directive {
            ".branchtargets" => self.branch_targets(state),
            ".calltargets" => TableKind::Call(self.call_targets()),
            _ => TableKind::Prototype(self.prototype()),
        };
        if !self.expect(b';', "behind a table of targets") {
            self.skip_statement();
        }
        state.push(Stmt::Table(Box::new(Table { label, kind })), self.since(start));
    }

    fn branch_targets(&mut self, state: &mut BodyState<'t>) -> TableKind {
        let stmt = state.body.stmts.len();
        let mut count = 0;
        while self.token.kind == Kind::Word {
            let token = self.bump();
            let place = Place::Table(stmt, count);
            state.labels.refer(Reference {
                name: self.slice(token.span),
                span: token.span,
                place,
            });
            count += 1;
            if !self.eat(b',') {
                break;
            }
            if self.token.kind != Kind::Word {
                self.unexpected("a label behind `,`");
            }
        }
        if count == 0 {
            self.unexpected("a label behind `.branchtargets`");
        }
        TableKind::Branch(vec![LabelId(0); count])
    }

    fn call_targets(&mut self) -> Vec<crate::ptx::ir::SymbolId> {
        let mut targets = Vec::new();
        while self.token.kind == Kind::Word {
            let token = self.bump();
            targets.push(self.symbol_reference(token.span));
            if !self.eat(b',') {
                break;
            }
        }
        if targets.is_empty() {
            self.unexpected("a function behind `.calltargets`");
        }
        targets
    }

    /// The symbol a name stands for; one that is not declared is reported once.
    pub(super) fn symbol_reference(&mut self, span: Span) -> crate::ptx::ir::SymbolId {
        let name = self.slice(span);
        match self.names.find(name) {
            Some(Binding::Symbol(symbol)) => symbol,
            _ => {
                // Legality has one word to say on all functions of OptiX together.
                if !super::is_optix_function(name) {
                    let mut diag = Diag::error(codes::SYN008, span, format!("`{name}` is not declared"));
                    if let Some(near) = nearest(name, self.names.all()) {
                        diag = diag.help(format!("did you mean `{near}`?"));
                    }
                    self.report(diag);
                }
                let symbol = self.symbol(name, span, SymbolKind::Undefined);
                // So that the next use is not reported again.
                let _ = self.names.declare(name, Binding::Symbol(symbol));
                symbol
            }
        }
    }

    /// A guard, an opcode, operands, a semicolon.
    fn instruction(&mut self, state: &mut BodyState<'t>) {
        let start = self.token.span.start;
        let guard = if self.eat(b'@') { self.guard(state) } else { None };
        if self.token.kind != Kind::Word {
            self.unexpected("an opcode");
            return self.skip_broken(state);
        }
        let word = self.token.span;
        let text = self.opcode_text();
        let op = self.opcode(text);
        if self.is_label_without_colon(&op, guard.is_some()) {
            let name = self.slice(word);
            let message = format!("`{name}` is no instruction; is it a label?");
            self.report(
                Diag::error(codes::SYN001, word, message).help(format!("a label ends with a colon: `{name}:`")),
            );
            let next = InstId(state.body.insts.len() as u32);
            let id = self.define_label(state, name, word, Some(next));
            return state.push(Stmt::Label(id), word);
        }
        state.body.insts.push(Inst {
            op,
            guard,
            operands: SmallVec::new(),
        });
        if !self.operands(state) {
            return self.give_up(state, start);
        }
        let span = self.since(start);
        state.finish_inst(span, span.end);
        if self.eat(b';') {
            if let Some(span) = state.stmt_spans.last_mut() {
                span.end = self.end;
            }
        } else {
            self.missing_semicolon();
        }
    }

    /// Keeps the newest instruction as text: one of its operands could not be read.
    fn give_up(&mut self, state: &mut BodyState<'t>, start: u32) {
        state.body.insts.pop();
        state.labels.forget(state.body.insts.len());
        self.skip_statement();
        let span = self.since(start);
        state.push(Stmt::Raw(self.slice(span).into()), span);
    }

    /// A name alone on its line that is no opcode.
    fn is_label_without_colon(&self, op: &Opcode, guarded: bool) -> bool {
        op.row.is_none() && !guarded && *op.text == *op.base() && self.starts_line() && !self.token.is(b';')
    }

    /// Reports what stands in the place of a semicolon; goes on there if it looks like a new statement.
    fn missing_semicolon(&mut self) {
        let new = matches!(self.token.kind, Kind::Word | Kind::Dot | Kind::Punct(b'@' | b'}')) && self.starts_line();
        let behind = Span::new(self.end.saturating_sub(1), self.end);
        self.unexpected("`,` or `;` behind an operand");
        if new {
            if let Some(diag) = self.out.diags.last_mut() {
                diag.help = Some("end the instruction before it with `;`".into());
                diag.related.push(crate::ptx::diag::Related {
                    span: behind,
                    message: "`;` is missing here".into(),
                });
            }
        } else {
            self.skip_statement();
        }
    }

    fn guard(&mut self, state: &mut BodyState<'t>) -> Option<Guard> {
        let negated = self.eat(b'!');
        if self.token.kind != Kind::Word {
            self.unexpected("a predicate register behind `@`");
            return None;
        }
        let reg = self.register(state);
        Some(Guard { reg, negated })
    }

    /// The dotted opcode, blanks between its parts left out.
    fn opcode_text(&mut self) -> Cow<'t, str> {
        let start = self.token.span.start;
        self.token.span.end = self.lexer.pass_dotted();
        let whole = self.bump().span;
        if self.token.kind != Kind::Dot {
            return Cow::Borrowed(self.slice(whole));
        }
        while self.token.kind == Kind::Dot {
            self.bump();
        }
        Cow::Owned(self.text_since(start, ""))
    }

    fn opcode(&mut self, text: Cow<'t, str>) -> Arc<Opcode> {
        match text {
            Cow::Borrowed(text) => {
                if let Some(known) = self.opcodes.get(text) {
                    return Arc::clone(known);
                }
                let new = Arc::new(Opcode::resolve(text));
                self.opcodes.insert(text, Arc::clone(&new));
                new
            }
            Cow::Owned(text) => Arc::new(Opcode::resolve(&text)),
        }
    }
}

/// The name nearest to a misspelt one: at most a third of its letters away.
pub(in crate::ptx) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = (name.len() / 3).clamp(1, 4);
    let near = candidates.filter(|candidate| candidate.len().abs_diff(name.len()) <= most);
    let best = near.map(|candidate| (distance(name, candidate), candidate)).min()?;
    (best.0 <= most).then_some(best.1)
}

/// Levenshtein's distance, in bytes.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let cost = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], cost);
        }
    }
    row[b.len()]
}
