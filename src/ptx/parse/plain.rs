//! Instructions as compilers write them, read straight from the bytes: most of any file.
//!
//! An instruction is plain if its opcode has been met before, a blank follows it, and its operands are members of banks,
//! numbers, vectors of these, and addresses with a decimal offset, with nothing but blanks between them; or if it is a branch
//! to a label. Whatever is not plain is left to the grammar, from the start of the statement; so all that is said of wrong
//! texts is said there, and a text means the same with and without this path.

use super::Parser;
use super::body::BodyState;
use super::expr::{negate, number};
use super::labels::{Place, Reference};
use super::lexer::{SPACE, WORD, past, register, to_blank};
use super::names::Binding;
use super::operand::{boxed, may_take_labels};
use crate::ptx::ir::{Address, Base, Guard, Imm, Inst, Operand, RegId, Special};
use crate::ptx::source::Span;
use smallvec::SmallVec;
use std::sync::Arc;

type Operands = SmallVec<[Operand; 4]>;

impl<'t> Parser<'t> {
    /// Reads the plain instructions from the token at hand on. False if there are none.
    pub(super) fn plain_instructions(&mut self, state: &mut BodyState<'t>) -> bool {
        let start = self.token.span.start as usize;
        let mut at = start;
        while let Some(end) = self.plain_instruction(state, at) {
            self.end = end as u32;
            at = past(self.text.as_bytes(), end, SPACE);
        }
        if at > start {
            self.lexer.go_on_at(at);
            self.token = self.lexer.next();
        }
        at > start
    }

