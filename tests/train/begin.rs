//! New runs: the replay ratio, and runs that start with games or a net of another run.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{CONFIG, count, manifest, refused, succeeds};

/// Runs `outflank train` with a configuration and more arguments, in a run directory.
fn train(config: &Path, run: &Path, more: &[&str]) -> Output {
    crate::common::train(run, &[&[config.to_str().expect("a path")], more].concat())
}

/// The learner may use each position a thousand times, but the actors must not wait until it has.
#[test]
fn between_the_smallest_and_the_largest_ratio_nobody_waits() {
    let folder = tempfile::tempdir().expect("a folder");
    let (config, run) = (folder.path().join("band.toml"), folder.path().join("run"));
    fs::write(&config, CONFIG).expect("a file");
    succeeds(&train(&config, &run, &[]));
    let (steps, positions) = (count(&run, "steps"), count(&run, "positions"));
    assert!(64.0 * steps / positions < 500.0, "{steps} steps for {positions} positions");
    // A step is due for each 640 positions after the first 500. On a slow machine the learner may
    // be two steps behind when the run ends.
    let due = (positions - 500.0) / 640.0;
    assert!(steps >= due - 2.0, "{steps} steps for {positions} positions");
}

/// A wider net is first trained on an earlier run's games at the replay ratio, and plays then.
#[test]
fn a_run_starts_with_the_games_of_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name| folder.path().join(name);
    let (config, first, second) = (path("warm.toml"), path("first"), path("second"));
    fs::write(&config, CONFIG).expect("a file");
    succeeds(&train(&config, &first, &[]));
    let (games, positions) = (count(&first, "games"), count(&first, "positions"));

    let source = first.display().to_string();
    let more = format!("limits.positions={}", positions + 1000.0);
    let wider = ["--games", &source, "--set", "net.channels=16", "--set", &more];
    let output = train(&config, &second, &wider);
    succeeds(&output);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains(&format!("begins with {games} games, {positions} positions")),
        "{stderr}"
    );
    assert!(count(&second, "games") > games && count(&second, "positions") >= positions + 1000.0);
    // A step for each 640 positions after the first 500, before the first move was played.
    let due = (positions - 500.0) / 640.0;
    assert!(count(&second, "steps") >= due.floor(), "{stderr}");
    assert_eq!(manifest(&second)["begun_with"].as_f64(), Some(games));
    assert_eq!(count(&first, "games"), games, "the first run is unchanged");
}

/// A run without actors ends at its limit of steps, with the games that it began with.
#[test]
fn a_run_can_learn_from_given_games_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name| folder.path().join(name);
    let (config, first, second) = (path("given.toml"), path("first"), path("second"));
    fs::write(&config, CONFIG).expect("a file");
    succeeds(&train(&config, &first, &["--set", "limits.positions=700"]));

    let none = ["selfplay.actors=0", "limits.positions=0", "limits.steps=30"];
    let none = none.map(|key| ["--set", key]).concat();
    let output = train(&config, &second, &none);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && !second.exists(), "{stderr}");
    assert!(stderr.contains("selfplay.actors = 0: a run that plays no games needs"), "{stderr}");

    let source = first.display().to_string();
    succeeds(&train(&config, &second, &[&none[..], &["--games", &source]].concat()));
    assert_eq!(count(&second, "steps"), 30.0);
    assert_eq!(count(&second, "games"), count(&first, "games"));
}

#[test]
fn games_of_another_board_create_no_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name| folder.path().join(name);
    let (config, first, second) = (path("six.toml"), path("first"), path("second"));
    fs::write(&config, CONFIG).expect("a file");
    succeeds(&train(&config, &first, &["--set", "limits.positions=500"]));
    let source = first.display().to_string();
    for (games, board, expected) in
        [(&*source, "7x7", "have board 6x6"), ("nowhere", "6x6", "cannot read nowhere")]
    {
        let board = format!("board={board}");
        let output = train(&config, &second, &["--games", games, "--set", &board]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && stderr.contains(expected), "{stderr}");
        assert!(!second.exists());
    }
}

