//! Functions: signature, launch directives, body or none.

use super::Parser;
use super::body::BodyState;
use super::lexer::Kind;
use super::names::{Binding, Place};
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{Attr, FuncId, Function, FunctionKind, Item, Linkage, Prototype, SymbolId, SymbolKind};
use crate::ptx::parse::spans::FunctionSpans;
use crate::ptx::source::Span;
use crate::ptx::types::Space;

/// Directives that open something else at module scope: compilers before PTX 2.2 put no semicolon behind a prototype.
pub(in crate::ptx) const OPENERS: &[&str] = &[
    ".visible", ".extern", ".weak", ".common", ".entry", ".func", ".file", ".section", ".const", ".global", ".shared",
    ".tex",
];

/// Directives that may stand between a function's parameters and its body, `.attribute` and `.pragma` apart.
const ATTRIBUTES: &[&str] = &[
    ".maxntid",
    ".reqntid",
    ".minnctapersm",
    ".maxnctapersm",
    ".maxnreg",
    ".noreturn",
    ".explicitcluster",
    ".reqnctapercluster",
    ".maxclusterrank",
    ".blocksareclusters",
    ".abi_preserve",
    ".abi_preserve_control",
    ".unique",
];

/// Those without numbers.
const NUMBERLESS: &[&str] = &[".noreturn", ".explicitcluster", ".blocksareclusters", ".unique"];

impl<'t> Parser<'t> {
    /// `.entry` or `.func` at hand, its linkage read from `start` on.
    pub(super) fn function(&mut self, start: u32, linkage: Linkage) {
        let kind = if self.here() == ".entry" {
            FunctionKind::Entry
        } else {
            FunctionKind::Func
        };
        self.bump();
        let mut spans = FunctionSpans::default();
        self.names.open();
        let mut attrs = Vec::new();
        self.attributes(&mut attrs, &mut spans);
        let in_front = attrs.len();
        let results = if self.token.is(b'(') {
            self.parameters()
        } else {
            Vec::new()
        };
        self.attributes(&mut attrs, &mut spans);
        let before_name = attrs.len();
        let Some((name, name_span)) = self.declared_name("the function's name") else {
            self.names.close();
            self.skip_item();
            return;
        };
        self.reject_reserved(name, name_span, "a function");
        spans.name = name_span;
        let id = FuncId(self.out.module.functions.len() as u32);
        let symbol = self.function_symbol(name, name_span, id);
        let params = if self.token.is(b'(') {
            self.parameters()
        } else {
            Vec::new()
        };
        self.attributes(&mut attrs, &mut spans);
        self.misplaced(kind, &attrs, &spans, [in_front, before_name]);
        let function = Function {
            kind,
            linkage,
            symbol,
            results,
            params,
            attrs,
            body: None,
        };
        self.out.module.functions.push(function);
        self.out.module.items.push(Item::Function(id));
        self.out.spans.functions.push(spans);
        self.function_end(id, name_span);
        self.names.close();
        self.out.spans.functions[id.index()].whole = self.since(start);
    }

    /// The body, or the semicolon of a prototype.
    fn function_end(&mut self, id: FuncId, name: Span) {
        let is_kernel = self.out.module.function(id).kind == FunctionKind::Entry;
        if self.eat(b';') || (!is_kernel && self.starts_line() && OPENERS.contains(&self.here())) {
            return;
        }
        if !self.token.is(b'{') {
            self.unexpected("`{` or `;` behind a function's head");
            self.skip_item();
            return;
        }
        self.check_redefinition(id, name);
        let mut state = BodyState::new(self.token.span, self.room);
        self.body(&mut state);
        self.room = state.body.stmts.len().max(self.room - self.room / 8);
        state.shrink();
        self.out.module.functions[id.index()].body = Some(state.body);
        let spans = &mut self.out.spans.functions[id.index()];
        (spans.stmts, spans.insts, spans.labels) = (state.stmt_spans, state.inst_spans, state.label_spans);
    }

