//! `shfl`: from which lane each lane reads.

use super::super::lanes::{LANES, Words};
use super::Shuffle;

/// From which lanes the lanes of a warp read.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Of each lane; its own where its choice lies outside of its segment.
    pub from: Words,
    /// Lanes whose choice lies in their segment.
    pub inside: u32,
}

/// What decoding knows of the lanes that are read.
#[derive(Clone, Debug)]
pub enum Lanes {
    /// All of it.
    Fixed(Box<Sources>),
    /// Lane `b` of the whole warp.
    Any,
    /// Nothing.
    Unknown,
}

impl Sources {
    /// What the operands `b` and `c` of all lanes say.
    #[inline(always)]
    pub fn of(mode: Shuffle, b: &Words, c: &Words) -> Self {
        match mode {
            Shuffle::Up => choose(b, c, |own, b, most, _, _| {
                (own.wrapping_sub(b), own as i32 - b as i32 >= most as i32)
            }),
            Shuffle::Down => choose(b, c, |own, b, most, _, _| (own + b, own + b <= most)),
            Shuffle::Bfly => choose(b, c, |own, b, most, _, _| (own ^ b, own ^ b <= most)),
            Shuffle::Idx => choose(b, c, |_, b, most, least, segment| {
                let from = least | (b & !segment);
                (from, from <= most)
            }),
        }
    }
}

/// For one mode: `f(own lane, b, highest lane, lowest lane, segment)`.
#[inline(always)]
fn choose(b: &Words, c: &Words, f: impl Fn(u32, u32, u32, u32, u32) -> (u32, bool)) -> Sources {
    let mut from = [0; LANES];
    let mut inside = 0;
    for (lane, from) in from.iter_mut().enumerate() {
        let (own, b, c) = (lane as u32, b[lane] & 31, c[lane]);
        let (clamp, segment) = (c & 31, c >> 8 & 31);
        let least = own & segment;
        let (there, fits) = f(own, b, least | (clamp & !segment), least, segment);
        *from = if fits { there & 31 } else { own };
        inside |= u32::from(fits) << lane;
    }
    Sources { from, inside }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_the_lanes_is_what_the_operands_say() {
        let b: Words = std::array::from_fn(|lane| (lane as u32).wrapping_mul(0x9E37_79B9));
        // What `Lanes::Any` stands for: no segments, no bound.
        for c in [0x1f, 0x7f, 0xffff_e0ff] {
            let sources = Sources::of(Shuffle::Idx, &b, &[c; LANES]);
            assert_eq!((sources.from, sources.inside), (b.map(|b| b & 31), u32::MAX), "{c:#x}");
        }
        let halves = Sources::of(Shuffle::Bfly, &[24; LANES], &[0x101f; LANES]);
        assert_eq!(halves.inside, 0xffff_0000, "the lower half would reach the upper one");
        assert_eq!((halves.from[3], halves.from[20]), (3, 12));
    }
}
