//! Names in scope: registers, banks of registers, variables and functions.

use crate::ptx::ir::{RegId, SymbolId};
use crate::ptx::types::Type;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// A register that has occurred.
    Reg(RegId),
    /// A register that is declared and has not occurred yet.
    Unused(Type, u8),
    /// A variable, parameter or function.
    Symbol(SymbolId),
}

/// A declared bank: `%r<8>`.
#[derive(Clone, Copy, Debug)]
struct Bank {
    size: u32,
    ty: Type,
    lanes: u8,
}

/// Per name, what it stands for in each scope that declares it, outermost first; `u32` is the scope's depth.
type Shadows<T> = SmallVec<[(u32, T); 1]>;

/// The names of all open scopes. Depth 1 is the module, 2 a function's parameters, 3 its body.
#[derive(Debug, Default)]
pub(super) struct Names<'t> {
    bindings: FxHashMap<&'t str, Shadows<Binding>>,
    banks: FxHashMap<&'t str, Shadows<Bank>>,
    /// Per open scope, what it declared: to be taken back at its end.
    declared: Vec<Vec<Declared<'t>>>,
    /// Banks in scopes inside a function's outermost one. While there are none, a name once found stays right.
    inner_banks: usize,
}

#[derive(Clone, Copy, Debug)]
enum Declared<'t> {
    Name(&'t str),
    Bank(&'t str),
}

/// Depth of a function's body; its parameters are one above.
const BODY: u32 = 3;

impl<'t> Names<'t> {
    /// Depth of the innermost scope.
    pub fn depth(&self) -> u32 {
        self.declared.len() as u32
    }

    /// Opens a scope.
    pub fn open(&mut self) {
        self.declared.push(Vec::new());
    }

    /// Closes the innermost scope and forgets its names.
    pub fn close(&mut self) {
        let depth = self.depth();
        for declared in self.declared.pop().into_iter().flatten() {
            match declared {
                Declared::Name(name) => pop(self.bindings.get_mut(name), depth),
                Declared::Bank(prefix) => {
                    pop(self.banks.get_mut(prefix), depth);
                    self.inner_banks -= usize::from(depth > BODY);
                }
            }
        }
    }

    /// Declares a name in the innermost scope.
    ///
    /// # Errors
    /// What the scope has under that name already.
    pub fn declare(&mut self, name: &'t str, binding: Binding) -> Result<(), Option<Binding>> {
        let depth = self.depth();
        if let Some((prefix, number)) = split_bank(name)
            && let Some((at, bank)) = self.banks.get(prefix).and_then(|banks| banks.last())
            && *at == depth
            && number < bank.size
        {
            return Err(None);
        }
        let shadows = self.bindings.entry(name).or_default();
        if let Some((at, old)) = shadows.last()
            && *at == depth
        {
            return Err(Some(*old));
        }
        shadows.push((depth, binding));
        if let Some(scope) = self.declared.last_mut() {
            scope.push(Declared::Name(name));
        }
        Ok(())
    }

    /// Declares a function's name in the module's scope while the function's own scope is open.
    ///
    /// # Errors
    /// What the module has under that name already.
    pub fn declare_outside(&mut self, name: &'t str, binding: Binding) -> Result<(), Option<Binding>> {
        let shadows = self.bindings.entry(name).or_default();
        if let Some((_, old)) = shadows.iter().find(|(at, _)| *at == 1) {
            return Err(Some(*old));
        }
        shadows.insert(0, (1, binding));
        if let Some(scope) = self.declared.first_mut() {
            scope.push(Declared::Name(name));
        }
        Ok(())
    }

    /// Declares the bank `prefix<size>` in the innermost scope.
    ///
    /// # Errors
    /// If the scope has a bank of that prefix already.
    pub fn declare_bank(&mut self, prefix: &'t str, size: u32, ty: Type, lanes: u8) -> Result<(), ()> {
        let depth = self.depth();
        let banks = self.banks.entry(prefix).or_default();
        if banks.last().is_some_and(|(at, _)| *at == depth) {
            return Err(());
        }
        banks.push((depth, Bank { size, ty, lanes }));
        self.inner_banks += usize::from(depth > BODY);
        if let Some(scope) = self.declared.last_mut() {
            scope.push(Declared::Bank(prefix));
        }
        Ok(())
    }

    /// What a name stands for here.
    pub fn find(&self, name: &str) -> Option<Binding> {
        let found = self.bindings.get(name).and_then(|shadows| shadows.last()).copied();
        if let Some((_, binding)) = found
            && self.inner_banks == 0
        {
            return Some(binding);
        }
        let bank = self.find_bank(name);
        match (found, bank) {
            (Some((depth, _)), Some((inner, ty, lanes))) if inner > depth => Some(Binding::Unused(ty, lanes)),
            (Some((_, binding)), _) => Some(binding),
            (None, bank) => bank.map(|(_, ty, lanes)| Binding::Unused(ty, lanes)),
        }
    }

    /// Depth, type and lanes of the innermost bank that has a register of that name.
    fn find_bank(&self, name: &str) -> Option<(u32, Type, u8)> {
        let (prefix, number) = split_bank(name)?;
        let banks = self.banks.get(prefix)?;
        let (depth, bank) = banks.iter().rev().find(|(_, bank)| number < bank.size)?;
        Some((*depth, bank.ty, bank.lanes))
    }

    /// Notes that a declared register has occurred in the function at hand and has an id there from now on.
    ///
    /// Registers of the module, which PTX 1.x had, are different ones in each function.
    pub fn occurred(&mut self, name: &'t str, reg: RegId) {
        let bank = self.find_bank(name).map(|(depth, ..)| depth);
        let shadows = self.bindings.entry(name).or_default();
        let own = shadows.last().map(|(depth, _)| *depth);
        let depth = own.max(bank).filter(|depth| *depth > 1).unwrap_or(BODY);
        match shadows.last_mut() {
            Some(last) if last.0 == depth => last.1 = Binding::Reg(reg),
            _ => {
                shadows.push((depth, Binding::Reg(reg)));
                if let Some(scope) = self.declared.get_mut(depth as usize - 1) {
                    scope.push(Declared::Name(name));
                }
            }
        }
    }

    /// Every name in scope; for suggestions.
    pub fn all(&self) -> impl Iterator<Item = &'t str> + '_ {
        let bound = self.bindings.iter().filter(|(_, shadows)| !shadows.is_empty());
        bound.map(|(name, _)| *name)
    }
}

fn pop<T>(shadows: Option<&mut Shadows<T>>, depth: u32) {
    if let Some(shadows) = shadows
        && let Some(at) = shadows.iter().rposition(|(of, _)| *of == depth)
    {
        shadows.remove(at);
    }
}

/// `%r12` is number 12 of the bank `%r`. A number with leading zeros names no member of a bank.
fn split_bank(name: &str) -> Option<(&str, u32)> {
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[prefix.len()..];
    if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    Some((prefix, digits.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inner_bank_shadows_a_register_that_has_occurred() {
        let mut names = Names::default();
        for _ in 0..BODY {
            names.open();
        }
        names.declare_bank("%r", 8, Type::B32, 1).unwrap();
        names.occurred("%r3", RegId(0));
        assert_eq!(names.find("%r3"), Some(Binding::Reg(RegId(0))));
        assert_eq!(names.find("%r8"), None);
        assert_eq!(names.find("%r03"), None);
        names.open();
        names.declare_bank("%r", 4, Type::F32, 1).unwrap();
        assert_eq!(names.find("%r3"), Some(Binding::Unused(Type::F32, 1)));
        names.occurred("%r3", RegId(1));
        assert_eq!(names.find("%r3"), Some(Binding::Reg(RegId(1))));
        assert_eq!(names.find("%r5"), Some(Binding::Unused(Type::B32, 1)));
        names.close();
        assert_eq!(names.find("%r3"), Some(Binding::Reg(RegId(0))));
        assert!(names.declare("%r5", Binding::Unused(Type::B32, 1)).is_err());
        names.close();
        assert_eq!(names.find("%r3"), None);
    }
}
