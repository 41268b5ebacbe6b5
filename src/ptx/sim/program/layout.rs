//! Where the variables of a module lie, and what they hold at first. A variable gets its place when it is first asked for.

use super::super::memory::{Block, Bytes, Home, Map, Region, Windows};
use crate::ptx::ir::{Body, FuncId, Imm, InitSymbol, InitValue, Linkage, Module, Stmt, SymbolId, SymbolKind, Variable};
use crate::ptx::types::{Space, Type};

/// Where the addresses of functions begin: nothing can be read there.
pub const FUNCTIONS: u64 = 5 << 48;
/// What lies between two functions.
const STRIDE: u64 = 16;
/// The largest variable.
const LARGEST: u64 = 1 << 31;
/// Bytes of a thread's stack, where there is one.
const STACK: u64 = 1 << 14;
/// The largest shared and local memory.
const LARGEST_SMALL: u64 = 1 << 24;

/// A parameter of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamSpec {
    /// Its name.
    pub name: String,
    /// Its element type.
    pub ty: Type,
    /// Its size in bytes.
    pub size: u64,
    /// Where it lies among the kernel's parameters.
    pub at: u64,
}

/// Where everything lies.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The generic address space.
    pub windows: Windows,
    /// Global memory: variables first, then the launch's buffers.
    pub global: Map,
    /// Constants.
    pub constant: Map,
    /// Shared memory.
    pub shared: Map,
    /// Kernel parameters, and arguments of calls.
    pub param: Map,
    /// Local memory.
    pub local: Map,
    /// What `.global` and `.const` variables hold at first.
    pub blocks: Vec<Block>,
    /// Which of them are constants.
    pub read_only: Vec<bool>,
    /// Bytes of shared memory.
    pub shared_len: u64,
    /// Bytes of dynamic shared memory.
    pub dynamic: u64,
    /// Bytes of a thread's local memory.
    pub local_len: u64,
    /// Bytes of a thread's arguments.
    pub arena_len: u64,
    /// The kernel's parameters.
    pub params: Vec<ParamSpec>,
    /// Bytes of the kernel's parameters.
    pub params_len: u64,
    dynamic_at: Option<u64>,
    /// Which region of local memory is the stack.
    stack_at: Option<usize>,
}

fn align_up(at: u64, align: u64) -> u64 {
    at.next_multiple_of(align.max(1))
}

impl Layout {
    /// Places a kernel's parameters and shared variables.
    ///
    /// # Errors
    /// What cannot be placed.
    pub fn new(module: &Module, kernel: FuncId, dynamic: u64) -> Result<Self, String> {
        let narrow = module.header.address_size == Some(32);
        let windows = if narrow { Windows::NARROW } else { Windows::WIDE };
        let mut layout = Layout {
            windows,
            global: Map::wide(windows.global),
            constant: Map::narrow(0, 256, 1 << 12),
            shared: Map::narrow(0, reserved(module), 1 << 7),
            param: Map::narrow(1, 0, 1 << 12),
            local: Map::narrow(1, 0, 1 << 12),
            blocks: Vec::new(),
            read_only: Vec::new(),
            shared_len: 0,
            dynamic,
            local_len: 0,
            arena_len: 0,
            params: Vec::new(),
            params_len: 0,
            dynamic_at: None,
            stack_at: None,
        };
        let function = module.function(kernel);
        for symbol in &function.params {
            layout.add_param(module, *symbol)?;
        }
        if let Some(body) = &function.body {
            for symbol in variables(body, module, Space::Shared) {
                layout.address(module, symbol)?;
            }
        }
        if dynamic > 0 {
            layout.place_dynamic(dynamic)?;
        }
        Ok(layout)
    }

    fn add_param(&mut self, module: &Module, symbol: SymbolId) -> Result<(), String> {
        let name = module.name(symbol).to_owned();
        let variable = module
            .variable(symbol)
            .ok_or_else(|| format!("`{name}` is no parameter"))?;
        let size = variable
            .size()
            .filter(|size| *size <= LARGEST_SMALL)
            .ok_or_else(|| format!("the size of parameter `{name}` is not known"))?;
        let at = align_up(self.params_len, u64::from(variable.alignment()));
        self.params_len = at + size;
        self.param
            .add(size, Home::Params, at, name.clone(), Some(symbol))
            .ok_or("too many parameters")?;
        let ty = variable.ty;
        self.params.push(ParamSpec { name, ty, size, at });
        Ok(())
    }

