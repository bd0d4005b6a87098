//! Tests of whole files, their limits and their locks.

use super::*;

#[test]
fn a_replaced_file_leaves_no_other_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.json");
    write_atomically(&path, b"one").unwrap();
    write_atomically(&path, b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn an_error_names_the_path_and_leaves_the_old_content() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("missing").join("a.json");
    let error = write_atomically(&path, b"one").unwrap_err();
    assert!(error.to_string().contains("missing"), "{error}");
    assert!(error.is_missing());
}

/// One byte over the limit is refused, whether the file knows its length or not.
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
    assert_eq!(error.to_string(), "it has more bytes; at most 4 are read");
}

/// A file of 2^40 bytes that takes no room on the disk would end the process if it were read.
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
fn a_device_without_an_end_is_refused() {
    let path = Path::new("/dev/zero");
    if path.exists() {
        assert!(read(path, 1000).unwrap_err().source.to_string().contains("more bytes"));
    }
}

#[cfg(unix)]
#[test]
fn an_open_file_knows_whether_it_is_still_the_one_at_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let (path, elsewhere) = (dir.path().join("a"), dir.path().join("b"));
    let file = File::create(&path).unwrap();
    assert!(stands_at(&file, &path).unwrap());
    fs::rename(&path, &elsewhere).unwrap();
    assert!(!stands_at(&file, &path).unwrap());
    assert!(stands_at(&file, &elsewhere).unwrap());
    fs::write(&path, "").unwrap();
    assert!(!stands_at(&file, &path).unwrap(), "another file of that name");
    assert!(!stands_at(&file, &path.join("below")).unwrap());
}

#[test]
fn a_lock_keeps_others_out_and_is_seen() {
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
fn unfinished_files_are_cleared_away_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let others = ["a.json", ".a.json.tmp", ".7.tmp", "a.json.7.tmp", ".b.7.tmp2"];
    for name in others.iter().chain(&[".a.json.7.tmp", ".config.toml.12345.tmp"]) {
        fs::write(dir.path().join(name), "").unwrap();
    }
    remove_unfinished(dir.path()).unwrap();
    let left = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut left: Vec<_> = left.map(|name| name.into_string().unwrap()).collect();
    left.sort();
    assert_eq!(left, [".7.tmp", ".a.json.tmp", ".b.7.tmp2", "a.json", "a.json.7.tmp"]);
}

#[test]
fn who_may_not_read_is_not_told_about_writing() {
    let refused = |action| {
        let source = io::Error::from(io::ErrorKind::PermissionDenied);
        FileError::at(action, Path::new("net"))(source).to_string()
    };
    assert!(refused(Action::Read).contains("may not read"));
    assert!(refused(Action::Write).contains("may not write"));
}

#[test]
fn a_full_disk_is_told_as_one() {
    let path = Path::new("/dev/full");
    if !path.exists() {
        // Past the runner, which keeps what passing tests print to itself.
        let _ = writeln!(std::io::stderr(), "SKIPPED: a full disk: this system has no /dev/full");
        return;
    }
    let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
    let error = FileError::at(Action::Write, path)(file.write_all(b"x").unwrap_err());
    assert!(error.to_string().contains("/dev/full (the disk is full"), "{error}");
}
