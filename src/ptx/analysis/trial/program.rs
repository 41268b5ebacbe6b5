//! Function bodies, decoded once for all trial runs.

use super::inputs::Pointers;
use crate::ptx::analysis::calls::{Call, Callee};
use crate::ptx::analysis::converge::Converge;
use crate::ptx::analysis::scalar::{self, Scalar};
use crate::ptx::flow::{Cfg, Loops};
use crate::ptx::ir::{
    Address, BarrierKind, BarrierOp, Base, Body, FuncId, Function, Guard, Inst, InstId, Module, Operand, RegDecl,
    RegId, Special, SymbolId,
};
use crate::ptx::isa::Effect;
use crate::ptx::types::{Space, Type};
use smallvec::SmallVec;
use std::cell::OnceCell;

/// A source.
#[derive(Clone, Debug)]
pub(super) enum Arg {
    Known(u64),
    /// A register, a constant added to it, and whether it is negated.
    Reg(RegId, i64, bool),
    Special(Special),
    Symbol(SymbolId, i64),
    /// Not understood.
    Other,
}

/// An access to memory.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) space: Space,
    pub(super) base: Arg,
    pub(super) offset: i64,
    /// Bytes of an element.
    pub(super) bytes: u32,
    pub(super) elements: u32,
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) atomic: bool,
    /// `.volatile`, `.relaxed`, `.acquire`, `.release`: never torn, never cached.
    pub(super) strong: bool,
    pub(super) volatile: bool,
    /// Whether it is ordered within the CTA only.
    pub(super) narrow: bool,
    /// Through the read-only path.
    pub(super) nc: bool,
    /// What is stored, one per element.
    pub(super) values: SmallVec<[Arg; 2]>,
    pub(super) ty: Option<Type>,
    /// Of `ldmatrix` and `stmatrix`: how many lanes' addresses count.
    pub(super) rows: Option<u32>,
    /// Of an asynchronous copy, where it reads.
    pub(super) source: Option<(Arg, i64)>,
}

/// What an instruction does.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Scalar {
        scalar: Scalar,
        second: bool,
        args: SmallVec<[Arg; 4]>,
    },
    Move(Arg),
    Select(Arg, Arg, Arg),
    /// Between a space's own addresses and generic ones; the flag says to the space.
    Cvta(Space, bool, Arg),
    IsSpace(Space, Arg),
    Access(Box<Access>),
    Barrier {
        op: BarrierOp,
        id: Option<Arg>,
        count: Option<Arg>,
    },
    /// Something that is done to an mbarrier.
    Signal(Box<super::signals::Signal>),
    /// A barrier of the cluster: an arrival, or the wait for it.
    Cluster {
        arrives: bool,
    },
    /// Lanes of a warp wait for each other or exchange something.
    Warp {
        exchange: Option<Box<Exchange>>,
        mask: Option<Arg>,
    },
    Branch(u32),
    /// An indexed branch.
    Switch(Arg, Box<[u32]>),
    /// Ends the thread; `true` ends the function only.
    End(bool),
    Call(FuncId),
    /// Results follow from the sources, in a way that is not computed.
    Opaque,
    /// Results may be anything.
    Chaos,
    /// Has no results.
    Nothing,
    /// Orders or moves data in ways that are not followed.
    Foreign,
}

/// A `shfl` or `elect` whose result can be computed.
#[derive(Clone, Debug)]
pub(super) enum Exchange {
    Shuffle {
        mode: &'static str,
        value: Arg,
        by: Arg,
        clamp: Arg,
    },
    Elect,
}

/// A decoded instruction.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) guard: Option<Guard>,
    pub(super) step: Step,
    pub(super) defs: SmallVec<[RegId; 2]>,
    pub(super) uses: SmallVec<[RegId; 4]>,
    pub(super) block: u32,
    /// Tells what is computed: equal numbers, equal functions.
    pub(super) how: u64,
    /// Whether the first two sources may be exchanged.
    pub(super) commutes: bool,
    /// Whether the result is each thread's own, whatever the sources are.
    pub(super) own: bool,
    /// Whether the lanes of a warp get the same result.
    pub(super) warp_wide: bool,
}

