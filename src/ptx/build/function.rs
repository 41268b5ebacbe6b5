//! The function under construction.

use super::addr::{Array, Shared};
use super::error::{BuildError, SHARED_LIMIT};
use super::module::ModuleBuilder;
use super::value::{Arg, Class, Cond, Reg, Value};
use crate::ptx::ir::{
    Attr, FuncId, Guard, Inst, InstId, Label, LabelId, Operand, RegId, Special, Stmt, SymbolId, SymbolKind, Variable,
};
use crate::ptx::types::{Space, Type};

/// Builds the body of one kernel. All methods that emit put instructions at the end of what is there.
#[derive(Debug)]
pub struct Kernel<'m> {
    pub(super) module: &'m mut ModuleBuilder,
    pub(super) draft: Draft,
    id: FuncId,
    name: String,
    block: [u32; 3],
    guard: Option<Cond>,
    shared: u64,
}

/// A body in which registers stand in the order of their creation, and nothing is declared yet.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) insts: Vec<Inst>,
    pub(super) stmts: Vec<Stmt>,
    pub(super) labels: Vec<Label>,
    /// Type and bank of each register.
    pub(super) regs: Vec<(Type, &'static str)>,
    /// Shared arrays, in order.
    pub(super) variables: Vec<SymbolId>,
    /// Comments, each in front of the statement with that index.
    pub(super) notes: Vec<(usize, String)>,
}

impl<'m> Kernel<'m> {
    pub(super) fn new(module: &'m mut ModuleBuilder, id: FuncId, name: &str, block: [u32; 3]) -> Self {
        Self {
            module,
            draft: Draft::default(),
            id,
            name: name.to_owned(),
            block,
            guard: None,
            shared: 0,
        }
    }

    /// Ends the body with `ret`.
    pub(super) fn end(mut self) -> Draft {
        self.emit("ret", []);
        if self.shared > SHARED_LIMIT {
            let (entry, bytes) = (self.name.clone(), self.shared);
            self.module.fail(BuildError::Shared { entry, bytes });
        }
        self.draft
    }

    /// Threads of the block, all dimensions together.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Name of the kernel.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Static shared memory declared so far, in bytes.
    pub fn shared_bytes(&self) -> u64 {
        self.shared
    }

    /// Adds a launch directive beside `.reqntid`: `("minnctapersm", &[2])`.
    pub fn attribute(&mut self, name: &str, args: &[u64]) {
        let attr = Attr {
            name: name.into(),
            args: args.to_vec(),
            text: "".into(),
        };
        self.module.module.functions[self.id.index()].attrs.push(attr);
    }

    /// Puts a comment in front of the next instruction.
    pub fn comment(&mut self, text: impl Into<String>) {
        self.draft.notes.push((self.draft.stmts.len(), text.into()));
    }

    /// Declares the kernel's next parameter and loads it.
    pub fn param<C: Class>(&mut self, name: &str) -> Reg<C> {
        // Parameters say what they hold: an address or a number without sign.
        let ty = match C::TYPE {
            Type::B64 => Type::U64,
            Type::B32 => Type::U32,
            Type::B16 => Type::U16,
            other => other,
        };
        self.check_name(name);
        let variable = Variable {
            is_param: true,
            ..Variable::scalar(Space::Param, ty)
        };
        let symbol = self.module.symbol(name, SymbolKind::Variable(Box::new(variable)));
        self.module.module.functions[self.id.index()].params.push(symbol);
        let reg = self.fresh();
        let address = super::addr::Addr::<super::addr::Const>::symbol(symbol);
        self.emit(&format!("ld.param.{}", ty.name()), [reg.into(), address.arg()]);
        reg
    }

    /// Declares an array of `len` elements in shared memory, aligned to 16 bytes for vector accesses.
    pub fn shared<C: Class>(&mut self, name: &str, len: u32) -> Array<Shared, C> {
        const ALIGN: u32 = 16;
        self.check_name(name);
        let variable = Variable {
            align: Some(ALIGN),
            dims: vec![Some(u64::from(len))],
            ..Variable::scalar(Space::Shared, C::TYPE)
        };
        let start = self.shared.next_multiple_of(u64::from(ALIGN));
        self.shared = start + u64::from(len) * u64::from(C::TYPE.bytes());
        let symbol = self.module.symbol(name, SymbolKind::Variable(Box::new(variable)));
        self.draft.variables.push(symbol);
        Array::new(symbol, len)
    }

