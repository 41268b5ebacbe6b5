//! What a module needs: the least version and target that have everything in it, and what asks for them.
//!
//! Instructions and special registers bring their gates from the table; directives have theirs in `directives`.
//! The builder writes headers by this, legality holds directives against it, and `ptxgen targets` prints it.

mod directives;
mod instructions;

pub(super) use directives::pragmas;

use super::ir::{FuncId, InstId, Module, SymbolId};
use super::isa::{Gate, Removal};
use super::parse::Spans;
use super::source::Span;
use super::target::{PtxVersion, Target};
use rustc_hash::FxHashSet;

/// Something that not every version and target has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// What it is, as it is written: `cp.async.ca.shared.global`, `.maxclusterrank`, `%clusterid.x`.
    pub what: String,
    /// The versions and targets that have it.
    pub gate: Gate,
    /// Where it is gone again.
    pub removal: Option<Removal>,
    /// Where it stands first.
    pub place: Place,
    /// The function it belongs to; `None` at module scope.
    pub owner: Option<FuncId>,
}

/// Where in a module something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// An instruction.
    Inst(FuncId, InstId),
    /// A statement of a body, by its index.
    Stmt(FuncId, usize),
    /// A directive between a function's parameters and its body, by its index.
    Attr(FuncId, usize),
    /// The name of a function.
    Function(FuncId),
    /// The name of a variable or parameter.
    Symbol(SymbolId),
    /// `.address_size`.
    AddressSize,
    /// `.target` with its options.
    Target,
    /// A directive at module scope whose place is not kept.
    Module,
}

impl Place {
    /// Where it stands in the text; at module scope, the header stands for what has no place of its own.
    pub fn span(self, spans: &Spans) -> Span {
        let of = |id: FuncId| spans.functions.get(id.index());
        let found = match self {
            Place::Inst(id, inst) => of(id).and_then(|spans| spans.insts.get(inst.index()).copied()),
            Place::Stmt(id, stmt) => of(id).and_then(|spans| spans.stmts.get(stmt).copied()),
            Place::Attr(id, attr) => of(id).and_then(|spans| spans.attrs.get(attr).copied()),
            Place::Function(id) => of(id).map(|spans| spans.name),
            Place::Symbol(symbol) => spans.symbols.get(symbol.index()).copied(),
            Place::AddressSize => spans.header.address_size,
            Place::Target => spans.header.target,
            Place::Module => None,
        };
        found.or(spans.header.version).unwrap_or_default()
    }
}

/// Everything in a module that not every version and target has.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// What is needed, each thing once a function, in textual order within each.
    pub all: Vec<Need>,
    /// Instructions that the table does not know: what they need is not counted.
    pub unknown: Vec<(FuncId, InstId)>,
    /// The first instruction whose operands fit no form.
    pub misfit: Option<String>,
}

/// The least version and target that have everything asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Least {
    /// The first target of the ladder that has everything.
    pub target: Target,
    /// The least version that has everything, and that target.
    pub version: PtxVersion,
}

impl Needs {
    /// Collects what a module asks for.
    pub fn of(module: &Module) -> Self {
        let mut needs = Self {
            all: directives(module),
            ..Self::default()
        };
        instructions::collect(module, &mut needs);
        needs
    }

    /// What a function and those it calls ask for.
    pub fn reached<'n>(&'n self, module: &Module, root: FuncId) -> Vec<&'n Need> {
        let reached = instructions::reached(module, root);
        let within = |need: &&Need| need.owner.is_some_and(|owner| reached.contains(&owner));
        self.all.iter().filter(within).collect()
    }
}

/// What the directives of a module ask for.
pub fn directives(module: &Module) -> Vec<Need> {
    let mut found = Vec::new();
    directives::collect(module, &mut found);
    found
}

impl Need {
    /// Whether that target has it, some version provided.
    pub fn on(&self, target: Target) -> bool {
        self.gate.targets.is_empty() || self.gate.targets.iter().any(|need| target.satisfies(*need))
    }

    /// Whether it is gone at that version and target.
    pub fn is_gone(&self, version: PtxVersion, target: Target) -> bool {
        self.removal.is_some_and(|removal| {
            removal.ptx.is_none_or(|from| version >= from) && removal.target.is_none_or(|from| target.sm >= from.sm)
        })
    }

    /// The first target of the ladder that has it.
    pub fn least_target(&self) -> Option<Target> {
        Target::all().find(|target| self.on(*target))
    }
}

/// The least target of the ladder that has everything, with the least version; `None` where none has.
pub fn least(needs: &[&Need]) -> Option<Least> {
    Target::all().find_map(|target| {
        let version = least_version(needs, target)?;
        let gone = needs.iter().any(|need| need.is_gone(version, target));
        (!gone && needs.iter().all(|need| need.on(target))).then_some(Least { target, version })
    })
}

/// The least version that knows the target and has everything; `None` for a target that does not exist.
fn least_version(needs: &[&Need], target: Target) -> Option<PtxVersion> {
    let asked = needs.iter().filter_map(|need| need.gate.ptx).max();
    Some(target.min_ptx()?.max(asked.unwrap_or(PtxVersion::OLDEST)))
}

/// The needs that decide the target: each alone asks for this one, or, where only several together do, all that are
/// particular about it.
pub fn target_deciders<'n>(needs: &[&'n Need], target: Target) -> Vec<&'n Need> {
    let named = || needs.iter().copied().filter(|need| !need.gate.targets.is_empty());
    if Target::all().next() == Some(target) {
        return Vec::new();
    }
    let alone: Vec<_> = named().filter(|need| need.least_target() == Some(target)).collect();
    if alone.is_empty() { named().collect() } else { alone }
}

/// The needs that decide the version; empty where the target alone asks for it.
pub fn version_deciders<'n>(needs: &[&'n Need], version: PtxVersion) -> Vec<&'n Need> {
    let asks = |need: &&Need| need.gate.ptx == Some(version) && version > PtxVersion::OLDEST;
    needs.iter().copied().filter(asks).collect()
}

/// Needs of which no target has all: as few as show it.
pub fn conflict<'n>(needs: &[&'n Need]) -> Vec<&'n Need> {
    let mut kept = needs.to_vec();
    let mut at = 0;
    while at < kept.len() {
        let removed = kept.remove(at);
        if least(&kept).is_some() {
            kept.insert(at, removed);
            at += 1;
        }
    }
    kept
}

/// Keeps the first of what a function asks for in the same words.
#[derive(Default)]
struct Sink {
    seen: FxHashSet<(Option<FuncId>, String)>,
}

impl Sink {
    fn add(&mut self, out: &mut Vec<Need>, need: Need) {
        let asks = need.gate.ptx.is_some() || !need.gate.targets.is_empty() || need.removal.is_some();
        if asks && self.seen.insert((need.owner, key(&need))) {
            out.push(need);
        }
    }
}

fn key(need: &Need) -> String {
    format!("{} {:?} {:?}", need.what, need.gate, need.removal)
}

/// A gate: least version, and least target where there is one.
fn gate(major: u8, minor: u8, sm: u16) -> Gate {
    Gate {
        ptx: Some(PtxVersion::new(major, minor)),
        targets: (sm > 0).then(|| Target::base(sm)).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests;