/// The arrays of the net in a run's newest checkpoint: the bytes after the header.
fn arrays(run: &Path) -> Vec<u8> {
    let checkpoints = fs::read_dir(run.join("checkpoints")).expect("a folder");
    let newest = checkpoints.map(|entry| entry.expect("an entry").path()).max().expect("one");
    let bytes = fs::read(newest.join("net.safetensors")).expect("a net");
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    bytes[8 + length as usize..].to_vec()
}

#[test]
fn a_run_starts_with_a_net() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name| folder.path().join(name);
    let (config, first, second) = (path("net.toml"), path("first"), path("second"));
    fs::write(&config, CONFIG).expect("a file");
    succeeds(&train(&config, &first, &["--set", "limits.positions=1500"]));
    let source = first.display().to_string();

    for (change, expected) in [
        ("net.channels=16", "net.channels = 8, the configuration says 16"),
        ("board=7x7", "board = \"6x6\", the configuration says \"7x7\""),
        ("goal=fewest", "goal = \"most\", the configuration says \"fewest\""),
    ] {
        let output = train(&config, &second, &["--net", &source, "--set", change]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && stderr.contains(expected), "{stderr}");
        assert!(!second.exists());
    }

    // Too few games for a step, so the given net plays. Averaging is off, so that the learner's
    // own weights play.
    let few = ["--net", &source, "--set", "limits.games=5", "--set", "learner.ema=0"];
    succeeds(&train(&config, &second, &few));
    assert_eq!(count(&second, "steps"), 0.0);
    assert!(arrays(&second) == arrays(&first));
    let (positions, steps) = (count(&first, "positions"), count(&first, "steps"));
    let first_net = &manifest(&second)["first_net"];
    assert_eq!(first_net["positions"], positions);
    assert_eq!(first_net["steps"], steps);

    let output = train(&config, &second, &["--resume"]);
    succeeds(&output);
    assert!(count(&second, "steps") > 0.0);
    assert!(arrays(&second) != arrays(&first));
}

/// An evaluator's opinions are a part of the net's input, and the run keeps the evaluator.
#[test]
fn the_inputs_may_be_evaluations() {
    let folder = tempfile::tempdir().expect("a folder");
    let (config, run) = (folder.path().join("told.toml"), folder.path().join("run"));
    fs::write(&config, CONFIG.replace("[net]", "[net]\ninputs = \"evaluations\"")).expect("a file");
    succeeds(&train(&config, &run, &["--set", "limits.positions=1500"]));
    let kept = fs::read_to_string(run.join("config.toml")).expect("the configuration");
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("checkpoints/patterns-6x6");
    let bytes = |path: &Path| fs::read(path).expect("a model");
    assert!(bytes(&run.join("evaluator.safetensors")) == bytes(&shipped.join("net.safetensors")));
    let evaluator = kept.lines().find_map(|line| line.strip_prefix("inputs_evaluator = "));
    assert_eq!(evaluator.expect("its checksum").len(), "\"842ceacc\"".len());
    // The given configuration does not name the evaluator.
    succeeds(&train(&config, &run, &["--resume"]));
    assert!(count(&run, "positions") >= 3000.0);
    let player = format!("net:{},simulations=4", run.display());
    let arena = ["arena", &player, "random", "--games", "2", "--openings", "random:2"];
    succeeds(&Command::new(env!("CARGO_BIN_EXE_outflank")).args(arena).output().expect("a match"));

    let other = folder.path().join("other");
    let changes = ["--set", "board=7x7", "--set", "goal=fewest"];
    refused(&train(&config, &other, &changes), "no evaluator is shipped for 7x7 and the fewest");
    assert!(!other.exists(), "nothing is created");
}
