//! `scripts/train.sh` as a user meets it: the set-up, cargo and the program are fakes.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// Notes its arguments, a line for each, and makes the run directory that it is told.
const PROGRAM: &str = r#"
printf '%s\n' "$@" > "$(dirname "$0")/../said-$1"
while [ $# -gt 1 ]; do
    if [ "$1" = --run-dir ]; then mkdir -p "$2"; fi
    shift
done
"#;

/// A checkout with the script in a folder with a blank in its name.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        for folder in ["a checkout/scripts", "a checkout/configs", "bin"] {
            fs::create_dir_all(place.path(folder)).expect("it can be made");
        }
        fs::write(place.path("a checkout/configs/quick.toml"), "").expect("it can be written");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/train.sh");
        fs::copy(script, place.path("a checkout/scripts/train.sh")).expect("the script is there");
        place.tool("a checkout/scripts/setup.sh", "exit 0");
        place.tool("bin/the program", PROGRAM);
        let program = place.path("bin/the program");
        let built = format!(r#"echo '{{"executable":"{}","fresh":true}}'"#, program.display());
        place.tool("bin/cargo", &built);
        place
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

    /// What a subcommand of the program was last given.
    fn given(&self, subcommand: &str) -> Vec<String> {
        let said = self.path(&format!("said-{subcommand}"));
        let said = fs::read_to_string(said).expect("the program was started");
        said.lines().map(str::to_owned).collect()
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The line that tells how to go on can be pasted into a shell, and does not name the
/// configuration: what `--set` changed would be lost with it.
#[test]
fn the_line_to_go_on_goes_on_with_the_run_as_it_was_configured() {
    let place = Place::new();
    let output = place.run(&["--set", "learner.batch=64", "--run-dir", "runs/it's one"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(place.given("train").contains(&"learner.batch=64".to_owned()));
    let told = said(&output);
    let line = told.lines().find_map(|line| line.strip_prefix("to go on "));
    let line = line.unwrap_or_else(|| panic!("nothing is told: {told}"));
    let mut shell = Command::new("bash");
    shell.args(["-c", line]).current_dir(place.folder.path());
    assert!(shell.status().expect("bash runs").success(), "{line}");
    assert_eq!(place.given("train"), ["train", "--resume", "--run-dir", "runs/it's one"]);
}

#[test]
fn the_newest_run_of_the_configuration_itself_is_gone_on_with() {
    let place = Place::new();
    let others = ["quick-big-20260901-000000", "quick-7-20260901-000000", "quick-001"];
    let make = |name: &str| {
        fs::create_dir_all(place.path("a checkout/runs").join(name)).expect("it can be made");
    };
    others.into_iter().for_each(make);
    let none = place.run(&["--resume"]);
    assert_eq!(none.status.code(), Some(2), "{}", said(&none));
    assert!(said(&none).contains("there is no run of quick"), "{}", said(&none));
    ["quick-20260701-235959", "quick-20260801-000000"].into_iter().for_each(make);
    let output = place.run(&["--resume"]);
    assert!(output.status.success(), "{}", said(&output));
    let newest = place.path("a checkout/runs/quick-20260801-000000");
    // A configuration that nobody named would replace the run's own.
    let newest = newest.to_str().expect("text");
    assert_eq!(place.given("train"), ["train", "--resume", "--run-dir", newest]);
    let config = place.path("a checkout/configs/quick.toml");
    let config = config.to_str().expect("text");
    let output = place.run(&[config, "--resume"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(place.given("train")[..3], ["train", config, "--resume"]);
}
