//! Values of a trial run: what a register holds in every thread, as far as it is known.

use super::mask::Mask;
use super::node::{self, Node};
use crate::ptx::analysis::scalar::Ramp;
use std::cell::RefCell;
use std::rc::Rc;

/// What a register holds.
#[derive(Clone, Debug)]
pub(super) enum Data {
    /// Nothing has been written to it.
    Unset,
    /// The same number in all threads.
    Same(u64),
    /// Numbers that rise by the same amount from thread to thread.
    Ramp(Ramp),
    /// A number per thread.
    Each(Rc<Lanes>),
    /// Not known.
    Unknown(Rc<Node>),
}

impl Data {
    pub(super) fn ramp(ramp: Ramp) -> Self {
        match ramp.as_constant() {
            Some(known) => Data::Same(known),
            None => Data::Ramp(ramp),
        }
    }
}

/// A number per thread, and the threads in which it is not known.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    pub(super) values: Vec<u64>,
    pub(super) unknown: Mask,
}

/// Buffers that are kept for the next value.
const KEPT: usize = 64;

thread_local! {
    static FREE: RefCell<Vec<Vec<u64>>> = const { RefCell::new(Vec::new()) };
}

/// Room for a number per thread, all zero.
pub(super) fn buffer(threads: usize) -> Vec<u64> {
    let used = FREE.with(|free| free.borrow_mut().pop());
    let mut buffer = used.unwrap_or_default();
    buffer.clear();
    buffer.resize(threads, 0);
    buffer
}

/// Keeps a buffer for the next value.
fn keep(buffer: Vec<u64>) {
    FREE.with(|free| {
        let mut free = free.borrow_mut();
        if free.len() < KEPT {
            free.push(buffer);
        }
    });
}

impl Drop for Lanes {
    fn drop(&mut self) {
        keep(std::mem::take(&mut self.values));
    }
}

/// What a register holds, and how it was come by.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) data: Data,
    /// Whether it rests on a number that was made up for the run.
    pub(super) guess: bool,
    /// Whether what is not known may differ between threads.
    pub(super) varying: bool,
    /// Of an unknown address, the known one that an unknown distance was added to.
    pub(super) origin: Option<u64>,
    /// Whether something unknown also follows from the thread's index: threads may have places of their own.
    pub(super) own: bool,
}

impl Value {
    /// What a register holds before it is written.
    pub(super) const UNSET: Value = Value {
        data: Data::Unset,
        guess: false,
        varying: false,
        origin: None,
        own: false,
    };

    pub(super) fn same(value: u64) -> Self {
        Self {
            data: Data::Same(value),
            ..Self::UNSET
        }
    }

    /// A made-up number.
    pub(super) fn guessed(value: u64) -> Self {
        Self {
            data: Data::Same(value),
            guess: true,
            ..Self::UNSET
        }
    }

    pub(super) fn each(values: Vec<u64>, unknown: Mask) -> Self {
        let known = unknown.is_empty();
        let data = match Ramp::of(&values).filter(|_| known) {
            Some(ramp) => {
                keep(values);
                Data::ramp(ramp)
            }
            None => Data::Each(Rc::new(Lanes { values, unknown })),
        };
        Self {
            data,
            guess: !known,
            varying: !known,
            own: !known,
            origin: None,
        }
    }

    /// Something that is not known, alike in all threads; equal tokens, equal contents.
    pub(super) fn token(token: u64) -> Self {
        Self::unknown(node::uniform(token), false)
    }

    /// Something that is not known, alike in all threads.
    pub(super) fn some() -> Self {
        Self::unknown(node::some(), false)
    }

    /// Something that is not known and differs between threads.
    pub(super) fn chaos() -> Self {
        Self::unknown(node::own(), true)
    }

    /// Something that is not known.
    pub(super) fn unknown(data: Data, varying: bool) -> Self {
        Self {
            data,
            guess: true,
            varying,
            ..Self::UNSET
        }
    }

