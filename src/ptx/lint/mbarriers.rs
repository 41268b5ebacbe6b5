//! What is done to each mbarrier of a function: by whom, how often, with which numbers.
//!
//! The common ground of ASYNC005 to ASYNC009 and ASYNC020.

use crate::ptx::analysis::{Company, Place, Places, Together, Unit};
use crate::ptx::flow::LoopId;
use crate::ptx::ir::{FuncId, Inst, InstId, Operand, SymbolId};
use crate::ptx::isa::Effect;
use std::rc::Rc;

/// What an instruction does to an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// `mbarrier.init`, with the count where it is known.
    Init(Option<u64>),
    /// `mbarrier.inval`.
    Inval,
    /// An arrival, with how many it counts for and the bytes it expects (of `expect_tx`), where known.
    Arrive {
        /// How many arrivals; `None` where not known.
        count: Option<u64>,
        /// Whether bytes are expected, and how many.
        expects: Option<Option<u64>>,
        /// Whether it leaves for good: `arrive_drop`.
        drops: bool,
    },
    /// `mbarrier.expect_tx` alone.
    Expect(Option<u64>),
    /// Something that completes bytes: a bulk copy with its size, where known.
    Bytes(Option<u64>),
    /// An arrival when earlier asynchronous work is done: `tcgen05.commit`, `cp.async.mbarrier.arrive.noinc`.
    Deferred,
    /// An arrival that also raises the count: `cp.async.mbarrier.arrive`.
    Raised,
    /// A test or wait for a phase's parity, where it is known.
    Parity(Option<u64>),
    /// A test or wait by token.
    Token,
}

/// One instruction that works on an mbarrier.
pub(super) struct Use {
    /// Where.
    pub(super) inst: InstId,
    /// What it does.
    pub(super) act: Act,
    /// The object.
    pub(super) place: Option<Place>,
    /// Whether it may be the object of another CTA.
    pub(super) remote: bool,
    /// Who executes it.
    pub(super) company: Option<Company>,
    /// The innermost loop around it.
    pub(super) in_loop: Option<LoopId>,
}

/// The mbarrier instructions of a function.
pub(super) struct Uses {
    /// The function.
    pub(super) function: FuncId,
    /// In textual order.
    pub(super) uses: Vec<Use>,
    /// Whether all objects are known, and nobody else can work on them.
    pub(super) closed: bool,
}

impl Use {
    /// The object, where it is one and the same for all threads.
    pub(super) fn object(&self) -> Option<(SymbolId, i64)> {
        let place = self.place.as_ref()?;
        Some((place.symbol, place.constant()?))
    }

    /// Whether it waits or tests.
    pub(super) fn waits(&self) -> bool {
        matches!(self.act, Act::Parity(_) | Act::Token)
    }

    /// Whether it arrives, now or later.
    pub(super) fn arrives(&self) -> bool {
        matches!(self.act, Act::Arrive { .. } | Act::Deferred | Act::Raised)
    }
}

impl Uses {
    /// The objects with known addresses, in order.
    pub(super) fn objects(&self) -> Vec<(SymbolId, i64)> {
        let mut objects: Vec<_> = self.uses.iter().filter_map(Use::object).collect();
        objects.sort_unstable_by_key(|object| (object.0.0, object.1));
        objects.dedup();
        objects
    }

    /// What is done to an object; `None` where something else may be it too.
    pub(super) fn of(&self, object: (SymbolId, i64)) -> Option<Vec<&Use>> {
        let unclear =
            |one: &&Use| one.object().is_none() && one.place.as_ref().is_none_or(|place| place.symbol == object.0);
        if !self.closed || self.uses.iter().any(|one| unclear(&one)) {
            return None;
        }
        Some(self.uses.iter().filter(|one| one.object() == Some(object)).collect())
    }
}

/// Finds them; `None` where there are none.
pub(super) fn find(unit: &Unit, lanes: impl Fn() -> Rc<Together>) -> Option<Uses> {
    let is_init = |row: &Inst| row.op.effect == Effect::Mbarrier;
    unit.body.insts.iter().find(|row| is_init(row))?;
    let lanes = lanes();
    let mut places = Places::new(unit);
    let mut found = Uses {
        function: unit.id,
        uses: Vec::new(),
        closed: !unit.body.insts.iter().any(|row| row.op.effect == Effect::Call),
    };
    for (inst, row) in (0..).map(InstId).zip(&unit.body.insts) {
        if !unit.cfg.is_reachable(unit.cfg.block_of(inst)) {
            continue;
        }
        let Some((act, operand)) = act(&mut places, inst, row) else {
            continue;
        };
        found.uses.push(Use {
            inst,
            act,
            place: places.operand(inst, operand),
            remote: row.op.has("shared::cluster") || row.op.has("multicast::cluster"),
            company: lanes.company(unit, inst),
            in_loop: unit.loops.innermost(unit.cfg.block_of(inst)),
        });
    }
    Some(found)
}

/// What an instruction does to which mbarrier.
fn act<'r>(places: &mut Places, inst: InstId, row: &'r Inst) -> Option<(Act, &'r Operand)> {
    let name = row.op.row?.name;
    let operand = |at: usize| row.operands.get(at);
    let mut number = |at: usize| {
        let exact = places.evaluator().operand(inst, row.operands.get(at)?)?;
        Some(exact.constant()? & 0xffff_ffff)
    };
    let brackets = || {
        row.operands
            .iter()
            .filter(|operand| matches!(operand, Operand::Address(_) | Operand::Bracket(_)))
    };
    Some(match name {
        "mbarrier.init" => (Act::Init(number(1)), operand(0)?),
        "mbarrier.inval" => (Act::Inval, operand(0)?),
        "mbarrier.expect_tx" => (Act::Expect(number(1)), operand(0)?),
        "mbarrier.complete_tx" => (Act::Bytes(number(1)), operand(0)?),
        "mbarrier.arrive" => {
            let expects = row.op.has("expect_tx").then(|| number(2));
            let count = if expects.is_some() || row.operands.len() < 3 {
                Some(1)
            } else {
                number(2)
            };
            let drops = row.op.has("arrive_drop");
            let act = Act::Arrive { count, expects, drops };
            (act, operand(1)?)
        }
        "mbarrier.test_wait" | "mbarrier.try_wait" => {
            let act = if row.op.has("parity") {
                Act::Parity(number(2).map(|parity| parity & 1))
            } else {
                Act::Token
            };
            (act, operand(1)?)
        }
        "cp.async.mbarrier.arrive" if row.op.has("noinc") => (Act::Deferred, operand(0)?),
        "cp.async.mbarrier.arrive" => (Act::Raised, operand(0)?),
        "cp.async.bulk" | "cp.reduce.async.bulk" if row.op.has("mbarrier::complete_tx::bytes") => {
            (Act::Bytes(number(2)), brackets().nth(2)?)
        }
        "cp.async.bulk.tensor" if row.op.has("mbarrier::complete_tx::bytes") => (Act::Bytes(None), brackets().nth(2)?),
        "st.async" | "red.async" if row.op.has("mbarrier::complete_tx::bytes") => {
            (Act::Bytes(None), brackets().nth(1)?)
        }
        "clusterlaunchcontrol.try_cancel" => (Act::Bytes(Some(16)), brackets().nth(1)?),
        "tcgen05.commit" => (Act::Deferred, operand(0)?),
        _ => return None,
    })
}
