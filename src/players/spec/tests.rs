use super::*;
use crate::keys::{Key, samples};
use crate::players::grammar::written;
use proptest::prelude::*;

/// Specifications with their canonical forms.
const CANONICAL: &[(&str, &str)] = &[
    ("random", "random"),
    (" greedy ", "greedy"),
    ("alphabeta", "alphabeta:depth=6"),
    ("alphabeta:depth=6,eval=positional", "alphabeta:depth=6,eval=positional"),
    ("alphabeta:eval=best", "alphabeta:depth=6"),
    ("alphabeta:eval=discs,depth=3", "alphabeta:depth=3,eval=discs"),
    ("alphabeta:movetime=100ms", "alphabeta:movetime=100ms"),
    ("alphabeta:gametime=1.5m", "alphabeta:gametime=90s"),
    ("alphabeta:gametime=9s,allotment=even", "alphabeta:gametime=9s"),
    ("alphabeta:allotment=falling,gametime=9s", "alphabeta:gametime=9s,allotment=falling"),
    ("alphabeta:movetime=1.5s", "alphabeta:movetime=1500ms"),
    ("alphabeta:probcut=1.50,depth=9", "alphabeta:depth=9,probcut=1.5"),
    ("alphabeta:probcut=0,depth=9", "alphabeta:depth=9"),
    ("alphabeta:probcut=0,movetime=1s", "alphabeta:movetime=1s,probcut=0"),
    ("rollouts:simulations=200", "rollouts:simulations=200"),
    ("net:runs/a,simulations=50", "net:runs/a,simulations=50"),
    ("net:\"a, b\",solve_empties=0", "net:\"a, b\",simulations=100,solve_empties=0"),
    ("net:runs/a=b", "net:\"runs/a=b\",simulations=100"),
    ("alphabeta:threads=1,nodes=9", "alphabeta:nodes=9"),
    ("alphabeta:threads=1,movetime=1s", "alphabeta:movetime=1s,threads=1"),
    ("net:a,movetime=100ms", "net:a,movetime=100ms"),
    ("net:a,movetime=100ms,threads=1,parallel=8", "net:a,movetime=100ms,threads=1"),
    ("net:a,movetime=100ms,parallel=8", "net:a,movetime=100ms,parallel=8"),
    ("net:a,alphabeta_empties=0,movetime=10ms", "net:a,movetime=10ms,alphabeta_empties=0"),
    ("net:a,threads=1,parallel=1", "net:a,simulations=100"),
    ("net:a,gametime=1m,parallel=4", "net:a,gametime=60s,parallel=4"),
    ("net:a,movetime=10ms,solve_empties=14", "net:a,movetime=10ms"),
    ("net:a,movetime=10ms,solve_empties=16", "net:a,movetime=10ms,solve_empties=16"),
    ("net:a,gametime=1m,solve_empties=20", "net:a,gametime=60s"),
    ("net:a,threads=2", "net:a,simulations=100,threads=2"),
    ("net:a,threads=2,parallel=8", "net:a,simulations=100,threads=2"),
    ("net:a,threads=2,parallel=1", "net:a,simulations=100,parallel=1,threads=2"),
    ("net:a,symmetries=8,simulations=5", "net:a,simulations=5,symmetries=8"),
    ("net:a,symmetries=1", "net:a,simulations=100"),
    ("net:a,solve_leaves=10,fpu_reduction=0.15", "net:a,simulations=100,solve_leaves=10"),
    ("net:a,solve_leaves=12,solve_empties=17", "net:a,simulations=100"),
    ("net:a,simulations=400,solve_empties=19", "net:a,simulations=400"),
    ("net:a,simulations=1,solve_empties=17", "net:a,simulations=1"),
    ("net:a,simulations=400,score_empties=20", "net:a,simulations=400"),
    ("net:a,simulations=400,solve_empties=0", "net:a,simulations=400,solve_empties=0"),
    (
        "net:a,simulations=400,solve_empties=16,score_empties=17",
        "net:a,simulations=400,solve_empties=16",
    ),
    ("net:a,simulations=100,score_empties=0", "net:a,simulations=100"),
    ("net:a,score_empties=20,movetime=10ms", "net:a,movetime=10ms,score_empties=20"),
    ("net:a,solve_leaves=10,movetime=10ms", "net:a,movetime=10ms"),
    ("net:a,solve_growth=2.5", "net:a,simulations=100,solve_growth=2.5"),
    ("net:a,solve_growth=1.0", "net:a,simulations=100"),
    ("net:a,spread_scale=0", "net:a,simulations=100,spread_scale=0"),
    ("net:a,prior_temperature=1.5", "net:a,simulations=100"),
    ("net:a,prior_temperature=1", "net:a,simulations=100,prior_temperature=1"),
    ("policy:runs/a", "policy:runs/a"),
    ("random:name=x", "random:name=x"),
    ("random:book=a.book", "random:book=a.book"),
    ("alphabeta:book_loss=0,book=\"a b\",depth=9", "alphabeta:depth=9,book=\"a b\""),
    ("net:a,book=b,name=x,book_loss=1.50", "net:a,simulations=100,book=b,book_loss=1.5,name=x"),
    ("net:a,name=\"old, good\"", "net:a,simulations=100,name=\"old, good\""),
    ("policy:a,symmetries=2", "policy:a,symmetries=2"),
    (
        r#"external:protocol=gtp,command="edax -gtp \"x y\"",timeout=5s"#,
        r#"external:protocol=gtp,command="edax -gtp \"x y\"",timeout=5s"#,
    ),
];

