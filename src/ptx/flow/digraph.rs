//! Directed graphs over dense node numbers.

/// A directed graph in compressed rows: the successors of each node lie side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digraph {
    start: Vec<u32>,
    to: Vec<u32>,
}

impl Digraph {
    /// A graph of `nodes` nodes. The order of a node's successors is that of the edges; repeated edges stay repeated.
    /// Edges that name a node out of range are left out.
    pub fn new(nodes: usize, edges: &[(u32, u32)]) -> Self {
        let inside = |edge: &&(u32, u32)| (edge.0 as usize) < nodes && (edge.1 as usize) < nodes;
        let mut start = vec![0u32; nodes + 1];
        for (from, _) in edges.iter().filter(inside) {
            start[*from as usize + 1] += 1;
        }
        for node in 0..nodes {
            start[node + 1] += start[node];
        }
        let mut next = start.clone();
        let mut to = vec![0; start[nodes] as usize];
        for (from, target) in edges.iter().filter(inside) {
            let at = &mut next[*from as usize];
            to[*at as usize] = *target;
            *at += 1;
        }
        Self { start, to }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the edges that leave a node lead.
    pub fn next(&self, node: u32) -> &[u32] {
        &self.to[self.start[node as usize] as usize..self.start[node as usize + 1] as usize]
    }

    /// Every edge, by source.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.len() as u32).flat_map(|from| self.next(from).iter().map(move |to| (from, *to)))
    }

    /// The same edges the other way round; predecessors are in ascending order.
    #[must_use]
    pub fn reversed(&self) -> Digraph {
        let edges: Vec<_> = self.edges().map(|(from, to)| (to, from)).collect();
        Digraph::new(self.len(), &edges)
    }

    /// The nodes reachable from `root` in reverse postorder of a depth-first walk.
    pub fn reverse_postorder(&self, root: u32) -> Vec<u32> {
        let mut order = Vec::new();
        if root as usize >= self.len() {
            return order;
        }
        let mut seen = vec![false; self.len()];
        seen[root as usize] = true;
        let mut stack = vec![(root, 0usize)];
        while let Some((node, at)) = stack.last_mut() {
            // The last successor first, so that the first one comes first in the reversed order.
            let next = self.next(*node);
            if *at < next.len() {
                let target = next[next.len() - 1 - *at];
                *at += 1;
                if !std::mem::replace(&mut seen[target as usize], true) {
                    stack.push((target, 0));
                }
            } else {
                order.push(*node);
                stack.pop();
            }
        }
        order.reverse();
        order
    }

    /// Which nodes can be reached from the given ones, themselves included.
    pub fn reachable(&self, roots: impl IntoIterator<Item = u32>) -> Vec<bool> {
        let mut seen = vec![false; self.len()];
        let mut stack: Vec<u32> = Vec::new();
        for root in roots {
            if !std::mem::replace(&mut seen[root as usize], true) {
                stack.push(root);
            }
        }
        while let Some(node) = stack.pop() {
            for to in self.next(node) {
                if !std::mem::replace(&mut seen[*to as usize], true) {
                    stack.push(*to);
                }
            }
        }
        seen
    }
}
