//! `ptxgen fmt`.

use crate::run::{err, out, ptxgen, ptxgen_reading, status, transcript};
use std::fs;

const MESSY: &str = ".version 8.0\n.target   sm_80\n.entry k( ) { // here\nret ; }\n";
const TIDY: &str = ".version 8.0\n.target sm_80\n\n.entry k()\n{ // here\n\tret;\n}\n";

#[test]
fn standard_input_goes_to_standard_output() {
    let output = ptxgen_reading(&["fmt", "-"], MESSY.as_bytes());
    assert_eq!((status(&output), out(&output).as_str()), (0, TIDY));
    let again = ptxgen_reading(&["fmt", "-"], TIDY.as_bytes());
    assert_eq!(out(&again), TIDY);
}

#[test]
fn a_file_is_rewritten_unless_it_is_only_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ptx");
    let name = path.to_str().unwrap();
    fs::write(&path, MESSY).unwrap();
    for look in ["--check", "--diff"] {
        assert_eq!(status(&ptxgen(&["fmt", look, name])), 1);
        assert_eq!(fs::read_to_string(&path).unwrap(), MESSY);
    }
    assert_eq!(status(&ptxgen(&["fmt", name])), 0);
    assert_eq!(fs::read_to_string(&path).unwrap(), TIDY);
    for look in ["--check", "--diff"] {
        let output = ptxgen(&["fmt", look, name]);
        assert_eq!(
            (status(&output), out(&output).as_str(), err(&output).as_str()),
            (0, "", "")
        );
    }
}

#[test]
fn the_difference_is_a_unified_diff() {
    insta::assert_snapshot!(transcript(&ptxgen_reading(&["fmt", "--diff", "--check", "-"], MESSY.as_bytes())), @r"
    status: 1
    --- stdout
    --- <stdin>
    +++ <stdin>
    @@ -1,4 +1,7 @@
     .version 8.0
    -.target   sm_80
    -.entry k( ) { // here
    -ret ; }
    +.target sm_80
    +
    +.entry k()
    +{ // here
    +	ret;
    +}
    --- stderr
    <stdin> would change
    ");
}

#[test]
fn a_text_with_errors_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ptx");
    fs::write(&path, ".version 8.0\n.target sm_80\n.entry k() { ret }").unwrap();
    let output = ptxgen(&["fmt", path.to_str().unwrap()]);
    assert_eq!((status(&output), out(&output).as_str()), (2, ""));
    assert!(
        err(&output).contains("k.ptx: error: not formatted: 3:18: expected"),
        "{}",
        err(&output)
    );
}

#[test]
fn parts_of_modules_need_no_header() {
    let output = ptxgen_reading(&["fmt", "-"], b"@%p1   add.s32 %r1,%r2,%r3;\nbra elsewhere ;");
    assert_eq!(
        (status(&output), out(&output).as_str()),
        (0, "@%p1 add.s32 %r1, %r2, %r3;\nbra elsewhere;\n")
    );
    let output = ptxgen_reading(&["fmt", "-"], b".visible .func f( .reg .b32 a ) { ret; }");
    assert_eq!(
        (status(&output), out(&output).as_str()),
        (0, ".visible .func f(.reg .b32 a)\n{\n\tret;\n}\n")
    );
    // Nobody knows `newop`, so it takes a word of the user's to believe that this is PTX.
    let unknown = b"newop.s32   %r1;";
    assert_eq!(status(&ptxgen_reading(&["fmt", "-"], unknown)), 2);
    let output = ptxgen_reading(&["fmt", "--target", "sm_90", "-"], unknown);
    assert_eq!((status(&output), out(&output).as_str()), (0, "newop.s32 %r1;\n"));
}

#[test]
fn what_is_no_ptx_is_left_alone() {
    for text in [
        &b"int a;\nint b;\n"[..],
        b"a: b;\n",
        b"#include <a.h>\n.version 8.0\n",
        b"<xml/>",
        b".version 8.0\n.target sm_80\n// \xe9t\xe9\n",
    ] {
        let output = ptxgen_reading(&["fmt", "-"], text);
        assert_eq!((status(&output), out(&output).as_str()), (2, ""), "{}", err(&output));
    }
}

#[test]
fn listings_are_formatted_module_by_module() {
    let listing = "\nFatbin ptx code:\n================\narch = sm_80\n\n.version 8.0\n.target sm_80\n.entry k() { ret; }\n\
                   \nFatbin ptx code:\n================\narch = sm_90\n\n.version 8.0\n.target sm_90\n.entry k() { ret }\n";
    let output = ptxgen_reading(&["fmt", "-"], listing.as_bytes());
    assert_eq!((status(&output), out(&output).as_str()), (2, ""));
    assert!(
        err(&output).contains("not formatted: 16:18: expected"),
        "{}",
        err(&output)
    );
    let listing = listing.replace("ret }", "ret; }");
    let output = ptxgen_reading(&["fmt", "-"], listing.as_bytes());
    assert_eq!(status(&output), 0, "{}", err(&output));
    assert_eq!(out(&output).matches("\tret;\n").count(), 2);
    assert_eq!(out(&output).matches("Fatbin ptx code:").count(), 2);
    let again = ptxgen_reading(&["fmt", "--check", "-"], out(&output).as_bytes());
    assert_eq!(status(&again), 0, "{}", out(&output));
}