    /// The symbol of a function about to be declared: the one it has already, if there was a prototype.
    fn function_symbol(&mut self, name: &'t str, span: Span, id: FuncId) -> SymbolId {
        if let Some(Binding::Symbol(symbol)) = self.names.find(name)
            && let SymbolKind::Function(old) = self.out.module.symbol(symbol).kind
        {
            // Calls mean the definition where there is one, whatever the order.
            if self.out.module.function(old).body.is_none() {
                self.out.module.symbols[symbol.index()].kind = SymbolKind::Function(id);
            }
            return symbol;
        }
        let symbol = self.symbol(name, span, SymbolKind::Function(id));
        if let Err(old) = self.names.declare_outside(name, Binding::Symbol(symbol)) {
            let mut diag = Diag::error(codes::SYN009, span, format!("`{name}` is defined twice in this module"));
            if let Some(Binding::Symbol(old)) = old {
                diag = diag.related(self.out.spans.symbols[old.index()], "first defined here");
            }
            self.report(diag);
        }
        symbol
    }

    /// A second body for one name is an error.
    fn check_redefinition(&mut self, id: FuncId, span: Span) {
        let symbol = self.out.module.function(id).symbol;
        let functions = &self.out.module.functions[..id.index()];
        let Some(old) = functions
            .iter()
            .position(|old| old.symbol == symbol && old.body.is_some())
        else {
            return;
        };
        let first = self.out.spans.functions[old].name;
        let message = format!("`{}` is defined twice in this module", self.slice(span));
        self.report(Diag::error(codes::SYN009, span, message).related(first, "first defined here"));
    }

    /// `( .param .u64 a, .reg .b32 b )`: declared in the innermost scope.
    pub(super) fn parameters(&mut self) -> Vec<SymbolId> {
        let mut params = Vec::new();
        let mut told = false;
        self.expect(b'(', "before parameters");
        while self.token.kind == Kind::Dot {
            let Some(symbol) = self.parameter() else {
                told = true;
                break;
            };
            params.push(symbol);
            if !self.eat(b',') {
                break;
            }
            if self.token.is(b')') {
                self.unexpected("a parameter behind `,`");
            }
        }
        // Compilers for variadic functions write a trailing `...`-like array; nothing but `)` may follow here.
        if !self.eat(b')') {
            if !told {
                self.unexpected("`,` or `)` in a parameter list");
            }
            let start = self.token.span.start;
            while !matches!(self.token.kind, Kind::End | Kind::Punct(b')' | b';' | b'{' | b'}')) {
                self.bump();
            }
            self.skipped.push(self.since(start));
            self.eat(b')');
        }
        params
    }

    fn parameter(&mut self) -> Option<SymbolId> {
        let token = self.token;
        let space = self
            .here()
            .strip_prefix('.')
            .and_then(Space::of_declaration)
            .filter(|space| matches!(space, Space::Param | Space::Reg));
        let Some(space) = space else {
            self.unexpected("`.param` or `.reg`");
            return None;
        };
        let head = self.variable_head(space, Linkage::None, true)?;
        // `_` is a parameter without a name, as prototypes have them.
        let (name, span) = match self.token.kind {
            Kind::Word => self.declared_name("a parameter's name")?,
            _ => ("_", token.span),
        };
        let variable = self.variable_tail(head)?;
        let (ty, lanes) = (variable.ty, variable.lanes);
        let symbol = self.symbol(name, span, SymbolKind::Variable(Box::new(variable)));
        if name != "_" {
            self.reject_reserved(name, span, "a parameter");
            let register = Binding::Unused(ty, lanes, Place::Name);
            let binding = if space == Space::Reg {
                register
            } else {
                Binding::Symbol(symbol)
            };
            self.declare(name, span, binding);
        }
        Some(symbol)
    }

