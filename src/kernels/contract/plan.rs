//! What is launched for one shape of a contract: buffers with their lengths, launches with their arguments.

use super::expr::Expr;
use super::reference::{Kind, Shape, number};
use super::{BufferSpec, Contract, LaunchSpec, Role, TensorSpec};
use crate::kernels::{self, ArgKind, KernelInfo, Values};
use crate::ptx::ir::Module;
use crate::ptx::sim::TensorMap;
use crate::ptx::sim::tensormap::ELEMENTS;
use crate::ptx::types::Type;

/// The number of a shape that limits the CTAs of each launch of a kernel here, for those that take any grid.
pub const GRID: &str = "grid";

/// The most bytes of a buffer.
const MOST_BYTES: u64 = 1 << 32;

/// Buffers and launches.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The buffers.
    pub buffers: Vec<Buffer>,
    /// Tensor maps over them.
    pub tensors: Vec<Tensor>,
    /// The launches, in order.
    pub launches: Vec<Launch>,
}

/// A buffer.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// The operand of the reference that it holds.
    pub operand: String,
    /// Type of its elements.
    pub ty: Type,
    /// Its lengths, outermost first.
    pub shape: Vec<u64>,
    /// Who reads and writes it.
    pub role: Role,
}

/// A launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The entry.
    pub entry: String,
    /// CTAs.
    pub grid: [u32; 3],
    /// Threads.
    pub block: [u32; 3],
    /// CTAs of a cluster.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u64,
    /// One for each parameter.
    pub args: Vec<Arg>,
}

/// An argument.
#[derive(Clone, Copy, Debug)]
pub enum Arg {
    /// The address of that buffer.
    Buffer(usize),
    /// A number, of the parameter's type.
    Number(f64),
    /// That tensor map.
    Tensor(usize),
}

/// A tensor map over a buffer.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// The buffer.
    pub buffer: usize,
    /// The map.
    pub map: TensorMap,
}

impl Buffer {
    /// Elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product::<u64>() as usize
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Elements of a row: the last length.
    pub fn row(&self) -> usize {
        self.shape.last().map_or(1, |len| *len as usize).max(1)
    }

    /// Bytes.
    pub fn bytes(&self) -> usize {
        self.len() * self.ty.bytes() as usize
    }

    /// Where an element is, as people write it.
    pub fn place(&self, at: usize) -> String {
        let mut rest = at as u64;
        let mut indices = Vec::new();
        for len in self.shape.iter().rev() {
            indices.push((rest % len.max(&1)).to_string());
            rest /= len.max(&1);
        }
        indices.reverse();
        format!("{}[{}]", self.name, indices.join(", "))
    }
}

impl Plan {
    /// The buffer that an argument leads to.
    pub fn buffer_of(&self, arg: Arg) -> Option<usize> {
        match arg {
            Arg::Buffer(at) => Some(at),
            Arg::Tensor(at) => self.tensors.get(at).map(|tensor| tensor.buffer),
            Arg::Number(_) => None,
        }
    }

    /// The argument of a launch that brings a buffer: its address, or else the first tensor map over it.
    pub fn bringer(&self, launch: &Launch, buffer: usize) -> Option<usize> {
        let args = || launch.args.iter().copied();
        let address = args().position(|arg| matches!(arg, Arg::Buffer(at) if at == buffer));
        address.or_else(|| args().position(|arg| self.buffer_of(arg) == Some(buffer)))
    }

    /// The plan of a contract for one of its shapes. Blocks that the contract leaves open are the module's.
    ///
    /// # Errors
    /// What does not fit.
    pub fn new(contract: &Contract, shape: &Shape, module: &Module) -> Result<Self, String> {
        let mut plan = match contract.kernel {
            Some(kernel) => Self::of_kernel(kernel, &values(kernel, shape)?, &contract.buffers),
            None => own(contract, shape, module)?,
        };
        if let (Some(_), Some(most)) = (contract.kernel, number(shape, GRID)) {
            for launch in &mut plan.launches {
                launch.grid[0] = launch.grid[0].min((most as u32).max(1));
            }
        }
        for buffer in &plan.buffers {
            let bytes = buffer
                .shape
                .iter()
                .try_fold(u64::from(buffer.ty.bytes()), |bytes, len| bytes.checked_mul(*len));
            if bytes.is_none_or(|bytes| bytes > MOST_BYTES) {
                return Err(format!("buffer `{}` has more than {MOST_BYTES} bytes", buffer.name));
            }
            plan.check_length(contract, shape, buffer)?;
        }
        plan.check_inputs(contract, shape)?;
        Ok(plan)
    }

