//! Loads from where loaded data says, of an array in which every thread stores at a place of its own.

use super::between::orders_ctas;
use super::context::Context;
use super::trials::{Tried, has_barrier};
use crate::ptx::analysis::{Code, Whence};
use crate::ptx::ir::{Inst, InstId};
use crate::ptx::isa::Effect;

/// A load, and a store of another thread that it may meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gather {
    pub(super) store: InstId,
    pub(super) load: InstId,
}

/// The first of a kernel in which nothing else orders threads than barriers.
pub(super) fn find(context: &Context, tried: &Tried) -> Option<Gather> {
    let body = context.parsed.module.function(tried.function).body.as_ref()?;
    let alone = context.launch.grid.is_some_and(|grid| grid == [1; 3]);
    if tried.gathers.is_empty() || orders_ctas(body) || alone && has_barrier(body) {
        return None;
    }
    let code = context.code(tried.function)?;
    let whence = |inst: InstId| {
        let row = code.body.insts.get(inst.index())?;
        Whence::of(&code, inst, row)
    };
    let stores = own_stores(&code);
    tried.gathers.iter().find_map(|load| {
        let from = whence(*load).filter(|from| from.data)?;
        let met = stores.iter().find(|(_, to)| to.meets(&from));
        met.map(|(store, _)| Gather {
            store: *store,
            load: *load,
        })
    })
}

/// The plain stores to global memory at places that follow from the thread's number alone.
fn own_stores(code: &Code) -> Vec<(InstId, Whence)> {
    let is_store = |row: &Inst| row.op.effect == Effect::Store && super::messages::is_plain(row);
    let stores = (0..).map(InstId).zip(&code.body.insts).filter(|(_, row)| is_store(row));
    stores
        .filter_map(|(inst, row)| Some((inst, Whence::of(code, inst, row)?)))
        .filter(|(_, whence)| whence.thread && !whence.data)
        .collect()
}
