//! Parts of modules: texts without a header, and instructions without a function.

use super::Parser;
use super::body::BodyState;
use super::lexer::Kind;
use super::names::Binding;
use super::spans::FunctionSpans;
use crate::ptx::ir::{FuncId, Function, FunctionKind, Item, Linkage, SymbolKind};
use crate::ptx::source::Span;
use crate::ptx::types::Type;

/// The registers that compilers declare under these names.
const USUAL: &[(&str, Type)] = &[
    ("%p", Type::Pred),
    ("%rs", Type::B16),
    ("%h", Type::B16),
    ("%r", Type::B32),
    ("%f", Type::F32),
    ("%rd", Type::B64),
    ("%fd", Type::F64),
    ("%rq", Type::B128),
];

/// How many of each.
const BANK: u32 = 1 << 16;

impl<'t> Parser<'t> {
    /// Fills in what the header lacks.
    pub(super) fn supply_header(&mut self) {
        let Some(missing) = self.missing.take() else { return };
        let header = &mut self.out.module.header;
        if header.version.is_none() {
            header.version = missing.version;
            header.address_size = header.address_size.or(missing.address_size);
        }
        if header.target.is_empty() {
            header.target = missing.target;
        }
    }

    /// Whether what comes is part of a body: an instruction, a label, a scope, a declaration of registers.
    pub(super) fn is_bare(&self) -> bool {
        match self.token.kind {
            Kind::Word | Kind::Punct(b'{' | b'@') => true,
            Kind::Dot => matches!(self.here(), ".reg" | ".loc"),
            _ => false,
        }
    }

    /// The rest of the text as the body of a kernel called `fragment`.
    pub(super) fn bare(&mut self) {
        let start = self.token.span.start;
        let place = self.token.span;
        let id = FuncId(self.out.module.functions.len() as u32);
        self.names.open();
        for (prefix, ty) in USUAL {
            // No bank is there yet, so none is there twice.
            let _ = self.names.declare_bank(prefix, BANK, *ty, 1);
        }
        let symbol = self.symbol("fragment", place, SymbolKind::Function(id));
        let _ = self.names.declare_outside("fragment", Binding::Symbol(symbol));
        let state = self.bare_body(place);
        self.names.close();
        self.out.module.functions.push(Function {
            kind: FunctionKind::Entry,
            linkage: Linkage::Visible,
            symbol,
            results: Vec::new(),
            params: Vec::new(),
            attrs: Vec::new(),
            body: Some(state.body),
        });
        self.out.module.items.push(Item::Function(id));
        self.out.spans.functions.push(FunctionSpans {
            whole: self.since(start),
            name: place,
            attrs: Vec::new(),
            stmts: state.stmt_spans,
            insts: state.inst_spans,
            labels: state.label_spans,
        });
    }

    /// Statements up to the end of the text, or to a brace that closes more than was opened.
    fn bare_body(&mut self, place: Span) -> BodyState<'t> {
        let mut state = BodyState::new(place, 0);
        self.names.open();
        while self.token.kind != Kind::End && !state.open.is_empty() {
            self.depth = 0;
            self.statement(&mut state);
        }
        while !state.open.is_empty() {
            self.close_scope(&mut state);
        }
        state
    }
}
