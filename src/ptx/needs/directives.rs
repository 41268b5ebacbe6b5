//! What directives ask for. The numbers are what ptxas 13.5 says; `tests/targets.rs` asks it again.

use super::{Need, Place, Sink, gate};
use crate::ptx::ir::{
    Attr, FuncId, Function, FunctionKind, InitSymbol, InitValue, Item, Linkage, Module, Stmt, SymbolId, SymbolKind,
    TableKind, Variable,
};
use crate::ptx::isa::Gate;
use crate::ptx::target::TargetOption;
use crate::ptx::types::{Kind, Space, Type};

/// Bytes of kernel parameters before PTX 1.5, and those before 8.1 or sm_70.
const PARAMS: [(u64, (u8, u8, u16)); 2] = [(4352, (8, 1, 70)), (256, (1, 5, 0))];

/// Least version and target of what stands between a function's parameters and its body.
fn attribute(attr: &Attr) -> Option<Gate> {
    let found = match &*attr.name {
        "maxntid" | "maxnreg" => (1, 3, 0),
        "minnctapersm" | "maxnctapersm" | "pragma" => (2, 0, 0),
        "reqntid" => (2, 1, 0),
        "noreturn" => (6, 4, 30),
        "explicitcluster" | "reqnctapercluster" | "maxclusterrank" => (7, 8, 90),
        "blocksareclusters" => (9, 0, 90),
        "abi_preserve" | "abi_preserve_control" => (9, 0, 80),
        "attribute" => return attribute_text(&attr.text),
        _ => return None,
    };
    Some(gate(found.0, found.1, found.2))
}

/// `.attribute(.managed)` and `.attribute(.unified(1, 2))`.
fn attribute_text(text: &str) -> Option<Gate> {
    if text.contains(".unified") {
        Some(gate(8, 0, 90))
    } else if text.contains(".managed") {
        Some(gate(4, 0, 30))
    } else {
        text.starts_with(".ptr").then(|| gate(2, 2, 0))
    }
}

/// The strings of a `.pragma`, whose text has lost the outer quotes.
pub(in crate::ptx) fn pragmas(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').step_by(2)
}

/// Collects what the directives of a module ask for.
pub(super) fn collect(module: &Module, out: &mut Vec<Need>) {
    let mut collector = Collector {
        module,
        out,
        sink: Sink::default(),
        owner: None,
    };
    collector.header();
    for item in &module.items {
        collector.item(item);
    }
    for (id, function) in (0..).map(FuncId).zip(&module.functions) {
        collector.owner = Some(id);
        collector.function(id, function);
    }
}

struct Collector<'m> {
    module: &'m Module,
    out: &'m mut Vec<Need>,
    sink: Sink,
    owner: Option<FuncId>,
}

