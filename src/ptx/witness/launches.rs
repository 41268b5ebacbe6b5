//! Which launches a kernel is tried on: what is given is kept, the rest is made up, the simplest first.

use super::claim::reached;
use crate::ptx::analysis::Shape;
use crate::ptx::analysis::trial::{self, Known, Programs};
use crate::ptx::ir::{Body, FuncId, Function, Module, Operand, Symbol, SymbolId, SymbolKind, Variable};
use crate::ptx::isa::Extent;
use crate::ptx::lint::{self, Launch};
use crate::ptx::num::convert::Convert;
use crate::ptx::sim::{Arg, Buffer, Bytes, Fill, Launch as Run, Options};
use crate::ptx::types::{Kind, Space, Type};
use rustc_hash::FxHashMap;
use std::fmt;
use std::rc::Rc;

/// Bytes of made-up buffers: the next where the kernel runs out of one.
const SIZES: [u64; 3] = [1 << 16, 1 << 20, 1 << 24];
/// Bytes of all buffers of a launch.
const MOST_BYTES: u64 = 1 << 27;
/// Numbers in made-up buffers are below this: small enough for indices and counts, and prime, so that elements at a
/// distance of a power of two differ.
const BELOW: u64 = 61;
/// The most threads that a number stands for.
const MOST_THREADS: u64 = 1 << 20;
/// What integers hold, in the order in which it is tried.
const NUMBERS: [Number; 5] = [
    Number::Grid,
    Number::Block,
    Number::Fixed(1024),
    Number::Fixed(1),
    // Unrolled loops have a rest.
    Number::Fixed(7),
];
/// Dynamic and static shared memory together: every kernel may have so much.
const SHARED: u64 = 48 << 10;
/// Threads of a CTA where only called functions tell threads apart.
const CALLED: [[u32; 3]; 3] = [[64, 1, 1], [128, 1, 1], [32, 1, 1]];
/// What floating-point parameters hold.
const FLOAT: f64 = 1.5;

/// A launch, as it can be made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// The kernel.
    pub kernel: String,
    /// CTAs of the grid in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a CTA.
    pub block: [u32; 3],
    /// CTAs of a cluster, where the kernel does not say.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u64,
    /// One for each parameter.
    pub args: Vec<Passed>,
    /// The order in which warps and CTAs run; 0 is the plain one.
    pub schedule: u64,
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The parameter's name.
    pub name: String,
    /// What is passed.
    pub value: Value,
}

/// What is passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number {
        /// The parameter's type.
        ty: Type,
        /// Its bits.
        bits: u64,
    },
    /// The bytes of a structure.
    Bytes(Vec<u8>),
    /// The address of a buffer.
    Buffer(Fill),
}

/// As `ptxgen run --arg` takes it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Buffer(fill) => fill.fmt(f),
            Value::Number { ty, bits } => match (ty.kind(), Convert::new(Type::F64, *ty).apply(*bits)) {
                (Kind::Float, Some(value)) => write!(f, "{}={}", ty.name(), f64::from_bits(value)),
                (Kind::Signed, _) => {
                    let up = 64 - ty.bits().min(64);
                    write!(f, "{}={}", ty.name(), (*bits as i64) << up >> up)
                }
                _ => write!(f, "{}={bits}", ty.name()),
            },
            Value::Bytes(bytes) => {
                f.write_str("bytes=")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

impl Launched {
    /// The launch for the simulator; `None` if a buffer cannot be made.
    pub(super) fn launch(&self, budget: u64, buffers: &mut Buffers) -> Option<Run> {
        let args = self.args.iter().map(|passed| {
            Some(match &passed.value {
                Value::Number { ty, bits } => {
                    let bytes = bits.to_le_bytes().into_iter().take(ty.bytes() as usize);
                    Arg::Bytes(bytes.collect())
                }
                Value::Bytes(bytes) => Arg::Bytes(bytes.clone()),
                Value::Buffer(fill) => Arg::Buffer(Buffer {
                    name: String::new(),
                    bytes: buffers.of(*fill)?,
                    unwritten: false,
                }),
            })
        });
        Some(Run {
            grid: self.grid,
            block: self.block,
            dynamic_shared: self.dynamic_shared,
            args: args.collect::<Option<Vec<_>>>()?,
            options: Options {
                budget,
                schedule: self.schedule,
                cluster: self.cluster,
                ..Options::default()
            },
        })
    }
}

/// What buffers hold, each made once.
#[derive(Default)]
pub(super) struct Buffers(FxHashMap<Fill, Option<Bytes>>);

impl Buffers {
    fn of(&mut self, fill: Fill) -> Option<Bytes> {
        let make = || fill.bytes().map(Bytes::from);
        self.0.entry(fill).or_insert_with(make).clone()
    }
}

/// What integers hold.
#[derive(Clone, Copy, Debug)]
enum Number {
    /// The number of threads of the grid.
    Grid,
    /// The number of threads of a CTA.
    Block,
    /// This.
    Fixed(u64),
}

/// What is made up for one launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    block: [u32; 3],
    number: Number,
    /// Whether all buffers hold zeros.
    zeros: bool,
}

