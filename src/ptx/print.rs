//! Module to canonical text. Parsing the text gives an equal module.

pub use super::ir::Notes;
use super::ir::{
    Address, Attr, Base, Body, FuncId, Function, FunctionKind, Imm, Init, InitValue, Inst, Item, Module, Operand,
    Prototype, RegLine, Stmt, SymbolId, Table, TableKind, Variable,
};
use std::fmt::{self, Write};

/// Scopes deeper than this are indented no further: else a text of nothing but braces would print as its square.
pub(super) const DEEPEST_INDENT: usize = 16;

/// The module's text, with comments.
pub fn print(module: &Module, notes: &Notes) -> String {
    let mut out = String::new();
    for line in &notes.head {
        comment(&mut out, "", line);
    }
    let mut printer = Printer { module, notes, out };
    // Writing to a string cannot fail.
    let _ = printer.module();
    printer.out
}

/// One instruction as it is printed, without indentation.
pub fn inst(module: &Module, body: &Body, inst: &Inst) -> String {
    let mut out = String::new();
    let _ = write_inst(&mut out, module, body, inst);
    out
}

/// A constant as it is printed.
pub fn imm(value: Imm) -> String {
    let mut out = String::new();
    let _ = write_imm(&mut out, value);
    out
}

fn comment(out: &mut String, indent: &str, text: &str) {
    for line in text.lines() {
        out.push_str(indent);
        out.push_str(if line.is_empty() { "//" } else { "// " });
        out.push_str(line);
        out.push('\n');
    }
}

struct Printer<'a> {
    module: &'a Module,
    notes: &'a Notes,
    out: String,
}

