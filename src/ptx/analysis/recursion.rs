//! Functions that call themselves, directly or through others.

use super::calls::{Call, Callee};
use crate::ptx::flow::Digraph;
use crate::ptx::ir::{FuncId, InstId, Module};

/// A circle of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle {
    /// The functions, in textual order.
    pub functions: Vec<FuncId>,
    /// A call that leads back, in the first of them.
    pub call: InstId,
}

/// Finds the circles of calls, each once.
pub fn circles(module: &Module) -> Vec<Circle> {
    let calls = calls(module);
    if calls.is_empty() {
        return Vec::new();
    }
    let edges: Vec<(u32, u32)> = calls.iter().map(|(caller, callee, _)| (caller.0, callee.0)).collect();
    let graph = Digraph::new(module.functions.len(), &edges);
    let reversed = graph.reversed();
    let mut done = ends(&graph, &reversed);
    let mut found = Vec::new();
    for (caller, _, _) in &calls {
        if done[caller.index()] {
            continue;
        }
        let (reached, reaching) = (graph.reachable([caller.0]), reversed.reachable([caller.0]));
        let functions: Vec<FuncId> = (0..module.functions.len() as u32)
            .filter(|at| reached[*at as usize] && reaching[*at as usize])
            .map(FuncId)
            .collect();
        functions.iter().for_each(|function| done[function.index()] = true);
        let back = calls
            .iter()
            .find(|(from, to, _)| functions.first() == Some(from) && functions.contains(to));
        if let Some((_, _, call)) = back {
            found.push(Circle { functions, call: *call });
        }
    }
    found
}

/// Which functions are on no circle because all their calls end.
fn ends(graph: &Digraph, reversed: &Digraph) -> Vec<bool> {
    let nodes = graph.len() as u32;
    let mut open: Vec<usize> = (0..nodes).map(|node| graph.next(node).len()).collect();
    let mut stack: Vec<u32> = (0..nodes).filter(|node| open[*node as usize] == 0).collect();
    let mut ends = vec![false; nodes as usize];
    while let Some(node) = stack.pop() {
        ends[node as usize] = true;
        for caller in reversed.next(node) {
            open[*caller as usize] -= 1;
            if open[*caller as usize] == 0 {
                stack.push(*caller);
            }
        }
    }
    ends
}

/// The calls of known functions: caller, callee, instruction.
fn calls(module: &Module) -> Vec<(FuncId, FuncId, InstId)> {
    let mut found = Vec::new();
    for (caller, function) in (0..).map(FuncId).zip(&module.functions) {
        let Some(body) = &function.body else { continue };
        for call in Call::all(module, body) {
            if let Callee::Known(callee) = call.callee {
                found.push((caller, callee, call.inst));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::parse::parse;

    #[test]
    fn circles_are_found_once() {
        let parsed = parse(
            ".version 7.0\n.target sm_80\n.address_size 64\n.func b();\n.func leaf() { ret; }
            .func a() { call b; call leaf; ret; }\n.func b() { call a; ret; }\n.func own() { call own; ret; }
            .entry k() { call a; call own; ret; }",
        );
        assert_eq!(parsed.diags, Vec::new());
        let name = |id: &FuncId| parsed.module.name(parsed.module.function(*id).symbol).to_owned();
        let found: Vec<Vec<String>> = circles(&parsed.module)
            .iter()
            .map(|circle| circle.functions.iter().map(name).collect())
            .collect();
        assert_eq!(found, [vec!["a".to_owned(), "b".to_owned()], vec!["own".to_owned()]]);
    }
}
