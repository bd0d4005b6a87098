//! Tests of run directories: locking, states in the list of runs, and errors.

use super::*;

#[test]
fn a_run_is_created_and_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs").join("first");
    let mut run = RunDir::create(&path, "seed = 7\n", 7).unwrap();
    assert!(run.games().is_dir() && run.checkpoints().is_dir());
    run.start("seed = 7\n").unwrap();
    let summary = RunSummary { games: 3, best_rating: Some(-12.5), ..RunSummary::default() };
    run.record(State::Stopped, summary).unwrap();
    drop(run);
    let mut run = RunDir::open(&path).unwrap();
    assert_eq!(run.config().unwrap(), "seed = 7\n");
    // Opening a run does not change it, only `start` does.
    assert_eq!((run.manifest().starts, run.manifest().state), (1, State::Stopped));
    run.start("seed = 7\nboard = \"6x6\"\n").unwrap();
    drop(run);
    let run = RunDir::open(&path).unwrap();
    assert_eq!(run.config().unwrap(), "seed = 7\nboard = \"6x6\"\n");
    assert_eq!((run.manifest().starts, run.manifest().seed), (2, 7));
    assert_eq!(run.manifest().summary, summary);
    assert_eq!(run.manifest().state, State::Running);
}

#[test]
fn a_directory_has_one_owner() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let run = RunDir::create(&path, "", 1).unwrap();
    for second in [RunDir::open(&path), RunDir::create(&path, "", 1)] {
        let error = second.unwrap_err();
        let own = Some(std::process::id());
        assert!(matches!(error, RunDirError::Locked { holder, .. } if holder == own), "{error}");
    }
    drop(run);
    let error = RunDir::create(&path, "", 1).unwrap_err();
    assert!(matches!(error, RunDirError::Exists { .. }), "{error}");
    assert!(RunDir::open(&path).is_ok());
}

#[test]
fn a_run_whose_creation_was_interrupted_can_be_created_again() {
    let dir = tempfile::tempdir().unwrap();
    drop(RunDir::create(dir.path(), "old", 1).unwrap());
    fs::remove_file(dir.path().join(MANIFEST)).unwrap();
    fs::write(dir.path().join(".run.json.17.tmp"), "{").unwrap();
    let run = RunDir::create(dir.path(), "new", 1).unwrap();
    assert_eq!(run.config().unwrap(), "new\n");
}

#[test]
fn directories_with_other_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("thesis.tex"), "").unwrap();
    let error = RunDir::create(dir.path(), "", 1).unwrap_err().to_string();
    assert!(error.ends_with("it holds `thesis.tex`"), "{error}");
    assert!(matches!(RunDir::open(dir.path()), Err(RunDirError::NoRun { .. })));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_directory_that_cannot_be_created_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let error = RunDir::create(&dir.path().join("file/run"), "", 1).unwrap_err().to_string();
    assert!(error.contains("file/run"), "{error}");
}

#[test]
fn the_list_distinguishes_running_and_killed_runs() {
    let dir = tempfile::tempdir().unwrap();
    let make = |name: &str| RunDir::create(&dir.path().join(name), "", 1).unwrap();
    let _running = make("running");
    make("stopped").record(State::Stopped, RunSummary::default()).unwrap();
    make("finished").record(State::Finished, RunSummary::default()).unwrap();
    drop(make("killed"));
    drop(make("unreadable"));
    fs::write(dir.path().join("unreadable/run.json"), "{").unwrap();
    fs::create_dir(dir.path().join("no run")).unwrap();
    let runs = list(dir.path()).unwrap();
    assert_eq!(runs.len(), 5);
    for run in runs {
        let name = run.path.file_name().unwrap().to_str().unwrap();
        match run.manifest {
            Ok(manifest) => assert_eq!(manifest.state.name(), name),
            Err(error) => assert!(name == "unreadable", "{error}"),
        }
    }
    let one = list(&dir.path().join("stopped")).unwrap();
    assert_eq!(one.len(), 1);
    assert!(list(&dir.path().join("none")).unwrap().is_empty());
}

#[test]
fn a_newer_version_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(RunDir::create(dir.path(), "", 1).unwrap());
    fs::write(dir.path().join(MANIFEST), r#"{"version": 8}"#).unwrap();
    let error = RunDir::open(dir.path()).unwrap_err();
    let is_newer = matches!(error, RunDirError::Manifest(JsonFileError::Version { found: 8, .. }));
    assert!(is_newer, "{error}");
}

