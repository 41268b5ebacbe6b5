//! The addresses that the lanes of a warp access, for the rules on memory traffic.

use crate::ptx::analysis::{Active, Code, Lanes, Line, Shape, WARP};
use crate::ptx::diag::Diag;
use crate::ptx::ir::{Inst, InstId};
use crate::ptx::lint::context::Context;
use crate::ptx::types::Space;

/// An access whose address is known in every lane, up to a base that all lanes share.
pub(in crate::ptx::lint) struct Access {
    /// Where.
    pub(super) inst: InstId,
    /// To which memory.
    space: Space,
    /// Bytes that each lane accesses.
    pub(super) bytes: u32,
    /// Whether it is atomic.
    pub(super) atomic: bool,
    /// The lanes that take part.
    pub(super) active: Active,
    line: Line,
    /// Whether the CTA has more than one dimension, of sizes that are not known.
    many_dimensions: bool,
}

impl Access {
    /// The accesses of a function where more than one lane takes part and their addresses are known.
    pub(in crate::ptx::lint) fn all(context: &Context, code: Code) -> Vec<Self> {
        let spaces = [Space::Shared, Space::Global, Space::Generic];
        let concerns = |row: &Inst| {
            row.as_mem()
                .is_some_and(|mem| spaces.contains(&mem.space) && (mem.space != Space::Generic || mem.atomic))
        };
        let mut sites = (0..)
            .map(InstId)
            .zip(&code.body.insts)
            .filter(|(_, row)| concerns(row))
            .peekable();
        if sites.peek().is_none() {
            return Vec::new();
        }
        let shape = Shape::of(code.function(), context.launch.block);
        let lanes = Lanes::new(code, shape, concerns);
        sites
            .filter_map(|(inst, row)| Self::new(code, &lanes, shape, inst, row))
            .collect()
    }

    fn new(code: Code, lanes: &Lanes, shape: Shape, inst: InstId, row: &Inst) -> Option<Self> {
        let mem = row
            .as_mem()
            .filter(|_| code.cfg.is_reachable(code.cfg.block_of(inst)))?;
        let line = lanes.address(inst, mem.address)?;
        let mut active = lanes.active(inst);
        if shape.most_threads() < WARP {
            active.mask &= (1 << shape.most_threads()) - 1;
        }
        (active.mask.count_ones() > 1).then(|| Self {
            inst,
            space: mem.space,
            bytes: mem.ty.bytes() * u32::from(mem.lanes),
            atomic: mem.atomic,
            active,
            line,
            many_dimensions: matches!(shape, Shape::Unknown(_)),
        })
    }

    /// The lanes that take part.
    pub(super) fn lanes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.line.lanes.len()).filter(|lane| self.active.mask >> lane & 1 == 1)
    }

    /// The address of a lane, from the base.
    pub(super) fn at(&self, lane: usize) -> i64 {
        self.line.lanes[lane]
    }

    /// The words of four bytes that a lane touches.
    pub(super) fn words(&self, lane: usize) -> impl Iterator<Item = i64> + use<> {
        let start = self.at(lane);
        let last = start.wrapping_add(i64::from(self.bytes.max(1)) - 1);
        start.div_euclid(4)..=last.div_euclid(4)
    }

    /// Says how many more there are, and what was taken for granted.
    pub(super) fn assume(&self, more: usize, what: &str, mut diag: Diag) -> Diag {
        if more > 0 {
            diag = diag.note(format!("{more} more {what} in this function"));
        }
        if self.active.unsure {
            diag = diag.note("assumes that all lanes come here; a condition around it is not known");
        }
        if self.many_dimensions {
            diag = diag.note("assumes that the CTA is at least 32 threads wide in x");
        }
        diag
    }
}

/// The accesses of a function to a space.
pub(super) fn accesses<'c>(context: &'c Context, code: Code, space: Space) -> impl Iterator<Item = &'c Access> {
    context
        .accesses(code)
        .iter()
        .filter(move |access| access.space == space)
}

/// The distance between neighbouring lanes, where it is the same everywhere.
pub(super) fn stride(access: &Access) -> Option<i64> {
    let stride = access.at(1).wrapping_sub(access.at(0));
    let even = (1..32).all(|lane| access.at(lane).wrapping_sub(access.at(lane - 1)) == stride);
    (even && access.active.mask == u32::MAX).then_some(stride)
}
