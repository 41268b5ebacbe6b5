//! Whether lanes come to aligned barriers together.

use super::super::fault::{Fault, Site, codes};
use super::super::program::Program;
use super::barrier::barrier_at;
use super::state::{Hall, Split, Wait, Warp, World};
use crate::ptx::diag::Level;

/// An aligned barrier must be executed by all lanes of a warp together, and by one instruction.
pub fn check(program: &Program, world: &mut World, hall: &Hall, warps: &[Warp], id: u8) {
    let mut first: Option<(u32, u32)> = None;
    for warp in warps {
        if warp.live == 0 {
            absent_warp(program, world, hall, warps, warp, id);
        }
        for split in warp.splits.iter().filter(|split| split.wait == Wait::Barrier(id)) {
            let Some(barrier) = barrier_at(program, split.pc).filter(|barrier| barrier.aligned) else {
                continue;
            };
            if split.mask != warp.live {
                divergent(program, world, hall, warp, split);
            } else if split.mask != warp.lanes && passed_by(program, world, hall, warp, split) {
                // Told.
            } else if barrier.count.is_none() {
                match first {
                    None => first = Some((split.pc, warp.index)),
                    Some((pc, other)) if pc != split.pc => {
                        apart(program, world, hall, (split.pc, warp.index), (pc, other));
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Reports an aligned barrier that not all live lanes of a warp execute together.
pub fn divergent(program: &Program, world: &mut World, hall: &Hall, warp: &Warp, split: &Split) {
    let Some(site) = program.sites.get(split.pc as usize).copied() else {
        return;
    };
    let other = warp.splits.iter().find(|other| other.mask & split.mask == 0);
    let lane = split.mask.trailing_zeros() & 31;
    let thread = hall.thread(warp.index * 32 + lane);
    let twin = other.filter(|other| matches!(other.wait, Wait::Barrier(_)) && barrier_at(program, other.pc).is_some());
    let twin = twin.filter(|other| !world.joins.follow(program, split.pc, other.pc));
    let code = if twin.is_some() { codes::BAR002 } else { codes::BAR001 };
    let message = format!(
        "only lanes {:#010x} of warp {} come to this aligned barrier together, and {:#010x} are there",
        split.mask, warp.index, warp.live
    );
    let mut fault = Fault::new(code, Level::Error, site, message).thread(thread);
    if let Some(other) = other {
        let there = program.sites.get(other.pc as usize).copied();
        let lane = other.mask.trailing_zeros() & 31;
        let them = hall.thread(warp.index * 32 + lane);
        fault = fault.other(there, Some(them), format!("{them} of the same warp is here"));
    }
    world.report(fault);
}

/// Reports two textual barriers that two warps meet at.
fn apart(program: &Program, world: &mut World, hall: &Hall, here: (u32, u32), there: (u32, u32)) {
    let site = |pc: u32| program.sites.get(pc as usize).copied();
    let Some(at) = site(here.0) else { return };
    let (me, other) = (hall.thread(here.1 * 32), hall.thread(there.1 * 32));
    let message = format!(
        "warps {} and {} meet at two different aligned barriers",
        there.1, here.1
    );
    let fault = Fault::new(codes::BAR002, Level::Warning, at, message).thread(me);
    world.report(fault.other(site(there.0), Some(other), format!("{other} is here")));
}

/// Reports lanes of the warp that have gone round the barrier and exited behind it. Lanes that leave early for good, as
/// guards of the tail do, are none.
fn passed_by(program: &Program, world: &mut World, hall: &Hall, warp: &Warp, split: &Split) -> bool {
    let before = warp
        .passed
        .iter()
        .find(|(pc, _)| *pc == split.pc)
        .map_or(0, |(_, lanes)| *lanes);
    let in_call = warp
        .frames
        .get(split.frame as usize)
        .is_some_and(|frame| frame.depth > 0);
    let guilty = warp
        .exits
        .iter()
        .find(|(pc, lanes)| lanes & before != 0 || in_call || world.joins.is_behind(program, split.pc, *pc));
    let (Some((pc, lanes)), Some(site)) = (guilty.copied(), program.sites.get(split.pc as usize).copied()) else {
        return false;
    };
    let code = if lanes & before != 0 {
        codes::BAR004
    } else {
        codes::BAR001
    };
    let message = format!(
        "only lanes {:#010x} of warp {} come to this aligned barrier; lanes {lanes:#010x} went past it and exited",
        split.mask, warp.index
    );
    tell(
        program,
        world,
        (hall, warp),
        (code, Level::Error, site, message),
        (split.mask, lanes),
        pc,
    );
    true
}

/// Reports a warp that has gone round a barrier without a count at which others wait.
fn absent_warp(program: &Program, world: &mut World, hall: &Hall, warps: &[Warp], absent: &Warp, id: u8) {
    let mut waiting = warps
        .iter()
        .flat_map(|warp| warp.splits.iter().map(move |split| (warp, split)));
    let found = waiting.find(|(_, split)| {
        let barrier = barrier_at(program, split.pc);
        split.wait == Wait::Barrier(id) && barrier.is_some_and(|barrier| barrier.aligned && barrier.count.is_none())
    });
    let Some((warp, split)) = found else { return };
    let guilty = absent
        .exits
        .iter()
        .find(|(pc, _)| world.joins.is_behind(program, split.pc, *pc));
    let (Some((pc, _)), Some(site)) = (guilty.copied(), program.sites.get(split.pc as usize).copied()) else {
        return;
    };
    let message = format!(
        "warp {} waits at this barrier, and warp {} went past it and exited",
        warp.index, absent.index
    );
    let them = hall.thread(absent.index * 32);
    let me = hall.thread(warp.index * 32 + (split.mask.trailing_zeros() & 31));
    let fault = Fault::new(codes::BAR001, Level::Warning, site, message).thread(me);
    let there = program.sites.get(pc as usize).copied();
    world.report(fault.other(there, Some(them), format!("{them} exits here")));
}

fn tell(
    program: &Program,
    world: &mut World,
    (hall, warp): (&Hall, &Warp),
    (code, level, site, message): (crate::ptx::diag::Code, Level, Site, String),
    (mine, others): (u32, u32),
    pc: u32,
) {
    let thread = |lanes: u32| hall.thread(warp.index * 32 + (lanes.trailing_zeros() & 31));
    let (me, them) = (thread(mine), thread(others));
    let there = program.sites.get(pc as usize).copied();
    let fault = Fault::new(code, level, site, message).thread(me);
    world.report(fault.other(there, Some(them), format!("{them} exits here")));
}
