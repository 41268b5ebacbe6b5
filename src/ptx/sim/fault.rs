//! What a run finds wrong with a kernel, as data.

use crate::ptx::diag::{Code, Level};
use crate::ptx::ir::{FuncId, InstId, SymbolId};

/// An instruction of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// The function.
    pub function: FuncId,
    /// The instruction in it.
    pub inst: InstId,
}

/// A thread of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Thread {
    /// `%ctaid`.
    pub cta: [u32; 3],
    /// `%tid`.
    pub tid: [u32; 3],
}

impl std::fmt::Display for Thread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ([cx, cy, cz], [x, y, z]) = (self.cta, self.tid);
        write!(f, "thread ({x},{y},{z}) of CTA ({cx},{cy},{cz})")
    }
}

/// What an access that runs out of bounds was aimed at, as far as its address tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stray {
    /// This variable.
    Variable(SymbolId),
    /// A buffer of the launch.
    Buffer,
    /// Dynamic shared memory, whose size is the launch's.
    Dynamic,
    /// Nothing is near.
    Nowhere,
}

/// Somebody else who has to do with a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// Where it is or was, if that is known.
    pub site: Option<Site>,
    /// Which thread, if it is one.
    pub thread: Option<Thread>,
    /// What it does or did there.
    pub message: String,
}

/// One thing that is wrong, with those who take part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The rule it breaks: the same as that of the static finding of its kind.
    pub code: Code,
    /// Errors and warnings make a run fail.
    pub level: Level,
    /// One sentence.
    pub message: String,
    /// The kernel that was launched.
    pub kernel: String,
    /// The instruction.
    pub site: Site,
    /// The first thread that met it.
    pub thread: Option<Thread>,
    /// The address, in the space of the instruction.
    pub address: Option<u64>,
    /// Of an access out of bounds, what it was aimed at.
    pub stray: Option<Stray>,
    /// The other parties.
    pub others: Vec<Party>,
    /// Background, one sentence each.
    pub notes: Vec<String>,
    /// How many times it was met in this run; the report shows the first.
    pub times: u64,
}

impl Fault {
    /// A fault without other parties.
    pub fn new(code: Code, level: Level, site: Site, message: impl Into<String>) -> Self {
        Self {
            code,
            level,
            message: message.into(),
            kernel: String::new(),
            site,
            thread: None,
            address: None,
            stray: None,
            others: Vec::new(),
            notes: Vec::new(),
            times: 1,
        }
    }

    /// Says which thread it is.
    #[must_use]
    pub fn thread(mut self, thread: Thread) -> Self {
        self.thread = Some(thread);
        self
    }

    /// Says which address it is.
    #[must_use]
    pub fn address(mut self, address: u64) -> Self {
        self.address = Some(address);
        self
    }

    /// Adds a party.
    #[must_use]
    pub fn other(mut self, site: Option<Site>, thread: Option<Thread>, message: impl Into<String>) -> Self {
        self.others.push(Party {
            site,
            thread,
            message: message.into(),
        });
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// What happens, with the thread that meets it.
    pub fn sentence(&self) -> String {
        // Messages either go on from the thread ("reads 4 bytes ...") or stand on their own ("the mask ...").
        let verbs = ["reads", "writes", "accesses", "uses", "calls", "branches"];
        match self.thread.map(|thread| thread.to_string()) {
            Some(thread) if !self.message.contains(thread.as_str()) => {
                match verbs.iter().any(|verb| self.message.starts_with(verb)) {
                    true => format!("{thread} {}", self.message),
                    false => format!("{thread} meets a fault: {}", self.message),
                }
            }
            _ => self.message.clone(),
        }
    }

    /// Whether a later fault is the same over again: the same rule at the same places.
    pub fn repeats(&self, other: &Fault) -> bool {
        let sites = |fault: &Fault| fault.others.first().map(|party| party.site);
        self.code == other.code && self.site == other.site && sites(self) == sites(other)
    }
}

/// Codes of faults. The linter's rules of the same kinds have the same ones; a test holds them together.
pub mod codes {
    use crate::ptx::diag::Code;

    macro_rules! codes {
        ($($konst:ident $name:literal;)*) => {
            $(#[doc = concat!("`", $name, "`")] pub const $konst: Code = Code::new(stringify!($konst), $name);)*
            /// Every code of this module.
            pub const ALL: &[Code] = &[$($konst),*];
        };
    }

    codes! {
        BAR001 "barrier-under-divergent-branch";
        BAR002 "barriers-in-divergent-arms";
        BAR003 "barrier-with-divergent-guard";
        BAR004 "barrier-in-divergent-loop";
        BAR006 "barrier-cannot-fill";
        BAR007 "arrive-without-wait";
        BAR009 "barrier-count-not-warps";
        BAR012 "aligned-under-divergence";
        BAR013 "cluster-barrier-unpaired";
        BAR019 "false-uni";
        RUN001 "trap";
        RUN002 "assertion-failed";
        ISA020 "barrier-count-range";
        ISA021 "barrier-id-range";
        WARP001 "mask-names-absent-lanes";
        WARP002 "mask-excludes-self";
        WARP003 "shuffle-from-absent-lane";
        WARP005 "empty-mask";
        WARP008 "mask-shared-by-instructions";
        WARP011 "vote-mask";
        RACE001 "read-without-barrier";
        RACE002 "overwritten-before-read";
        RACE003 "conflicting-stores";
        RACE004 "same-value-stores";
        RACE006 "race-between-ctas";
        RACE007 "atomic-and-plain";
        RACE010 "lockstep-exchange";
        MEM002 "thread-out-of-bounds";
        MEM003 "misaligned-access";
        MEM011 "read-only-load-of-written-data";
        MEM007 "address-of-another-space";
        ISA017 "read-only-space";
        FLOW001 "uninitialised-register";
        FLOW004 "never-written-variable";
        FLOW007 "endless-loop";
        ASYNC001 "copy-not-awaited";
        ASYNC004 "copy-over-unread";
        ASYNC005 "mbarrier-before-init";
        ASYNC006 "mbarrier-arrivals";
        ASYNC007 "mbarrier-bytes";
        ASYNC008 "mbarrier-parity";
        ASYNC009 "mbarrier-object";
        ASYNC010 "missing-proxy-fence";
        ASYNC012 "async-copy-alignment";
        ASYNC013 "wgmma-order";
        ASYNC017 "tensor-memory-allocation";
        ASYNC018 "tensor-load-not-awaited";
    }
}
