//! Declarations: variables, parameters and registers.

use super::Parser;
use super::expr::WARP_SIZE;
use super::lexer::Kind;
use super::names::{Binding, Place};
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::{
    Init, InitSymbol, InitValue, Item, Linkage, RegLine, RegName, Symbol, SymbolId, SymbolKind, Variable,
};
use crate::ptx::source::Span;
use crate::ptx::types::{self, Space, Type};

/// Registers in one bank. ptxas has no such limit, but no file comes near it.
const LARGEST_BANK: i64 = 1 << 24;

impl<'t> Parser<'t> {
    /// Adds a symbol to the module's table.
    pub(super) fn symbol(&mut self, name: &str, span: Span, kind: SymbolKind) -> SymbolId {
        let id = SymbolId(self.out.module.symbols.len() as u32);
        self.out.module.symbols.push(Symbol {
            name: name.into(),
            kind,
        });
        self.out.spans.symbols.push(span);
        id
    }

    /// Brings a name into the innermost scope; a second time there is an error.
    pub(super) fn declare(&mut self, name: &'t str, span: Span, binding: Binding) {
        if let Err(old) = self.names.declare(name, binding) {
            self.twice(name, span, old);
        }
    }

    /// Reports a name that its scope has already.
    pub(super) fn twice(&mut self, name: &str, span: Span, old: Option<Binding>) {
        let mut diag = Diag::error(codes::SYN009, span, format!("`{name}` is defined twice in this scope"));
        if let Some(Binding::Symbol(symbol)) = old {
            diag = diag.related(self.out.spans.symbols[symbol.index()], "first defined here");
        }
        self.report(diag.help("rename one of them, or put each into its own `{ }`"));
    }

    /// What starts with a linkage directive, a state space, `.entry` or `.func`.
    pub(super) fn declaration(&mut self) {
        let start = self.token.span.start;
        let linkage = self.linkage();
        let attribute = self.early_attribute();
        match self.here() {
            ".entry" | ".func" if attribute.is_none() => self.function(start, linkage),
            ".reg" => self.module_registers(start),
            directive => match directive.strip_prefix('.').and_then(Space::of_declaration) {
                Some(space) => {
                    for symbol in self.variables(space, linkage, attribute) {
                        self.out.module.items.push(Item::Variable(symbol));
                    }
                }
                None => {
                    let text = self.unknown_directive();
                    self.out.module.items.push(Item::Raw(text));
                }
            },
        }
    }

    /// `.attribute(...)` in front of a variable's state space.
    pub(super) fn early_attribute(&mut self) -> Option<Box<str>> {
        (self.token.kind == Kind::Dot && self.here() == ".attribute").then(|| {
            self.bump();
            self.attribute()
        })
    }

    /// `.reg` at module scope: PTX 1.x had it, before functions were called by the ABI, and ptxas takes it up to 2.3.
    fn module_registers(&mut self, start: u32) {
        let span = self.token.span;
        let version = self.out.module.header.version.as_deref();
        let old = version.is_some_and(|version| version.starts_with("1.") || version.starts_with("2."));
        if !old {
            let message = "registers cannot be declared outside functions";
            let help = "move the declaration into the function's body";
            self.report(Diag::error(codes::SYN001, span, message).help(help));
        }
        if self.registers().is_some() {
            let text = self.text_since(start, " ").into();
            self.out.module.items.push(Item::Raw(text));
        }
    }

    /// `.visible`, `.extern`, `.weak` or `.common`.
    pub(super) fn linkage(&mut self) -> Linkage {
        let mut linkage = Linkage::None;
        while self.token.kind == Kind::Dot {
            let next = match self.here() {
                ".visible" => Linkage::Visible,
                ".extern" => Linkage::Extern,
                ".weak" => Linkage::Weak,
                ".common" => Linkage::Common,
                _ => break,
            };
            if linkage != Linkage::None {
                let message = format!("`.{}` is stated already; a symbol has one linkage", linkage.name());
                self.error(codes::SYN001, self.token.span, message);
            }
            linkage = next;
            self.bump();
        }
        linkage
    }

