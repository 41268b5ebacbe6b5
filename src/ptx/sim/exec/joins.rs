//! Which code lies behind which, for judging who went past a barrier.

use super::super::program::{Op, Program, Rare};
use rustc_hash::FxHashMap;

/// What has been found out so far.
#[derive(Debug, Default)]
pub struct Joins {
    behind: FxHashMap<(u32, u32), bool>,
    leads: FxHashMap<(u32, u32), bool>,
}

impl Joins {
    /// Whether one of two places can follow the other: then they are no arms of one branch.
    pub fn follow(&mut self, program: &Program, one: u32, other: u32) -> bool {
        let found = self.leads.entry((one, other));
        *found.or_insert_with(|| reaches(program, one + 1, other) || reaches(program, other + 1, one))
    }

    /// Whether threads that pass a barrier come to where an exiting thread did something before it exited: then that one
    /// went round the barrier. A place that only exits is where early leavers go.
    pub fn is_behind(&mut self, program: &Program, barrier: u32, exit: u32) -> bool {
        *self.behind.entry((barrier, exit)).or_insert_with(|| {
            let start = block_start(program, exit);
            // In one straight piece with the barrier, what lies between them counts.
            let between = (start..exit).contains(&barrier) && barrier + 1 < exit;
            start != exit && (between || reaches(program, barrier + 1, start))
        })
    }
}

fn targets(program: &Program, pc: u32) -> Vec<u32> {
    let Some(ins) = program.code.get(pc as usize) else {
        return Vec::new();
    };
    let guarded = ins.guard != super::super::program::ALWAYS;
    let fall = if guarded { Some(pc + 1) } else { None };
    match ins.op {
        Op::Bra(to) => std::iter::once(to).chain(fall).collect(),
        Op::Rare(at) => match program.rares.get(at as usize) {
            Some(Rare::Uniform(to)) => std::iter::once(*to).chain(fall).collect(),
            Some(Rare::Table(_, to)) => to.iter().copied().chain(fall).collect(),
            Some(Rare::Exit | Rare::Return | Rare::Trap) => fall.into_iter().collect(),
            _ => vec![pc + 1],
        },
        _ => vec![pc + 1],
    }
}

/// The first instruction of the straight piece of code that ends here.
fn block_start(program: &Program, exit: u32) -> u32 {
    let mut entries: Vec<u32> = Vec::new();
    for pc in 0..program.code.len() as u32 {
        entries.extend(
            targets(program, pc)
                .into_iter()
                .filter(|to| *to != pc + 1 && *to <= exit),
        );
        let ends = !targets(program, pc).contains(&(pc + 1)) || targets(program, pc).len() > 1;
        if ends && pc < exit {
            entries.push(pc + 1);
        }
    }
    entries.into_iter().max().unwrap_or(0)
}

fn reaches(program: &Program, from: u32, to: u32) -> bool {
    let mut seen = vec![false; program.code.len()];
    let mut left = vec![from];
    while let Some(pc) = left.pop() {
        let Some(mark) = seen.get_mut(pc as usize).filter(|mark| !**mark) else {
            continue;
        };
        *mark = true;
        if pc == to {
            return true;
        }
        left.extend(targets(program, pc));
    }
    false
}
