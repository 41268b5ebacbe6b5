//! What unknown contents are made of: enough to see that two threads hold the same, without knowing what.

use super::mask::Mask;
use super::value::{Data, Value};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::rc::Rc;

/// Longer chains are cut: what is behind is taken to be each thread's own.
const DEEPEST: u32 = 200;
/// How far into a chain something is looked for.
const SEARCHED: u32 = 8;
/// Nodes times threads that one run may look at to compare contents.
const BUDGET: u32 = 200_000;

/// How an unknown content came to be.
#[derive(Debug)]
pub(super) struct Node {
    id: u64,
    depth: u32,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Alike in all threads.
    Uniform(u64),
    /// Each warp's own.
    Warp,
    /// Each thread's own.
    Own,
    /// Loaded from this address.
    At(Value),
    /// Computed from these.
    Made {
        how: u64,
        commutes: bool,
        parts: Vec<Value>,
    },
    /// From the lane whose number differs in these bits.
    Swapped(Value, u32),
    /// From this lane of the warp.
    OfLane(Value, u32),
    /// The first in these threads, the second in the others.
    Split(Mask, Value, Value),
}

thread_local! {
    static NEXT: Cell<u64> = const { Cell::new(1) };
}

fn fresh() -> u64 {
    NEXT.with(|next| next.replace(next.get() + 1))
}

fn mix(a: u64, b: u64) -> u64 {
    (a.rotate_left(23) ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.rotate_left(41)
}

fn node(kind: Kind, depth: u32) -> Data {
    let id = fresh();
    let kind = if depth > DEEPEST { Kind::Own } else { kind };
    let depth = if depth > DEEPEST { 0 } else { depth };
    Data::Unknown(Rc::new(Node { id, depth, kind }))
}

fn depth(value: &Value) -> u32 {
    match &value.data {
        Data::Unknown(node) => node.depth + 1,
        _ => 1,
    }
}

/// Something alike in all threads; equal tokens, equal contents.
pub(super) fn uniform(token: u64) -> Data {
    node(Kind::Uniform(token), 0)
}

/// Something alike in all threads, and like nothing else.
pub(super) fn some() -> Data {
    let token = fresh();
    uniform(mix(token, 0x51))
}

/// Each warp's own.
pub(super) fn warp() -> Data {
    node(Kind::Warp, 0)
}

/// Each thread's own.
pub(super) fn own() -> Data {
    node(Kind::Own, 0)
}

/// Loaded by one instruction from these addresses.
pub(super) fn at(address: &Value) -> Data {
    node(Kind::At(address.clone()), depth(address))
}

/// Computed in this way from these.
pub(super) fn made(how: u64, commutes: bool, parts: Vec<Value>) -> Data {
    let deepest = parts.iter().map(depth).max().unwrap_or(1);
    node(Kind::Made { how, commutes, parts }, deepest)
}

/// From the lane whose number differs in these bits.
pub(super) fn swapped(value: &Value, bits: u32) -> Data {
    node(Kind::Swapped(value.clone(), bits), depth(value))
}

/// From this lane of the warp.
pub(super) fn of_lane(value: &Value, lane: u32) -> Data {
    node(Kind::OfLane(value.clone(), lane), depth(value))
}

/// The first in these threads, the second in the others.
pub(super) fn split(mask: Mask, yes: &Value, no: &Value) -> Data {
    node(Kind::Split(mask, yes.clone(), no.clone()), depth(yes).max(depth(no)))
}

/// Whether something in it was loaded from places of the threads' own.
pub(super) fn is_loaded(node: &Node) -> bool {
    any(node, SEARCHED, &mut |node| matches!(node.kind, Kind::At(_))).is_some()
}

/// Whether it is made from what was loaded at this address.
pub(super) fn is_made_from(value: &Value, address: &Node) -> bool {
    let Data::Unknown(node) = &value.data else { return false };
    let loaded = |node: &Node| match &node.kind {
        Kind::At(Value {
            data: Data::Unknown(from),
            ..
        }) => is_like(from, address, SEARCHED),
        _ => false,
    };
    any(node, SEARCHED, &mut |node| loaded(node)).is_some()
}

/// Whether both are made in the same way from the same.
fn is_like(a: &Node, b: &Node, depth: u32) -> bool {
    let parts = |a: &[Value], b: &[Value]| {
        let mut pairs = a.iter().zip(b);
        a.len() == b.len()
            && pairs.all(|(a, b)| match (&a.data, &b.data) {
                (Data::Unknown(a), Data::Unknown(b)) => depth > 0 && is_like(a, b, depth - 1),
                (Data::Same(a), Data::Same(b)) => a == b,
                (Data::Ramp(a), Data::Ramp(b)) => a == b,
                (Data::Each(a), Data::Each(b)) => Rc::ptr_eq(a, b),
                _ => false,
            })
    };
    a.id == b.id
        || match (&a.kind, &b.kind) {
            (
                Kind::Made { how, parts: of_a, .. },
                Kind::Made {
                    how: other,
                    parts: of_b,
                    ..
                },
            ) => how == other && parts(of_a, of_b),
            _ => false,
        }
}

/// A node within this depth for which `holds` holds.
fn any<'n>(node: &'n Node, depth: u32, holds: &mut impl FnMut(&Node) -> bool) -> Option<&'n Node> {
    if holds(node) {
        return Some(node);
    }
    let below = depth.checked_sub(1)?;
    let mut inside = |value: &'n Value| match &value.data {
        Data::Unknown(node) => any(node, below, holds),
        _ => None,
    };
    match &node.kind {
        Kind::At(value) | Kind::Swapped(value, _) | Kind::OfLane(value, _) => inside(value),
        Kind::Made { parts, .. } => parts.iter().find_map(inside),
        Kind::Split(_, yes, no) => inside(yes).or_else(|| inside(no)),
        Kind::Uniform(_) | Kind::Warp | Kind::Own => None,
    }
}