impl Printer<'_> {
    fn module(&mut self) -> fmt::Result {
        let header = &self.module.header;
        if let Some(version) = &header.version {
            writeln!(self.out, ".version {version}")?;
        }
        if !header.target.is_empty() {
            writeln!(self.out, ".target {}", header.target.join(", "))?;
        }
        if let Some(size) = header.address_size {
            writeln!(self.out, ".address_size {size}")?;
        }
        let mut after_line = true;
        for item in &self.module.items {
            let is_line = !matches!(item, Item::Function(_));
            if !is_line || after_line != is_line || self.out.ends_with("}\n") {
                self.out.push('\n');
            }
            after_line = is_line;
            self.item(item)?;
        }
        Ok(())
    }

    fn item(&mut self, item: &Item) -> fmt::Result {
        let module = self.module;
        match item {
            Item::Variable(symbol) => {
                self.variable(*symbol)?;
                self.out.push_str(";\n");
                Ok(())
            }
            Item::Function(id) => self.function(*id),
            Item::File(text) => writeln!(self.out, ".file {text}"),
            Item::Section(text) => writeln!(self.out, "{text}"),
            Item::Pragma(text) => writeln!(self.out, ".pragma \"{text}\";"),
            Item::Alias(name, aliasee) => {
                writeln!(self.out, ".alias {}, {};", module.name(*name), module.name(*aliasee))
            }
            Item::Raw(text) => writeln!(self.out, "{text}"),
        }
    }

    fn variable(&mut self, symbol: SymbolId) -> fmt::Result {
        match self.module.variable(symbol) {
            Some(variable) => write_variable(&mut self.out, self.module, symbol, variable),
            None => Ok(()),
        }
    }

    fn function(&mut self, id: FuncId) -> fmt::Result {
        let function = self.module.function(id);
        self.head(function)?;
        match &function.body {
            None => self.out.push_str(";\n"),
            Some(body) => {
                self.out.push_str("\n{\n");
                self.body(id, body)?;
                self.out.push_str("}\n");
            }
        }
        Ok(())
    }

    fn head(&mut self, function: &Function) -> fmt::Result {
        let module = self.module;
        if !function.linkage.name().is_empty() {
            write!(self.out, ".{} ", function.linkage.name())?;
        }
        self.out.push_str(match function.kind {
            FunctionKind::Entry => ".entry ",
            FunctionKind::Func => ".func ",
        });
        let is_early = |attr: &&Attr| &*attr.name == "attribute";
        for attr in function.attrs.iter().filter(is_early) {
            write!(self.out, "{} ", attr.text)?;
        }
        if !function.results.is_empty() {
            write_params(&mut self.out, module, &function.results)?;
            self.out.push(' ');
        }
        self.out.push_str(module.name(function.symbol));
        if !function.params.is_empty() || function.kind == FunctionKind::Func {
            write_params(&mut self.out, module, &function.params)?;
        }
        let mut late = function.attrs.iter().filter(|attr| !is_early(attr));
        late.try_for_each(|attr| write_attr(&mut self.out, attr))
    }

    fn body(&mut self, id: FuncId, body: &Body) -> fmt::Result {
        let mut indent = 1;
        for (at, stmt) in body.stmts.iter().enumerate() {
            indent -= usize::from(matches!(stmt, Stmt::Close) && indent > 1);
            let tabs = "\t".repeat(indent.min(DEEPEST_INDENT));
            if let Some(text) = self.notes.stmts.get(&(id, at)) {
                comment(&mut self.out, &tabs, text);
            }
            if !matches!(stmt, Stmt::Label(_) | Stmt::Table(_)) {
                self.out.push_str(&tabs);
            }
            self.stmt(body, stmt)?;
            self.out.push('\n');
            indent += usize::from(matches!(stmt, Stmt::Open));
        }
        Ok(())
    }

    fn stmt(&mut self, body: &Body, stmt: &Stmt) -> fmt::Result {
        let module = self.module;
        match stmt {
            Stmt::Inst(id) => {
                write_inst(&mut self.out, module, body, &body.insts[id.index()])?;
                self.out.push(';');
                Ok(())
            }
            Stmt::Label(label) => write!(self.out, "{}:", body.labels[label.index()].name),
            Stmt::Open => self.out.write_char('{'),
            Stmt::Close => self.out.write_char('}'),
            Stmt::Regs(line) => write_regs(&mut self.out, line),
            Stmt::Variable(symbol) => {
                self.variable(*symbol)?;
                self.out.write_char(';')
            }
            Stmt::Table(table) => self.table(body, table),
            Stmt::Loc(text) => write!(self.out, ".loc {text}"),
            Stmt::Pragma(text) => write!(self.out, ".pragma \"{text}\";"),
            Stmt::Raw(text) => self.out.write_str(text),
        }
    }

    fn table(&mut self, body: &Body, table: &Table) -> fmt::Result {
        let module = self.module;
        write!(self.out, "{}: ", body.labels[table.label.index()].name)?;
        match &table.kind {
            TableKind::Branch(targets) => {
                let names: Vec<_> = targets.iter().map(|label| &*body.labels[label.index()].name).collect();
                write!(self.out, ".branchtargets {};", names.join(", "))
            }
            TableKind::Call(targets) => {
                let names: Vec<_> = targets.iter().map(|symbol| module.name(*symbol)).collect();
                write!(self.out, ".calltargets {};", names.join(", "))
            }
            TableKind::Prototype(prototype) => {
                write_prototype(&mut self.out, module, prototype)?;
                self.out.write_char(';')
            }
        }
    }
}

fn write_prototype(out: &mut String, module: &Module, prototype: &Prototype) -> fmt::Result {
    out.push_str(".callprototype ");
    if !prototype.results.is_empty() {
        write_params(out, module, &prototype.results)?;
        out.push(' ');
    }
    out.push_str("_ ");
    write_params(out, module, &prototype.params)?;
    prototype
        .attributes
        .iter()
        .try_for_each(|attribute| write!(out, " {attribute}"))
}