/// A function, ready to run.
pub(super) struct Program<'m> {
    pub(super) body: &'m Body,
    pub(super) rows: Vec<Row>,
    pub(super) cfg: Cfg,
    pub(super) loops: Loops,
    /// Per loop, whether a number is halved or doubled in each round: such loops end soon.
    pub(super) halving: Vec<bool>,
    pub(super) converge: Converge,
    /// Whether threads are ordered in ways that are not followed: mbarriers, cluster barriers, flags that are waited for.
    pub(super) foreign: Option<(InstId, &'static str)>,
    /// Whether warps are ordered otherwise than by barriers for all of them.
    pub(super) by_warp: bool,
    /// Which parameters are addresses, found when first asked for.
    pub(super) pointers: OnceCell<Pointers>,
    /// Per register, whether it lives within one block only: what threads hold that are elsewhere is of no use to anybody.
    pub(super) local: Vec<bool>,
}

impl<'m> Program<'m> {
    pub(super) fn new(module: &'m Module, function: &Function, body: &'m Body) -> Self {
        let cfg = Cfg::new(module, body);
        let loops = Loops::of_cfg(&cfg);
        let waits = |inst: u32| body.insts[inst as usize].op.effect == Effect::Barrier;
        let converge = Converge::new(body, &cfg, &loops, true, &waits);
        let mut rows = Vec::with_capacity(body.insts.len());
        for (at, inst) in (0..).map(InstId).zip(&body.insts) {
            rows.push(row(module, body, &cfg, at, inst));
        }
        let halving = super::rounds::halving(body, &cfg, &loops);
        let local = local(module, function, body, &rows);
        let mut program = Self {
            body,
            rows,
            cfg,
            loops,
            halving,
            converge,
            foreign: None,
            by_warp: false,
            pointers: OnceCell::new(),
            local,
        };
        program.foreign = super::foreign::find(&program);
        program.by_warp = program.rows.iter().any(|row| match &row.step {
            Step::Signal(signal) => signal.waits(),
            Step::Cluster { .. } => true,
            _ => false,
        });
        program
    }
}

/// The registers that are set, for all threads that come by, and read in one block and nowhere else.
fn local(module: &Module, function: &Function, body: &Body, rows: &[Row]) -> Vec<bool> {
    let mut homes: Vec<Option<u32>> = vec![None; body.regs.len()];
    let mut local = vec![true; body.regs.len()];
    for row in rows {
        for reg in &row.uses {
            local[reg.index()] &= homes[reg.index()] == Some(row.block);
        }
        for reg in &row.defs {
            let home = &mut homes[reg.index()];
            local[reg.index()] &= home.map_or(row.guard.is_none(), |home| home == row.block);
            *home = Some(row.block);
        }
    }
    // What a function returns is read when it has ended.
    for result in &function.results {
        let named = |reg: &RegDecl| *reg.name == *module.name(*result);
        let at = body.regs.iter().position(named);
        at.into_iter().for_each(|at| local[at] = false);
    }
    local
}

fn row(module: &Module, body: &Body, cfg: &Cfg, at: InstId, inst: &Inst) -> Row {
    let (mut defs, mut uses) = (SmallVec::new(), SmallVec::new());
    inst.defs(&mut |reg| defs.push(reg));
    inst.uses(&mut |reg| uses.push(reg));
    Row {
        guard: inst.guard,
        step: step(module, body, at, inst),
        defs,
        uses,
        block: cfg.block_of(at),
        how: how(inst),
        commutes: matches!(inst.op.base(), "add" | "mul" | "min" | "max" | "and" | "or" | "xor"),
        own: is_own(inst),
        warp_wide: matches!(inst.op.base(), "vote" | "redux" | "activemask")
            || inst.op.base() == "match" && inst.op.has("all"),
    }
}

/// A number for the opcode and the operands that are no registers.
fn how(inst: &Inst) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    inst.op.text.hash(&mut hasher);
    for operand in &inst.operands {
        match operand {
            Operand::Imm(imm) => imm.hash(&mut hasher),
            Operand::Special(special) => special.name().hash(&mut hasher),
            Operand::Symbol(symbol, by) => (symbol, by).hash(&mut hasher),
            _ => {}
        }
    }
    hasher.finish()
}

/// Whether an instruction gives each thread something of its own.
fn is_own(inst: &Inst) -> bool {
    let own = |operand: &Operand| match operand {
        Operand::Special(special) => special.info().extent > crate::ptx::isa::Extent::Cta,
        _ => false,
    };
    inst.operands.iter().any(own) || ["mma", "wmma", "movmatrix"].contains(&inst.op.base())
}

