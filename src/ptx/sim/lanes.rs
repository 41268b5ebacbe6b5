//! The registers of a warp: a row of 32 lanes each, and what maps functions over rows.

/// Lanes of a warp.
pub const LANES: usize = 32;

/// One 32-bit register of all lanes. Narrower values stand in the low bits, zeros above them.
pub type Words = [u32; LANES];
/// One 64-bit register of all lanes.
pub type Longs = [u64; LANES];

/// Where an operand lives: an index into one of the banks of a [`File`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// A row of up to 32 bits.
    Word(u32),
    /// A row of 64 bits.
    Long(u32),
    /// Two rows of 64 bits, the low one first.
    Quad(u32),
    /// A predicate, one bit a lane; with `true` it is read inverted.
    Pred(u32, bool),
}

/// The registers of a warp, its constants among them.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Rows of up to 32 bits.
    pub words: Vec<Words>,
    /// Rows of 64 bits.
    pub longs: Vec<Longs>,
    /// Predicates.
    pub preds: Vec<u32>,
}

/// The lanes of a mask, lowest first.
#[inline(always)]
pub fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros() as usize;
        left &= left.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

impl File {
    /// What a lane has there, zero-extended; of 128 bits the low half.
    #[inline(always)]
    pub fn read(&self, slot: Slot, lane: usize) -> u64 {
        match slot {
            Slot::Word(at) => u64::from(self.words[at as usize][lane & 31]),
            Slot::Long(at) | Slot::Quad(at) => self.longs[at as usize][lane & 31],
            Slot::Pred(at, flip) => u64::from((self.preds[at as usize] >> (lane & 31) & 1 == 1) != flip),
        }
    }

    /// What all lanes have there, as [`File::read`] gives it.
    #[inline(always)]
    pub fn row(&self, slot: Slot) -> Longs {
        match slot {
            Slot::Word(at) => map1(&self.words[at as usize], u64::from),
            Slot::Long(at) | Slot::Quad(at) => self.longs[at as usize],
            Slot::Pred(..) => {
                let bits = self.pred(slot);
                std::array::from_fn(|lane| u64::from(bits >> lane & 1))
            }
        }
    }

    /// The same, cut to 32 bits.
    #[inline(always)]
    pub fn word_row(&self, slot: Slot) -> Words {
        match slot {
            Slot::Word(at) => self.words[at as usize],
            slot => map1(&self.row(slot), |value| value as u32),
        }
    }

    /// What a lane has there, with the high half of 128 bits.
    #[inline(always)]
    pub fn read_wide(&self, slot: Slot, lane: usize) -> u128 {
        match slot {
            Slot::Quad(at) => {
                let high = self.longs[at as usize + 1][lane & 31];
                u128::from(self.longs[at as usize][lane & 31]) | u128::from(high) << 64
            }
            _ => u128::from(self.read(slot, lane)),
        }
    }

    /// Writes a lane. What does not fit is cut off.
    #[inline(always)]
    pub fn write(&mut self, slot: Slot, lane: usize, value: u64) {
        match slot {
            Slot::Word(at) => self.words[at as usize][lane & 31] = value as u32,
            Slot::Long(at) | Slot::Quad(at) => self.longs[at as usize][lane & 31] = value,
            Slot::Pred(at, flip) => {
                let bit = 1 << (lane & 31);
                let pred = &mut self.preds[at as usize];
                *pred = if (value & 1 == 1) != flip {
                    *pred | bit
                } else {
                    *pred & !bit
                };
            }
        }
    }

    /// Gives all lanes the same.
    pub fn fill(&mut self, slot: Slot, value: u64) {
        match slot {
            Slot::Word(at) => self.words[at as usize] = [value as u32; LANES],
            Slot::Long(at) | Slot::Quad(at) => self.longs[at as usize] = [value; LANES],
            Slot::Pred(..) => self.set_pred(slot, u32::MAX, if value & 1 == 1 { u32::MAX } else { 0 }),
        }
    }

