//! The two proxies to memory: what ordinary stores write, bulk copies and `wgmma` see only behind a proxy fence.

use super::super::fault::{Fault, codes};
use super::super::lanes::lanes;
use super::super::memory::{Tag, Visit};
use super::super::program::{Access, Async, Op, Program, Proxy, Rare};
use super::access::Spot;
use super::state::{BlockId, Ctx};
use crate::ptx::diag::Level;

/// Of whom everything up to when came before a proxy fence of the CTA: interval and tick, both exclusive.
#[derive(Clone, Debug, Default)]
pub struct Fenced {
    /// All intervals before this one.
    whole: u32,
    warps: Vec<(u32, u32)>,
    threads: Vec<(u32, u32)>,
}

impl Fenced {
    fn covers(&self, visit: Tag) -> bool {
        let when = (visit.epoch(), visit.clock());
        let before = |all: &[(u32, u32)], at: u32| all.get(at as usize).is_some_and(|until| when < *until);
        visit.epoch() < self.whole || before(&self.warps, visit.warp()) || before(&self.threads, visit.thread())
    }
}

/// Notes that everything of one before that is covered.
fn reach(all: &mut Vec<(u32, u32)>, at: u32, until: (u32, u32)) {
    let at = at as usize;
    if all.len() <= at {
        all.resize(at + 1, (0, 0));
    }
    all[at] = all[at].max(until);
}

/// Whether an instruction writes through the asynchronous proxy.
fn is_async(program: &Program, pc: u32) -> bool {
    let Some(Op::Rare(at)) = program.code.get(pc as usize).map(|ins| ins.op) else {
        return false;
    };
    let Some(Rare::Async(what)) = program.rares.get(at as usize) else {
        return false;
    };
    matches!(
        what,
        Async::Bulk { .. } | Async::Store { .. } | Async::Tensor(_) | Async::TryCancel { .. }
    )
}

impl Ctx<'_> {
    /// `fence.proxy.async`: what its threads wrote, and what they know to have happened before, is seen by both proxies.
    pub fn fence_proxy(&mut self, proxy: Proxy, mask: u32) {
        let (epoch, clock, number) = (self.hall.epoch, self.warp.clock, self.hall.number);
        let spaces = [proxy.shared, proxy.global];
        for (fenced, _) in self.hall.fenced.iter_mut().zip(spaces).filter(|(_, named)| *named) {
            fenced.whole = fenced.whole.max(epoch);
            for (warp, (epoch, clock)) in self.warp.known.warps_of(Tag::new(number, 0, 0, 0).cta()) {
                reach(&mut fenced.warps, warp, (epoch, clock + 1));
            }
            reach(&mut fenced.warps, self.warp.index, (epoch, clock));
            for lane in lanes(mask) {
                reach(
                    &mut fenced.threads,
                    self.warp.index * 32 + lane as u32,
                    (epoch, clock + 1),
                );
            }
        }
        // What is written from here on comes after the fence.
        self.warp.clock += 1;
    }

    /// The asynchronous proxy is about to read bytes; that it sees what ordinary stores wrote there takes a fence.
    pub fn read_by_proxy(&mut self, spot: Spot, size: usize, lane: usize, pc: u32) {
        let space = match spot.block {
            BlockId::Shared(_) => 0,
            BlockId::Buffer(_) => 1,
            _ => return,
        };
        if !self.world.options.checks.races {
            return;
        }
        let (me, program) = (self.tag(lane), self.program);
        let mut unseen = None;
        for at in (spot.at..spot.at + size).step_by(4) {
            let writer = self.block(spot.block).and_then(|block| block.shadow.writer(at));
            let Some((tag, there)) = writer.filter(|(tag, _)| tag.same_cta(me)) else {
                continue;
            };
            if !self.hall.fenced[space].covers(tag) && !is_async(program, there) {
                unseen = Some((tag, there));
                break;
            }
        }
        let Some((tag, there)) = unseen else { return };
        let writer = self.hall.thread(tag.thread());
        let name = if space == 0 { "shared" } else { "global" };
        let message = format!(
            "reads {name} memory through the asynchronous proxy, and an ordinary store wrote it without `fence.proxy.async` since"
        );
        let fault = Fault::new(codes::ASYNC010, Level::Error, self.site(pc), message).thread(self.thread(lane));
        let site = self.site(there);
        self.report(fault.other(Some(site), Some(writer), format!("{writer} writes it here")));
    }

    /// What a lane reads through the asynchronous proxy; zero where it may not.
    pub fn read_async(&mut self, access: &Access, address: u64, lane: usize, pc: u32) -> u128 {
        let size = u64::from(access.bytes);
        let Some(spot) = self.spot(access.space, address, size, lane, pc, false) else {
            return 0;
        };
        self.read_by_proxy(spot, size as usize, lane, pc);
        self.visit(access, spot, size as usize, lane, address, pc, Visit::Read);
        self.block(spot.block)
            .map_or(0, |block| block.load(spot.at, size as usize))
    }
}
