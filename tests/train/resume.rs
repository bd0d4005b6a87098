//! Going on with a run: what stays, what is refused, and that a refusal changes nothing.

use std::fs;

use outflank::pipeline::holds_out;
use outflank::store::games::{self, GameWriter};

use crate::common::{Ended, edit_json, manifest, refused, succeeds};

#[test]
fn what_cannot_go_on_leaves_the_run_as_it_was() {
    let run = Ended::new(&[]);
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

/// A larger quota must not be asked for anew for all the nets that were made by a smaller one, nor
/// where the checkpoint is from before that was noted.
#[test]
fn another_ratio_holds_from_where_the_run_stands() {
    for is_noted in [true, false] {
        // A net for each 160 positions, then one for each 640.
        let run = Ended::new(&["--set", "replay.ratio=0.4", "--set", "replay.ratio_max=0"]);
        let steps = run.steps();
        assert!(steps > 10.0, "{steps}");
        if !is_noted {
            edit_json(&run.newest_checkpoint().join("state.json"), |state| {
                let counters = state["state"].as_object_mut().expect("counters");
                assert!(counters.remove("schedule").is_some());
            });
        }
        succeeds(&run.resume_for(3_200.0, &["--set", "replay.ratio=0.1"]));
        let made = run.steps() - steps;
        assert!((3.0..=7.0).contains(&made), "{made} steps for 3,200 positions");
    }
}

#[test]
fn a_run_makes_as_many_steps_as_it_may_and_no_more() {
    let limits = ["--set", "limits.positions=0", "--set", "limits.steps=70"];
    let run = Ended::new(&[&limits[..], &["--set", "learner.steps_per_publish=50"]].concat());
    assert_eq!(run.steps(), 70.0);
    // All that was learnt is in the curves, and no speed of the moment in which the run ended.
    let curves = run.text("metrics.jsonl");
    let last = curves.lines().last().expect("a report");
    assert!(last.contains("loss/total") && !last.contains("speed/"), "{last}");
}

#[test]
fn a_damaged_game_is_told_of_once() {
    let run = Ended::new(&[]);
    let segments = fs::read_dir(run.path.join("games")).expect("a folder");
    let segment = segments.last().expect("a segment").expect("a segment").path();
    let mut bytes = fs::read(&segment).expect("games");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    fs::write(&segment, bytes).expect("a file");
    let output = run.resume_for(500.0, &[]);
    succeeds(&output);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("1 damaged game records"), "{said}");
}

#[test]
fn a_run_that_died_while_it_copied_games_is_refused() {
    let run = Ended::new(&[]);
    edit_json(&run.path.join("run.json"), |manifest| manifest["copying"] = true.into());
    refused(&run.resume(&["--set", "limits.positions=5000"]), "ended before it had them all");
}

/// It died between the two renames of a checkpoint that is saved again.
#[test]
fn the_only_checkpoint_is_found_under_its_other_name() {
    let run = Ended::new(&["--set", "checkpoint.keep_last=1"]);
    let [only] = &run.checkpoints()[..] else { panic!("{:?}", run.checkpoints()) };
    let name = only.file_name().expect("a name").to_string_lossy().into_owned();
    let number = name.rsplit('-').next().expect("a number");
    fs::rename(only, only.with_file_name(format!(".replaced-{number}"))).expect("a rename");
    let steps = run.steps();
    // Three steps are due for these, and the learner may be two behind when the run ends.
    succeeds(&run.resume_for(2_000.0, &[]));
    assert!(run.steps() > steps, "{} steps after {steps}", run.steps());
}

/// All positions so far are held out: there is nothing to learn from yet.
#[test]
fn a_window_without_positions_is_waited_for() {
    let warm_up = "replay.min_positions=100_000";
    let more = ["--set", "limits.positions=0", "--set", "limits.games=150", "--set", warm_up];
    let run = Ended::new(&more);
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
    // A quota of 8 positions, so that the actors may make hardly more than are there.
    let limits = ["--set", "limits.games=0", "--set", "limits.positions=1500"];
    let ratio = ["--set", "replay.ratio=8", "--set", "replay.ratio_max=0"];
    succeeds(&run.resume(&[&["--set", "replay.min_positions=1"], &limits[..], &ratio].concat()));
    assert!(run.steps() > 0.0);
}

/// A start cuts the damaged end off and fails before its first checkpoint, as it would by a kill.
#[test]
fn a_damaged_game_is_accepted_by_the_next_start_as_well() {
    let run = Ended::small();
    let segment = run.path.join("games/games-000001.ofg");
    let mut bytes = fs::read(&segment).expect("a file");
    *bytes.last_mut().expect("a game") ^= 1;
    fs::write(&segment, &bytes).expect("a file");
    // Here the configuration can be neither read nor written.
    let (stored, aside) = (run.path.join("config.toml"), run.folder.path().join("aside.toml"));
    fs::rename(&stored, &aside).expect("a file");
    fs::create_dir_all(stored.join("in the way")).expect("a folder");
    let config = run.folder.path().join("small.toml");
    let failed = run.resume_for(300.0, &[config.to_str().expect("a path")]);
    refused(&failed, "config.toml");
    let left = fs::metadata(&segment).expect("a file").len();
    assert!(left < bytes.len() as u64, "the damaged end is cut off");

    fs::remove_dir_all(&stored).expect("a folder");
    fs::rename(&aside, &stored).expect("a file");
    assert_eq!(manifest(&run.path)["lost_games"], 1);
    let output = run.resume_for(300.0, &[]);
    succeeds(&output);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("1 games of "), "{said}");
    succeeds(&run.resume_for(300.0, &[]));
    assert_eq!(manifest(&run.path)["lost_games"], 0);
}