    /// Writes a lane with up to 128 bits.
    #[inline(always)]
    pub fn write_wide(&mut self, slot: Slot, lane: usize, value: u128) {
        self.write(slot, lane, value as u64);
        if let Slot::Quad(at) = slot {
            self.longs[at as usize + 1][lane & 31] = (value >> 64) as u64;
        }
    }

    /// Whether the lanes of a mask all have the same there.
    pub fn is_uniform(&self, slot: Slot, mask: u32) -> bool {
        let first = mask.trailing_zeros() as usize & 31;
        match slot {
            Slot::Word(at) => same(&self.words[at as usize], first, mask),
            Slot::Long(at) | Slot::Quad(at) => same(&self.longs[at as usize], first, mask),
            Slot::Pred(..) => self.pred(slot) & mask == 0 || !self.pred(slot) & mask == 0,
        }
    }

    /// The lanes where a predicate holds.
    #[inline(always)]
    pub fn pred(&self, slot: Slot) -> u32 {
        match slot {
            Slot::Pred(at, flip) => self.preds[at as usize] ^ if flip { u32::MAX } else { 0 },
            _ => 0,
        }
    }

    /// Sets a predicate in the lanes of `mask`.
    #[inline(always)]
    pub fn set_pred(&mut self, slot: Slot, mask: u32, bits: u32) {
        if let Slot::Pred(at, _) = slot {
            let pred = &mut self.preds[at as usize];
            *pred = (*pred & !mask) | (bits & mask);
        }
    }
}

/// Whether the lanes of a mask all have what lane `first` has.
#[inline(always)]
pub fn same<T: Copy + PartialEq>(row: &[T; LANES], first: usize, mask: u32) -> bool {
    let value = row[first & 31];
    let mut equal = true;
    for at in 0..LANES {
        equal &= (row[at] == value) | (mask & BIT[at] == 0);
    }
    equal
}

const BIT: Words = {
    let mut bits = [0; LANES];
    let mut at = 0;
    while at < LANES {
        bits[at] = 1 << at;
        at += 1;
    }
    bits
};

/// Writes a row in the lanes of `mask`.
#[inline(always)]
pub fn put<T: Copy>(row: &mut [T; LANES], value: &[T; LANES], mask: u32) {
    if mask == u32::MAX {
        *row = *value;
    } else {
        for at in 0..LANES {
            row[at] = if mask & BIT[at] != 0 { value[at] } else { row[at] };
        }
    }
}

/// One operand.
#[inline(always)]
pub fn map1<T: Copy, R: Copy + Default>(a: &[T; LANES], f: impl Fn(T) -> R) -> [R; LANES] {
    let mut out = [R::default(); LANES];
    for at in 0..LANES {
        out[at] = f(a[at]);
    }
    out
}

/// Two operands.
#[inline(always)]
pub fn map2<T: Copy, U: Copy, R: Copy + Default>(a: &[T; LANES], b: &[U; LANES], f: impl Fn(T, U) -> R) -> [R; LANES] {
    let mut out = [R::default(); LANES];
    for at in 0..LANES {
        out[at] = f(a[at], b[at]);
    }
    out
}

/// Three operands.
#[inline(always)]
pub fn map3<T: Copy, U: Copy, V: Copy, R: Copy + Default>(
    a: &[T; LANES],
    b: &[U; LANES],
    c: &[V; LANES],
    f: impl Fn(T, U, V) -> R,
) -> [R; LANES] {
    let mut out = [R::default(); LANES];
    for at in 0..LANES {
        out[at] = f(a[at], b[at], c[at]);
    }
    out
}

/// The lanes in which two operands are so related.
#[inline(always)]
pub fn test<T: Copy>(a: &[T; LANES], b: &[T; LANES], f: impl Fn(T, T) -> bool) -> u32 {
    let mut bits = 0;
    for at in 0..LANES {
        bits |= if f(a[at], b[at]) { BIT[at] } else { 0 };
    }
    bits
}
