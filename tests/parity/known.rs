//! The differences that are known, with their reasons: a class is recognised by what one side says and the other does not.

use super::score::Difference;

/// A class of differences.
pub struct Class {
    /// Its title in the report.
    pub title: &'static str,
    /// Which side rejects.
    side: Side,
    /// Parts of the complaint (after the code of ours), one of which must occur.
    says: &'static [&'static str],
    /// Parts of the changed text or its origin, one of which must occur; empty for any.
    about: &'static [&'static str],
    /// Why the difference is there.
    pub reason: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Ptxgen,
    Ptxas,
}

use Side::{Ptxas, Ptxgen};

const fn class(
    title: &'static str,
    side: Side,
    says: &'static [&'static str],
    about: &'static [&'static str],
    reason: &'static str,
) -> Class {
    Class {
        title,
        side,
        says,
        about,
        reason,
    }
}

impl Class {
    fn holds(&self, one: &Difference) -> bool {
        let complaint = match self.side {
            Ptxgen => one.ours.as_deref(),
            Ptxas => one.theirs.as_deref().filter(|_| one.ours.is_none()),
        };
        let text = format!("{} {}", one.text, one.origin);
        let among = |parts: &[&str], whole: &str| parts.is_empty() || parts.iter().any(|part| whole.contains(part));
        complaint.is_some_and(|complaint| among(self.says, complaint)) && among(self.about, &text)
    }
}

/// The class of a difference, if it is known.
pub fn classify(one: &Difference) -> Option<&'static Class> {
    KNOWN.iter().find(|class| class.holds(one))
}

