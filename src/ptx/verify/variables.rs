//! Variables and parameters: can there be one of this type, in this space, at this place?

use super::gates::Environment;
use super::initial;
use crate::ptx::diag::{Code, Diag, codes};
use crate::ptx::ir::{Function, FunctionKind, Item, Linkage, Module, Stmt, SymbolId, Variable};
use crate::ptx::parse::Parsed;
use crate::ptx::target::{PtxVersion, TargetOption};
use crate::ptx::types::{Kind, Space, Type};

/// Bytes of constant memory without a bank.
const CONSTANT_LIMIT: u64 = 64 * 1024;

/// Bytes of the largest vector that is a variable.
const LARGEST_VECTOR: u32 = 16;

/// Where a variable is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Module,
    Body,
    Parameter(FunctionKind),
}

/// What is wrong, and what would be right.
type Fault = (Code, String, &'static str);

/// Checks every variable and parameter.
pub(super) fn check(parsed: &Parsed, environment: &Environment, out: &mut Vec<Diag>) {
    let module = &parsed.module;
    let mut checker = Checker {
        parsed,
        environment,
        out,
    };
    for item in &module.items {
        if let Item::Variable(symbol) = item {
            checker.one(*symbol, Place::Module);
        }
    }
    for function in &module.functions {
        checker.parameters(function);
        let stmts = function.body.iter().flat_map(|body| &body.stmts);
        for stmt in stmts {
            if let Stmt::Variable(symbol) = stmt {
                checker.one(*symbol, Place::Body);
            }
        }
    }
    checker.constant_memory();
}

struct Checker<'a> {
    parsed: &'a Parsed,
    environment: &'a Environment,
    out: &'a mut Vec<Diag>,
}

impl Checker<'_> {
    fn report(&mut self, symbol: SymbolId, (code, message, help): Fault) {
        let span = self
            .parsed
            .spans
            .symbols
            .get(symbol.index())
            .copied()
            .unwrap_or_default();
        let diag = Diag::error(code, span, message);
        self.out.push(if help.is_empty() { diag } else { diag.help(help) });
    }

    /// The first thing that is wrong with a variable.
    fn one(&mut self, symbol: SymbolId, place: Place) {
        let module = &self.parsed.module;
        let Some(variable) = module.variable(symbol) else {
            return;
        };
        let name = module.name(symbol);
        let fault = self
            .place(variable, name, place)
            .or_else(|| self.opaque(variable, name, place))
            .or_else(|| self.bank(variable))
            .or_else(|| shape(variable, name, place))
            .or_else(|| initial::fault(module, variable, name));
        if let Some(fault) = fault {
            self.report(symbol, fault);
        }
    }

    fn is_since(&self, version: PtxVersion) -> bool {
        self.environment.version.is_some_and(|own| own >= version)
    }

    /// State space and linkage, for the place.
    fn place(&self, variable: &Variable, name: &str, place: Place) -> Option<Fault> {
        let linkage = variable.linkage;
        if place == Place::Body && linkage != Linkage::None {
            let message = format!("`.{}` belongs to declarations outside functions", linkage.name());
            return Some((codes::SYN001, message, "move the declaration in front of the function"));
        }
        if linkage == Linkage::Common && variable.space != Space::Global {
            let message = format!("`{name}` is `.common`, which only `.global` variables are");
            return Some((codes::ISA012, message, ""));
        }
        let managed = variable.attributes.iter().any(|text| text.contains(".managed"));
        if managed && variable.space != Space::Global {
            let message = format!("`{name}` is `.managed`, which only `.global` variables are");
            return Some((codes::ISA012, message, ""));
        }
        if place != Place::Module {
            return None;
        }
        match variable.space {
            Space::Param => {
                let message = format!("`{name}` is a parameter outside any function");
                Some((
                    codes::ISA012,
                    message,
                    "declare it `.const`, or in the function that uses it",
                ))
            }
            Space::Local if self.is_since(PtxVersion::new(3, 0)) => {
                let message = format!("`{name}` is `.local` outside any function, which was possible before PTX 3.0");
                Some((codes::ISA012, message, "move it into the function that uses it"))
            }
            Space::Tex if self.is_since(PtxVersion::new(1, 5)) => {
                let message = "`.tex` is gone since PTX 1.5".to_owned();
                Some((codes::GATE006, message, "declare it `.global .texref`"))
            }
            _ => None,
        }
    }

    /// References to textures, samplers and surfaces, and predicates.
    fn opaque(&self, variable: &Variable, name: &str, place: Place) -> Option<Fault> {
        let ty = variable.ty.name();
        if variable.ty == Type::Pred && variable.space != Space::Reg {
            let message = format!("`{name}` is a predicate, which only a register can be");
            return Some((codes::ISA012, message, "store it as a number, which `selp` makes of it"));
        }
        if variable.ty.kind() != Kind::Opaque || place == Place::Parameter(FunctionKind::Entry) {
            return None;
        }
        if variable.space != Space::Global || place != Place::Module {
            let message = format!("`{name}` is a `.{ty}`, which is declared `.global` outside functions");
            return Some((codes::ISA012, message, ""));
        }
        let words = &self.parsed.module.header.target;
        let option = |word: &str| TargetOption::from_name(word) == Some(TargetOption::TexmodeIndependent);
        let unified = !words.iter().any(|word| option(word));
        (variable.ty == Type::Samplerref && unified).then(|| {
            let message = format!("`{name}` is a sampler of its own, which needs `texmode_independent` in `.target`");
            (codes::GATE006, message, "textures carry their sampler otherwise")
        })
    }

    /// `.const[3]`.
    fn bank(&self, variable: &Variable) -> Option<Fault> {
        variable.bank?;
        self.is_since(PtxVersion::new(2, 2)).then(|| {
            let message = "numbered constant banks are gone since PTX 2.2".to_owned();
            (
                codes::GATE006,
                message,
                "declare it `.const`, or pass a pointer to `.global` memory",
            )
        })
    }

    fn parameters(&mut self, function: &Function) {
        let place = Place::Parameter(function.kind);
        let is_kernel = function.kind == FunctionKind::Entry;
        for symbol in function.results.iter().chain(&function.params) {
            self.one(*symbol, place);
            let module = &self.parsed.module;
            let name = module.name(*symbol);
            let has_pointer = module
                .variable(*symbol)
                .is_some_and(|variable| variable.attributes.iter().any(|text| text.starts_with(".ptr")));
            if name == "_" {
                let message = "a parameter needs a name".to_owned();
                self.report(*symbol, (codes::SYN001, message, "only `.callprototype` does without"));
            } else if has_pointer && !is_kernel {
                let message = format!("`.ptr` describes parameters of kernels, and `{name}` is one of a function");
                self.report(*symbol, (codes::SYN017, message, "leave it out"));
            }
        }
        if is_kernel && let Some(first) = function.results.first() {
            let message = "a kernel returns nothing".to_owned();
            self.report(*first, (codes::SYN001, message, "write results through a pointer"));
        }
        let in_memory = |symbol: &&SymbolId| {
            let variable = self.parsed.module.variable(**symbol);
            variable.is_some_and(|variable| variable.space == Space::Param)
        };
        if function.results.len() > 1
            && let Some(result) = function.results.iter().find(in_memory).copied()
        {
            let message = "several results are possible only in registers".to_owned();
            self.report(
                result,
                (codes::SYN001, message, "declare them `.reg`, or return one array"),
            );
        }
    }

    /// Constants beyond what the hardware has.
    fn constant_memory(&mut self) {
        let module = &self.parsed.module;
        let mut end = 0u64;
        for item in &module.items {
            let Item::Variable(symbol) = item else { continue };
            let Some(size) = constant_size(module, *symbol) else {
                continue;
            };
            let alignment = module.variable(*symbol).map_or(1, Variable::alignment);
            end = end.next_multiple_of(u64::from(alignment.max(1))).saturating_add(size);
            if end > CONSTANT_LIMIT {
                let message =
                    format!("the module has {end} bytes of constants up to here; the limit is {CONSTANT_LIMIT}");
                return self.report(*symbol, (codes::ISA019, message, "declare it `.global`"));
            }
        }
    }
}

