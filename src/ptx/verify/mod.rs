//! Legality: is every instruction one that the table knows, with operands that fit, on this target and version?
//!
//! What concerns an opcode alone (does any form take these modifiers? does the module's target have it?) is found once per
//! spelling; operands are matched against the opcode's forms, and the form that comes furthest says what is wrong.
//! Names that are not declared have been reported by the parser; nothing is said twice here.

mod addresses;
mod calls;
mod classes;
mod directives;
mod gates;
mod initial;
mod launch;
mod lines;
mod linkage;
mod module;
mod names;
mod opcode;
mod operands;
mod optix;
mod order;
mod parts;
mod pragmas;
mod prototypes;
mod report;
mod tables;
mod textures;
mod variables;
mod video;
mod width;

pub use module::{SharedMemory, shared_memory};

use super::diag::{Diag, codes};
use super::ir::{Body, Function, Inst, Module, Opcode, Operand};
use super::parse::{Parsed, Pieces, pieces};
use super::source::Span;
use super::types::Type;
use gates::{Environment, Failure};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Everything that is illegal in a parsed module, beyond what the parser has reported already.
pub fn verify(parsed: &Parsed, text: &str) -> Vec<Diag> {
    let mut out = code(parsed, text);
    out.extend(asides(parsed));
    out
}

/// What is wrong with line information and pragmas, in which functions that are otherwise the same may differ.
pub(in crate::ptx) fn asides(parsed: &Parsed) -> Vec<Diag> {
    let mut out = Vec::new();
    lines::check(parsed, &mut out);
    pragmas::check(parsed, &mut out);
    out
}

/// What is wrong with everything else.
pub(in crate::ptx) fn code(parsed: &Parsed, text: &str) -> Vec<Diag> {
    let environment = Environment::of(&parsed.module.header);
    let mut out = Vec::new();
    let mut opcodes = FxHashMap::default();
    let broken = broken(parsed);
    for (index, function) in parsed.module.functions.iter().enumerate() {
        let (Some(body), Some(spans)) = (&function.body, parsed.spans.functions.get(index)) else {
            continue;
        };
        let scope = Scope {
            module: &parsed.module,
            function,
            body,
            text,
            environment: &environment,
            broken: &broken,
            labels: &spans.labels,
        };
        let mut prototypes = calls::Prototypes::default();
        for (inst, span) in body.insts.iter().zip(&spans.insts) {
            if scope.is_broken(*span) {
                continue;
            }
            scope.inst(inst, *span, &mut opcodes, &mut out);
            match inst.op.base() {
                "call" => calls::check(&scope, inst, *span, &mut prototypes, &mut out),
                "brx" | "brx.idx" => tables::check(&scope, inst, *span, &mut out),
                _ => {}
            }
        }
    }
    module::check(parsed, &environment, &mut out);
    directives::check(parsed, &environment, &mut out);
    variables::check(parsed, &environment, &mut out);
    names::check(parsed, &mut out);
    prototypes::check(parsed, &mut out);
    linkage::check(parsed, &mut out);
    optix::check(parsed, &mut out);
    width::check(parsed, &mut out);
    out
}

/// Where the parser lost its way, in order.
fn broken(parsed: &Parsed) -> Vec<u32> {
    let syntax = |diag: &&Diag| matches!(diag.code, codes::SYN001 | codes::SYN002);
    let mut places: Vec<_> = parsed.diags.iter().filter(syntax).map(|diag| diag.span.start).collect();
    places.sort_unstable();
    places
}

/// What is known of an opcode once it has been met.
struct Verdict {
    /// Per form that its modifiers fit: what the module lacks for it.
    failures: Vec<Option<Failure>>,
    /// Whether a failure has been reported: the cause is one, however often the opcode occurs.
    told: bool,
    /// Whether the order of its words has been looked at.
    ordered: bool,
}

type Opcodes = FxHashMap<*const Opcode, Verdict>;

/// Where instructions are checked.
pub(super) struct Scope<'a> {
    module: &'a Module,
    function: &'a Function,
    body: &'a Body,
    text: &'a str,
    environment: &'a Environment,
    /// Where the parser lost its way, in order.
    broken: &'a [u32],
    /// Where each label is defined.
    labels: &'a [Span],
}

impl Scope<'_> {
    /// Whether the parser stumbled in the instruction or right behind it: what is left of it says nothing.
    fn is_broken(&self, span: Span) -> bool {
        let next = self.broken.partition_point(|place| *place < span.start);
        let place = self.broken.get(next);
        place.is_some_and(|place| {
            Span::new(span.end, (*place).max(span.end))
                .of(self.text)
                .trim()
                .is_empty()
        })
    }

    /// Checks one instruction.
    fn inst(&self, inst: &Inst, span: Span, opcodes: &mut Opcodes, out: &mut Vec<Diag>) {
        if let Some(guard) = inst.guard
            && let Some(ty) = self.reg_type(guard.reg)
            && ty != Type::Pred
        {
            let place = self.pieces(span).guard.unwrap_or(span);
            let message = format!(
                "a guard is a `.pred` register, and `{}` is `.{}`",
                self.reg_name(guard.reg),
                ty.name()
            );
            let help = "compare first: `setp.ne.s32 %p, ..., 0;`";
            out.push(Diag::error(codes::ISA005, place, message).help(help));
        }
        if inst.op.problem.is_some() {
            out.push(opcode::report(&inst.op, &self.pieces(span), self.environment));
            return;
        }
        let verdict = opcodes
            .entry(Arc::as_ptr(&inst.op))
            .or_insert_with(|| self.environment.verdict(&inst.op));
        match operands::choose(self, inst, &verdict.failures) {
            Ok(form) => {
                if let Some(Some(failure)) = verdict.failures.get(form)
                    && !std::mem::replace(&mut verdict.told, true)
                {
                    out.push(failure.report(&inst.op, &self.pieces(span), self.environment));
                }
                addresses::check(self, inst, span, out);
                textures::check(self, inst, span, out);
                parts::check(self, inst, span, out);
                video::check(self, inst, span, out);
                if !verdict.ordered {
                    order::check(self, inst, span, out);
                    verdict.ordered = true;
                }
                self.specials(inst, span, out);
            }
            Err(issue) => out.push(report::report(self, inst, &issue, &self.pieces(span))),
        }
    }

    /// Special registers that the module's version or target does not have.
    fn specials(&self, inst: &Inst, span: Span, out: &mut Vec<Diag>) {
        for (at, operand) in inst.operands.iter().enumerate() {
            if let Operand::Special(special) = operand
                && let Some((code, message)) = self.environment.special(special.info())
            {
                let pieces = self.pieces(span);
                let place = pieces.operands.get(at).copied().unwrap_or(span);
                out.push(Diag::error(code, place, message));
            }
        }
    }

    fn pieces(&self, span: Span) -> Pieces {
        pieces(self.text, span)
    }

    /// The type of a register; `None` where it is not declared, which the parser has reported.
    fn reg_type(&self, reg: super::ir::RegId) -> Option<Type> {
        let decl = self.body.regs.get(reg.index())?;
        decl.declared.then_some(decl.ty)
    }

    fn reg_name(&self, reg: super::ir::RegId) -> &str {
        self.body.regs.get(reg.index()).map_or("", |decl| &decl.name)
    }
}

#[cfg(test)]
mod tests;
