//! `outflank doctor` as a user runs it, from a folder outside the checkout.

use std::process::{Command, Output};

fn doctor(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    // Without the library path that `cargo test` sets, as in a shell.
    command.env_remove("LD_LIBRARY_PATH").current_dir(std::env::temp_dir());
    command.arg("doctor").args(arguments).output().expect("the program runs")
}

#[test]
fn reports_the_loaded_libtorch_and_the_machine() {
    let output = doctor(&["--json"]);
    let text = String::from_utf8(output.stdout).expect("it is text");
    assert_eq!(text.lines().count(), 1);
    let report: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(report["version"], 1);
    assert_eq!(output.status.code(), Some(if report["ok"] == true { 0 } else { 1 }), "{text}");
    assert_eq!(report["gpus"]["devices"][0], "cpu");
    assert!(report["processor"]["cores"].as_u64() >= Some(1));
    assert!(report["bf16"]["speed_against_float32"].as_f64() > Some(0.0));
    if cfg!(target_os = "linux") {
        let libtorch = &report["libtorch"];
        assert!(libtorch["path"].as_str().expect("a path").ends_with("libtorch_cpu.so"));
        assert!(libtorch["version"].as_str().is_some_and(|version| version.starts_with("2.11.0")));
    }
    let devices = report["gpus"]["devices"].as_array().expect("a list");
    for use_of_nets in ["play", "learning"] {
        let kernel = report["kernels"][use_of_nets].as_str().expect("a kernel");
        assert_eq!(kernel.contains("own kernel"), devices.len() == 1, "{kernel}");
        if report["processor"]["amx_bf16"] == false {
            assert!(!kernel.contains("AMX"), "{kernel}");
        }
    }
    for finding in report["findings"].as_array().expect("a list") {
        assert!(!finding["what"].as_str().expect("words").is_empty());
        assert!(!finding["fix"].as_str().expect("words").is_empty());
    }
}

#[test]
fn prints_the_same_facts_as_text() {
    let output = doctor(&[]);
    let text = String::from_utf8(output.stdout).expect("it is text");
    for name in ["outflank", "libtorch", "devices", "processor", "instructions", "bf16"] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name} is not in:\n{text}");
    }
    assert!(output.stderr.is_empty());
}
