//! Loops, those with several entries included (Havlak's nesting forest).

use super::{Cfg, Digraph};

/// A loop of a [`Loops`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopId(pub u32);

/// A loop: the blocks below its header in the depth-first tree from which one of the back edges can be reached without passing the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The block through which the loop is entered; of several entries the one that is reached first.
    pub header: u32,
    /// The blocks with an edge back to the header.
    pub latches: Vec<u32>,
    /// The loop around it.
    pub parent: Option<LoopId>,
    /// 1 for an outermost loop.
    pub depth: u32,
    /// Blocks outside of the loop from which it is entered elsewhere than at its header; none for a natural loop.
    pub side_doors: Vec<u32>,
}

impl Loop {
    /// Whether the header is the only entry.
    pub fn is_natural(&self) -> bool {
        self.side_doors.is_empty()
    }
}

/// The loop forest of a graph.
#[derive(Clone, Debug, Default)]
pub struct Loops {
    loops: Vec<Loop>,
    innermost: Vec<Option<LoopId>>,
}

/// When a depth-first walk enters and leaves each node; unreachable nodes have an empty interval.
struct Walk {
    enter: Vec<u32>,
    leave: Vec<u32>,
    order: Vec<u32>,
}

impl Walk {
    fn new(graph: &Digraph) -> Self {
        let mut walk = Self {
            enter: vec![u32::MAX; graph.len()],
            leave: vec![0; graph.len()],
            order: Vec::new(),
        };
        if graph.is_empty() {
            return walk;
        }
        let mut stack = vec![(0u32, 0usize)];
        walk.enter[0] = 0;
        walk.order.push(0);
        while let Some((node, at)) = stack.last_mut() {
            let next = graph.next(*node);
            let Some(to) = next.get(*at).copied() else {
                walk.leave[*node as usize] = walk.order.len() as u32;
                stack.pop();
                continue;
            };
            *at += 1;
            if walk.enter[to as usize] == u32::MAX {
                walk.enter[to as usize] = walk.order.len() as u32;
                walk.order.push(to);
                stack.push((to, 0));
            }
        }
        walk
    }

    fn is_below(&self, node: u32, above: u32) -> bool {
        (self.enter[above as usize]..self.leave[above as usize]).contains(&self.enter[node as usize])
    }

    fn is_reachable(&self, node: u32) -> bool {
        self.enter[node as usize] != u32::MAX
    }
}

impl Loops {
    /// Finds the loops of a control-flow graph.
    pub fn of_cfg(cfg: &Cfg) -> Self {
        Self::new(cfg.succs(), cfg.preds())
    }

    /// Finds the loops that can be reached from node 0; `reversed` holds the edges the other way round.
    pub fn new(graph: &Digraph, reversed: &Digraph) -> Self {
        let walk = Walk::new(graph);
        let mut found = Self {
            loops: Vec::new(),
            innermost: vec![None; graph.len()],
        };
        // Inner headers are entered later: visited backwards, inner loops are there when outer ones grow over them.
        for header in walk.order.iter().rev() {
            let preds = reversed.next(*header).iter().copied();
            let latches: Vec<u32> = preds.filter(|from| walk.is_below(*from, *header)).collect();
            if !latches.is_empty() {
                found.grow(*header, latches, reversed, &walk);
            }
        }
        found.set_depths();
        found
    }

    /// Adds a loop: walks backwards from its latches, from inner loops at once to where those are entered.
    fn grow(&mut self, header: u32, latches: Vec<u32>, reversed: &Digraph, walk: &Walk) {
        let id = LoopId(self.loops.len() as u32);
        let mut stack = latches.clone();
        let mut side_doors = Vec::new();
        self.loops.push(Loop {
            header,
            latches,
            parent: None,
            depth: 1,
            side_doors: Vec::new(),
        });
        self.innermost[header as usize].get_or_insert(id);
        while let Some(node) = stack.pop() {
            if node == header || !walk.is_reachable(node) {
                continue;
            }
            if !walk.is_below(node, header) {
                side_doors.push(node);
                continue;
            }
            let Some(outer) = self.innermost[node as usize].map(|inner| self.outermost(inner)) else {
                self.innermost[node as usize] = Some(id);
                stack.extend(reversed.next(node));
                continue;
            };
            if outer != id {
                self.loops[outer.0 as usize].parent = Some(id);
                let inner = &self.loops[outer.0 as usize];
                stack.extend(reversed.next(inner.header).iter().chain(&inner.side_doors));
            }
        }
        side_doors.sort_unstable();
        side_doors.dedup();
        self.loops[id.0 as usize].side_doors = side_doors;
    }

    fn outermost(&self, mut id: LoopId) -> LoopId {
        while let Some(parent) = self.loops[id.0 as usize].parent {
            id = parent;
        }
        id
    }

    fn set_depths(&mut self) {
        // A parent is always found after its children.
        for at in (0..self.loops.len()).rev() {
            if let Some(parent) = self.loops[at].parent {
                self.loops[at].depth = self.loops[parent.0 as usize].depth + 1;
            }
        }
    }

    /// The loop of an id.
    pub fn get(&self, id: LoopId) -> &Loop {
        &self.loops[id.0 as usize]
    }

    /// Every loop, inner ones before the loops around them.
    pub fn iter(&self) -> impl Iterator<Item = (LoopId, &Loop)> {
        (0..).map(LoopId).zip(&self.loops)
    }

    /// Number of loops.
    pub fn len(&self) -> usize {
        self.loops.len()
    }

    /// Whether there is no loop.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// The innermost loop around a block.
    pub fn innermost(&self, block: u32) -> Option<LoopId> {
        self.innermost.get(block as usize).copied().flatten()
    }

    /// The loops around a block, innermost first.
    pub fn around(&self, block: u32) -> impl Iterator<Item = LoopId> + '_ {
        std::iter::successors(self.innermost(block), |id| self.get(*id).parent)
    }

    /// Whether the block lies in the loop.
    pub fn contains(&self, id: LoopId, block: u32) -> bool {
        let depth = self.get(id).depth;
        let mut around = self.around(block).skip_while(|inner| self.get(*inner).depth > depth);
        around.next() == Some(id)
    }
}
