//! The rooms and which other rooms each may know.

use super::imports::{imports, module_of};

/// The ground floor: each room with what it may import.
const GROUND: &[(&str, &[&str])] = &[
    ("source", &[]),
    ("types", &[]),
    ("version", &[]),
    ("target", &["version"]),
    ("num", &["types"]),
    ("diag", &["source"]),
];

/// The floors above: each room with what it may import beside the ground floor. The lists are complete: what a listed
/// room may import does not follow.
const ABOVE: &[(&str, &[&str])] = &[
    ("isa", &[]),
    ("ir", &["isa"]),
    ("listing", &[]),
    ("parse", &["isa", "ir", "listing"]),
    ("print", &["isa", "ir"]),
    ("format", &["parse", "print", "listing"]),
    ("needs", &["isa", "ir", "parse"]),
    ("build", &["isa", "ir", "needs"]),
    ("verify", &["isa", "ir", "parse", "needs"]),
    ("flow", &["isa", "ir"]),
    ("analysis", &["isa", "ir", "flow"]),
    ("lint", &["isa", "ir", "parse", "verify", "flow", "analysis"]),
    ("sim", &["isa", "ir", "flow"]),
    ("witness", &["isa", "ir", "parse", "flow", "analysis", "lint", "sim"]),
];

/// What the compiler must not touch: it is text in, data out, and builds where there are no files.
const OUTSIDE: &[&str] = &[
    "std::fs",
    "std::io",
    "std::env",
    "std::process",
    "std::net",
    "std::path",
    "std::thread",
    "std::time",
    "clap",
    "serde",
    "serde_json",
    "serde_yaml",
    "anyhow",
    "anstream",
    "owo_colors",
    "annotate_snippets",
    "tempfile",
    "rayon",
    "ignore",
    "globset",
    "indicatif",
    "signal_hook",
    "print!",
    "println!",
    "eprint!",
    "eprintln!",
];

/// The compiler's rooms.
pub fn names() -> impl Iterator<Item = &'static str> {
    GROUND.iter().chain(ABOVE).map(|(room, _)| *room)
}

/// Everything in a file that reaches where it must not, one line each.
pub fn check(file: &str, text: &str) -> Vec<String> {
    let module = module_of(file);
    let mut externals: Vec<_> = OUTSIDE.iter().map(|path| path.split("::").next().unwrap()).collect();
    externals.push("ptxgen");
    let problem = |import: super::imports::Import| {
        let why = complaint(file, &module, &import.path)?;
        Some(format!("{file}:{}: {}: {why}", import.line, import.path))
    };
    imports(text, &module, &externals)
        .into_iter()
        .filter_map(problem)
        .collect()
}

fn complaint(file: &str, module: &str, path: &str) -> Option<String> {
    let path = path
        .strip_prefix("ptxgen")
        .map_or(path.to_owned(), |rest| format!("crate{rest}"));
    let to: Vec<_> = path.split("::").collect();
    if to[0] != "crate" {
        return external(file, module, &path);
    }
    let from: Vec<_> = module.split("::").collect();
    let (here, there) = (*from.get(1)?, *to.get(1)?);
    match (here, there) {
        ("ptx", "ptx") => inside_ptx(from.get(2)?, to.get(2).copied()),
        ("ptx", "kernels" | "cli") | ("kernels", "cli") => Some(format!("`{here}` must not know `{there}`")),
        _ => None,
    }
}

fn inside_ptx(here: &str, there: Option<&str>) -> Option<String> {
    let find =
        |rooms: &[(&str, &'static [&'static str])]| rooms.iter().find(|(room, _)| *room == here).map(|room| room.1);
    let on_ground = |name: &str| GROUND.iter().any(|(room, _)| *room == name);
    let Some(allowed) = find(GROUND).or(find(ABOVE)) else {
        return Some(format!(
            "`{here}` is a new room: say in tests/architecture/rooms.rs what it may know"
        ));
    };
    match there {
        None | Some("*") => Some("name the room, not the whole compiler".into()),
        Some(there) if here == there || allowed.contains(&there) => None,
        Some(there) if !on_ground(here) && on_ground(there) => None,
        Some(there) => Some(format!("`{here}` must not know `{there}`")),
    }
}