/// What is known of a kernel's launches.
pub(super) struct Kernel<'m> {
    module: &'m Module,
    function: &'m Function,
    known: Known,
    given: Rc<[(SymbolId, i64, u64)]>,
    blocks: Vec<[u32; 3]>,
    unusual: Vec<[u32; 3]>,
    /// Whether the shape of the CTA is known, not made up.
    pub(super) is_block_known: bool,
    grid: [u32; 3],
    cluster: [u32; 3],
    dynamic: u64,
    /// Which of the sizes made-up buffers have.
    size: usize,
}

impl<'m> Kernel<'m> {
    /// What is known of a kernel.
    ///
    /// # Errors
    /// Why no arguments can be made up.
    pub(super) fn new(programs: &mut Programs<'m>, id: FuncId, launch: &Launch) -> Result<Self, String> {
        let module = programs.module();
        let function = module.function(id);
        let (Some(known), Some(body)) = (trial::known(programs, id), &function.body) else {
            return Err("it has no body".to_owned());
        };
        let shape = Shape::of(function, launch.block);
        let mut blocks = lint::usual_blocks(module, shape, body);
        // The linter looks at the kernel alone; here the functions that it calls count, too.
        if blocks == [[1, 1, 1]] && !matches!(shape, Shape::Exact(_)) && is_asked(module, id) {
            blocks = CALLED.to_vec();
        }
        // One warp alone shows little; two come first.
        if let Some(at) = blocks.iter().position(|block| *block == [32, 1, 1]) {
            let end = blocks.len().min(3);
            blocks[at..end].rotate_left(1);
        }
        let cluster = cluster(function, body);
        // A grid that is given may have no room for clusters.
        let has_room = launch.grid.is_none_or(|grid| grid[0].is_multiple_of(cluster[0]));
        let cluster = if has_room { cluster } else { [1, 1, 1] };
        let kernel = Self {
            module,
            function,
            known,
            given: launch.given(module, function),
            blocks,
            unusual: lint::unusual_blocks(shape).to_vec(),
            is_block_known: matches!(shape, Shape::Exact(_)),
            grid: launch.grid.unwrap_or_else(|| grid(function, body, cluster)),
            cluster,
            dynamic: dynamic(module, body),
            size: 0,
        };
        kernel.check()?;
        Ok(kernel)
    }

    /// Whether arguments can be made up at all.
    fn check(&self) -> Result<(), String> {
        for symbol in &self.function.params {
            let name = self.module.name(*symbol);
            let size = self.module.variable(*symbol).and_then(Variable::size);
            let size = size.ok_or_else(|| format!("the size of parameter `{name}` is not known"))?;
            let mut pointers = self.known.pointers.iter().filter(|(owner, _)| owner == symbol);
            if size != 8 && pointers.next().is_some() {
                return Err(format!("parameter `{name}` holds addresses within a structure"));
            }
        }
        Ok(())
    }

    /// What is made up, in the order in which it is tried.
    pub(super) fn choices(&self) -> Vec<Choice> {
        self.choices_of(&self.blocks)
    }

    /// What is made up where the kernel is not made for any of those: unusual shapes of the CTA.
    pub(super) fn unusual(&self) -> Vec<Choice> {
        match self.is_block_known {
            true => Vec::new(),
            false => self.choices_of(&self.unusual),
        }
    }

