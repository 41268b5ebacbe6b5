//! Mbarriers and cluster barriers in a trial run: warps run on their own, and what each knows of the others' clocks goes from
//! those that arrive to those that wait.
//!
//! A wait on an mbarrier holds its warp until the phase is complete; polling and waiting are the same here. Bulk copies are
//! done at once, and count as writes of the thread that starts them. The other CTAs of a cluster are taken to do their part.

use super::Stop;
use super::access::resolve;
use super::fiber::Who;
use super::log::{Places, Record, Site};
use super::machine::{Machine, Next};
use super::mask::Mask;
use super::parts::Range;
use super::program::{Arg, Row, arg, base};
use super::space::Region;
use super::value::Value;
use crate::ptx::ir::{Inst, Operand};
use crate::ptx::types::Space;
use smallvec::SmallVec;
use std::rc::Rc;

/// Added to the address of an mbarrier to tell it from a barrier's number.
const MBARRIER: u64 = 1 << 62;
/// The cluster's barrier.
const CLUSTER: u64 = 1 << 63;
/// Bytes of a bulk copy that are followed.
const MOST_BYTES: u64 = 1 << 16;

/// What an instruction does to an mbarrier.
#[derive(Clone, Debug)]
pub(super) enum Deed {
    /// Sets it up for this many arrivals.
    Init(Arg),
    /// Expects bytes.
    Expect(Arg),
    /// Completes bytes.
    Bytes(Option<Arg>),
    /// Arrives this often, and may expect bytes.
    Arrive {
        count: Option<Arg>,
        bytes: Option<Arg>,
        drops: bool,
    },
    /// Waits for the phase of this parity.
    Parity(Arg),
    /// Waits for the phase of a token.
    Token(Arg),
    /// Copies so many bytes to shared memory, and completes as many.
    Copy { to: Arg, offset: i64, bytes: Option<Arg> },
}

/// An instruction that works on an mbarrier.
#[derive(Clone, Debug)]
pub(super) struct Signal {
    deed: Deed,
    base: Arg,
    offset: i64,
    generic: bool,
}

impl Signal {
    /// Whether it waits.
    pub(super) fn waits(&self) -> bool {
        matches!(self.deed, Deed::Parity(_) | Deed::Token(_))
    }
}

/// Decodes an instruction that works on an mbarrier.
pub(super) fn decode(inst: &Inst) -> Option<Signal> {
    let name = inst.op.row?.name;
    let part = |at: usize| inst.operands.get(at).map_or(Arg::Other, arg);
    let address = |at: usize| {
        let all = inst.operands.iter().filter_map(|operand| match operand {
            Operand::Address(address) => Some(*address),
            Operand::Bracket(parts) => parts.iter().find_map(|part| match part {
                Operand::Reg(reg) => Some(crate::ptx::ir::Address {
                    base: crate::ptx::ir::Base::Reg(*reg),
                    offset: 0,
                }),
                Operand::Address(address) => Some(*address),
                _ => None,
            }),
            _ => None,
        });
        all.into_iter().nth(at)
    };
    let completes = inst.op.has("mbarrier::complete_tx::bytes");
    let (deed, object) = match name {
        "mbarrier.init" => (Deed::Init(part(1)), address(0)?),
        "mbarrier.expect_tx" => (Deed::Expect(part(1)), address(0)?),
        "mbarrier.complete_tx" => (Deed::Bytes(Some(part(1))), address(0)?),
        "mbarrier.arrive" => {
            let expects = inst.op.has("expect_tx");
            let last = (inst.operands.len() > 2).then(|| part(2));
            let deed = Deed::Arrive {
                count: last.clone().filter(|_| !expects),
                bytes: last.filter(|_| expects),
                drops: inst.op.has("arrive_drop"),
            };
            (deed, address(0)?)
        }
        "mbarrier.test_wait" | "mbarrier.try_wait" if inst.op.has("parity") => (Deed::Parity(part(2)), address(0)?),
        "mbarrier.test_wait" | "mbarrier.try_wait" => (Deed::Token(part(2)), address(0)?),
        "cp.async.mbarrier.arrive" if inst.op.has("noinc") => (Deed::arrive(), address(0)?),
        "tcgen05.commit" => (Deed::arrive(), address(0)?),
        "cp.async.bulk" | "cp.async.bulk.tensor" if completes => {
            let to = address(0)?;
            let deed = Deed::Copy {
                to: base(&to),
                offset: to.offset,
                bytes: (name == "cp.async.bulk").then(|| part(2)),
            };
            (deed, address(2)?)
        }
        "clusterlaunchcontrol.try_cancel" => (Deed::Bytes(Some(Arg::Known(16))), address(1)?),
        _ if completes => (Deed::Bytes(None), address(1)?),
        _ => return None,
    };
    Some(Signal {
        deed,
        base: base(&object),
        offset: object.offset,
        generic: inst.op.space == Space::Generic && name.starts_with("mbarrier"),
    })
}

