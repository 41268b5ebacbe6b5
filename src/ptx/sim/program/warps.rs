//! Barriers, fences, and what lanes of a warp do together.

use super::super::lanes::Slot;
use super::decoder::{Decoder, Refused};
use super::{Barrier, Lanes, Rare, Reduce, Shuffle, Sources, Together, Vote};
use crate::ptx::ir::{BarrierKind, BarrierOp, Inst, Operand};
use crate::ptx::num::single::{self, Extreme};
use crate::ptx::types::Type;

/// For which memory a fence between the proxies is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// Shared memory.
    pub shared: bool,
    /// Global memory.
    pub global: bool,
}

/// What `fence.proxy.async` covers; nothing for fences of other proxies.
fn proxy(inst: &Inst) -> Option<Proxy> {
    let has = |name: &str| inst.op.mods().any(|word| word == name);
    let one_way = inst.op.mods().any(|word| word.starts_with("async::generic"));
    let named = has("async") || one_way;
    let shared = has("shared::cta") || has("shared::cluster") || has("shared") || one_way;
    let global = has("global");
    let all = !shared && !global;
    named.then_some(Proxy {
        shared: shared || all,
        global: global || all,
    })
}

impl Decoder<'_> {
    /// Everything of this family.
    pub(super) fn warp_wide(&mut self, inst: &Inst) -> Result<(), Refused> {
        match inst.op.base() {
            "bar" if inst.op.has("warp") => {
                let mask = self.arg(inst, 0, Type::B32)?;
                self.rare(Rare::Together(Together::Sync, Some(mask)));
                Ok(())
            }
            "bar" | "barrier" => self.barrier(inst),
            // What orders the proxies says nothing of threads.
            "membar" | "fence" if inst.op.mods().any(|name| name.starts_with("proxy")) => {
                match proxy(inst) {
                    Some(proxy) => self.rare(Rare::Proxy(proxy)),
                    None => self.rare(Rare::Nothing),
                }
                Ok(())
            }
            "membar" | "fence" => {
                self.rare(Rare::Fence(!inst.op.has("cta")));
                Ok(())
            }
            "shfl" => self.shuffle(inst),
            "vote" => self.vote(inst),
            "match" => self.matching(inst),
            "redux" => self.redux(inst),
            "elect" => self.elect(inst),
            _ => {
                let d = self.dest(inst, Type::B32)?;
                self.rare(Rare::ActiveMask(d));
                Ok(())
            }
        }
    }

    fn barrier(&mut self, inst: &Inst) -> Result<(), Refused> {
        let view = inst.as_barrier().ok_or("a barrier of this kind")?;
        if view.kind == BarrierKind::Cluster {
            return self.cluster_barrier(inst);
        }
        let number = |decoder: &mut Self, operand: Option<&Operand>| match operand {
            Some(operand) => decoder.source(operand, Type::U32).map(Some),
            None => Ok(None),
        };
        let id = number(self, view.id)?.ok_or("a barrier without a number")?;
        let count = number(self, view.count)?;
        let reduce = match view.op {
            BarrierOp::Red => Some(self.reduction(inst)?),
            _ => None,
        };
        self.rare(Rare::Barrier(Barrier {
            aligned: view.aligned,
            arrive: view.op == BarrierOp::Arrive,
            id,
            count,
            reduce,
        }));
        Ok(())
    }

    fn reduction(&mut self, inst: &Inst) -> Result<(Reduce, Slot, Slot), Refused> {
        let kind = match () {
            () if inst.op.has("popc") => Reduce::Count,
            () if inst.op.has("and") => Reduce::All,
            () => Reduce::Any,
        };
        let ty = if kind == Reduce::Count { Type::U32 } else { Type::Pred };
        let d = self.dest(inst, ty)?;
        let p = self.arg(inst, inst.operands.len().saturating_sub(1), Type::Pred)?;
        Ok((kind, p, d))
    }

    /// The mask operand, last; forms without `.sync` have none.
    fn member_mask(&mut self, inst: &Inst, at: usize) -> Result<Option<Slot>, Refused> {
        match inst.op.has("sync") {
            true => self.arg(inst, at, Type::B32).map(Some),
            false => Ok(None),
        }
    }

    fn shuffle(&mut self, inst: &Inst) -> Result<(), Refused> {
        let mode = match () {
            () if inst.op.has("up") => Shuffle::Up,
            () if inst.op.has("down") => Shuffle::Down,
            () if inst.op.has("bfly") => Shuffle::Bfly,
            () => Shuffle::Idx,
        };
        let operand = self.operand(inst, 0)?;
        let (d, valid) = self.pair(operand, Type::B32, Type::Pred)?;
        let a = self.arg(inst, 1, Type::B32)?;
        let (b, c) = (self.arg(inst, 2, Type::B32)?, self.arg(inst, 3, Type::B32)?);
        let is_constant = |at: usize| matches!(inst.operands.get(at), Some(Operand::Imm(_)));
        let (b_row, c_row) = (self.out.file.word_row(b), self.out.file.word_row(c));
        let known = match (is_constant(2), is_constant(3)) {
            (true, true) => Lanes::Fixed(Box::new(Sources::of(mode, &b_row, &c_row))),
            (false, true) if mode == Shuffle::Idx && c_row[0] & 0x1f1f == 0x1f => Lanes::Any,
            _ => Lanes::Unknown,
        };
        let mask = self.member_mask(inst, 4)?;
        self.rare(Rare::Together(
            Together::Shuffle {
                mode,
                d,
                valid,
                a,
                b,
                c,
                known,
            },
            mask,
        ));
        Ok(())
    }

    fn vote(&mut self, inst: &Inst) -> Result<(), Refused> {
        let kind = match () {
            () if inst.op.has("ballot") => Vote::Ballot,
            () if inst.op.has("all") => Vote::All,
            () if inst.op.has("any") => Vote::Any,
            () => Vote::Uni,
        };
        let ty = if kind == Vote::Ballot { Type::B32 } else { Type::Pred };
        let (d, a) = (self.dest(inst, ty)?, self.arg(inst, 1, Type::Pred)?);
        let mask = self.member_mask(inst, 2)?;
        self.rare(Rare::Together(Together::Vote { kind, d, a }, mask));
        Ok(())
    }

    fn matching(&mut self, inst: &Inst) -> Result<(), Refused> {
        let ty = self.ty(inst)?;
        let a = self.arg(inst, 1, ty)?;
        let mask = self.member_mask(inst, 2)?;
        let operand = self.operand(inst, 0)?;
        let (d, pred) = self.pair(operand, Type::B32, Type::Pred)?;
        let what = match inst.op.has("all") {
            true => Together::MatchAll { d, pred, a },
            false => Together::MatchAny { d, a },
        };
        self.rare(Rare::Together(what, mask));
        Ok(())
    }

    fn redux(&mut self, inst: &Inst) -> Result<(), Refused> {
        let ty = self.ty(inst)?;
        let has = |name| inst.op.has(name);
        let f: fn(u32, u32) -> u32 = match (ty, ()) {
            (Type::F32, ()) => return self.redux_single(inst),
            (_, ()) if has("add") => u32::wrapping_add,
            (_, ()) if has("and") => |a, b| a & b,
            (_, ()) if has("or") => |a, b| a | b,
            (_, ()) if has("xor") => |a, b| a ^ b,
            (Type::S32, ()) if has("min") => |a, b| (a as i32).min(b as i32) as u32,
            (Type::S32, ()) if has("max") => |a, b| (a as i32).max(b as i32) as u32,
            (_, ()) if has("min") => u32::min,
            (_, ()) if has("max") => u32::max,
            _ => return Err("its operation".into()),
        };
        let (d, a) = (self.dest(inst, Type::B32)?, self.arg(inst, 1, Type::B32)?);
        let mask = self.member_mask(inst, 2)?;
        self.rare(Rare::Together(Together::Redux { f, d, a }, mask));
        Ok(())
    }

    /// `redux.min.f32`, `.max`: what `.abs` does to the operands happens in front.
    fn redux_single(&mut self, inst: &Inst) -> Result<(), Refused> {
        const QUIET: Extreme = Extreme {
            ftz: false,
            nan: false,
            xorsign_abs: false,
        };
        const NAN: Extreme = Extreme { nan: true, ..QUIET };
        let f: fn(u32, u32) -> u32 = match (inst.op.has("max"), inst.op.has("NaN")) {
            (false, false) => |a, b| single::min(a, b, QUIET),
            (false, true) => |a, b| single::min(a, b, NAN),
            (true, false) => |a, b| single::max(a, b, QUIET),
            (true, true) => |a, b| single::max(a, b, NAN),
        };
        let (d, a) = (self.dest(inst, Type::B32)?, self.arg(inst, 1, Type::B32)?);
        let abs = inst.op.has("abs");
        let given = Slot::Word(self.new_word(0));
        self.lanewise1(given, a, move |a| {
            u64::from(if abs {
                single::abs(a as u32, false)
            } else {
                single::canonical(a as u32)
            })
        });
        let mask = self.member_mask(inst, 2)?;
        self.rare(Rare::Together(Together::Redux { f, d, a: given }, mask));
        Ok(())
    }

    fn elect(&mut self, inst: &Inst) -> Result<(), Refused> {
        let Some(Operand::Pair(pair)) = inst.operands.first() else {
            return Err("an election without a predicate".into());
        };
        let d = self.target(&pair.0, Type::B32)?;
        let pred = self.pred_target(&pair.1)?;
        let mask = self.arg(inst, 1, Type::B32)?;
        self.rare(Rare::Together(Together::Elect { d, pred }, Some(mask)));
        Ok(())
    }
}
