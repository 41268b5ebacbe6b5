//! The loop in which almost all time is spent: instructions on whole rows, loads and stores, until something else happens.

use super::super::lanes::{Longs, Words, map1, map2, map3, put, test};
use super::super::program::{Ins, Op};
use super::access;
use super::state::Ctx;
use crate::ptx::num::compare::Compare;
use crate::ptx::num::single::Extreme;
use crate::ptx::num::{convert, double, single};

/// Why the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The place where another split is, or the one step that was asked for.
    Limit,
    /// Some of the lanes go to `target`.
    Part { taken: u32, target: u32 },
    /// An instruction that is not for this loop.
    Rare { at: u32, mask: u32 },
    /// It has gone round often enough.
    Rest,
    /// The run is over.
    Over,
}

/// How far the loop may go.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// It ends where the code reaches this place.
    pub limit: u32,
    /// And where it branches to a place with this number or a greater one in the order of the program.
    pub floor: u32,
    /// Backward branches it may take.
    pub turns: u32,
    /// Whether it ends after each instruction.
    pub single: bool,
}

struct Run<'c, 'a> {
    ctx: &'c mut Ctx<'a>,
    pc: u32,
    active: u32,
    reach: Reach,
}

impl pulp::WithSimd for Run<'_, '_> {
    type Output = (u32, u64, Event);

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Self::Output {
        straight(self.ctx, self.pc, self.active, self.reach)
    }
}

/// Runs lanes from a place on. Returns where they are, how many instructions that took, and why it ended.
pub fn run(ctx: &mut Ctx, pc: u32, active: u32, reach: Reach) -> (u32, u64, Event) {
    let arch = ctx.world.options.arch;
    arch.dispatch(Run { ctx, pc, active, reach })
}

#[inline(always)]
fn straight(ctx: &mut Ctx, mut pc: u32, active: u32, reach: Reach) -> (u32, u64, Event) {
    let program = ctx.program;
    let (mut count, mut turns) = (0, reach.turns);
    let profiled = ctx.world.stats.is_profiled();
    loop {
        let Some(ins) = program.code.get(pc as usize) else {
            return (pc, count, Event::Over);
        };
        let mask = active & (ctx.warp.file.preds[ins.guard as usize] ^ ins.flip);
        count += 1;
        if profiled {
            ctx.world.stats.count(pc, mask);
        }
        match ins.op {
            Op::Bra(target) => {
                if mask == active {
                    if target <= pc {
                        turns = turns.saturating_sub(1);
                        if turns == 0 {
                            return (target, count, Event::Rest);
                        }
                    }
                    pc = target;
                    if reach.floor != u32::MAX && program.order.get(pc as usize).is_some_and(|at| *at >= reach.floor) {
                        return (pc, count, Event::Limit);
                    }
                } else if mask == 0 {
                    pc += 1;
                } else {
                    return (pc, count, Event::Part { taken: mask, target });
                }
            }
            Op::Rare(at) => {
                if mask != 0 {
                    return (pc, count, Event::Rare { at, mask });
                }
                pc += 1;
            }
            Op::Load(at) => {
                if mask != 0 {
                    access::load(ctx, at, mask, pc);
                }
                pc += 1;
            }
            Op::LoadFixed(at) => {
                if mask != 0 {
                    access::load_fixed(ctx, at, mask, pc);
                }
                pc += 1;
            }
            Op::Store(at) => {
                if mask != 0 {
                    access::store(ctx, at, mask, pc);
                }
                pc += 1;
            }
            Op::Step(at) => {
                if mask != 0 {
                    program.steps[at as usize](&mut ctx.warp.file, mask);
                }
                pc += 1;
            }
            Op::Check => {
                let missing = mask & !ctx.warp.file.preds[ins.a as usize];
                if missing != 0 {
                    ctx.unwritten(pc, missing, ins.b);
                }
                pc += 1;
            }
            _ => {
                row(ctx, ins, mask);
                pc += 1;
            }
        }
        if pc == reach.limit || reach.single {
            return (pc, count, Event::Limit);
        }
        if ctx.world.over {
            return (pc, count, Event::Over);
        }
    }
}

