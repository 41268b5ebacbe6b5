//! Shapes of CTAs that follow from how a kernel numbers its threads, for kernels that know rows of threads.

use crate::ptx::ir::{Body, Inst, Operand, RegId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Threads of the largest shapes.
const MOST: u32 = 256;
/// Widths to try.
const MOST_WIDTHS: usize = 2;

/// Shapes to try where threads get in each other's way in all usual ones, the smallest first.
///
/// Who numbers threads by `%tid.y * 32 + %tid.x` is made for rows of 32; who asks how many rows there are can do with one.
pub(super) fn shapes(body: &Body) -> Vec<[u32; 3]> {
    let mut found: Vec<[u32; 3]> = Vec::new();
    for width in widths(body) {
        let rows = [2, 4, 8].into_iter().filter(|rows| width * rows <= MOST);
        found.extend(rows.map(|rows| [width, rows, 1]));
    }
    let asks = body
        .insts
        .iter()
        .flat_map(|inst| &inst.operands)
        .any(|operand| matches!(operand, Operand::Special(special) if special.name() == "%ntid.y"));
    if asks {
        found.extend([[32, 1, 1], [128, 1, 1]]);
    }
    found.sort_by_key(|block| block.iter().product::<u32>());
    found
}

/// How many threads a row has, by the numbers of threads that are computed; what is no number of lanes is the pitch of a tile.
fn widths(body: &Body) -> Vec<u32> {
    let (mut across, mut down) = (FxHashSet::default(), FxHashSet::default());
    let mut rows: FxHashMap<RegId, u32> = FxHashMap::default();
    let mut found = FxHashSet::default();
    for inst in &body.insts {
        match &inst.operands[..] {
            [Operand::Reg(to), Operand::Special(special)] => match special.name() {
                "%tid.x" => drop(across.insert(*to)),
                "%tid.y" => drop(down.insert(*to)),
                _ => {}
            },
            [Operand::Reg(to), Operand::Reg(from), by] if down.contains(from) => {
                rows.extend(scale(inst, by).map(|width| (*to, width)));
            }
            [Operand::Reg(_), Operand::Reg(a), Operand::Reg(b)] if ["add", "or"].contains(&inst.op.base()) => {
                let of = |row: &RegId, column: &RegId| rows.get(row).filter(|_| across.contains(column)).copied();
                found.extend(of(a, b).or_else(|| of(b, a)));
            }
            [Operand::Reg(_), Operand::Reg(row), by, Operand::Reg(column)]
                if inst.op.base() == "mad" && down.contains(row) && across.contains(column) =>
            {
                found.extend(by.as_int().and_then(|by| u32::try_from(by).ok()));
            }
            _ => {}
        }
    }
    found.retain(|width: &u32| width.is_power_of_two() && (8..=128).contains(width));
    let mut widths: Vec<u32> = found.into_iter().collect();
    widths.sort_unstable();
    widths.truncate(MOST_WIDTHS);
    widths
}

/// By how much a register is multiplied.
fn scale(inst: &Inst, by: &Operand) -> Option<u32> {
    let by = u32::try_from(by.as_int()?).ok()?;
    match inst.op.base() {
        "shl" => 1u32.checked_shl(by),
        "mul" => Some(by),
        _ => None,
    }
}
