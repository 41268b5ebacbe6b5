//! PTX as it is met: listings, fragments, parts of programs, other compilers' modules, old modules.

use super::run::{command, err, out, ptxgen, status, transcript};
use std::fs;
use std::path::Path;

fn fixture(name: &str) -> String {
    format!("tests/fixtures/dialects/{name}.ptx")
}

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture(name))).unwrap()
}

/// What `lint` says in short, and its status.
fn lint(args: &[&str], name: &str) -> String {
    let fixture = fixture(name);
    let args = [&["lint", "--format", "short"][..], args, &[&fixture]].concat();
    let output = ptxgen(&args);
    let short = out(&output).replace("tests/fixtures/dialects/", "");
    format!("{short}status {}: {}", status(&output), err(&output))
}

#[test]
fn every_module_of_a_listing_is_linted_in_its_place() {
    insta::assert_snapshot!(lint(&[], "listing"), @"
    listing.ptx:44:2: info[BAR013 cluster-barrier-unpaired]: the thread arrives at the cluster's barrier and never waits there
    listing.ptx:44:2: info[BAR014 cluster-not-stated]: `barrier.cluster.arrive` works on the cluster, which only the launch can state here
    listing.ptx:45:6: error[SYN007 undefined-label]: `$nowhere` is no label of this function
    status 1: not analysed: second (tests/fixtures/dialects/listing.ptx:42:17): branch to `$nowhere`, which is not defined at line 45
    1 error, 2 infos in 2 kernels of 2 modules in 1 file
    ");
    let whole = ptxgen(&["lint", &fixture("listing")]);
    insta::assert_snapshot!(transcript(&whole), @"
    status: 1
    --- stdout
    info[BAR013 cluster-barrier-unpaired]: the thread arrives at the cluster's barrier and never waits there
      --> tests/fixtures/dialects/listing.ptx:44:2
       |
    44 |     barrier.cluster.arrive;
       |     ^^^^^^^^^^^^^^^^^^^^^^
       |
       = help: add `barrier.cluster.wait`

    info[BAR014 cluster-not-stated]: `barrier.cluster.arrive` works on the cluster, which only the launch can state here
      --> tests/fixtures/dialects/listing.ptx:44:2
       |
    44 |     barrier.cluster.arrive;
       |     ^^^^^^^^^^^^^^^^^^^^^^
       |
       = help: state the cluster with `.reqnctapercluster`

    error[SYN007 undefined-label]: `$nowhere` is no label of this function
      --> tests/fixtures/dialects/listing.ptx:45:6
       |
    45 |     bra $nowhere;
       |         ^^^^^^^^

    --- stderr
    not analysed: second (tests/fixtures/dialects/listing.ptx:42:17): branch to `$nowhere`, which is not defined at line 45
    1 error, 2 infos in 2 kernels of 2 modules in 1 file
    ");
}

#[test]
fn a_program_for_optix_gets_one_information() {
    insta::assert_snapshot!(lint(&[], "optix"), @"
    optix.ptx:8:14: info[DIA001 optix-program]: `_optix_get_launch_index_x` and 2 other functions come with OptiX: this is a program for its compiler
    status 0: 1 info in 1 kernel of 1 file
    ");
    insta::assert_snapshot!(lint(&[], "optix_name"), @"
    optix_name.ptx:5:17: info[DIA001 optix-program]: `__miss__nothing` is a program for OptiX, which calls it: nobody launches it
    status 0: 1 info in 1 kernel of 1 file
    ");
}

#[test]
fn open_externs_are_for_the_linker() {
    insta::assert_snapshot!(lint(&[], "relocatable"), @"
    relocatable.ptx:5:36: error[SYN019 unresolved-extern]: `elsewhere` is used, and defined nowhere in this module
    relocatable.ptx:8:31: warning[SYN019 unresolved-extern]: `counter` is defined nowhere in this module, so it gets a variable of its own
    relocatable.ptx:9:30: error[SYN019 unresolved-extern]: `table` is defined nowhere in this module
    status 1: 2 errors, 1 warning in 1 kernel of 1 file
    ");
    insta::assert_snapshot!(lint(&["--relocatable"], "relocatable"), @"status 0: no findings in 1 kernel of 1 file");
    insta::assert_snapshot!(lint(&["--relocatable"], "declared_only"), @"
    declared_only.ptx:5:7: error[SYN008 undefined-symbol]: `forgotten` is declared, and defined nowhere in this module
    status 1: 1 error in 1 kernel of 1 file
    ");
    insta::assert_snapshot!(lint(&["--relocatable"], "wide_unstated"), @"
    wide_unstated.ptx:1:2: error[GATE002 needs-newer-version]: relocatable code needs PTX 3.1; this module says 1.4
    status 1: 1 error in 1 kernel of 1 file
    ");
}

#[test]
fn fragments_are_read_for_a_target() {
    insta::assert_snapshot!(lint(&[], "fragment_function"), @"
    fragment_function.ptx:1:1: error[SYN003 module-header]: the module does not start with `.version`
    status 1: 1 error in 0 kernels of 1 file
    ");
    insta::assert_snapshot!(lint(&["--target", "sm_80"], "fragment_function"), @"status 0: no findings in 0 kernels of 1 file");
    insta::assert_snapshot!(lint(&["--target", "sm_80", "--ptx", "7.0"], "fragment_bare"), @"
    fragment_bare.ptx:6:22: error[SYN006 undefined-register]: the register `%undeclared` is not declared
    status 1: 1 error in 1 kernel of 1 file
    ");
    insta::assert_snapshot!(lint(&["--target", "sm_20", "--ptx", "3.1"], "fragment_bare"), @"
    fragment_bare.ptx:4:2: error[GATE001 needs-newer-target]: `shfl.sync.up.b32` needs target sm_30 or newer; this module says sm_20
    fragment_bare.ptx:6:22: error[SYN006 undefined-register]: the register `%undeclared` is not declared
    status 1: 2 errors in 1 kernel of 1 file
    ");
    insta::assert_snapshot!(lint(&[], "fragment_bare"), @"status 2: tests/fixtures/dialects/fragment_bare.ptx: error: no PTX in it: a module starts with `.version` and `.target`; for a part of one, say `--target sm_80`");
    let output = ptxgen(&["lint", "--target", "sm_80", "--ptx", "8.9", "x.ptx"]);
    insta::assert_snapshot!(err(&output), @"
    error: invalid value '8.9' for '--ptx <X.Y>': there is no PTX version 8.9; the nearest is 8.8

    For more information, try '--help'.
    ");
}

#[test]
fn a_header_that_is_there_wins() {
    assert_eq!(lint(&["--target", "sm_20"], "inline_asm"), lint(&[], "inline_asm"));
}

#[test]
fn modules_of_32_bits_are_read_and_refused() {
    insta::assert_snapshot!(lint(&[], "narrow"), @"
    narrow.ptx:3:1: error[GATE007 no-32-bit-code]: the addresses of this module have 32 bits, and ptxas 13.5 makes code for 64 bits only
    status 1: 1 error in 1 kernel of 1 file
    ");
    insta::assert_snapshot!(lint(&[], "narrow_unstated"), @"
    narrow_unstated.ptx:7:2: error[GATE007 no-32-bit-code]: this address has 32 bits, and ptxas 13.5 makes code for 64 bits only
    status 1: 1 error in 1 kernel of 1 file
    ");
    insta::assert_snapshot!(lint(&[], "wide_unstated"), @"status 0: no findings in 1 kernel of 1 file");
}

#[test]
fn unknown_versions_and_targets_are_answered_with_the_nearest() {
    let output = ptxgen(&["lint", &fixture("unknown_version")]);
    insta::assert_snapshot!(out(&output), @"
    error[GATE005 unknown-target]: there is no PTX version 8.9
     --> tests/fixtures/dialects/unknown_version.ptx:1:1
      |
    1 | .version 8.9
      | ^^^^^^^^^^^^
      |
      = help: the nearest is 8.8; the newest known is 9.5

    error[GATE005 unknown-target]: unknown target `sm_91`; the nearest is `sm_90`
     --> tests/fixtures/dialects/unknown_version.ptx:2:1
      |
    2 | .target sm_91
      | ^^^^^^^^^^^^^
    ");
}

#[test]
fn line_ends_marks_and_comments_of_inline_assembly_change_nothing() {
    let text = read("inline_asm");
    let clean = lint(&[], "inline_asm");
    assert!(clean.starts_with("status 0"), "{clean}");
    let folder = tempfile::tempdir().unwrap();
    let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    fs::write(folder.path().join("in.ptx"), windows).unwrap();
    let run = |args: &[&str]| command(args).current_dir(folder.path()).output().unwrap();
    assert_eq!(status(&run(&["lint", "in.ptx"])), 0);
    assert_eq!(status(&run(&["targets", "in.ptx"])), 0);
    let marked = text.replace("elect.sync _|p", "elect.sync _|q").replace('\n', "\r\n");
    fs::write(folder.path().join("in.ptx"), marked).unwrap();
    let output = run(&["lint", "--format", "short", "in.ptx"]);
    assert!(out(&output).starts_with("in.ptx:20:"), "{}", out(&output));
}