    /// Reports a directive nobody knows and passes it; its text is kept.
    pub(super) fn unknown_directive(&mut self) -> Box<str> {
        let token = self.token;
        if token.kind == Kind::Dot {
            let name = self.here();
            self.error(codes::SYN005, token.span, format!("`{name}` is no directive of PTX"));
        } else {
            self.unexpected("a declaration");
        }
        let span = self.skip_item();
        self.slice(span).into()
    }

    /// The variables of one statement, the state space at hand.
    pub(super) fn variables(&mut self, space: Space, linkage: Linkage, attribute: Option<Box<str>>) -> Vec<SymbolId> {
        let mut symbols = Vec::new();
        let Some(mut head) = self.variable_head(space, linkage, false) else {
            self.skip_statement();
            return symbols;
        };
        head.attributes.extend(attribute);
        loop {
            let Some((name, span)) = self.declared_name("a variable's name") else {
                self.skip_statement();
                return symbols;
            };
            let Some(variable) = self.variable_tail(head.clone()) else {
                self.skip_statement();
                return symbols;
            };
            self.reject_reserved(name, span, "a variable");
            let symbol = self.symbol(name, span, SymbolKind::Variable(Box::new(variable)));
            self.declare_variable(name, span, symbol);
            symbols.push(symbol);
            if !self.eat(b',') {
                break;
            }
        }
        if !self.expect(b';', "behind a declaration") && !self.starts_line() {
            self.skip_statement();
        }
        symbols
    }

    /// Like [`declare`](Self::declare), but a variable may be declared `.extern` beside its definition.
    fn declare_variable(&mut self, name: &'t str, span: Span, symbol: SymbolId) {
        let is_extern = |id: SymbolId| {
            let variable = self.out.module.variable(id);
            variable.map(|variable| variable.linkage == Linkage::Extern)
        };
        if let Some(Binding::Symbol(old)) = self.names.find(name)
            && self.names.depth() == 1
            && let (Some(was), Some(is)) = (is_extern(old), is_extern(symbol))
            && (was || is)
        {
            return;
        }
        self.declare(name, span, Binding::Symbol(symbol));
    }

    /// State space, alignment, vector, type and attributes: all that stands in front of the name.
    /// `None` if something was wrong, which has been reported.
    pub(super) fn variable_head(&mut self, space: Space, linkage: Linkage, is_param: bool) -> Option<Variable> {
        self.bump();
        let mut variable = Variable {
            linkage,
            is_param,
            ..Variable::scalar(space, Type::B8)
        };
        if self.eat(b'[') {
            let bank = self.integer("the number of a constant bank")?;
            variable.bank = u32::try_from(bank).ok();
            self.expect(b']', "behind a constant bank");
        }
        let mut typed = false;
        while self.token.kind == Kind::Dot {
            let token = self.bump();
            match self.slice(token.span) {
                // Behind the type it belongs to `.ptr`, which kernel parameters may leave out.
                ".align" if typed && !is_param => {
                    self.error(codes::SYN001, token.span, "`.align` stands in front of the type");
                    variable.align = self.alignment();
                }
                ".align" => variable.align = self.alignment(),
                ".v2" => variable.lanes = 2,
                ".v4" => variable.lanes = 4,
                ".v8" => {
                    let message = "vectors of registers and variables have 2 or 4 elements";
                    self.error(codes::ISA013, token.span, message);
                    variable.lanes = 4;
                }
                ".ptr" => self.pointer(&mut variable),
                ".attribute" => {
                    let text = self.attribute();
                    variable.attributes.push(text);
                }
                name => match Type::from_name(&name[1..]) {
                    Some(ty) if !typed => {
                        self.check_declarable(ty, token.span);
                        (variable.ty, typed) = (ty, true);
                    }
                    _ => {
                        let message = format!("`{name}` is no type or attribute of a declaration");
                        self.error(codes::SYN005, token.span, message);
                        return None;
                    }
                },
            }
        }
        if !typed {
            self.unexpected("a type such as `.b32`");
            return None;
        }
        Some(variable)
    }

