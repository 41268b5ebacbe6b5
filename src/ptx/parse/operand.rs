//! Operands of instructions.

use super::Parser;
use super::body::{BodyState, nearest};
use super::expr::WARP_SIZE;
use super::labels::{Place, Reference};
use super::lexer::{Kind, Token};
use super::names::{Binding, Place as Home};
use crate::ptx::diag::{Diag, Edit, codes};
use crate::ptx::ir::{Address, Base, Component, Imm, Opcode, Operand, RegDecl, RegId, Special, SymbolId, Variable};
use crate::ptx::isa::Effect;
use crate::ptx::source::Span;
use crate::ptx::types::Type;
use smallvec::SmallVec;

impl<'t> Parser<'t> {
    /// The operands of the newest instruction. False if one could not be read, which has been reported.
    pub(super) fn operands(&mut self, state: &mut BodyState<'t>) -> bool {
        if matches!(self.token.kind, Kind::Punct(b';' | b'}') | Kind::End) {
            return true;
        }
        let labels = state.body.insts.last().is_some_and(|inst| may_take_labels(&inst.op));
        loop {
            let operand = if labels {
                self.top_operand(state)
            } else if self.token.is(b'-') && !matches!(self.lexer.next_name(), "" | WARP_SIZE) {
                self.negated(state)
            } else {
                self.operand(state)
            };
            let (Some(operand), Some(inst)) = (operand, state.body.insts.last_mut()) else {
                return false;
            };
            inst.operands.push(operand);
            if !self.eat(b',') {
                return true;
            }
        }
    }

    /// An operand that may be a label.
    fn top_operand(&mut self, state: &mut BodyState<'t>) -> Option<Operand> {
        let token = self.token;
        if token.kind == Kind::Word && self.may_be_label(state) {
            let name = self.here();
            if self.names.find(name).is_none() && Special::from_name(name).is_none() {
                self.bump();
                let place = Place::Operand(state.body.insts.len() - 1, state.body.insts.last()?.operands.len());
                let span = token.span;
                state.labels.refer(Reference { name, span, place });
                return Some(Operand::Pending);
            }
        }
        self.operand(state)
    }

    /// Branches take labels, defined or not yet. Of the other instructions only calls do, and their tables come first.
    fn may_be_label(&self, state: &BodyState<'t>) -> bool {
        let Some(inst) = state.body.insts.last() else {
            return false;
        };
        inst.op.base() != "call" || state.labels.find(self.here()).is_some()
    }

    /// `-%r1`, the minus sign at hand.
    fn negated(&mut self, state: &mut BodyState<'t>) -> Option<Operand> {
        self.bump();
        let (token, binding) = self.bump_name();
        if matches!(binding, Some(Binding::Symbol(_))) || Special::from_name(self.slice(token.span)).is_some() {
            let message = "only registers and constants can be negated";
            self.error(codes::ISA002, token.span, message);
            return None;
        }
        let reg = self.register_bound(state, token.span, binding);
        Some(Operand::Neg(reg, self.component(token)?))
    }

    /// One operand.
    fn operand(&mut self, state: &mut BodyState<'t>) -> Option<Operand> {
        match self.token.kind {
            Kind::Word => self.word(state),
            Kind::Punct(b'[') => self.bracket(state),
            Kind::Punct(b'{') => {
                let vector = self.group(state, b'}').map(Operand::Vector)?;
                self.second_destination(state, vector)
            }
            Kind::Punct(b'(') if state.body.insts.last().is_some_and(|inst| inst.op.base() == "call") => {
                self.group(state, b')').map(Operand::List)
            }
            Kind::Punct(b'!') if !self.lexer.before_number() && self.lexer.next_name() != WARP_SIZE => {
                self.bump();
                if self.token.kind != Kind::Word {
                    self.unexpected("a predicate register behind `!`");
                    return None;
                }
                Some(Operand::Not(self.register(state)))
            }
            _ if self.at_constant() || self.token.is(b'(') || self.token.is(b'!') => self.constant().map(Operand::Imm),
            _ => {
                self.unexpected("an operand");
                None
            }
        }
    }

    /// A register, special register, symbol, or `_`, with what may hang on it: a component, an offset, a second destination.
    fn word(&mut self, state: &mut BodyState<'t>) -> Option<Operand> {
        let (token, binding) = self.bump_name();
        // By far the most operands are a register alone.
        let alone = matches!(self.token.kind, Kind::Punct(b',' | b';'));
        if alone && matches!(binding, Some(Binding::Reg(_) | Binding::Unused(..))) {
            return Some(Operand::Reg(self.register_bound(state, token.span, binding)));
        }
        let operand = self.named(state, token, binding)?;
        self.second_destination(state, operand)
    }

    /// Passes a name and looks it up.
    fn bump_name(&mut self) -> (Token, Option<Binding>) {
        let member = self.lexer.member;
        let token = self.bump();
        let binding = self.names.find_member(member);
        (token, binding.or_else(|| self.names.find(self.slice(token.span))))
    }

