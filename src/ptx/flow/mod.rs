//! Control flow: graph, dominators, loops, dataflow, reaching definitions.