/// An operation on rows.
#[inline(always)]
fn row(ctx: &mut Ctx, ins: &Ins, mask: u32) {
    let words = &mut ctx.warp.file.words;
    let longs = &mut ctx.warp.file.longs;
    let preds = &mut ctx.warp.file.preds;
    let (d, a, b, c) = (ins.d as usize, ins.a as usize, ins.b as usize, ins.c as usize);

    macro_rules! w1 {
        ($f:expr) => {{
            let r: Words = map1(&words[a], $f);
            put(&mut words[d], &r, mask)
        }};
    }
    macro_rules! w2 {
        ($f:expr) => {{
            let r: Words = map2(&words[a], &words[b], $f);
            put(&mut words[d], &r, mask)
        }};
    }
    macro_rules! w3 {
        ($f:expr) => {{
            let r: Words = map3(&words[a], &words[b], &words[c], $f);
            put(&mut words[d], &r, mask)
        }};
    }
    macro_rules! l2 {
        ($f:expr) => {{
            let r: Longs = map2(&longs[a], &longs[b], $f);
            put(&mut longs[d], &r, mask)
        }};
    }
    macro_rules! l3 {
        ($f:expr) => {{
            let r: Longs = map3(&longs[a], &longs[b], &longs[c], $f);
            put(&mut longs[d], &r, mask)
        }};
    }
    macro_rules! lw {
        ($f:expr) => {{
            let r: Longs = map2(&longs[a], &words[b], $f);
            put(&mut longs[d], &r, mask)
        }};
    }
    macro_rules! p {
        ($value:expr) => {{
            let bits: u32 = $value;
            preds[d] = (preds[d] & !mask) | (bits & mask)
        }};
    }

    match ins.op {
        Op::Mov32 => {
            let r = words[a];
            put(&mut words[d], &r, mask);
        }
        Op::Mov64 => {
            let r = longs[a];
            put(&mut longs[d], &r, mask);
        }
        Op::Add32 => w2!(u32::wrapping_add),
        Op::Sub32 => w2!(u32::wrapping_sub),
        Op::Mul32 => w2!(u32::wrapping_mul),
        Op::Mad32 => w3!(|a: u32, b: u32, c: u32| a.wrapping_mul(b).wrapping_add(c)),
        Op::And32 => w2!(|a, b| a & b),
        Op::Or32 => w2!(|a, b| a | b),
        Op::Xor32 => w2!(|a, b| a ^ b),
        Op::Shl32 => w2!(|a: u32, b: u32| if b < 32 { a << (b & 31) } else { 0 }),
        Op::ShrU32 => w2!(|a: u32, b: u32| if b < 32 { a >> (b & 31) } else { 0 }),
        Op::ShrS32 => w2!(|a: u32, b: u32| ((a as i32) >> (b.min(31) & 31)) as u32),
        Op::MinU32 => w2!(u32::min),
        Op::MaxU32 => w2!(u32::max),
        Op::MinS32 => w2!(|a: u32, b: u32| (a as i32).min(b as i32) as u32),
        Op::MaxS32 => w2!(|a: u32, b: u32| (a as i32).max(b as i32) as u32),
        Op::Add64 => l2!(u64::wrapping_add),
        Op::Sub64 => l2!(u64::wrapping_sub),
        Op::Mul64 => l2!(u64::wrapping_mul),
        Op::Mad64 => l3!(|a: u64, b: u64, c: u64| a.wrapping_mul(b).wrapping_add(c)),
        Op::And64 => l2!(|a, b| a & b),
        Op::Or64 => l2!(|a, b| a | b),
        Op::Xor64 => l2!(|a, b| a ^ b),
        Op::Shl64 => lw!(|a: u64, b: u32| if b < 64 { a << (b & 63) } else { 0 }),
        Op::ShrU64 => lw!(|a: u64, b: u32| if b < 64 { a >> (b & 63) } else { 0 }),
        Op::ShrS64 => lw!(|a: u64, b: u32| ((a as i64) >> (b.min(63) & 63)) as u64),
        Op::WideU | Op::WideS | Op::Widen | Op::WidenS | Op::MadWideU | Op::MadWideS | Op::Narrow => {
            widths(words, longs, ins, mask);
        }
        Op::AddF32 => w2!(single::add),
        Op::SubF32 => w2!(single::sub),
        Op::MulF32 => w2!(single::mul),
        Op::FmaF32 => w3!(single::fma_native),
        Op::MinF32 => w2!(|a, b| single::min(a, b, Extreme::default())),
        Op::MaxF32 => w2!(|a, b| single::max(a, b, Extreme::default())),
        Op::AddF64 => l2!(double::add),
        Op::SubF64 => l2!(double::sub),
        Op::MulF64 => l2!(double::mul),
        Op::FmaF64 => l3!(double::fma),
        Op::FloatS32 => w1!(|a| convert::f32_from_s32(a as i32)),
        Op::FloatU32 => w1!(convert::f32_from_u32),
        Op::FromHalf => w1!(|a| convert::f32_from_f16(a as u16)),
        Op::FromBrain => w1!(|a| a << 16),
        Op::TestU32(compare) => p!(relation(compare, &words[a], &words[b], |a| a)),
        Op::TestS32(compare) => p!(relation(compare, &words[a], &words[b], |a| a as i32)),
        Op::TestU64(compare) => p!(relation(compare, &longs[a], &longs[b], |a| a)),
        Op::TestS64(compare) => p!(relation(compare, &longs[a], &longs[b], |a| a as i64)),
        Op::TestF32(compare) => p!(floats(compare, &words[a], &words[b])),
        Op::Sel32 => {
            let mut r = words[b];
            let chosen = words[a];
            put(&mut r, &chosen, preds[c]);
            put(&mut words[d], &r, mask);
        }
        Op::Sel64 => {
            let mut r = longs[b];
            let chosen = longs[a];
            put(&mut r, &chosen, preds[c]);
            put(&mut longs[d], &r, mask);
        }
        Op::And1 => p!(preds[a] & preds[b]),
        Op::Or1 => p!(preds[a] | preds[b]),
        Op::Xor1 => p!(preds[a] ^ preds[b]),
        Op::Not1 => p!(!preds[a]),
        Op::Mov1 => p!(preds[a]),
        Op::Mark => preds[d] |= mask,
        Op::Step(_) | Op::Load(_) | Op::LoadFixed(_) | Op::Store(_) | Op::Bra(_) | Op::Check | Op::Rare(_) => {}
    }
}

