//! Natural loops.

use super::{Cfg, Digraph, DomTree};

/// A loop of a [`Loops`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopId(pub u32);

/// A natural loop: the blocks that reach one of the back edges without passing the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The block through which the loop is entered.
    pub header: u32,
    /// The blocks with an edge back to the header.
    pub latches: Vec<u32>,
    /// The loop around it.
    pub parent: Option<LoopId>,
    /// 1 for an outermost loop.
    pub depth: u32,
}

/// The loop forest of a graph.
#[derive(Clone, Debug, Default)]
pub struct Loops {
    loops: Vec<Loop>,
    innermost: Vec<Option<LoopId>>,
    /// Targets of retreating edges that do not dominate their source: entries of loops with several.
    pub irreducible: Vec<u32>,
}

impl Loops {
    /// Finds the loops of a control-flow graph.
    pub fn of_cfg(cfg: &Cfg) -> Self {
        Self::new(cfg.succs(), cfg.preds(), cfg.dom(), cfg.rpo())
    }

    /// Finds the loops. `rpo` is a reverse postorder of the reachable nodes.
    pub fn new(graph: &Digraph, reversed: &Digraph, dom: &DomTree, rpo: &[u32]) -> Self {
        let mut position = vec![u32::MAX; graph.len()];
        for (at, node) in rpo.iter().enumerate() {
            position[*node as usize] = at as u32;
        }
        let mut found = Self {
            loops: Vec::new(),
            innermost: vec![None; graph.len()],
            irreducible: Vec::new(),
        };
        // Inner headers come later in reverse postorder: visited backwards, inner loops are there when outer ones grow over them.
        for header in rpo.iter().rev() {
            let back = |from: &u32| {
                position[*from as usize] != u32::MAX && position[*from as usize] >= position[*header as usize]
            };
            let (latches, others): (Vec<u32>, Vec<u32>) = reversed
                .next(*header)
                .iter()
                .copied()
                .filter(back)
                .partition(|from| dom.dominates(*header, *from));
            if !others.is_empty() {
                found.irreducible.push(*header);
            }
            if !latches.is_empty() {
                found.grow(*header, latches, reversed, dom);
            }
        }
        found.set_depths();
        found
    }

    /// Adds a loop: walks backwards from its latches, from inner loops at once to their headers.
    fn grow(&mut self, header: u32, latches: Vec<u32>, reversed: &Digraph, dom: &DomTree) {
        let id = LoopId(self.loops.len() as u32);
        let mut stack = latches.clone();
        self.loops.push(Loop {
            header,
            latches,
            parent: None,
            depth: 1,
        });
        self.innermost[header as usize].get_or_insert(id);
        while let Some(node) = stack.pop() {
            if node == header || !dom.is_reachable(node) {
                continue;
            }
            let Some(outer) = self.innermost[node as usize].map(|inner| self.outermost(inner)) else {
                self.innermost[node as usize] = Some(id);
                stack.extend(reversed.next(node));
                continue;
            };
            if outer != id {
                self.loops[outer.0 as usize].parent = Some(id);
                stack.extend(reversed.next(self.loops[outer.0 as usize].header));
            }
        }
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