    /// `|%p` behind a destination, where it is there.
    fn second_destination(&mut self, state: &mut BodyState<'t>, first: Operand) -> Option<Operand> {
        if !self.token.is(b'|') {
            return Some(first);
        }
        if matches!(first, Operand::Symbol(..) | Operand::Element(..) | Operand::Sum(..)) {
            self.unexpected("`,` or `;` behind an operand that is no destination");
            return None;
        }
        self.bump();
        if self.token.kind != Kind::Word {
            self.unexpected("a second destination behind `|`");
            return None;
        }
        let (token, binding) = self.bump_name();
        let second = self.named(state, token, binding)?;
        Some(Operand::Pair(Box::new((first, second))))
    }

    /// An operand that starts with a name, which has been passed and looked up.
    fn named(&mut self, state: &mut BodyState<'t>, token: Token, binding: Option<Binding>) -> Option<Operand> {
        let name = self.slice(token.span);
        if name == "_" {
            return Some(Operand::Sink);
        }
        match binding {
            Some(Binding::Symbol(symbol)) if self.token.is(b'[') => return self.element(state, symbol),
            Some(Binding::Symbol(symbol)) => {
                let offset = self.offset()?;
                return Some(Operand::Symbol(symbol, offset));
            }
            Some(_) => {
                let reg = self.register_bound(state, token.span, binding);
                return match self.component(token)? {
                    Some(component) => Some(Operand::Part(reg, component)),
                    None => self.sum(reg),
                };
            }
            None => {}
        }
        if name == WARP_SIZE
            && let Some(value) = self.behind_warp_size()
        {
            return value.map(Operand::Imm);
        }
        if let Some(special) = self.special(token) {
            return Some(Operand::Special(special));
        }
        if name.starts_with('%') {
            let reg = self.register_bound(state, token.span, None);
            self.component(token)?;
            return self.sum(reg);
        }
        let symbol = self.symbol_reference(token.span);
        let offset = self.offset()?;
        Some(Operand::Symbol(symbol, offset))
    }

    /// `%tid.x`: the component belongs to the name.
    fn special(&mut self, token: Token) -> Option<Special> {
        if self.token.kind == Kind::Dot && self.token.span.start == token.span.end {
            let span = token.span.to(self.token.span);
            if let Some(special) = Special::from_name(self.slice(span)) {
                self.bump();
                return Some(special);
            }
        }
        Special::from_name(self.slice(token.span))
    }

    /// `.x` behind a register. The outer `None` says that something else was there, which has been reported.
    fn component(&mut self, token: Token) -> Option<Option<Component>> {
        if self.token.kind != Kind::Dot || self.token.span.start != token.span.end {
            return Some(None);
        }
        let component = Component::from_name(&self.here()[1..]);
        if component.is_none() {
            let message = format!("`{}` is no component of a register", self.here());
            self.error(codes::SYN001, self.token.span, message);
            return None;
        }
        self.bump();
        Some(component)
    }

    /// A register, and the constant that may be added to it.
    fn sum(&mut self, reg: RegId) -> Option<Operand> {
        Some(match self.offset()? {
            0 => Operand::Reg(reg),
            offset => Operand::Sum(reg, offset),
        })
    }

    /// `+4`, `+-4`, or nothing. A minus sign alone, as in `[%r1-4]`, is no PTX.
    fn offset(&mut self) -> Option<i64> {
        match self.token.kind {
            Kind::Punct(b'+') => self.integer("an offset in bytes"),
            Kind::Punct(b'-') => {
                let message = "an offset is added, never subtracted";
                let help = "write the sign behind a plus: `+-4` for `-4`";
                let plus = Edit::insert(self.token.span.start, "+");
                let diag = Diag::error(codes::SYN001, self.token.span, message).help(help);
                self.report(diag.safe_fix(vec![plus]));
                self.integer("an offset in bytes")
            }
            _ => Some(0),
        }
    }

    /// `arr[2]` or `arr[%r1]`, the bracket at hand: the address of an element. In a load or store it is the whole address.
    fn element(&mut self, state: &mut BodyState<'t>, symbol: SymbolId) -> Option<Operand> {
        self.bump();
        let operand = if self.token.kind == Kind::Word && !self.at_warp_size() {
            Operand::Element(symbol, self.register(state))
        } else {
            let index = self.integer("an index")?;
            let element = self.out.module.variable(symbol).map_or(1, Variable::element_size);
            self.element_at(state, symbol, index.wrapping_mul(i64::from(element)))
        };
        self.expect(b']', "behind an index").then_some(operand)
    }

    fn element_at(&self, state: &BodyState<'t>, symbol: SymbolId, offset: i64) -> Operand {
        let accesses = state
            .body
            .insts
            .last()
            .is_some_and(|inst| inst.op.effect.accesses_memory() && inst.op.effect != Effect::Atomic);
        if accesses {
            Operand::Address(Address {
                base: Base::Symbol(symbol),
                offset,
            })
        } else {
            Operand::Symbol(symbol, offset)
        }
    }