/// `(` one parameter a line `)`; a single one stays on the line.
fn write_params(out: &mut String, module: &Module, params: &[SymbolId]) -> fmt::Result {
    let (open, between, close) = if params.len() > 1 {
        ("(\n\t", ",\n\t", "\n)")
    } else {
        ("(", "", ")")
    };
    out.push_str(open);
    for (at, param) in params.iter().enumerate() {
        out.push_str(if at > 0 { between } else { "" });
        if let Some(variable) = module.variable(*param) {
            write_variable(out, module, *param, variable)?;
        }
    }
    out.push_str(close);
    Ok(())
}

fn write_attr(out: &mut String, attr: &Attr) -> fmt::Result {
    match &*attr.name {
        "pragma" => write!(out, "\n.pragma \"{}\";", attr.text),
        name => {
            let numbers: Vec<_> = attr.args.iter().map(u64::to_string).collect();
            let blank = if numbers.is_empty() { "" } else { " " };
            write!(out, "\n.{name}{blank}{}", numbers.join(", "))
        }
    }
}

fn write_variable(out: &mut String, module: &Module, symbol: SymbolId, variable: &Variable) -> fmt::Result {
    if !variable.linkage.name().is_empty() {
        write!(out, ".{} ", variable.linkage.name())?;
    }
    write!(out, ".{}", variable.space.name())?;
    if let Some(bank) = variable.bank {
        write!(out, "[{bank}]")?;
    }
    // `.ptr` stands behind the type, every other attribute in front.
    let (behind, before): (Vec<_>, Vec<_>) = variable.attributes.iter().partition(|text| text.starts_with(".ptr"));
    before.iter().try_for_each(|text| write!(out, " {text}"))?;
    if let Some(align) = variable.align {
        write!(out, " .align {align}")?;
    }
    if variable.lanes > 1 {
        write!(out, " .v{}", variable.lanes)?;
    }
    write!(out, " .{}", variable.ty.name())?;
    behind.iter().try_for_each(|text| write!(out, " {text}"))?;
    write!(out, " {}", module.name(symbol))?;
    for dim in &variable.dims {
        match dim {
            Some(length) => write!(out, "[{length}]")?,
            None => out.push_str("[]"),
        }
    }
    match &variable.init {
        Some(init) => write_init(out, module, init),
        None => Ok(()),
    }
}

fn write_init(out: &mut String, module: &Module, init: &Init) -> fmt::Result {
    out.push_str(" = ");
    if init.braced {
        return write_row(out, module, &init.values);
    }
    init.values.iter().try_for_each(|value| write_value(out, module, value))
}

fn write_row(out: &mut String, module: &Module, values: &[InitValue]) -> fmt::Result {
    out.push('{');
    for (at, value) in values.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        write_value(out, module, value)?;
    }
    out.push('}');
    Ok(())
}

fn write_value(out: &mut String, module: &Module, value: &InitValue) -> fmt::Result {
    match value {
        InitValue::Imm(value) => write_imm(out, *value),
        InitValue::Row(values) => write_row(out, module, values),
        InitValue::Field(text) => {
            out.push_str(text);
            Ok(())
        }
        InitValue::Symbol(symbol) => {
            if let Some(mask) = symbol.mask {
                write!(out, "{mask:#X}(")?;
            }
            let name = module.name(symbol.symbol);
            if symbol.generic {
                write!(out, "generic({name})")?;
            } else {
                out.push_str(name);
            }
            write_offset(out, symbol.offset)?;
            if symbol.mask.is_some() {
                out.push(')');
            }
            Ok(())
        }
    }
}

fn write_regs(out: &mut String, line: &RegLine) -> fmt::Result {
    out.push_str(".reg");
    if line.lanes > 1 {
        write!(out, " .v{}", line.lanes)?;
    }
    write!(out, " .{} ", line.ty.name())?;
    for (at, name) in line.names.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        out.push_str(&name.name);
        if let Some(size) = name.bank {
            write!(out, "<{size}>")?;
        }
    }
    out.push(';');
    Ok(())
}

