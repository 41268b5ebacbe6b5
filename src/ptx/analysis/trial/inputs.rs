//! What a trial run takes parameters and special registers to hold where the text does not say.
//!
//! Integers are large and round, so that guards against the end of the data let all threads pass. Two samples differ enough
//! that a coincidence in one is none in the other.

use super::demands::{Role, demands, roles};
use super::machine::Programs;
use super::program::{Access, Arg, Program, Row, Step};
use super::space::Layout;
use super::value::Value;
use crate::ptx::analysis::geometry::Shape;
use crate::ptx::analysis::scalar::Ramp;
use crate::ptx::ir::{Address, Base, FuncId, Inst, Operand, RegId, Special, SymbolId};
use crate::ptx::types::{Kind, Space, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// What integers are made up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sample {
    /// Large and round.
    #[default]
    Large,
    /// Other large and round ones.
    Larger,
    /// As many as the CTA has threads.
    Block,
    /// As many as the grid has threads.
    Grid,
    /// One.
    One,
    /// Two, unless threads are held against it: few rounds over much data.
    Rounds,
    /// So large that no stride is too small, and different for every parameter.
    Huge,
    /// Each four times the one before: what is a stride to one kernel bounds another.
    Rising,
    /// Each a quarter of the one before.
    Falling,
}

impl Sample {
    /// Those that differ in this stand for different samples where only large numbers count.
    fn number(self) -> u32 {
        u32::from(self == Sample::Larger)
    }
}

/// The launch that a trial run plays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// Threads of the CTA in x, y, z.
    pub block: [u32; 3],
    /// CTAs of the grid, where known.
    pub grid: Option<[u32; 3]>,
    /// Which CTA runs; `None` picks one.
    pub cta: Option<[u32; 3]>,
    /// Which sample of made-up numbers to use.
    pub sample: Sample,
    /// Numbers that are known: of parameters, with the bytes from their start.
    pub given: Rc<[(SymbolId, i64, u64)]>,
    /// Whether branches on what is not known take the way that no run has taken yet.
    pub explore: bool,
    /// Whether to follow who wrote what is in shared memory.
    pub shade: bool,
}

impl Setup {
    pub(super) fn threads(&self) -> usize {
        self.block
            .iter()
            .map(|dim| *dim as usize)
            .product::<usize>()
            .clamp(1, 1024)
    }

    /// What a special register holds.
    pub(super) fn special(&self, special: Special) -> Value {
        let shape = Shape::Exact(self.block);
        let threads = self.threads() as u32;
        if shape.counts_threads(special) {
            return Value::rising(Ramp::rising(threads));
        }
        let values: Option<Vec<u64>> = (0..threads).map(|thread| shape.special(special, thread)).collect();
        if let Some(values) = values {
            return Value::each(values, super::Mask::default());
        }
        let dimension = ["x", "y", "z"]
            .iter()
            .position(|dim| special.name().ends_with(&format!(".{dim}")));
        let name = special.name().split('.').next().unwrap_or("");
        match (name, dimension) {
            ("%ctaid", Some(dim)) => self.ctaid(dim),
            ("%nctaid", Some(dim)) => match self.grid {
                Some(grid) => Value::same(u64::from(grid[dim])),
                None => Value::guessed([64, 32, 8][dim] + 8 * u64::from(self.sample.number())),
            },
            ("%warpid", _) => {
                let warps: Vec<u64> = (0..u64::from(threads)).map(|thread| thread / 32).collect();
                let mut value = Value::each(warps, super::Mask::default());
                value.guess = true;
                value
            }
            ("%nwarpid", _) => Value::guessed(u64::from(threads.div_ceil(32))),
            ("%cluster_ctaid" | "%clusterid" | "%cluster_ctarank", _) => Value::guessed(0),
            ("%cluster_nctaid" | "%nclusterid" | "%cluster_nctarank", _) => Value::guessed(1),
            ("%dynamic_smem_size" | "%total_smem_size" | "%aggr_smem_size", _) => Value::guessed(0xc000),
            _ => match special.info().extent {
                crate::ptx::isa::Extent::Grid | crate::ptx::isa::Extent::Cta => Value::some(),
                _ => Value::chaos(),
            },
        }
    }

    fn ctaid(&self, dim: usize) -> Value {
        if let Some(cta) = self.cta {
            return Value::guessed(u64::from(cta[dim]));
        }
        match self.grid {
            Some(grid) if grid[dim] == 1 => Value::same(0),
            Some(grid) => Value::guessed(u64::from(self.sample.number().min(grid[dim] - 1))),
            None => Value::guessed(3 + 2 * dim as u64 + 3 * u64::from(self.sample.number())),
        }
    }
}

/// The kernel's parameters: which are addresses, and what they hold.
pub(super) struct Params<'m> {
    program: Rc<Program<'m>>,
    numbers: FxHashMap<(SymbolId, i64), u32>,
    /// Whether each of them is written through.
    written: Vec<bool>,
    sample: Sample,
    /// Threads of the CTA and of the grid.
    threads: [u64; 2],
    given: Rc<[(SymbolId, i64, u64)]>,
}

