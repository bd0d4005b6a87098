//! Rules of this repository that a program can check: which modules may use which, where `unsafe`
//! is allowed, and how long a file may be. `docs/architecture.md` gives the reasons.

#[path = "layering/checker.rs"]
mod checker;

use std::fs;
use std::path::{Path, PathBuf};

use checker::{LONGEST_FILE, MARKS, Violation, check_errors, check_source, check_text, module_of};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("a folder of the repository can be read").path();
        if path.is_dir() {
            files_below(&path, files);
        } else if path
            .extension()
            .is_some_and(|kind| ["rs", "sh", "py", "toml", "md"].iter().any(|known| kind == *known))
        {
            files.push(path);
        }
    }
}

/// Name and text of every file in the given folders, sorted by name.
fn read(folders: &[&str]) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in folders {
        files_below(&root().join(folder), &mut files);
    }
    files.sort();
    let read = |path: PathBuf| {
        let name = path.strip_prefix(root()).expect("it lies below the root");
        let text =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (name.display().to_string(), text)
    };
    files.into_iter().map(read).collect()
}

/// The names in Rust code of the libraries in Cargo.toml's `[dependencies]`.
fn libraries() -> Vec<String> {
    let text = fs::read_to_string(root().join("Cargo.toml")).expect("there is a Cargo.toml");
    let manifest: toml::Table = text.parse().expect("Cargo.toml is TOML");
    let names = manifest["dependencies"].as_table().expect("it is a table").keys();
    names.map(|name| name.replace('-', "_")).collect()
}

fn assert_none(violations: Vec<Violation>) {
    let lines: Vec<String> = violations.iter().map(Violation::to_string).collect();
    assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
}

#[test]
fn modules_follow_the_rules() {
    let libraries = libraries();
    let sources = read(&["src"]);
    assert!(sources.len() > 10, "the sources were found");
    assert_none(
        sources.iter().flat_map(|(file, text)| check_source(file, text, &libraries)).collect(),
    );
}

#[test]
fn no_file_is_too_long_or_unfinished() {
    let mut files = read(&["src", "tests", "benches", "scripts", "configs", "docs"]);
    for name in ["build.rs", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        let text = fs::read_to_string(root().join(name));
        files.push((name.to_string(), text.unwrap_or_else(|error| panic!("{name}: {error}"))));
    }
    assert_none(files.iter().flat_map(|(file, text)| check_text(file, text)).collect());
}

#[test]
fn no_error_repeats_its_source() {
    let sources = read(&["src"]);
    assert_none(sources.iter().flat_map(|(file, text)| check_errors(file, text)).collect());
    let twice = "#[error(\n    \"cannot read {}: {source}\",\n    path.display()\n)]\nFile {";
    assert_eq!(check_errors("src/a.rs", twice).len(), 1);
    assert_eq!(check_errors("src/a.rs", "#[error(\"bad: {0}\")]\nBad(#[from] Worse),").len(), 1);
    assert_eq!(check_errors("src/a.rs", "#[error(\"bad: {0}\")]\nBad(String),"), []);
    assert_eq!(check_errors("src/a.rs", "#[error(\"bad\")]\nBad(#[source] Worse),"), []);
}

#[test]
fn the_architecture_page_names_every_module() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).expect("there is a page");
    for (file, _) in read(&["src"]) {
        let module = &module_of(&file)[0];
        assert!(
            page.contains(&format!("{module}/")) || page.contains(&format!("{module}.rs")),
            "docs/architecture.md does not name `{module}`"
        );
    }
}

/// The messages of the violations in a source text, with `tch` and `rand` as libraries.
fn messages(file: &str, text: &str) -> Vec<String> {
    let libraries = ["tch", "rand"].map(String::from);
    check_source(file, text, &libraries).into_iter().map(|violation| violation.message).collect()
}

#[test]
fn a_use_of_a_higher_floor_is_a_violation() {
    let upward = "`game` (floor 0) must not use `search` (floor 4)";
    for text in [
        "use crate::search::Tree;",
        "use crate::{game::Board, search::{Tree, mcts}};",
        "fn f() { crate::search::go() }",
        "use super::search;",
        "use super::{search::Tree};",
        "mod inner { use super::super::search::Tree; }",
        "macro_rules! m { () => { $crate::search::go() } }",
    ] {
        assert_eq!(messages("src/game/mod.rs", text), [upward], "{text}");
    }
    assert_eq!(messages("src/game/board.rs", "use super::super::search;"), [upward]);
    assert_eq!(messages("src/search/a.rs", "use crate::net::Net;").len(), 1, "neighbours");
    assert_eq!(messages("src/cli/a.rs", "use crate::*;").len(), 1, "all of the root");
    assert_eq!(messages("src/cli/a.rs", "use crate::attic::A;").len(), 1, "an unknown module");
    assert_eq!(messages("src/attic.rs", "use crate::game::A;").len(), 1, "an unknown file");
}

#[test]
fn a_use_of_a_lower_floor_is_allowed() {
    for (file, text) in [
        (
            "src/search/mcts/tree.rs",
            "use crate::{eval::Evaluator, game::*}; use super::select; use super::super::clock;",
        ),
        (
            "src/game/board.rs",
            "//! See [`crate::search`].\n/// `crate::cli::main`\nconst A: &str = \"crate::cli\"; // crate::cli",
        ),
        (
            "src/game/board.rs",
            "mod tests { use super::*; use crate::game::Bitboard; use rand::Rng; }",
        ),
        (
            "src/search/a.rs",
            "crate::dispatch!(shape, G => 1); pub(crate) fn f() {} pub(super) fn g() {}",
        ),
        ("src/pipeline.rs", "use crate::telemetry::Event;"),
    ] {
        assert_eq!(messages(file, text), [""; 0], "{text}");
    }
}

#[test]
fn libraries_unsafe_length_and_marks_are_checked() {
    assert_eq!(
        messages("src/store/a.rs", "fn f(t: tch::Tensor) {}"),
        ["`store` must not use the library `tch`"]
    );
    assert_eq!(messages("src/game/a.rs", "use rand::Rng; mod tests {}").len(), 1);
    assert_eq!(messages("src/train/a.rs", "use tch::Tensor; use rand::Rng;"), [""; 0]);
    assert_eq!(
        messages("src/store/a.rs", "fn f() { unsafe { g() } }"),
        ["`unsafe` is not allowed here"]
    );
    assert_eq!(messages("src/net/tile.rs", "fn f() { unsafe { g() } } // unsafe"), [""; 0]);
    assert_eq!(check_text("src/a.rs", &"\n".repeat(LONGEST_FILE)), []);
    assert_eq!(check_text("src/a.rs", &"\n".repeat(LONGEST_FILE + 1)).len(), 1);
    assert_eq!(check_text("src/game/geometry.rs", "").len(), 1, "a stale exception");
    assert_eq!(check_text("src/net/tile.rs", "").len(), 1, "a stale exception");
    let marked = check_text("src/a.rs", &format!("a\n// {}: later\n", MARKS[0]));
    assert_eq!((marked.len(), marked[0].line), (1, 2));
    let page = check_text("docs/a.md", "a\n@SAMPLE@\nmail a@B@c\n@@\n");
    assert_eq!((page.len(), page[0].line), (1, 2));
    assert_eq!(check_text("src/a.rs", "@SAMPLE@\n"), []);
}