#[test]
fn specifications_are_read_and_written_in_canonical_form() {
    for &(text, canonical) in CANONICAL {
        let spec: PlayerSpec = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(spec.to_string(), canonical);
        assert_eq!(canonical.parse::<PlayerSpec>().as_ref(), Ok(&spec));
    }
}

#[test]
fn a_player_with_a_time_limit_uses_its_cores() {
    for (text, cores, settled) in [
        ("alphabeta:movetime=1s", 2, "alphabeta:movetime=1s,threads=2"),
        ("alphabeta:gametime=1m,threads=3", 2, "alphabeta:gametime=60s,threads=3"),
        ("alphabeta:depth=8", 2, "alphabeta:depth=8"),
        ("net:a,movetime=1s", 1, "net:a,movetime=1s,threads=1"),
        ("net:a,gametime=1m", 64, "net:a,gametime=60s,threads=4"),
        ("net:a,movetime=1s,threads=1", 2, "net:a,movetime=1s,threads=1"),
        ("net:a,movetime=1s,parallel=16", 2, "net:a,movetime=1s,threads=2"),
        ("net:a,movetime=1s,parallel=16", 1, "net:a,movetime=1s,parallel=16,threads=1"),
        ("net:a,simulations=100", 2, "net:a,simulations=100"),
        ("policy:a", 2, "policy:a"),
    ] {
        let spec: PlayerSpec = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        let spec = spec.on_cores(cores);
        assert_eq!(spec.to_string(), settled);
        assert_eq!(settled.parse(), Ok(spec));
    }
}

#[test]
fn alpha_beta_players_of_old_ladders_are_positional() {
    for (name, wanted) in [
        ("alphabeta:depth=4", "alphabeta:depth=4,eval=positional"),
        ("alphabeta:nodes=9,probcut=1.5", "alphabeta:nodes=9,eval=positional,probcut=1.5"),
        ("alphabeta:depth=4,eval=discs", "alphabeta:depth=4,eval=discs"),
        ("alphabeta:depth=x", "alphabeta:depth=x"),
        ("greedy", "greedy"),
        ("quick@5", "quick@5"),
    ] {
        assert_eq!(identity_of_ladder(name.into()), wanted);
        assert_eq!(identity_of_ladder(wanted.into()), wanted);
    }
}