impl Collector<'_> {
    fn add(&mut self, what: &str, gate: Gate, place: Place) {
        let need = Need {
            what: what.to_owned(),
            gate,
            removal: None,
            place,
            owner: self.owner,
        };
        self.sink.add(self.out, need);
    }

    fn header(&mut self) {
        let header = &self.module.header;
        if header.address_size.is_some() {
            self.add(".address_size", gate(2, 3, 0), Place::AddressSize);
        }
        for option in header.target.iter().filter_map(|word| TargetOption::from_name(word)) {
            let least = option.min_ptx();
            self.add(option.as_str(), gate(least.major, least.minor, 0), Place::Target);
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Variable(symbol) => self.variable(*symbol),
            Item::Alias(name, _) => self.add(".alias", gate(6, 3, 30), Place::Symbol(*name)),
            Item::Pragma(text) => self.pragma(text, Place::Module),
            // A file's time and size stand behind its name.
            Item::File(text) if text.contains(',') => self.add(".file", gate(3, 2, 0), Place::Module),
            Item::Function(_) | Item::File(_) | Item::Section(_) | Item::Raw(_) => {}
        }
    }

    fn function(&mut self, id: FuncId, function: &Function) {
        self.linkage(function.linkage, Place::Function(id));
        for (at, attr) in function.attrs.iter().enumerate() {
            if let Some(gate) = attribute(attr) {
                self.add(&format!(".{}", attr.name), gate, Place::Attr(id, at));
            }
        }
        for symbol in function.params.iter().chain(&function.results) {
            self.parameter(function.kind, *symbol);
        }
        if function.kind == FunctionKind::Entry {
            self.parameter_space(id, function);
        }
        for (at, stmt) in function.body.iter().flat_map(|body| body.stmts.iter().enumerate()) {
            self.stmt(Place::Stmt(id, at), stmt);
        }
    }

    fn linkage(&mut self, linkage: Linkage, place: Place) {
        match linkage {
            Linkage::Weak => self.add(".weak", gate(3, 1, 0), place),
            Linkage::Common => self.add(".common", gate(5, 0, 0), place),
            Linkage::None | Linkage::Visible | Linkage::Extern => {}
        }
    }

    fn parameter(&mut self, kind: FunctionKind, symbol: SymbolId) {
        self.variable(symbol);
        let place = Place::Symbol(symbol);
        let space = self.module.variable(symbol).map(|variable| variable.space);
        match kind {
            // Before, parameters were declared in the body.
            FunctionKind::Entry => self.add("a list of parameters", gate(1, 4, 0), place),
            FunctionKind::Func if space == Some(Space::Param) => {
                self.add("`.param` of a function", gate(2, 0, 20), place);
            }
            FunctionKind::Func => {}
        }
    }

    /// How many bytes a kernel's parameters may have has grown.
    fn parameter_space(&mut self, id: FuncId, function: &Function) {
        let variables = function
            .params
            .iter()
            .filter_map(|symbol| self.module.variable(*symbol));
        let bytes = variables.fold(0u64, |bytes, variable| {
            let aligned = bytes.next_multiple_of(u64::from(variable.alignment().max(1)));
            aligned.saturating_add(variable.size().unwrap_or(0))
        });
        if let Some((most, (major, minor, sm))) = PARAMS.into_iter().find(|(most, _)| bytes > *most) {
            let what = format!("more than {most} bytes of parameters");
            self.add(&what, gate(major, minor, sm), Place::Function(id));
        }
    }

    fn variable(&mut self, symbol: SymbolId) {
        let Some(variable) = self.module.variable(symbol) else {
            return;
        };
        let place = Place::Symbol(symbol);
        self.linkage(variable.linkage, place);
        for text in &variable.attributes {
            if let Some(gate) = attribute_text(text) {
                let name = text.split(['(', ' ']).next().unwrap_or(text);
                self.add(name, gate, place);
            }
        }
        self.ty(variable.ty, place);
        self.initial(variable, place);
    }

    fn ty(&mut self, ty: Type, place: Place) {
        match ty {
            Type::B128 => self.add(".b128", gate(8, 3, 70), place),
            Type::F16x2 => self.add(".f16x2", gate(4, 2, 53), place),
            _ if ty.kind() == Kind::Opaque => self.add(&format!(".{}", ty.name()), gate(1, 5, 0), place),
            _ => {}
        }
    }

    fn initial(&mut self, variable: &Variable, place: Place) {
        let mut open: Vec<&InitValue> = variable.init.iter().flat_map(|init| &init.values).collect();
        while let Some(value) = open.pop() {
            match value {
                InitValue::Row(values) => open.extend(values.iter()),
                InitValue::Symbol(symbol) => self.initial_address(symbol, place),
                InitValue::Imm(_) | InitValue::Field(_) => {}
            }
        }
    }

    fn initial_address(&mut self, value: &InitSymbol, place: Place) {
        if value.mask.is_some() {
            self.add("a byte of an address as a value", gate(7, 1, 0), place);
        }
        if value.generic {
            self.add("`generic()`", gate(3, 1, 0), place);
        }
        let needed = match self.module.symbol(value.symbol).kind {
            SymbolKind::Function(id) if self.module.function(id).kind == FunctionKind::Entry => gate(3, 1, 35),
            SymbolKind::Function(_) => gate(2, 1, 20),
            _ => gate(2, 1, 0),
        };
        self.add("an address as initial value", needed, place);
    }

    fn pragma(&mut self, text: &str, place: Place) {
        self.add(".pragma", gate(2, 0, 0), place);
        for word in pragmas(text).filter_map(|one| one.split_whitespace().next()) {
            let needed = match word {
                "used_bytes_mask" => gate(8, 3, 50),
                "enable_smem_spilling" => gate(9, 0, 75),
                "frequency" => gate(9, 0, 0),
                _ => continue,
            };
            self.add(&format!("the pragma `{word}`"), needed, place);
        }
    }

    fn stmt(&mut self, place: Place, stmt: &Stmt) {
        match stmt {
            Stmt::Variable(symbol) => self.variable(*symbol),
            Stmt::Regs(line) => self.ty(line.ty, place),
            Stmt::Pragma(text) => self.pragma(text, place),
            Stmt::Loc(text) if text.contains("function_name") => self.add("function_name", gate(7, 0, 0), place),
            Stmt::Table(table) => match &table.kind {
                TableKind::Branch(_) => self.add(".branchtargets", gate(6, 0, 30), place),
                TableKind::Call(_) => self.add(".calltargets", gate(2, 1, 20), place),
                TableKind::Prototype(prototype) => {
                    self.add(".callprototype", gate(2, 1, 20), place);
                    for text in &prototype.attributes {
                        self.prototype_attribute(text, place);
                    }
                }
            },
            _ => {}
        }
    }

    fn prototype_attribute(&mut self, text: &str, place: Place) {
        let name = text.split(' ').next().unwrap_or(text);
        let attr = Attr {
            name: name.trim_start_matches('.').into(),
            args: Vec::new(),
            text: "".into(),
        };
        if let Some(gate) = attribute(&attr) {
            self.add(name, gate, place);
        }
    }
}
