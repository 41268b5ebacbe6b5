//! A piece of memory: bytes, which of them have been written, and who touched them.

use super::super::lanes::lanes;
use super::{Bytes, LINE, Shadow};

/// Memory without holes.
#[derive(Clone, Debug)]
pub struct Block {
    /// The bytes.
    pub bytes: Bytes,
    /// One bit a byte; `None` where all of it has been written.
    written: Option<Vec<u64>>,
    /// Who touched it.
    pub shadow: Shadow,
    /// How often each byte was stored to, where that is counted.
    pub stores: Option<Vec<u8>>,
}

/// What bytes nobody has written hold: a pattern that stands out.
const POISON: u8 = 0xA5;

impl Block {
    /// Memory that holds these bytes.
    pub fn new(bytes: Bytes) -> Self {
        Block {
            shadow: Shadow::new(bytes.len()),
            written: None,
            stores: None,
            bytes,
        }
    }

    /// Memory that nobody has written.
    pub fn unwritten(len: usize) -> Self {
        Block {
            written: Some(vec![0; len / 64 + 2]),
            ..Block::new(Bytes::own(vec![POISON; len]))
        }
    }

    /// What parts of a run have made of one block, each on its own, if none has touched what another one has stored:
    /// bytes, and how often each was stored to.
    pub fn join(mut parts: Vec<&mut Block>) -> Option<(Bytes, Vec<u8>)> {
        let is_untouched = parts.iter().all(|part| part.shadow.is_all_read());
        let mut shadows: Vec<&mut Shadow> = parts.iter_mut().map(|part| &mut part.shadow).collect();
        let grain = Shadow::align(&mut shadows);
        let (first, others) = parts.split_first_mut()?;
        let mut bytes = std::mem::take(&mut first.bytes);
        let mut stores = first.stores.take().unwrap_or_default();
        let lines = if is_untouched { 0 } else { first.shadow.lines() };
        for line in 0..lines {
            let (mut stored, mut read) = first.shadow.visited(line);
            for other in others.iter() {
                let (theirs, seen) = other.shadow.visited(line);
                if theirs & (stored | read) != 0 || seen & stored != 0 {
                    return None;
                }
                (stored, read) = (stored | theirs, read | seen);
                let mut take = |first: usize, count: usize| {
                    let at = (line * LINE + first) * grain;
                    let range = at..(at + count * grain).min(bytes.len());
                    if let (Some(to), Some(from)) = (bytes.get_mut(range.clone()), other.bytes.get(range)) {
                        to.copy_from_slice(from);
                    }
                };
                match theirs {
                    u32::MAX => take(0, LINE),
                    some => lanes(some).for_each(|granule| take(granule, 1)),
                }
            }
        }
        for more in others.iter().filter_map(|other| other.stores.as_ref()) {
            let pairs = stores.iter_mut().zip(more);
            pairs.for_each(|(count, more)| *count = count.saturating_add(*more));
        }
        Some((bytes, stores))
    }

    /// Makes it as new, unwritten.
    pub fn renew(&mut self) {
        self.bytes.fill(POISON);
        match &mut self.written {
            Some(written) => written.fill(0),
            none => *none = Some(vec![0; self.bytes.len() / 64 + 2]),
        }
        self.shadow.clear();
    }