    fn choices_of(&self, blocks: &[[u32; 3]]) -> Vec<Choice> {
        let is_free = |symbol: &SymbolId| {
            let at = &(*symbol, 0);
            let is_float = || {
                let variable = self.module.variable(*symbol);
                variable.is_some_and(|variable| variable.dims.is_empty() && variable.ty.kind() == Kind::Float)
            };
            let told = self.given.iter().any(|given| given.0 == *symbol);
            !told && !self.known.pointers.contains(at) && !self.known.demanded.contains_key(at) && !is_float()
        };
        let numbers = match self.function.params.iter().any(is_free) {
            true => &NUMBERS[..],
            false => &NUMBERS[..1],
        };
        let zeros: &[bool] = match self.known.pointers.is_empty() {
            true => &[false],
            false => &[false, true],
        };
        let mut choices = Vec::new();
        for zeros in zeros {
            for number in numbers {
                choices.extend(blocks.iter().map(|block| Choice {
                    block: *block,
                    number: *number,
                    zeros: *zeros,
                }));
            }
        }
        choices
    }

    /// Makes buffers larger; whether there is a larger size.
    pub(super) fn enlarge(&mut self) -> bool {
        let is_last = self.size + 1 >= SIZES.len();
        self.size += usize::from(!is_last);
        !is_last
    }

    /// Which size buffers have.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Makes buffers smaller again.
    pub(super) fn shrink(&mut self, size: usize) {
        self.size = size;
    }

    /// The launch with what was chosen.
    pub(super) fn launch(&self, choice: &Choice) -> Launched {
        let params = self.function.params.iter();
        Launched {
            kernel: self.module.name(self.function.symbol).to_owned(),
            grid: self.grid,
            block: choice.block,
            cluster: self.cluster,
            dynamic_shared: self.dynamic,
            args: params
                .map(|symbol| Passed {
                    name: self.module.name(*symbol).to_owned(),
                    value: self.value(*symbol, choice),
                })
                .collect(),
            schedule: 0,
        }
    }

    fn value(&self, symbol: SymbolId, choice: &Choice) -> Value {
        let place = (symbol, 0);
        if self.known.pointers.contains(&place) {
            let element = self.known.elements.get(&place).copied();
            // What is only written may hold anything.
            let zeros = choice.zeros || element.is_none() && self.known.written.contains(&place);
            return Value::Buffer(self.fill(element, zeros));
        }
        let Some(variable) = self.module.variable(symbol) else {
            return Value::Bytes(Vec::new());
        };
        let given = self.given.iter().find(|given| given.0 == symbol).map(|given| given.2);
        let number = given
            .or_else(|| self.known.demanded.get(&place).copied())
            .unwrap_or_else(|| self.number(choice));
        if !variable.dims.is_empty() || variable.lanes > 1 {
            return Value::Bytes(self.words(symbol, variable, number));
        }
        let ty = variable.ty;
        let bits = match ty.kind() {
            Kind::Float if given.is_none() => Convert::new(ty, Type::F64).apply(FLOAT.to_bits()).unwrap_or(0),
            // A byte is a flag more often than a size.
            _ if ty.bits() <= 8 && given.is_none() => 1,
            _ => number,
        };
        Value::Number {
            ty,
            bits: bits & (u64::MAX >> (64 - ty.bits().clamp(1, 64))),
        }
    }

    /// A structure of which every word of 32 bits holds the number, or what it must hold.
    fn words(&self, symbol: SymbolId, variable: &Variable, number: u64) -> Vec<u8> {
        let size = variable.size().unwrap_or(0) as usize;
        let mut bytes: Vec<u8> = (number as u32).to_le_bytes().into_iter().cycle().take(size).collect();
        for ((owner, at), demanded) in &self.known.demanded {
            let at = usize::try_from(*at).unwrap_or(usize::MAX);
            if let Some(word) = bytes.get_mut(at..at.saturating_add(4)).filter(|_| *owner == symbol) {
                word.copy_from_slice(&(*demanded as u32).to_le_bytes());
            }
        }
        bytes
    }

