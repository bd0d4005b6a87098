//! `outflank bench` as a user runs it.

use std::process::{Command, Output};

fn outflank(folder: &std::path::Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.current_dir(folder).env("TMPDIR", folder).args(arguments);
    command.output().expect("the program starts")
}

const SMOKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/configs/smoke.toml");

#[test]
fn bench_run_reports_waiting_times_and_removes_its_run() {
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

/// A replay window of fewer positions than the bench generates.
const NARROW: [&str; 4] =
    ["--set", "replay.max_positions=1000", "--set", "replay.min_positions=500"];

#[test]
fn every_measurement_gives_figures() {
    let folder = tempfile::tempdir().expect("a folder");
    let small = ["--seconds", "0.05", "--set", "net.blocks=1", "--set", "learner.batch=32"];
    for (measurement, arguments, unit) in [
        ("net", [&small[..], &["--batch", "8"]].concat(), "positions/s"),
        ("selfplay", [&small[..], &["--batch", "8"]].concat(), "simulations/s"),
        ("learner", small.to_vec(), "positions/s"),
        ("learner", [&small[..], &NARROW].concat(), "positions/s"),
        ("perft", vec!["--depth", "4", "--shape", "6x6"], "million leaves/s"),
        ("solve", vec!["--shape", "6x6"], "us"),
        ("alphabeta", vec!["--depth", "3"], "million nodes/s"),
    ] {
        let output =
            outflank(folder.path(), &[&["bench", measurement, "--json"], &arguments[..]].concat());
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{measurement}: {errors}");
        let text = String::from_utf8(output.stdout).expect("text");
        let figures: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("one object a line"))
            .collect();
        // No game may end in so short a time, but some figure in this unit is above 0.
        let value = |figure: &serde_json::Value| figure["value"].as_f64().expect("a number");
        assert!(figures.iter().all(|figure| value(figure) >= 0.0), "{measurement}: {text}");
        let of_unit = |figure: &&serde_json::Value| figure["unit"] == unit;
        assert!(
            figures.iter().filter(of_unit).any(|figure| value(figure) > 0.0),
            "{measurement}: {text}"
        );
    }
}

#[test]
fn bench_fit_trains_on_the_games_of_a_run_and_writes_a_net() {
    let folder = tempfile::tempdir().expect("a folder");
    let train = ["train", SMOKE, "--quiet", "--run-dir", "run", "--set", "limits.games=120"];
    let training = outflank(folder.path(), &train);
    assert!(training.status.success(), "{}", String::from_utf8_lossy(&training.stderr));
    let fit = |warmup: &str| {
        let arguments = ["bench", "fit", SMOKE, "--games", "run", "--write", "net.safetensors"];
        let more = ["--seconds", "2", "--json", "--set", "learner.batch=64", "--set", warmup];
        let output = outflank(folder.path(), &[&arguments[..], &more].concat());
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        let text = String::from_utf8(output.stdout).expect("text");
        move |name: &str| {
            let figures = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
            let mut named = figures.filter(|figure: &serde_json::Value| figure["name"] == name);
            named.next().expect("the figure")["value"].as_f64().expect("a number")
        }
    };
    // With this warm-up the learning rate is nearly 0, so the net stays untrained.
    let untrained = fit("learner.warmup_steps=1000000000");
    let trained = fit("learner.warmup_steps=10");
    for loss in ["fit held-out policy loss", "fit held-out owner loss"] {
        assert!(trained(loss) < untrained(loss), "{loss} {} {}", trained(loss), untrained(loss));
    }
    assert!(trained("fit held-out policy loss") > trained("fit entropy of the searches"));
    assert!(trained("fit samples") == 64.0 * trained("fit steps"));
    let net = "policy:net.safetensors";
    let arena = ["arena", net, "random", "--games", "2", "--shape", "6x6", "--json"];
    let played = outflank(folder.path(), &arena);
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));

    let other = ["bench", "fit", SMOKE, "--games", "run", "--set", "board=7x7"];
    let refused = outflank(folder.path(), &other);
    let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("run: game") && stderr.contains("6x6, expected 7x7"), "{stderr}");
}

#[test]
fn bench_refuses_unknown_and_wrong_arguments() {
    let folder = tempfile::tempdir().expect("a folder");
    for (arguments, expected) in [
        (vec!["bench", "run"], "CONFIG"),
        (vec!["bench", "run", "nowhere.toml"], "nowhere.toml"),
        (vec!["bench", "run", SMOKE, "--minutes", "0"], "0.05 to 600"),
        (vec!["bench", "run", SMOKE, "--set", "learner.batsh=3"], "batch"),
        (vec!["bench", "fit", SMOKE], "--games"),
        (vec!["bench", "fit", SMOKE, "--games", "nowhere"], "nowhere"),
        (vec!["bench", "fit", SMOKE, "--games", ".", "--seconds", "0"], "0.1 to 86400"),
        (vec!["bench"], "WHAT"),
        (vec!["bench", "nothing"], "perft"),
        (vec!["bench", "perft", "--seconds", "1"], "does not use --seconds"),
        (vec!["bench", "solve", "--set", "net.blocks=2"], "does not use --set"),
        (vec!["bench", "net", "--shape", "6x6"], "`bench net` does not use --shape"),
        (vec!["bench", "net", "--batch", "0"], "1..=65536"),
        (vec!["bench", "net", "--seconds", "nan"], "from 0.01 to 3600"),
    ] {
        let output = outflank(folder.path(), &arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
}
