//! `outflank bench run` as a user runs it.

use std::process::{Command, Output};

fn outflank(folder: &std::path::Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.current_dir(folder).env("TMPDIR", folder).args(arguments);
    command.output().expect("the program starts")
}

const SMOKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/configs/smoke.toml");

#[test]
fn bench_run_says_who_waits_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["bench", "run", SMOKE, "--minutes", "0.05", "--json"];
    let output = outflank(folder.path(), &arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8(output.stdout).expect("text");
    let objects: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("one object a line")).collect();
    let value = |name: &str| {
        let object = objects.iter().find(|object| object["name"] == name);
        object.unwrap_or_else(|| panic!("no `{name}` in {text}"))["value"].as_f64()
    };
    for name in ["run actors waiting", "run learner waiting"] {
        let percent = value(name).expect("a number");
        assert!((0.0..=100.0).contains(&percent), "{name} {percent}");
    }
    for name in ["run games", "run evaluations", "run samples", "run replay ratio held"] {
        assert!(value(name).expect("a number") > 0.0, "{name}");
    }
    assert!(errors.contains("wait"), "{errors}");
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 0, "the run's directory is gone");
}

#[test]
fn bench_run_refuses_what_it_cannot_do() {
    let folder = tempfile::tempdir().expect("a folder");
    for (arguments, wanted) in [
        (vec!["bench", "run"], "CONFIG"),
        (vec!["bench", "run", "nowhere.toml"], "nowhere.toml"),
        (vec!["bench", "run", SMOKE, "--minutes", "0"], "0.05 to 600"),
        (vec!["bench", "run", SMOKE, "--set", "learner.batsh=3"], "batch"),
        (vec!["bench"], "WHAT"),
        (vec!["bench", "nothing"], "perft"),
    ] {
        let output = outflank(folder.path(), &arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(wanted), "{arguments:?}: {said}");
    }
}
