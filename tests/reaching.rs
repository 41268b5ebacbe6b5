//! Which definitions reach each use, checked against a naive fixpoint on random programs.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use ptxgen::ptx::flow::{Cfg, Definition, Ssa};
use ptxgen::ptx::ir::{InstId, RegId};
use ptxgen::ptx::parse::parse;
use std::collections::{BTreeMap, BTreeSet};

/// One line of a program: what it does, to which registers, and where it may go.
#[derive(Clone, Debug)]
enum Line {
    Add(u8, u8, u8),
    Guarded(u8, u8),
    Set(u8),
    Jump(u8),
    Maybe(u8),
    Exit,
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let reg = 0u8..5;
    let line = prop_oneof![
        (reg.clone(), reg.clone(), reg.clone()).prop_map(|(d, a, b)| Line::Add(d, a, b)),
        (reg.clone(), reg.clone()).prop_map(|(d, a)| Line::Guarded(d, a)),
        reg.prop_map(Line::Set),
        any::<u8>().prop_map(Line::Jump),
        any::<u8>().prop_map(Line::Maybe),
        Just(Line::Exit),
    ];
    prop::collection::vec(line, 1..30)
}

fn text(lines: &[Line]) -> String {
    let mut text = String::from(
        ".version 7.8\n.target sm_90\n.address_size 64\n.entry k()\n{\n.reg .b32 %r<5>;\n.reg .pred %p;\n",
    );
    for (at, line) in lines.iter().enumerate() {
        let to = |target: &u8| usize::from(*target) % lines.len();
        text += &format!("L{at}:\n");
        text += &match line {
            Line::Add(d, a, b) => format!("add.u32 %r{d}, %r{a}, %r{b};\n"),
            Line::Guarded(d, a) => format!("@%p mov.u32 %r{d}, %r{a};\n"),
            Line::Set(a) => format!("setp.eq.u32 %p, %r{a}, 0;\n"),
            Line::Jump(target) => format!("bra L{};\n", to(target)),
            Line::Maybe(target) => format!("@%p bra L{};\n", to(target)),
            Line::Exit => "@!%p exit;\n".to_owned(),
        };
    }
    text + "}\n"
}

/// A definition: the instruction, or none for what was there at the entry.
type Def = Option<u32>;

proptest! {
    #[test]
    fn values_lead_to_the_definitions_that_reach(lines in lines()) {
        let text = text(&lines);
        let parsed = parse(&text);
        prop_assert!(parsed.diags.is_empty(), "{:?}", parsed.diags);
        let body = parsed.module.functions[0].body.as_ref().unwrap();
        let cfg = Cfg::new(&parsed.module, body);
        let ssa = Ssa::new(body, &cfg);
        let count = body.insts.len();
        let next = |at: usize| -> Vec<usize> {
            let go = match &lines[at] {
                Line::Jump(target) => vec![usize::from(*target) % lines.len()],
                Line::Maybe(target) => vec![usize::from(*target) % lines.len(), at + 1],
                _ => vec![at + 1],
            };
            go.into_iter().filter(|to| *to < count).collect()
        };
        // Before each instruction, what may be in each register.
        let mut before: Vec<BTreeMap<RegId, BTreeSet<Def>>> = vec![BTreeMap::new(); count];
        let all: Vec<RegId> = (0..body.regs.len() as u32).map(RegId).collect();
        for reg in &all {
            before[0].entry(*reg).or_default().insert(None);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for at in 0..count {
                let mut after = before[at].clone();
                if after.is_empty() {
                    continue;
                }
                let guarded = body.insts[at].guard.is_some();
                body.insts[at].defs(&mut |reg| {
                    let place = after.entry(reg).or_default();
                    if !guarded {
                        place.clear();
                    }
                    place.insert(Some(at as u32));
                });
                for to in next(at) {
                    for (reg, defs) in &after {
                        let place = before[to].entry(*reg).or_default();
                        let size = place.len();
                        place.extend(defs);
                        changed |= place.len() != size;
                    }
                }
            }
        }
        for at in (0..count).filter(|at| !before[*at].is_empty()) {
            for value in ssa.uses(InstId(at as u32)) {
                let reg = ssa.value(*value).unwrap().reg;
                let found: BTreeSet<Def> = ssa
                    .reaching(*value)
                    .into_iter()
                    .map(|def| match ssa.value(def).unwrap().definition {
                        Definition::Inst(inst) => Some(inst.0),
                        _ => None,
                    })
                    .collect();
                prop_assert_eq!(&found, &before[at][&reg], "instruction {} register {:?}\n{}", at, reg, text);
            }
        }
    }
}
