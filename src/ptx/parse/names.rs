//! Names in scope: registers, banks of registers, variables and functions.
//!
//! Nearly every name in a real file is a member of a bank (`%r12` of `%r<40>`). Those are found by prefix and number, without
//! a table of names; only what is declared by its whole name is in one.

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
    Unused(Type, u8, Place),
    /// A variable, parameter or function.
    Symbol(SymbolId),
}

/// Where the id of a register goes once it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The member of that number of a bank, by the bank's index.
    Bank(u32, u32),
    /// The name itself.
    Name,
}

/// A name as the banks know it: `%r12` is number 12 of `%r`. The lexer makes it on the way through the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// [`Member::key`] of the prefix.
    pub key: u64,
    /// The number behind it.
    pub number: u32,
}

impl Member {
    /// Of names that are not of this kind, or have a prefix of more than eight bytes: they are looked up by their text.
    pub const NONE: Self = Self { key: 0, number: 0 };

    /// A prefix of up to eight bytes as a number; zero for longer ones.
    fn key(prefix: &str) -> u64 {
        if prefix.len() > 8 {
            return Self::NONE.key;
        }
        prefix.bytes().fold(0, |key, byte| key << 8 | u64::from(byte))
    }
}

/// A declared bank, `%r<8>`, in the scope of that depth.
#[derive(Debug)]
struct Bank<'t> {
    prefix: &'t str,
    key: u64,
    depth: u32,
    size: u32,
    ty: Type,
    lanes: u8,
    /// By number, the registers that have occurred; as long as the greatest number so far, below [`DENSE`].
    ids: Vec<Option<RegId>>,
    /// The few that have greater numbers.
    sparse: FxHashMap<u32, RegId>,
}

/// Up to this number the members of a bank are looked up in an array: a lone `%r16000000` must not cost 64 MB.
const DENSE: u32 = 1 << 16;

/// Per name, what it stands for in each scope that declares it, outermost first, with the scope's depth.
type Shadows = SmallVec<[(u32, Binding); 1]>;

/// The names of all open scopes. Depth 1 is the module, 2 a function's parameters, 3 its body.
#[derive(Debug, Default)]
pub(super) struct Names<'t> {
    bindings: FxHashMap<&'t str, Shadows>,
    /// Innermost last.
    banks: Vec<Bank<'t>>,
    /// Where in `declared` each open scope starts.
    scopes: Vec<usize>,
    /// Names with the depth of the scope that declares them: to be taken back at its end.
    declared: Vec<(u32, &'t str)>,
    /// The labels of the open scopes with their depth, innermost last.
    labels: Vec<(u32, &'t str)>,
    /// Names in `bindings` that a bank around them has too: while there are none, a bank's word is enough.
    shadowing: usize,
}

/// Depth of the module's scope.
const MODULE: u32 = 1;
/// Depth of a function's body.
const BODY: u32 = 3;

impl Bank<'_> {
    #[inline]
    fn get(&self, at: usize, number: u32) -> Binding {
        let id = if number < DENSE {
            self.ids.get(number as usize).copied().flatten()
        } else {
            self.sparse.get(&number).copied()
        };
        id.map_or(
            Binding::Unused(self.ty, self.lanes, Place::Bank(at as u32, number)),
            Binding::Reg,
        )
    }

    fn set(&mut self, number: u32, reg: RegId) {
        if number >= DENSE {
            self.sparse.insert(number, reg);
            return;
        }
        let at = number as usize;
        if self.ids.len() == at {
            return self.ids.push(Some(reg));
        }
        if self.ids.len() < at {
            self.ids.resize(at + 1, None);
        }
        self.ids[at] = Some(reg);
    }
}

impl<'t> Names<'t> {
    /// Depth of the innermost scope; one at module scope.
    pub fn depth(&self) -> u32 {
        self.scopes.len() as u32
    }

    /// Opens a scope.
    pub fn open(&mut self) {
        self.scopes.push(self.declared.len());
    }

    /// Closes the innermost scope and forgets its names.
    pub fn close(&mut self) {
        let depth = self.depth();
        let start = self.scopes.pop().unwrap_or_default();
        let mut kept = start;
        for at in start..self.declared.len() {
            let (of, name) = self.declared[at];
            // What was declared for a scope further out stays.
            if of < depth {
                self.declared[kept] = (of, name);
                kept += 1;
            } else if let Some(shadows) = self.bindings.get_mut(name) {
                shadows.retain(|(of, _)| *of < depth);
            }
        }
        self.declared.truncate(kept);
        while self.labels.last().is_some_and(|(of, _)| *of >= depth) {
            self.labels.pop();
        }
        while self.banks.last().is_some_and(|bank| bank.depth >= depth) {
            self.banks.pop();
        }
        if depth == BODY {
            // Registers of the module, which PTX 1.x had, are different ones in each function.
            self.banks.iter_mut().for_each(|bank| {
                bank.ids.clear();
                bank.sparse.clear();
            });
            self.shadowing = 0;
        }
    }

