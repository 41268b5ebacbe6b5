//! Which rules report, on which files: flags, configuration, suppressions, folders and patterns.

use crate::run::{command, err, out, ptxgen, ptxgen_reading, status, transcript};
use std::fs;
use std::path::Path;
use std::process::Output;

/// One warning (BAR019), on line 11.
const UNI: &str = "\
.version 7.0
.target sm_80
.address_size 64
.entry uni()
{
\t.reg .pred %p<2>;
\t.reg .b32 %r<2>;
\tmov.u32 %r1, %tid.x;
\tsetp.gt.u32 %p1, %r1, 5;
\t// a comment
\t@%p1 bra.uni DONE;
\tmembar.cta;
DONE:
\tret;
}
";
/// One error (ISA021).
const ILLEGAL: &str = ".version 7.0\n.target sm_80\n.address_size 64\n.entry illegal()\n{\n\tbar.sync 99;\n\tret;\n}\n";

/// A folder with files, in which the program is run.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    pub fn run(&self, args: &[&str]) -> Output {
        command(args).current_dir(self.path()).output().unwrap()
    }

    /// `FILE CODE` for each finding.
    pub fn codes(&self, args: &[&str]) -> Vec<String> {
        let output = self.run(&[&["lint", "--format", "short"][..], args].concat());
        let short = |line: &str| {
            let (file, rest) = line.split_once(':').unwrap();
            let (_, rest) = rest.split_once(": ").unwrap();
            format!("{file} {}", rest.split(' ').next().unwrap().replace('[', " "))
        };
        out(&output).lines().map(short).collect()
    }
}

fn both() -> Folder {
    Folder::new(&[("uni.ptx", UNI), ("illegal.ptx", ILLEGAL)])
}

#[test]
fn flags_choose_rules_and_levels() {
    let folder = both();
    let codes = |args: &[&str]| folder.codes(&[args, &["illegal.ptx", "uni.ptx"]].concat()).join(", ");
    let (illegal, uni) = ("illegal.ptx error ISA021", "uni.ptx warning BAR019");
    assert_eq!(codes(&[]), format!("{illegal}, {uni}"));
    assert_eq!(codes(&["--select", "BAR"]), uni);
    assert_eq!(codes(&["--ignore", "false-uni,GATE"]), illegal);
    assert_eq!(codes(&["--allow", "ALL", "--deny", "bar019"]), "uni.ptx error BAR019");
    assert_eq!(codes(&["--warn", "ISA"]), format!("illegal.ptx warning ISA021, {uni}"));
    assert_eq!(
        codes(&["--ignore", "BAR019", "--warn", "BAR019"]),
        format!("{illegal}, {uni}")
    );
    assert_eq!(status(&folder.run(&["lint", "--allow", "ALL", "uni.ptx"])), 0);
}

#[test]
fn unknown_words_are_errors_that_name_the_nearest() {
    let output = ptxgen(&["lint", "--deny", "BAR001,flase-uni", "x.ptx"]);
    assert_eq!((status(&output), out(&output).as_str()), (2, ""));
    insta::assert_snapshot!(err(&output), @"
    error: invalid value 'flase-uni' for '--deny <CODE,...>': `flase-uni` is no code, name or group of rules; did you mean `false-uni`?

    For more information, try '--help'.
    ");
}

#[test]
fn the_nearest_configuration_holds_and_the_command_line_wins() {
    let folder = Folder::new(&[
        ("ptxgen.yaml", "lint:\n  ignore: BAR\n"),
        ("a/uni.ptx", UNI),
        ("b/ptxgen.yaml", "lint:\n  deny: [BAR019]\n"),
        ("b/deep/er/uni.ptx", UNI),
    ]);
    assert_eq!(folder.codes(&["."]), ["b/deep/er/uni.ptx error BAR019"]);
    assert_eq!(folder.codes(&["--warn", "BAR019", "."]).len(), 2);
    assert_eq!(
        folder.codes(&["--isolated", "."]),
        ["a/uni.ptx warning BAR019", "b/deep/er/uni.ptx warning BAR019"]
    );
    assert_eq!(
        folder.codes(&["--config", "b/ptxgen.yaml", "a"]),
        ["a/uni.ptx error BAR019"]
    );
    let stdin = |args: &[&str]| {
        let args = [&["lint", "--format", "short"][..], args, &["-"]].concat();
        let mut command = command(&args);
        command.current_dir(folder.path());
        let mut child = command
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), UNI.as_bytes()).unwrap();
        out(&child.wait_with_output().unwrap())
    };
    assert_eq!(stdin(&[]), "");
    let named = stdin(&["--stdin-filename", "b/x.ptx"]);
    assert!(named.starts_with("b/x.ptx:11:2: error[BAR019"), "{named}");
}