    /// Whether a buffer is as long as the operand that it holds.
    fn check_length(&self, contract: &Contract, shape: &Shape, buffer: &Buffer) -> Result<(), String> {
        let operands = match buffer.role {
            Role::In => contract.reference.inputs,
            Role::Out => contract.reference.outputs,
            Role::InOut | Role::Scratch => &[],
        };
        let Some(operand) = operands.iter().find(|operand| operand.name == buffer.operand) else {
            return Ok(());
        };
        let mut wanted = 1;
        for len in operand.shape {
            wanted *= whole(&Expr::read(len)?, shape)?;
        }
        match buffer.len() as u64 {
            len if len == wanted => Ok(()),
            len => Err(format!(
                "buffer `{}` has {len} elements; `{}` of `{}` has {} = {wanted}",
                buffer.name,
                operand.name,
                contract.reference.name,
                operand.shape.join(" * ")
            )),
        }
    }

    /// Whether everything that the reference computes from is there.
    fn check_inputs(&self, contract: &Contract, shape: &Shape) -> Result<(), String> {
        let is_read = |name: &str| {
            let mut read = self
                .buffers
                .iter()
                .filter(|buffer| matches!(buffer.role, Role::In | Role::InOut));
            read.any(|buffer| buffer.operand == name)
        };
        let needed = contract.reference.inputs.iter();
        let mut needed = needed.filter(|operand| !matches!(operand.kind, Kind::Weight | Kind::Derived));
        if let Some(operand) = needed.find(|operand| !is_read(operand.name)) {
            return Err(format!(
                "no buffer holds `{}` of `{}`",
                operand.name, contract.reference.name
            ));
        }
        let names = contract.expression.iter().flat_map(Expr::names);
        match names
            .into_iter()
            .find(|name| !is_read(name) && number(shape, name).is_none())
        {
            Some(name) => Err(format!(
                "`{name}` of the expression is neither an input nor a number of the shape"
            )),
            None => Ok(()),
        }
    }

    /// The plan of a kernel of ours.
    pub fn of_kernel(kernel: &KernelInfo, values: &Values, names: &[BufferSpec]) -> Self {
        let mut plan = Plan::default();
        for launch in kernel.launches(values) {
            let args = launch.args.iter().map(|arg| match &arg.kind {
                ArgKind::Scalar { value, .. } => Arg::Number(f64::from(*value)),
                ArgKind::Buffer { element, shape, role } => {
                    let role = match role {
                        kernels::Role::Input => Role::In,
                        kernels::Role::Output => Role::Out,
                        kernels::Role::Scratch => Role::Scratch,
                    };
                    Arg::Buffer(plan.buffer(names, arg.name, *element, shape.clone(), role))
                }
            });
            let args = args.collect();
            plan.launches.push(Launch {
                entry: launch.entry.to_owned(),
                grid: launch.grid,
                block: launch.block,
                cluster: [1; 3],
                dynamic_shared: launch.dynamic_shared.into(),
                args,
            });
        }
        plan
    }

    /// The buffer of that name, which is made where there is none.
    fn buffer(&mut self, names: &[BufferSpec], name: &str, ty: Type, shape: Vec<u64>, role: Role) -> usize {
        if let Some(known) = self.buffers.iter().position(|buffer| buffer.name == name) {
            return known;
        }
        let spec = names.iter().find(|spec| spec.name == name);
        self.buffers.push(Buffer {
            name: name.to_owned(),
            operand: spec.map_or(name, |spec| &spec.operand).to_owned(),
            ty,
            shape,
            role,
        });
        self.buffers.len() - 1
    }
}

/// A shape as the values of a kernel's parameters.
///
/// # Errors
/// If one is out of range.
pub fn values(kernel: &KernelInfo, shape: &Shape) -> Result<Values, String> {
    let mut values = Values::default();
    for param in kernel.params {
        if let Some(value) = shape.get(param.name) {
            values.set(param, value.clone()).map_err(|error| error.to_string())?;
        }
    }
    Ok(values)
}

fn own(contract: &Contract, shape: &Shape, module: &Module) -> Result<Plan, String> {
    let mut plan = Plan::default();
    for spec in &contract.buffers {
        let Some(own) = &spec.own else { continue };
        let lengths: Result<Vec<u64>, String> = own.shape.iter().map(|len| whole(len, shape)).collect();
        let names = std::slice::from_ref(spec);
        plan.buffer(names, &spec.name, own.ty, lengths?, own.role);
    }
    for spec in &contract.tensors {
        let tensor = tensor(spec, shape, &plan.buffers)?;
        plan.tensors.push(tensor);
    }
    for spec in &contract.launches {
        let launch = launch(spec, contract, shape, module, &plan.buffers)?;
        plan.launches.push(launch);
    }
    Ok(plan)
}

