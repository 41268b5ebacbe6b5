//! What trial runs have shown of one kernel, told of another that is the same but for names.

use super::between::Between;
use super::trials::{Faulty, Race, Tried};
use crate::ptx::analysis::Renaming;
use crate::ptx::analysis::trial::{Clobber, Conflict, Fault, FaultKind, Site};
use crate::ptx::ir::FuncId;

impl Tried {
    /// Nothing has been found.
    pub(super) fn nothing(function: FuncId) -> Self {
        Self {
            function,
            races: Vec::new(),
            faults: Vec::new(),
            clobbers: Vec::new(),
            read_only: Vec::new(),
            assumed: false,
            between: None,
            assumes: None,
            flag: None,
            gathers: Vec::new(),
            calm: Vec::new(),
            unclear: None,
        }
    }

    /// It was not run.
    pub(super) fn untried(function: FuncId) -> Self {
        let why =
            "the module is so large that trial runs of its other kernels have used up the steps allowed; lint it alone";
        Self {
            unclear: Some((None, why.to_owned())),
            ..Self::nothing(function)
        }
    }

    /// The same of the kernel that stands in this one's place.
    pub(super) fn renamed(&self, by: &Renaming) -> Self {
        let both = |(a, b): &(Site, Site)| (site(*a, by), site(*b, by));
        Self {
            function: by.function(self.function),
            races: self.races.iter().map(|race| self::race(race, by)).collect(),
            faults: self.faults.iter().map(|faulty| self::faulty(faulty, by)).collect(),
            clobbers: self.clobbers.iter().map(|found| clobber(*found, by)).collect(),
            read_only: self.read_only.iter().map(both).collect(),
            assumed: self.assumed,
            between: self.between.map(|between| Between {
                store: site(between.store, by),
                other: site(between.other, by),
                ..between
            }),
            assumes: self.assumes.map(|(block, found)| (block, conflict(&found, by))),
            flag: self.flag,
            gathers: self.gathers.clone(),
            calm: self.calm.clone(),
            unclear: self.unclear.clone().map(|(at, why)| (at.map(|at| site(at, by)), why)),
        }
    }
}

fn site(known: Site, by: &Renaming) -> Site {
    Site {
        function: by.function(known.function),
        inst: known.inst,
    }
}

fn conflict(known: &Conflict, by: &Renaming) -> Conflict {
    Conflict {
        first: site(known.first, by),
        second: site(known.second, by),
        object: known.object.map(|(symbol, offset)| (by.symbol(symbol), offset)),
        ..*known
    }
}

fn race(known: &Race, by: &Renaming) -> Race {
    Race {
        conflict: conflict(&known.conflict, by),
        others: known.others.iter().map(|other| conflict(other, by)).collect(),
        ..known.clone()
    }
}

fn faulty(known: &Faulty, by: &Renaming) -> Faulty {
    let mut kind = known.fault.kind;
    match &mut kind {
        FaultKind::OutOfBounds { symbol, .. }
        | FaultKind::Misaligned { symbol, .. }
        | FaultKind::Underaligned { symbol, .. }
        | FaultKind::NotGeneric { symbol }
        | FaultKind::NotGlobal { symbol } => *symbol = by.symbol(*symbol),
        FaultKind::RawShared { .. } | FaultKind::Generic { .. } => {}
    }
    Faulty {
        fault: Fault {
            site: site(known.fault.site, by),
            kind,
            ..known.fault
        },
        ..known.clone()
    }
}

fn clobber(known: Clobber, by: &Renaming) -> Clobber {
    Clobber {
        array: site(known.array, by),
        slot: site(known.slot, by),
        load: site(known.load, by),
    }
}