    /// Declares a name in the innermost scope.
    ///
    /// # Errors
    /// What the scope has under that name already; `None` for a member of a bank.
    pub fn declare(&mut self, name: &'t str, binding: Binding) -> Result<(), Option<Binding>> {
        let depth = self.depth();
        let here = self.labels.iter().rev().take_while(|(of, _)| *of == depth);
        if here.into_iter().any(|(_, label)| *label == name) {
            return Err(None);
        }
        if let Some((bank, _)) = self.bank_of(name) {
            if self.banks[bank].depth == depth {
                return Err(None);
            }
            self.shadowing += 1;
        }
        self.bind(name, depth, binding)
    }

    /// Notes a label of the innermost scope, which shares its names with registers, variables and, in a function's body, parameters.
    ///
    /// # Errors
    /// What the scope has under that name already.
    pub fn label(&mut self, name: &'t str) -> Result<(), Binding> {
        let depth = self.depth();
        self.labels.push((depth, name));
        let shares = |of: u32| of == depth || depth == BODY && of + 1 == BODY;
        let known = self.bindings.get(name);
        let same = known.and_then(|shadows| shadows.iter().find(|(of, _)| shares(*of)));
        same.map_or(Ok(()), |(_, binding)| Err(*binding))
    }

    /// Declares a function's name in the module's scope while the function's own scope is open.
    ///
    /// # Errors
    /// What the module has under that name already.
    pub fn declare_outside(&mut self, name: &'t str, binding: Binding) -> Result<(), Option<Binding>> {
        self.bind(name, MODULE, binding)
    }

    fn bind(&mut self, name: &'t str, depth: u32, binding: Binding) -> Result<(), Option<Binding>> {
        let shadows = self.bindings.entry(name).or_default();
        if let Some((_, old)) = shadows.iter().find(|(at, _)| *at == depth) {
            return Err(Some(*old));
        }
        let at = shadows.partition_point(|(other, _)| *other < depth);
        shadows.insert(at, (depth, binding));
        self.declared.push((depth, name));
        Ok(())
    }

    /// Declares the bank `prefix<size>` in the innermost scope.
    ///
    /// # Errors
    /// If the scope has a bank of that prefix already.
    pub fn declare_bank(&mut self, prefix: &'t str, size: u32, ty: Type, lanes: u8) -> Result<(), ()> {
        let depth = self.depth();
        let here = self.banks.iter().rev().take_while(|bank| bank.depth == depth);
        if here.into_iter().any(|bank| bank.prefix == prefix) {
            return Err(());
        }
        let ids = Vec::with_capacity(size.min(1 << 10) as usize);
        self.banks.push(Bank {
            prefix,
            key: Member::key(prefix),
            depth,
            size,
            ty,
            lanes,
            ids,
            sparse: FxHashMap::default(),
        });
        Ok(())
    }

    /// What a name stands for here, if a bank's word is enough.
    #[inline]
    pub fn find_member(&self, member: Member) -> Option<Binding> {
        if self.shadowing > 0 || member == Member::NONE {
            return None;
        }
        let has = |bank: &Bank| bank.key == member.key && member.number < bank.size;
        let at = self.banks.iter().rposition(has)?;
        Some(self.banks[at].get(at, member.number))
    }

    /// What a name stands for here.
    pub fn find(&self, name: &str) -> Option<Binding> {
        match self.bank_of(name) {
            Some((bank, number)) if self.shadowing == 0 => Some(self.banks[bank].get(bank, number)),
            Some((bank, number)) => match self.bound(name) {
                Some((depth, binding)) if depth > self.banks[bank].depth => Some(binding),
                _ => Some(self.banks[bank].get(bank, number)),
            },
            None => self.bound(name).map(|(_, binding)| binding),
        }
    }

    fn bound(&self, name: &str) -> Option<(u32, Binding)> {
        self.bindings.get(name)?.last().copied()
    }

    /// The innermost bank that has a register of that name, and the register's number in it.
    fn bank_of(&self, name: &str) -> Option<(usize, u32)> {
        let (prefix, number) = split_number(name)?;
        let has = |bank: &Bank| number < bank.size && bank.prefix == prefix;
        Some((self.banks.iter().rposition(has)?, number))
    }

    /// Notes that a register has occurred in the function at hand and has an id there from now on. `place` is what
    /// [`Names::find`] said of it; [`Place::Name`] where it found nothing.
    pub fn occurred(&mut self, name: &'t str, place: Place, reg: RegId) {
        match place {
            Place::Bank(bank, number) => self.banks[bank as usize].set(number, reg),
            Place::Name => {
                let bound = self.bound(name).map(|(depth, _)| depth);
                self.rebind(name, bound.filter(|depth| *depth > MODULE).unwrap_or(BODY), reg);
            }
        }
    }

