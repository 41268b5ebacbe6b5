//! Bulk copies into shared memory that are read with no wait on their mbarrier in between.

use super::{Access, Early, Fault, access_of_copy, clash, is_bulk_load};
use crate::ptx::analysis::{Place, Places, Together, Unit};
use crate::ptx::ir::{Inst, InstId, Operand};
use crate::ptx::isa::Effect;
use crate::ptx::lint::bits::Bits;

/// A copy with the mbarrier that tells of its end.
struct Loaded {
    target: Access,
    object: Option<Place>,
}

/// Finds reads that can follow a copy with no wait; the first for each copy.
pub(super) fn early(unit: &Unit, lanes: &Together, places: &mut Places, reads: &mut [Access]) -> Vec<Early> {
    let loaded: Vec<Loaded> = (0..)
        .map(InstId)
        .zip(&unit.body.insts)
        .filter(|(inst, row)| is_bulk_load(row) && unit.cfg.is_reachable(unit.cfg.block_of(*inst)))
        .filter_map(|(inst, row)| loaded(unit, places, inst, row))
        .take(64)
        .collect();
    if loaded.is_empty() {
        return Vec::new();
    }
    let mut bits = Bits::new();
    for (copy, at) in loaded.iter().zip(0u32..) {
        bits.start(copy.target.inst, 1 << at);
        bits.about(unit, lanes, copy.target.inst, 1 << at);
    }
    for (inst, row) in (0..).map(InstId).zip(&unit.body.insts) {
        bits.end(inst, settled(places, inst, row, &loaded));
    }
    let holding = bits.follow(&unit.cfg);
    let mut found: Vec<Early> = Vec::new();
    for read in reads
        .iter_mut()
        .filter(|read| read.place.as_ref().is_some_and(|place| place.offset.is_some()))
    {
        let state = holding.before(read.inst);
        if state == 0 {
            continue;
        }
        read.company = lanes.company(unit, read.inst);
        for (copy, _) in loaded.iter().zip(0u32..).filter(|(_, at)| state >> at & 1 == 1) {
            let said = found
                .iter()
                .any(|early| early.copy == copy.target.inst || early.read == read.inst);
            if !said && let Some(clash) = clash(unit, lanes, &copy.target, read, |_, _| true) {
                found.push(Early {
                    copy: copy.target.inst,
                    read: read.inst,
                    fault: Fault::NotAwaited,
                    clash: Some(clash),
                });
            }
        }
    }
    found
}

fn loaded(unit: &Unit, places: &mut Places, inst: InstId, row: &Inst) -> Option<Loaded> {
    let mut target = access_of_copy(unit, places, inst, row)?;
    target.place.as_ref()?.offset.as_ref()?;
    let size = row.operands.get(2).filter(|_| !row.op.has("tensor"));
    let size = size.and_then(|size| places.evaluator().operand(inst, size)?.constant());
    target.size = size.map_or(16, |size| (size & 0xffff_ffff) as i64);
    let is_bracket = |operand: &&Operand| matches!(operand, Operand::Address(_) | Operand::Bracket(_));
    let object = row
        .operands
        .iter()
        .filter(is_bracket)
        .nth(2)
        .and_then(|operand| places.operand(inst, operand));
    Some(Loaded { target, object })
}

/// The copies that an instruction waits for, or may.
fn settled(places: &mut Places, inst: InstId, row: &Inst, loaded: &[Loaded]) -> u64 {
    let waits = row.op.effect == Effect::Mbarrier && (row.op.has("try_wait") || row.op.has("test_wait"));
    if row.op.effect == Effect::Call || !row.op.is_known() {
        return u64::MAX;
    }
    if !waits {
        return 0;
    }
    let waited = row.operands.get(1).and_then(|operand| places.operand(inst, operand));
    let known = |place: &Option<Place>| place.as_ref().and_then(|place| Some((place.symbol, place.constant()?)));
    let mut bits = 0;
    for (copy, at) in loaded.iter().zip(0u32..) {
        match (known(&copy.object), known(&waited)) {
            (Some(own), Some(other)) if own != other => {}
            _ => bits |= 1 << at,
        }
    }
    bits
}
