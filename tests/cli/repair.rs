//! `lint --fix` and `lint --baseline`.

use crate::controls::Folder;
use crate::run::{err, out, ptxgen_reading, status, transcript};

/// Three findings, of which two can be repaired.
const TEXT: &str = "\
.version 7.0
.target sm_80
.address_size 64
.entry k()
{
\t.reg .pred %p<2>;
\t.reg .b32 %r<2>;
\tmov.u32 %r1, %tid.x; // ptxgen: allow(BAR001)
\tsetp.gt.u32 %p1, %r1, 5;
\t@%p1 bra.uni DONE;
\tmembar.cta;
DONE:
\tbar.sync 99;
\tret;
}
";

#[test]
fn sure_repairs_are_made_and_the_rest_is_reported() {
    let folder = Folder::new(&[("k.ptx", TEXT)]);
    insta::assert_snapshot!(transcript(&folder.run(&["lint", "--diff", "k.ptx"])), @"
    status: 1
    --- stdout
    --- k.ptx
    +++ k.ptx
    @@ -5,9 +5,9 @@
     {
     	.reg .pred %p<2>;
     	.reg .b32 %r<2>;
    -	mov.u32 %r1, %tid.x; // ptxgen: allow(BAR001)
    +	mov.u32 %r1, %tid.x;
     	setp.gt.u32 %p1, %r1, 5;
    -	@%p1 bra.uni DONE;
    +	@%p1 bra DONE;
     	membar.cta;
     DONE:
     	bar.sync 99;
    --- stderr
    ");
    assert_eq!(folder.read("k.ptx"), TEXT);
    let output = folder.run(&["lint", "--fix", "--format", "short", "k.ptx"]);
    insta::assert_snapshot!(transcript(&output), @"
    status: 1
    --- stdout
    k.ptx:13:2: error[ISA021 barrier-id-range]: barrier 99 does not exist: a CTA has the barriers 0 to 15
    --- stderr
    1 error in 1 kernel of 1 file; 2 repaired
    ");
    assert_eq!(
        folder.read("k.ptx"),
        TEXT.replace(" // ptxgen: allow(BAR001)", "").replace("bra.uni", "bra")
    );
    let again = folder.run(&["lint", "--diff", "k.ptx"]);
    assert_eq!((status(&again), out(&again).as_str()), (0, ""));
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        1,
        "no temporary file is left"
    );
}

#[test]
fn a_repair_may_make_room_for_the_analysis() {
    let text = ".version 7.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 a)\n{\n\t.reg .b64 %rd<2>;\n\
                \t.reg .b32 %r<2>;\n\tld.param.u64 %rd1, [a];\n\tld.global.u32 %r1, [%rd1-4];\n\tst.global.u32 [%rd1 - 8], %r1;\n\tret;\n}\n";
    let folder = Folder::new(&[("k.ptx", text)]);
    let output = folder.run(&["lint", "--fix", "k.ptx"]);
    assert_eq!((status(&output), out(&output).as_str()), (0, ""), "{}", err(&output));
    assert_eq!(
        folder.read("k.ptx"),
        text.replace("1-4", "1+-4").replace("1 - 8", "1 +- 8")
    );
}

#[test]
fn standard_input_comes_out_repaired() {
    let output = ptxgen_reading(&["lint", "--fix", "--format", "short", "-"], TEXT.as_bytes());
    assert_eq!(status(&output), 1);
    assert!(out(&output).contains("@%p1 bra DONE;") && !out(&output).contains("error"));
    assert!(err(&output).contains("<stdin>:13:2: error[ISA021"), "{}", err(&output));
}

#[test]
fn bytes_that_are_no_text_are_not_lost() {
    let folder = Folder::new(&[]);
    let mut bytes = TEXT.replace("%tid.x; //", "%tid.x; // \u{1}").into_bytes();
    let at = bytes.iter().position(|byte| *byte == 1).unwrap();
    bytes[at] = 0xe9;
    let path = folder.path().join("k.ptx");
    std::fs::write(&path, &bytes).unwrap();
    let output = folder.run(&["lint", "--fix", "k.ptx"]);
    assert_eq!(status(&output), 2);
    assert!(
        err(&output).contains("k.ptx: error: not repaired: it holds bytes"),
        "{}",
        err(&output)
    );
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    // A mark in front is text, and stays.
    std::fs::write(&path, format!("\u{feff}{TEXT}")).unwrap();
    folder.run(&["lint", "--fix", "k.ptx"]);
    assert!(folder.read("k.ptx").starts_with("\u{feff}.version") && folder.read("k.ptx").contains("bra DONE"));
}

#[test]
fn a_listing_is_not_repaired() {
    let folder = Folder::new(&[("k.ptx", &format!("Fatbin ptx code:\n================\n\n{TEXT}"))]);
    let before = folder.read("k.ptx");
    let output = folder.run(&["lint", "--fix", "k.ptx"]);
    assert_eq!(status(&output), 2);
    assert!(
        err(&output).contains("k.ptx: error: is a listing, and not repaired"),
        "{}",
        err(&output)
    );
    assert_eq!(folder.read("k.ptx"), before);
    assert!(
        out(&folder.run(&["lint", "k.ptx"])).contains("k.ptx:13:2"),
        "{}",
        out(&folder.run(&["lint", "k.ptx"]))
    );
}

#[test]
fn unsafe_repairs_need_a_mode() {
    let folder = Folder::new(&[("k.ptx", TEXT)]);
    for args in [
        &["lint", "--unsafe-fixes", "k.ptx"][..],
        &["lint", "--fix", "--diff", "k.ptx"],
        &["lint", "--fix", "--write-baseline", "k.ptx"],
    ] {
        assert_eq!(status(&folder.run(args)), 2, "{args:?}");
    }
    assert_eq!(status(&folder.run(&["lint", "--fix", "--unsafe-fixes", "k.ptx"])), 1);
}

#[test]
fn only_what_is_new_is_reported_over_a_baseline() {
    let folder = Folder::new(&[("src/k.ptx", TEXT), ("src/other.ptx", TEXT)]);
    let written = folder.run(&["lint", "--baseline", "known.json", "--write-baseline", "src"]);
    assert_eq!(
        (status(&written), err(&written).as_str()),
        (0, "known.json: 6 known findings\n")
    );
    insta::assert_snapshot!(transcript(&folder.run(&["lint", "--baseline", "known.json", "src"])), @"
    status: 0
    --- stdout
    --- stderr
    no findings in 2 kernels of 2 files; 6 known
    ");
    // Lines move, registers are numbered anew, and one fault comes twice.
    let moved = TEXT.replace("{\n", "{\n// moved\n\n").replace("%p1", "%p0");
    folder.write(
        "src/k.ptx",
        &moved.replace("\tbar.sync 99;\n", "\tbar.sync 99;\n\tbar.sync 99;\n"),
    );
    let output = folder.run(&["lint", "--baseline", "known.json", "--format", "short", "src"]);
    insta::assert_snapshot!(transcript(&output), @"
    status: 1
    --- stdout
    src/k.ptx:16:2: error[ISA021 barrier-id-range]: barrier 99 does not exist: a CTA has the barriers 0 to 15
    --- stderr
    1 error in 2 kernels of 2 files; 6 known
    ");
    // A run over some of the files leaves what is known of the others.
    folder.run(&["lint", "--baseline", "known.json", "--write-baseline", "src/k.ptx"]);
    assert_eq!(status(&folder.run(&["lint", "--baseline", "known.json", "src"])), 0);
}

#[test]
fn a_baseline_may_stand_in_the_configuration_and_is_found_from_anywhere() {
    let folder = Folder::new(&[("src/k.ptx", TEXT), ("ptxgen.yaml", "lint:\n  baseline: known.json\n")]);
    assert_eq!(status(&folder.run(&["lint", "--write-baseline", "src"])), 0);
    assert!(folder.read("known.json").contains("\"file\": \"src/k.ptx\""));
    let inside = crate::run::command(&["lint", "k.ptx"])
        .current_dir(folder.path().join("src"))
        .output()
        .unwrap();
    assert_eq!(status(&inside), 0, "{}", err(&inside));
}

#[test]
fn kernels_that_are_not_analysed_can_be_known() {
    let text = ".version 7.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n\tfrobnicate.u32;\n\tret;\n}\n";
    let folder = Folder::new(&[("k.ptx", text)]);
    assert_eq!(status(&folder.run(&["lint", "--ignore", "ALL", "k.ptx"])), 1);
    folder.run(&["lint", "--baseline", "known.json", "--write-baseline", "k.ptx"]);
    let output = folder.run(&["lint", "--baseline", "known.json", "k.ptx"]);
    assert_eq!(status(&output), 0);
    assert!(err(&output).contains("1 known not to be analysed"), "{}", err(&output));
}

#[test]
fn a_baseline_that_is_none_is_an_error() {
    let folder = Folder::new(&[
        ("k.ptx", TEXT),
        ("a.json", "{}"),
        ("b.json", "{\"baseline\": 9, \"findings\": []}"),
    ]);
    for (baseline, message) in [
        (
            "none.json",
            "none.json: error: no such baseline; --write-baseline writes it",
        ),
        ("a.json", "a.json: error: is no baseline"),
        ("b.json", "version 9"),
    ] {
        let output = folder.run(&["lint", "--baseline", baseline, "k.ptx"]);
        assert_eq!(status(&output), 2);
        assert!(err(&output).contains(message), "{}", err(&output));
    }
    assert_eq!(status(&folder.run(&["lint", "--write-baseline", "k.ptx"])), 2);
}
