//! Tests of every key of a configuration with the values at the edges of its range.

use super::*;
use crate::keys::{Key, samples};

/// A value as `--set` gives it. TOML has no whole number above 2^63 - 1.
fn argument(path: &str, value: &Value) -> String {
    match value {
        Value::Whole(number) => format!("{path}={number}"),
        _ => format!("{path}={}", as_toml(value)),
    }
}

/// Sets a method that has the key.
fn method_of(path: &str) -> String {
    let key = keys().into_iter().find(|key| key.path() == path).expect("a key");
    format!("method={}", key.methods[0])
}

/// The value with its numbers in single precision, to which some fields round.
fn in_single(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::Single(*number as f32),
        Value::List(list) => Value::List(list.iter().map(in_single).collect()),
        other => other.clone(),
    }
}

/// The keys of all sections with their paths and defaults.
fn all_keys() -> Vec<(String, &'static Key, Value)> {
    let config = Config::default();
    let keys = |section: &sections::Section| {
        let options = (section.options)(&config);
        let key = |key: &'static Key| {
            let default = options.get(key.name).expect("a default");
            (sections::join(section.name, key.name), key, default)
        };
        options.keys().into_iter().map(key).collect::<Vec<_>>()
    };
    SECTIONS.iter().flat_map(keys).collect()
}

#[test]
fn every_default_and_the_edges_of_every_range_are_read() {
    for (path, key, default) in all_keys() {
        assert!(key.allowed.allows(&default), "{path} = {default:?}");
        for value in samples::allowed(&key.allowed).into_iter().chain([default]) {
            let argument = argument(&path, &value);
            match Config::parse("run.toml", "", &[method_of(&path), argument.clone()]) {
                Ok(config) => {
                    let read = config.value(&path).expect("a value");
                    let again = Config::parse("resolved", &config.resolved(), &[]);
                    assert_eq!(again.expect("its own writing"), config, "{argument}");
                    assert_eq!(in_single(&read), in_single(&value), "{argument}");
                }
                // The value itself is allowed, but not with the defaults of other keys.
                Err(ConfigError::Problems { problems, .. }) => {
                    let is_other =
                        |problem: &Problem| matches!(problem.fault, Fault::Contradiction { .. });
                    assert!(problems.iter().all(is_other), "{argument}: {problems:#?}");
                }
                Err(other) => panic!("{argument}: {other}"),
            }
        }
    }
}

#[test]
fn a_value_just_outside_a_range_is_refused_with_key_and_range() {
    // Every path is allowed for files, every checksum for an evaluator. A wrong one is found when it is read.
    let paths = [
        "stages.games",
        "ntuple.labels",
        "ntuple.teacher",
        "ntuple.initial",
        "net.inputs_evaluator",
    ];
    let is_path = |path: &str| paths.contains(&path);
    for (path, key, _) in all_keys().into_iter().filter(|(path, ..)| !is_path(path)) {
        for value in samples::refused(&key.allowed) {
            let argument = argument(&path, &value);
            let arguments = [method_of(&path), argument.clone()];
            let Err(ConfigError::Problems { problems, .. }) =
                Config::parse("run.toml", "", &arguments)
            else {
                panic!("{argument} is not refused")
            };
            let found: Vec<String> = problems.iter().map(Problem::to_string).collect();
            assert_eq!(found.len(), 1, "{argument}: {found:#?}");
            let allowed = match key.allowed {
                // The messages are those of the features and of the player specification.
                Allowed::Texts { .. } if path.ends_with(".features") => {
                    "constant, mobility,".into()
                }
                Allowed::Texts { .. } if path.ends_with(".patterns") => "names such as a1".into(),
                Allowed::Texts { .. } => "random, greedy,".into(),
                other => other.words("\""),
            };
            let starts = found[0].starts_with(&format!("--set {argument}: {path}"));
            assert!(starts && found[0].contains(&format!("allowed: {allowed}")), "{found:#?}");
        }
    }
}