    /// Gives a name declared by itself, or not at all, its register.
    fn rebind(&mut self, name: &'t str, depth: u32, reg: RegId) {
        let binding = Binding::Reg(reg);
        if self.bind(name, depth, binding).is_err()
            && let Some(shadows) = self.bindings.get_mut(name)
            && let Some(own) = shadows.iter_mut().find(|(at, _)| *at == depth)
        {
            own.1 = binding;
        }
    }

    /// Every name in scope that is declared by itself; for suggestions.
    pub fn all(&self) -> impl Iterator<Item = &'t str> + '_ {
        let bound = self.bindings.iter().filter(|(_, shadows)| !shadows.is_empty());
        bound.map(|(name, _)| *name)
    }
}

/// `%r12` is number 12 of a bank `%r`. A number with leading zeros names no member of a bank.
fn split_number(name: &str) -> Option<(&str, u32)> {
    let bytes = name.as_bytes();
    let mut start = bytes.len();
    let (mut number, mut weight) = (0u32, 1u32);
    while start > 0 && bytes[start - 1].is_ascii_digit() {
        // Nine digits fit; no bank is that large.
        if bytes.len() - start >= 9 {
            return None;
        }
        start -= 1;
        number += u32::from(bytes[start] - b'0') * weight;
        weight = weight.wrapping_mul(10);
    }
    let digits = bytes.len() - start;
    if digits == 0 || (digits > 1 && bytes[start] == b'0') {
        return None;
    }
    Some((&name[..start], number))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Declares nothing; finds the name and gives it a register.
    fn occur<'t>(names: &mut Names<'t>, name: &'t str, reg: u32) {
        let place = match names.find(name) {
            Some(Binding::Unused(_, _, place)) => place,
            _ => Place::Name,
        };
        names.occurred(name, place, RegId(reg));
    }

    /// The type of a register that has not occurred yet.
    fn unused(names: &Names<'_>, name: &str) -> Option<Type> {
        match names.find(name) {
            Some(Binding::Unused(ty, ..)) => Some(ty),
            _ => None,
        }
    }

    #[test]
    fn scopes_and_banks_shadow_each_other() {
        let mut names = Names::default();
        for _ in 0..BODY {
            names.open();
        }
        names.declare_bank("%r", 8, Type::B32, 1).unwrap();
        occur(&mut names, "%r3", 0);
        assert_eq!(names.find("%r3"), Some(Binding::Reg(RegId(0))));
        assert_eq!(names.find("%r8"), None);
        assert_eq!(names.find("%r03"), None);
        names.open();
        names.declare_bank("%r", 4, Type::F32, 1).unwrap();
        assert_eq!(unused(&names, "%r3"), Some(Type::F32));
        occur(&mut names, "%r3", 1);
        assert_eq!(names.find("%r3"), Some(Binding::Reg(RegId(1))));
        assert_eq!(unused(&names, "%r5"), Some(Type::B32));
        names
            .declare("%r5", Binding::Unused(Type::F64, 1, Place::Name))
            .unwrap();
        assert_eq!(unused(&names, "%r5"), Some(Type::F64));
        occur(&mut names, "%r5", 2);
        assert_eq!(names.find("%r5"), Some(Binding::Reg(RegId(2))));
        names.close();
        assert_eq!(names.find("%r3"), Some(Binding::Reg(RegId(0))));
        assert_eq!(unused(&names, "%r5"), Some(Type::B32));
        assert_eq!(
            names.declare("%r5", Binding::Unused(Type::B32, 1, Place::Name)),
            Err(None)
        );
        assert!(names.declare_bank("%r", 1, Type::B32, 1).is_err());
        names.close();
        assert_eq!(names.find("%r3"), None);
    }

    #[test]
    fn numbers_behind_names() {
        assert_eq!(split_number("%rd120"), Some(("%rd", 120)));
        assert_eq!(split_number("%r0"), Some(("%r", 0)));
        for none in ["%r", "%r00", "%r1234567890", "%r9999999999999999999999", ""] {
            assert_eq!(split_number(none), None, "{none}");
        }
    }

    #[test]
    fn a_high_number_costs_no_array() {
        let mut names = Names::default();
        for _ in 0..BODY {
            names.open();
        }
        names.declare_bank("%r", 1 << 24, Type::B32, 1).unwrap();
        occur(&mut names, "%r16000000", 7);
        assert_eq!(names.find("%r16000000"), Some(Binding::Reg(RegId(7))));
        assert!(names.banks[0].ids.is_empty());
    }

    #[test]
    fn registers_of_the_module_start_anew_in_each_function() {
        let mut names = Names::default();
        names.open();
        names.declare_bank("%ra", 4, Type::U32, 1).unwrap();
        names.declare("%x", Binding::Unused(Type::U32, 1, Place::Name)).unwrap();
        for _ in 0..2 {
            names.open();
            names.open();
            for name in ["%ra1", "%x"] {
                assert_eq!(unused(&names, name), Some(Type::U32));
                occur(&mut names, name, 0);
                assert_eq!(names.find(name), Some(Binding::Reg(RegId(0))));
            }
            names.close();
            names.close();
        }
    }
}
