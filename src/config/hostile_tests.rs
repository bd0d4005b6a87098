//! Tests with configurations that try to use much time or memory.

use super::*;

/// To find the places of all of them, and suggestions for all keys, would take minutes.
#[test]
fn the_first_of_many_problems_are_shown_and_all_are_counted() {
    let keys: String = (0..100_000).map(|index| format!("k{index}=1\n")).collect();
    let error = Config::parse("run.toml", &keys, &[]).unwrap_err().to_string();
    let wanted = "the configuration has 100000 problems, of which these are the first 20:\n  \
                  run.toml:1:1: unknown key `k0`";
    assert!(error.starts_with(wanted), "{error}");
    assert_eq!(error.lines().count(), 21);
    assert!(error.contains("run.toml:20:1: unknown key `k19`"), "{error}");
    let syntax = "= 1\n".repeat(1000);
    let error = Config::parse("run.toml", &syntax, &[]).unwrap_err().to_string();
    // Each line has an empty key: 1000 errors. All lines but the first repeat it: 999 errors.
    let wanted = "the configuration has 1999 problems, of which these are the first 20:";
    assert!(error.starts_with(wanted), "{error}");
}

/// A comparison of a long name with the names of all keys would need gigabytes.
#[test]
fn a_long_text_is_refused_with_a_short_message() {
    let long = "x".repeat(1 << 20);
    for text in [
        format!("{long} = 1"),
        format!("board = \"{long}\""),
        format!("device = '{long}'"),
        format!("search.{long} = 1"),
        format!("{long}.simulations = 1"),
        format!("[evaluation]\nopponents = [\"{long}\"]"),
        format!("[evaluation]\nopponents = [\"net:a,{long}=1\"]"),
        format!("seed = \"{long}"),
    ] {
        let error = Config::parse("run.toml", &text, &[]).unwrap_err();
        let ConfigError::Problems { problems, more: 0 } = &error else { panic!("{error}") };
        assert_eq!(problems.len(), 1);
        assert!(error.to_string().len() < 2000, "{} bytes", error.to_string().len());
    }
}

#[test]
fn a_file_over_the_limit_is_refused_with_the_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("huge.toml");
    std::fs::write(&path, "#".repeat((1 << 20) + 1)).expect("a file");
    let ConfigError::File(error) = Config::load(&path, &[]).unwrap_err() else {
        panic!("it was read")
    };
    assert!(error.to_string().ends_with("huge.toml"), "{error}");
    assert_eq!(error.source.to_string(), "it has 1048577 bytes; at most 1048576 are read");
}
