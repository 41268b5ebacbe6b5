//! What the rules on speed and numerics have in common.

use super::wording::some_of;
use crate::ptx::analysis::{Code, Device, MOST_REGISTERS, Occupancy, Shape};
use crate::ptx::diag::{Code as RuleCode, Diag};
use crate::ptx::flow::{Liveness, Pressure};
use crate::ptx::ir::{FunctionKind, Inst, InstId, RegId};
use crate::ptx::isa::Effect;
use crate::ptx::lint::context::Context;
use crate::ptx::target::Target;
use crate::ptx::types::Space;
use crate::ptx::verify::{SharedMemory, shared_memory};

/// Threads of a CTA where nothing says how many there are.
const USUAL_THREADS: u32 = 256;

/// Registers that the hardware needs beside those that hold values: addresses of constants, the stack pointer and the like.
const OVERHEAD: u32 = 6;

/// What is predicted of a kernel's place on a multiprocessor.
pub(in crate::ptx::lint) struct Residency {
    /// Threads of a CTA.
    pub(super) threads: u32,
    /// Whether that is known, or assumed.
    pub(super) known: bool,
    /// The number in the target's name.
    pub(super) sm: u16,
    /// The multiprocessor.
    pub(super) device: Device,
    /// Registers live at once.
    pub(super) pressure: Pressure,
    /// Registers predicted for a thread.
    pub(super) registers: u32,
    /// Shared memory of a CTA, without what is given at launch.
    pub(super) shared: SharedMemory,
}

impl Residency {
    /// Predicts it; `None` where nothing is known of the target.
    pub(in crate::ptx::lint) fn new(context: &Context, code: Code) -> Option<Self> {
        let sm = target(context)?;
        let device = Device::of(sm)?;
        let shape = Shape::of(code.function(), context.launch.block);
        let bounded = code.function().attr("maxntid").map(|_| shape.most_threads());
        let known = shape.threads().or(bounded);
        let pressure = pressure(code);
        Some(Self {
            threads: known.unwrap_or(USUAL_THREADS),
            known: known.is_some(),
            sm,
            device,
            pressure,
            registers: (pressure.words + OVERHEAD).min(MOST_REGISTERS),
            shared: shared_memory(code.module, code.function()),
        })
    }

    /// How full a multiprocessor gets, with so many bytes of shared memory a CTA.
    pub(super) fn occupancy(&self, shared: u64) -> Option<Occupancy> {
        self.device
            .occupancy(self.threads, self.registers, u32::try_from(shared).ok()?)
    }

    /// Says where the number of threads comes from.
    pub(super) fn assume(&self, diag: Diag) -> Diag {
        let diag = diag.note("predicted from the values that are live at once; `ptxas -v` tells the registers it took");
        if self.known {
            return diag;
        }
        diag.note(format!(
            "assumes CTAs of {} threads: neither `.reqntid` nor the launch says how many there are",
            self.threads
        ))
    }
}

/// The kernels.
pub(super) fn kernels<'c>(context: &'c Context) -> impl Iterator<Item = Code<'c>> {
    context
        .codes()
        .filter(|code| code.function().kind == FunctionKind::Entry)
}

/// The number in the name of the module's target.
pub(super) fn target(context: &Context) -> Option<u16> {
    let words = &context.parsed.module.header.target;
    words
        .iter()
        .find_map(|word| word.parse::<Target>().ok())
        .map(|target| target.sm)
}

/// The most registers that are live at once. Constants and parameters are read from where they are, and count for nothing.
fn pressure(code: Code) -> Pressure {
    let mut counts = vec![false; code.body.regs.len()];
    for row in &code.body.insts {
        if !is_constant(row) {
            row.defs(&mut |reg: RegId| counts[reg.index()] = true);
        }
    }
    Liveness::new(code.body, code.cfg).pressure(code.body, code.cfg, |reg| counts[reg.index()])
}

fn is_constant(row: &Inst) -> bool {
    use crate::ptx::ir::Operand;
    match row.op.base() {
        "mov" => matches!(row.operands.get(1), Some(Operand::Imm(_) | Operand::Symbol(..))),
        "ld" => row.op.effect == Effect::Load && matches!(row.op.space, Space::Param | Space::Const),
        _ => false,
    }
}

/// A finding at the first of some instructions of a function, with the others named or counted.
pub(super) fn at_first(
    context: &Context,
    code: Code,
    rule: RuleCode,
    places: &[InstId],
    message: impl FnOnce(&Inst) -> String,
) -> Option<Diag> {
    let (first, more) = places.split_first()?;
    let row = &code.body.insts[first.index()];
    let diag = Diag::info(rule, context.span(code.id, *first), message(row));
    Some(some_of(context, code.id, more, "and here", diag))
}

/// The reachable instructions of a function that fit.
pub(super) fn insts_where(code: Code, fits: impl Fn(InstId, &Inst) -> bool) -> Vec<InstId> {
    let insts = (0..).map(InstId).zip(&code.body.insts);
    let reachable = insts.filter(|(at, _)| code.cfg.is_reachable(code.cfg.block_of(*at)));
    reachable.filter(|(at, row)| fits(*at, row)).map(|(at, _)| at).collect()
}
