//! Registers that some path reads before it writes them are watched while threads run; of the others it is known that they
//! are written in time.

use super::decoder::{Decoder, Refused, pred};
use super::{Ins, Op};
use crate::ptx::flow::{Cfg, Liveness};
use crate::ptx::ir::{Body, Inst, InstId, Module, Operand, RegId};
use crate::ptx::types::Type;
use rustc_hash::FxHashMap;

/// The watched registers of a function, each with the predicate that says in which lanes it is written.
#[derive(Debug, Default)]
pub struct Watched {
    regs: FxHashMap<RegId, Option<(u32, u32)>>,
}

impl Watched {
    /// Finds the registers that are live where the body starts.
    pub fn of(module: &Module, body: &Body) -> Self {
        let mut regs = FxHashMap::default();
        let cfg = Cfg::new(module, body);
        if !cfg.problems.is_empty() {
            // Without a graph nothing is known: all are watched.
            regs.extend((0..body.regs.len()).map(|at| (RegId(at as u32), None)));
            return Watched { regs };
        }
        for reg in live_at_entry(body, &cfg) {
            regs.insert(reg, None);
        }
        Watched { regs }
    }
}

fn live_at_entry(body: &Body, cfg: &Cfg) -> Vec<RegId> {
    let mut live: std::collections::BTreeSet<RegId> = Liveness::new(body, cfg).out(0).iter().copied().collect();
    for at in cfg.insts(0).rev() {
        let Some(inst) = body.insts.get(InstId(at).index()) else {
            continue;
        };
        if inst.guard.is_none() {
            inst.defs(&mut |reg| {
                live.remove(&reg);
            });
        }
        inst.uses(&mut |reg| {
            live.insert(reg);
        });
    }
    live.into_iter().collect()
}

impl Decoder<'_> {
    /// The predicate that says where a watched register is written, and the register's number among the names.
    fn watch(&mut self, reg: RegId) -> Option<(u32, u32)> {
        let known = *self.watched.regs.get(&reg)?;
        if known.is_some() {
            return known;
        }
        let name = self
            .body
            .regs
            .get(reg.index())
            .map_or_else(String::new, |decl| decl.name.to_string());
        let at = (self.new_pred(), self.out.names.len() as u32);
        self.out.names.push(name);
        self.watched.regs.insert(reg, Some(at));
        Some(at)
    }

    /// Checks the guard before anything else: where it is not written, nothing can be said.
    pub(super) fn check_guard(&mut self, inst: &Inst) {
        if let Some((a, b)) = inst.guard.and_then(|guard| self.watch(guard.reg)) {
            self.push_always(Ins {
                a,
                b,
                ..Ins::plain(Op::Check)
            });
        }
    }

    /// Checks the watched registers that the instruction reads.
    pub(super) fn check_uses(&mut self, inst: &Inst) -> Result<(), Refused> {
        // A guard was checked for all lanes; `xor %r, %r, %r` and the like say nothing of what was in the register.
        if clears(inst) {
            return Ok(());
        }
        let mut unguarded = Inst {
            guard: None,
            ..inst.clone()
        };
        if inst.op.base() == "wgmma" {
            self.check_accumulator(inst)?;
            unguarded.operands.truncate(0);
            unguarded.operands.extend(inst.operands.iter().skip(1).cloned());
        }
        let mut regs = Vec::new();
        unguarded.uses(&mut |reg| regs.push(reg));
        for reg in regs {
            if let Some((a, b)) = self.watch(reg) {
                self.push(Ins {
                    a,
                    b,
                    ..Ins::plain(Op::Check)
                });
            }
        }
        Ok(())
    }

    /// The accumulator of `wgmma` is read only where its scale says so.
    fn check_accumulator(&mut self, inst: &Inst) -> Result<(), Refused> {
        let scale = match inst.operands.get(if inst.op.has("sp") { 5 } else { 3 }) {
            Some(scale @ (Operand::Reg(_) | Operand::Not(_))) => pred(self.source(scale, Type::Pred)?)?,
            Some(scale) if scale.as_int() == Some(0) => return Ok(()),
            _ => (super::operand::ALWAYS, false),
        };
        let mut regs = Vec::new();
        inst.operands
            .iter()
            .take(1)
            .for_each(|d| d.for_each_reg(&mut |reg| regs.push(reg)));
        for reg in regs {
            if let Some((a, b)) = self.watch(reg) {
                let check = Ins {
                    a,
                    b,
                    ..Ins::plain(Op::Check)
                };
                self.push_under(check, scale);
            }
        }
        Ok(())
    }

    /// Notes that the watched registers are written.
    pub(super) fn mark_defs(&mut self, inst: &Inst) -> Result<(), Refused> {
        let mut regs = Vec::new();
        inst.defs(&mut |reg| regs.push(reg));
        for reg in regs {
            if let Some((d, _)) = self.watch(reg) {
                self.push(Ins {
                    d,
                    ..Ins::plain(Op::Mark)
                });
            }
        }
        Ok(())
    }

    /// Registers that callers fill are written when the function starts.
    pub(super) fn mark_filled(&mut self, reg: RegId) {
        if let Some((d, _)) = self.watch(reg) {
            self.push_always(Ins {
                d,
                ..Ins::plain(Op::Mark)
            });
        }
    }
}

/// Whether the result is the same whatever the register holds: `xor.b32 %r1, %r1, %r1`.
fn clears(inst: &Inst) -> bool {
    let [_, a, b] = inst.operands.as_slice() else {
        return false;
    };
    matches!(inst.op.base(), "xor" | "sub") && a.as_reg().is_some() && a == b
}
