//! Files that are made to cost memory or time are refused. The error names the limit, and the size
//! of a file that is read as a whole. Without limits, these files take minutes or gigabytes.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The error message of a command that must fail.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    let output = command.args(arguments).current_dir(folder).output().expect("the program");
    let message = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(2), "{message}");
    message
}

/// Creates a file of this length that takes no space on the disk.
fn sparse(path: &Path, length: u64) {
    fs::File::create(path).and_then(|file| file.set_len(length)).expect("a sparse file");
}

#[test]
fn a_huge_file_is_refused_by_every_command_that_reads_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    sparse(&path.join("huge"), 1 << 28);
    for (arguments, most) in [
        (&["config", "huge"][..], 1u64 << 20),
        (&["train", "huge", "--run-dir", "run"], 1 << 20),
        (&["play", "random", "--load", "huge"], 1 << 20),
        (&["loss", "random", "--positions", "huge"], 64 << 20),
    ] {
        let error = refused(path, arguments);
        let wanted = format!("it has 268435456 bytes; at most {most} are read");
        assert!(error.contains("huge") && error.contains(&wanted), "{arguments:?}: {error}");
    }
    assert!(!path.join("run").exists(), "no run was created");
    // These commands read a file of any length, line by line.
    for arguments in [
        &["solve", "./huge"][..],
        &["arena", "random", "greedy", "--openings", "huge", "--games", "2"],
    ] {
        let error = refused(path, arguments);
        let names_limit = error.contains("the line is longer than 65536 bytes");
        assert!(error.contains("huge") && names_limit, "{arguments:?}: {error}");
    }
    let error = refused(path, &["eval", "huge", "--games", "2", "--against", "random"]);
    assert!(error.contains("huge is no model"), "{error}");
}

#[test]
fn a_net_of_many_tensors_is_refused_by_its_header() {
    let folder = tempfile::tempdir().expect("a folder");
    let tensor =
        |index| format!(r#""t{index}":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}"#);
    let tensors: Vec<String> = (0..100_000).map(tensor).collect();
    let header = format!("{{{}}}", tensors.join(","));
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat();
    fs::write(folder.path().join("net.safetensors"), bytes).expect("a file");
    let arena = ["arena", "net:net.safetensors", "random", "--games", "2"];
    let error = refused(folder.path(), &arena);
    let wanted = format!("is {} bytes long; at most 1048576 are read", header.len());
    assert!(error.contains(&wanted), "{error}");
}

#[test]
fn of_a_hundred_thousand_unknown_keys_only_the_first_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let keys: String = (0..100_000).map(|index| format!("k{index}=1\n")).collect();
    fs::write(folder.path().join("keys.toml"), keys).expect("a file");
    let error = refused(folder.path(), &["config", "keys.toml"]);
    assert!(error.contains("100000 problems, of which these are the first 20:"), "{error}");
    assert_eq!(error.lines().count(), 21);
}