    /// Some types are for instructions alone.
    fn check_declarable(&mut self, ty: Type, span: Span) {
        if ty.is_declarable() {
            return;
        }
        let message = format!(
            "`.{}` is a type of instructions, not of registers or variables",
            ty.name()
        );
        let diag = Diag::error(codes::ISA003, span, message);
        self.report(match ty.bits() {
            16 | 32 | 64 => diag.help(format!("declare it `.b{}`", ty.bits())),
            _ => diag.help("values of this type are held packed, in `.b16` or `.b32`"),
        });
    }

    /// The number behind `.align`.
    fn alignment(&mut self) -> Option<u32> {
        let span = self.token.span;
        let align = self.integer("an alignment in bytes")?;
        let good = u32::try_from(align).ok().filter(|align| align.is_power_of_two());
        if good.is_none() {
            let message = format!("an alignment is a power of two, {align} is none");
            self.error(codes::SYN001, span, message);
        }
        good
    }

    /// `.ptr .global .align 16` of a kernel parameter: kept as text, in one spelling.
    fn pointer(&mut self, variable: &mut Variable) {
        let mut text = String::from(".ptr");
        if matches!(self.here(), ".const" | ".global" | ".local" | ".shared") {
            text = format!("{text} {}", self.here());
            self.bump();
        }
        if self.token.kind == Kind::Dot && self.here() == ".align" {
            self.bump();
            if let Some(align) = self.alignment() {
                text = format!("{text} .align {align}");
            }
        }
        variable.attributes.push(text.into());
    }

    /// Reports a name that means something everywhere.
    pub(super) fn reject_reserved(&mut self, name: &str, span: Span, what: &str) {
        if matches!(name, "_" | WARP_SIZE) {
            let message = format!("`{name}` cannot be the name of {what}");
            self.error(codes::SYN001, span, message);
        }
    }

    /// A name to be declared. Dots in it are reported and taken along.
    pub(super) fn declared_name(&mut self, wanted: &str) -> Option<(&'t str, Span)> {
        let token = self.token;
        if token.kind != Kind::Word {
            self.unexpected(wanted);
            return None;
        }
        self.bump();
        if self.token.kind == Kind::Dot && self.token.span.start == token.span.end {
            while self.token.kind == Kind::Dot && self.token.span.start == self.end {
                self.bump();
            }
            let span = self.since(token.span.start);
            let name = self.slice(span);
            let message = format!("`{name}` is no identifier: names cannot contain dots");
            let help = format!(
                "rename it, for instance to `{}`",
                name.replace("::", "_").replace('.', "_")
            );
            self.report(Diag::error(codes::SYN001, span, message).help(help));
            return Some((name, span));
        }
        Some((self.slice(token.span), token.span))
    }

    /// Dimensions and initialiser: all that stands behind the name.
    pub(super) fn variable_tail(&mut self, mut variable: Variable) -> Option<Variable> {
        while self.eat(b'[') {
            let dim = if self.token.is(b']') && variable.dims.is_empty() {
                None
            } else {
                Some(self.dimension()?)
            };
            variable.dims.push(dim);
            if !self.expect(b']', "behind an array's length") {
                return None;
            }
        }
        if self.eat(b'=') {
            let braced = self.token.is(b'{');
            let value = if braced && variable.ty.kind() == types::Kind::Opaque {
                self.opaque_fields()?
            } else {
                self.init_value()?
            };
            let values = match value {
                InitValue::Row(values) => values.into_vec(),
                single => vec![single],
            };
            variable.init = Some(Init { values, braced });
        }
        Some(variable)
    }

    fn dimension(&mut self) -> Option<u64> {
        let span = self.token.span;
        let length = self.plain_integer("an array's length")?;
        let good = u64::try_from(length).ok();
        if good.is_none() {
            self.error(codes::SYN001, span, format!("an array cannot have {length} elements"));
        }
        good
    }

    fn init_value(&mut self) -> Option<InitValue> {
        if self.eat(b'{') {
            return self.nested(Self::init_row)?;
        }
        match self.token.kind {
            Kind::Word if !self.at_warp_size() => self.init_symbol(None),
            _ => {
                let value = self.constant()?;
                if self.token.is(b'(') {
                    return self.init_symbol(value.as_int().map(|mask| mask as u64));
                }
                Some(InitValue::Imm(value))
            }
        }
    }

