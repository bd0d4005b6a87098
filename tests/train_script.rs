//! `scripts/train.sh` as a user runs it. The set-up, cargo and the program are fakes.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// The fake program. It writes its arguments to `arguments-SUBCOMMAND`, one a line, and creates the
/// run directory.
const PROGRAM: &str = r#"
printf '%s\n' "$@" > "$(dirname "$0")/../arguments-$1"
while [ $# -gt 1 ]; do
    if [ "$1" = --run-dir ]; then mkdir -p "$2"; fi
    shift
done
"#;

/// A temporary folder with a checkout, whose name contains a space, and the fake programs.
struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    fn new() -> Self {
        let sandbox = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        for folder in ["a checkout/scripts", "a checkout/configs", "bin"] {
            fs::create_dir_all(sandbox.path(folder)).expect("it can be made");
        }
        fs::write(sandbox.path("a checkout/configs/quick.toml"), "").expect("it can be written");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/train.sh");
        fs::copy(script, sandbox.path("a checkout/scripts/train.sh")).expect("the script is there");
        sandbox.tool("a checkout/scripts/setup.sh", "exit 0");
        sandbox.tool("bin/the program", PROGRAM);
        let program = sandbox.path("bin/the program");
        let built = format!(r#"echo '{{"executable":"{}","fresh":true}}'"#, program.display());
        sandbox.tool("bin/cargo", &built);
        sandbox
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn tool(&self, name: &str, script: &str) {
        let path = self.path(name);
        fs::write(&path, format!("#!/usr/bin/env bash\n{script}\n")).expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be set");
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let others = std::env::var("PATH").expect("there is a PATH");
        let mut command = Command::new(self.path("a checkout/scripts/train.sh"));
        command.args(arguments).current_dir(self.folder.path());
        command.env("PATH", format!("{}:{others}", self.path("bin").display()));
        command.output().expect("bash runs")
    }

    /// The arguments of the last call of a subcommand of the program.
    fn arguments_of(&self, subcommand: &str) -> Vec<String> {
        let path = self.path(&format!("arguments-{subcommand}"));
        let arguments = fs::read_to_string(path).expect("the program was started");
        arguments.lines().map(str::to_owned).collect()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The printed command that resumes the run can be pasted into a shell. It does not name a
/// configuration, which would undo what `--set` changed.
#[test]
fn the_printed_command_resumes_the_run_with_its_configuration() {
    let sandbox = Sandbox::new();
    let output = sandbox.run(&["--set", "learner.batch=64", "--run-dir", "runs/it's one"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(sandbox.arguments_of("train").contains(&"learner.batch=64".to_owned()));
    let messages = stderr(&output);
    let line = messages.lines().find_map(|line| line.strip_prefix("to resume "));
    let line = line.unwrap_or_else(|| panic!("no command to resume: {messages}"));
    let mut shell = Command::new("bash");
    shell.args(["-c", line]).current_dir(sandbox.folder.path());
    assert!(shell.status().expect("bash runs").success(), "{line}");
    assert_eq!(sandbox.arguments_of("train"), ["train", "--resume", "--run-dir", "runs/it's one"]);
}

#[test]
fn resume_takes_the_newest_run_of_the_configuration() {
    let sandbox = Sandbox::new();
    let others = ["quick-big-20260901-000000", "quick-7-20260901-000000", "quick-001"];
    let make = |name: &str| {
        fs::create_dir_all(sandbox.path("a checkout/runs").join(name)).expect("it can be made");
    };
    others.into_iter().for_each(make);
    let none = sandbox.run(&["--resume"]);
    assert_eq!(none.status.code(), Some(2), "{}", stderr(&none));
    assert!(stderr(&none).contains("there is no run of quick"), "{}", stderr(&none));
    ["quick-20260701-235959", "quick-20260801-000000"].into_iter().for_each(make);
    let output = sandbox.run(&["--resume"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let newest = sandbox.path("a checkout/runs/quick-20260801-000000");
    // The script passes no configuration of its own, which would replace that of the run.
    let newest = newest.to_str().expect("text");
    assert_eq!(sandbox.arguments_of("train"), ["train", "--resume", "--run-dir", newest]);
    let config = sandbox.path("a checkout/configs/quick.toml");
    let config = config.to_str().expect("text");
    let output = sandbox.run(&[config, "--resume"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(sandbox.arguments_of("train")[..3], ["train", config, "--resume"]);
}