    /// Reads the plain instruction at `start`; returns where it ends.
    fn plain_instruction(&mut self, state: &mut BodyState<'t>, start: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let (guard, opcode) = match bytes.get(start)? {
            b'@' => self.plain_guard(state, start + 1)?,
            byte if byte.is_ascii_alphabetic() => (None, start),
            _ => return None,
        };
        let end = to_blank(bytes, opcode);
        let op = Arc::clone(self.opcodes.get(self.text.get(opcode..end)?)?);
        let first = past(bytes, end, SPACE);
        let labels = may_take_labels(&op);
        // The operands are put where they stay: an instruction is too large to be moved often.
        state.body.insts.push(Inst {
            op,
            guard,
            operands: Operands::new(),
        });
        let end = if labels {
            self.plain_target(state, first)
        } else {
            self.plain_operands(state, first)
        };
        let Some(end) = end else {
            state.body.insts.pop();
            return None;
        };
        state.finish_inst(Span::new(start as u32, end as u32), end as u32 + 1);
        Some(end + 1)
    }

    /// The guard whose `@` has been passed, and where the opcode starts.
    fn plain_guard(&mut self, state: &mut BodyState<'t>, at: usize) -> Option<(Option<Guard>, usize)> {
        let bytes = self.text.as_bytes();
        let negated = bytes.get(at) == Some(&b'!');
        let (reg, end) = self.plain_register(state, at + usize::from(negated))?;
        let opcode = past(bytes, end, SPACE);
        (opcode > end).then_some((Some(Guard { reg, negated }), opcode))
    }

    /// The label behind a `bra`; returns where it ends.
    fn plain_target(&mut self, state: &mut BodyState<'t>, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let end = past(bytes, at, WORD);
        let name = &self.text[at..end];
        let alone = bytes.get(end) == Some(&b';') && !name.is_empty() && !name.as_bytes()[0].is_ascii_digit();
        let inst = state.body.insts.last_mut()?;
        let branch = alone && inst.op.base() == "bra";
        if !branch || self.names.find(name).is_some() || Special::from_name(name).is_some() {
            return None;
        }
        inst.operands.push(Operand::Pending);
        let span = Span::new(at as u32, end as u32);
        let place = Place::Operand(state.body.insts.len() - 1, 0);
        state.labels.refer(Reference { name, span, place });
        Some(end)
    }

    /// Operands up to a semicolon; returns where that is.
    fn plain_operands(&mut self, state: &mut BodyState<'t>, mut at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        loop {
            let (operand, end) = self.plain_operand(state, at)?;
            state.body.insts.last_mut()?.operands.push(operand);
            match bytes.get(end)? {
                b',' => at = past(bytes, end + 1, SPACE),
                b';' => return Some(end),
                _ => return None,
            }
        }
    }

    #[inline]
    fn plain_operand(&mut self, state: &mut BodyState<'t>, at: usize) -> Option<(Operand, usize)> {
        match self.text.as_bytes().get(at)? {
            b'[' => self.plain_address(state, at + 1),
            b'{' => self.plain_vector(state, at + 1),
            _ => self.plain_value(state, at),
        }
    }

    /// A vector whose brace has been passed.
    fn plain_vector(&mut self, state: &mut BodyState<'t>, mut at: usize) -> Option<(Operand, usize)> {
        let bytes = self.text.as_bytes();
        let mut parts = Operands::new();
        loop {
            let (part, end) = self.plain_value(state, at)?;
            parts.push(part);
            match bytes.get(end)? {
                b',' => at = past(bytes, end + 1, SPACE),
                b'}' => return Some((Operand::Vector(boxed(parts)), end + 1)),
                _ => return None,
            }
        }
    }

    /// A register or a number.
    #[inline]
    fn plain_value(&mut self, state: &mut BodyState<'t>, at: usize) -> Option<(Operand, usize)> {
        if self.text.as_bytes().get(at) == Some(&b'%') {
            let (reg, end) = self.plain_register(state, at)?;
            return Some((Operand::Reg(reg), end));
        }
        let (value, end) = self.plain_number(at)?;
        Some((Operand::Imm(value), end))
    }

    /// An address whose bracket has been passed.
    fn plain_address(&mut self, state: &mut BodyState<'t>, at: usize) -> Option<(Operand, usize)> {
        let bytes = self.text.as_bytes();
        let (base, end) = match bytes.get(at)? {
            b'%' => {
                let (reg, end) = self.plain_register(state, at)?;
                (Base::Reg(reg), end)
            }
            _ => {
                let end = past(bytes, at, WORD);
                let Some(Binding::Symbol(symbol)) = self.names.find(&self.text[at..end]) else {
                    return None;
                };
                (Base::Symbol(symbol), end)
            }
        };
        let (offset, end) = match bytes.get(end)? {
            b'+' => self.plain_number(end + 1)?,
            _ => (Imm::Int(0), end),
        };
        let Imm::Int(offset) = offset else { return None };
        let address = Operand::Address(Address { base, offset });
        (bytes.get(end) == Some(&b']')).then_some((address, end + 1))
    }

    /// A member of a bank.
    #[inline]
    fn plain_register(&mut self, state: &mut BodyState<'t>, at: usize) -> Option<(RegId, usize)> {
        let bytes = self.text.as_bytes();
        if bytes.get(at) != Some(&b'%') {
            return None;
        }
        let (end, member) = register(bytes, at);
        let reg = match self.names.find_member(member)? {
            Binding::Reg(reg) => reg,
            new => self.register_bound(state, Span::new(at as u32, end as u32), Some(new)),
        };
        Some((reg, end))
    }

    /// A number without a point, with a minus sign or without.
    fn plain_number(&self, at: usize) -> Option<(Imm, usize)> {
        let bytes = self.text.as_bytes();
        let negative = bytes.get(at) == Some(&b'-');
        let at = at + usize::from(negative);
        if !bytes.get(at)?.is_ascii_digit() {
            return None;
        }
        let end = past(bytes, at, WORD);
        let text = &self.text[at..end];
        let value = match small(text) {
            Some(value) => Imm::Int(value),
            None => number(text).ok()?,
        };
        Some((if negative { negate(b'-', value)? } else { value }, end))
    }
}

/// The value of a decimal integer of a few digits.
fn small(text: &str) -> Option<i64> {
    let decimal = text.len() <= 18 && (text.len() == 1 || !text.starts_with('0'));
    if !decimal {
        return None;
    }
    text.bytes().try_fold(0, |value, byte| {
        byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0'))
    })
}
