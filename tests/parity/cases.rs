//! Instances of the table's rows, and the same with one thing wrong.

use super::operands::Place;
use super::rng::Rng;
use super::setting::{self, Setting};
use ptxgen::ptx::isa::{self, Alternative, Form, Gate, OperandKind, OperandSpec, Row};
use std::collections::HashSet;

/// One instruction to be judged.
pub struct Case {
    /// The row it was made from.
    pub row: &'static str,
    /// How it was made.
    pub kind: &'static str,
    /// The module it stands in.
    pub setting: Setting,
    /// The statement, semicolon included.
    pub text: String,
}

/// How many cases are made of a form.
pub struct Amount {
    /// Random combinations beside those that show every alternative once.
    pub combinations: usize,
    /// At most this many legal ones.
    pub legal: usize,
    /// Faulty ones of each kind.
    pub faults: usize,
}

/// A row's form with modifiers and operands, before it is written down.
pub struct Draft {
    /// Modifiers.
    pub picks: Vec<Option<&'static Alternative>>,
    /// Operands.
    pub operands: Vec<String>,
}

type Picks = Vec<Option<&'static Alternative>>;

/// Every case of every row, without repetition.
pub fn all(amount: &Amount) -> Vec<Case> {
    let mut found = Vec::new();
    let foreign = modifiers();
    for row in isa::rows() {
        let entry = isa::entries(row.base())
            .iter()
            .find(|entry| entry.row.name == row.name)
            .unwrap();
        for (at, form) in entry.forms().iter().enumerate() {
            let mut maker = Maker {
                row,
                form,
                foreign: &foreign,
                rng: Rng::named(&format!("{} {at}", row.name)),
                out: &mut found,
            };
            maker.examples(at);
            if row.name != "call" && !has_sampler(form) {
                maker.form(amount);
            }
        }
    }
    let mut seen = HashSet::new();
    found.retain(|case: &Case| seen.insert((case.setting, case.text.clone())));
    found
}

/// All modifiers that occur in the table.
fn modifiers() -> Vec<&'static str> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for row in isa::rows() {
        for entry in isa::entries(row.base()) {
            let slots = entry.forms().iter().flat_map(|form| &form.slots);
            for one in slots.flat_map(|slot| &slot.alternatives) {
                if seen.insert(one.name) {
                    found.push(one.name);
                }
            }
        }
    }
    found
}

/// Whether the form names a sampler: the default mode has none, and reads such a bracket in a way of its own.
fn has_sampler(form: &Form) -> bool {
    form.operands
        .iter()
        .any(|operand| operand.parts.iter().any(|part| part.name == "s") && operand.parts.len() == 3)
}

/// Makes the cases of one form.
pub struct Maker<'a> {
    /// The row.
    pub row: &'static Row,
    /// The form.
    pub form: &'static Form,
    /// Modifiers of all rows.
    pub foreign: &'a [&'static str],
    /// Choices.
    pub rng: Rng,
    out: &'a mut Vec<Case>,
}