    /// The number in a thread, where it is known.
    #[inline]
    pub(super) fn of(&self, thread: usize) -> Option<u64> {
        match &self.data {
            Data::Same(value) => Some(*value),
            Data::Ramp(ramp) => Some(ramp.at(thread)),
            Data::Each(lanes) if !lanes.unknown.has(thread) => lanes.values.get(thread).copied(),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn constant(&self) -> Option<u64> {
        match self.data {
            Data::Same(value) => Some(value),
            _ => None,
        }
    }

    /// Numbers that rise evenly from thread to thread.
    pub(super) fn rising(ramp: Ramp) -> Self {
        Self {
            data: Data::ramp(ramp),
            ..Self::UNSET
        }
    }

    /// The number in a thread as it follows from the thread's index, where it does so evenly.
    pub(super) fn ramp(&self) -> Option<Ramp> {
        match self.data {
            Data::Same(value) => Some(Ramp::constant(value)),
            Data::Ramp(ramp) => Some(ramp),
            _ => None,
        }
    }

    pub(super) fn is_unset(&self) -> bool {
        matches!(self.data, Data::Unset)
    }

    /// Whether it is known in some threads, and not the same in all.
    pub(super) fn is_by_thread(&self) -> bool {
        matches!(self.data, Data::Ramp(_) | Data::Each(_))
    }

    /// Whether nothing is known of any thread.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self.data, Data::Unset | Data::Unknown(_))
    }

    /// Whether it is the same in all threads, known or not.
    pub(super) fn is_uniform(&self) -> bool {
        match self.data {
            Data::Same(_) => true,
            Data::Ramp(_) | Data::Each(_) => false,
            _ => !self.varying,
        }
    }

    /// Threads of `within` in which it is not known.
    #[inline]
    pub(super) fn unknown_in(&self, within: &Mask) -> Mask {
        match &self.data {
            Data::Same(_) | Data::Ramp(_) => Mask::default(),
            Data::Each(lanes) => lanes.unknown.and(within),
            _ => *within,
        }
    }

    /// The content after the threads of `mask` have taken `new`.
    pub(super) fn blended(&self, new: Value, mask: &Mask, threads: usize) -> Value {
        let guess = self.guess || new.guess;
        match (&self.data, &new.data) {
            (Data::Unset, _) => return new,
            (Data::Same(a), Data::Same(b)) if a == b => return Value { guess, ..new },
            (Data::Ramp(a), Data::Ramp(b)) if a == b => return Value { guess, ..new },
            (Data::Unknown(a), Data::Unknown(b)) if Rc::ptr_eq(a, b) => return new,
            (Data::Unknown(_), Data::Unknown(_)) => return Self::unknown(node::split(*mask, &new, self), true),
            _ => {}
        }
        let mut values = buffer(threads);
        self.put(&mut values);
        for thread in mask.iter().take_while(|thread| *thread < threads) {
            values[thread] = new.of(thread).unwrap_or(0);
        }
        let all = Mask::first(threads as u32);
        let unknown = self.unknown_in(&all.minus(mask)).or(&new.unknown_in(&mask.and(&all)));
        let mut result = Self::each(values, unknown);
        result.guess |= guess;
        result
    }

    /// Writes the number of each thread, zero where it is not known, to zeros.
    fn put(&self, values: &mut [u64]) {
        match &self.data {
            Data::Same(value) => values.fill(*value),
            Data::Ramp(ramp) => values
                .iter_mut()
                .enumerate()
                .for_each(|(at, value)| *value = ramp.at(at)),
            Data::Each(lanes) if lanes.values.len() == values.len() => values.copy_from_slice(&lanes.values),
            Data::Each(_) | Data::Unset | Data::Unknown(_) => {
                let of = |(at, value): (usize, &mut u64)| *value = self.of(at).unwrap_or(0);
                values.iter_mut().enumerate().for_each(of);
            }
        }
    }

    /// What is known where each thread of `mask` holds one or the other.
    pub(super) fn merged(&self, other: &Value, mask: &Mask, threads: usize) -> Value {
        if self.is_unset() {
            return other.clone();
        }
        if other.is_unset() {
            return self.clone();
        }
        match (&self.data, &other.data) {
            (Data::Same(a), Data::Same(b)) if a == b => return self.clone(),
            (Data::Ramp(a), Data::Ramp(b)) if a == b => return self.clone(),
            (Data::Unknown(a), Data::Unknown(b)) if Rc::ptr_eq(a, b) => return self.clone(),
            (Data::Each(a), Data::Each(b)) if Rc::ptr_eq(a, b) => return self.clone(),
            _ => {}
        }
        let differ = match self.is_unknown() || other.is_unknown() {
            true => *mask,
            false => mask.filter(|thread| self.of(thread).is_none() || self.of(thread) != other.of(thread)),
        };
        if differ.is_empty() {
            return self.clone();
        }
        self.blended(Value::chaos(), &differ, threads)
    }
}
