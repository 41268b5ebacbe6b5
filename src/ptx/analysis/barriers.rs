//! Where threads of a CTA wait for each other: barriers, and calls of functions that hold some.

use super::calls::{Call, Callee};
use crate::ptx::ir::{BarrierKind, BarrierOp, FuncId, InstId, Module, Operand};

/// A place where threads meet a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarrierSite {
    /// The barrier, or the call that leads to one.
    pub inst: InstId,
    /// CTA or cluster.
    pub kind: BarrierKind,
    /// What it does.
    pub op: BarrierOp,
    /// Whether the lanes of a warp must execute it together.
    pub aligned: bool,
    /// Whether it names how many threads take part.
    pub counted: bool,
    /// The called function that holds the barrier.
    pub callee: Option<FuncId>,
}

/// The barriers of every function of a module.
#[derive(Clone, Debug, Default)]
pub struct Barriers {
    of: Vec<Vec<BarrierSite>>,
}

impl Barriers {
    /// Finds them: a call counts where the called function meets a barrier, itself or through further calls.
    pub fn new(module: &Module) -> Self {
        let mut of: Vec<Vec<BarrierSite>> = vec![Vec::new(); module.functions.len()];
        let mut callers: Vec<Vec<(usize, InstId)>> = vec![Vec::new(); module.functions.len()];
        for (at, function) in module.functions.iter().enumerate() {
            let Some(body) = &function.body else { continue };
            for (inst, row) in (0..).map(InstId).zip(&body.insts) {
                if let Some(view) = row.as_barrier() {
                    of[at].push(BarrierSite {
                        inst,
                        kind: view.kind,
                        op: view.op,
                        aligned: view.aligned,
                        counted: view.count.is_some(),
                        callee: None,
                    });
                }
            }
            for call in Call::all(module, body) {
                if let Callee::Known(callee) = call.callee {
                    callers[callee.index()].push((at, call.inst));
                }
            }
        }
        let mut found = Self { of };
        found.spread(&callers);
        found
    }

    /// Hands what functions hold on to their callers.
    fn spread(&mut self, callers: &[Vec<(usize, InstId)>]) {
        let mut pending: Vec<usize> = (0..self.of.len()).filter(|at| !self.of[*at].is_empty()).collect();
        let mut done = vec![false; self.of.len()];
        while let Some(callee) = pending.pop() {
            if std::mem::replace(&mut done[callee], true) {
                continue;
            }
            // The strictest barrier stands for all.
            let sites = &self.of[callee];
            let site = BarrierSite {
                inst: InstId(0),
                kind: if sites.iter().any(|site| site.kind == BarrierKind::Cta) {
                    BarrierKind::Cta
                } else {
                    BarrierKind::Cluster
                },
                op: BarrierOp::Sync,
                aligned: sites.iter().any(|site| site.aligned),
                counted: sites.iter().all(|site| site.counted),
                callee: Some(FuncId(callee as u32)),
            };
            for (caller, inst) in &callers[callee] {
                self.of[*caller].push(BarrierSite {
                    inst: *inst,
                    ..site.clone()
                });
                pending.push(*caller);
            }
        }
        for sites in &mut self.of {
            sites.sort_by_key(|site| site.inst);
            sites.dedup_by_key(|site| site.inst);
        }
    }

    /// The barriers of a function, in textual order.
    pub fn of(&self, function: FuncId) -> &[BarrierSite] {
        self.of.get(function.index()).map_or(&[], Vec::as_slice)
    }
}

impl BarrierSite {
    /// The operand that names the barrier, as written; `None` for calls and cluster barriers.
    pub fn id<'m>(&self, module: &'m Module, function: FuncId) -> Option<&'m Operand> {
        let body = module.function(function).body.as_ref()?;
        body.insts.get(self.inst.index())?.as_barrier()?.id
    }

    /// The operand that says how many threads take part, as written.
    pub fn count<'m>(&self, module: &'m Module, function: FuncId) -> Option<&'m Operand> {
        let body = module.function(function).body.as_ref()?;
        body.insts.get(self.inst.index())?.as_barrier()?.count
    }
}
