//! Tests of the declaration of keys.

use std::time::Duration;

use super::*;

limits! {
    /// A limit.
    #[derive(Clone, PartialEq, Debug)]
    pub enum Effort {
        /// Depth.
        Depth(u32) = "depth", whole(1, 9);
        /// Time for each move.
        Time(Duration) = "time";
    }
}

keys! {
    /// Options.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Inner {
        /// Shared.
        key shared: u32 = 3, whole(0, 5) => player(2);
        /// Not shared.
        key own: u32 = 4, whole(0, 5);
    }
}

keys! {
    /// Options.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Outer {
        /// Not a key.
        field path: String = "p".into();
        /// Two lines
        /// of text.
        ///
        /// More for readers of the code.
        key share("part"): f32 = 0.5, above(0.0, 1.0) => refused("without `own`");
        /// Options inside.
        part inner: Inner = Inner::default();
        /// A limit.
        part effort: Option<Effort> = None;
        /// An optional number.
        key threads: Option<usize> = None, one_of(&[1, 2, 4]);
    }
}

fn outer() -> Outer {
    Outer::default()
}

#[test]
fn a_declaration_has_its_keys_with_their_meanings() {
    let keys = outer().keys();
    let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
    assert_eq!(names, ["part", "shared", "depth", "time", "threads"]);
    assert_eq!(keys[0].meaning(), "Two lines of text.");
    assert_eq!((keys[0].refused, keys[2].is_limit), (Some("without `own`"), true));
    assert_eq!((keys[1].player, keys[1].is_limit), (Some(2), false));
}

#[test]
fn keys_set_their_fields_and_those_of_parts() {
    let mut options = outer();
    assert!(options.set("part", Value::Number(0.25)));
    assert!(options.set("shared", Value::Whole(5)));
    assert!(options.set("threads", Value::Whole(4)));
    assert!(options.set("depth", Value::Whole(7)));
    assert!(options.set("time", Value::Time(Duration::from_secs(2))));
    let wanted = Outer {
        share: 0.25,
        inner: Inner { shared: 5, own: 4 },
        effort: Some(Effort::Time(Duration::from_secs(2))),
        threads: Some(4),
        ..outer()
    };
    assert_eq!(options, wanted);
    assert_eq!(options.get("part"), Some(Value::Single(0.25)));
    assert_eq!(options.get("shared"), Some(Value::Whole(5)));
    // The second limit has replaced the first.
    assert_eq!(options.get("depth"), None);
    assert_eq!(options.get("time"), Some(Value::Time(Duration::from_secs(2))));
}

#[test]
fn a_wrong_value_or_key_changes_nothing() {
    let mut options = outer();
    for (name, value) in [
        ("part", Value::Number(0.0)),
        // It is above 0, but not in single precision.
        ("part", Value::Number(1e-60)),
        ("part", Value::Number(f64::NAN)),
        ("part", Value::Flag(true)),
        ("shared", Value::Whole(6)),
        ("own", Value::Whole(1)),
        ("path", Value::Text("q".into())),
        ("threads", Value::Whole(3)),
        ("depth", Value::Whole(0)),
        ("nothing", Value::Whole(1)),
    ] {
        assert!(!options.set(name, value.clone()), "{name} {value:?}");
        assert_eq!(options, outer());
    }
    assert_eq!((options.get("own"), options.get("path")), (None, None));
}

#[test]
fn allowed_values_are_described() {
    const STEP: Allowed = whole(1, 9);
    const SHARE: Allowed = within(0.0, 1.0);
    for (allowed, words) in [
        (whole(1, 60), "a whole number, 1 to 60"),
        (at_least(2), "a whole number, 2 or more"),
        (whole(1, u64::MAX), "a whole number, 1 or more"),
        (even(2, 8), "an even number, 2 to 8"),
        (one_of(&[1, 2, 4]), "1, 2 or 4"),
        (above(0.0, 1.5), "a number, above 0 to 1.5"),
        (below(0.0, 1.0), "a number, 0 to below 1"),
        (Allowed::Names(&["a", "b"]), "'a', 'b'"),
        (
            schedule(&STEP, true, "[[0, 1]]"),
            "a list of pairs [whole number, whole number from 1 to 9] whose first numbers rise \
             from 0, such as [[0, 1]]",
        ),
        (
            schedule(&SHARE, false, "[]"),
            "a list of pairs [whole number, number from 0 to 1] whose first numbers rise, such as \
             []",
        ),
    ] {
        assert_eq!(allowed.words("'"), words);
    }
}

#[test]
fn samples_are_at_the_edges() {
    const RATE: Allowed = within(0.0, 10.0);
    for allowed in [
        Allowed::Flag,
        whole(1, 60),
        at_least(0),
        even(2, 8),
        one_of(&[1, 2, 4]),
        within(0.1, 10.0),
        above(0.0, 1.0),
        below(0.0, 1.0),
        Allowed::Time,
        Allowed::Names(&["a", "b"]),
        schedule(&RATE, true, ""),
    ] {
        let (inside, outside) = (samples::allowed(&allowed), samples::refused(&allowed));
        for value in inside.iter().filter(|value| !matches!(value, Value::Single(_))) {
            assert!(allowed.allows(value), "{allowed} {value:?}");
        }
        assert!(!inside.is_empty());
        for value in &outside {
            assert!(!allowed.allows(value), "{allowed} {value:?}");
        }
    }
}
