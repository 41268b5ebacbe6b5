//! Checks against naive algorithms on random graphs.

use super::*;
use proptest::prelude::*;

/// Random graphs: edges anywhere, node 0 is the root.
fn graphs() -> impl Strategy<Value = (usize, Vec<(u32, u32)>)> {
    (1usize..24).prop_flat_map(|nodes| {
        let edge = (0..nodes as u32, 0..nodes as u32);
        (Just(nodes), prop::collection::vec(edge, 0..3 * nodes))
    })
}

/// `a` dominates `b` iff the root does not reach `b` once `a` is taken away.
fn naive_dominates(nodes: usize, edges: &[(u32, u32)], a: u32, b: u32) -> bool {
    let reach = |without: Option<u32>| {
        let kept: Vec<_> = edges
            .iter()
            .copied()
            .filter(|(from, to)| Some(*from) != without && Some(*to) != without)
            .collect();
        let roots = (without != Some(0)).then_some(0);
        Digraph::new(nodes, &kept).reachable(roots)
    };
    let all = reach(None);
    all[a as usize] && all[b as usize] && (a == b || !reach(Some(a))[b as usize])
}

proptest! {
    #[test]
    fn dominators_agree_with_the_definition((nodes, edges) in graphs()) {
        let graph = Digraph::new(nodes, &edges);
        let tree = DomTree::new(&graph, &graph.reversed(), 0);
        for a in 0..nodes as u32 {
            for b in 0..nodes as u32 {
                prop_assert_eq!(tree.dominates(a, b), naive_dominates(nodes, &edges, a, b), "{} {}", a, b);
            }
            if let Some(idom) = tree.idom(a) {
                prop_assert!(idom != a && tree.dominates(idom, a));
                prop_assert_eq!(tree.depth(a), tree.depth(idom) + 1);
            }
        }
    }

    #[test]
    fn loops_hold_what_reaches_a_back_edge((nodes, edges) in graphs()) {
        let graph = Digraph::new(nodes, &edges);
        let reversed = graph.reversed();
        let tree = DomTree::new(&graph, &reversed, 0);
        let loops = Loops::new(&graph, &reversed);
        let reachable = graph.reachable([0]);
        for (id, natural) in loops.iter().filter(|(_, natural)| natural.is_natural()) {
            for block in 0..nodes as u32 {
                // In the loop: reachable, and reaches a latch without passing the header.
                let kept: Vec<_> = edges.iter().copied().filter(|edge| edge.0 != natural.header).collect();
                let inner = Digraph::new(nodes, &kept).reachable([block]);
                let expected = reachable[block as usize]
                    && (block == natural.header || natural.latches.iter().any(|latch| *latch != natural.header && inner[*latch as usize]))
                    && tree.dominates(natural.header, block);
                prop_assert_eq!(loops.contains(id, block), expected, "loop at {} block {}", natural.header, block);
            }
        }
        for (from, to) in &edges {
            if tree.dominates(*to, *from) {
                prop_assert!(loops.iter().any(|(_, natural)| natural.header == *to && natural.latches.contains(from)));
            }
        }
        // Nodes share some loop exactly where each can be reached from the other.
        for a in (0..nodes as u32).filter(|node| reachable[*node as usize]) {
            for b in (0..nodes as u32).filter(|node| reachable[*node as usize] && *node != a) {
                let cycle = graph.reachable([a])[b as usize] && graph.reachable([b])[a as usize];
                let shared = loops.around(a).any(|id| loops.contains(id, b));
                prop_assert_eq!(cycle, shared, "{} {}", a, b);
            }
        }
    }

    #[test]
    fn reverse_postorder_puts_sources_first_in_acyclic_graphs((nodes, edges) in graphs()) {
        let forward: Vec<_> = edges.iter().copied().filter(|(from, to)| from < to).collect();
        let graph = Digraph::new(nodes, &forward);
        let order = graph.reverse_postorder(0);
        let position = |node: u32| order.iter().position(|at| *at == node);
        for (from, to) in &forward {
            if let (Some(from), Some(to)) = (position(*from), position(*to)) {
                prop_assert!(from < to);
            }
        }
    }
}