const KNOWN: &[Class] = &[
    class(
        "Brackets that ptxas does not look at",
        Ptxgen,
        &["takes an address in brackets here"],
        &[],
        "In several copies and reductions ptxas takes anything where a bracket must stand, numbers and predicates among them. \
         Nothing sensible can be meant, so it stays an error here.",
    ),
    class(
        "Sparse metadata and scale factors in anything",
        Ptxgen,
        &[
            "takes a register here",
            "takes a register without `!`",
            "is `.pred`",
            "is `.f32`",
            "takes a vector of",
        ],
        &["mma"],
        "Where a matrix instruction wants 32 bits of metadata or scale factors, or a fragment of a sparse one, ptxas takes \
         predicates, floating-point constants and vectors too. The manual wants a `.b32` register.",
    ),
    class(
        "Narrow destinations and sources of other classes",
        Ptxgen,
        &["ISA004", "ISA005"],
        &[],
        "Single instructions in which ptxas takes a register that the rules for its type exclude. The table follows the rule, \
         which the manual states, rather than the single case.",
    ),
    class(
        "Remote stores without their barrier",
        Ptxgen,
        &["operands here, not"],
        &["async", "st.", "red."],
        "ptxas lets the mbarrier of `st.async` and `red.async` go although `.mbarrier::complete_tx::bytes` names one; the manual \
         requires it.",
    ),
    class(
        "Constants and sinks in odd places",
        Ptxgen,
        &["is no constant", "ISA002", "ISA013", "ISA015"],
        &[],
        "`WARP_SZ` as a predicate, `_` for an operand, a brace around a single register, a constant beyond the range of a \
         predicate: ptxas takes them in a few instructions. No compiler writes them.",
    ),
    class(
        "Gates that ptxas does not ask for",
        Ptxgen,
        &["GATE0"],
        &[],
        "ptxas takes the form below the version or the target that the manual names for it. A driver of that age would not.",
    ),
    class(
        "Modifiers without meaning",
        Ptxgen,
        &[
            "does not take",
            "lacks",
            "one too many",
            "ISA010",
            "ISA003",
            "ISA006",
            "ISA011",
        ],
        &[],
        "ptxas ignores a modifier that the instruction does not have, or does without one that the manual requires. Modifiers that \
         it ignores everywhere are warnings here; these it ignores in single instructions only.",
    ),
    class(
        "Narrow addresses",
        Ptxgen,
        &["ISA018"],
        &[],
        "A 32-bit (or narrower) register as a generic or global address. ptxas extends it in some instructions and refuses the \
         module in others; the address is wrong either way.",
    ),
    class(
        "Spaces that ptxas does not compare",
        Ptxgen,
        &["ISA012"],
        &[],
        "The variable lives in another space than the instruction names, and ptxas does not compare them there.",
    ),
    class(
        "Grammar of operands",
        Ptxgen,
        &["SYN0"],
        &[],
        "`!` in front of a constant, and registers at module scope in old versions: ptxas has a place for them in its grammar.",
    ),
    class(
        "`_` where code generation needs a register",
        Ptxas,
        &[
            "Result discard mode",
            "Sink",
            "Predicate output",
            "Parsing error near '_'",
        ],
        &[],
        "Whether a result may be thrown away depends on how the instruction is expanded: `_` passes in most fragments and pairs and \
         fails in a few. The table knows it per kind of operand, not per instruction.",
    ),
    class(
        "Lengths of vectors that other modifiers decide",
        Ptxas,
        &[
            "vector size",
            "Vector type too large",
            "vector expected",
            "Operand vector",
            "Vector expected",
        ],
        &[],
        "Some vectors follow from geometry and type \
         together; the table leaves those lengths open.",
    ),
    class(
        "Words of the name in another order",
        Ptxas,
        &[
            "Unknown modifier",
            "Not a name",
            "Illegal modifier",
            "Multiple ",
            "modifier required",
            "modifiers specified",
            "operation is required",
            "too many",
        ],
        &[],
        "ptxas takes modifiers in any order but wants some of them at a fixed place (`bar.cta.sync`), or only beside others. The table \
         takes them in any order.",
    ),
    class(
        "Gates of combinations",
        Ptxas,
        &[
            "requires PTX ISA",
            "Deprecated feature",
            "requires '",
            "requires .target",
            "not supported on .target",
            "requires modifier",
            "cannot be combined",
            "not supported for",
        ],
        &[],
        "A combination of modifiers or an operand came later than each of its parts, or exists on fewer GPUs; the table gates \
         forms and single modifiers.",
    ),
    class(
        "Ranges that follow from other operands",
        Ptxas,
        &[
            "expected to be",
            "must be less than",
            "out of range",
            "in multiple of",
            "non-zero",
            "exceeds",
        ],
        &[],
        "The allowed constants depend on another operand or modifier (field of `tensormap.replace`, size of `cp.async`).",
    ),
    class(
        "Spaces of variables in generic instructions",
        Ptxas,
        &[
            "State space mismatch",
            "State space incorrect",
            "Illegal state space for address",
            "address operand",
            "Non-generic",
            "32-bit address",
        ],
        &[],
        "The variable's address stands where the space is not named by the instruction but implied.",
    ),
    class(
        "Special registers and symbols as values",
        Ptxas,
        &[
            "Special register",
            "must be register",
            "texref",
            "samplerref",
            "surfref",
        ],
        &[],
        "Which instructions read special registers or addresses of variables directly is known per operand, with a few exceptions.",
    ),
    class(
        "Classes of registers in single instructions",
        Ptxas,
        &[
            "Incompatible elements",
            "Arguments mismatch",
            "instruction types",
            "Incorrect type",
            "does not apply",
            "Incorrect video",
            "Floating-point coordinates",
        ],
        &[],
        "Mostly `.f16x2` registers: ptxas takes them as 32-bit integers in some instructions and not in others. The rest are types \
         and modifiers that exclude each other in one form only.",
    ),
    class(
        "Modules as a whole",
        Ptxas,
        &[
            "state space",
            "State space",
            "Module-scoped",
            ".common",
            "parameter",
            "initial value",
            "Initializer",
            "initial",
            "label",
            "Label",
            "declar",
            "defin",
            "Duplicate",
            "Parsing error",
            "alignment",
            "Alignment",
        ],
        &[],
        "Rules about declarations, parameters and initialisers that legality checks do not cover yet.",
    ),
    class(
        "Expansion and code generation",
        Ptxas,
        &[
            "fatal",
            "rror",
            "crashes",
            "too much",
            "allocation",
            "nternal",
            "register",
            "constant expression",
        ],
        &[],
        "Complaints of later stages of ptxas, which depend on how it expands or assembles an instruction.",
    ),
];