    fn place_dynamic(&mut self, size: u64) -> Result<u64, String> {
        if let Some(at) = self.dynamic_at {
            return Ok(at);
        }
        let at = align_up(self.shared_len, 128);
        self.shared_len = at + size;
        if self.shared_len > LARGEST_SMALL {
            return Err("more shared memory than any device has".into());
        }
        let base = self
            .shared
            .add(size, Home::Shared, at, "dynamic shared memory".into(), None);
        self.dynamic_at = base;
        base.ok_or_else(|| "too many shared variables".into())
    }

    /// The address of a symbol in its own space; of a function, a number that calls understand.
    ///
    /// # Errors
    /// Why it has none.
    pub fn address(&mut self, module: &Module, symbol: SymbolId) -> Result<u64, String> {
        let name = module.name(symbol);
        let variable = match &module.symbol(symbol).kind {
            SymbolKind::Function(function) => return Ok(FUNCTIONS + u64::from(function.0) * STRIDE),
            SymbolKind::Undefined => return Err(format!("`{name}` is not defined")),
            SymbolKind::Variable(variable) => variable,
        };
        let map = match variable.space {
            Space::Global => &self.global,
            Space::Const => &self.constant,
            Space::Shared => &self.shared,
            Space::Local => &self.local,
            Space::Param => &self.param,
            _ => return Err(format!("`{name}` has no address")),
        };
        match map.of(symbol) {
            Some(region) => Ok(region.base),
            None => self.place(module, symbol, variable),
        }
    }

    fn place(&mut self, module: &Module, symbol: SymbolId, variable: &Variable) -> Result<u64, String> {
        let name = module.name(symbol).to_owned();
        let external = variable.linkage == Linkage::Extern;
        if variable.space == Space::Shared && (external || variable.size().is_none()) {
            return self.place_dynamic(self.dynamic);
        }
        let size = variable.size().filter(|size| *size <= LARGEST && !external);
        let size = size.ok_or_else(|| format!("`{name}` is not defined in this module"))?;
        let align = u64::from(variable.alignment());
        let (map, home, len) = match variable.space {
            Space::Shared => (&mut self.shared, Home::Shared, &mut self.shared_len),
            Space::Local => (&mut self.local, Home::Local, &mut self.local_len),
            Space::Param => (&mut self.param, Home::Arena, &mut self.arena_len),
            _ => return self.place_data(module, symbol, variable, size),
        };
        let at = align_up(*len, align);
        *len = at + size;
        if *len > LARGEST_SMALL {
            return Err(format!("`{name}` is larger than any device has room for"));
        }
        map.add(size, home, at, name, Some(symbol))
            .ok_or_else(|| "too many variables".to_owned())
    }

    fn place_data(&mut self, module: &Module, symbol: SymbolId, variable: &Variable, size: u64) -> Result<u64, String> {
        let name = module.name(symbol).to_owned();
        let block = self.blocks.len();
        let home = Home::Buffer(block as u32);
        self.blocks.push(Block::new(Bytes::from(vec![0; size as usize])));
        self.read_only.push(variable.space == Space::Const);
        let map = match variable.space {
            Space::Global => &mut self.global,
            _ => &mut self.constant,
        };
        let base = map.add(size, home, 0, name, Some(symbol)).ok_or("too many variables")?;
        if let Some(init) = &variable.init {
            let mut bytes = vec![0; size as usize];
            self.fill(module, variable, &init.values, 0, &mut bytes)?;
            self.blocks[block] = Block::new(Bytes::from(bytes));
        }
        Ok(base)
    }

