//! Threads that wait for ever, and what is left when all have exited.

use super::super::fault::{Fault, Site, codes};
use super::super::program::{Op, Program, Rare};
use super::convergence::divergent;
use super::grid::Cta;
use super::state::{Hall, Split, Wait, Warp, World};
use crate::ptx::diag::Level;

/// Reports why nothing of a group can run.
pub fn report(program: &Program, world: &mut World, group: &[Cta]) {
    for Cta { hall, warps } in group {
        let mut told = false;
        for warp in warps {
            told |= masks(program, world, hall, warp);
        }
        for warp in warps {
            for split in warp
                .splits
                .iter()
                .filter(|split| matches!(split.wait, Wait::Barrier(_)))
            {
                if split.mask != warp.live && is_aligned(program, split.pc) {
                    divergent(program, world, hall, warp, split);
                    told = true;
                }
            }
        }
        if hall.live > 0 && !told {
            unfilled(program, world, hall, warps);
        }
    }
    leftovers(program, world, group);
}

fn site(program: &Program, pc: u32) -> Option<Site> {
    program.sites.get(pc as usize).copied()
}

fn is_aligned(program: &Program, pc: u32) -> bool {
    match program.code.get(pc as usize).map(|ins| ins.op) {
        Some(Op::Rare(at)) => {
            matches!(program.rares.get(at as usize), Some(Rare::Barrier(barrier)) if barrier.aligned)
        }
        _ => false,
    }
}

/// Lanes that wait for lanes which never come.
fn masks(program: &Program, world: &mut World, hall: &Hall, warp: &Warp) -> bool {
    let mut told = false;
    for split in warp.splits.iter().filter(|split| split.wait == Wait::Together) {
        let Some(Op::Rare(at)) = program.code.get(split.pc as usize).map(|ins| ins.op) else {
            continue;
        };
        let Some(Rare::Together(what, Some(mask))) = program.rares.get(at as usize) else {
            continue;
        };
        let Some(here) = site(program, split.pc) else { continue };
        let lane = split.mask.trailing_zeros() & 31;
        let named = warp.file.read(*mask, lane as usize) as u32;
        let missing = named & warp.live & !split.mask;
        let code = what.absence();
        let thread = hall.thread(warp.index * 32 + lane);
        let message = format!(
            "the mask {named:#010x} names lanes {missing:#010x}, which do not come; {:#010x} wait",
            split.mask
        );
        let mut fault = Fault::new(code, Level::Error, here, message).thread(thread);
        for other in warp.splits.iter().filter(|other| other.mask & missing != 0) {
            let lane = (other.mask & missing).trailing_zeros() & 31;
            let them = hall.thread(warp.index * 32 + lane);
            fault = fault.other(site(program, other.pc), Some(them), format!("{them} waits here"));
        }
        world.report(fault);
        told = true;
    }
    told
}

/// A barrier to which not enough threads come, with all who wait.
fn unfilled(program: &Program, world: &mut World, hall: &Hall, warps: &[Warp]) {
    let blocked: Vec<(&Warp, &Split)> = warps
        .iter()
        .flat_map(|warp| warp.splits.iter().map(move |split| (warp, split)))
        .collect();
    let Some((warp, split)) = blocked.first() else { return };
    let Some(here) = site(program, split.pc) else { return };
    let waits: u32 = blocked
        .iter()
        .filter(|(_, other)| other.wait == split.wait)
        .map(|(_, other)| other.mask.count_ones())
        .sum();
    let (code, message) = match split.wait {
        Wait::Barrier(id) => {
            let bar = hall.bars.get(id as usize);
            let came = waits + bar.map_or(0, |bar| bar.arrived);
            let count = bar.and_then(|bar| bar.count);
            let needed = count.unwrap_or(hall.live);
            let code = if count.is_some() { codes::BAR006 } else { codes::BAR002 };
            (
                code,
                format!("barrier {id} waits for {needed} threads, and only {came} come: deadlock"),
            )
        }
        Wait::Cluster => (
            codes::BAR013,
            "the cluster barrier waits for threads that never arrive: deadlock".to_owned(),
        ),
        Wait::Mbarrier => {
            let told = world.mbarriers.values().find(|bar| bar.pending > 0 || bar.bytes != 0);
            let (pending, bytes) = told.map_or((0, 0), |bar| (bar.pending, bar.bytes));
            // In a later phase at which nobody has arrived, it is the wait that is for the wrong one.
            let code = match told {
                Some(bar) if bar.phase > 0 && bar.pending == bar.expected && bar.bytes == 0 => codes::ASYNC008,
                _ if pending > 0 => codes::ASYNC006,
                _ => codes::ASYNC007,
            };
            (
                code,
                format!("waits for ever at an mbarrier: {pending} arrivals and {bytes} bytes are missing: deadlock"),
            )
        }
        _ => (codes::WARP001, "threads wait for ever".to_owned()),
    };
    let thread = hall.thread(warp.index * 32 + (split.mask.trailing_zeros() & 31));
    let mut fault = Fault::new(code, Level::Error, here, message).thread(thread);
    for (warp, split) in blocked.iter().skip(1).take(63) {
        let lane = split.mask.trailing_zeros() & 31;
        let them = hall.thread(warp.index * 32 + lane);
        let told = format!("warp {}, lanes {:#010x}, waits here", warp.index, split.mask);
        fault = fault.other(site(program, split.pc), Some(them), told);
    }
    world.report(fault);
}

/// Barriers that threads arrived at and nobody waits for.
pub fn leftovers(program: &Program, world: &mut World, group: &[Cta]) {
    for cta in group {
        let waits = |id: usize| {
            let mut splits = cta.warps.iter().flat_map(|warp| &warp.splits);
            splits.any(|split| split.wait == Wait::Barrier(id as u8))
        };
        let bars = cta.hall.bars.iter().enumerate();
        for (id, bar) in bars.filter(|(id, bar)| bar.arrived > 0 && !waits(*id)) {
            let Some((pc, thread)) = bar.last else { continue };
            let Some(here) = site(program, pc) else { continue };
            let message = format!("{} threads arrive at barrier {id}, and nobody waits there", bar.arrived);
            world.report(Fault::new(codes::BAR007, Level::Warning, here, message).thread(thread));
        }
    }
}
