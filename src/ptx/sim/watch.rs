//! A run seen from outside: how far it has come, and the wish that it end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared by runs and whoever waits for them.
#[derive(Debug, Default)]
pub struct Watch {
    end: Arc<AtomicBool>,
    ctas: AtomicU64,
    instructions: AtomicU64,
}

/// Thread instructions between two looks at the watch. Looking must cost nothing, and nobody should wait for it.
pub(super) const BEAT: u64 = 1 << 18;

impl Watch {
    /// Ends runs once somebody sets the flag.
    pub fn new(end: Arc<AtomicBool>) -> Self {
        Watch {
            end,
            ..Watch::default()
        }
    }

    /// Whether runs are to end.
    pub fn is_over(&self) -> bool {
        self.end.load(Ordering::Relaxed)
    }

    /// CTAs that have come to their end.
    pub fn ctas(&self) -> u64 {
        self.ctas.load(Ordering::Relaxed)
    }

    /// Thread instructions executed, as of a short while ago.
    pub fn instructions(&self) -> u64 {
        self.instructions.load(Ordering::Relaxed)
    }

    /// Counts from nothing again: what was run is run once more.
    pub(super) fn restart(&self) {
        self.ctas.store(0, Ordering::Relaxed);
        self.instructions.store(0, Ordering::Relaxed);
    }

    pub(super) fn add(&self, ctas: u64, instructions: u64) {
        self.ctas.fetch_add(ctas, Ordering::Relaxed);
        self.instructions.fetch_add(instructions, Ordering::Relaxed);
    }
}
