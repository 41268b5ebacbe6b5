//! Which runs of a kernel are made: for which shapes of the CTA, with which made-up numbers.

use crate::ptx::analysis::Shape;
use crate::ptx::analysis::trial::{self, Conflict, Fault, Outcome, Programs, Setup, Site};
use crate::ptx::ir::{Body, FuncId, Operand};
use crate::ptx::isa::Extent;
use rustc_hash::FxHashSet;

/// Branches with the ways that were taken.
type Covered = FxHashSet<(Site, bool)>;

/// The runs of one shape.
pub(super) struct Shaped {
    pub(super) block: [u32; 3],
    pub(super) runs: Vec<Outcome>,
    /// The branches that the runs have taken, with the way.
    pub(super) covered: Covered,
}

/// The shapes to try: the exact one, else some usual ones, the smallest first.
pub(super) fn blocks(shape: Shape, body: &Body) -> Vec<[u32; 3]> {
    let specials = || {
        let operands = body.insts.iter().flat_map(|inst| &inst.operands);
        operands.filter_map(|operand| match operand {
            Operand::Special(special) => Some(special),
            _ => None,
        })
    };
    let reads = |name: &str| specials().any(|special| special.name() == name);
    let usual: Vec<[u32; 3]> = match shape {
        Shape::Exact(dims) => return vec![dims],
        // Whoever does not ask which thread it is, is alone.
        _ if !specials().any(|special| special.info().extent > Extent::Cta) => vec![[1, 1, 1]],
        Shape::Line(_) => vec![[32, 1, 1], [64, 1, 1], [128, 1, 1], [256, 1, 1]],
        Shape::Unknown(_) if reads("%tid.z") => vec![[4, 4, 4], [8, 8, 4]],
        Shape::Unknown(_) => vec![[8, 8, 1], [16, 16, 1], [32, 8, 1]],
    };
    let most = shape.most_threads();
    let mut fitting: Vec<[u32; 3]> = usual
        .into_iter()
        .filter(|dims| dims.iter().product::<u32>() <= most)
        .collect();
    if fitting.is_empty() {
        fitting.push([most.max(1), 1, 1]);
    }
    fitting
}

/// Shapes of less than a warp, or hardly more, the largest first.
pub(super) fn smaller(shape: Shape) -> &'static [[u32; 3]] {
    match shape {
        Shape::Exact(_) => &[],
        Shape::Line(_) => &[[16, 1, 1], [8, 1, 1], [4, 1, 1]],
        Shape::Unknown(_) => &[[16, 2, 1], [4, 4, 1], [2, 2, 1]],
    }
}

/// How a kernel is run.
pub(super) struct Plan {
    pub(super) id: FuncId,
    pub(super) grid: Option<[u32; 3]>,
    pub(super) fuel: u32,
    /// Whether the shape of the CTA is not known.
    pub(super) assumed: bool,
    /// Whether the lanes of a warp run in step: before sm_70.
    pub(super) lockstep: bool,
}

impl Plan {
    fn run(
        &self,
        programs: &mut Programs,
        block: [u32; 3],
        sample: u32,
        explore: bool,
        shade: bool,
        covered: &mut Covered,
    ) -> Option<Outcome> {
        let setup = Setup {
            block,
            grid: self.grid,
            cta: None,
            sample,
            explore,
            shade,
        };
        trial::run(programs, self.id, &setup, self.fuel, covered)
    }

    /// Runs a telling shape; all shapes, twice, where that shows anything that must be confirmed.
    pub(super) fn try_all(&self, programs: &mut Programs, blocks: &[[u32; 3]]) -> Option<Vec<Shaped>> {
        let size = |block: &[u32; 3]| block.iter().product::<u32>();
        let lead = *blocks
            .iter()
            .filter(|block| size(block) <= 256)
            .max_by_key(|block| size(block))
            .or(blocks.first())?;
        let mut covered = Covered::default();
        let run = self.run(programs, lead, 0, false, false, &mut covered)?;
        let quiet = self.is_quiet(&run) && {
            let one_sided = is_one_sided(&covered);
            !one_sided || self.is_quiet(&self.run(programs, lead, 0, true, false, &mut covered.clone())?)
        };
        if quiet {
            // Nothing is left to explore.
            let covered = Covered::default();
            let block = lead;
            return Some(vec![Shaped {
                block,
                runs: vec![run],
                covered,
            }]);
        }
        let mut shaped = Vec::new();
        for block in blocks {
            let mut covered = Covered::default();
            let first = self.run(programs, *block, 0, false, true, &mut covered)?;
            let mut runs = vec![first];
            if !self.is_quiet(&runs[0]) {
                runs.push(self.run(programs, *block, 1, false, false, &mut covered)?);
            }
            shaped.push(Shaped {
                block: *block,
                runs,
                covered,
            });
        }
        Some(shaped)
    }

    /// Whether a run has shown nothing that must be confirmed: information is given as it is.
    fn is_quiet(&self, run: &Outcome) -> bool {
        let counts = |conflict: &Conflict| {
            let told_as_info = conflict.equal
                || self.assumed && !conflict.shared
                || self.lockstep && conflict.in_warp && conflict.first != conflict.second;
            !told_as_info
        };
        let rests = |fault: &Fault| matches!(fault.kind.name(), "bounds" | "aligned");
        !run.conflicts.iter().any(counts) && !run.faults.iter().any(rests) && !run.overlaps
    }

    /// Runs a shape again, the other way at branches that have gone one way only; none where there are no such branches.
    pub(super) fn explore(&self, programs: &mut Programs, shaped: &Shaped) -> Vec<Outcome> {
        let samples = if is_one_sided(&shaped.covered) { 0..2 } else { 0..0 };
        samples
            .filter_map(|sample| self.run(programs, shaped.block, sample, true, false, &mut shaped.covered.clone()))
            .collect()
    }
}

/// Whether some branch has gone one way only.
fn is_one_sided(covered: &Covered) -> bool {
    covered.iter().any(|(site, way)| !covered.contains(&(*site, !way)))
}
