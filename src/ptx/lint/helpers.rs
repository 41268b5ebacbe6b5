//! Functions around atomics and strong loads, as debug builds call them: what they order is not followed through the call.

use crate::ptx::analysis::called;
use crate::ptx::ir::{Body, Inst, Module};
use crate::ptx::isa::Effect;
use crate::ptx::types::Space;

/// Whether a kernel calls functions by which CTAs may be ordered.
pub(super) fn order_ctas(module: &Module, body: &Body) -> bool {
    let strong = |inst: &Inst| {
        let waits = ["volatile", "relaxed", "acquire"];
        match inst.op.effect {
            Effect::Atomic => true,
            Effect::Load => waits.iter().any(|name| inst.op.has(name)),
            _ => false,
        }
    };
    let elsewhere = |inst: &Inst| inst.op.space != Space::Shared && strong(inst);
    let called = called(module, body);
    let mut bodies = called
        .iter()
        .filter_map(|function| module.function(*function).body.as_ref());
    bodies.any(|body| body.insts.iter().any(elsewhere))
}
