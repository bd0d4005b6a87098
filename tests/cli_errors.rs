//! Files that cannot be read or written. Each subcommand names the file and the reason once.

use std::path::Path;
use std::process::{Command, Output};

const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/configs/smoke.toml");

fn outflank(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.current_dir(folder).args(arguments).stdin(std::process::Stdio::null());
    command.output().expect("the program starts")
}

/// Asserts that the command ended with an error about `name` that repeats no part of itself.
#[track_caller]
fn assert_error_names_once(output: &Output, name: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let error = stderr.lines().find_map(|line| line.strip_prefix("error: ")).expect(&stderr);
    assert!(error.contains(name), "no `{name}` in {error}");
    let parts: Vec<_> = error.split(": ").collect();
    for (place, part) in parts.iter().enumerate() {
        assert!(!parts[..place].contains(part), "`{part}` is repeated: {error}");
    }
    assert!(error.matches("(os error").count() <= 1, "{error}");
}

#[cfg(feature = "torch")]
#[test]
fn every_subcommand_names_a_missing_file_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let position = format!("{}- X\n", "X".repeat(62) + "O");
    std::fs::write(folder.path().join("good.obf"), position).expect("writable");
    let games = ["train", CONFIG, "--run-dir", "new", "--games", "missing"];
    let net = ["train", CONFIG, "--run-dir", "new", "--net", "missing"];
    let others = ["arena", "random", "greedy", "--games", "2", "--openings", "start"];
    for arguments in [
        &["train", "missing.toml"][..],
        &["train", "--resume", "--run-dir", "missing"],
        &games,
        &net,
        &["eval", "missing"],
        &["eval", "missing", "--against", "random"],
        &["arena", "random", "net:missing"],
        &["arena", "random", "greedy", "--openings", "missing.txt"],
        &["arena", "--ladder", "missing.jsonl"],
        &["arena", "random", "greedy", "--ladder", "missing/ladder.jsonl"],
        &[&others[..], &["--also", "missing.jsonl"]].concat(),
        &[&others[..], &["--svg", "missing/table.svg"]].concat(),
        &["loss", "random", "--positions", "missing.obf"],
        &["loss", "random", "--games", "missing"],
        &["loss", "net:missing", "--positions", "good.obf"],
        &["loss", "random", "--positions", "good.obf", "--write", "missing/new.obf"],
        &["play", "net:missing"],
        &["play", "random", "--load", "missing.txt"],
        &["export", "missing", "new"],
        &["runs", "missing"],
        &["config", "missing.toml"],
        &["solve", "missing.obf"],
        &["bench", "run", "missing.toml"],
        &["bench", "fit", CONFIG, "--games", "missing"],
        &["nboard", "net:missing"],
        &["gtp", "net:missing"],
    ] {
        let output = outflank(folder.path(), arguments);
        eprintln!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_error_names_once(&output, "missing");
    }
}

#[test]
fn a_folder_in_place_of_a_file_is_named_once() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("folder")).expect("a folder");
    std::fs::write(folder.path().join("file"), "").expect("a file");
    for arguments in [
        &["train", "folder"][..],
        &["arena", "random", "greedy", "--openings", "folder"],
        &["arena", "--ladder", "folder"],
        &["loss", "random", "--positions", "folder"],
        &["play", "random", "--load", "folder"],
        &["config", "folder"],
        &["solve", "folder"],
        &["man", "file/below"],
    ] {
        let output = outflank(folder.path(), arguments);
        eprintln!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_error_names_once(&output, arguments.last().expect("a path"));
    }
}

/// A link to itself simulates a folder without read permission, which root could read.
#[cfg(all(unix, feature = "torch"))]
#[test]
fn a_folder_that_cannot_be_read_is_not_reported_as_empty() {
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink("endless", folder.path().join("endless")).expect("a link");
    for arguments in [
        &["runs", "endless"][..],
        &["train", "--resume", "--run-dir", "endless"],
        &["train", CONFIG, "--run-dir", "new", "--games", "endless"],
        &["loss", "random", "--games", "endless"],
        &["bench", "fit", CONFIG, "--games", "endless"],
        &["export", "endless", "new"],
    ] {
        let output = outflank(folder.path(), arguments);
        assert_error_names_once(&output, "endless");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("(os error"), "{arguments:?} does not give the reason: {stderr}");
    }
    let output = outflank(folder.path(), &["runs", "."]);
    let listed = String::from_utf8_lossy(&output.stdout);
    assert!(listed.contains("unreadable: cannot read"), "{listed}");
    assert!(listed.contains("(os error"), "the reason is missing: {listed}");
}

#[cfg(not(feature = "torch"))]
#[test]
fn training_a_net_without_libtorch_is_refused_before_the_run_is_created() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = outflank(folder.path(), &["train", CONFIG, "--run-dir", "new"]);
    assert_error_names_once(&output, "libtorch");
    assert!(!folder.path().join("new").exists());
}

/// Rust ends a process in which an allocation fails. These sizes must be refused before.
#[test]
fn a_table_that_the_memory_does_not_hold_is_refused() {
    const TABLE_MB: u64 = 65536;
    let is_large = |(_, free): (u64, u64)| free > TABLE_MB << 20;
    if outflank::search::memory::memory().is_none_or(is_large) {
        eprintln!("SKIPPED: this machine has more memory than the largest table, or does not say");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let position = format!("{}- X\n", "X".repeat(62) + "O");
    std::fs::write(folder.path().join("good.obf"), position).expect("writable");
    let large = "alphabeta:depth=2,table_mb=65536";
    let size = ["--table-mb", "65536"];
    for (arguments, name) in [
        (&["analyse", "f5d6", "--player", large][..], "table_mb"),
        (&["arena", large, "random", "--games", "2"], "table_mb"),
        (&["play", large], "table_mb"),
        (&["solve", "good.obf", size[0], size[1]], "--table-mb"),
        (&["loss", "random", "--positions", "good.obf", size[0], size[1]], "--table-mb"),
    ] {
        let output = outflank(folder.path(), arguments);
        eprintln!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_error_names_once(&output, name);
    }
}

/// One such name ended `runs --json`, and with it all that came after.
#[test]
fn runs_whose_names_are_no_text_are_listed() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run-1");
    for name in [&b"a\xff"[..], b"b\x1b[31m", b"c"] {
        let run = folder.path().join("runs").join(std::ffi::OsStr::from_bytes(name));
        std::fs::create_dir_all(&run).expect("a folder");
        for file in ["run.json", "config.toml"] {
            std::fs::copy(source.join(file), run.join(file)).expect("a copy");
        }
    }
    let output = outflank(folder.path(), &["runs", "runs", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 3, "{output:?}");
    let table = outflank(folder.path(), &["runs", "runs"]);
    assert!(!table.stdout.contains(&0x1b), "{table:?}");
}
