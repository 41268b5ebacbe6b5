//! Asynchronous copies of a thread's own (`cp.async`): in flight, waited for, seen by others, followed along every path.
//!
//! The common ground of ASYNC001 to ASYNC004.

mod bulk;
mod flight;
mod late;
mod refill;

pub(super) use late::{Late, Touch, matrix, tensor};
pub(super) use refill::Refill;
use refill::refills;

use crate::ptx::analysis::{Clash, Company, Footprint, Place, Places, Together, Unit};
use crate::ptx::flow::ValueId;
use crate::ptx::ir::{Address, BarrierOp, Base, FuncId, Inst, InstId, Operand};
use crate::ptx::isa::Effect;
use crate::ptx::types::Space;
use flight::{Family, Flight};
use std::rc::Rc;

/// More batches of copies than this are not followed.
const MOST: usize = 128;

/// What is wrong with a read of what a copy writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing waits for the copy before the read.
    NotAwaited,
    /// A wait in between covers older groups only.
    NotCovered(InstId),
    /// The copy's own thread has waited, and no barrier lets others know.
    NotShared(InstId),
    /// Nothing in the kernel waits for the copy.
    Never,
}

/// A read that comes too early.
#[derive(Clone, Debug)]
pub(super) struct Early {
    /// The copy.
    pub(super) copy: InstId,
    /// The read.
    pub(super) read: InstId,
    /// What is wrong.
    pub(super) fault: Fault,
    /// Two threads that touch one byte, where they are known.
    pub(super) clash: Option<Clash>,
}

/// The copies of a function with what is wrong about them.
pub(super) struct Copies {
    /// The function.
    pub(super) function: FuncId,
    /// Reads that come too early; one for each batch of copies.
    pub(super) early: Vec<Early>,
    /// `wait_group`s that wait for nothing, though a copy is in flight.
    pub(super) idle: Vec<InstId>,
    /// Copies over what others may still read.
    pub(super) refills: Vec<Refill>,
}

/// Copies with nothing in between that would tell one from the other.
struct Batch {
    insts: Vec<InstId>,
}

/// An access to shared memory with what is known of it.
pub(super) struct Access {
    inst: InstId,
    place: Option<Place>,
    base: Option<(ValueId, i64)>,
    size: i64,
    company: Option<Company>,
    /// Whether what is read goes to other lanes too.
    spreads: bool,
    /// Threads from this one on have no place in the arrays: the CTA is taken to have fewer.
    room: usize,
}

/// Follows the copies of a function; `None` where there are none.
pub(super) fn find(unit: &Unit, lanes: impl Fn() -> Rc<Together>) -> Option<Copies> {
    let is_copy = |row: &&Inst| is_copy(row) || is_bulk_load(row);
    unit.body.insts.iter().find(is_copy)?;
    let lanes = lanes();
    let mut places = Places::new(unit);
    let mut copies = Copies {
        function: unit.id,
        early: Vec::new(),
        idle: Vec::new(),
        refills: Vec::new(),
    };
    let mut reads = reads(unit, &mut places);
    let room = room(unit, &lanes, &reads);
    for read in &mut reads {
        read.room = room;
    }
    copies.refills = refills(unit, &lanes, &mut places, &reads);
    copies.early = bulk::early(unit, &lanes, &mut places, &mut reads);
    let batches = batches(unit);
    if !batches.is_empty() && batches.len() <= MOST {
        judge(unit, &lanes, &mut places, &batches, reads, &mut copies);
    }
    Some(copies)
}

/// The first thread whose read, which all threads make, runs out of its array: where the CTA's size is not known, it is taken to be
/// one that the arrays have room for.
fn room(unit: &Unit, lanes: &Together, reads: &[Access]) -> usize {
    if unit.shape.threads().is_some() {
        return usize::MAX;
    }
    let first_out = |read: &Access| {
        let place = read.place.as_ref().filter(|place| place.constant().is_none())?;
        let held = unit.module.variable(place.symbol)?.size().filter(|held| *held > 0)?;
        let company = lanes.company(unit, read.inst).filter(|company| company.sure)?;
        let out = |thread: &usize| {
            place
                .at(*thread)
                .is_some_and(|at| at < 0 || at + read.size > held as i64)
        };
        company.threads.iter().find(out)
    };
    let rooms = reads.iter().take(MOST).filter_map(first_out);
    rooms.min().filter(|room| *room > 1).unwrap_or(usize::MAX)
}

/// A copy that its thread waits for by groups.
fn is_copy(row: &Inst) -> bool {
    row.op.effect == Effect::Async && row.op.row.is_some_and(|row| row.name == "cp.async")
}

