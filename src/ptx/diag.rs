//! Diagnostics as data: what is wrong, where, why, and what would be right.
//!
//! Nothing here prints. Reports (human, JSON, ...) are the command line's business.

use super::source::Span;
use std::fmt;

/// How sure and how bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Illegal PTX, or wrong on some execution that can be named.
    Error,
    /// Likely wrong, or wrong on a path that may not be taken.
    Warning,
    /// Legal and worth knowing.
    Info,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Info => "info",
        })
    }
}

/// The identity of a rule: a short code and a readable name; either selects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code {
    /// `BAR001`.
    pub id: &'static str,
    /// `divergent-barrier`.
    pub name: &'static str,
}

impl Code {
    /// A code with its name.
    pub const fn new(id: &'static str, name: &'static str) -> Self {
        Self { id, name }
    }
}

/// A further place that belongs to a finding, with what it contributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// Where.
    pub span: Span,
    /// What this place has to do with the finding.
    pub message: String,
}

/// How sure a repair is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Applicability {
    /// What the program does stays as it is, or was never anything else than what the repair says.
    Safe,
    /// It may change what the program does.
    Unsafe,
}

/// One replacement in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What goes; empty where something is only put in.
    pub span: Span,
    /// What comes.
    pub text: String,
}

impl Edit {
    /// Takes a part of the text out.
    pub fn remove(span: Span) -> Self {
        Self {
            span,
            text: String::new(),
        }
    }

    /// Puts text in.
    pub fn insert(at: u32, text: impl Into<String>) -> Self {
        Self {
            span: Span::new(at, at),
            text: text.into(),
        }
    }
}

/// A repair that can be made without asking: all of its edits or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// How sure it is.
    pub applicability: Applicability,
    /// In textual order, without overlaps.
    pub edits: Vec<Edit>,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diag {
    /// Which rule.
    pub code: Code,
    /// How bad.
    pub level: Level,
    /// One sentence that says what is wrong.
    pub message: String,
    /// The place to look at first.
    pub span: Span,
    /// Text shown at the place itself; empty for none.
    pub label: String,
    /// The chain of causes, nearest first.
    pub related: Vec<Related>,
    /// Assumptions and background, one sentence each.
    pub notes: Vec<String>,
    /// What to write instead.
    pub help: Option<String>,
    /// A repair, where there is one to be made without asking; `help` says it in words.
    pub fix: Option<Fix>,
}

impl Diag {
    /// A finding without causes, notes or help.
    pub fn new(code: Code, level: Level, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            level,
            message: message.into(),
            span,
            label: String::new(),
            related: Vec::new(),
            notes: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// An error.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Level::Error, span, message)
    }

    /// A warning.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Level::Warning, span, message)
    }

    /// Information.
    pub fn info(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Level::Info, span, message)
    }

    /// Sets the text at the place itself.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds a place to the chain of causes.
    #[must_use]
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Related {
            span,
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

    /// Says what would be right.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a repair that leaves what the program does as it is.
    #[must_use]
    pub fn safe_fix(mut self, edits: Vec<Edit>) -> Self {
        self.fix = Some(Fix {
            applicability: Applicability::Safe,
            edits,
        });
        self
    }

    /// Adds a repair that may change what the program does.
    #[must_use]
    pub fn unsafe_fix(mut self, edits: Vec<Edit>) -> Self {
        self.fix = Some(Fix {
            applicability: Applicability::Unsafe,
            edits,
        });
        self
    }
}

/// Codes of what parsing and legality checks report; each lint rule holds its own code beside its check.
pub mod codes {
    use super::Code;

    macro_rules! codes {
        ($($konst:ident $name:literal $doc:literal;)*) => {
            $(#[doc = $doc] pub const $konst: Code = Code::new(stringify!($konst), $name);)*
            /// Every code of this module with its one-line description, in order.
            pub const ALL: &[(Code, &str)] = &[$(($konst, $doc)),*];
        };
    }

    codes! {
        SYN001 "unexpected-token" "A token that the grammar does not allow here.";
        SYN002 "unterminated" "A comment, string or brace that never ends.";
        SYN003 "module-header" "`.version`, `.target` or `.address_size` missing, repeated or misplaced.";
        SYN004 "unknown-opcode" "An opcode that PTX does not have.";
        SYN005 "unknown-directive" "A directive or a pragma that PTX does not have.";
        SYN006 "undefined-register" "A register that is not declared in scope.";
        SYN007 "undefined-label" "A label that is not defined in the function.";
        SYN008 "undefined-symbol" "A variable, parameter or function that is not declared.";
        SYN009 "duplicate-definition" "A name that is defined twice in one scope.";
        SYN014 "prototype-mismatch" "A definition that disagrees with its earlier declaration.";
        SYN015 "call-mismatch" "A call whose arguments do not fit the callee.";
        SYN016 "entry-called" "A kernel that is called as a function.";
        SYN017 "launch-attributes" "Launch directives that conflict.";
        SYN018 "launch-limits" "Launch bounds that no device can satisfy.";
        SYN019 "unresolved-extern" "Something that is used and defined nowhere in the module.";
        ISA001 "operand-count" "Too few or too many operands.";
        ISA002 "operand-kind" "An operand of a kind that the instruction does not take here.";
        ISA003 "type-suffix" "A type suffix that is missing or not legal for the opcode.";
        ISA004 "register-class" "A register whose width or class does not fit the instruction's type.";
        ISA005 "predicate-required" "A guard or predicate operand that is not a `.pred` register.";
        ISA006 "rounding-modifier" "A rounding modifier that is missing or not allowed.";
        ISA010 "unknown-modifier" "A modifier that is unknown, repeated, clashing or not allowed here.";
        ISA011 "memory-order" "A memory ordering without its scope, or one that clashes.";
        ISA012 "state-space" "A state space that the instruction does not take.";
        ISA013 "vector-arity" "A vector operand whose length differs from the instruction's `.v2/.v4/.v8`.";
        ISA015 "immediate-range" "An immediate outside the range of its operand.";
        ISA017 "read-only-space" "A write to a space that cannot be written.";
        ISA018 "address-width" "An address register too narrow for its state space.";
        ISA019 "static-shared-limit" "More static shared memory than a CTA may have.";
        ISA022 "parameter-limit" "More bytes of kernel parameters than the version and target allow.";
        GATE001 "needs-newer-target" "An instruction or modifier that the module's `.target` does not have.";
        GATE002 "needs-newer-version" "An instruction or modifier that the module's `.version` does not have.";
        GATE003 "needs-arch-target" "An instruction that only an architecture- or family-specific target has.";
        GATE004 "version-below-target" "A `.version` that does not know the module's `.target`.";
        GATE005 "unknown-target" "A target or version that does not exist.";
        GATE006 "removed-on-target" "A form that the module's target and version no longer have.";
        GATE007 "no-32-bit-code" "Addresses of 32 bits, for which no current toolkit makes code.";
        RUN001 "trap" "A thread executes `trap`.";
        RUN002 "assertion-failed" "An assertion of the kernel does not hold.";
        RUN003 "order-dependent-result" "What a kernel computes depends on the order in which its threads run.";
        RUN004 "broken-claim" "A kernel breaks a claim of its contract.";
        DIA001 "optix-program" "Functions that OptiX provides: the module is for its compiler, not for ptxas.";
    }
}
