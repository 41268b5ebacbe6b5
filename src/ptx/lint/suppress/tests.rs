//! What suppressions cover, and what is said of those that cover nothing.

use crate::ptx::diag::Applicability;
use crate::ptx::lint::{Directive, Options, Report, apply_fixes, lint_with};
use crate::ptx::parse::parse;

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// `BAD` stands for a statement that legality finds fault with.
fn text(rest: &str) -> String {
    HEAD.to_owned() + &rest.replace("BAD", "bar.sync 99;")
}

/// Lints with a few groups of rules: what others may find in these texts is not to the point.
fn report(rest: &str) -> Report {
    select(
        rest,
        &[
            (Directive::Select, "ISA"),
            (Directive::Select, "BAR"),
            (Directive::Select, "LINT"),
        ],
    )
}

fn select(rest: &str, source: &[(Directive, &str)]) -> Report {
    let text = text(rest);
    let mut options = Options::default();
    let source: Vec<_> = source
        .iter()
        .map(|(what, word)| (*what, word.parse().unwrap()))
        .collect();
    options.selection.apply(&source);
    lint_with(&parse(&text), &text, &options)
}

/// The lines (behind the head, from 1) and codes of what is found.
fn found(rest: &str) -> Vec<String> {
    let text = text(rest);
    let line = |at: u32| text[..at as usize].matches('\n').count() + 1 - HEAD.lines().count();
    let findings = report(rest).findings;
    findings
        .iter()
        .map(|diag| format!("{} {}", line(diag.span.start), diag.code.id))
        .collect()
}

#[test]
fn without_suppressions_everything_is_found() {
    assert_eq!(found(".entry k()\n{\nBAD\nBAD\n}\n"), ["3 ISA021", "4 ISA021"]);
}

#[test]
fn a_comment_covers_the_next_statement() {
    assert_eq!(
        found(".entry k()\n{\n// ptxgen: allow(ISA021) a reason\nBAD\nBAD\n}\n"),
        ["5 ISA021"]
    );
    assert_eq!(
        found(".entry k()\n{\n/* ptxgen: allow(barrier-id-range) */ BAD\nBAD\n}\n"),
        ["4 ISA021"]
    );
    assert_eq!(report(".entry k()\n{\n// ptxgen: allow(ISA)\nBAD\n}\n").suppressed, 1);
}

#[test]
fn comments_labels_and_line_information_do_not_come_between() {
    let text = ".entry k()\n{\n// ptxgen: allow(ISA021)\n// more\nL:\n\t.loc 1 2 3\n\tBAD\nBAD\nbra L;\n}\n";
    assert_eq!(found(text), ["8 ISA021"]);
}

#[test]
fn two_comments_in_front_of_a_statement_both_count() {
    let text = ".entry k()\n{\n// ptxgen: allow(ISA021)\n// ptxgen: allow(BAR001)\nBAD\n}\n";
    assert_eq!(found(text), ["4 LINT001"]);
}

#[test]
fn behind_a_statement_it_covers_the_line() {
    assert_eq!(
        found(".entry k()\n{\nBAD // ptxgen: allow(ISA021)\nBAD\n}\n"),
        ["4 ISA021"]
    );
    assert_eq!(
        found(".entry k()\n{\nBAD BAD // ptxgen: allow(ISA021)\nBAD\n}\n"),
        ["4 ISA021"]
    );
    assert_eq!(
        found(".entry k()\n{\nBAD bar.sync\n  99; // ptxgen: allow(ISA021)\n}\n"),
        ["3 ISA021"],
        "of a statement over several lines all is covered, and of its first line nothing else"
    );
}

#[test]
fn in_front_of_a_block_it_covers_the_block() {
    let text = ".entry k()\n{\n// ptxgen: allow(ISA021)\n{\nBAD\n{\nBAD\n}\nBAD\n}\nBAD\n}\n";
    assert_eq!(found(text), ["11 ISA021"]);
}

#[test]
fn in_front_of_a_function_it_covers_the_function() {
    let two = ".entry a()\n{\nBAD\n}\n.entry b()\n{\nBAD\n}\n";
    assert_eq!(found(&format!("// ptxgen: allow(ISA021)\n{two}")), ["8 ISA021"]);
    let head = ".entry a()\n// ptxgen: allow(ISA021)\n{\nBAD\nBAD\n}\n.entry b()\n{\nBAD\n}\n";
    assert_eq!(found(head), ["9 ISA021"], "and so it does in front of the brace");
}

