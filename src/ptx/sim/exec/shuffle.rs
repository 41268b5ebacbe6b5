//! `shfl`: lanes read each other's registers.

use super::super::fault::{Fault, codes};
use super::super::lanes::{LANES, Slot, Words, lanes, map1, put};
use super::super::program::{Lanes, Shuffle, Sources, Together};
use super::state::{Ctx, Split};
use crate::ptx::diag::Level;

/// The number of each lane.
const LANE_NUMBERS: Words = {
    let mut own = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        own[lane] = lane as u32;
        lane += 1;
    }
    own
};

/// What lanes choose by, and what there is to choose from.
struct Choice<'a> {
    mode: Shuffle,
    b: &'a Words,
    c: &'a Words,
    values: &'a Words,
    /// Lanes that take part.
    came: u32,
}

/// What they get.
struct Chosen {
    values: Words,
    /// Lanes whose choice lies in their segment; the others have got their own value.
    inside: u32,
    /// Lanes that have chosen one that does not take part.
    absent: u32,
}

impl pulp::WithSimd for Choice<'_> {
    type Output = Chosen;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Chosen {
        let Sources { from, inside } = Sources::of(self.mode, self.b, self.c);
        choose(&from, inside, self.values, self.came)
    }
}

/// Of each lane the value of the one that it reads, by its number modulo 32.
#[inline(always)]
fn choose(from: &Words, inside: u32, values: &Words, came: u32) -> Chosen {
    let mut absent = 0;
    if came != u32::MAX {
        for (lane, from) in from.iter().enumerate() {
            absent |= (!came >> (from & 31) & 1) << lane;
        }
    }
    Chosen {
        values: map1(from, |from| values[from as usize & 31]),
        inside,
        absent,
    }
}

impl Ctx<'_> {
    /// Lanes choose from the values of those who came.
    pub fn shuffle(
        &mut self,
        split: Split,
        mode: Shuffle,
        (d, valid): (Slot, Option<Slot>),
        (b, c): (Slot, Slot),
        values: &Words,
        came: u32,
    ) {
        let file = &self.warp.file;
        let (b, c) = (&file.word_row(b), &file.word_row(c));
        let choice = Choice {
            mode,
            b,
            c,
            values,
            came,
        };
        let chosen = self.world.options.arch.dispatch(choice);
        self.take(split, (d, valid), came, chosen);
    }

    /// The same where all lanes that take part are at one place.
    pub fn shuffle_here(&mut self, split: Split, what: &Together, came: u32) {
        let Together::Shuffle {
            mode,
            d,
            valid,
            a,
            b,
            c,
            ref known,
        } = *what
        else {
            return;
        };
        let words = &self.warp.file.words;
        let row = |slot| match slot {
            Slot::Word(at) => words.get(at as usize),
            _ => None,
        };
        let (Some(values), Some(b_row), Some(c_row)) = (row(a), row(b), row(c)) else {
            let values = self.warp.file.word_row(a);
            return self.shuffle(split, mode, (d, valid), (b, c), &values, came);
        };
        let choice = |values| Choice {
            mode,
            b: b_row,
            c: c_row,
            values,
            came,
        };
        let arch = self.world.options.arch;
        let foreseen = self.world.precision.is_some().then(|| {
            let from = arch.dispatch(choice(&LANE_NUMBERS)).values;
            self.foresee_shuffle(&from, a, d, split.mask)
        });
        let chosen = match known {
            Lanes::Fixed(sources) => choose(&sources.from, sources.inside, values, came),
            Lanes::Any => choose(b_row, u32::MAX, values, came),
            Lanes::Unknown => arch.dispatch(choice(values)),
        };
        self.take(split, (d, valid), came, chosen);
        if let Some(foreseen) = foreseen {
            self.follow(split.pc, foreseen);
        }
    }

    #[inline(always)]
    fn take(&mut self, split: Split, (d, valid): (Slot, Option<Slot>), came: u32, mut chosen: Chosen) {
        let file = &mut self.warp.file;
        let absent = chosen.absent & split.mask;
        if absent != 0 {
            put(&mut chosen.values, &[self.world.garbage as u32; LANES], absent);
        }
        match d {
            Slot::Word(d) => put(&mut file.words[d as usize], &chosen.values, split.mask),
            d => lanes(split.mask).for_each(|lane| file.write(d, lane, u64::from(chosen.values[lane]))),
        }
        if let Some(valid) = valid {
            file.set_pred(valid, split.mask, chosen.inside);
        }
        if absent != 0 {
            let lane = absent.trailing_zeros() as usize & 31;
            let message = format!(
                "lane {lane} reads a lane that does not take part (lanes {came:#010x} do), and its value is used"
            );
            let fault = Fault::new(codes::WARP003, Level::Error, self.site(split.pc), message);
            self.world.doubt(fault.thread(self.thread(lane)));
        }
    }
}
