//! The shadow against a model of it: a plain entry for each byte.

use super::shadow::{Shadow, Suspect, Visit};
use super::tag::{Order, Tag, together};
use proptest::prelude::*;

const LEN: usize = 600;

/// The last writer, reader, second reader and atomic access of each byte.
#[derive(Clone, Default)]
struct Byte([(u64, u32); 4]);

/// A visit as a test draws it.
#[derive(Clone, Debug)]
struct Step {
    kind: Visit,
    at: usize,
    bytes: usize,
    count: usize,
    me: Tag,
    pc: u32,
    /// How far apart lanes read, in accesses; 1 for side by side.
    stride: usize,
}

impl Step {
    /// What each lane does, where that is not side by side.
    fn lanes(&self) -> impl Iterator<Item = Step> {
        (0..self.count).map(|lane| Step {
            at: (self.at + lane * self.stride * self.bytes) % (LEN / self.bytes * self.bytes),
            count: 1,
            me: Tag(self.me.0 + lane as u64),
            ..self.clone()
        })
    }

    /// Notes reads of lanes that are not side by side, all at once if that can be.
    fn read(&self, shadow: &mut Shadow) -> Vec<Suspect> {
        let mut places = [0; 32];
        let first = self.me.thread() as usize % 32;
        for (step, place) in self.lanes().zip(&mut places[first..]) {
            *place = step.at as u64;
        }
        let mask = (u32::MAX >> (32 - self.count)) << first;
        if shadow.read_each(&places, mask, self.bytes, Tag(self.me.0 - first as u64), self.pc) {
            return Vec::new();
        }
        let visit = |step: Step| shadow.visit(step.kind, step.at, step.bytes, 1, step.me, step.pc);
        self.lanes().flat_map(visit).collect()
    }
}

struct Model {
    bytes: Vec<Byte>,
    /// Granules are words until something narrower comes.
    word: bool,
}

impl Model {
    fn visit(&mut self, step: &Step) -> Vec<(usize, u64, u32, Visit, u64)> {
        self.word &= (step.at | step.bytes) & 3 == 0;
        let grain = if self.word { 4 } else { 1 };
        let order = Order::new(step.me);
        let mut found = Vec::new();
        for at in (step.at..step.at + step.bytes * step.count).step_by(grain) {
            let mine = step.me.0 + ((at - step.at) / step.bytes) as u64;
            let [wrote, read, also, atomic] = self.bytes[at].0;
            let against: &[_] = match step.kind {
                Visit::Read => &[(wrote, Visit::Write), (atomic, Visit::Atomic)],
                Visit::Atomic => &[(wrote, Visit::Write), (read, Visit::Read), (also, Visit::Read)],
                Visit::Write => &[
                    (wrote, Visit::Write),
                    (read, Visit::Read),
                    (also, Visit::Read),
                    (atomic, Visit::Atomic),
                ],
            };
            for ((tag, pc), kind) in against {
                if !order.before(*tag, mine) {
                    found.push((at, *tag, *pc, *kind, mine));
                }
            }
        }
        for at in step.at..step.at + step.bytes * step.count {
            let mine = step.me.0 + ((at - step.at) / step.bytes) as u64;
            let [wrote, read, also, atomic] = &mut self.bytes[at].0;
            match step.kind {
                Visit::Write => *wrote = (mine, step.pc),
                Visit::Atomic => *atomic = (mine, step.pc),
                Visit::Read if order.before(read.0, mine) => *read = (mine, step.pc),
                Visit::Read => {
                    if !together(read.0, mine) || order.before(also.0, mine) || together(also.0, mine) {
                        *also = (mine, step.pc);
                    }
                }
            }
        }
        found
    }
}

/// Visits that hit lines as a whole, parts of them, and single places.
fn step() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![
        4 => Just(Visit::Read),
        3 => Just(Visit::Write),
        1 => Just(Visit::Atomic)
    ];
    let size = prop_oneof![
        1 => Just(1usize),
        6 => Just(4),
        2 => Just(8),
        3 => Just(16),
        1 => Just(32),
        1 => Just(128)
    ];
    let place = prop_oneof![(0usize..5).prop_map(|line| line * 128), 0..LEN];
    let count = prop_oneof![Just(32usize), 1usize..=32];
    let who = (0u64..2, 0u32..3, 0u32..2, 0u32..3);
    let stride = prop_oneof![2 => Just(1usize), 1 => 0usize..12];
    (kind, size, place, count, who, (0u32..8, stride), 0u32..32).prop_map(
        |(kind, bytes, at, count, who, rest, lane)| {
            let (pc, stride) = if kind == Visit::Read { rest } else { (rest.0, 1) };
            let at = (at / bytes * bytes).min((LEN - bytes) / bytes * bytes);
            let count = count.min((LEN - at) / bytes);
            let first = lane.min(32 - count as u32);
            let (cta, epoch, clock, warp) = who;
            let me = Tag::new(cta, epoch, clock, warp * 32 + first);
            Step {
                kind,
                at,
                bytes,
                count,
                me,
                pc,
                stride,
            }
        },
    )
}

proptest! {
    #[test]
    fn lines_say_what_bytes_would(steps in prop::collection::vec(step(), 1..40), words in any::<bool>()) {
        let mut shadow = Shadow::new(LEN);
        let mut model = Model { bytes: vec![Byte::default(); LEN], word: true };
        for step in steps.iter().filter(|step| !words || step.bytes >= 4) {
            let found = match step.stride {
                1 => shadow.visit(step.kind, step.at, step.bytes, step.count, step.me, step.pc),
                _ => step.read(&mut shadow),
            };
            let mut found: Vec<_> = found
                .iter()
                .map(|suspect| (suspect.at, suspect.earlier.0, suspect.pc, suspect.kind, suspect.later.0))
                .collect();
            let mut wanted = match step.stride {
                1 => model.visit(step),
                _ => step.lanes().flat_map(|step| model.visit(&step)).collect(),
            };
            // The two readers of a place come in any order.
            let key = |found: &(usize, u64, u32, Visit, u64)| (found.0, found.1, found.2);
            found.sort_by_key(key);
            wanted.sort_by_key(key);
            prop_assert_eq!(found, wanted);
            for at in 0..LEN {
                let stored = model.bytes[at / 4 * 4..(at / 4 * 4 + 4).min(LEN)].iter();
                let stored = match model.word {
                    true => stored.clone().any(|byte| byte.0[0].0 != 0 || byte.0[3].0 != 0),
                    false => model.bytes[at].0[0].0 != 0 || model.bytes[at].0[3].0 != 0,
                };
                prop_assert_eq!(shadow.is_stored(at, 1), stored);
            }
        }
        let gone = Tag::new(0, 0, 0, 0);
        shadow.forget(gone);
        for byte in &mut model.bytes {
            byte.0.iter_mut().filter(|(tag, _)| gone.same_cta(Tag(*tag))).for_each(|(tag, _)| *tag = 0);
        }
        let last = Step { kind: Visit::Write, at: 0, bytes: 4, count: 32, me: Tag::new(1, 0, 0, 0), pc: 9, stride: 1 };
        let found = shadow.visit(last.kind, last.at, last.bytes, last.count, last.me, last.pc);
        prop_assert_eq!(found.len(), model.visit(&last).len());
    }
}
