//! The header of a module under construction: target and version that have what is in it.

use super::error::BuildError;
use crate::ptx::needs::{Need, Needs};
use crate::ptx::target::{PtxVersion, Target};

/// The target asked for, if it has everything; else the least plain target that has, or the least at all.
///
/// # Errors
/// What the target lacks, or that no target has all of it.
pub(super) fn target(needs: &Needs, wanted: Option<Target>) -> Result<Target, BuildError> {
    if let Some(opcode) = &needs.misfit {
        let opcode = opcode.clone();
        return Err(BuildError::Opcode { opcode, problem: None });
    }
    if let Some(target) = wanted {
        return match needs.all.iter().find(|need| !need.on(target)) {
            None => Ok(target),
            Some(Need { what, gate, .. }) => Err(BuildError::Target {
                opcode: what.clone(),
                needs: gate.targets.clone(),
                target,
            }),
        };
    }
    let has_all = |target: &Target| target.assembled_by_13_5() && needs.all.iter().all(|need| need.on(*target));
    let found = Target::all().find(has_all);
    found.ok_or_else(|| BuildError::Unknown("target that has all the instructions used".to_owned()))
}

/// The version asked for, if it has everything; else the least one that does.
///
/// # Errors
/// What the version lacks, or that there is none of that number.
pub(super) fn version(needs: &Needs, target: Target, wanted: Option<PtxVersion>) -> Result<PtxVersion, BuildError> {
    let Some(least) = target.min_ptx() else {
        return Err(BuildError::Unknown(format!("target {target}")));
    };
    let gates = needs
        .all
        .iter()
        .filter_map(|need| Some((format!("`{}`", need.what), need.gate.ptx?)));
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