impl Deed {
    fn arrive() -> Self {
        Deed::Arrive {
            count: None,
            bytes: None,
            drops: false,
        }
    }
}

/// An mbarrier.
#[derive(Clone, Debug, Default)]
pub(super) struct Mbarrier {
    /// Arrivals of a phase.
    count: i64,
    /// Those that are still to come, and bytes.
    pending: i64,
    bytes: i64,
    /// Whether bytes are completed by something whose size is not known.
    lax: bool,
    /// Phases that are complete.
    phases: u64,
    /// Warps that have arrived in this phase.
    warps: u32,
    /// What those that arrived knew of the clocks, in this phase and up to the last that is complete.
    knew: Vec<u32>,
    told: Vec<u32>,
}

/// The cluster's barrier, as far as this CTA goes.
#[derive(Clone, Debug, Default)]
pub(super) struct ClusterBarrier {
    /// Warps that have arrived, and per warp the phase in which it did.
    warps: u32,
    since: Vec<u64>,
    state: Mbarrier,
}

fn join(into: &mut Vec<u32>, from: &[u32]) {
    into.resize(from.len(), 0);
    into.iter_mut()
        .zip(from)
        .for_each(|(own, other)| *own = (*own).max(*other));
}

impl Machine<'_, '_> {
    /// Runs an instruction that works on an mbarrier.
    pub(super) fn signal(&mut self, at: usize, row: &Row, site: Site, signal: &Signal) -> Result<Next, Stop> {
        let who = self.executing(at, row);
        let lanes = who.lanes();
        if lanes.is_empty() {
            return Ok(Next::On);
        }
        if let Deed::Copy { to, offset, bytes } = &signal.deed {
            self.bulk(at, site, to, *offset, bytes.as_ref(), &who);
        }
        let base = self.read(at, &signal.base);
        let address = self.raised(base, signal.offset as u64);
        let range = Range::of(&address, &lanes, self.threads).filter(|range| range.low == range.high);
        let space = if signal.generic { Space::Generic } else { Space::Shared };
        let key = range.map(|range| resolve(space, range.low).1 | MBARRIER);
        let Some(key) = key else {
            // It may be one of another CTA.
            if signal.waits() {
                return Err(Stop::Unclear(site, "it is not known which mbarrier is waited for"));
            }
            row.defs
                .iter()
                .for_each(|def| self.write(at, *def, Value::chaos(), &who));
            return Ok(Next::On);
        };
        match &signal.deed {
            Deed::Parity(which) | Deed::Token(which) => {
                let wanted = self.read(at, which);
                let wanted = lanes.lowest().and_then(|thread| wanted.of(thread));
                let by_parity = matches!(signal.deed, Deed::Parity(_));
                self.await_phase(at, row, site, key, wanted, by_parity, &who)
            }
            deed => {
                let came = |object: &Mbarrier| object.warps >> at & 1 == 1;
                let arrives = matches!(deed, Deed::Arrive { .. });
                if arrives && !self.lenient && self.mbarriers.get(&key).is_some_and(came) {
                    // The others have not come yet: to arrive twice would be to come in their place.
                    let fiber = &mut self.fibers[at];
                    (fiber.waits, fiber.again) = (Some(key), true);
                    return Ok(Next::Again);
                }
                // Where a phase is complete, those that wait for it have their turn before the next one starts.
                Ok(if self.note_signal(at, row, key, deed, &who) {
                    Next::Wait
                } else {
                    Next::On
                })
            }
        }
    }