#[test]
fn a_wrong_specification_names_what_is_allowed() {
    for (text, wanted) in [
        ("", "random, greedy, alphabeta, rollouts, net, policy, external"),
        ("alfabeta:depth=2", "random, greedy, alphabeta"),
        ("alphabeta:dept=2", "name, depth, movetime, gametime, nodes, eval, probcut"),
        ("random:seed=3", "allowed: name"),
        ("random:name=", "1 to 40 printable"),
        ("net:a,name=\" a\"", "1 to 40 printable"),
        ("greedy:name=a,name=b", "given twice"),
        ("greedy:name=\"a\u{202e}b\"", "1 to 40 printable"),
        ("greedy:book=", "allowed: the path of a book"),
        ("greedy:book_loss=1", "no effect without `book`"),
        ("greedy:book=a,book_loss=-1", "0 to 64"),
        ("alphabeta:depth=0", ", 1 to 60"),
        ("alphabeta:depth=deep", ", 1 to 60"),
        ("alphabeta:depth=2,depth=3", "given twice"),
        ("alphabeta:depth=2,nodes=3", "exclude each other"),
        ("alphabeta:6", "not `key=value`; allowed keys: name, depth"),
        ("alphabeta:eval=worst", "best, positional, discs"),
        ("alphabeta:probcut=-1", ", 0 to 10"),
        ("alphabeta:probcut=nan", ", 0 to 10"),
        ("alphabeta:allotment=falling", "no effect without `gametime`"),
        ("alphabeta:movetime=1s,allotment=falling", "no effect without `gametime`"),
        ("alphabeta:gametime=1s,allotment=rising", "even, falling"),
        ("alphabeta:movetime=5", "100ms"),
        ("alphabeta:movetime=0s", "above 0"),
        ("rollouts:simulations=0", "a whole number, 1 to 100000000"),
        ("rollouts:sims=10", "simulations, c_uct"),
        ("net", "net:runs/quick"),
        ("net:simulations=5", "needs a net file"),
        ("net:runs/a,sims=5", "simulations, movetime, gametime, solve_empties"),
        ("net:runs/a,symmetries=3", "1, 2, 4 or 8"),
        ("policy:runs/a,symmetries=0", "1, 2, 4 or 8"),
        ("policy:", "policy:runs/quick"),
        ("external:protocol=uci,command=x", "nboard, gtp"),
        ("external:command=x", "needs a protocol"),
        ("external:protocol=gtp", "needs a command"),
        ("external:protocol=gtp,command=\"x", "not closed"),
        ("external:protocol=gtp,command=\"it's\"", "quotes that close"),
        ("net:a,,", "not `key=value`"),
        ("net:a,movetime=1s,simulations=5", "`simulations` and `movetime` of player `net` exclude"),
        ("net:a,gametime=1s,movetime=5s", "exclude each other"),
        ("net:a,threads=0", "a whole number, 1 to 256"),
        ("net:a,alphabeta_empties=20", "no effect without `movetime` or `gametime`"),
        ("net:a,movetime=1s,alphabeta_empties=93", "0 to 92"),
        ("net:a,temperature=0.5", "no effect without `temperature_plies`"),
        ("policy:a,temperature=0.5", "no effect without `temperature_plies`"),
        ("net:a,first_play=zero,fpu_reduction=0.2", "no effect with `first_play=zero`"),
        ("external:protocol=gtp,command=x,depth=5", "no effect with `protocol=gtp`"),
    ] {
        let error = text.parse::<PlayerSpec>().expect_err(text).to_string();
        assert!(error.contains(wanted), "{text}: {error}");
    }
}

/// A specification of a kind with one more key, and with what that key needs.
fn with_key(kind: &SpecKind, key: &Key, value: &str) -> String {
    let start = if kind.shortest.contains(':') { "," } else { ":" };
    // These have no effect alone and are refused.
    let needed = match key.name {
        "temperature" => "temperature_plies=1,",
        "alphabeta_empties" => "movetime=1s,",
        "allotment" => "gametime=1s,",
        "book_loss" => "book=b,",
        _ => "",
    };
    format!("{}{start}{needed}{}={value}", kind.shortest, key.name)
}