/// A bulk copy into shared memory.
fn is_bulk_load(row: &Inst) -> bool {
    let name = row.op.row.map_or("", |row| row.name);
    matches!(name, "cp.async.bulk" | "cp.async.bulk.tensor") && row.op.has("mbarrier::complete_tx::bytes")
}

fn batches(unit: &Unit) -> Vec<Batch> {
    let mut found: Vec<Batch> = Vec::new();
    let mut open: Option<u32> = None;
    for (inst, row) in (0..).map(InstId).zip(&unit.body.insts) {
        let block = unit.cfg.block_of(inst);
        if is_copy(row) && unit.cfg.is_reachable(block) {
            match found.last_mut().filter(|_| open == Some(block)) {
                Some(batch) => batch.insts.push(inst),
                None => found.push(Batch { insts: vec![inst] }),
            }
            open = Some(block);
        } else if !matches!(row.op.effect, Effect::Pure) {
            open = None;
        }
    }
    found
}

/// The reads of shared memory.
fn reads(unit: &Unit, places: &mut Places) -> Vec<Access> {
    let mut found = Vec::new();
    for (inst, row) in (0..).map(InstId).zip(&unit.body.insts) {
        let spreads = row.op.base() == "ldmatrix";
        let loads = row.op.effect == Effect::Load
            && matches!(row.op.space, Space::Shared | Space::Generic)
            && row.op.base() == "ld";
        if (loads || spreads)
            && unit.cfg.is_reachable(unit.cfg.block_of(inst))
            && let Some(access) = access(unit, places, inst, row, spreads)
        {
            found.push(access);
        }
    }
    found
}

fn access(unit: &Unit, places: &mut Places, inst: InstId, row: &Inst, spreads: bool) -> Option<Access> {
    let address = row.operands.iter().find_map(|operand| match operand {
        Operand::Address(address) => Some(address),
        _ => None,
    })?;
    let place = places.address(inst, address);
    let base = base(unit, inst, address);
    let size = match (row.as_mem(), spreads) {
        (_, true) => 16,
        (Some(view), _) => i64::from(view.ty.bytes()) * i64::from(view.lanes),
        _ => return None,
    };
    Some(Access {
        inst,
        place,
        base,
        size,
        company: None,
        spreads,
        room: usize::MAX,
    })
}

fn base(unit: &Unit, inst: InstId, address: &Address) -> Option<(ValueId, i64)> {
    match address.base {
        Base::Reg(reg) => Some((unit.ssa.use_of(inst, reg)?, address.offset)),
        _ => None,
    }
}

/// The copy as an access: where it writes, and how much.
fn target(unit: &Unit, places: &mut Places, inst: InstId) -> Option<Access> {
    let row = &unit.body.insts[inst.index()];
    let mut access = access_of_copy(unit, places, inst, row)?;
    access.size = row.operands.get(2).and_then(Operand::as_int).unwrap_or(4);
    Some(access)
}

fn access_of_copy(unit: &Unit, places: &mut Places, inst: InstId, row: &Inst) -> Option<Access> {
    let Some(Operand::Address(address)) = row.operands.first() else {
        return None;
    };
    Some(Access {
        inst,
        place: places.address(inst, address),
        base: base(unit, inst, address),
        size: 16,
        company: None,
        spreads: false,
        room: usize::MAX,
    })
}

fn judge(
    unit: &Unit,
    lanes: &Together,
    places: &mut Places,
    batches: &[Batch],
    mut reads: Vec<Access>,
    copies: &mut Copies,
) {
    let flight = Flight::new(unit, batches, Family::Copies);
    copies.idle = flight.idle(unit);
    let places_read: Vec<InstId> = reads.iter().map(|read| read.inst).collect();
    let states = flight.before(unit, &places_read);
    // What is waited for later all the same may be too late for the first round of a loop.
    let first_round = Flight::first_round(unit, batches, Family::Copies);
    let first_states = first_round.before(unit, &places_read);
    for (at, batch) in batches.iter().enumerate() {
        let targets: Vec<Access> = batch
            .insts
            .iter()
            .filter_map(|inst| target(unit, places, *inst))
            .collect();
        let mut found = None;
        for (flight, states) in [(&flight, &states), (&first_round, &first_states)] {
            let mut started = reads.iter_mut().zip(states).filter(|(_, states)| states[at] != 0);
            found = found
                .or_else(|| started.find_map(|(read, states)| early(unit, lanes, flight, states[at], &targets, read)));
        }
        copies
            .early
            .extend(found.or_else(|| never(unit, batch, &targets, &reads, &flight)));
    }
}

