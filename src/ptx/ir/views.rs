//! Typed views of an instruction: what it does to memory, barriers and control flow, without matching on names.

use super::{Address, Inst, LabelId, Operand};
use crate::ptx::isa::Effect;
use crate::ptx::types::{Space, Type};

/// A load, store, atomic or reduction on one address.
#[derive(Clone, Copy, Debug)]
pub struct MemView<'a> {
    /// State space; [`Space::Generic`] where the opcode names none.
    pub space: Space,
    /// Where.
    pub address: &'a Address,
    /// Element type.
    pub ty: Type,
    /// Elements accessed at once.
    pub lanes: u8,
    /// Whether memory is read.
    pub reads: bool,
    /// Whether memory is written.
    pub writes: bool,
    /// Whether both happen in one step.
    pub atomic: bool,
}

/// What a CTA barrier instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierOp {
    /// Arrives and waits.
    Sync,
    /// Arrives, does not wait.
    Arrive,
    /// Arrives, waits, and combines a predicate of all threads.
    Red,
}

/// Which threads a barrier gathers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierKind {
    /// `bar`, `barrier`, `barrier.cta`: threads of the CTA.
    Cta,
    /// `barrier.cluster`: threads of the cluster.
    Cluster,
}

/// `bar`, `barrier` or `barrier.cluster`.
#[derive(Clone, Copy, Debug)]
pub struct BarrierView<'a> {
    /// Which threads.
    pub kind: BarrierKind,
    /// What it does. `barrier.cluster.wait` counts as [`BarrierOp::Sync`].
    pub op: BarrierOp,
    /// Whether all threads of a warp must execute the same instruction: `bar.*`, and `barrier.*.aligned`.
    pub aligned: bool,
    /// The barrier's number; `None` for cluster barriers.
    pub id: Option<&'a Operand>,
    /// How many threads take part; `None` for all of the CTA.
    pub count: Option<&'a Operand>,
}

/// `bra`, or `brx.idx`.
#[derive(Clone, Copy, Debug)]
pub struct BranchView {
    /// Where it goes; of an indexed branch, the table that lists where.
    pub target: LabelId,
    /// Whether `target` names a table.
    pub indexed: bool,
    /// Whether `.uni` promises that all active threads take it alike.
    pub uniform: bool,
}

impl Inst {
    /// As an access to one address, where it is one of a known type.
    ///
    /// Tensor, bulk, texture and matrix instructions are not: they touch more than one address.
    pub fn as_mem(&self) -> Option<MemView<'_>> {
        let (reads, writes, atomic) = match (self.op.base(), self.op.effect) {
            ("ld" | "ldu", Effect::Load) => (true, false, false),
            ("st", Effect::Store) => (false, true, false),
            ("atom" | "red", Effect::Atomic) => (true, true, true),
            _ => return None,
        };
        let address = self.operands.iter().find_map(|operand| match operand {
            Operand::Address(address) => Some(address),
            _ => None,
        })?;
        Some(MemView {
            space: self.op.space,
            address,
            ty: self.op.ty()?,
            lanes: self.op.lanes,
            reads,
            writes,
            atomic,
        })
    }

    /// As a barrier of the CTA or cluster. `bar.warp.sync` is none.
    pub fn as_barrier(&self) -> Option<BarrierView<'_>> {
        if self.op.effect != Effect::Barrier {
            return None;
        }
        let has = |name| self.op.has(name);
        let cluster = has("cluster");
        let op = if has("arrive") {
            BarrierOp::Arrive
        } else if has("red") {
            BarrierOp::Red
        } else {
            BarrierOp::Sync
        };
        // `red` writes a destination first and reads a predicate last: `bar.red.popc.u32 d, a{, b}, p`.
        let (first, last) = match op {
            BarrierOp::Red => (1, self.operands.len().saturating_sub(1)),
            _ => (0, self.operands.len()),
        };
        let numbers = if cluster {
            &[]
        } else {
            self.operands.get(first..last).unwrap_or(&[])
        };
        Some(BarrierView {
            kind: if cluster {
                BarrierKind::Cluster
            } else {
                BarrierKind::Cta
            },
            op,
            aligned: self.op.base() == "bar" || has("aligned"),
            id: numbers.first(),
            count: numbers.get(1),
        })
    }

    /// As a branch.
    pub fn as_branch(&self) -> Option<BranchView> {
        if self.op.effect != Effect::Branch {
            return None;
        }
        let target = self.operands.iter().find_map(|operand| match operand {
            Operand::Label(label) => Some(*label),
            _ => None,
        })?;
        Some(BranchView {
            target,
            indexed: self.op.base() == "brx",
            uniform: self.op.has("uni"),
        })
    }

    /// Whether nothing of the function runs after it in this thread: `ret`, `exit`, `trap`.
    pub fn ends_thread(&self) -> bool {
        self.op.effect == Effect::Exit
    }
}