#[test]
fn every_key_is_read_and_written_within_its_range_only() {
    let mut tried = 0;
    for kind in PlayerKind::ROWS {
        for key in kind.keys() {
            if key.required.is_some() || key.name == "name" {
                continue;
            }
            for value in samples::allowed(&key.allowed) {
                let text = with_key(kind, key, &written(&value));
                let spec: PlayerSpec =
                    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
                let read = match (&spec.book, key.name) {
                    (Some(book), "book_loss") => Some(book.loss.to_string()),
                    _ => spec.kind.value(key.name),
                };
                // Without a time limit one thread is the default, one leaf, and no Multi-ProbCut.
                let is_omitted =
                    ["threads", "parallel", "probcut"].contains(&key.name) && read.is_none();
                assert!(is_omitted || read == Some(written(&value)), "{text}: {read:?}");
                assert_eq!(spec.to_string().parse::<PlayerSpec>().as_ref(), Ok(&spec));
                tried += 1;
            }
            for value in samples::refused(&key.allowed) {
                let text = with_key(kind, key, &written(&value));
                let error = text.parse::<PlayerSpec>().expect_err(&text).to_string();
                let wanted = format!("for key `{}` of player `{}`", key.name, kind.name);
                let allowed = format!("; allowed: {}", key.allowed);
                assert!(error.contains(&wanted) && error.ends_with(&allowed), "{text}: {error}");
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

/// Ladders identify players by their texts, so a text of an earlier version never changes. Each
/// line has a specification, its canonical form, and that form on two cores.
#[test]
fn specifications_are_written_as_in_earlier_versions() {
    for line in include_str!("written.tsv").lines() {
        let texts: Vec<&str> = line.split('\t').collect();
        let [given, canonical, on_two_cores] = texts[..] else { panic!("{line}") };
        let spec: PlayerSpec = given.parse().unwrap_or_else(|error| panic!("{given}: {error}"));
        assert_eq!(spec.to_string(), canonical);
        assert_eq!(spec.on_cores(2).to_string(), on_two_cores);
    }
}

#[test]
fn the_default_net_player_is_the_one_without_keys() {
    let default = NetPlayerSpec::default();
    assert_eq!(NetPlayerSpec::new("".into(), 100), default);
}

#[test]
fn the_specifications_in_the_table_have_its_kind() {
    for kind in PlayerKind::ROWS {
        let examples = kind.examples.iter().map(|(text, _)| text);
        for text in examples.chain(kind.variants).chain([&kind.shortest]) {
            assert!(text.starts_with(kind.name), "{text}");
            text.parse::<PlayerSpec>().unwrap_or_else(|error| panic!("{text}: {error}"));
        }
        let name = kind.shortest.parse::<PlayerSpec>().expect("read").to_string();
        assert!(name.starts_with(kind.name), "{name}");
    }
}

#[test]
fn the_page_of_players_is_up_to_date() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/players.md");
    let page = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        page == reference(),
        "docs/players.md is out of date; write it again with\n  \
         cargo run -- players > docs/players.md"
    );
}

/// A value that some key allows, or almost allows.
fn value() -> impl Strategy<Value = String> {
    const WORDS: &[&str] =
        &["true", "false", "zero", "parent", "discs", "gtp", "nboard", "x", "\"a b\""];
    prop_oneof![
        (0..40u32).prop_map(|number| number.to_string()),
        (-1.0..3.0f32).prop_map(|number| number.to_string()),
        (0..5000u32, prop::sample::select(&["ms", "s", "m"][..]))
            .prop_map(|(n, unit)| format!("{n}{unit}")),
        prop::sample::select(WORDS).prop_map(String::from),
    ]
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(
        kind in prop::sample::select(PlayerKind::ROWS),
        subject in prop::option::of("[a-z\"\\\\= /]{1,8}"),
        pairs in prop::collection::vec((any::<prop::sample::Index>(), value()), 0..4),
        junk in prop::option::weighted(0.1, "[a-z:=,\"\\\\ 0-9]{0,12}"),
    ) {
        let keys = kind.keys();
        let pairs = pairs.iter().map(|(key, value)| format!("{}={value}", key.get(&keys).name));
        let pieces: Vec<_> = subject.into_iter().chain(pairs).chain(junk).collect();
        let text = format!("{}:{}", kind.name, pieces.join(","));
        if let Ok(spec) = text.parse::<PlayerSpec>() {
            prop_assert_eq!(spec.to_string().parse::<PlayerSpec>(), Ok(spec));
        }
    }

    #[test]
    fn any_path_survives(path in "\\PC{1,20}") {
        prop_assume!(path.trim() == path);
        let spec = PlayerSpec::from(PlayerKind::Net(NetPlayerSpec::new(path.into(), 7)));
        prop_assert_eq!(spec.to_string().parse::<PlayerSpec>(), Ok(spec));
    }

    /// Any allowed name is written and read back, and the player stays the same.
    #[test]
    fn any_name_survives(
        name in "\\PC{1,40}",
        base in prop::sample::select(&["random", "net:a,simulations=7", "external:protocol=gtp,command=x"][..]),
    ) {
        let plain: PlayerSpec = base.parse().expect("a player");
        if let Some(name) = PlayerName::new(&name) {
            let spec = PlayerSpec { name: Some(name), ..plain.clone() };
            let read: PlayerSpec = spec.to_string().parse().expect("what was written");
            prop_assert_eq!(&read, &spec);
            prop_assert_eq!(read.identity(), plain.to_string());
        }
    }
}

#[test]
fn names_are_short_and_printable() {
    let longest = "x".repeat(40);
    for name in
        ["a", "8x8 of May", "\"quoted\"", "it's", "größer", "gro\u{308}ßer", longest.as_str()]
    {
        assert_eq!(PlayerName::new(name).map(|name| name.to_string()).as_deref(), Some(name));
    }
    let too_long = "x".repeat(41);
    for name in
        ["", " a", "a ", "a\nb", "\u{1b}[31m", "a\u{202e}b", "a\u{200b}b", too_long.as_str()]
    {
        assert_eq!(PlayerName::new(name), None, "{name:?}");
        let spec = format!("random:name=\"{name}\"");
        let error = spec.parse::<PlayerSpec>().expect_err(name).to_string();
        assert!(error.contains("1 to 40") && !error.contains('\n'), "{error}");
    }
}