/// A read while the batch may be under way, if it touches what the batch writes.
fn early(
    unit: &Unit,
    lanes: &Together,
    flight: &Flight<'_>,
    states: u32,
    targets: &[Access],
    read: &mut Access,
) -> Option<Early> {
    let fault = flight.fault(states, read.inst)?;
    if read.company.is_none() {
        read.company = lanes.company(unit, read.inst);
    }
    let own = |target: &&Access| match (target.base, read.base) {
        (Some(a), Some(b)) => a.0 == b.0 && a.1 < b.1 + read.size && b.1 < a.1 + target.size,
        _ => false,
    };
    let shared_only = matches!(fault, Fault::NotShared(_));
    let within_warp = flight.is_warp_synced(states);
    for target in targets {
        if !shared_only && own(&target) && !moves_between(unit, target, read) {
            return Some(Early {
                copy: target.inst,
                read: read.inst,
                fault,
                clash: None,
            });
        }
        let wanted = |writer: usize, reader: usize| {
            let apart = writer != reader || read.spreads;
            let seen = within_warp && writer / 32 == reader / 32;
            !shared_only || (apart && !seen)
        };
        if let Some(clash) = clash(unit, lanes, target, read, wanted) {
            return Some(Early {
                copy: target.inst,
                read: read.inst,
                fault,
                clash: Some(clash),
            });
        }
    }
    None
}

/// Whether the base may have another value at the read than at the copy: it is made anew in a loop around both.
fn moves_between(unit: &Unit, target: &Access, read: &Access) -> bool {
    let Some((value, _)) = target.base else { return true };
    let Some(made) = unit.ssa.value(value).map(|value| value.block) else {
        return true;
    };
    let (copy, read) = (unit.cfg.block_of(target.inst), unit.cfg.block_of(read.inst));
    let in_loop = unit
        .loops
        .around(made)
        .any(|id| unit.loops.contains(id, copy) && unit.loops.contains(id, read));
    in_loop && (read != copy || !unit.cfg.dom().dominates(copy, read))
}

fn clash(
    unit: &Unit,
    lanes: &Together,
    target: &Access,
    read: &Access,
    wanted: impl Fn(usize, usize) -> bool,
) -> Option<Clash> {
    let (from, to) = (target.place.as_ref()?, read.place.as_ref()?);
    let writers = lanes.company(unit, target.inst)?;
    let (readers, room) = (read.company.as_ref()?, read.room);
    let write = Footprint {
        place: from,
        size: target.size,
        threads: writers.threads,
    };
    let read = Footprint {
        place: to,
        size: read.size,
        threads: readers.threads,
    };
    let has_room = |writer: usize, reader: usize| writer.max(reader) < room && wanted(writer, reader);
    write.clash(&read, has_room)
}

/// A batch for which nothing waits at all, in an array that is read afterwards.
fn never(unit: &Unit, batch: &Batch, targets: &[Access], reads: &[Access], flight: &Flight) -> Option<Early> {
    let first = batch.insts.first()?;
    let block = unit.cfg.block_of(*first);
    let after = unit.cfg.succs().reachable(unit.cfg.succs().next(block).iter().copied());
    let follows =
        |inst: InstId| inst > *first && unit.cfg.block_of(inst) == block || after[unit.cfg.block_of(inst) as usize];
    if flight.waits().any(follows) {
        return None;
    }
    let target = targets.iter().find(|target| target.place.is_some())?;
    let symbol = target.place.as_ref()?.symbol;
    let read = reads
        .iter()
        .find(|read| follows(read.inst) && read.place.as_ref().is_some_and(|place| place.symbol == symbol))?;
    Some(Early {
        copy: target.inst,
        read: read.inst,
        fault: Fault::Never,
        clash: None,
    })
}

/// What an instruction does to threads that wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meeting {
    /// All threads of the CTA, or of a part of it.
    Cta,
    /// Lanes of the warp.
    Warp,
    /// Whoever arrives at an mbarrier.
    Mbarrier,
    /// Nobody knows.
    Unknown,
}

/// Whether threads meet at an instruction.
fn meeting(unit: &Unit, inst: u32) -> Option<Meeting> {
    let row = &unit.body.insts[inst as usize];
    match row.op.effect {
        Effect::Barrier => {
            let view = row.as_barrier()?;
            (view.op != BarrierOp::Arrive).then_some(Meeting::Cta)
        }
        Effect::Warp if row.op.has("sync") => Some(Meeting::Warp),
        Effect::Mbarrier if row.op.has("try_wait") || row.op.has("test_wait") => Some(Meeting::Mbarrier),
        Effect::Call => Some(if unit.barrier_at(inst).is_some() {
            Meeting::Cta
        } else {
            Meeting::Unknown
        }),
        Effect::Other => (!row.op.is_known()).then_some(Meeting::Unknown),
        _ => None,
    }
}
