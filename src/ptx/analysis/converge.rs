//! Where threads that part meet again.
//!
//! Post-dominators of the plain graph answer this badly for barriers: one path that ends early, in a `ret` for threads
//! out of range or in a failed assertion, and nothing post-dominates anything. Threads that have left hold up no barrier.
//! So the edges on which threads leave for good are set apart ([`Departure`]), and threads meet where the others do.

use crate::ptx::flow::{Cfg, Digraph, DomTree, Loops};
use crate::ptx::ir::{Body, Inst};
use crate::ptx::isa::Effect;
use crate::ptx::types::Space;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// An edge on which threads leave the function for good while others go on to a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The block whose end decides.
    pub from: u32,
    /// Where the leaving threads go; the exit node if they end at once.
    pub to: u32,
    /// Whether all of them end in a trap or in a function that does not return.
    pub fatal: bool,
}

/// Where threads meet again after each branch.
#[derive(Clone, Debug)]
pub struct Converge {
    /// The graph without departures.
    graph: Digraph,
    post: DomTree,
    departures: Vec<Departure>,
    order: Vec<u32>,
}

/// What threads do from the start of each block.
struct Fates {
    /// A barrier can be met.
    meets: Vec<bool>,
    /// All paths end in a trap.
    fatal: Vec<bool>,
    /// Nothing happens any more but the end.
    plain: Vec<bool>,
    /// The depth in the dominator tree above which the subtree's edges lead, departures aside.
    low: Vec<u32>,
    /// Per loop, the number of edges out of it.
    exits: Vec<u32>,
    /// Whether threads end with the function.
    ends: bool,
}

impl Converge {
    /// Finds where threads meet. `is_barrier` tells for each instruction whether threads may wait for each other there; `ends` whether
    /// threads end with the function: those that return to a caller may be waited for, and may wait elsewhere.
    pub fn new(body: &Body, cfg: &Cfg, loops: &Loops, ends: bool, is_barrier: &impl Fn(u32) -> bool) -> Self {
        let mut fates = Fates::new(body, cfg, is_barrier);
        fates.ends = ends;
        fates.count_exits(cfg, loops);
        let mut departures = Vec::new();
        let mut edges = Vec::new();
        for block in 0..cfg.blocks() {
            let succs = cfg.succs().next(block);
            for to in succs {
                match fates.departs(cfg, loops, block, *to) {
                    Some(departure) => departures.push(departure),
                    None => edges.push((block, *to)),
                }
            }
        }
        let graph = Digraph::new(cfg.blocks() as usize + 1, &edges);
        let post = post_dominators(cfg, loops, edges);
        let mut order = vec![u32::MAX; cfg.blocks() as usize + 1];
        (0u32..)
            .zip(cfg.rpo())
            .for_each(|(at, block)| order[*block as usize] = at);
        Self {
            graph,
            post,
            departures,
            order,
        }
    }

    /// Where the threads that go on from a block's end can go.
    pub fn succs(&self, block: u32) -> &[u32] {
        self.graph.next(block)
    }

    /// The edges on which threads leave.
    pub fn departures(&self) -> &[Departure] {
        &self.departures
    }

    /// Where the threads that part at a block's end meet again; `None` if only at their ends.
    pub fn meeting(&self, block: u32) -> Option<u32> {
        // Nodes past the exit stand for the ends of endless loops.
        let exit = self.graph.len() as u32 - 1;
        self.post.idom(block).filter(|node| *node < exit)
    }

    /// Whether all threads that pass `early` and go on also pass `late` afterwards.
    pub fn is_passed_after(&self, late: u32, early: u32) -> bool {
        self.post.dominates(late, early)
    }

    /// The blocks that threads may run between parting at a block's end and meeting again.
    pub fn region(&self, block: u32) -> Vec<u32> {
        self.arm(block, self.succs(block))
    }

    /// The blocks that threads may run from these successors of a block until all that part there meet again.
    pub fn arm(&self, block: u32, starts: &[u32]) -> Vec<u32> {
        let meeting = self.meeting(block);
        let mut seen = FxHashSet::default();
        let mut stack: Vec<u32> = starts.to_vec();
        let mut found = Vec::new();
        while let Some(at) = stack.pop() {
            if Some(at) == meeting || at as usize + 1 == self.graph.len() || !seen.insert(at) {
                continue;
            }
            found.push(at);
            stack.extend(self.succs(at));
        }
        found.sort_unstable_by_key(|at| self.order[*at as usize]);
        found
    }