fn step(module: &Module, body: &Body, at: InstId, inst: &Inst) -> Step {
    if let Some(signal) = super::signals::decode(inst) {
        return Step::Signal(Box::new(signal));
    }
    if let Some(copy) = copy(inst) {
        return copy;
    }
    match inst.op.effect {
        Effect::Pure => pure(inst),
        Effect::Load | Effect::Store | Effect::Atomic => memory(inst),
        Effect::Barrier => barrier(inst),
        Effect::Warp => warp(inst),
        Effect::Branch => branch(body, inst),
        Effect::Exit => Step::End(inst.op.base() == "ret"),
        Effect::Call => match Call::of(module, at, inst).map(|call| call.callee) {
            Some(Callee::Known(function)) => Step::Call(function),
            _ => Step::Chaos,
        },
        Effect::Fence => Step::Nothing,
        Effect::Mbarrier => Step::Foreign,
        Effect::Async | Effect::Other => Step::Chaos,
    }
}

/// A source operand.
pub(super) fn arg(operand: &Operand) -> Arg {
    match operand {
        Operand::Reg(reg) => Arg::Reg(*reg, 0, false),
        Operand::Not(reg) => Arg::Reg(*reg, 0, true),
        Operand::Sum(reg, by) => Arg::Reg(*reg, *by, false),
        Operand::Special(special) => Arg::Special(*special),
        Operand::Symbol(symbol, by) => Arg::Symbol(*symbol, *by),
        Operand::Imm(imm) => match imm {
            crate::ptx::ir::Imm::F32(bits) => Arg::Known(u64::from(*bits)),
            crate::ptx::ir::Imm::F64(bits) => Arg::Known(*bits),
            _ => imm.as_int().map_or(Arg::Other, |value| Arg::Known(value as u64)),
        },
        _ => Arg::Other,
    }
}

fn pure(inst: &Inst) -> Step {
    let part = |at: usize| inst.operands.get(at).map_or(Arg::Other, arg);
    let single = matches!(inst.operands.first(), Some(Operand::Reg(_)));
    match inst.op.base() {
        "cvta" => {
            let to = inst.op.has("to");
            return Step::Cvta(inst.op.space, to, part(1));
        }
        "isspacep" => return Step::IsSpace(inst.op.space, part(1)),
        "mov" if single && !matches!(part(1), Arg::Other) => return Step::Move(part(1)),
        "selp" if single => return Step::Select(part(1), part(2), part(3)),
        "ldmatrix" => return memory(inst),
        _ => {}
    }
    let Some(scalar) = scalar::decode(inst) else {
        return Step::Opaque;
    };
    let second = match inst.operands.first() {
        Some(Operand::Reg(_)) => false,
        // The complement is computed along with the first.
        Some(Operand::Pair(_)) if scalar.arity <= 2 => true,
        _ => return Step::Opaque,
    };
    let args: SmallVec<[Arg; 4]> = inst.operands.iter().skip(1).take(scalar.arity).map(arg).collect();
    if args.len() < scalar.arity || args.iter().any(|arg| matches!(arg, Arg::Other)) {
        return Step::Opaque;
    }
    Step::Scalar { scalar, second, args }
}

fn memory(inst: &Inst) -> Step {
    let op = &inst.op;
    let (reads, writes, atomic) = match (op.base(), op.effect) {
        ("ld" | "ldu", _) => (true, false, false),
        ("st", _) => (false, true, false),
        ("atom" | "red", _) => (true, true, true),
        ("ldmatrix", _) => (true, false, false),
        ("stmatrix", _) => (false, true, false),
        (_, Effect::Load) => return Step::Opaque,
        _ => return Step::Chaos,
    };
    let address = inst.operands.iter().find_map(|operand| match operand {
        Operand::Address(address) => Some(*address),
        _ => None,
    });
    let Some(address) = address else { return Step::Chaos };
    let matrix = matches!(op.base(), "ldmatrix" | "stmatrix");
    let rows = matrix.then(|| {
        if op.has("x4") {
            32
        } else if op.has("x2") {
            16
        } else {
            8
        }
    });
    let values = inst.operands.last().filter(|_| writes && !atomic && !matrix);
    let has = |names: &[&str]| op.mods().any(|name| names.contains(&name));
    Step::Access(Box::new(Access {
        space: op.space,
        base: base(&address),
        offset: address.offset,
        bytes: if matrix {
            16
        } else {
            op.ty().map_or(4, Type::bytes).max(1)
        },
        elements: if matrix { 1 } else { u32::from(op.lanes) },
        reads,
        writes,
        atomic,
        strong: atomic || has(&["volatile", "relaxed", "acquire", "release", "mmio"]),
        volatile: op.has("volatile"),
        narrow: atomic && op.has("cta"),
        nc: op.has("nc"),
        values: match values {
            Some(Operand::Vector(parts)) => parts.iter().map(arg).collect(),
            Some(value) => SmallVec::from_iter([arg(value)]),
            None => SmallVec::new(),
        },
        ty: op.ty(),
        rows,
        source: None,
    }))
}

