//! The walk against brute force: random programs are run with every choice of their conditions.

use super::unwritten;
use crate::ptx::analysis::graphs::{Code, Graphs};
use crate::ptx::ir::FuncId;
use crate::ptx::parse::parse;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;

const REGS: usize = 4;
const PREDICATES: usize = 3;
const STATEMENTS: usize = 14;

/// What a statement does.
#[derive(Clone, Debug)]
enum What {
    Set(usize),
    Copy(usize, usize),
    Add(usize, usize, usize),
    Select(usize, usize, usize, usize),
    Store(usize),
    /// Goes so many statements on.
    Jump(usize),
}

/// A guard: which predicate, and whether negated.
type Guarded = (Option<(usize, bool)>, What);

fn statement() -> impl Strategy<Value = Guarded> {
    let (reg, predicate) = (0..REGS, 0..PREDICATES);
    let what = prop_oneof![
        reg.clone().prop_map(What::Set),
        (reg.clone(), reg.clone()).prop_map(|(to, from)| What::Copy(to, from)),
        (reg.clone(), reg.clone(), reg.clone()).prop_map(|(to, a, b)| What::Add(to, a, b)),
        (reg.clone(), reg.clone(), reg.clone(), predicate.clone()).prop_map(|(to, a, b, p)| What::Select(to, a, b, p)),
        reg.prop_map(What::Store),
        (1usize..5).prop_map(What::Jump),
    ];
    (prop::option::of((predicate, any::<bool>())), what)
}

fn text(program: &[Guarded]) -> String {
    let mut text = String::from(".version 7.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n");
    writeln!(
        text,
        ".reg .pred %p<{PREDICATES}>;\n.reg .b32 %r<{REGS}>;\n.reg .b32 %c<{PREDICATES}>;"
    )
    .unwrap();
    for at in 0..PREDICATES {
        writeln!(
            text,
            "ld.global.u32 %c{at}, [{}];\nsetp.gt.u32 %p{at}, %c{at}, 5;",
            64 + 4 * at
        )
        .unwrap();
    }
    for (at, (guard, what)) in program.iter().enumerate() {
        write!(text, "L{at}: ").unwrap();
        if let Some((predicate, negated)) = guard {
            write!(text, "@{}%p{predicate} ", if *negated { "!" } else { "" }).unwrap();
        }
        match what {
            What::Set(to) => writeln!(text, "mov.u32 %r{to}, 7;"),
            What::Copy(to, from) => writeln!(text, "mov.u32 %r{to}, %r{from};"),
            What::Add(to, a, b) => writeln!(text, "add.u32 %r{to}, %r{a}, %r{b};"),
            What::Select(to, a, b, p) => writeln!(text, "selp.b32 %r{to}, %r{a}, %r{b}, %p{p};"),
            What::Store(from) => writeln!(text, "st.global.u32 [64], %r{from};"),
            What::Jump(by) => writeln!(text, "bra L{};", (at + by).min(program.len())),
        }
        .unwrap();
    }
    writeln!(text, "L{}: ret;\n}}", program.len()).unwrap();
    text
}

/// The registers whose first content is stored, over all choices of the predicates.
fn stored(program: &[Guarded]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for choice in 0..1usize << PREDICATES {
        let holds = |predicate: usize| choice >> predicate & 1 == 1;
        let mut content: Vec<BTreeSet<usize>> = (0..REGS).map(|reg| BTreeSet::from([reg])).collect();
        let mut at = 0;
        while let Some((guard, what)) = program.get(at) {
            at += 1;
            if guard.is_some_and(|(predicate, negated)| holds(predicate) == negated) {
                continue;
            }
            match what {
                What::Set(to) => content[*to].clear(),
                What::Copy(to, from) => content[*to] = content[*from].clone(),
                What::Add(to, a, b) => content[*to] = &content[*a] | &content[*b],
                What::Select(to, a, b, p) => content[*to] = content[if holds(*p) { *a } else { *b }].clone(),
                What::Store(from) => found.extend(&content[*from]),
                What::Jump(by) => at += by - 1,
            }
        }
    }
    found
}

/// The registers that the analysis names.
fn named(text: &str) -> BTreeSet<usize> {
    let parsed = parse(text);
    assert!(parsed.diags.is_empty(), "{:?}\n{}", parsed.diags, text);
    let body = parsed.module.functions[0].body.as_ref().unwrap();
    let graphs = Graphs::new(&parsed.module, body);
    let found = unwritten(Code::new(&parsed.module, FuncId(0), body, &graphs));
    let name = |root| &body.regs[graphs.ssa.value(root).unwrap().reg.index()].name;
    found
        .iter()
        .map(|found| name(found.root)[2..].parse().unwrap())
        .collect()
}

proptest! {
    #[test]
    fn guards_are_followed_exactly(mut program in prop::collection::vec(statement(), 1..STATEMENTS)) {
        program.retain(|(_, what)| !matches!(what, What::Jump(_)));
        let text = text(&program);
        let (found, expected) = (named(&text), stored(&program));
        // At a store to which several registers come, one is told.
        prop_assert!(found.is_subset(&expected), "{:?} but {:?} in\n{}", found, expected, text);
        prop_assert_eq!(found.is_empty(), expected.is_empty(), "{:?} in\n{}", expected, text);
    }

    #[test]
    fn nothing_is_missed_behind_branches(program in prop::collection::vec(statement(), 1..STATEMENTS)) {
        let text = text(&program);
        let (found, expected) = (named(&text), stored(&program));
        prop_assert!(expected.is_empty() || !found.is_empty(), "{:?} in\n{}", expected, text);
    }
}
