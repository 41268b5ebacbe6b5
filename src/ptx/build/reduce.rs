//! Exchange and reduction within warps and blocks.

use super::addr::{Array, Shared};
use super::error::BuildError;
use super::function::Kernel;
use super::ops::Cmp;
use super::value::{Arg, B32, Class, F32, Reg, Value};
use crate::ptx::ir::{Imm, Operand};

/// All 32 lanes take part.
const FULL_MASK: i64 = -1;

/// Last operand but one of `shfl`: all 32 lanes form one segment, and its last lane is 31.
const WHOLE_WARP: i64 = 31;

/// Threads of a warp.
const WARP: u32 = 32;

impl Kernel<'_> {
    /// The value of the lane whose index differs in the bits of `mask`. All lanes of the warp must get here.
    pub fn shuffle_xor<C: Class>(&mut self, value: Reg<C>, mask: u32) -> Reg<C> {
        self.shuffle("bfly", value, mask.into())
    }

    /// The value of the lane that the lower five bits of `lane` name. All lanes of the warp must get here.
    pub fn shuffle_from<C: Class>(&mut self, value: Reg<C>, lane: impl Into<Value<B32>>) -> Reg<C> {
        self.shuffle("idx", value, lane.into())
    }

    fn shuffle<C: Class>(&mut self, mode: &str, value: Reg<C>, lane: Value<B32>) -> Reg<C> {
        let result = self.fresh();
        let number = |number| Arg::from(Operand::Imm(Imm::Int(number)));
        let args = [
            result.into(),
            value.into(),
            lane.into(),
            number(WHOLE_WARP),
            number(FULL_MASK),
        ];
        self.emit(&format!("shfl.sync.{mode}.b32"), args);
        result
    }

    /// The sum over all lanes of the warp, in each of them. All lanes must get here.
    pub fn warp_sum(&mut self, value: Reg<F32>) -> Reg<F32> {
        self.group_sum(value, WARP)
    }

    /// The sum over groups of `lanes` neighbours (a power of two), in each of them: the butterfly adds in the same
    /// order everywhere.
    fn group_sum(&mut self, value: Reg<F32>, lanes: u32) -> Reg<F32> {
        let mut sum = value;
        let mut distance = lanes / 2;
        while distance > 0 {
            let other = self.shuffle_xor(sum, distance);
            sum = self.add(sum, other);
            distance /= 2;
        }
        sum
    }

    /// The sums of several values (a power of two of them, up to 32) over all lanes of the warp: lane `l` gets that
    /// of value `l * count / 32`. `lane` is the lane's index. All lanes must get here.
    ///
    /// Each step halves the values a lane still carries: it keeps one of two and gives the other to its partner,
    /// which does the opposite. Eight sums take 9 shuffles where one after the other would take 40.
    pub fn warp_sums(&mut self, values: &[Reg<F32>], lane: Reg<B32>) -> Reg<F32> {
        if !(values.len().is_power_of_two() && values.len() <= WARP as usize) {
            let (entry, count) = (self.name().to_owned(), values.len());
            self.fail(BuildError::SumCount { entry, count });
            return self.fresh();
        }
        let mut values = values.to_vec();
        let mut distance = WARP / 2;
        while values.len() > 1 {
            let half = values.len() / 2;
            let bit = self.and(lane, distance);
            let upper = self.compare(Cmp::Ne, bit, 0u32);
            let exchange = |at: usize| {
                let (low, high) = (values[at], values[at + half]);
                let kept = self.select(upper, high, low);
                let given = self.select(upper, low, high);
                let other = self.shuffle_xor(given, distance);
                self.add(kept, other)
            };
            values = (0..half).map(exchange).collect();
            distance /= 2;
        }
        self.group_sum(values[0], distance * 2)
    }

    /// `bar.sync 0`: waits until all threads of the block are here.
    pub fn barrier(&mut self) {
        self.emit("bar.sync", [Arg::from(Operand::Imm(Imm::Int(0)))]);
    }

    /// Number of warps in the block; a mistake where the last one is not full.
    pub fn warps(&mut self) -> u32 {
        let threads = self.threads();
        if !threads.is_multiple_of(WARP) {
            let entry = self.name().to_owned();
            self.fail(BuildError::PartialWarp { entry, threads });
        }
        threads / WARP
    }

    /// Scratch memory for [`Kernel::block_sum`]: one value a warp. `None` for a block of one warp, which needs none.
    pub fn sum_scratch(&mut self, name: &str) -> Option<Array<Shared, F32>> {
        let warps = self.warps();
        (warps > 1).then(|| self.shared(name, warps))
    }

    /// The sum over all threads of the block, in each of them. `tid` is the thread's index in the block. All threads
    /// must get here.
    ///
    /// The second barrier lets the scratch memory be used again: no warp can overwrite what another still reads.
    pub fn block_sum(&mut self, value: Reg<F32>, tid: Reg<B32>, scratch: Option<&Array<Shared, F32>>) -> Reg<F32> {
        let sum = self.warp_sum(value);
        let Some(scratch) = scratch else { return sum };
        let warps = scratch.len();
        let lane = self.and(tid, WARP - 1);
        let warp = self.shr(tid, WARP.ilog2());
        let own = self.shared_element(scratch, warp);
        let first = self.compare(Cmp::Eq, lane, 0);
        self.when(first, |k| k.store(own, sum));
        self.barrier();
        let total = if warps.is_power_of_two() {
            let index = self.and(lane, warps - 1);
            let at = self.shared_element(scratch, index);
            let part = self.load(at);
            self.group_sum(part, warps)
        } else {
            let at = self.shared_element(scratch, lane);
            let inside = self.compare(Cmp::Lt, lane, warps);
            let part = self.load_or(inside, 1, "", at, 0.0f32);
            self.warp_sum(part[0])
        };
        self.barrier();
        total
    }
}