    /// For each block, the blocks at whose ends it is decided whether threads come to it: its control dependence.
    /// Followed through, it leads from a block to every branch whose [`Converge::region`] the block lies in.
    pub fn controllers(&self) -> Vec<Vec<u32>> {
        let exit = self.graph.len() as u32 - 1;
        let mut controllers: Vec<Vec<u32>> = vec![Vec::new(); self.graph.len()];
        for block in (0..exit).filter(|block| self.succs(*block).len() > 1) {
            let stop = self.post.idom(block);
            for to in self.succs(block) {
                let mut at = Some(*to);
                while let Some(node) = at.filter(|_| at != stop) {
                    if let Some(known) = controllers
                        .get_mut(node as usize)
                        .filter(|known| known.last() != Some(&block))
                    {
                        known.push(block);
                    }
                    at = self.post.idom(node);
                }
            }
        }
        controllers
    }

    /// The blocks where paths from different successors of a block first come together: values merged there depend on the branch.
    pub fn joins(&self, cfg: &Cfg, loops: &Loops, block: u32) -> Vec<u32> {
        let mut search = JoinSearch {
            converge: self,
            cfg,
            block,
            meeting: self.meeting(block),
            labels: FxHashMap::default(),
            pending: BTreeSet::new(),
            joins: Vec::new(),
            headers: false,
        };
        // From within a loop, threads may come round to the branch instead of going on to the meeting point.
        let comes_round = loops
            .innermost(block)
            .is_some_and(|id| search.meeting.is_none_or(|meeting| !loops.contains(id, meeting)));
        for to in self.succs(block) {
            search.reach(*to, *to);
        }
        while let Some((_, at)) = search.pending.pop_first() {
            let label = search.labels.get(&at).copied().unwrap_or(at);
            if search.pending.is_empty() && !search.headers && !comes_round {
                // All threads still under way come from here: they meet others at the meeting point or nowhere.
                if let Some(meeting) = search.meeting
                    && search.labels.get(&meeting).is_some_and(|known| *known != label)
                {
                    search.reach(meeting, label);
                }
                break;
            }
            for to in self.succs(at) {
                search.reach(*to, label);
            }
        }
        search.joins
    }
}

/// Carries along each path where its threads come from: a successor of the branch, or the last join.
struct JoinSearch<'a> {
    converge: &'a Converge,
    cfg: &'a Cfg,
    block: u32,
    meeting: Option<u32>,
    labels: FxHashMap<u32, u32>,
    pending: BTreeSet<(u32, u32)>,
    joins: Vec<u32>,
    /// Whether some path has come to the head of a loop around the branch.
    headers: bool,
}

impl JoinSearch<'_> {
    fn reach(&mut self, to: u32, label: u32) {
        match self.labels.get(&to).copied() {
            None => {
                self.labels.insert(to, label);
            }
            // Nothing new, or a join already.
            Some(known) if known == label || self.joins.contains(&to) => return,
            Some(_) => {
                self.labels.insert(to, to);
                self.joins.push(to);
            }
        }
        // Beyond the meeting point, and in a further round of a loop around the branch, it is another parting.
        if self.cfg.dom().dominates(to, self.block) {
            self.headers = true;
        } else if Some(to) != self.meeting {
            self.pending.insert((self.converge.order[to as usize], to));
        }
    }
}

impl Fates {
    fn new(body: &Body, cfg: &Cfg, is_barrier: &impl Fn(u32) -> bool) -> Self {
        let nodes = cfg.blocks() as usize + 1;
        let with_barrier = (0..cfg.blocks()).filter(|block| cfg.insts(*block).any(is_barrier));
        let mut fates = Self {
            meets: cfg.preds().reachable(with_barrier),
            fatal: vec![false; nodes],
            plain: vec![false; nodes],
            low: vec![u32::MAX; nodes],
            exits: Vec::new(),
            ends: true,
        };
        fates.plain[cfg.exit() as usize] = true;
        for block in cfg.rpo().iter().rev().filter(|block| **block != cfg.exit()) {
            fates.endings(body, cfg, *block);
        }
        for block in cfg.dom().preorder().iter().rev() {
            fates.lowest(cfg, *block);
        }
        fates
    }

    fn endings(&mut self, body: &Body, cfg: &Cfg, block: u32) {
        let at = block as usize;
        let succs = cfg.succs().next(block);
        let traps = cfg.last(block).is_some_and(|last| {
            let last = &body.insts[last.index()];
            last.guard.is_none()
                && (last.op.base() == "trap" || last.op.effect == Effect::Call)
                && succs == [cfg.exit()]
        });
        let all_fatal = !succs.is_empty() && succs.iter().all(|to| self.fatal[*to as usize]);
        self.fatal[at] = !self.meets[at] && (traps || all_fatal);
        let quiet = cfg.insts(block).all(|inst| is_quiet(&body.insts[inst as usize]));
        self.plain[at] = quiet && succs.iter().all(|to| self.plain[*to as usize]);
    }

