//! Where values of a register merge: iterated dominance frontiers, pruned by liveness, one register at a time.

use super::Cfg;
use super::ssa::Accesses;
use crate::ptx::ir::{Body, RegId};

/// Per block, the registers that get a phi there.
pub(super) struct Placed {
    pub(super) of_block: Vec<Vec<RegId>>,
}

/// Pairs of (register, block), grouped by register.
struct ByReg {
    start: Vec<u32>,
    blocks: Vec<u32>,
}

impl ByReg {
    fn new(regs: usize, pairs: &[(RegId, u32)]) -> Self {
        let edges: Vec<_> = pairs.iter().map(|(reg, block)| (reg.0, *block)).collect();
        let mut start = vec![0u32; regs + 1];
        edges.iter().for_each(|(reg, _)| start[*reg as usize + 1] += 1);
        for reg in 0..regs {
            start[reg + 1] += start[reg];
        }
        let mut next = start.clone();
        let mut blocks = vec![0; edges.len()];
        for (reg, block) in edges {
            blocks[next[reg as usize] as usize] = block;
            next[reg as usize] += 1;
        }
        Self { start, blocks }
    }

    fn of(&self, reg: usize) -> &[u32] {
        &self.blocks[self.start[reg] as usize..self.start[reg + 1] as usize]
    }
}

/// Finds the phis of every register.
pub(super) fn phis(body: &Body, cfg: &Cfg, accesses: &Accesses) -> Placed {
    let blocks = cfg.blocks() as usize + 1;
    let (exposed, defined) = block_accesses(body, cfg, accesses);
    let frontier = frontiers(cfg);
    let mut placed = Placed {
        of_block: vec![Vec::new(); blocks],
    };
    // Marks of the register at hand; a mark is stale once the register changes.
    let (mut live, mut has_phi, mut defines) = (vec![0u32; blocks], vec![0u32; blocks], vec![0u32; blocks]);
    let mut stack = Vec::new();
    for reg in 0..body.regs.len() {
        if exposed.of(reg).is_empty() || defined.of(reg).is_empty() {
            continue;
        }
        let stamp = reg as u32 + 1;
        defined
            .of(reg)
            .iter()
            .for_each(|block| defines[*block as usize] = stamp);
        flood_live(cfg, exposed.of(reg), stamp, &defines, &mut live, &mut stack);
        stack.extend(defined.of(reg));
        while let Some(block) = stack.pop() {
            for join in &frontier[block as usize] {
                let at = *join as usize;
                if live[at] == stamp && has_phi[at] != stamp {
                    has_phi[at] = stamp;
                    placed.of_block[at].push(RegId(reg as u32));
                    stack.push(*join);
                }
            }
        }
    }
    placed
}

/// Marks the blocks at whose start the register is live.
fn flood_live(cfg: &Cfg, exposed: &[u32], stamp: u32, defines: &[u32], live: &mut [u32], stack: &mut Vec<u32>) {
    for block in exposed {
        if std::mem::replace(&mut live[*block as usize], stamp) != stamp {
            stack.push(*block);
        }
    }
    while let Some(block) = stack.pop() {
        for pred in cfg.preds().next(block) {
            let at = *pred as usize;
            if defines[at] != stamp && std::mem::replace(&mut live[at], stamp) != stamp {
                stack.push(*pred);
            }
        }
    }
}

/// Per register, the reachable blocks that read it before writing it, and those that write it.
fn block_accesses(body: &Body, cfg: &Cfg, accesses: &Accesses) -> (ByReg, ByReg) {
    let regs = body.regs.len();
    let (mut read_in, mut written_in) = (vec![u32::MAX; regs], vec![u32::MAX; regs]);
    let (mut exposed, mut defined) = (Vec::new(), Vec::new());
    for block in 0..cfg.blocks() {
        if !cfg.is_reachable(block) {
            continue;
        }
        for inst in cfg.insts(block) {
            let survivors = accesses.defs(inst).iter().filter(|def| def.1).map(|def| def.0);
            for reg in accesses.uses(inst).iter().copied().chain(survivors) {
                let at = reg.index();
                if written_in[at] != block && std::mem::replace(&mut read_in[at], block) != block {
                    exposed.push((reg, block));
                }
            }
            for (reg, _) in accesses.defs(inst) {
                if std::mem::replace(&mut written_in[reg.index()], block) != block {
                    defined.push((*reg, block));
                }
            }
        }
    }
    (ByReg::new(regs, &exposed), ByReg::new(regs, &defined))
}

/// Dominance frontiers of the reachable blocks.
fn frontiers(cfg: &Cfg) -> Vec<Vec<u32>> {
    let dom = cfg.dom();
    let mut frontier: Vec<Vec<u32>> = vec![Vec::new(); cfg.blocks() as usize + 1];
    for join in cfg.rpo() {
        let preds = cfg.preds().next(*join);
        // The entry may be a loop's header with a single predecessor, and has no dominator of its own.
        if preds.len() < 2 && *join != 0 {
            continue;
        }
        for pred in preds.iter().filter(|pred| cfg.is_reachable(**pred)) {
            let mut at = Some(*pred);
            while let Some(node) = at.filter(|node| Some(*node) != dom.idom(*join)) {
                // All the way up from here has been walked for this join.
                if frontier[node as usize].last() == Some(join) {
                    break;
                }
                frontier[node as usize].push(*join);
                at = dom.idom(node);
            }
        }
    }
    frontier
}