    /// Passes the name of a register. One that is not declared is reported, once, and gets an id all the same.
    pub(super) fn register(&mut self, state: &mut BodyState<'t>) -> RegId {
        let (token, binding) = self.bump_name();
        self.register_bound(state, token.span, binding)
    }

    /// The register of a name that has been passed and looked up.
    pub(super) fn register_bound(&mut self, state: &mut BodyState<'t>, span: Span, binding: Option<Binding>) -> RegId {
        let name = self.slice(span);
        let (ty, lanes, place, declared) = match binding {
            Some(Binding::Reg(reg)) => return reg,
            Some(Binding::Unused(ty, lanes, place)) => (ty, lanes, place, true),
            other => {
                self.undefined_register(name, span, other.is_some());
                (guess(name), 1, Home::Name, false)
            }
        };
        let reg = RegId(state.body.regs.len() as u32);
        state.body.regs.push(RegDecl {
            name: name.into(),
            ty,
            lanes,
            declared,
        });
        self.names.occurred(name, place, reg);
        reg
    }

    fn undefined_register(&mut self, name: &str, span: Span, is_symbol: bool) {
        let diag = if is_symbol {
            Diag::error(codes::SYN006, span, format!("`{name}` is a variable, not a register"))
        } else {
            let diag = Diag::error(codes::SYN006, span, format!("the register `{name}` is not declared"));
            match nearest(name, self.names.all().filter(|other| other.starts_with('%'))) {
                Some(near) => diag.help(format!("did you mean `{near}`?")),
                None => diag.help(format!("declare it: `.reg .{} {name};`", guess(name).name())),
            }
        };
        self.report(diag);
    }

    /// `{a, b}` or `(a, b)`.
    fn group(&mut self, state: &mut BodyState<'t>, close: u8) -> Option<Box<[Operand]>> {
        self.bump();
        let mut parts = SmallVec::<[Operand; 4]>::new();
        while !self.token.is(close) {
            parts.push(self.nested(|parser| parser.operand(state))??);
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(close, "behind a list of operands").then(|| boxed(parts))
    }

    /// `[...]`: an address, or several parts.
    fn bracket(&mut self, state: &mut BodyState<'t>) -> Option<Operand> {
        self.bump();
        let first = self.nested(|parser| parser.bracket_part(state))??;
        if matches!(first, Operand::Address(_)) && !self.token.is(b',') {
            return self.expect(b']', "behind an address").then_some(first);
        }
        let mut parts = SmallVec::<[Operand; 4]>::from_iter([first]);
        while self.eat(b',') {
            parts.push(self.nested(|parser| parser.bracket_part(state))??);
        }
        self.expect(b']', "behind an address")
            .then(|| Operand::Bracket(boxed(parts)))
    }

    /// One part of a bracket; what can be an address is one.
    fn bracket_part(&mut self, state: &mut BodyState<'t>) -> Option<Operand> {
        let start = self.token.span.start;
        Some(match self.operand(state)? {
            Operand::Address(_) | Operand::Element(..) => {
                let span = self.since(start);
                let message = format!("`{}` is an address by itself", self.slice(span));
                let help = "write it without brackets around it, or with an offset: `[name+4]`";
                self.report(Diag::error(codes::SYN001, span, message).help(help));
                return None;
            }
            Operand::Reg(reg) => Operand::Address(Address {
                base: Base::Reg(reg),
                offset: 0,
            }),
            Operand::Sum(reg, offset) => Operand::Address(Address {
                base: Base::Reg(reg),
                offset,
            }),
            Operand::Symbol(symbol, offset) => Operand::Address(Address {
                base: Base::Symbol(symbol),
                offset,
            }),
            Operand::Imm(Imm::Int(offset)) => Operand::Address(Address {
                base: Base::Absolute,
                offset,
            }),
            Operand::Imm(Imm::Unsigned(offset)) => Operand::Address(Address {
                base: Base::Absolute,
                offset: offset as i64,
            }),
            other => other,
        })
    }
}

/// Just as much memory as it takes, at once.
pub(super) fn boxed(parts: SmallVec<[Operand; 4]>) -> Box<[Operand]> {
    let mut exact = Vec::with_capacity(parts.len());
    exact.extend(parts);
    exact.into_boxed_slice()
}

/// Branches take labels, and calls the labels of their tables.
pub(super) fn may_take_labels(op: &Opcode) -> bool {
    matches!(op.effect, Effect::Branch | Effect::Call)
        || op.row.is_none() && matches!(op.base(), "bra" | "brx" | "call")
}

/// What an undeclared register was probably meant to be, by the custom of compilers.
fn guess(name: &str) -> Type {
    match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "%p" => Type::Pred,
        "%rs" | "%h" => Type::B16,
        "%rd" => Type::B64,
        "%f" => Type::F32,
        "%fd" | "%d" => Type::F64,
        _ => Type::B32,
    }
}