/// A thread's own asynchronous copy, taken to be done at once: whether it is waited for has rules of its own.
fn copy(inst: &Inst) -> Option<Step> {
    if inst.op.row?.name != "cp.async" {
        return None;
    }
    let Some(Operand::Address(address)) = inst.operands.first() else {
        return None;
    };
    let bytes = inst.operands.get(2)?.as_int()?;
    Some(Step::Access(Box::new(Access {
        space: Space::Shared,
        base: base(address),
        offset: address.offset,
        bytes: u32::try_from(bytes).ok().filter(|bytes| (4..=16).contains(bytes))?,
        elements: 1,
        reads: false,
        writes: true,
        atomic: false,
        strong: false,
        volatile: false,
        narrow: false,
        nc: false,
        values: SmallVec::new(),
        ty: None,
        rows: None,
        source: match inst.operands.get(1) {
            Some(Operand::Address(from)) => Some((base(from), from.offset)),
            _ => None,
        },
    })))
}

pub(super) fn base(address: &Address) -> Arg {
    match address.base {
        Base::Reg(reg) => Arg::Reg(reg, 0, false),
        Base::Symbol(symbol) => Arg::Symbol(symbol, 0),
        Base::Absolute => Arg::Known(0),
    }
}

fn barrier(inst: &Inst) -> Step {
    match inst.as_barrier() {
        Some(view) if view.kind == BarrierKind::Cta => Step::Barrier {
            op: view.op,
            id: view.id.map(arg),
            count: view.count.map(arg),
        },
        Some(view) => Step::Cluster {
            arrives: view.op == BarrierOp::Arrive,
        },
        _ => Step::Foreign,
    }
}

fn warp(inst: &Inst) -> Step {
    let op = &inst.op;
    let part = |at: usize| inst.operands.get(at).map_or(Arg::Other, arg);
    let synced = op.has("sync");
    let exchange = match op.base() {
        "shfl" => ["idx", "up", "down", "bfly"]
            .into_iter()
            .find(|mode| op.has(mode))
            .map(|mode| Exchange::Shuffle {
                mode,
                value: part(1),
                by: part(2),
                clamp: part(3),
            }),
        "elect" => Some(Exchange::Elect),
        _ => None,
    };
    let mask = inst.operands.last().filter(|_| synced).map(arg);
    Step::Warp {
        exchange: exchange.map(Box::new),
        mask,
    }
}

fn branch(body: &Body, inst: &Inst) -> Step {
    let Some(view) = inst.as_branch() else {
        return Step::Nothing;
    };
    let place = |label: crate::ptx::ir::LabelId| body.labels.get(label.index()).and_then(|label| label.at);
    if !view.indexed {
        return place(view.target).map_or(Step::Foreign, |at| Step::Branch(at.0));
    }
    let table = body.stmts.iter().find_map(|stmt| match stmt {
        crate::ptx::ir::Stmt::Table(table) if table.label == view.target => match &table.kind {
            crate::ptx::ir::TableKind::Branch(labels) => Some(labels),
            _ => None,
        },
        _ => None,
    });
    let Some(labels) = table else { return Step::Foreign };
    let places: Option<Vec<u32>> = labels.iter().map(|label| place(*label).map(|at| at.0)).collect();
    let index = inst.operands.first().map_or(Arg::Other, arg);
    places.map_or(Step::Foreign, |places| Step::Switch(index, places.into()))
}