impl Maker<'_> {
    /// The row's examples, with the first of its forms.
    fn examples(&mut self, at: usize) {
        if at > 0 {
            return;
        }
        for example in self.row.examples {
            let opcode = isa::Opcode::resolve(example.split([' ', ';']).next().unwrap());
            let settings = opcode.matches.iter().filter_map(|found| {
                let gates: Vec<_> = found.gates().map(|(_, gate)| gate).collect();
                setting::newest(found.form, &gates)
            });
            let settings: Vec<_> = settings.take(1).collect();
            for setting in settings {
                self.push("example", setting, (*example).to_owned());
            }
        }
    }

    /// Notes a case.
    pub fn push(&mut self, kind: &'static str, setting: Setting, text: String) {
        self.out.push(Case {
            row: self.row.name,
            kind,
            setting,
            text,
        });
    }

    fn form(&mut self, amount: &Amount) {
        let mut picks = self.every_alternative();
        for _ in 0..amount.combinations {
            picks.push(self.random_picks());
        }
        let first = picks[0].clone();
        let keep = amount.legal.saturating_sub(1);
        while picks.len() > keep.max(1) {
            let drop = 1 + self.rng.below(picks.len() - 1);
            picks.remove(drop);
        }
        for (at, picks) in picks.iter().enumerate() {
            self.legal(picks, at == 0);
        }
        for at in 0..amount.faults {
            let picks = if at == 0 { first.clone() } else { self.random_picks() };
            self.faults(&picks);
        }
        self.gates(&first);
        let random = self.random_picks();
        self.gates(&random);
    }

    /// The plain form, then each alternative of each slot once.
    fn every_alternative(&mut self) -> Vec<Picks> {
        let plain: Picks = self
            .form
            .slots
            .iter()
            .map(|slot| slot.alternatives.first().filter(|_| !slot.optional))
            .collect();
        let mut found = vec![plain.clone()];
        for (at, slot) in self.form.slots.iter().enumerate() {
            let skip = usize::from(!slot.optional);
            for one in slot.alternatives.iter().skip(skip) {
                let mut picks = if self.rng.once_in(2) {
                    plain.clone()
                } else {
                    self.random_picks()
                };
                picks[at] = Some(one);
                found.push(picks);
            }
        }
        found
    }

    fn random_picks(&mut self) -> Picks {
        let rng = &mut self.rng;
        let pick = |slot: &'static isa::Slot| {
            if slot.optional && rng.once_in(2) {
                None
            } else {
                rng.pick(&slot.alternatives)
            }
        };
        self.form.slots.iter().map(pick).collect()
    }

    /// What these modifiers need.
    fn needs(&self, picks: &Picks) -> Vec<&'static Gate> {
        let chosen = picks.iter().flatten().map(|pick| &pick.gate);
        std::iter::once(&self.form.gate).chain(chosen).collect()
    }

    fn legal(&mut self, picks: &Picks, thorough: bool) {
        let gates = self.needs(picks);
        let settings = [setting::least(self.form, &gates), setting::newest(self.form, &gates)];
        for (at, setting) in settings.into_iter().flatten().enumerate() {
            let draft = self.draft(picks, &setting, false);
            self.push("plain", setting, self.write(&draft));
            let draft = self.draft(picks, &setting, true);
            self.push("operands", setting, self.write(&draft));
            if thorough && at == 1 {
                self.every_operand(picks, &setting);
            }
        }
    }

    /// Each candidate of each operand once.
    fn every_operand(&mut self, picks: &Picks, setting: &Setting) {
        let plain = self.draft(picks, setting, false);
        let all = self.candidates(picks, setting, true);
        for (at, texts) in all.iter().enumerate() {
            for text in texts {
                let mut draft = Draft {
                    picks: picks.clone(),
                    operands: plain.operands.clone(),
                };
                while draft.operands.len() <= at {
                    let next = all[draft.operands.len()][0].clone();
                    draft.operands.push(next);
                }
                draft.operands[at] = text.clone();
                self.push("operands", *setting, self.write(&draft));
            }
        }
    }

    /// Texts for each operand of the form.
    fn candidates(&self, picks: &Picks, setting: &Setting, optional: bool) -> Vec<Vec<String>> {
        let place = Place {
            row: self.row,
            form: self.form,
            picks,
        };
        let mut addresses = 0;
        let mut found = Vec::new();
        let wanted = |spec: &&OperandSpec| match spec.tied {
            Some(slot) => picks[slot].is_some(),
            None => optional || !spec.optional,
        };
        for spec in place.form.operands.iter().filter(wanted) {
            found.push(place.candidates(spec, addresses, setting));
            addresses += usize::from(spec.kind == OperandKind::Address);
        }
        found
    }

    fn draft(&mut self, picks: &Picks, setting: &Setting, varied: bool) -> Draft {
        let optional = varied && self.rng.once_in(2);
        let all = self.candidates(picks, setting, optional);
        let rng = &mut self.rng;
        let choose = |texts: &Vec<String>| {
            let text = if varied && rng.once_in(2) {
                rng.pick(texts)
            } else {
                texts.first()
            };
            text.cloned().unwrap_or_default()
        };
        Draft {
            picks: picks.clone(),
            operands: all.iter().map(choose).collect(),
        }
    }

    /// The opcode with these modifiers.
    pub fn opcode(&self, picks: &Picks) -> String {
        Place {
            row: self.row,
            form: self.form,
            picks,
        }
        .opcode()
    }

    fn write(&self, draft: &Draft) -> String {
        statement(&self.opcode(&draft.picks), &draft.operands)
    }

    /// The plain form where its gates are just missed.
    fn gates(&mut self, picks: &Picks) {
        let gates = self.needs(picks);
        for setting in setting::just_below(self.form, &gates) {
            let draft = self.draft(picks, &setting, false);
            self.push("gate", setting, self.write(&draft));
        }
    }

    /// One fault of each kind.
    fn faults(&mut self, picks: &Picks) {
        let gates = self.needs(picks);
        let Some(setting) = setting::newest(self.form, &gates) else {
            return;
        };
        let draft = self.draft(picks, &setting, false);
        self.modifier_faults(&draft, setting);
        self.operand_faults(&draft, setting);
    }
}

/// `opcode a, b;`
pub fn statement(opcode: &str, operands: &[String]) -> String {
    match operands {
        [] => format!("{opcode};"),
        _ => format!("{opcode} {};", operands.join(", ")),
    }
}
