//! Resuming a run: what continues, what is refused, and that a refusal changes no file.

use std::fs;

use outflank::pipeline::holds_out;
use outflank::store::games::{self, GameWriter};

use crate::common::{FinishedRun, edit_json, manifest, refused, succeeds};

#[test]
fn a_refused_resume_changes_nothing() {
    let run = FinishedRun::new(&[]);
    let (config, state) = (run.text("config.toml"), run.text("run.json"));
    for (change, expected) in [
        ("goal=fewest", "goal is \"most\" in the run, \"fewest\" in the configuration"),
        ("board=7x7", "board is \"6x6\" in the run, \"7x7\" in the configuration"),
        ("seed=7", "seed is 1 in the run, 7 in the configuration"),
        ("net.channels=16", "net.channels is 8 in the run, 16 in the configuration"),
        ("net.blocks=2", "net.blocks is 1 in the run, 2 in the configuration"),
        ("learner.optimizer=adam", "learner.optimizer is \"sgd\" in the run, \"adam\""),
        ("device=cuda:97", "cuda:97"),
        ("limits.positons=9", "positons"),
    ] {
        refused(&run.resume(&["--set", change]), expected);
        assert_eq!(run.text("config.toml"), config, "{change}");
        assert_eq!(run.text("run.json"), state, "{change}");
    }
    let steps = run.steps();
    succeeds(&run.resume_for(2_000.0, &["--set", "learner.batch=32"]));
    assert!(run.steps() > steps);
    assert!(run.text("config.toml").contains("batch = 32"));
    assert_eq!(manifest(&run.path)["starts"], 2);
}

/// A larger quota must not be applied to earlier nets, which had a smaller quota. This also holds
/// for a checkpoint of an older version, which has no schedule.
#[test]
fn a_new_ratio_counts_from_the_current_position() {
    for has_schedule in [true, false] {
        // A net for each 160 positions, then one for each 640.
        let run = FinishedRun::new(&["--set", "replay.ratio=0.4", "--set", "replay.ratio_max=0"]);
        let steps = run.steps();
        assert!(steps > 10.0, "{steps}");
        if !has_schedule {
            edit_json(&run.newest_checkpoint().join("state.json"), |state| {
                let counters = state["state"].as_object_mut().expect("counters");
                assert!(counters.remove("schedule").is_some());
            });
        }
        succeeds(&run.resume_for(3_200.0, &["--set", "replay.ratio=0.1"]));
        let new_steps = run.steps() - steps;
        assert!((3.0..=7.0).contains(&new_steps), "{new_steps} steps for 3,200 positions");
    }
}

#[test]
fn a_run_trains_exactly_its_limit_of_steps() {
    let limits = ["--set", "limits.positions=0", "--set", "limits.steps=70"];
    let run = FinishedRun::new(&[&limits[..], &["--set", "learner.steps_per_publish=50"]].concat());
    assert_eq!(run.steps(), 70.0);
    // The last report has the losses, and no speeds of the short time after the previous report.
    let curves = run.text("metrics.jsonl");
    let last = curves.lines().last().expect("a report");
    assert!(last.contains("loss/total") && !last.contains("speed/"), "{last}");
}

#[test]
fn a_damaged_game_is_counted_once() {
    let run = FinishedRun::new(&[]);
    let segments = fs::read_dir(run.path.join("games")).expect("a folder");
    let segment = segments.last().expect("a segment").expect("a segment").path();
    let mut bytes = fs::read(&segment).expect("games");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    fs::write(&segment, bytes).expect("a file");
    let output = run.resume_for(500.0, &[]);
    succeeds(&output);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("1 damaged game records"), "{stderr}");
}

#[test]
fn a_run_whose_copying_of_games_was_interrupted_is_refused() {
    let run = FinishedRun::new(&[]);
    edit_json(&run.path.join("run.json"), |manifest| manifest["copying"] = true.into());
    refused(&run.resume(&["--set", "limits.positions=5000"]), "ended before all games were copied");
}

/// The process died between the two renames when it replaced a checkpoint.
#[test]
fn a_checkpoint_being_replaced_gets_its_name_back() {
    let run = FinishedRun::new(&["--set", "checkpoint.keep_last=1"]);
    let [only] = &run.checkpoints()[..] else { panic!("{:?}", run.checkpoints()) };
    let name = only.file_name().expect("a name").to_string_lossy().into_owned();
    let number = name.rsplit('-').next().expect("a number");
    fs::rename(only, only.with_file_name(format!(".replaced-{number}"))).expect("a rename");
    let steps = run.steps();
    // Three steps are due for these, and the learner may be two behind when the run ends.
    succeeds(&run.resume_for(2_000.0, &[]));
    assert!(run.steps() > steps, "{} steps after {steps}", run.steps());
}

/// All positions so far are held out, so there is nothing to train on yet.
#[test]
fn training_waits_until_the_window_has_positions() {
    let warm_up = "replay.min_positions=100_000";
    let more = ["--set", "limits.positions=0", "--set", "limits.games=150", "--set", warm_up];
    let run = FinishedRun::new(&more);
    let folder = run.path.join("games");
    let held_out: Vec<_> = games::read_all(&folder)
        .expect("games")
        .map(|game| game.expect("a whole game"))
        .filter(holds_out)
        .collect();
    assert!(!held_out.is_empty());
    fs::remove_dir_all(&folder).expect("a folder");
    let mut writer = GameWriter::open(&folder).expect("a folder");
    held_out.iter().for_each(|game| writer.append(game).expect("a game"));
    writer.flush_sync().expect("a disk");
    drop(writer);
    // No checkpoint counts the games that are gone.
    fs::remove_dir_all(run.path.join("checkpoints")).expect("a folder");
    // The quota is 8 positions, so the actors may generate few more positions than there are.
    let limits = ["--set", "limits.games=0", "--set", "limits.positions=1500"];
    let ratio = ["--set", "replay.ratio=8", "--set", "replay.ratio_max=0"];
    succeeds(&run.resume(&[&["--set", "replay.min_positions=1"], &limits[..], &ratio].concat()));
    assert!(run.steps() > 0.0);
}

/// A start cuts off the damaged end and fails before its first checkpoint, as after a kill.
#[test]
fn lost_games_are_still_accepted_by_the_next_start() {
    let run = FinishedRun::small();
    let segment = run.path.join("games/games-000001.ofg");
    let mut bytes = fs::read(&segment).expect("a file");
    *bytes.last_mut().expect("a game") ^= 1;
    fs::write(&segment, &bytes).expect("a file");
    // The run's configuration can be neither read nor written.
    let (stored, moved) = (run.path.join("config.toml"), run.folder.path().join("moved.toml"));
    fs::rename(&stored, &moved).expect("a file");
    fs::create_dir_all(stored.join("in the way")).expect("a folder");
    let config = run.folder.path().join("small.toml");
    let failed = run.resume_for(300.0, &[config.to_str().expect("a path")]);
    refused(&failed, "config.toml");
    let left = fs::metadata(&segment).expect("a file").len();
    assert!(left < bytes.len() as u64, "the damaged end is cut off");

    fs::remove_dir_all(&stored).expect("a folder");
    fs::rename(&moved, &stored).expect("a file");
    assert_eq!(manifest(&run.path)["lost_games"], 1);
    let output = run.resume_for(300.0, &[]);
    succeeds(&output);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("1 games of "), "{stderr}");
    succeeds(&run.resume_for(300.0, &[]));
    assert_eq!(manifest(&run.path)["lost_games"], 0);
}