    /// A register without a value yet.
    pub fn fresh<C: Class>(&mut self) -> Reg<C> {
        let id = self.draft.regs.len() as u32;
        self.draft.regs.push((C::TYPE, C::BANK));
        Reg::new(id, self.id.0)
    }

    /// A register that holds the value, to be changed with the `_into` methods and [`Kernel::assign`].
    pub fn var<C: Class>(&mut self, value: impl Into<Value<C>>) -> Reg<C> {
        let reg = self.fresh();
        self.assign(reg, value);
        reg
    }

    /// `mov`: gives a register another value.
    pub fn assign<C: Class>(&mut self, reg: Reg<C>, value: impl Into<Value<C>>) {
        let value: Value<C> = value.into();
        self.emit(&format!("mov.{}", C::TYPE.name()), [reg.into(), value.into()]);
    }

    /// `mov` from a special register such as `%clock`.
    pub fn special<C: Class>(&mut self, name: &str) -> Reg<C> {
        let reg = self.fresh();
        match Special::from_name(name) {
            Some(special) => self.emit_as("mov", special.info().ty, [reg.into(), Operand::Special(special).into()]),
            None => self
                .module
                .fail(BuildError::Unknown(format!("special register `{name}`"))),
        }
        reg
    }

    /// Runs `body` with every instruction guarded by the predicate. No control flow inside; what it writes needs a
    /// value before.
    pub fn when(&mut self, cond: impl Into<Cond>, body: impl FnOnce(&mut Self)) {
        if self.guard.is_some() {
            self.module.fail(BuildError::GuardedFlow(self.name.clone()));
        }
        self.guard = Some(cond.into());
        body(self);
        self.guard = None;
    }

    fn emit_as<const N: usize>(&mut self, base: &str, ty: Type, args: [Arg; N]) {
        self.emit(&format!("{base}.{}", ty.name()), args);
    }

    /// Appends an instruction.
    pub(super) fn emit(&mut self, opcode: &str, args: impl IntoIterator<Item = Arg>) {
        let guard = self.guard;
        self.emit_guarded(guard, opcode, args);
    }

    /// Appends an instruction under a guard of its own.
    pub(super) fn emit_guarded(&mut self, guard: Option<Cond>, opcode: &str, args: impl IntoIterator<Item = Arg>) {
        let mut owners = guard.map(|guard| guard.reg.owner).into_iter().collect::<Vec<_>>();
        let take = |arg: Arg| {
            owners.extend(arg.owner);
            arg.operand
        };
        let operands = args.into_iter().map(take).collect();
        if owners.iter().any(|owner| *owner != self.id.0) {
            self.module.fail(BuildError::ForeignRegister(self.name.clone()));
        }
        let guard = guard.map(|guard| Guard {
            reg: RegId(guard.reg.id),
            negated: guard.negated,
        });
        let op = self.module.opcode(opcode);
        let id = InstId(self.draft.insts.len() as u32);
        self.draft.insts.push(Inst { op, guard, operands });
        self.draft.stmts.push(Stmt::Inst(id));
    }

    /// Opens a construct that needs labels; they share its number, which is the module's next: names differ across
    /// the whole module, so that neither a reader nor a plain-text tool confuses two.
    pub(super) fn construct(&mut self) -> u32 {
        if self.guard.is_some() {
            self.module.fail(BuildError::GuardedFlow(self.name.clone()));
        }
        self.module.labels += 1;
        self.module.labels
    }

    /// A label of a construct, which [`Kernel::place`] puts somewhere.
    pub(super) fn label(&mut self, construct: u32, name: &str) -> LabelId {
        let id = LabelId(self.draft.labels.len() as u32);
        let name = format!("$L{construct}_{name}").into();
        self.draft.labels.push(Label { name, at: None });
        id
    }

    pub(super) fn place(&mut self, label: LabelId) {
        self.draft.labels[label.index()].at = Some(InstId(self.draft.insts.len() as u32));
        self.draft.stmts.push(Stmt::Label(label));
    }

    /// Notes a mistake; the first one is what [`ModuleBuilder::finish`] returns.
    pub(super) fn fail(&mut self, error: BuildError) {
        self.module.fail(error);
    }

    /// Parameters and arrays of one function share a scope.
    fn check_name(&mut self, name: &str) {
        let module = &self.module.module;
        let params = module.functions[self.id.index()].params.iter();
        if params
            .chain(&self.draft.variables)
            .any(|symbol| module.name(*symbol) == name)
        {
            self.module.fail(BuildError::Duplicate(name.to_owned()));
        }
    }
}
