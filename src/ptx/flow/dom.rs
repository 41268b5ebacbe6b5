//! Dominators, by the Semi-NCA algorithm: used forwards for dominators, on the reversed graph for post-dominators.

use super::Digraph;

const NONE: u32 = u32::MAX;

/// The dominator tree of the nodes that can be reached from a root.
#[derive(Clone, Debug, Default)]
pub struct DomTree {
    idom: Vec<u32>,
    depth: Vec<u32>,
    /// Preorder interval of each node's subtree: `a` dominates `b` iff `b`'s start lies in `a`'s interval.
    enter: Vec<u32>,
    leave: Vec<u32>,
    preorder: Vec<u32>,
}

/// What the algorithm knows of nodes by their depth-first number.
struct Search {
    number: Vec<u32>,
    vertex: Vec<u32>,
    parent: Vec<u32>,
}

impl DomTree {
    /// The dominators of `graph` from `root`; `reversed` holds the same edges the other way round.
    pub fn new(graph: &Digraph, reversed: &Digraph, root: u32) -> Self {
        let search = depth_first(graph, root);
        let semi = semidominators(&search, reversed);
        let mut idom = vec![NONE; graph.len()];
        // Nearest common ancestor of the parent and the semidominator, found by walking up finished dominators.
        let mut by_number = vec![0u32; search.vertex.len()];
        for number in 1..search.vertex.len() {
            let mut candidate = search.parent[number];
            while candidate > semi[number] {
                candidate = by_number[candidate as usize];
            }
            by_number[number] = candidate;
            idom[search.vertex[number] as usize] = search.vertex[candidate as usize];
        }
        Self::from_idoms(idom, &search.vertex)
    }

    /// Numbers the tree. `order` lists the reachable nodes so that dominators come before what they dominate.
    fn from_idoms(idom: Vec<u32>, order: &[u32]) -> Self {
        let nodes = idom.len();
        let mut size = vec![1u32; nodes];
        for node in order.iter().skip(1).rev() {
            size[idom[*node as usize] as usize] += size[*node as usize];
        }
        let (mut enter, mut leave, mut depth) = (vec![NONE; nodes], vec![0; nodes], vec![0; nodes]);
        let mut next_free = vec![0u32; nodes];
        let mut preorder = vec![0; order.len()];
        for (at, node) in order.iter().enumerate() {
            let node = *node as usize;
            let begin = if at == 0 {
                0
            } else {
                let parent = idom[node] as usize;
                depth[node] = depth[parent] + 1;
                let begin = next_free[parent];
                next_free[parent] += size[node];
                begin
            };
            (enter[node], leave[node]) = (begin, begin + size[node]);
            next_free[node] = begin + 1;
            preorder[begin as usize] = node as u32;
        }
        Self {
            idom,
            depth,
            enter,
            leave,
            preorder,
        }
    }

    /// The immediate dominator; `None` for the root and for unreachable nodes.
    pub fn idom(&self, node: u32) -> Option<u32> {
        self.idom.get(node as usize).copied().filter(|idom| *idom != NONE)
    }

    /// Whether the root reaches the node.
    pub fn is_reachable(&self, node: u32) -> bool {
        self.enter.get(node as usize).is_some_and(|enter| *enter != NONE)
    }

    /// Whether every path from the root to `below` passes `above`; a node dominates itself, and nothing dominates an unreachable one.
    pub fn dominates(&self, above: u32, below: u32) -> bool {
        self.is_reachable(above)
            && self.is_reachable(below)
            && (self.enter[above as usize]..self.leave[above as usize]).contains(&self.enter[below as usize])
    }

    /// Distance from the root in the tree; 0 for the root and for unreachable nodes.
    pub fn depth(&self, node: u32) -> u32 {
        self.depth[node as usize]
    }

    /// The reachable nodes, each before the nodes it dominates, subtrees side by side.
    pub fn preorder(&self) -> &[u32] {
        &self.preorder
    }

    /// One past the preorder position of the last node in the subtree.
    pub fn subtree_end(&self, node: u32) -> u32 {
        self.leave[node as usize]
    }
}

fn depth_first(graph: &Digraph, root: u32) -> Search {
    let mut search = Search {
        number: vec![NONE; graph.len()],
        vertex: Vec::new(),
        parent: Vec::new(),
    };
    if root as usize >= graph.len() {
        return search;
    }
    let mut stack = vec![(root, 0u32)];
    while let Some((node, parent)) = stack.pop() {
        if search.number[node as usize] != NONE {
            continue;
        }
        let number = search.vertex.len() as u32;
        search.number[node as usize] = number;
        search.vertex.push(node);
        search.parent.push(parent);
        let unseen = graph
            .next(node)
            .iter()
            .rev()
            .filter(|to| search.number[**to as usize] == NONE);
        stack.extend(unseen.map(|to| (*to, number)));
    }
    search
}

/// Semidominators by depth-first number, with path compression on the way up.
fn semidominators(search: &Search, reversed: &Digraph) -> Vec<u32> {
    let count = search.vertex.len();
    let mut semi: Vec<u32> = (0..count as u32).collect();
    let mut label = semi.clone();
    let mut ancestor = search.parent.clone();
    let mut path = Vec::new();
    for number in (1..count as u32).rev() {
        for from in reversed.next(search.vertex[number as usize]) {
            let from = search.number[*from as usize];
            if from == NONE {
                continue;
            }
            let best = evaluate(from, number, &mut ancestor, &mut label, &semi, &mut path);
            semi[number as usize] = semi[number as usize].min(semi[best as usize]);
        }
    }
    semi
}

/// The node of least semidominator on the path from `node` up to, not including, the last node not yet linked (`> last`).
fn evaluate(node: u32, last: u32, ancestor: &mut [u32], label: &mut [u32], semi: &[u32], path: &mut Vec<u32>) -> u32 {
    if node <= last {
        return node;
    }
    path.clear();
    let mut at = node;
    while ancestor[at as usize] > last {
        path.push(at);
        at = ancestor[at as usize];
    }
    // Unwind from the top: each node takes over the better label of what lay above it.
    while let Some(below) = path.pop() {
        let above = ancestor[below as usize];
        if semi[label[above as usize] as usize] < semi[label[below as usize] as usize] {
            label[below as usize] = label[above as usize];
        }
        ancestor[below as usize] = ancestor[above as usize];
    }
    label[node as usize]
}