    /// How far up in the dominator tree the edges lead that leave the subtree of a block, except into plain endings.
    fn lowest(&mut self, cfg: &Cfg, block: u32) {
        let dom = cfg.dom();
        let mut low = self.low[block as usize];
        for to in cfg.succs().next(block) {
            if *to == cfg.exit() || self.plain[*to as usize] {
                continue;
            }
            // A back edge stays within its header's subtree; any other edge within that of its target's dominator.
            let root = if dom.dominates(*to, block) {
                Some(*to)
            } else {
                dom.idom(*to)
            };
            let depth = root.map_or(0, |root| dom.depth(root));
            low = low.min(depth);
        }
        self.low[block as usize] = low;
        if let Some(parent) = dom.idom(block) {
            let parent = &mut self.low[parent as usize];
            *parent = (*parent).min(low);
        }
    }

    /// Counts the ways out of each loop; traps are none.
    fn count_exits(&mut self, cfg: &Cfg, loops: &Loops) {
        self.exits = vec![0; loops.len()];
        for (from, to) in cfg.succs().edges().filter(|(_, to)| !self.fatal[*to as usize]) {
            for id in loops.around(from).take_while(|id| !loops.contains(*id, to)) {
                self.exits[id.0 as usize] += 1;
            }
        }
    }

    /// Whether the edge is the only way out of some loop: then threads that go on will take it too, in a later round.
    fn ends_loop(&self, loops: &Loops, from: u32, to: u32) -> bool {
        let mut left = loops.around(from).take_while(|id| !loops.contains(*id, to));
        left.any(|id| self.exits[id.0 as usize] == 1)
    }

    /// Whether threads that take this edge meet nobody any more, while others go on to a barrier.
    fn departs(&self, cfg: &Cfg, loops: &Loops, from: u32, to: u32) -> Option<Departure> {
        let others = || cfg.succs().next(from).iter().filter(|other| **other != to);
        let fatal = self.fatal[to as usize];
        if fatal && others().any(|other| !self.fatal[*other as usize]) {
            return Some(Departure { from, to, fatal });
        }
        let ends = self.plain[to as usize] || self.is_own_way(cfg, to);
        let departs =
            self.ends && ends && others().any(|other| self.meets[*other as usize]) && !self.ends_loop(loops, from, to);
        departs.then_some(Departure { from, to, fatal })
    }

    /// Whether the block starts a way to the end that meets no barrier and that no other thread joins.
    fn is_own_way(&self, cfg: &Cfg, block: u32) -> bool {
        !self.meets[block as usize]
            && cfg.preds().next(block).len() == 1
            && self.low[block as usize] >= cfg.dom().depth(block)
    }
}

/// Whether the instruction does nothing that others could notice: it ends the function, goes on, or stores its result.
fn is_quiet(inst: &Inst) -> bool {
    match inst.op.effect {
        Effect::Exit => inst.op.base() != "trap",
        Effect::Branch => inst.guard.is_none(),
        Effect::Store => inst.op.space == Space::Param,
        Effect::Pure => true,
        _ => false,
    }
}

/// Post-dominators of the graph, with the ends of endless loops as further ways out.
fn post_dominators(cfg: &Cfg, loops: &Loops, mut edges: Vec<(u32, u32)>) -> DomTree {
    let exit = cfg.exit();
    let mut nodes = exit + 1;
    let reversed = Digraph::new(nodes as usize, &edges).reversed();
    let mut ends = reversed.reachable([exit]);
    // Outer loops first: from inside them, every loop finds its way to their back edges. Among them the last ones first:
    // what leads into an endless loop is not endless itself.
    let mut natural: Vec<_> = loops.iter().map(|(_, natural)| natural).collect();
    natural.sort_by_key(|natural| natural.depth);
    for natural in natural {
        if ends[natural.header as usize] {
            continue;
        }
        // All rounds end in one extra node, which goes round again or out.
        let round = nodes;
        nodes += 1;
        for edge in edges
            .iter_mut()
            .filter(|edge| edge.1 == natural.header && natural.latches.contains(&edge.0))
        {
            edge.1 = round;
        }
        edges.extend([(round, natural.header), (round, exit)]);
        natural
            .latches
            .iter()
            .for_each(|latch| flood(&reversed, &mut ends, *latch));
    }
    for block in cfg.rpo().iter().rev() {
        if !ends[*block as usize] {
            edges.push((*block, exit));
            flood(&reversed, &mut ends, *block);
        }
    }
    let graph = Digraph::new(nodes as usize, &edges);
    DomTree::new(&graph.reversed(), &graph, exit)
}

/// Marks what reaches `from`.
fn flood(reversed: &Digraph, ends: &mut [bool], from: u32) {
    let mut stack = vec![from];
    while let Some(at) = stack.pop() {
        if !std::mem::replace(&mut ends[at as usize], true) {
            stack.extend(reversed.next(at));
        }
    }
}