fn constant_size(module: &Module, symbol: SymbolId) -> Option<u64> {
    let variable = module.variable(symbol)?;
    let counts = variable.space == Space::Const && variable.bank.is_none() && variable.linkage != Linkage::Extern;
    variable.size().filter(|_| counts)
}

/// Vectors and arrays.
fn shape(variable: &Variable, name: &str, place: Place) -> Option<Fault> {
    let in_function = matches!(place, Place::Parameter(_));
    let in_memory = variable.space == Space::Param;
    if in_function && in_memory && (variable.lanes > 1 || variable.ty == Type::F16x2) {
        let message = format!("the parameter `{name}` is a vector");
        return Some((codes::ISA013, message, "declare it as an array of bytes, with `.align`"));
    }
    if variable.lanes > 1 && variable.element_size() > LARGEST_VECTOR {
        let bits = variable.element_size() * 8;
        let message = format!("`{name}` is a vector of {bits} bits; the largest has 128");
        return Some((codes::ISA013, message, "declare it as an array, with `.align`"));
    }
    if in_function && in_memory && variable.dims.len() > 1 {
        let message = format!("the parameter `{name}` has {} dimensions", variable.dims.len());
        return Some((codes::SYN001, message, "parameters are arrays of one dimension"));
    }
    let open = variable.dims.first().is_some_and(|dim| matches!(dim, None | Some(0)));
    let is_kernel = place == Place::Parameter(FunctionKind::Entry);
    if !open || variable.init.is_some() || variable.linkage == Linkage::Extern || (in_function && !is_kernel) {
        return None;
    }
    let message = format!("`{name}` is an array without a length");
    let help = match variable.space {
        Space::Shared => "state it, or declare it `.extern .shared` and give the size at launch",
        _ => "state it",
    };
    Some((codes::SYN001, message, help))
}
