//! Tests of atomic writes, length limits and locks.

use super::*;

#[test]
fn replacing_a_file_leaves_no_temporary_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.json");
    write_atomically(&path, b"one").unwrap();
    write_atomically(&path, b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

/// Without the check this test does not end.
#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_stored_file_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo");
    assert!(made.success());
    let error = read_stored(&path, 100).unwrap_err();
    assert!(error.source.to_string().contains("pipe"), "{error:?}");
    assert!(read_start(&path, 100).is_err());
    assert!(is_locked(&path), "what cannot be opened counts as locked");
    // A user may name a pipe, and waits for it.
    let writer = path.clone();
    let written = std::thread::spawn(move || fs::write(writer, b"seed = 1"));
    assert_eq!(read(&path, 100).unwrap(), b"seed = 1");
    written.join().unwrap().unwrap();
}

#[test]
fn an_error_names_the_path() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("missing").join("a.json");
    let error = write_atomically(&path, b"one").unwrap_err();
    assert!(error.to_string().contains("missing"), "{error}");
    assert!(error.is_missing());
}

/// One byte over the limit is refused, whether the length is known or not.
#[test]
fn a_file_over_the_limit_is_refused_with_both_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.json");
    fs::write(&path, b"12345").unwrap();
    assert_eq!(read(&path, 5).unwrap(), b"12345");
    let error = read(&path, 4).unwrap_err();
    assert!(error.to_string().ends_with("a.json"), "{error}");
    assert_eq!(error.source.to_string(), "it has 5 bytes; at most 4 are read");
    assert_eq!(read_text(&b"12345"[..], 5).unwrap(), "12345");
    let error = read_text(&b"12345"[..], 4).unwrap_err();
    assert_eq!(error.to_string(), "it has more than 4 bytes; at most 4 are read");
}

/// A sparse file of 2^40 bytes would end the process if it were read.
#[test]
fn a_huge_file_is_refused_before_it_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("huge");
    let huge = File::create(&path).unwrap();
    if huge.set_len(1 << 40).is_err() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: this file system has no sparse files");
        return;
    }
    let error = read(&path, 1 << 20).unwrap_err();
    assert!(error.source.to_string().contains("it has 1099511627776 bytes"), "{error:?}");
}

#[test]
fn an_endless_device_is_refused() {
    let path = Path::new("/dev/zero");
    if path.exists() {
        let error = read(path, 1000).unwrap_err();
        assert!(error.source.to_string().contains("more than 1000 bytes"), "{error:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_moved_or_replaced_file_is_detected() {
    let dir = tempfile::tempdir().unwrap();
    let (path, elsewhere) = (dir.path().join("a"), dir.path().join("b"));
    let file = File::create(&path).unwrap();
    assert!(is_still_at(&file, &path).unwrap());
    fs::rename(&path, &elsewhere).unwrap();
    assert!(!is_still_at(&file, &path).unwrap());
    assert!(is_still_at(&file, &elsewhere).unwrap());
    fs::write(&path, "").unwrap();
    assert!(!is_still_at(&file, &path).unwrap(), "another file of that name");
    assert!(!is_still_at(&file, &path.join("below")).unwrap());
}

#[test]
fn a_lock_excludes_others_and_is_visible() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    assert!(!is_locked(&path));
    let file = File::create(&path).unwrap();
    assert!(!is_locked(&path));
    assert!(lock(&file, &path).unwrap());
    assert!(is_locked(&path));
    assert!(!lock(&File::open(&path).unwrap(), &path).unwrap());
    drop(file);
    assert!(!is_locked(&path));
}

#[test]
fn only_temporary_files_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let others = ["a.json", ".a.json.tmp", ".7.tmp", "a.json.7.tmp", ".b.7.tmp2"];
    for name in others.iter().chain(&[".a.json.7.tmp", ".config.toml.12345.tmp"]) {
        fs::write(dir.path().join(name), "").unwrap();
    }
    remove_temporary_files(dir.path()).unwrap();
    let left = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut left: Vec<_> = left.map(|name| name.into_string().unwrap()).collect();
    left.sort();
    assert_eq!(left, [".7.tmp", ".a.json.tmp", ".b.7.tmp2", "a.json", "a.json.7.tmp"]);
}

#[test]
fn a_permission_error_names_the_operation() {
    let refused = |action| {
        let source = io::Error::from(io::ErrorKind::PermissionDenied);
        FileError::at(action, Path::new("net"))(source).to_string()
    };
    assert!(refused(Action::Read).contains("may not read"));
    assert!(refused(Action::Write).contains("may not write"));
}

#[test]
fn a_full_disk_is_named_in_the_error() {
    let path = Path::new("/dev/full");
    if !path.exists() {
        // Not `eprintln!`: the test runner hides its output for tests that pass.
        let _ = writeln!(std::io::stderr(), "SKIPPED: a full disk: this system has no /dev/full");
        return;
    }
    let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
    let error = FileError::at(Action::Write, path)(file.write_all(b"x").unwrap_err());
    assert!(error.to_string().contains("/dev/full (the disk is full"), "{error}");
}
