//! `shfl`: from which lane each lane reads (PTX ISA, "shfl.sync").

use crate::ptx::analysis::{Evaluator, Exact};
use crate::ptx::ir::{Inst, InstId};

/// In which way lanes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ptx::lint) enum Mode {
    /// From a lane so many below.
    Up,
    /// From a lane so many above.
    Down,
    /// From the lane whose number differs in these bits.
    Bfly,
    /// From this lane.
    Idx,
}

/// A shuffle with what is known of its operands.
#[derive(Clone, Debug)]
pub(in crate::ptx::lint) struct Shuffle {
    /// The mode.
    pub(in crate::ptx::lint) mode: Mode,
    /// The lane or distance, where known.
    pub(in crate::ptx::lint) lane: Option<Exact>,
    /// Clamp and segment mask, where known.
    pub(in crate::ptx::lint) clamp: Option<Exact>,
}

impl Shuffle {
    /// Reads a `shfl`.
    pub(in crate::ptx::lint) fn of(evaluator: &mut Evaluator, inst: InstId, row: &Inst) -> Option<Self> {
        if row.op.base() != "shfl" {
            return None;
        }
        let mode = row.op.mods().find_map(|name| {
            Some(match name {
                "up" => Mode::Up,
                "down" => Mode::Down,
                "bfly" => Mode::Bfly,
                "idx" => Mode::Idx,
                _ => return None,
            })
        })?;
        Some(Self {
            mode,
            lane: row.operands.get(2).and_then(|operand| evaluator.operand(inst, operand)),
            clamp: row.operands.get(3).and_then(|operand| evaluator.operand(inst, operand)),
        })
    }

    /// The lane that a thread reads from, where it is known and within the segment; else `None`: the thread keeps its own value.
    pub(in crate::ptx::lint) fn source(&self, thread: usize) -> Option<Option<u32>> {
        let by = self.lane.as_ref()?.of(thread) as i64 & 31;
        let clamp = self.clamp.as_ref()?.of(thread) as i64;
        let (limit, segment) = (clamp & 31, clamp >> 8 & 31);
        let lane = (thread % 32) as i64;
        let least = lane & segment;
        let most = least | (limit & !segment);
        let (from, valid) = match self.mode {
            Mode::Up => (lane - by, lane - by >= most),
            Mode::Down => (lane + by, lane + by <= most),
            Mode::Bfly => (lane ^ by, lane ^ by <= most),
            Mode::Idx => {
                let from = least | (by & !segment);
                (from, from <= most)
            }
        };
        Some(u32::try_from(from).ok().filter(|from| valid && *from < 32))
    }

    /// The bits of the clamp operand that mean nothing, where it is one known number and has some.
    pub(in crate::ptx::lint) fn stray_bits(&self) -> Option<u32> {
        let clamp = self.clamp.as_ref()?.constant()? as u32;
        Some(clamp & !0x1f1f).filter(|stray| *stray != 0)
    }

    /// Whether no lane of a full warp reads another lane, though the operands ask for one.
    pub(in crate::ptx::lint) fn moves_nothing(&self) -> bool {
        let Some(by) = self.lane.as_ref().and_then(Exact::constant) else {
            return false;
        };
        let asks = by & 31 != 0 && self.clamp.as_ref().and_then(Exact::constant).is_some();
        let own = |thread: usize| {
            self.source(thread)
                .is_some_and(|from| from.is_none_or(|from| from as usize == thread))
        };
        asks && (0..32).all(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shuffle(mode: Mode, lane: u64, clamp: u64) -> Shuffle {
        let number = |value| Some(Exact::Same(value));
        let (lane, clamp) = (number(lane), number(clamp));
        Shuffle { mode, lane, clamp }
    }

    #[test]
    fn segments_bound_what_is_read() {
        let halves = shuffle(Mode::Down, 8, 0x101f);
        assert_eq!(halves.source(3), Some(Some(11)));
        assert_eq!(halves.source(9), Some(None));
        assert_eq!(halves.source(17), Some(Some(25)));
        let up = shuffle(Mode::Up, 1, 0);
        assert_eq!(up.source(0), Some(None));
        assert_eq!(up.source(5), Some(Some(4)));
        let whole = shuffle(Mode::Idx, 7, 31);
        assert_eq!(whole.source(20), Some(Some(7)));
    }

    #[test]
    fn a_wrong_clamp_moves_nothing() {
        assert!(shuffle(Mode::Down, 4, 0).moves_nothing());
        assert!(shuffle(Mode::Up, 4, 31).moves_nothing());
        assert!(!shuffle(Mode::Up, 4, 0).moves_nothing());
        assert!(!shuffle(Mode::Idx, 0, 0).moves_nothing());
        assert_eq!(shuffle(Mode::Idx, 0, 32).stray_bits(), Some(32));
    }
}