/// Compares contents.
pub(super) struct Marks {
    known: FxHashMap<(u64, u32), u64>,
    left: u32,
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            known: FxHashMap::default(),
            left: BUDGET,
        }
    }
}

impl Marks {
    /// What identifies the content in a thread: equal marks, equal contents.
    pub(super) fn of(&mut self, value: &Value, thread: u32) -> u64 {
        match &value.data {
            Data::Same(known) => mix(*known, 1),
            Data::Ramp(ramp) => mix(ramp.at(thread as usize), 1),
            Data::Each(lanes) if lanes.unknown.has(thread as usize) => mix(u64::from(thread), 3),
            Data::Each(lanes) => mix(lanes.values.get(thread as usize).copied().unwrap_or(0), 1),
            Data::Unset => mix(u64::from(thread), 5),
            Data::Unknown(node) => self.node(node, thread),
        }
    }

    fn node(&mut self, node: &Node, thread: u32) -> u64 {
        let own = mix(mix(node.id, u64::from(thread)), 7);
        if let Kind::Uniform(token) = node.kind {
            return mix(token, 9);
        }
        if let Some(known) = self.known.get(&(node.id, thread)) {
            return *known;
        }
        let Some(left) = self.left.checked_sub(1) else {
            return own;
        };
        self.left = left;
        let mark = match &node.kind {
            Kind::Uniform(token) => mix(*token, 9),
            Kind::Warp => mix(mix(node.id, u64::from(thread / 32)), 11),
            Kind::Own => own,
            Kind::At(address) => mix(node.id, self.of(address, thread)),
            Kind::Made { how, commutes, parts } => {
                let mut marks: Vec<u64> = parts.iter().map(|part| self.of(part, thread)).collect();
                if *commutes && marks.len() >= 2 {
                    marks[..2].sort_unstable();
                }
                marks.into_iter().fold(*how, mix)
            }
            Kind::Swapped(value, bits) => self.of(value, thread ^ bits),
            Kind::OfLane(value, lane) => self.of(value, thread / 32 * 32 + lane),
            Kind::Split(mask, yes, no) => self.of(if mask.has(thread as usize) { yes } else { no }, thread),
        };
        self.known.insert((node.id, thread), mark);
        mark
    }
}
