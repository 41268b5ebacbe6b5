//! What a rule is, and which there are.

use super::catalogue;
use super::context::Context;
use super::rules;
use crate::ptx::diag::{Code, Diag, Level};

/// A lint rule.
pub struct Rule {
    /// Its code and name.
    pub code: Code,
    /// The level of most of its findings; each finding has its own.
    pub level: Level,
    /// One line.
    pub summary: &'static str,
    /// Markdown: what it finds, why that is bad, a failing and a clean example, how to repair it.
    /// The examples are the first two blocks marked `ptx`, in that order.
    pub explanation: &'static str,
    /// Whether a legality check may report the same number at the same place; the rule then stays silent there.
    pub restates_legality: bool,
    /// Finds the rule's findings.
    pub(super) check: fn(&Context) -> Vec<Diag>,
}

/// Every rule, by code.
pub const RULES: &[Rule] = &[
    rules::async001::RULE,
    rules::async002::RULE,
    rules::async003::RULE,
    rules::async004::RULE,
    rules::async005::RULE,
    rules::async006::RULE,
    rules::async007::RULE,
    rules::async008::RULE,
    rules::async009::RULE,
    rules::async010::RULE,
    rules::async011::RULE,
    rules::async012::RULE,
    rules::async013::RULE,
    rules::async014::RULE,
    rules::async015::RULE,
    rules::async016::RULE,
    rules::async017::RULE,
    rules::async018::RULE,
    rules::async019::RULE,
    rules::async020::RULE,
    rules::async021::RULE,
    rules::async022::RULE,
    rules::bar001::RULE,
    rules::bar002::RULE,
    rules::bar003::RULE,
    rules::bar004::RULE,
    rules::bar005::RULE,
    rules::bar006::RULE,
    rules::bar007::RULE,
    rules::bar009::RULE,
    rules::bar011::RULE,
    rules::bar012::RULE,
    rules::bar013::RULE,
    rules::bar014::RULE,
    rules::bar015::RULE,
    rules::bar016::RULE,
    rules::bar017::RULE,
    rules::bar018::RULE,
    rules::bar019::RULE,
    rules::bar020::RULE,
    rules::flow001::RULE,
    rules::flow002::RULE,
    rules::flow003::RULE,
    rules::flow004::RULE,
    rules::flow005::RULE,
    rules::flow006::RULE,
    rules::flow007::RULE,
    rules::flow008::RULE,
    rules::flow009::RULE,
    rules::flow010::RULE,
    rules::flow011::RULE,
    rules::flow012::RULE,
    rules::isa020::RULE,
    rules::isa021::RULE,
    rules::lint001::RULE,
    rules::lint002::RULE,
    rules::mem001::RULE,
    rules::mem002::RULE,
    rules::mem003::RULE,
    rules::mem004::RULE,
    rules::mem005::RULE,
    rules::mem006::RULE,
    rules::mem007::RULE,
    rules::mem008::RULE,
    rules::mem009::RULE,
    rules::mem010::RULE,
    rules::mem011::RULE,
    rules::mem012::RULE,
    rules::mem013::RULE,
    rules::mem014::RULE,
    rules::mem015::RULE,
    rules::num001::RULE,
    rules::num002::RULE,
    rules::num003::RULE,
    rules::num004::RULE,
    rules::num005::RULE,
    rules::num009::RULE,
    rules::perf001::RULE,
    rules::perf002::RULE,
    rules::perf003::RULE,
    rules::perf004::RULE,
    rules::perf005::RULE,
    rules::perf006::RULE,
    rules::perf007::RULE,
    rules::perf008::RULE,
    rules::perf013::RULE,
    rules::perf018::RULE,
    rules::race001::RULE,
    rules::race002::RULE,
    rules::race003::RULE,
    rules::race004::RULE,
    rules::race005::RULE,
    rules::race006::RULE,
    rules::race007::RULE,
    rules::race008::RULE,
    rules::race009::RULE,
    rules::race010::RULE,
    rules::race011::RULE,
    rules::race012::RULE,
    rules::race013::RULE,
    rules::warp001::RULE,
    rules::warp002::RULE,
    rules::warp003::RULE,
    rules::warp004::RULE,
    rules::warp005::RULE,
    rules::warp006::RULE,
    rules::warp007::RULE,
    rules::warp008::RULE,
    rules::warp010::RULE,
    rules::warp011::RULE,
    rules::warp012::RULE,
];

/// The rule of that code or name.
pub fn rule_named(name: &str) -> Option<&'static Rule> {
    RULES
        .iter()
        .find(|rule| rule.code.id.eq_ignore_ascii_case(name) || rule.code.name == name)
}

/// Groups of rules that speak of taste and speed: they run only where they are asked for.
const OPT_IN: &[&str] = &["NUM", "PERF"];

impl Rule {
    /// The group: `BAR` of `BAR001`.
    pub fn group(&self) -> &'static str {
        catalogue::group(self.code)
    }

    /// Whether the rule runs only where it is asked for.
    pub fn is_opt_in(&self) -> bool {
        OPT_IN.contains(&self.group())
    }

    /// The examples in the explanation: one that the rule finds fault with, and one that it does not.
    pub fn examples(&self) -> impl Iterator<Item = &'static str> {
        self.explanation
            .split("```ptx\n")
            .skip(1)
            .filter_map(|rest| rest.split("```").next())
    }
}