    /// Writes the values of one row of an initialiser; rows of fewer values than the dimension says leave zeros.
    fn fill(
        &mut self,
        module: &Module,
        variable: &Variable,
        values: &[InitValue],
        depth: usize,
        bytes: &mut [u8],
    ) -> Result<(), String> {
        let element = (variable.ty.bytes() as usize).max(1);
        let inner = variable.dims.get(depth + 1..).unwrap_or(&[]).iter();
        let row = inner.fold(element * usize::from(variable.lanes), |size, dim| {
            size.saturating_mul(dim.unwrap_or(1) as usize)
        });
        let mut at = 0;
        for value in values {
            let step = match value {
                InitValue::Row(_) => row.max(element),
                _ => element,
            };
            let Some(place) = bytes.get_mut(at..at + step) else {
                break;
            };
            let number = match value {
                InitValue::Row(values) => {
                    self.fill(module, variable, values, depth + 1, place)?;
                    at += step;
                    continue;
                }
                InitValue::Imm(imm) => immediate(*imm, variable.ty),
                InitValue::Symbol(symbol) => self.symbol_value(module, symbol)?,
                InitValue::Field(field) => return Err(format!("a texture, sampler or surface with `{field}`")),
            };
            for (to, from) in place.iter_mut().zip(number.to_le_bytes()) {
                *to = from;
            }
            at += step;
        }
        Ok(())
    }

    fn symbol_value(&mut self, module: &Module, init: &InitSymbol) -> Result<u64, String> {
        let address = self.address(module, init.symbol)?.wrapping_add(init.offset as u64);
        let space = module
            .variable(init.symbol)
            .map_or(Space::Generic, |variable| variable.space);
        let address = match init.generic {
            true => address.wrapping_add(self.window(space)),
            false => address,
        };
        Ok(match init.mask {
            Some(mask) => (address & mask) >> mask.trailing_zeros().min(63),
            None => address,
        })
    }

    /// Where the stack begins: it grows downwards.
    ///
    /// # Errors
    /// If there is no room for it.
    pub fn stack(&mut self) -> Result<u64, String> {
        if let Some(region) = self.stack_region() {
            return Ok(region.base + region.size);
        }
        let at = align_up(self.local_len, 128);
        self.local_len = at + STACK;
        if self.local_len > LARGEST_SMALL {
            return Err("more local memory than any device has".into());
        }
        let base = self.local.add(STACK, Home::Local, at, "the stack".into(), None);
        self.stack_at = Some(self.local.regions().len().saturating_sub(1));
        base.map(|base| base + STACK).ok_or_else(|| "too many variables".into())
    }

    /// The stack, if there is one.
    pub fn stack_region(&self) -> Option<&Region> {
        self.local.regions().get(self.stack_at?)
    }

    /// What is added to an address of a space to make it generic.
    pub fn window(&self, space: Space) -> u64 {
        match space {
            Space::Shared | Space::SharedCluster => self.windows.shared,
            Space::Local => self.windows.local,
            Space::Const => self.windows.constant,
            Space::Param => self.windows.param,
            _ => 0,
        }
    }

    /// The function that an address names.
    pub fn function(&self, address: u64) -> Option<FuncId> {
        let offset = address.checked_sub(FUNCTIONS)?;
        u32::try_from(offset / STRIDE)
            .ok()
            .filter(|_| offset % STRIDE == 0)
            .map(FuncId)
    }
}

/// From sm_90 on, the first KiB of shared memory belongs to the system.
fn reserved(module: &Module) -> u64 {
    let number = |word: &str| {
        let digits: String = word
            .strip_prefix("sm_")?
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        digits.parse::<u32>().ok()
    };
    let newest = module.header.target.iter().filter_map(|word| number(word)).max();
    if newest.is_some_and(|sm| sm >= 90) { 0x400 } else { 0 }
}

/// The variables of a space that a body declares.
pub fn variables(body: &Body, module: &Module, space: Space) -> impl Iterator<Item = SymbolId> {
    body.stmts.iter().filter_map(move |stmt| match stmt {
        Stmt::Variable(symbol) => {
            let variable = module.variable(*symbol)?;
            (variable.space == space).then_some(*symbol)
        }
        _ => None,
    })
}

/// The bits of a constant as a value of that type.
pub fn immediate(imm: Imm, ty: Type) -> u64 {
    match (imm, ty) {
        (Imm::Int(value), Type::F32) => u64::from((value as f32).to_bits()),
        (Imm::Int(value), Type::F64) => (value as f64).to_bits(),
        (Imm::Int(value), _) => value as u64,
        (Imm::Unsigned(value), _) => value,
        (Imm::F32(bits), Type::F64) => f64::from(f32::from_bits(bits)).to_bits(),
        (Imm::F32(bits), _) => u64::from(bits),
        (Imm::F64(bits), ty) if ty.bits() <= 32 => u64::from((f64::from_bits(bits) as f32).to_bits()),
        (Imm::F64(bits), _) => bits,
    }
}