/// Another process changes a directory that is in use.
#[cfg(unix)]
#[test]
fn a_moved_or_replaced_directory_is_not_written_to() {
    type Fault = fn(&Path);
    let faults: [Fault; 4] = [
        |path| fs::remove_file(path.join(LOCK)).unwrap(),
        |path| {
            fs::remove_file(path.join(LOCK)).unwrap();
            fs::write(path.join(LOCK), "").unwrap();
        },
        |path| fs::rename(path, path.with_file_name("moved")).unwrap(),
        |path| {
            fs::rename(path, path.with_file_name("moved")).unwrap();
            drop(RunDir::create(path, "another", 2).unwrap());
        },
    ];
    for fault in faults {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run");
        let mut run = RunDir::create(&path, "", 1).unwrap();
        run.check().unwrap();
        fault(&path);
        let before = fs::read(path.join(MANIFEST)).ok();
        for refused in
            [run.check(), run.record(State::Failed, RunSummary::default()), run.start("")]
        {
            assert!(matches!(refused, Err(RunDirError::Lost { .. })), "{refused:?}");
        }
        assert_eq!(fs::read(path.join(MANIFEST)).ok(), before);
    }
}

#[test]
fn parts_that_are_removed_during_a_run_are_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut run = RunDir::create(dir.path(), "seed = 1\n", 1).unwrap();
    run.start("seed = 2\n").unwrap();
    run.check().unwrap();
    let files = [CONFIG, MANIFEST].map(|name| dir.path().join(name));
    let before = files.clone().map(|file| fs::read(file).unwrap());
    files.iter().for_each(|file| fs::remove_file(file).unwrap());
    fs::remove_dir(run.checkpoints()).unwrap();
    run.check().unwrap();
    assert_eq!(files.map(|file| fs::read(file).unwrap()), before);
    assert!(run.checkpoints().is_dir());
}

#[test]
fn a_run_without_its_lock_file_is_running_while_its_games_are_locked() {
    let dir = tempfile::tempdir().unwrap();
    let run = RunDir::create(&dir.path().join("run"), "", 1).unwrap();
    let writer = crate::store::games::GameWriter::open(&run.games()).unwrap();
    fs::remove_file(run.path().join(LOCK)).unwrap();
    let state = || list(dir.path()).unwrap()[0].manifest.as_ref().unwrap().state;
    assert_eq!(state(), State::Running);
    drop((run, writer));
    assert_eq!(state(), State::Killed);
}

#[test]
fn a_start_removes_temporary_files_of_dead_processes() {
    let dir = tempfile::tempdir().unwrap();
    let mut run = RunDir::create(dir.path(), "", 1).unwrap();
    let strays = [".run.json.17.tmp", ".config.toml.18.tmp"].map(|name| dir.path().join(name));
    strays.iter().for_each(|path| fs::write(path, "{").unwrap());
    run.start("").unwrap();
    assert!(strays.iter().all(|path| !path.exists()));
}

#[test]
fn a_manifest_without_checksum_is_read_and_an_altered_one_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(RunDir::create(dir.path(), "", 1).unwrap());
    let path = dir.path().join(MANIFEST);
    let mut manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    manifest["seed"] = 3.into();
    fs::write(&path, manifest.to_string()).unwrap();
    let error = RunDir::open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("run.json is damaged or was edited"), "{error}");
    manifest.as_object_mut().unwrap().remove("crc32").unwrap();
    fs::write(&path, manifest.to_string()).unwrap();
    assert_eq!(RunDir::open(dir.path()).unwrap().manifest().seed, 3);
}

#[cfg(unix)]
#[test]
fn an_unreadable_directory_is_not_treated_as_one_without_a_run() {
    let dir = tempfile::tempdir().unwrap();
    drop(RunDir::create(&dir.path().join("good"), "", 1).unwrap());
    // A link to itself cannot be read, even by root.
    let endless = dir.path().join("endless");
    std::os::unix::fs::symlink(&endless, &endless).unwrap();
    let error = is_run(&endless).unwrap_err();
    assert!(error.to_string().contains("endless"), "{error}");
    assert!(matches!(RunDir::open(&endless), Err(RunDirError::File(_))));
    assert!(matches!(RunDir::create(&endless, "", 1), Err(RunDirError::File(_))));
    assert!(list(&endless).is_err());
    let listed = list(dir.path()).unwrap();
    let names: Vec<_> = listed.iter().map(|run| run.path.file_name().unwrap()).collect();
    assert_eq!(names, ["good", "endless"]);
    assert!(listed[0].manifest.is_ok());
    assert!(matches!(listed[1].manifest, Err(RunDirError::File(_))));
    assert!(!is_run(&dir.path().join("missing")).unwrap());
    fs::write(dir.path().join("file"), "").unwrap();
    assert!(!is_run(&dir.path().join("file")).unwrap());
}