fn external(file: &str, module: &str, path: &str) -> Option<String> {
    let is = |name: &str| path == name || path.starts_with(&format!("{name}::"));
    if module.starts_with("crate::ptx") && OUTSIDE.iter().any(|name| is(name)) {
        return Some("the compiler has no files, no command line, no serialisation and no output".into());
    }
    let in_cli = module.starts_with("crate::cli");
    let in_spec = module.starts_with("crate::kernels::spec");
    if ["serde", "serde_json", "serde_yaml"].iter().any(|name| is(name)) && !in_cli && !in_spec {
        return Some(format!("serialisation belongs to kernels/spec and cli, not to {file}"));
    }
    if ["clap", "anstream", "owo_colors", "annotate_snippets", "indicatif"]
        .iter()
        .any(|name| is(name))
        && !in_cli
    {
        return Some(format!("what people see belongs to cli, not to {file}"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(file: &str, text: &str) -> bool {
        !check(file, text).is_empty()
    }

    #[test]
    fn downward_is_fine() {
        let text = "use super::flow::Cfg; use crate::ptx::{isa::Row, ir}; use std::fmt; fn f() { super::source::x(); }";
        assert_eq!(check("src/ptx/analysis/mod.rs", text), Vec::<String>::new());
        assert_eq!(
            check(
                "src/cli/x.rs",
                "use crate::kernels::A; use crate::ptx; use serde::Serialize;"
            ),
            Vec::<String>::new()
        );
        assert_eq!(
            check("src/kernels/spec.rs", "use serde::Deserialize;"),
            Vec::<String>::new()
        );
        assert_eq!(
            check("src/main.rs", "fn main() { ptxgen::cli::main(); }"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn upward_fails() {
        assert!(fails("src/ptx/isa/special.rs", "use crate::ptx::ir::Special;"));
        assert!(fails(
            "src/ptx/isa/special.rs",
            "use crate::ptx::{types::Type, ir::Special};"
        ));
        assert!(fails("src/ptx/ir/inst.rs", "use super::super::flow::Cfg;"));
        assert!(fails("src/ptx/flow/mod.rs", "fn f() { crate::ptx::analysis::run() }"));
        assert!(fails("src/ptx/diag.rs", "mod codes { use super::super::isa::Row; }"));
        assert!(fails("src/ptx/parse/mod.rs", "use crate::cli::Outcome;"));
        assert!(fails("src/kernels/a.rs", "use crate::cli::output;"));
    }

    #[test]
    fn lint_simulator_and_builder_do_not_see_each_other() {
        for (room, other) in [
            ("lint", "sim"),
            ("lint", "build"),
            ("sim", "lint"),
            ("sim", "build"),
            ("build", "lint"),
            ("build", "sim"),
        ] {
            assert!(
                fails(&format!("src/ptx/{room}/mod.rs"), &format!("use crate::ptx::{other};")),
                "{room} {other}"
            );
        }
    }

    #[test]
    fn the_whole_compiler_cannot_be_imported_inside_it() {
        assert!(fails("src/ptx/parse/mod.rs", "use crate::ptx;"));
        assert!(fails("src/ptx/parse/mod.rs", "use super::*;"));
        assert!(fails("src/ptx/attic/mod.rs", "use super::ir;"));
    }

    #[test]
    fn the_compiler_touches_nothing_outside() {
        for text in [
            "use std::fs;",
            "use std::{fmt, io::Write};",
            "fn f() { println!(\"x\") }",
            "use serde::Serialize;",
            "fn f() { std::process::exit(1) }",
        ] {
            assert!(fails("src/ptx/parse/mod.rs", text), "{text}");
        }
        assert!(fails("src/kernels/nf4.rs", "#[derive(serde::Deserialize)] struct A;"));
        assert!(fails("src/kernels/spec.rs", "use clap::Args;"));
    }
}