fn tensor(spec: &TensorSpec, shape: &Shape, buffers: &[Buffer]) -> Result<Tensor, String> {
    let wrong = |why: String| format!("tensor map `{}`: {why}", spec.name);
    let at = buffers.iter().position(|buffer| buffer.name == spec.buffer);
    let at = at.ok_or_else(|| wrong(format!("there is no buffer `{}`", spec.buffer)))?;
    let ty = buffers[at].ty;
    // Bytes and half words have no sign there.
    let name = match ty {
        Type::S8 => "u8",
        Type::S16 => "u16",
        ty => ty.name(),
    };
    let element = ELEMENTS.iter().position(|known| *known == name);
    let element = element.ok_or_else(|| wrong(format!("there are none of {}", ty.name())))?;
    let narrow = |len: u64| u32::try_from(len).map_err(|_| wrong(format!("a length of {len}")));
    let innermost_first = |lengths: Vec<u64>| lengths.into_iter().rev().map(narrow).collect::<Result<Vec<_>, _>>();
    let dims = innermost_first(buffers[at].shape.clone())?;
    let size = spec
        .size
        .iter()
        .map(|len| whole(len, shape))
        .collect::<Result<_, _>>()?;
    let mut map = TensorMap {
        element: element as u8,
        strides: Vec::new(),
        size: innermost_first(size)?,
        steps: vec![1; dims.len()],
        dims,
        swizzle: (spec.swizzle / 16).checked_ilog2().unwrap_or(0) as u8,
        nan: spec.nan,
    };
    map.strides = TensorMap::dense_strides(map.element_bits(), &map.dims);
    map.check().map_err(wrong)?;
    Ok(Tensor { buffer: at, map })
}

fn launch(
    spec: &LaunchSpec,
    contract: &Contract,
    shape: &Shape,
    module: &Module,
    buffers: &[Buffer],
) -> Result<Launch, String> {
    let entry = &spec.entry;
    let function = module
        .function_named(entry)
        .ok_or_else(|| format!("there is no kernel `{entry}`"))?;
    let required = module.function(function).required_block();
    let block = match (spec.block.as_slice(), required) {
        ([], Some(required)) => required,
        ([], None) => {
            return Err(format!(
                "the launch of `{entry}` has no `block`, and the kernel no `.reqntid`"
            ));
        }
        (block, _) => sizes(block, shape)?,
    };
    let arg = |arg: &Expr| {
        let text = arg.to_string();
        if let Some(tensor) = contract.tensors.iter().position(|tensor| tensor.name == text) {
            return Ok(Arg::Tensor(tensor));
        }
        match buffers.iter().position(|buffer| buffer.name == text) {
            Some(buffer) => Ok(Arg::Buffer(buffer)),
            None => value(arg, shape).map(Arg::Number),
        }
    };
    Ok(Launch {
        entry: entry.clone(),
        grid: sizes(&spec.grid, shape)?,
        block,
        cluster: sizes(&spec.cluster, shape)?,
        dynamic_shared: spec
            .dynamic_shared
            .as_ref()
            .map_or(Ok(0), |bytes| whole(bytes, shape))?,
        args: spec.args.iter().map(arg).collect::<Result<_, _>>()?,
    })
}

fn sizes(sizes: &[Expr], shape: &Shape) -> Result<[u32; 3], String> {
    let mut all = [1; 3];
    for (size, to) in sizes.iter().zip(&mut all) {
        let value = whole(size, shape)?;
        *to = u32::try_from(value).map_err(|_| format!("`{size}` is {value}, too large for a grid or block"))?;
    }
    Ok(all)
}

/// The value of an expression for a shape.
///
/// # Errors
/// If it names what the shape does not give.
pub fn value(expr: &Expr, shape: &Shape) -> Result<f64, String> {
    expr.value(&|name| number(shape, name)).ok_or_else(|| {
        let unknown = expr.names().into_iter().find(|name| number(shape, name).is_none());
        format!(
            "`{}` in `{expr}` is neither a buffer nor a number of the shape",
            unknown.unwrap_or_default()
        )
    })
}

fn whole(expr: &Expr, shape: &Shape) -> Result<u64, String> {
    let value = value(expr, shape)?;
    if value >= 0.0 && value.fract() == 0.0 && value < 1e15 {
        Ok(value as u64)
    } else {
        Err(format!("`{expr}` is {value}; it must be a whole number"))
    }
}