impl<'m> Params<'m> {
    pub(super) fn new(program: Rc<Program<'m>>, setup: &Setup) -> Self {
        let ctas: u64 = setup.grid.unwrap_or([1; 3]).iter().map(|dim| u64::from(*dim)).product();
        let threads = setup.threads() as u64;
        Self {
            threads: [threads, threads.saturating_mul(ctas).min(1 << 30)],
            sample: setup.sample,
            given: Rc::clone(&setup.given),
            program,
            numbers: FxHashMap::default(),
            written: Vec::new(),
        }
    }

    fn pointers(&self) -> &Pointers {
        self.program.pointers.get_or_init(|| pointers(&self.program))
    }

    /// Whether the kernel may write to the buffer of this number.
    pub(super) fn is_written(&self, number: u32) -> bool {
        self.written.get(number as usize).copied().unwrap_or(true)
    }

    /// What is read from a parameter.
    pub(super) fn read(&mut self, symbol: SymbolId, offset: i64, ty: Type) -> Value {
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry((symbol, offset)).or_insert(next);
        if number == next {
            let pointers = self.pointers();
            let written = pointers.unclear || pointers.written.contains(&(symbol, offset));
            self.written.push(written);
        }
        let given = self.given.iter().find(|given| (given.0, given.1) == (symbol, offset));
        let known = given.map(|given| given.2);
        if let Some(known) = known.or_else(|| self.pointers().demanded.get(&(symbol, offset)).copied()) {
            let bits = ty.bits();
            return Value::same(if bits >= 64 { known } else { known & ((1 << bits) - 1) });
        }
        if ty.kind() == Kind::Float {
            return Value::token(0x4000_0000 + u64::from(number));
        }
        if ty.bits() == 64 && self.pointers().all.contains(&(symbol, offset)) {
            return Value::guessed(Layout::buffer(number));
        }
        let role = self.pointers().roles.get(&(symbol, offset)).copied();
        match (role, self.sample) {
            (Some(Role::Shift), Sample::Large | Sample::Rounds) => return Value::guessed(9),
            (Some(Role::Shift), Sample::Larger) => return Value::guessed(10),
            (None | Some(Role::Count), Sample::Rounds) if ty.bits() >= 16 => return Value::guessed(2),
            _ => {}
        }
        let size = u64::from(number % 3);
        let value = match (ty.bits(), self.sample) {
            (..=15, _) | (_, Sample::One) => 1,
            (_, Sample::Large | Sample::Rounds) => 2048 << size,
            (_, Sample::Larger) => 3072 << size,
            (_, Sample::Block) => self.threads[0],
            (_, Sample::Grid) => self.threads[1],
            (_, Sample::Rising) => 1 << (10 + 2 * (number % 7)),
            (_, Sample::Falling) => 1 << (22 - 2 * (number % 7)),
            (..=31, Sample::Huge) => 0x4000 + 0x200 * u64::from(number % 16),
            (_, Sample::Huge) => (16 + u64::from(number)) << 16,
        };
        Value::guessed(value)
    }

    /// The parameter whose buffer has this number.
    pub(super) fn buffer(&self, number: u32) -> Option<SymbolId> {
        self.numbers
            .iter()
            .find(|(_, known)| **known == number)
            .map(|((symbol, _), _)| *symbol)
    }
}

/// Which 64-bit parameters end up in addresses, and what others are known to hold.
#[derive(Debug, Default)]
pub(super) struct Pointers {
    all: FxHashSet<(SymbolId, i64)>,
    /// Those that are stored through.
    written: FxHashSet<(SymbolId, i64)>,
    /// What is loaded through them.
    elements: FxHashMap<(SymbolId, i64), Type>,
    /// Whether something is stored through an address that no parameter was seen to go into.
    unclear: bool,
    /// What parameters must hold, lest the kernel trap.
    demanded: FxHashMap<(SymbolId, i64), u64>,
    /// What parameters are for, where that is plain.
    roles: FxHashMap<(SymbolId, i64), Role>,
}

/// What is known of a kernel's parameters, each by its symbol and the bytes from its start.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Those that are addresses.
    pub pointers: FxHashSet<(SymbolId, i64)>,
    /// Those that are stored through.
    pub written: FxHashSet<(SymbolId, i64)>,
    /// What lies where those lead that are loaded through.
    pub elements: FxHashMap<(SymbolId, i64), Type>,
    /// Those that must hold a number, lest the kernel trap.
    pub demanded: FxHashMap<(SymbolId, i64), u64>,
}

/// What is known of a kernel's parameters; `None` where it has no body.
pub fn known(programs: &mut Programs, kernel: FuncId) -> Option<Known> {
    let program = programs.get(kernel)?;
    let pointers = program.pointers.get_or_init(|| pointers(&program));
    Some(Known {
        pointers: pointers.all.clone(),
        written: pointers.written.clone(),
        elements: pointers.elements.clone(),
        demanded: pointers.demanded.clone(),
    })
}