#[test]
fn in_front_of_a_declaration_it_covers_the_declaration() {
    let text = "// ptxgen: allow(SYN009)\n.global .u32 a;\n.entry k()\n{\nBAD\n}\n";
    assert_eq!(found(text), ["1 LINT001", "5 ISA021"]);
}

#[test]
fn at_the_end_of_a_block_there_is_nothing_to_cover() {
    assert_eq!(
        found(".entry k()\n{\n{\nbar.sync 0;\n// ptxgen: allow(ISA021)\n}\nBAD\n}\n"),
        ["5 LINT001", "7 ISA021"]
    );
}

#[test]
fn the_file_is_covered_from_anywhere() {
    assert_eq!(
        found(".entry k()\n{\nBAD\n}\n.entry b()\n{\nBAD\n// ptxgen: allow-file(ISA021)\n}\n"),
        [""; 0]
    );
}

#[test]
fn what_cannot_be_read_suppresses_nothing() {
    let text = ".entry k()\n{\n// ptxgen: allow(barrier-id-rage)\nBAD\n// ptxgen: permit(ISA021)\nBAD\n}\n";
    assert_eq!(found(text), ["3 LINT002", "4 ISA021", "5 LINT002", "6 ISA021"]);
    let help = report(text).findings[0].help.clone();
    assert_eq!(help.as_deref(), Some("did you mean `barrier-id-range`?"));
}

#[test]
fn only_what_was_looked_for_can_be_unused() {
    let unused = |source: &[(Directive, &str)]| {
        let text = ".entry k()\n{\n// ptxgen: allow(BAR001, ISA021)\nbar.sync 0;\n}\n";
        let source = [&[(Directive::Select, "LINT")], source].concat();
        let messages = select(text, &source).findings.into_iter().map(|diag| diag.message);
        messages.collect::<Vec<_>>()
    };
    let (bar, isa) = ((Directive::Select, "BAR"), (Directive::Select, "ISA"));
    assert_eq!(unused(&[bar, isa]), ["nothing of `BAR001`, `ISA021` is found here"]);
    assert_eq!(unused(&[isa]), ["nothing of `ISA021` is found here"]);
    assert_eq!(unused(&[bar, isa, (Directive::Allow, "LINT001")]), [""; 0]);
}

#[test]
fn a_text_with_syntax_errors_is_not_judged() {
    let text = ".entry k()\n{\n// ptxgen: allow(BAR001)\nbra $nowhere;\n}\n";
    assert_eq!(found(text), ["4 SYN007"]);
}

#[test]
fn a_text_that_cannot_be_followed_is_not_judged() {
    let text = ".entry k()\n{\n// ptxgen: allow(BAR001)\nbar.sync 0;\n.reg .b64 %rd<2>;\ncall %rd1, ();\n}\n";
    assert!(
        found(text).iter().all(|found| !found.contains("LINT001")),
        "{:?}",
        found(text)
    );
}

#[test]
fn unused_ones_can_be_allowed_too() {
    let text = "// ptxgen: allow-file(LINT001) generated\n.entry k()\n{\n// ptxgen: allow(BAR001)\nret;\n}\n";
    assert_eq!(found(text), [""; 0]);
}

#[test]
fn unused_ones_are_taken_out() {
    let fixed = |rest: &str| {
        let text = text(rest);
        apply_fixes(&text, &report(rest).findings, Applicability::Safe).0[HEAD.len()..].to_owned()
    };
    assert_eq!(
        fixed(".entry k()\n{\n  // ptxgen: allow(BAR001)\nret;\n}\n"),
        ".entry k()\n{\nret;\n}\n"
    );
    assert_eq!(
        fixed(".entry k()\n{\nret; // ptxgen: allow(BAR001)\n}\n"),
        ".entry k()\n{\nret;\n}\n"
    );
    assert_eq!(
        fixed(".entry k()\n{\nBAD // ptxgen: allow(BAR001, ISA021) why\n}\n"),
        ".entry k()\n{\nbar.sync 99; // ptxgen: allow(ISA021) why\n}\n"
    );
}