fn write_inst(out: &mut String, module: &Module, body: &Body, inst: &Inst) -> fmt::Result {
    if let Some(guard) = inst.guard {
        let not = if guard.negated { "!" } else { "" };
        write!(out, "@{not}{} ", body.regs[guard.reg.index()].name)?;
    }
    out.push_str(&inst.op.text);
    for (at, operand) in inst.operands.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { " " });
        write_operand(out, module, body, operand)?;
    }
    Ok(())
}

fn write_operand(out: &mut String, module: &Module, body: &Body, operand: &Operand) -> fmt::Result {
    let reg = |id: &super::ir::RegId| &*body.regs[id.index()].name;
    match operand {
        Operand::Reg(id) => out.write_str(reg(id)),
        Operand::Not(id) => write!(out, "!{}", reg(id)),
        Operand::Part(id, component) => write!(out, "{}.{component}", reg(id)),
        Operand::Neg(id, None) => write!(out, "-{}", reg(id)),
        Operand::Neg(id, Some(component)) => write!(out, "-{}.{component}", reg(id)),
        Operand::Sum(id, offset) => {
            out.push_str(reg(id));
            write_offset(out, *offset)
        }
        Operand::Element(symbol, index) => write!(out, "{}[{}]", module.name(*symbol), reg(index)),
        Operand::Special(special) => out.write_str(special.name()),
        Operand::Imm(value) => write_imm(out, *value),
        Operand::Symbol(symbol, offset) => {
            out.push_str(module.name(*symbol));
            write_offset(out, *offset)
        }
        Operand::Label(label) => out.write_str(&body.labels[label.index()].name),
        Operand::Address(address) => {
            out.push('[');
            write_address(out, module, body, address)?;
            out.write_char(']')
        }
        Operand::Bracket(parts) => write_list(out, module, body, parts, ('[', ']')),
        Operand::Vector(parts) => write_list(out, module, body, parts, ('{', '}')),
        Operand::List(parts) => write_list(out, module, body, parts, ('(', ')')),
        Operand::Pair(pair) => {
            write_operand(out, module, body, &pair.0)?;
            out.push('|');
            write_operand(out, module, body, &pair.1)
        }
        Operand::Sink => out.write_char('_'),
        // No finished module has one.
        Operand::Pending => Ok(()),
    }
}

fn write_list(out: &mut String, module: &Module, body: &Body, parts: &[Operand], around: (char, char)) -> fmt::Result {
    out.push(around.0);
    for (at, part) in parts.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        match part {
            // Inside a bracket an address has no brackets of its own.
            Operand::Address(address) if around.0 == '[' => write_address(out, module, body, address)?,
            part => write_operand(out, module, body, part)?,
        }
    }
    out.push(around.1);
    Ok(())
}

fn write_address(out: &mut String, module: &Module, body: &Body, address: &Address) -> fmt::Result {
    match address.base {
        Base::Reg(reg) => out.push_str(&body.regs[reg.index()].name),
        Base::Symbol(symbol) => out.push_str(module.name(symbol)),
        Base::Absolute => return write!(out, "{}", address.offset),
    }
    write_offset(out, address.offset)
}

fn write_offset(out: &mut String, offset: i64) -> fmt::Result {
    match offset {
        0 => Ok(()),
        // Behind a base ptxas reads no other sign than `+`.
        _ => write!(out, "+{offset}"),
    }
}

fn write_imm(out: &mut String, value: Imm) -> fmt::Result {
    match value {
        Imm::Int(value) => write!(out, "{value}"),
        // The most negative number has no positive twin to negate.
        Imm::Unsigned(value) if i64::try_from(value).is_err() => write!(out, "{value}"),
        Imm::Unsigned(value) => write!(out, "{value}U"),
        Imm::F32(bits) => write!(out, "0f{bits:08X}"),
        Imm::F64(bits) => write!(out, "0d{bits:016X}"),
    }
}