#[test]
fn a_broken_configuration_is_shown_with_its_place() {
    let folder = Folder::new(&[
        ("uni.ptx", UNI),
        ("ptxgen.yaml", "lint:\n  ignore: [BAR001, fals-uni]\n"),
    ]);
    insta::assert_snapshot!(transcript(&folder.run(&["lint", "uni.ptx"])), @"
    status: 2
    --- stdout
    --- stderr
    ptxgen.yaml:2:20: error: `fals-uni` is no code, name or group of rules; did you mean `false-uni`?
      |
    2 |   ignore: [BAR001, fals-uni]
      |                    ^^^^^^^^
    ");
    assert_eq!(
        status(&folder.run(&["lint", "--isolated", "--config", "x", "uni.ptx"])),
        2
    );
    assert!(err(&folder.run(&["lint", "--config", "none.yaml", "uni.ptx"])).contains("none.yaml: error: no such file"));
}

#[test]
fn what_is_shown_of_the_configuration_is_a_configuration() {
    let folder = Folder::new(&[
        ("uni.ptx", UNI),
        (
            "ptxgen.yaml",
            "lint:\n  block: [32, 2]\n  warn: GATE\n  exclude: [\"it's\"]\n  baseline: known.json\n",
        ),
    ]);
    let args = [
        "lint",
        "--show-config",
        "--select",
        "GATE001,BAR019",
        "--ignore",
        "SYN002",
        "--deny",
        "BAR019",
        "uni.ptx",
    ];
    let shown = folder.run(&args);
    assert_eq!(status(&shown), 0);
    insta::with_settings!({ snapshot_path => "../snapshots" }, { insta::assert_snapshot!("show_config", out(&shown)) });
    folder.write("shown.yaml", &out(&shown));
    assert!(out(&folder.run(&["lint", "--show-config", "--allow", "ALL"])).contains("ignore: ALL"));
    let again = out(&folder.run(&["lint", "--show-config", "--config", "shown.yaml", "uni.ptx"]));
    let settings = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(settings(&again), settings(&out(&shown)));
}

#[test]
fn folders_and_patterns_are_looked_through() {
    let folder = Folder::new(&[
        ("a/one.ptx", UNI),
        ("a/two.PTX", UNI),
        ("a/deep/three.ptx", UNI),
        ("a/notes.txt", "no PTX"),
        ("a/ignored/four.ptx", UNI),
        ("a/.gitignore", "ignored/\n"),
        ("a/excluded/five.ptx", UNI),
        ("ptxgen.yaml", "lint: {exclude: [a/excluded]}\n"),
        ("empty/x.txt", ""),
    ]);
    let files = |args: &[&str]| {
        let codes = folder.codes(args);
        codes
            .into_iter()
            .map(|code| code.split(' ').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let found = ["a/deep/three.ptx", "a/one.ptx", "a/two.PTX"];
    assert_eq!(files(&["a"]), found);
    assert_eq!(files(&["."]), found);
    assert_eq!(files(&["a/**/*.ptx"]), ["a/deep/three.ptx", "a/one.ptx"]);
    assert_eq!(files(&["a/*.ptx", "a"]), ["a/one.ptx", "a/deep/three.ptx", "a/two.PTX"]);
    assert_eq!(
        files(&["a/ignored/four.ptx", "a/excluded/five.ptx"]).len(),
        2,
        "what is named is linted"
    );
    assert_eq!(files(&["--no-ignore", "a/ignored"]).len(), 1);
    let nothing = folder.run(&["lint", "empty", "no/*.ptx", "a/one.ptx"]);
    assert_eq!(status(&nothing), 2);
    assert!(
        err(&nothing).contains("empty: error: no .ptx file") && err(&nothing).contains("no/*.ptx: error: no file fits")
    );
    assert!(out(&nothing).contains("BAR019"), "the others are linted all the same");
}

#[test]
fn the_order_of_many_files_is_fixed() {
    let folder = Folder::new(&[]);
    for at in 0..60 {
        folder.write(&format!("f{at:02}.ptx"), if at % 3 == 0 { ILLEGAL } else { UNI });
    }
    let first = folder.run(&["lint", "."]);
    assert_eq!(status(&first), 1);
    assert!(!err(&first).contains("linting"), "no bar but on a terminal");
    for _ in 0..3 {
        let next = folder.run(&["lint", "."]);
        assert!(out(&next) == out(&first) && err(&next) == err(&first));
    }
}

#[test]
fn comments_suppress_and_the_summary_says_so() {
    let folder = Folder::new(&[("uni.ptx", &UNI.replace("a comment", "ptxgen: allow(BAR019) looked at"))]);
    insta::assert_snapshot!(transcript(&folder.run(&["lint", "uni.ptx"])), @"
    status: 0
    --- stdout
    --- stderr
    no findings in 1 kernel of 1 file; 1 suppressed
    ");
    folder.write(
        "uni.ptx",
        &UNI.replace("a comment", "ptxgen: allow(flse-uni) looked at"),
    );
    insta::assert_snapshot!(out(&folder.run(&["lint", "--ignore", "BAR019", "uni.ptx"])), @"
    warning[LINT002 malformed-suppression]: `flse-uni` is no code, name or group of rules
      --> uni.ptx:10:19
       |
    10 |     // ptxgen: allow(flse-uni) looked at
       |                      ^^^^^^^^
       |
       = help: did you mean `false-uni`?
    ");
}

#[test]
fn standard_input_may_have_a_name() {
    let output = ptxgen_reading(
        &["lint", "--format", "short", "--stdin-filename", "k.ptx", "-"],
        UNI.as_bytes(),
    );
    assert!(
        out(&output).starts_with("k.ptx:11:2: warning[BAR019"),
        "{}",
        out(&output)
    );
}

#[test]
fn statistics_count() {
    let folder = both();
    folder.write("again.ptx", UNI);
    let output = folder.run(&["lint", "--statistics", "."]);
    insta::assert_snapshot!(transcript(&output), @"
    status: 1
    --- stdout
    2 warning[BAR019 false-uni] in 2 files
    1 error[ISA021 barrier-id-range] in 1 file
    --- stderr
    1 error, 2 warnings in 3 kernels of 3 files; 2 repairable by --fix
    ");
    assert_eq!(
        status(&folder.run(&["lint", "--statistics", "--format", "sarif", "."])),
        2
    );
}