/// Follows parameters through registers, in the order of the text.
#[derive(Default)]
struct Search {
    origins: FxHashMap<RegId, FxHashSet<(SymbolId, i64)>>,
    /// Registers with the parameters through which they were loaded.
    loaded: FxHashMap<RegId, FxHashSet<(SymbolId, i64)>>,
    found: Pointers,
}

fn pointers(program: &Program) -> Pointers {
    let mut search = Search::default();
    // A second pass takes what went around loops; only then it is known what is stored through.
    for _ in 0..2 {
        search.found.written.clear();
        search.found.unclear = false;
        for (row, inst) in program.rows.iter().zip(&program.body.insts) {
            search.row(row);
            search.addresses(&inst.operands);
            search.elements(row, inst);
        }
    }
    search.found.demanded = demands(program.body);
    search.found.roles = roles(program.body);
    search.found
}

impl Search {
    fn of(&self, arg: &Arg) -> Vec<(SymbolId, i64)> {
        match arg {
            Arg::Reg(reg, ..) => self.origins.get(reg).into_iter().flatten().copied().collect(),
            _ => Vec::new(),
        }
    }

    fn row(&mut self, row: &Row) {
        let made = match &row.step {
            Step::Access(access) => return self.access(row, access),
            Step::Cvta(_, _, arg) => {
                let made = self.of(arg);
                self.found.all.extend(&made);
                made
            }
            Step::Move(arg) => self.of(arg),
            Step::Select(a, b, _) => [self.of(a), self.of(b)].concat(),
            Step::Scalar { scalar, args, .. } if scalar.is_sum() => {
                // Only the addend of a product is an address.
                let skip = if args.len() == 3 { 2 } else { 0 };
                args.iter().skip(skip).flat_map(|arg| self.of(arg)).collect()
            }
            Step::Chaos | Step::Call(_) => {
                // What becomes of it there is not known.
                let used = row.uses.iter().filter_map(|reg| self.origins.get(reg)).flatten();
                let used: Vec<_> = used.copied().collect();
                self.found.unclear |= !used.is_empty();
                self.found.all.extend(used);
                return;
            }
            _ => return,
        };
        if !made.is_empty() {
            for reg in &row.defs {
                self.origins.entry(*reg).or_default().extend(&made);
            }
        }
    }

    /// Notes what stands between brackets: copies have sources beside what they write.
    fn addresses(&mut self, operands: &[Operand]) {
        for operand in operands {
            match operand {
                Operand::Address(Address {
                    base: Base::Reg(reg), ..
                }) => {
                    let origins = self.origins.get(reg).into_iter().flatten();
                    self.found.all.extend(origins);
                }
                Operand::Bracket(parts) => {
                    let regs = parts.iter().filter_map(|part| match part {
                        Operand::Reg(reg) => self.origins.get(reg),
                        _ => None,
                    });
                    self.found.all.extend(regs.flatten());
                }
                _ => {}
            }
        }
    }

    /// Notes what is loaded: a floating-point number where something is computed with it as one, whatever type the load has.
    fn elements(&mut self, row: &Row, inst: &Inst) {
        let Some(ty) = inst.op.types.last().copied() else {
            return;
        };
        let loads = matches!(&row.step, Step::Access(access) if access.reads);
        let regs = if loads { &row.defs[..] } else { &row.uses[..] };
        let is_float = ty.kind() == Kind::Float;
        if !loads && !is_float {
            return;
        }
        for origin in regs.iter().filter_map(|reg| self.loaded.get(reg)).flatten() {
            let known = self.found.elements.entry(*origin).or_insert(ty);
            if is_float && known.kind() != Kind::Float {
                *known = ty;
            }
        }
    }

    fn access(&mut self, row: &Row, access: &Access) {
        if let (Space::Param, Arg::Symbol(symbol, by), true) = (access.space, &access.base, access.reads)
            && access.bytes == 8
        {
            for (place, reg) in (0..).zip(&row.defs) {
                let origin = (*symbol, by + access.offset + place * 8);
                self.origins.entry(*reg).or_default().insert(origin);
            }
            return;
        }
        let through = self.of(&access.base);
        if access.reads && !through.is_empty() {
            for reg in &row.defs {
                self.loaded.entry(*reg).or_default().extend(&through);
            }
        }
        if access.writes && matches!(access.space, Space::Global | Space::Generic) {
            self.found.unclear |= through.is_empty() && !matches!(access.base, Arg::Symbol(..));
            self.found.written.extend(&through);
        }
        self.found.all.extend(through);
        if access.bytes == 8 {
            let stored: Vec<_> = access.values.iter().flat_map(|value| self.of(value)).collect();
            // It may come back from there as another address.
            self.found.unclear |= !stored.is_empty();
            self.found.all.extend(stored);
        }
    }
}
