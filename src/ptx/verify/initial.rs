//! Initialisers: do they fit the variable's type and shape?

use crate::ptx::diag::{Code, codes};
use crate::ptx::ir::{Imm, InitValue, Linkage, Module, SymbolKind, Variable};
use crate::ptx::types::{Kind, Space, Type};

/// What is wrong with a variable's initialiser, and what would be right.
pub(super) fn fault(module: &Module, variable: &Variable, name: &str) -> Option<(Code, String, &'static str)> {
    let init = variable.init.as_ref()?;
    let ty = variable.ty;
    if variable.linkage == Linkage::Extern {
        let message = format!("`{name}` is `.extern`: what it starts with is said where it is defined");
        return Some((codes::SYN001, message, "drop the value, or `.extern`"));
    }
    if !matches!(variable.space, Space::Global | Space::Const | Space::Tex) {
        let message = format!("`{name}` is `.{}`, which starts undefined", variable.space.name());
        return Some((codes::ISA012, message, "drop the value, and store it in the code"));
    }
    if ty == Type::F16 {
        let message = format!("`{name}` is `.f16`, for which there are no initial values");
        return Some((codes::ISA003, message, "declare it `.b16` and give its bits"));
    }
    let shape = Shape { module, variable };
    let message = if init.braced {
        shape.row(&init.values, 0)
    } else {
        init.values.first().and_then(|value| shape.value(value, 0))
    };
    message.map(|message| (codes::ISA002, format!("`{name}` {message}"), ""))
}

struct Shape<'a> {
    module: &'a Module,
    variable: &'a Variable,
}

impl Shape<'_> {
    /// Levels of braces: dimensions, and one for a vector.
    fn levels(&self) -> usize {
        self.variable.dims.len() + usize::from(self.variable.lanes > 1)
    }

    fn value(&self, value: &InitValue, level: usize) -> Option<String> {
        match value {
            InitValue::Row(values) => self.row(values, level),
            _ if level < self.levels() => Some("needs braces around its values".to_owned()),
            InitValue::Imm(value) => self.number(*value),
            InitValue::Symbol(symbol) => self.address(symbol.mask, symbol.symbol),
            InitValue::Field(_) => None,
        }
    }

    fn row(&self, values: &[InitValue], level: usize) -> Option<String> {
        if self.variable.ty.kind() == Kind::Opaque {
            return None;
        }
        if level >= self.levels() {
            return Some("has braces around a single value".to_owned());
        }
        match self.variable.dims.get(level) {
            Some(Some(length)) if values.len() as u64 > *length => {
                return Some(format!("has room for {length} values, not {}", values.len()));
            }
            None if values.len() != usize::from(self.variable.lanes) => {
                return Some(format!(
                    "is a vector of {}, and gets {} values",
                    self.variable.lanes,
                    values.len()
                ));
            }
            _ => {}
        }
        values.iter().find_map(|value| self.value(value, level + 1))
    }

    fn number(&self, value: Imm) -> Option<String> {
        let ty = self.variable.ty.name();
        let is_integer = matches!(value, Imm::Int(_) | Imm::Unsigned(_));
        match self.variable.ty.kind() {
            Kind::Float if is_integer => Some(format!(
                "is `.{ty}`: its values have a decimal point, or bits such as 0f3F800000"
            )),
            Kind::Signed | Kind::Unsigned if !is_integer => Some(format!("is `.{ty}`, and gets a fraction")),
            Kind::Opaque => Some(format!("is `.{ty}`, and gets a number")),
            _ => None,
        }
    }

    fn address(&self, mask: Option<u64>, symbol: crate::ptx::ir::SymbolId) -> Option<String> {
        // An undeclared name has been reported.
        if matches!(self.module.symbol(symbol).kind, SymbolKind::Undefined) {
            return None;
        }
        let space = self
            .module
            .variable(symbol)
            .map_or(Space::Global, |variable| variable.space);
        if !matches!(space, Space::Global | Space::Const) {
            return Some(format!(
                "gets the address of `{}`, which is `.{}`: only those of `.global` and `.const` are known before a kernel runs",
                self.module.name(symbol),
                space.name()
            ));
        }
        let ty = self.variable.ty;
        match mask {
            None if matches!(ty, Type::U32 | Type::U64) => None,
            None => Some(format!(
                "is `.{}`, and gets an address, which is `.u64` (or `.u32`)",
                ty.name()
            )),
            Some(mask) if !is_byte(mask) => Some(format!("gets the mask {mask:#x}, which selects no single byte")),
            Some(_) if ty == Type::U8 => None,
            Some(_) => Some(format!(
                "is `.{}`, and gets one byte of an address, which is `.u8`",
                ty.name()
            )),
        }
    }
}

/// `0xFF`, `0xFF00`, ...
fn is_byte(mask: u64) -> bool {
    (0..8).any(|byte| mask == 0xFF << (8 * byte))
}
