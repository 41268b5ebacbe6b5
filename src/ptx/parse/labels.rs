//! Labels: scoped like registers, but used before they are defined. A reference waits in its scope and is
//! settled when the scope that defines the name ends.

use crate::ptx::ir::{Body, LabelId, Operand, Stmt, TableKind};
use crate::ptx::source::Span;
use rustc_hash::FxHashMap;

/// A use of a label by name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference<'t> {
    pub name: &'t str,
    pub span: Span,
    pub place: Place,
}

/// What is to be filled in once the label is known.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// An operand of an instruction, by their indices.
    Operand(usize, usize),
    /// An entry of a `.branchtargets` table, by the statement's index and its own.
    Table(usize, usize),
}

#[derive(Debug, Default)]
struct Scope<'t> {
    defined: FxHashMap<&'t str, LabelId>,
    waiting: Vec<Reference<'t>>,
}

/// The labels of a function's open scopes.
#[derive(Debug)]
pub(super) struct Labels<'t> {
    scopes: Vec<Scope<'t>>,
}

impl<'t> Labels<'t> {
    /// The function's outermost scope is open.
    pub fn new() -> Self {
        Self {
            scopes: vec![Scope::default()],
        }
    }

    pub fn open(&mut self) {
        self.scopes.push(Scope::default());
    }

    /// Defines a label in the innermost scope; gives back the one of that name it has already.
    pub fn define(&mut self, name: &'t str, id: LabelId) -> Option<LabelId> {
        let scope = self.scopes.last_mut()?;
        scope.defined.insert(name, id)
    }

    /// The label of that name, if it is defined so far.
    pub fn find(&self, name: &str) -> Option<LabelId> {
        self.scopes
            .iter()
            .rev()
            .find_map(|scope| scope.defined.get(name))
            .copied()
    }

    /// Has a reference wait for its label.
    pub fn refer(&mut self, reference: Reference<'t>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.waiting.push(reference);
        }
    }

    /// Forgets the references of an instruction that is taken back.
    pub fn forget(&mut self, inst: usize) {
        if let Some(scope) = self.scopes.last_mut() {
            scope
                .waiting
                .retain(|reference| !matches!(reference.place, Place::Operand(at, _) if at == inst));
        }
    }

    /// Closes the innermost scope: references to its labels are settled, the others wait in the scope around it.
    /// Returns those for which there is no scope left.
    pub fn close(&mut self, body: &mut Body) -> Vec<Reference<'t>> {
        let Some(scope) = self.scopes.pop() else {
            return Vec::new();
        };
        let mut waiting = Vec::new();
        for reference in scope.waiting {
            match scope.defined.get(reference.name) {
                Some(label) => settle(body, reference.place, *label),
                None => waiting.push(reference),
            }
        }
        match self.scopes.last_mut() {
            Some(outer) => {
                outer.waiting.extend(waiting);
                Vec::new()
            }
            None => waiting,
        }
    }
}

/// Fills a label in.
pub(super) fn settle(body: &mut Body, place: Place, label: LabelId) {
    match place {
        Place::Operand(inst, operand) => body.insts[inst].operands[operand] = Operand::Label(label),
        Place::Table(stmt, entry) => {
            if let Stmt::Table(table) = &mut body.stmts[stmt]
                && let TableKind::Branch(targets) = &mut table.kind
            {
                targets[entry] = label;
            }
        }
    }
}