    /// The number that integers hold.
    fn number(&self, choice: &Choice) -> u64 {
        let count = |dims: [u32; 3]| dims.iter().map(|dim| u64::from(*dim)).product::<u64>();
        let threads = count(choice.block);
        match choice.number {
            Number::Grid => threads.saturating_mul(count(self.grid)).min(MOST_THREADS),
            Number::Block => threads,
            Number::Fixed(number) => number,
        }
    }

    /// What the buffer of a parameter holds.
    fn fill(&self, element: Option<Type>, zeros: bool) -> Fill {
        let buffers = self.known.pointers.len().max(1) as u64;
        let size = SIZES[self.size].min(MOST_BYTES / buffers) & !63;
        if zeros {
            return Fill::Zero(size);
        }
        let ty = element.map_or(Type::U32, scalar);
        Fill::Cycle {
            ty,
            count: size / u64::from(ty.bytes()),
            below: BELOW,
        }
    }
}

/// The type in which a buffer is filled.
fn scalar(element: Type) -> Type {
    let is_float = element.kind() == Kind::Float;
    match element {
        Type::F16 | Type::F16x2 => Type::F16,
        Type::Bf16 | Type::Bf16x2 => Type::Bf16,
        Type::F64 => Type::F64,
        _ => match element.bits() {
            8 => Type::U8,
            16 => Type::U16,
            64 if !is_float => Type::U64,
            _ if is_float => Type::F32,
            _ => Type::U32,
        },
    }
}

/// Whether a function that a kernel calls asks which thread it is.
fn is_asked(module: &Module, kernel: FuncId) -> bool {
    let bodies = reached(module, vec![kernel]).into_iter();
    let bodies = bodies.filter_map(|function| module.function(function).body.as_ref());
    let reads = |body: &Body| {
        let operands = body.insts.iter().flat_map(|inst| &inst.operands);
        let mut extents = operands.filter_map(|operand| match operand {
            Operand::Special(special) => Some(special.info().extent),
            _ => None,
        });
        extents.any(|extent| extent > Extent::Cta)
    };
    bodies.into_iter().any(reads)
}

fn specials(body: &Body) -> impl Iterator<Item = &'static str> {
    let operands = body.insts.iter().flat_map(|inst| &inst.operands);
    operands.filter_map(|operand| match operand {
        Operand::Special(special) => Some(special.name()),
        _ => None,
    })
}

/// The grid where none is given: two CTAs in each dimension that the kernel looks at, in whole clusters.
fn grid(function: &Function, body: &Body, cluster: [u32; 3]) -> [u32; 3] {
    let reads = |axis: &str| specials(body).any(|name| name.contains("ctaid.") && name.ends_with(axis));
    let stated = function.attr("reqnctapercluster").unwrap_or_default();
    let mut grid = [2, 1 + u32::from(reads(".y")), 1 + u32::from(reads(".z"))];
    for (axis, dim) in grid.iter_mut().enumerate() {
        let stated = stated.get(axis).and_then(|dim| u32::try_from(*dim).ok());
        *dim = dim.next_multiple_of(stated.unwrap_or(1).max(cluster[axis]).clamp(1, 16));
    }
    grid
}

/// The cluster of a kernel that works with one and does not state it.
fn cluster(function: &Function, body: &Body) -> [u32; 3] {
    let mut insts = body.insts.iter();
    let works = insts
        .any(|inst| matches!(inst.op.base(), "mapa" | "getctarank") || inst.op.text.starts_with("barrier.cluster"));
    let works = works || specials(body).any(|name| name.starts_with("%cluster_"));
    match works && function.attr("reqnctapercluster").is_none() {
        true => [2, 1, 1],
        false => [1, 1, 1],
    }
}

/// Bytes of dynamic shared memory: what is left beside the variables, where the kernel asks for some.
fn dynamic(module: &Module, body: &Body) -> u64 {
    let shared = |symbol: &Symbol| match &symbol.kind {
        SymbolKind::Variable(variable) if variable.space == Space::Shared => Some(variable.size()),
        _ => None,
    };
    let sizes = || module.symbols.iter().filter_map(shared);
    let asks = sizes().any(|size| size.is_none_or(|size| size == 0))
        || specials(body).any(|name| name == "%dynamic_smem_size");
    let fixed: u64 = sizes().flatten().sum();
    match asks {
        true => SHARED.saturating_sub(fixed) & !127,
        false => 0,
    }
}