    fn init_row(&mut self) -> Option<InitValue> {
        let mut values = Vec::new();
        while !self.token.is(b'}') {
            values.push(self.init_value()?);
            if !self.eat(b',') {
                break;
            }
            if self.token.is(b'}') {
                self.unexpected("a value behind `,`");
                break;
            }
        }
        let closed = self.expect(b'}', "behind an initialiser");
        closed.then(|| InitValue::Row(values.into_boxed_slice()))
    }

    /// `name`, `name+4`, `generic(name)+4`, `0xFF(name)`, `0xFF00(generic(name))`.
    fn init_symbol(&mut self, mask: Option<u64>) -> Option<InitValue> {
        let masked = self.eat(b'(');
        let generic = self.here() == "generic";
        if generic {
            self.bump();
            self.expect(b'(', "behind `generic`");
        }
        if self.token.kind != Kind::Word {
            self.unexpected("a symbol");
            return None;
        }
        let token = self.bump();
        let symbol = self.symbol_reference(token.span);
        if generic {
            self.expect(b')', "behind the symbol");
        }
        if self.token.is(b'-') {
            let message = "expected `+` in front of an offset, found `-`";
            let help = "write a negative offset as `+-4`";
            self.report(Diag::error(codes::SYN001, self.token.span, message).help(help));
        }
        let signed = self.token.is(b'+') || self.token.is(b'-');
        let offset = if signed { self.integer("an offset")? } else { 0 };
        if masked {
            self.expect(b')', "behind the symbol");
        }
        Some(InitValue::Symbol(Box::new(InitSymbol {
            symbol,
            offset,
            generic,
            mask,
        })))
    }

    /// `.reg .b32 %r<8>, %x;`, the directive at hand. `None` if it declares nothing.
    pub(super) fn registers(&mut self) -> Option<RegLine> {
        let start = self.token.span.start;
        let head = self.variable_head(Space::Reg, Linkage::None, false);
        let Some(head) = head else {
            self.skip_statement();
            return None;
        };
        if head.ty == Type::Pred && head.lanes > 1 {
            self.error(codes::ISA013, self.since(start), "there are no vectors of predicates");
        }
        let bits = u32::from(head.lanes) * head.ty.bits();
        if head.lanes > 1 && bits > 128 {
            let message = format!("this vector has {bits} bits; the largest has 128");
            self.error(codes::ISA013, self.since(start), message);
        }
        let mut line = RegLine {
            ty: head.ty,
            lanes: head.lanes,
            names: Vec::new(),
        };
        while let Some((name, span)) = self.declared_name("a register's name") {
            self.reject_reserved(name, span, "a register");
            let is_bank = self.token.is(b'<');
            let bank = if is_bank { self.bank_size() } else { None };
            if is_bank && bank.is_none() {
                self.skip_statement();
                self.skipped.push(self.since(start));
                return Some(line);
            }
            match bank {
                Some(size) => {
                    if self.names.declare_bank(name, size, line.ty, line.lanes).is_err() {
                        let message = format!("the registers `{name}<...>` are declared twice in this scope");
                        self.error(codes::SYN009, span, message);
                    }
                }
                None => self.declare(name, span, Binding::Unused(line.ty, line.lanes, Place::Name)),
            }
            line.names.push(RegName {
                name: name.into(),
                bank,
            });
            if !self.eat(b',') {
                break;
            }
        }
        if !self.expect(b';', "behind a register declaration") && !self.starts_line() {
            self.skip_statement();
        }
        Some(line)
    }

    /// `<8>`.
    fn bank_size(&mut self) -> Option<u32> {
        self.bump();
        let span = self.token.span;
        let size = self.plain_integer("the number of registers")?;
        self.expect(b'>', "behind the number of registers").then_some(())?;
        if !(0..=LARGEST_BANK).contains(&size) {
            self.error(
                codes::SYN001,
                span,
                format!("a bank has 0 to {LARGEST_BANK} registers, not {size}"),
            );
        }
        Some(size.clamp(0, LARGEST_BANK) as u32)
    }
}
