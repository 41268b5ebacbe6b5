//! What a module needs: least version and targets, from the gates of what is in it.

use super::error::BuildError;
use crate::ptx::ir::{Inst, Module, Operand};
use crate::ptx::isa::Gate;
use crate::ptx::target::{PtxVersion, Target};

/// Everything in a module that not every version and target has.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// What is needed, by whom.
    gates: Vec<(String, Gate)>,
    /// An instruction whose operands fit no form.
    misfit: Option<String>,
}

impl Needs {
    /// Collects what the instructions of a module ask for.
    pub fn of(module: &Module) -> Self {
        let mut needs = Self::default();
        let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
        for inst in bodies.flat_map(|body| &body.insts) {
            needs.inst(inst);
        }
        needs
    }

    fn inst(&mut self, inst: &Inst) {
        for operand in &inst.operands {
            if let Operand::Special(special) = operand {
                let info = special.info();
                let targets = (info.sm > 0).then(|| Target::base(info.sm)).into_iter().collect();
                let ptx = info.ptx.parse().ok();
                self.add(info.name, &Gate { ptx, targets });
            }
        }
        let Some(found) = inst.form() else { return };
        if !crate::ptx::ir::shape::fits(&found.form.operands, &inst.operands) {
            self.misfit.get_or_insert_with(|| inst.op.text.to_string());
        }
        for (_, gate) in found.gates() {
            self.add(&inst.op.text, gate);
        }
    }

    fn add(&mut self, what: &str, gate: &Gate) {
        let asks = gate.ptx.is_some() || !gate.targets.is_empty();
        if asks && !self.gates.iter().any(|(_, known)| known == gate) {
            self.gates.push((what.to_owned(), gate.clone()));
        }
    }

    /// The target asked for, if it has everything; else the least plain target that has, or the least at all.
    ///
    /// # Errors
    /// What the target lacks, or that no target has all of it.
    pub fn target(&self, wanted: Option<Target>) -> Result<Target, BuildError> {
        if let Some(opcode) = &self.misfit {
            let opcode = opcode.clone();
            return Err(BuildError::Opcode { opcode, problem: None });
        }
        if let Some(target) = wanted {
            return match self.gates.iter().find(|(_, gate)| !has(target, gate)) {
                None => Ok(target),
                Some((opcode, gate)) => Err(BuildError::Target {
                    opcode: opcode.clone(),
                    needs: gate.targets.clone(),
                    target,
                }),
            };
        }
        let has_all =
            |target: &Target| target.assembled_by_13_5() && self.gates.iter().all(|(_, gate)| has(*target, gate));
        let found = Target::all().find(has_all);
        found.ok_or_else(|| BuildError::Unknown("target that has all the instructions used".to_owned()))
    }

    /// The version asked for, if it has everything; else the least one that does.
    ///
    /// # Errors
    /// What the version lacks, or that there is none of that number.
    pub fn version(&self, target: Target, wanted: Option<PtxVersion>) -> Result<PtxVersion, BuildError> {
        let Some(least) = target.min_ptx() else {
            return Err(BuildError::Unknown(format!("target {target}")));
        };
        let gates = self
            .gates
            .iter()
            .filter_map(|(what, gate)| Some((format!("`{what}`"), gate.ptx?)));
        let (what, needs) = gates.fold((format!("target {target}"), least), |most, next| {
            if next.1 > most.1 { next } else { most }
        });
        match wanted {
            None => Ok(needs),
            Some(version) if !version.is_known() => Err(BuildError::Unknown(format!("PTX version {version}"))),
            Some(version) if version < needs => Err(BuildError::Version { what, needs, version }),
            Some(version) => Ok(version),
        }
    }
}

fn has(target: Target, gate: &Gate) -> bool {
    gate.targets.is_empty() || gate.targets.iter().any(|need| target.satisfies(*need))
}
