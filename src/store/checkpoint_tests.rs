//! Tests of checkpoints: saving, recovery after a crash, retention, and finding a net by a path.

use serde_json::json;

use super::*;
use crate::store::model_file::tests::a_net;
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
fn a_saved_checkpoint_is_loaded_unchanged() {
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
fn a_newer_version_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = a_checkpoint(7, 1.0).save(dir.path()).unwrap();
    fs::write(path.join(STATE), r#"{"version": 9, "new": true}"#).unwrap();
    let error = Checkpoint::load(&path).unwrap_err();
    assert!(
        matches!(error, CheckpointError::State(JsonFileError::Version { found: 9, .. })),
        "{error}"
    );
}

/// The process can die at each of these points while it replaces the checkpoint of step 7.
#[test]
fn a_crash_while_saving_leaves_one_complete_checkpoint() {
    let old = a_checkpoint(7, 1.0);
    let prepare = || {
        let dir = tempfile::tempdir().unwrap();
        old.save(dir.path()).unwrap();
        dir
    };
    // While the new folder is written: the old checkpoint is still there.
    let dir = prepare();
    fs::create_dir(folder(dir.path(), FILLING, 7)).unwrap();
    fs::write(folder(dir.path(), FILLING, 7).join(NET), b"half").unwrap();
    assert_eq!(Checkpoint::load(&newest(dir.path()).unwrap()).unwrap(), old);
    // Between the two renames: the old checkpoint gets its name back.
    let dir = prepare();
    rename(&folder(dir.path(), PREFIX, 7), &folder(dir.path(), REPLACED, 7)).unwrap();
    assert_eq!(Checkpoint::load(&newest(dir.path()).unwrap()).unwrap(), old);
    // Before the old checkpoint is removed: the new one is in place.
    let dir = prepare();
    rename(&folder(dir.path(), PREFIX, 7), &folder(dir.path(), REPLACED, 7)).unwrap();
    let new = a_checkpoint(7, 2.0);
    new.fill(&folder(dir.path(), PREFIX, 7)).unwrap();
    assert_eq!(Checkpoint::load(&newest(dir.path()).unwrap()).unwrap(), new);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_failed_save_leaves_the_older_checkpoints_and_no_files() {
    let dir = tempfile::tempdir().unwrap();
    a_checkpoint(1, 1.0).save(dir.path()).unwrap();
    // A file in the place of the folder makes the save fail, even for root.
    fs::write(folder(dir.path(), FILLING, 2), b"").unwrap();
    let error = a_checkpoint(2, 2.0).save(dir.path()).unwrap_err().to_string();
    assert!(error.contains("filling-00000002"), "{error}");
    assert_eq!(steps(dir.path()), [1]);
    // A save that fails half way leaves no files: here a folder is in the place of the net.
    let filling = folder(dir.path(), FILLING, 3);
    fs::create_dir_all(filling.join(NET)).unwrap();
    a_checkpoint(3, 3.0).fill_or_remove(&filling).unwrap_err();
    assert!(!filling.exists());
}

#[test]
fn pruning_keeps_the_newest_and_some_older_checkpoints() {
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

/// If the process dies while the learner's file is removed, the net is still there, and the next
/// `prune` removes the file.
#[test]
fn a_rated_net_is_kept_without_its_learner() {
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
    // The process died before the file was removed.
    fs::write(path.join(LEARNER), rated.learner.unwrap()).unwrap();
    assert_eq!(Checkpoint::load(&path).unwrap(), kept);
    prune(dir.path(), &rule).unwrap();
    assert!(!path.join(LEARNER).exists() && path.join(NET).exists());
}

/// A run cannot be resumed from a checkpoint without a learner, so such a checkpoint is not the
/// one that is kept for its interval.
#[test]
fn a_checkpoint_without_a_learner_is_not_kept_for_an_interval() {
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

/// A kill while `state.json` is rewritten leaves a temporary file with a hidden name.
#[test]
fn a_temporary_state_file_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let rated = Checkpoint { keep_net: true, ..a_checkpoint(1, 1.0) };
    let old = rated.save(dir.path()).unwrap();
    let stray = old.join(format!(".{STATE}.4711.tmp"));
    let is_gone = |clear: &dyn Fn()| {
        fs::write(&stray, b"half").unwrap();
        clear();
        !stray.exists()
    };
    assert!(is_gone(&|| drop(newest(dir.path()).unwrap())), "at a resume");
    assert!(is_gone(&|| drop(a_checkpoint(2, 2.0).save(dir.path()).unwrap())), "at the next save");
    let rule = Retention { every_minutes: 5.0, keep_last: 1, keep_every_minutes: 0.0 };
    prune(dir.path(), &rule).unwrap();
    assert!(is_gone(&|| drop(newest(dir.path()).unwrap())), "in a checkpoint without a learner");
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
        assert_eq!(load_model(path).unwrap(), a_net(2.0), "{}", path.display());
    }
}

#[test]
fn paths_without_a_net_have_different_errors() {
    let dir = tempfile::tempdir().unwrap();
    let message = |path: &Path| load_model(path).unwrap_err().to_string();
    assert!(message(&dir.path().join("none")).starts_with("cannot read"));
    assert!(message(dir.path()).contains("neither a net file"));
    let file = dir.path().join("file");
    fs::write(&file, "text").unwrap();
    assert!(message(&file).contains("is no model"));
    assert!(matches!(
        super::newest(&dir.path().join("none")),
        Err(CheckpointError::NoneYet { .. })
    ));
}

/// A kill while an old checkpoint is removed leaves some of its files in a hidden folder. An older
/// version of this program left them in a folder with the checkpoint's name.
#[test]
fn partly_removed_checkpoints_are_deleted() {
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
    // The newest checkpoint is kept, even if files are missing: the user must get an error.
    fs::remove_file(folder(dir.path(), PREFIX, 4).join(STATE)).unwrap();
    newest(dir.path()).unwrap();
    assert_eq!(steps(dir.path()), [3, 4]);
}

/// A checkpoint is renamed before it is removed; if the rename fails, nothing is removed.
#[test]
fn a_checkpoint_that_cannot_be_removed_stays_complete() {
    let dir = tempfile::tempdir().unwrap();
    let rule = Retention { every_minutes: 5.0, keep_last: 1, keep_every_minutes: 0.0 };
    a_checkpoint(1, 1.0).save(dir.path()).unwrap();
    a_checkpoint(2, 2.0).save(dir.path()).unwrap();
    // A file in the place of the hidden folder makes the removal fail before it starts.
    fs::write(folder(dir.path(), REMOVING, 1), b"").unwrap();
    prune(dir.path(), &rule).unwrap_err();
    assert_eq!(Checkpoint::load(&folder(dir.path(), PREFIX, 1)).unwrap(), a_checkpoint(1, 1.0));
    fs::remove_file(folder(dir.path(), REMOVING, 1)).unwrap();
    assert_eq!(prune(dir.path(), &rule).unwrap(), 1);
    assert_eq!(steps(dir.path()), [2]);
}

#[test]
fn a_state_without_a_checksum_is_read_as_it_is() {
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