    /// Whether all of it has been written from the start.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.written.is_none()
    }

    /// Whether all of these bytes have been written.
    #[inline(always)]
    pub fn is_written(&self, at: usize, len: usize) -> bool {
        let Some(written) = &self.written else { return true };
        if len <= 64 {
            let (word, bit) = (at / 64, at % 64);
            // What is aligned lies in one word.
            if bit + len < 64 {
                let want = (1 << len) - 1;
                return written.get(word).is_some_and(|bits| bits >> bit & want == want);
            }
            let (Some(low), Some(high)) = (written.get(word), written.get(word + 1)) else {
                return false;
            };
            let bits = (u128::from(*low) | u128::from(*high) << 64) >> bit;
            let want = ((1u128 << len) - 1) as u64;
            bits as u64 & want == want
        } else {
            (0..len)
                .step_by(64)
                .all(|part| self.is_written(at + part, (len - part).min(64)))
        }
    }

    /// Notes that these bytes are written.
    #[inline(always)]
    pub fn mark(&mut self, at: usize, len: usize) {
        let stores = self.stores.as_mut();
        if let Some(range) = stores.and_then(|stores| stores.get_mut(at..at + len)) {
            range.iter_mut().for_each(|count| *count = count.saturating_add(1));
        }
        let Some(written) = &mut self.written else { return };
        let mut part = 0;
        while part < len {
            let size = (len - part).min(64);
            let (word, bit) = ((at + part) / 64, (at + part) % 64);
            let bits = ((1u128 << size) - 1) << bit;
            if let Some(low) = written.get_mut(word) {
                *low |= bits as u64;
            }
            if let Some(high) = written.get_mut(word + 1) {
                *high |= (bits >> 64) as u64;
            }
            part += size;
        }
    }

    /// Notes that these bytes hold nothing anybody may read.
    pub fn unmark(&mut self, at: usize, len: usize) {
        let words = self.bytes.len() / 64 + 2;
        let written = self.written.get_or_insert_with(|| vec![u64::MAX; words]);
        for byte in at..at + len {
            if let Some(word) = written.get_mut(byte / 64) {
                *word &= !(1 << (byte % 64));
            }
        }
    }

    /// Up to 16 bytes as a number, little end first; bytes outside are zero.
    #[inline(always)]
    pub fn load(&self, at: usize, len: usize) -> u128 {
        let Some(bytes) = self.bytes.get(at..at + len) else {
            return 0;
        };
        // The usual sizes each in one step.
        match (len, <[u8; 4]>::try_from(bytes), <[u8; 8]>::try_from(bytes)) {
            (4, Ok(word), _) => u128::from(u32::from_le_bytes(word)),
            (8, _, Ok(long)) => u128::from(u64::from_le_bytes(long)),
            _ => {
                let mut out = [0; 16];
                let len = len.min(16);
                out[..len].copy_from_slice(&bytes[..len]);
                u128::from_le_bytes(out)
            }
        }
    }

    /// Writes up to 16 bytes; those outside are dropped.
    #[inline(always)]
    pub fn store(&mut self, at: usize, len: usize, value: u128) {
        let Some(bytes) = self.bytes.get_mut(at..at + len) else {
            return;
        };
        match len {
            4 => bytes.copy_from_slice(&(value as u32).to_le_bytes()),
            8 => bytes.copy_from_slice(&(value as u64).to_le_bytes()),
            _ => {
                let from = value.to_le_bytes();
                let len = len.min(16);
                bytes[..len].copy_from_slice(&from[..len]);
            }
        }
        self.mark(at, len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_bytes_are_known_across_words() {
        let mut block = Block::unwritten(300);
        assert!(!block.is_written(0, 1));
        block.mark(60, 70);
        assert!(block.is_written(60, 70) && block.is_written(64, 64) && block.is_written(129, 1));
        assert!(!block.is_written(59, 2) && !block.is_written(100, 31) && !block.is_written(60, 200));
        block.unmark(64, 1);
        assert!(!block.is_written(60, 8) && block.is_written(65, 8));
    }

    #[test]
    fn numbers_come_back() {
        let mut block = Block::unwritten(32);
        block.store(3, 8, 0x0102_0304_0506_0708);
        assert_eq!(block.load(3, 8), 0x0102_0304_0506_0708);
        assert_eq!(block.load(3, 2), 0x0708);
        assert_eq!(block.load(30, 8), 0, "outside");
        assert!(block.is_written(3, 8) && !block.is_written(2, 1) && !block.is_written(11, 1));
    }
}