/// Operations between rows of different widths.
#[inline(always)]
fn widths(words: &mut [Words], longs: &mut [Longs], ins: &Ins, mask: u32) {
    let (d, a, b, c) = (ins.d as usize, ins.a as usize, ins.b as usize, ins.c as usize);
    let product = |a: u32, b: u32| u64::from(a) * u64::from(b);
    let signed = |a: u32, b: u32| (i64::from(a as i32) * i64::from(b as i32)) as u64;
    let r: Longs = match ins.op {
        Op::WideU => map2(&words[a], &words[b], product),
        Op::WideS => map2(&words[a], &words[b], signed),
        Op::MadWideU => map3(&words[a], &words[b], &longs[c], |a, b, c| product(a, b).wrapping_add(c)),
        Op::MadWideS => map3(&words[a], &words[b], &longs[c], |a, b, c| signed(a, b).wrapping_add(c)),
        Op::Widen => map1(&words[a], u64::from),
        Op::WidenS => map1(&words[a], |a| i64::from(a as i32) as u64),
        _ => {
            let r: Words = map1(&longs[a], |a| a as u32);
            put(&mut words[d], &r, mask);
            return;
        }
    };
    put(&mut longs[d], &r, mask);
}

/// The lanes in which integers are so related.
#[inline(always)]
fn relation<T: Copy, U: Ord + Copy>(compare: Compare, a: &[T; 32], b: &[T; 32], of: impl Fn(T) -> U + Copy) -> u32 {
    match compare {
        Compare::Eq | Compare::Equ => test(a, b, |a, b| of(a) == of(b)),
        Compare::Ne | Compare::Neu => test(a, b, |a, b| of(a) != of(b)),
        Compare::Lt | Compare::Ltu => test(a, b, |a, b| of(a) < of(b)),
        Compare::Le | Compare::Leu => test(a, b, |a, b| of(a) <= of(b)),
        Compare::Gt | Compare::Gtu => test(a, b, |a, b| of(a) > of(b)),
        Compare::Ge | Compare::Geu => test(a, b, |a, b| of(a) >= of(b)),
        Compare::Num => u32::MAX,
        Compare::Nan => 0,
    }
}

/// The lanes in which floats are so related.
#[inline(always)]
fn floats(compare: Compare, a: &Words, b: &Words) -> u32 {
    let of = f32::from_bits;
    match compare {
        Compare::Lt => test(a, b, |a, b| of(a) < of(b)),
        Compare::Le => test(a, b, |a, b| of(a) <= of(b)),
        Compare::Gt => test(a, b, |a, b| of(a) > of(b)),
        Compare::Ge => test(a, b, |a, b| of(a) >= of(b)),
        Compare::Eq => test(a, b, |a, b| of(a) == of(b)),
        compare => test(a, b, |a, b| compare.singles(a, b, false)),
    }
}
