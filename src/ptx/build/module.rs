//! The module under construction.

use super::addr::{Array, Const};
use super::canon;
use super::error::BuildError;
use super::function::{Draft, Kernel};
use super::header;
use super::value::{Class, Value};
use crate::ptx::ir::Notes;
use crate::ptx::ir::{
    Attr, FuncId, Function, FunctionKind, Header, Init, InitValue, Item, Linkage, Module, Opcode, Symbol, SymbolId,
    SymbolKind, Variable,
};
use crate::ptx::needs::Needs;
use crate::ptx::target::{PtxVersion, Target};
use crate::ptx::types::Space;
use std::collections::HashMap;
use std::sync::Arc;

/// Builds a module function by function.
#[derive(Debug, Default)]
pub struct ModuleBuilder {
    pub(super) module: Module,
    pub(super) notes: Notes,
    pub(super) labels: u32,
    opcodes: HashMap<String, Arc<Opcode>>,
    error: Option<BuildError>,
}

/// A finished module and its comments.
#[derive(Clone, Debug)]
pub struct Built {
    /// The module.
    pub module: Module,
    /// Comments for the printer.
    pub notes: Notes,
}

impl ModuleBuilder {
    /// An empty module.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds comment lines to the head of the module.
    pub fn head(&mut self, lines: impl IntoIterator<Item = String>) {
        self.notes.head.extend(lines);
    }

    /// Declares an array in constant memory that holds these values, aligned to its size where that is a power of two.
    /// Constants come before the functions that use them.
    pub fn constant<C: Class>(&mut self, name: &str, values: &[Value<C>]) -> Array<Const, C> {
        let imm = |value: &Value<C>| match value {
            Value::Imm(imm) => Some(InitValue::Imm(*imm)),
            _ => None,
        };
        let len = values.len() as u32;
        let values = values.iter().filter_map(imm).collect();
        let variable = Variable {
            align: Some(C::TYPE.bytes()),
            dims: vec![Some(u64::from(len))],
            init: Some(Init { values, braced: true }),
            ..Variable::scalar(Space::Const, C::TYPE)
        };
        self.check_name(name);
        let symbol = self.symbol(name, SymbolKind::Variable(Box::new(variable)));
        self.module.items.push(Item::Variable(symbol));
        Array::new(symbol, len)
    }

    /// Adds a kernel that is launched with exactly that block (x, y, z), which `.reqntid` states.
    pub fn entry(&mut self, name: &str, block: [u32; 3], build: impl FnOnce(&mut Kernel<'_>)) {
        let id = FuncId(self.module.functions.len() as u32);
        self.check_name(name);
        self.check_block(name, block);
        let symbol = self.symbol(name, SymbolKind::Function(id));
        self.module.items.push(Item::Function(id));
        self.module.functions.push(Function {
            kind: FunctionKind::Entry,
            linkage: Linkage::Visible,
            symbol,
            results: Vec::new(),
            params: Vec::new(),
            attrs: vec![Attr {
                name: "reqntid".into(),
                args: block.map(u64::from).to_vec(),
                text: "".into(),
            }],
            body: None,
        });
        let mut kernel = Kernel::new(self, id, name, block);
        build(&mut kernel);
        let draft = kernel.end();
        self.add_body(id, draft);
    }

    fn add_body(&mut self, id: FuncId, draft: Draft) {
        let (body, notes) = canon::body(draft);
        self.module.functions[id.index()].body = Some(body);
        let notes = notes.into_iter().map(|(at, note)| ((id, at), note));
        self.notes.stmts.extend(notes);
    }

    /// The module for that target and version, or for the least that have what it uses.
    ///
    /// # Errors
    /// The first mistake made while building, or what the target or version asked for lacks.
    pub fn finish(mut self, target: Option<Target>, version: Option<PtxVersion>) -> Result<Built, BuildError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let needs = Needs::of(&self.module);
        let target = header::target(&needs, target)?;
        let version = header::version(&needs, target, version)?;
        self.module.header = Header {
            version: Some(version.to_string().into()),
            target: vec![target.to_string().into()],
            address_size: Some(64),
        };
        Ok(Built {
            module: self.module,
            notes: self.notes,
        })
    }

    /// Keeps the first mistake.
    pub(super) fn fail(&mut self, error: BuildError) {
        self.error.get_or_insert(error);
    }

    pub(super) fn symbol(&mut self, name: &str, kind: SymbolKind) -> SymbolId {
        let id = SymbolId(self.module.symbols.len() as u32);
        self.module.symbols.push(Symbol {
            name: name.into(),
            kind,
        });
        id
    }

    /// Resolves an opcode, once for all instructions that spell it alike.
    pub(super) fn opcode(&mut self, text: &str) -> Arc<Opcode> {
        if let Some(known) = self.opcodes.get(text) {
            return known.clone();
        }
        let opcode = Arc::new(Opcode::resolve(text));
        if let Some(problem) = &opcode.problem {
            self.fail(BuildError::Opcode {
                opcode: text.to_owned(),
                problem: Some(problem.clone()),
            });
        }
        self.opcodes.insert(text.to_owned(), opcode.clone());
        opcode
    }

    /// Names at module scope must differ.
    fn check_name(&mut self, name: &str) {
        let taken = self.module.items.iter().any(|item| match item {
            Item::Variable(symbol) => self.module.name(*symbol) == name,
            Item::Function(id) => self.module.name(self.module.function(*id).symbol) == name,
            _ => false,
        });
        if taken {
            self.fail(BuildError::Duplicate(name.to_owned()));
        }
    }

    /// Limits of every GPU since compute capability 2.0.
    fn check_block(&mut self, entry: &str, block: [u32; 3]) {
        let threads = block.iter().map(|n| u64::from(*n)).product::<u64>();
        if !(1..=1024).contains(&threads) || block[2] > 64 {
            let entry = entry.to_owned();
            self.fail(BuildError::Block { entry, block });
        }
    }
}
