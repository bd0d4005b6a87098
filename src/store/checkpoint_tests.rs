//! Tests of checkpoints: whole or not at all, the rule, and finding a net by a path.

use serde_json::json;

use super::*;
use crate::store::net_file::tests::a_net;
use crate::store::run_dir;

fn a_checkpoint(step: u64, minutes: f64) -> Checkpoint {
    Checkpoint {
        step,
        minutes,
        net: a_net(step as f32),
        learner: Some(vec![step as u8; 100]),
        state: json!({"games": step * 3, "stream": [1, 2, u64::MAX], "rate": 0.1}),
        keep_net: false,
    }
}

fn steps(dir: &Path) -> Vec<u64> {
    list(dir).unwrap().into_iter().map(|(step, _)| step).collect()
}

#[test]
fn a_checkpoint_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    for learner in [None, Some(vec![1, 2, 3])] {
        let checkpoint = Checkpoint { learner, ..a_checkpoint(7, 1.0 / 3.0) };
        let path = checkpoint.save(dir.path()).unwrap();
        assert_eq!(path.file_name().unwrap(), "step-00000007");
        assert_eq!(Checkpoint::load(&path).unwrap(), checkpoint);
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_damaged_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = a_checkpoint(7, 1.0).save(dir.path()).unwrap();
    for name in [NET, LEARNER, STATE] {
        let file = path.join(name);
        let good = fs::read(&file).unwrap();
        for bad in [&good[..good.len() / 2], b"", &[&good[..], b"x"].concat()] {
            fs::write(&file, bad).unwrap();
            let error = Checkpoint::load(&path).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
        fs::remove_file(&file).unwrap();
        let error = Checkpoint::load(&path).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
        fs::write(&file, good).unwrap();
    }
    assert!(Checkpoint::load(&path).is_ok());
}

#[test]
fn a_newer_layout_is_refused_as_such() {
    let dir = tempfile::tempdir().unwrap();
    let path = a_checkpoint(7, 1.0).save(dir.path()).unwrap();
    fs::write(path.join(STATE), r#"{"version": 9, "new": true}"#).unwrap();
    let error = Checkpoint::load(&path).unwrap_err();
    assert!(
        matches!(error, CheckpointError::State(JsonFileError::Version { found: 9, .. })),
        "{error}"
    );
}

/// The states that a process can die in while it saves step 7 over step 7.
#[test]
fn a_death_in_the_middle_of_saving_leaves_one_whole_checkpoint() {
    let old = a_checkpoint(7, 1.0);
    let prepare = || {
        let dir = tempfile::tempdir().unwrap();
        old.save(dir.path()).unwrap();
        dir
    };
    // While filling: the old one stands.
    let dir = prepare();
    fs::create_dir(folder(dir.path(), FILLING, 7)).unwrap();
    fs::write(folder(dir.path(), FILLING, 7).join(NET), b"half").unwrap();
    assert_eq!(Checkpoint::load(&newest(dir.path()).unwrap()).unwrap(), old);
    // Between the two renames: the old one counts again.
    let dir = prepare();
    rename(&folder(dir.path(), PREFIX, 7), &folder(dir.path(), REPLACED, 7)).unwrap();
    assert_eq!(Checkpoint::load(&newest(dir.path()).unwrap()).unwrap(), old);
    // Before the old one is removed: the new one stands.
    let dir = prepare();
    rename(&folder(dir.path(), PREFIX, 7), &folder(dir.path(), REPLACED, 7)).unwrap();
    let new = a_checkpoint(7, 2.0);
    new.fill(&folder(dir.path(), PREFIX, 7)).unwrap();
    assert_eq!(Checkpoint::load(&newest(dir.path()).unwrap()).unwrap(), new);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_failed_save_leaves_the_older_ones_and_no_rubbish() {
    let dir = tempfile::tempdir().unwrap();
    a_checkpoint(1, 1.0).save(dir.path()).unwrap();
    // A file where the folder should come makes the save fail, whoever the user is.
    fs::write(folder(dir.path(), FILLING, 2), b"").unwrap();
    let error = a_checkpoint(2, 2.0).save(dir.path()).unwrap_err().to_string();
    assert!(error.contains("filling-00000002"), "{error}");
    assert_eq!(steps(dir.path()), [1]);
    // Nor does one that fails half way: here a folder is where the net should come.
    let filling = folder(dir.path(), FILLING, 3);
    fs::create_dir_all(filling.join(NET)).unwrap();
    a_checkpoint(3, 3.0).fill_or_remove(&filling).unwrap_err();
    assert!(!filling.exists());
}

#[test]
fn the_rule_keeps_the_newest_and_some_older_ones() {
    let dir = tempfile::tempdir().unwrap();
    let rule = Retention { every_minutes: 5.0, keep_last: 2, keep_every_minutes: 30.0 };
    for step in 0..20 {
        a_checkpoint(step, step as f64 * 5.0).save(dir.path()).unwrap();
        prune(dir.path(), &rule).unwrap();
    }
    assert_eq!(steps(dir.path()), [0, 6, 12, 18, 19]);
    let none = Retention { keep_last: 1, keep_every_minutes: 0.0, ..rule };
    assert_eq!(prune(dir.path(), &none).unwrap(), 4);
    assert_eq!(steps(dir.path()), [19]);
    assert_eq!(prune(dir.path(), &none).unwrap(), 0);
}

/// Wherever the process dies, the net is there, and the next time the rest of the learner goes.
#[test]
fn a_rated_net_stays_without_its_learner() {
    let dir = tempfile::tempdir().unwrap();
    let rule = Retention { every_minutes: 5.0, keep_last: 1, keep_every_minutes: 0.0 };
    let rated = Checkpoint { keep_net: true, ..a_checkpoint(1, 5.0) };
    let path = rated.save(dir.path()).unwrap();
    assert_eq!(prune(dir.path(), &rule).unwrap(), 0);
    assert_eq!(Checkpoint::load(&path).unwrap(), rated, "the newest is whole");
    for step in 2..4 {
        a_checkpoint(step, 5.0 * step as f64).save(dir.path()).unwrap();
        prune(dir.path(), &rule).unwrap();
    }
    assert_eq!(steps(dir.path()), [1, 3]);
    let kept = Checkpoint { learner: None, ..rated.clone() };
    assert_eq!(Checkpoint::load(&path).unwrap(), kept);
    // It died before the file was removed.
    fs::write(path.join(LEARNER), rated.learner.unwrap()).unwrap();
    assert_eq!(Checkpoint::load(&path).unwrap(), kept);
    prune(dir.path(), &rule).unwrap();
    assert!(!path.join(LEARNER).exists() && path.join(NET).exists());
}

/// A rated net that has lost its learner does not stand for its span: a run cannot go on from it.
#[test]
fn a_net_alone_is_not_what_a_span_keeps() {
    let dir = tempfile::tempdir().unwrap();
    let last = Retention { every_minutes: 5.0, keep_last: 1, keep_every_minutes: 0.0 };
    Checkpoint { keep_net: true, ..a_checkpoint(1, 1.0) }.save(dir.path()).unwrap();
    a_checkpoint(2, 2.0).save(dir.path()).unwrap();
    assert_eq!(prune(dir.path(), &last).unwrap(), 0);
    assert_eq!(Checkpoint::load(&path(dir.path(), 1)).unwrap().learner, None);
    a_checkpoint(3, 3.0).save(dir.path()).unwrap();
    a_checkpoint(4, 4.0).save(dir.path()).unwrap();
    let spans = Retention { keep_every_minutes: 30.0, ..last };
    assert_eq!(prune(dir.path(), &spans).unwrap(), 1);
    assert_eq!(steps(dir.path()), [1, 2, 4]);
    assert_eq!(Checkpoint::load(&path(dir.path(), 2)).unwrap(), a_checkpoint(2, 2.0));
}

/// A kill while `state.json` is rewritten leaves the new one under a hidden name.
#[test]
fn a_state_that_was_being_rewritten_is_cleared_away() {
    let dir = tempfile::tempdir().unwrap();
    let rated = Checkpoint { keep_net: true, ..a_checkpoint(1, 1.0) };
    let old = rated.save(dir.path()).unwrap();
    let stray = old.join(format!(".{STATE}.4711.tmp"));
    let is_gone = |clear: &dyn Fn()| {
        fs::write(&stray, b"half").unwrap();
        clear();
        !stray.exists()
    };
    assert!(is_gone(&|| drop(newest(dir.path()).unwrap())), "a run that goes on");
    assert!(is_gone(&|| drop(a_checkpoint(2, 2.0).save(dir.path()).unwrap())), "the next one");
    let rule = Retention { every_minutes: 5.0, keep_last: 1, keep_every_minutes: 0.0 };
    prune(dir.path(), &rule).unwrap();
    assert!(is_gone(&|| drop(newest(dir.path()).unwrap())), "a net alone");
    let kept = Checkpoint { learner: None, ..rated };
    assert_eq!(Checkpoint::load(&old).unwrap(), kept);
    assert_eq!(steps(dir.path()), [1, 2]);
}

#[test]
fn a_net_is_found_by_file_checkpoint_folder_and_run() {
    let run = tempfile::tempdir().unwrap();
    let dir = run.path().join(run_dir::CHECKPOINTS);
    a_checkpoint(1, 1.0).save(&dir).unwrap();
    let newest = a_checkpoint(2, 2.0).save(&dir).unwrap();
    for path in [run.path(), &dir, &newest, &newest.join(NET)] {
        assert_eq!(load_net(path).unwrap(), a_net(2.0), "{}", path.display());
    }
}

#[test]
fn paths_that_lead_nowhere_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let message = |path: &Path| load_net(path).unwrap_err().to_string();
    assert!(message(&dir.path().join("none")).starts_with("cannot read"));
    assert!(message(dir.path()).contains("neither a net file"));
    let file = dir.path().join("file");
    fs::write(&file, "text").unwrap();
    assert!(message(&file).contains("is no net"));
    assert!(matches!(
        super::newest(&dir.path().join("none")),
        Err(CheckpointError::NoneYet { .. })
    ));
}

/// A kill while an old checkpoint is removed leaves some of its files under a hidden name; one of
/// an older version left them under the checkpoint's own.
#[test]
fn half_removed_checkpoints_are_cleared_away() {
    let dir = tempfile::tempdir().unwrap();
    for step in 1..=4 {
        a_checkpoint(step, 1.0).save(dir.path()).unwrap();
    }
    rename(&folder(dir.path(), PREFIX, 1), &folder(dir.path(), REMOVING, 1)).unwrap();
    fs::remove_file(folder(dir.path(), REMOVING, 1).join(LEARNER)).unwrap();
    fs::remove_file(folder(dir.path(), PREFIX, 2).join(STATE)).unwrap();
    newest(dir.path()).unwrap();
    assert_eq!(steps(dir.path()), [3, 4]);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    // The newest one stays, whatever it lacks: that it cannot be used must be said.
    fs::remove_file(folder(dir.path(), PREFIX, 4).join(STATE)).unwrap();
    newest(dir.path()).unwrap();
    assert_eq!(steps(dir.path()), [3, 4]);
}

/// The folder that is being removed never has the name of a checkpoint.
#[test]
fn a_checkpoint_that_cannot_be_removed_is_hidden() {
    let dir = tempfile::tempdir().unwrap();
    let rule = Retention { every_minutes: 5.0, keep_last: 1, keep_every_minutes: 0.0 };
    a_checkpoint(1, 1.0).save(dir.path()).unwrap();
    a_checkpoint(2, 2.0).save(dir.path()).unwrap();
    // A file where the hidden folder should come makes the removal fail before it begins.
    fs::write(folder(dir.path(), REMOVING, 1), b"").unwrap();
    prune(dir.path(), &rule).unwrap_err();
    assert_eq!(Checkpoint::load(&folder(dir.path(), PREFIX, 1)).unwrap(), a_checkpoint(1, 1.0));
    fs::remove_file(folder(dir.path(), REMOVING, 1)).unwrap();
    assert_eq!(prune(dir.path(), &rule).unwrap(), 1);
    assert_eq!(steps(dir.path()), [2]);
}

#[test]
fn a_state_without_a_checksum_is_of_an_older_version() {
    let dir = tempfile::tempdir().unwrap();
    let path = a_checkpoint(7, 1.0).save(dir.path()).unwrap();
    let file = path.join(STATE);
    let text = fs::read_to_string(&file).unwrap();
    let edited = text.replace("\"games\": 21", "\"games\": 22");
    assert_ne!(edited, text);
    fs::write(&file, &edited).unwrap();
    let error = Checkpoint::load(&path).unwrap_err().to_string();
    assert!(error.contains("state.json is damaged or was edited"), "{error}");
    let mut state: serde_json::Value = serde_json::from_str(&edited).unwrap();
    state.as_object_mut().unwrap().remove("crc32").unwrap();
    fs::write(&file, state.to_string()).unwrap();
    assert_eq!(Checkpoint::load(&path).unwrap().state["games"], 22);
}
