//! LINT002: a comment for the linter that it cannot read.

use crate::ptx::diag::{Code, Level};
use crate::ptx::lint::rule::Rule;

/// A comment for the linter that it cannot read. It is found when suppressions are read (`lint::suppress`), not here.
pub const RULE: Rule = Rule {
    code: Code::new("LINT002", "malformed-suppression"),
    level: Level::Warning,
    summary: "A `ptxgen:` comment that cannot be read.",
    explanation: EXPLANATION,
    restates_legality: false,
    check: |_| Vec::new(),
};

const EXPLANATION: &str = "\
Finds comments that start with `ptxgen:` and are no suppression: another word than `allow` or `allow-file`, no list in
parentheses, or a code, name or group that does not exist.

Such a comment suppresses nothing, though whoever wrote it thinks that it does.

Fails:
```ptx
.version 7.0
.target sm_80
.address_size 64
.visible .entry k()
{
    // ptxgen: allow(BAR999)
    ret;
}
```
Clean:
```ptx
.version 7.0
.target sm_80
.address_size 64
// ptxgen: allow-file(LINT) the next line is for another tool
.visible .entry k()
{
    // ptxgen: region start
    ret;
}
```
Write `// ptxgen: allow(CODE, ...) reason` in front of a statement, a block or a function, or behind a statement on its line;
or `// ptxgen: allow-file(CODE, ...) reason` anywhere for the whole file. A code's name or its group does as well as the code.
";
