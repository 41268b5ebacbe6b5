//! Races that show only in CTAs which are larger than the usual ones: threads that share a slot, because an index is cut off.

use super::plan::Plan;
use super::trials::{MOST_HELD, Race, group};
use crate::ptx::analysis::Shape;
use crate::ptx::analysis::trial::{Programs, Sample};
use crate::ptx::diag::Level;
use crate::ptx::ir::{Body, Inst, Operand};
use crate::ptx::isa::Effect;
use crate::ptx::types::Space;

/// The largest CTA.
const LARGEST: u32 = 1024;

/// What shows in the largest CTA that the kernel may have, where it cuts off indices that all usual CTAs stay below.
pub(super) fn find(programs: &mut Programs, plan: &Plan, body: &Body, shape: Shape) -> Vec<Race> {
    let threads = shape.most_threads().min(LARGEST);
    let fits = threads as usize * body.regs.len() <= MOST_HELD;
    if threads <= 256 || !fits || !matches!(shape, Shape::Line(_)) || !cuts_off(body) {
        return Vec::new();
    }
    let block = [threads, 1, 1];
    let Some(run) = plan.small(programs, block, Sample::Large) else {
        return Vec::new();
    };
    if run.strays() {
        return Vec::new();
    }
    let told = run
        .conflicts
        .iter()
        .filter(|conflict| conflict.shared && !conflict.equal && !conflict.maybe);
    let all = told.map(|conflict| Race {
        conflict: *conflict,
        block,
        level: Level::Info,
        others: Vec::new(),
        numbers: None,
    });
    group(all.collect())
}

/// Whether the kernel stores to shared memory, and takes numbers modulo one that is larger than the usual CTAs.
fn cuts_off(body: &Body) -> bool {
    let stores = |inst: &Inst| inst.op.effect == Effect::Store && inst.op.space == Space::Shared;
    let cuts = |inst: &Inst| {
        let number = inst.operands.last().and_then(Operand::as_int);
        number.is_some_and(|number| match inst.op.base() {
            "and" => is_cut(number),
            // Compilers make a remainder of a product.
            "rem" | "mul" | "mad" => (257..i64::from(LARGEST)).contains(&number),
            _ => false,
        })
    };
    body.insts.iter().any(stores) && body.insts.iter().any(cuts)
}

/// Whether a mask keeps the lowest eight or nine bits of an index, scaled by the size of an element or not, or all above them.
fn is_cut(mask: i64) -> bool {
    let low = mask.trailing_zeros();
    let kept = mask.checked_shr(low).unwrap_or(0);
    [255, 511].contains(&kept) && low <= 4 || (8..=9).contains(&low) && mask.unsigned_abs() > 0xffff
}
