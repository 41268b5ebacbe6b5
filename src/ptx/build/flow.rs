//! Structured control flow.

use super::function::Kernel;
use super::ops::{Cmp, Int};
use super::value::{Arg, B32, Cond, Reg, Value};
use crate::ptx::ir::{LabelId, Operand};

impl Kernel<'_> {
    /// Runs `body` where the condition holds.
    pub fn if_then(&mut self, cond: impl Into<Cond>, body: impl FnOnce(&mut Self)) {
        let number = self.construct();
        let end = self.label(number, "endif");
        self.branch(Some(!cond.into()), end);
        body(self);
        self.place(end);
    }

    /// Runs `yes` where the condition holds, and `no` elsewhere.
    pub fn if_else(&mut self, cond: impl Into<Cond>, yes: impl FnOnce(&mut Self), no: impl FnOnce(&mut Self)) {
        let number = self.construct();
        let (other, end) = (self.label(number, "else"), self.label(number, "endif"));
        self.branch(Some(!cond.into()), other);
        yes(self);
        self.branch(None, end);
        self.place(other);
        no(self);
        self.place(end);
    }

    /// Runs `body` as long as `cond` holds; it is evaluated before each trip. `hint` becomes part of the labels.
    pub fn while_loop(&mut self, hint: &str, cond: impl FnOnce(&mut Self) -> Cond, body: impl FnOnce(&mut Self)) {
        let (head, end) = self.loop_labels(hint);
        self.place(head);
        let cond = cond(self);
        self.branch(Some(!cond), end);
        body(self);
        self.branch(None, head);
        self.place(end);
    }

    /// Runs `body` for `start`, `start + step`, ... below `end`, unsigned. `end + step` must fit the class.
    /// The test stands at the bottom, so that a trip costs one branch.
    pub fn for_range<C: Int>(
        &mut self,
        hint: &str,
        start: impl Into<Value<C>>,
        end: impl Into<Value<C>>,
        step: impl Into<Value<C>>,
        body: impl FnOnce(&mut Self, Reg<C>),
    ) {
        let (end, step) = (end.into(), step.into());
        let (head, after) = self.loop_labels(hint);
        let index = self.var(start);
        let none = self.compare(Cmp::Ge, index, end);
        self.branch(Some(none.into()), after);
        self.place(head);
        body(self, index);
        self.add_into(index, index, step);
        let more = self.compare(Cmp::Lt, index, end);
        self.branch(Some(more.into()), head);
        self.place(after);
    }

    /// Runs `body` exactly `trips` times: not at all, or straight through for 1, without a loop.
    pub fn repeat(&mut self, hint: &str, trips: u32, body: impl FnOnce(&mut Self)) {
        match trips {
            0 => {}
            1 => body(self),
            _ => {
                let number = self.construct();
                let head = self.label(number, hint);
                let left = self.var::<B32>(trips);
                self.place(head);
                body(self);
                self.sub_into(left, left, 1u32);
                let more = self.compare(Cmp::Ne, left, 0u32);
                self.branch(Some(more.into()), head);
            }
        }
    }

    /// `trap` where the condition holds: the launch ends with an error.
    pub fn trap_if(&mut self, cond: impl Into<Cond>) {
        self.emit_guarded(Some(cond.into()), "trap", []);
    }

    fn loop_labels(&mut self, hint: &str) -> (LabelId, LabelId) {
        let number = self.construct();
        (self.label(number, hint), self.label(number, &format!("{hint}_end")))
    }

    fn branch(&mut self, guard: Option<Cond>, to: LabelId) {
        // What no condition decides is taken by all: `.uni` says so, as compilers do.
        let opcode = if guard.is_some() { "bra" } else { "bra.uni" };
        self.emit_guarded(guard, opcode, [Arg::from(Operand::Label(to))]);
    }
}