    /// Something that is done to an mbarrier without waiting; answers whether a phase is complete by it.
    fn note_signal(&mut self, at: usize, row: &Row, key: u64, deed: &Deed, who: &Who) -> bool {
        let lanes = i64::from(who.lanes().len());
        let mut object = self.mbarriers.remove(&key).unwrap_or_default();
        let mut number = |arg: &Option<Arg>| -> Option<i64> {
            let value = self.read(at, arg.as_ref()?);
            who.lanes()
                .lowest()
                .and_then(|thread| value.of(thread))
                .map(|value| value as u32 as i64)
        };
        let mut arrivals = 0;
        match deed {
            Deed::Init(count) => {
                let count = number(&Some(count.clone())).unwrap_or(1);
                object = Mbarrier {
                    count,
                    pending: count,
                    ..Mbarrier::default()
                };
            }
            Deed::Expect(bytes) => object.bytes += number(&Some(bytes.clone())).unwrap_or(0) * lanes,
            Deed::Bytes(bytes) | Deed::Copy { bytes, .. } => match number(bytes) {
                Some(bytes) => object.bytes -= bytes * lanes,
                None => object.lax = true,
            },
            Deed::Arrive { count, bytes, drops } => {
                object.bytes += number(bytes).unwrap_or(0) * lanes;
                arrivals = number(count).unwrap_or(1) * lanes;
                object.count -= if *drops { arrivals } else { 0 };
            }
            Deed::Parity(_) | Deed::Token(_) => {}
        }
        for def in &row.defs {
            self.write(at, *def, Value::same(object.phases), who);
        }
        if !matches!(deed, Deed::Init(_) | Deed::Expect(_)) {
            self.publish(at, &mut object.knew);
        }
        object.pending -= arrivals;
        object.warps |= u32::from(arrivals > 0) << at;
        let complete = object.pending <= 0 && (object.bytes <= 0 || object.lax) && object.count > 0;
        let complete = complete && !matches!(deed, Deed::Init(_));
        if complete {
            object.warps = 0;
            object.pending = object.count;
            object.bytes = 0;
            object.phases += 1;
            object.told = object.knew.clone();
            self.wake(key);
        }
        self.mbarriers.insert(key, object);
        complete
    }

    /// Tells what the warp knows, and lets its clock go on.
    fn publish(&mut self, at: usize, to: &mut Vec<u32>) {
        if let Some(clock) = self.log.clocks.get_mut(at) {
            join(to, clock);
            if let Some(own) = Rc::make_mut(clock).get_mut(at) {
                *own += 1;
            }
        }
    }

    /// The warp learns what others have told, and its lanes have met.
    fn learn(&mut self, at: usize, told: &[u32], who: &Who) {
        if let Some(clock) = self.log.clocks.get_mut(at) {
            let clocks = Rc::make_mut(clock).iter_mut().zip(told).enumerate();
            clocks
                .filter(|(of, _)| *of != at)
                .for_each(|(_, (own, told))| *own = (*own).max(*told));
        }
        self.log.meet(who.lanes().iter(), self.time);
    }

