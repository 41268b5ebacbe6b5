//! An f64 beside every f32: what registers and memory would hold if nothing had been rounded to f32 on the way.
//!
//! A value is known together with the bits that stand for it. Where a register or a place in memory holds other bits now,
//! something that is not followed has written there, and what it wrote counts as exact. So nothing need be told of
//! everything that is executed.

use super::super::lanes::{LANES, Longs, Slot, Words, lanes};
use super::super::precision::{Jump, Precision, Worst, error};
use super::super::program::{Access, Exact, Function, Op, What, value_of};
use super::access::addresses;
use super::state::{BlockId, Ctx, World};
use crate::ptx::types::Type;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The least relative error that is worth a word: half of the bits of an f32 are lost.
const LOST: f64 = 1.0 / 4096.0;
/// How many times the error of its operands an instruction must make it.
const TIMES: f64 = 256.0;
/// Half a unit in the last place of an f32.
const ROUNDING: f64 = 1.0 / (1u64 << 24) as f64;

/// Bits, and what they stand for.
#[derive(Clone, Copy, Debug)]
struct Value {
    bits: u32,
    ty: Type,
    exact: f64,
}

/// What is known of all values.
#[derive(Debug, Default)]
pub struct Shadows {
    /// Registers, by CTA, warp and row.
    rows: FxHashMap<(u64, u32, u32), [Option<Value>; LANES]>,
    /// Memory, by place.
    memory: FxHashMap<(BlockId, usize), Value>,
    jump: Option<Jump>,
    /// Instructions at which errors jump.
    jumps: BTreeSet<u32>,
}

