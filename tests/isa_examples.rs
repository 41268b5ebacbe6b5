//! Every example of the instruction table is read, fits its row, and is legal.

mod common;

use ptxgen::ptx::isa::{self, Opcode};

#[test]
fn examples_resolve_to_their_rows() {
    for row in isa::rows() {
        for example in row.examples {
            let opcode = example.split([' ', ';']).next().unwrap();
            let found = Opcode::resolve(opcode);
            assert!(found.is_known(), "{example}: {:?}", found.problem);
            assert_eq!(found.row.unwrap().name, row.name, "{example}");
        }
    }
}