    /// Reports directives on the wrong side of a function's name: `.attribute` stands in front of the results of a `.func`, all others
    /// behind the parameters. The numbers say how many stand in front of the results, and of the name.
    fn misplaced(&mut self, kind: FunctionKind, attrs: &[Attr], spans: &FunctionSpans, [results, name]: [usize; 2]) {
        for (at, (attr, span)) in attrs.iter().zip(&spans.attrs).enumerate() {
            let message = match &*attr.name {
                "attribute" if kind == FunctionKind::Entry => "a kernel takes no `.attribute`".to_owned(),
                "attribute" if at >= results => "`.attribute` stands right behind `.func`".to_owned(),
                "attribute" => continue,
                other if at < name => format!("`.{other}` stands behind the parameters, not in front of the name"),
                _ => continue,
            };
            self.error(codes::SYN001, *span, message);
        }
    }

    /// Launch bounds and their like, until something else comes.
    fn attributes(&mut self, attrs: &mut Vec<Attr>, spans: &mut FunctionSpans) {
        while self.token.kind == Kind::Dot {
            let token = self.token;
            let directive = self.here();
            let attr = match directive {
                ".pragma" => {
                    let Some(text) = self.pragma() else { continue };
                    Attr {
                        name: "pragma".into(),
                        args: Vec::new(),
                        text,
                    }
                }
                ".attribute" => {
                    self.bump();
                    let text = self.attribute();
                    Attr {
                        name: "attribute".into(),
                        args: Vec::new(),
                        text,
                    }
                }
                _ if OPENERS.contains(&directive) => return,
                _ if ATTRIBUTES.contains(&directive) => {
                    self.bump();
                    if !NUMBERLESS.contains(&directive) && !self.at_number() {
                        self.unexpected(&format!("a number behind `{directive}`"));
                        self.skip_numbers();
                        continue;
                    }
                    Attr {
                        name: directive[1..].into(),
                        args: self.attribute_numbers(),
                        text: "".into(),
                    }
                }
                _ => {
                    let message = format!("`{directive}` is no directive of a function");
                    self.error(codes::SYN005, token.span, message);
                    self.bump();
                    self.attribute_numbers();
                    continue;
                }
            };
            attrs.push(attr);
            spans.attrs.push(self.since(token.span.start));
        }
    }

    fn attribute_numbers(&mut self) -> Vec<u64> {
        let mut numbers = Vec::new();
        while self.at_number() {
            let Some(number) = self.plain_integer("a number") else {
                self.skip_numbers();
                break;
            };
            numbers.push(number as u64);
            if !self.eat(b',') {
                break;
            }
            if !self.at_number() {
                self.unexpected("a number behind `,`");
            }
        }
        numbers
    }

    /// Attributes take no expressions.
    fn at_number(&self) -> bool {
        self.token.kind == Kind::Number || self.at_warp_size()
    }

    /// Passes what is left of a list of numbers, and what stands in its place.
    fn skip_numbers(&mut self) {
        while !matches!(self.token.kind, Kind::End | Kind::Dot | Kind::Punct(b';' | b'{' | b'}')) {
            self.bump();
        }
    }

    /// `(results) _ (params) .noreturn` behind `.callprototype`.
    pub(super) fn prototype(&mut self) -> Prototype {
        let mut prototype = Prototype::default();
        self.names.open();
        if self.token.is(b'(') {
            prototype.results = self.parameters();
        }
        if self.token.kind == Kind::Word {
            self.bump();
        } else {
            self.unexpected("`_` in a prototype");
        }
        if self.token.is(b'(') {
            prototype.params = self.parameters();
        }
        while self.token.kind == Kind::Dot {
            let start = self.bump().span.start;
            self.attribute_numbers();
            let text = self.text_since(start, " ");
            prototype.attributes.push(text.into());
        }
        self.names.close();
        prototype
    }
}