/// What lanes are about to do, as far as it is followed.
pub enum Foreseen<'p> {
    /// Nothing of interest.
    Nothing,
    /// Move values: of each lane, what it moves.
    Moved(Slot, Vec<(usize, Option<f64>, Type)>),
    /// Compute: of each lane, the result and the worst error of what it is made of.
    Computed(&'p Exact, Vec<(usize, f64, f64)>),
    /// Load, or store: the addresses of the lanes of a mask.
    Loaded(&'p Access, Box<Longs>, u32),
    /// As `Loaded`.
    Stored(&'p Access, Box<Longs>, u32),
}

impl<'p> Ctx<'p> {
    /// What lanes are about to execute.
    pub fn foresee(&self, pc: u32, active: u32) -> Foreseen<'p> {
        let program = self.program;
        let Some(ins) = program.code.get(pc as usize) else {
            return Foreseen::Nothing;
        };
        let mask = active & (self.warp.file.preds[ins.guard as usize] ^ ins.flip);
        let access = |at: u32| {
            let access = &program.accesses[at as usize];
            (access, Box::new(addresses(self, access)))
        };
        match (ins.op, program.exact_at(pc)) {
            (Op::Load(at) | Op::LoadFixed(at), _) => {
                let (access, addresses) = access(at);
                Foreseen::Loaded(access, addresses, mask)
            }
            (Op::Store(at), _) => {
                let (access, addresses) = access(at);
                Foreseen::Stored(access, addresses, mask)
            }
            (_, None) => Foreseen::Nothing,
            (_, Some(exact)) => self.foresee_exact(exact, mask),
        }
    }

    fn foresee_exact(&self, exact: &'p Exact, mask: u32) -> Foreseen<'p> {
        let (f, sat): (Function, bool) = match exact.what {
            What::Compute(f, sat) => (f, sat),
            What::Round => (|[a, ..]| a, false),
            What::Move => {
                let moved = lanes(mask).map(|lane| {
                    let second = exact
                        .args
                        .get(2)
                        .is_some_and(|(slot, _)| self.warp.file.read(*slot, lane) == 0);
                    let from = exact.args.get(usize::from(second)).map(|(slot, _)| *slot);
                    let known = from.and_then(|slot| self.known(slot, lane));
                    (
                        lane,
                        known.map(|value| value.exact),
                        known.map_or(exact.ty, |value| value.ty),
                    )
                });
                return Foreseen::Moved(exact.d, moved.collect());
            }
        };
        let computed = lanes(mask).map(|lane| {
            let (mut args, mut worst) = ([0.0; 3], 0.0f64);
            for (to, (slot, ty)) in args.iter_mut().zip(&exact.args) {
                let got = value_of(self.warp.file.read(*slot, lane) as u32, *ty);
                *to = self.known(*slot, lane).map_or(got, |value| value.exact);
                worst = worst.max(error(got, *to));
            }
            let result = if sat { f(args).clamp(0.0, 1.0) } else { f(args) };
            (lane, result, worst)
        });
        Foreseen::Computed(exact, computed.collect())
    }

    /// What was foreseen has been done.
    pub fn follow(&mut self, pc: u32, foreseen: Foreseen<'p>) {
        match foreseen {
            Foreseen::Nothing => {}
            Foreseen::Moved(d, lanes) => {
                for (lane, exact, ty) in lanes {
                    self.learn(d, lane, exact.map(|exact| (exact, ty)));
                }
            }
            Foreseen::Computed(exact, lanes) => {
                for (lane, result, before) in lanes {
                    self.learn(exact.d, lane, Some((result, exact.ty)));
                    let got = value_of(self.warp.file.read(exact.d, lane) as u32, exact.ty);
                    if matches!(exact.what, What::Compute(..)) {
                        self.look_for_jump(pc, lane, (got, result), before);
                    }
                }
            }
            Foreseen::Loaded(access, addresses, mask) => {
                lanes(mask).for_each(|lane| self.follow_access(access, addresses[lane], lane, true));
            }
            Foreseen::Stored(access, addresses, mask) => {
                lanes(mask).for_each(|lane| self.follow_access(access, addresses[lane], lane, false));
            }
        }
    }

    fn look_for_jump(&mut self, pc: u32, lane: usize, (got, exact): (f64, f64), before: f64) {
        let after = error(got, exact);
        if after < LOST || after < TIMES * before.max(ROUNDING) {
            return;
        }
        let (site, thread) = (self.site(pc), self.thread(lane));
        if let Some(shadows) = &mut self.world.precision {
            shadows.jumps.insert(pc);
            shadows.jump.get_or_insert(Jump {
                site,
                thread,
                got,
                exact,
                before,
                after,
            });
        }
    }

    fn follow_access(&mut self, access: &Access, address: u64, lane: usize, load: bool) {
        let bytes = access.bytes as usize;
        let size = (bytes * access.regs.len()) as u64;
        let view = self.locate(access.space, address);
        let inside = |size_of: u64, offset: u64| size_of >= size && offset <= size_of - size;
        let Some(view) = view.filter(|view| inside(view.size, address.wrapping_sub(view.base))) else {
            return;
        };
        if view.stride != 0 || !matches!(bytes, 2 | 4) || !matches!(view.block, BlockId::Buffer(_) | BlockId::Shared(_))
        {
            return;
        }
        for (element, slot) in access.regs.iter().enumerate() {
            let Some(slot) = *slot else { continue };
            let place = (view.block, (view.at + address - view.base) as usize + element * bytes);
            let known = self.known(slot, lane);
            let Some(shadows) = &mut self.world.precision else {
                return;
            };
            if load {
                let there = shadows.memory.get(&place).copied();
                let there = there.filter(|value| self.warp.file.read(slot, lane) as u32 == value.bits);
                self.learn(slot, lane, there.map(|value| (value.exact, value.ty)));
            } else if let Some(value) = known {
                shadows.memory.insert(place, value);
            } else {
                shadows.memory.remove(&place);
            }
        }
    }

    /// What a lane's register stands for, if that is known.
    fn known(&self, slot: Slot, lane: usize) -> Option<Value> {
        let Slot::Word(at) = slot else { return None };
        let shadows = self.world.precision.as_ref()?;
        let row = shadows.rows.get(&(self.hall.number, self.warp.index, at))?;
        row[lane & 31].filter(|value| value.bits == self.warp.file.words[at as usize][lane & 31])
    }

    /// Notes what a lane's register stands for now.
    fn learn(&mut self, slot: Slot, lane: usize, exact: Option<(f64, Type)>) {
        let Slot::Word(at) = slot else { return };
        let bits = self.warp.file.words[at as usize][lane & 31];
        let Some(shadows) = &mut self.world.precision else {
            return;
        };
        let key = (self.hall.number, self.warp.index, at);
        let row = shadows.rows.entry(key).or_insert([None; LANES]);
        row[lane & 31] = exact.map(|(exact, ty)| Value { bits, ty, exact });
    }

    /// What lanes are about to read of each other.
    pub fn foresee_shuffle(&self, from: &Words, a: Slot, d: Slot, mask: u32) -> Foreseen<'p> {
        let read = lanes(mask).map(|lane| {
            let known = self.known(a, from[lane] as usize);
            (
                lane,
                known.map(|value| value.exact),
                known.map_or(Type::F32, |value| value.ty),
            )
        });
        Foreseen::Moved(d, read.collect())
    }
}

impl World {
    /// A CTA is over: nobody asks for its registers and its shared memory again.
    pub fn forget_values(&mut self, cta: u64, shared: usize) {
        if let Some(shadows) = &mut self.precision {
            shadows.rows.retain(|(of, ..), _| *of != cta);
            shadows
                .memory
                .retain(|(block, _), _| *block != BlockId::Shared(shared as u32));
        }
    }

    /// What was found. The buffers of arguments come after so many others.
    pub fn found(&self, others: usize) -> Option<Precision> {
        let shadows = self.precision.as_ref()?;
        let mut worst: BTreeMap<usize, Worst> = BTreeMap::new();
        for ((block, at), value) in &shadows.memory {
            let bytes = value.ty.bytes() as usize;
            let BlockId::Buffer(nth) = *block else { continue };
            let block = self.buffers.get(nth as usize);
            let now = block.map_or(0, |block| block.load(*at, bytes)) as u32;
            let Some(nth) = (nth as usize).checked_sub(others).filter(|_| now == value.bits) else {
                continue;
            };
            let got = value_of(now, value.ty);
            let found = Worst {
                followed: 1,
                element: at / bytes,
                got,
                exact: value.exact,
                error: error(got, value.exact),
            };
            match worst.get_mut(&nth) {
                None => {
                    worst.insert(nth, found);
                }
                Some(known) => {
                    let followed = known.followed + 1;
                    let is_worse = (found.error, known.element) > (known.error, found.element);
                    if is_worse {
                        *known = found;
                    }
                    known.followed = followed;
                }
            }
        }
        Some(Precision {
            jump: shadows.jump.clone(),
            jumps: shadows.jumps.len(),
            buffers: worst.into_iter().collect(),
        })
    }
}