    /// Lets those go on that wait for this.
    fn wake(&mut self, key: u64) {
        for fiber in self.fibers.iter_mut().filter(|fiber| fiber.waits == Some(key)) {
            (fiber.waits, fiber.again) = (None, false);
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn await_phase(
        &mut self,
        at: usize,
        row: &Row,
        site: Site,
        key: u64,
        wanted: Option<u64>,
        by_parity: bool,
        who: &Who,
    ) -> Result<Next, Stop> {
        let Some(wanted) = wanted else {
            return Err(Stop::Unclear(
                site,
                "it is not known which phase of an mbarrier is waited for",
            ));
        };
        let Some(object) = self.mbarriers.get(&key) else {
            return Err(Stop::Unclear(
                site,
                "an mbarrier is waited for that nothing was seen to set up",
            ));
        };
        let done = match by_parity {
            true => object.phases & 1 != wanted & 1,
            false => object.phases > wanted,
        };
        if !done {
            let fiber = &mut self.fibers[at];
            (fiber.waits, fiber.again) = (Some(key), true);
            return Ok(Next::Again);
        }
        let told = object.told.clone();
        self.learn(at, &told, who);
        for def in &row.defs {
            self.write(at, *def, Value::same(1), who);
        }
        Ok(Next::On)
    }

    /// A bulk copy writes to shared memory.
    fn bulk(&mut self, at: usize, site: Site, to: &Arg, offset: i64, bytes: Option<&Arg>, who: &Who) {
        let base = self.read(at, to);
        let address = self.raised(base, offset as u64);
        // Whether it is started more than once has a rule of its own.
        let mut lanes = Mask::default();
        who.lanes().lowest().iter().for_each(|thread| lanes.add(*thread));
        let bytes = bytes.map(|bytes| self.read(at, bytes));
        let bytes = bytes
            .and_then(|bytes| bytes.constant())
            .unwrap_or(16)
            .clamp(1, MOST_BYTES);
        let Some(range) = Range::of(&address, &lanes, self.threads) else {
            return;
        };
        let (space, low) = resolve(Space::Shared, range.low);
        let Region::Shared(symbol, _) = self.layout.region(space, low) else {
            return;
        };
        self.log.sites.insert(site);
        let record = Record {
            site,
            time: self.time,
            lanes,
            places: Places { address, less: 0 },
            bytes: bytes as u32,
            elements: 1,
            writes: true,
            atomic: false,
            strong: false,
            maybe: !who.unknown.is_empty(),
            broadcast: false,
            shared: true,
            values: SmallVec::new(),
            low,
            high: range.high + bytes,
            symbol: Some(symbol),
            anywhere: false,
            synced: self.log.synced.clone(),
            knows: self.log.clocks.get(at).cloned(),
        };
        self.log.note(record);
    }

    /// A barrier of the cluster: an arrival, or the wait for it.
    pub(super) fn cluster(&mut self, at: usize, row: &Row, arrives: bool) -> Next {
        let who = self.executing(at, row);
        if who.lanes().is_empty() {
            return Next::On;
        }
        if arrives {
            let mut state = std::mem::take(&mut self.cluster.state);
            self.publish(at, &mut state.knew);
            self.cluster.since.resize(self.fibers.len(), 0);
            self.cluster.since[at] = state.phases + 1;
            self.cluster.warps |= 1 << at;
            self.cluster.state = state;
            self.close_cluster();
            return Next::On;
        }
        let since = self.cluster.since.get(at).copied().unwrap_or(0);
        if self.cluster.state.phases < since {
            let fiber = &mut self.fibers[at];
            (fiber.waits, fiber.again) = (Some(CLUSTER), true);
            return Next::Again;
        }
        let told = self.cluster.state.told.clone();
        self.learn(at, &told, &who);
        Next::On
    }

    /// Completes the cluster's barrier, if all warps that still run have arrived.
    pub(super) fn close_cluster(&mut self) {
        let arrived = self.cluster.warps;
        let came = |(at, fiber): (usize, &super::fiber::Fiber)| fiber.frames.is_empty() || arrived >> at & 1 == 1;
        if arrived != 0 && self.fibers.iter().enumerate().all(came) {
            let state = &mut self.cluster.state;
            state.phases += 1;
            state.told = state.knew.clone();
            self.cluster.warps = 0;
            self.wake(CLUSTER);
        }
    }

    /// What the first warp waits for that waits for no barrier of the CTA, where none goes on.
    pub(super) fn stuck(&self) -> Option<Site> {
        let fiber = self
            .fibers
            .iter()
            .find(|fiber| fiber.waits.is_some_and(|key| key >= MBARRIER))?;
        let frame = fiber.frames.last()?;
        Some(Site {
            function: frame.function,
            inst: crate::ptx::ir::InstId(frame.stack.last()?.pc),
        })
    }
}
