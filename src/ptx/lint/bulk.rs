//! Bulk and tensor copies: which side of them is shared memory, how much they move, who starts them.

use crate::ptx::analysis::{Company, Place, Places, Together, Unit};
use crate::ptx::ir::{FuncId, Inst, InstId, Operand};
use crate::ptx::isa::Effect;
use crate::ptx::types::Space;
use std::rc::Rc;

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Into shared memory.
    Load,
    /// Out of shared memory, in a bulk group.
    Store,
}

/// A bulk copy.
pub(super) struct Bulk {
    /// Where.
    pub(super) inst: InstId,
    /// Which way.
    pub(super) way: Way,
    /// Whether a tensor map describes it.
    pub(super) tensor: bool,
    /// The shared side.
    pub(super) place: Option<Place>,
    /// Bytes, where known.
    pub(super) size: Option<i64>,
    /// Who starts it.
    pub(super) company: Option<Company>,
}

/// What an instruction of the asynchronous proxy reads of shared memory through a descriptor.
pub(super) struct Described {
    /// Where.
    pub(super) inst: InstId,
    /// The arrays that its descriptors are made from.
    pub(super) places: Vec<Place>,
}

/// A write to shared memory by ordinary means.
pub(super) struct Write {
    /// Where.
    pub(super) inst: InstId,
    /// The place.
    pub(super) place: Place,
    /// Bytes.
    pub(super) size: i64,
    /// Who.
    pub(super) company: Option<Company>,
}

/// The bulk copies of a function, and what has to do with them.
pub(super) struct Bulks {
    /// The function.
    pub(super) function: FuncId,
    /// Bulk copies.
    pub(super) copies: Vec<Bulk>,
    /// Matrix instructions that read shared memory through descriptors.
    pub(super) described: Vec<Described>,
    /// Ordinary writes, where the array is known.
    pub(super) writes: Vec<Write>,
}

/// Finds them; `None` where nothing of the asynchronous proxy is used.
pub(super) fn find(unit: &Unit, lanes: impl Fn() -> Rc<Together>) -> Option<Bulks> {
    let wanted = |row: &Inst| way(row).is_some() || reads_by_descriptor(row);
    unit.body.insts.iter().find(|row| wanted(row))?;
    let lanes = lanes();
    let mut places = Places::new(unit);
    let mut found = Bulks {
        function: unit.id,
        copies: Vec::new(),
        described: Vec::new(),
        writes: Vec::new(),
    };
    for (inst, row) in (0..).map(InstId).zip(&unit.body.insts) {
        if !unit.cfg.is_reachable(unit.cfg.block_of(inst)) {
            continue;
        }
        if let Some(way) = way(row) {
            let at = if way == Way::Load { 0 } else { 1 };
            let size = row.operands.get(2).filter(|_| !row.op.has("tensor"));
            let size = size.and_then(|size| places.evaluator().operand(inst, size)?.constant());
            found.copies.push(Bulk {
                inst,
                way,
                tensor: row.op.has("tensor"),
                place: row.operands.get(at).and_then(|operand| places.operand(inst, operand)),
                size: size.map(|size| (size & 0xffff_ffff) as i64),
                company: lanes.company(unit, inst),
            });
        } else if reads_by_descriptor(row) {
            let places = row.operands.iter().filter_map(|operand| match operand {
                Operand::Reg(_) => places.operand(inst, operand),
                _ => None,
            });
            let places = places.collect();
            found.described.push(Described { inst, places });
        } else if let Some(write) = write(unit, &lanes, &mut places, inst, row) {
            found.writes.push(write);
        }
    }
    Some(found)
}

fn way(row: &Inst) -> Option<Way> {
    if row.op.effect != Effect::Async {
        return None;
    }
    match row.op.row?.name {
        "cp.async.bulk" | "cp.async.bulk.tensor" | "cp.reduce.async.bulk" | "cp.reduce.async.bulk.tensor" => {
            if row.op.has("bulk_group") {
                Some(Way::Store)
            } else {
                row.op.has("mbarrier::complete_tx::bytes").then_some(Way::Load)
            }
        }
        _ => None,
    }
}

fn reads_by_descriptor(row: &Inst) -> bool {
    let name = row.op.row.map_or("", |row| row.name);
    row.op.effect == Effect::Async
        && (name == "wgmma.mma_async" || name.starts_with("tcgen05.mma") || name == "tcgen05.cp")
}

fn write(unit: &Unit, lanes: &Together, places: &mut Places, inst: InstId, row: &Inst) -> Option<Write> {
    let spreads = row.op.base() == "stmatrix";
    let stores = row.op.effect == Effect::Store && matches!(row.op.space, Space::Shared | Space::Generic);
    if !stores && !spreads {
        return None;
    }
    let address = row.operands.iter().find_map(|operand| match operand {
        Operand::Address(address) => Some(address),
        _ => None,
    })?;
    let place = places.address(inst, address)?;
    let size = row
        .as_mem()
        .map_or(16, |view| i64::from(view.ty.bytes()) * i64::from(view.lanes));
    Some(Write {
        inst,
        place,
        size,
        company: lanes.company(unit, inst),
    })
}
