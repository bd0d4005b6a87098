//! Tests of the configuration: all problems are reported at once, and valid values are kept.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn parse(text: &str, overrides: &[&str]) -> Result<Config, Vec<String>> {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.into()).collect();
    Config::parse("run.toml", text, &overrides).map_err(|error| match error {
        ConfigError::Problems { problems, .. } => problems.iter().map(Problem::to_string).collect(),
        other => vec![other.to_string()],
    })
}

fn problems(text: &str, overrides: &[&str]) -> Vec<String> {
    parse(text, overrides).expect_err("problems")
}

/// Asserts that a text has exactly one problem, whose message starts with `beginning`.
#[track_caller]
fn one_problem(text: &str, overrides: &[&str], beginning: &str) {
    let found = problems(text, overrides);
    assert!(found.len() == 1 && found[0].starts_with(beginning), "{found:#?}\n{beginning}");
}

#[test]
fn an_empty_file_is_the_default() {
    assert_eq!(parse("", &[]), Ok(Config::default()));
    assert_eq!(Config::parse("x", &Config::default().resolved(), &[]).unwrap(), Config::default());
}

#[test]
fn every_field_has_a_key_and_every_key_a_field() {
    let mut fields = BTreeSet::new();
    let resolved =
        Method::ALL.iter().map(|&method| Config { method, ..Config::default() }.resolved());
    for (name, value) in resolved.flat_map(|text| text.parse::<toml::Table>().unwrap()) {
        match value {
            toml::Value::Table(section) => {
                fields.extend(section.keys().map(|key| format!("{name}.{key}")));
            }
            _ => {
                fields.insert(name);
            }
        }
    }
    let keys: BTreeSet<String> = keys().iter().map(ConfigKey::path).collect();
    assert_eq!(keys, fields);
}

#[test]
fn the_keys_defaults_are_the_fields_defaults() {
    for key in keys() {
        let method = key.methods[0];
        let resolved = Config { method, ..Config::default() }.resolved();
        if key.name == "method" {
            continue;
        }
        let line = format!("{} = {}", key.name, key.default);
        assert!(resolved.lines().any(|found| found == line), "{line}\n{resolved}");
        assert!(!key.meaning.is_empty() && !key.allowed.is_empty(), "{}", key.path());
    }
}

#[test]
fn all_problems_are_reported_at_once_with_their_places() {
    let text = "\
boards = \"8x8\"
seed = -1

[serch]
simulations = 10

[search]
simulation = 100
c_puct = \"high\"
root = \"gumble\"

[learner]
batch = 1
learning_rate = [[0, 0.1], [0, 0.2]]

[evaluation]
games = 7
opponents = [\"random\", \"alphabeta:dept=3\"]
";
    let found = problems(text, &["replay.ratio=0", "selfplay.actors", "device=tpu"]);
    let wanted = [
        "run.toml:1:1: unknown key `boards`; did you mean `board`?; allowed: method, board, goal, seed,",
        "run.toml:2:8: seed = -1 is not allowed; allowed: a whole number, 0 or more",
        "run.toml:4:2: unknown key `serch`; did you mean `[search]`?; allowed: method, board, goal, seed,",
        "run.toml:8:1: unknown key `search.simulation`; did you mean `search.simulations`?; allow",
        "run.toml:9:10: search.c_puct = \"high\" is a string; allowed: a number, 0 to 100",
        "run.toml:10:8: search.root = \"gumble\" is not allowed; did you mean `gumbel`?; allowed: ",
        "run.toml:13:9: learner.batch = 1 is not allowed; allowed: a whole number, 2 to 1048576",
        "run.toml:14:28: learner.learning_rate: pair [0, 0.2] is not allowed: the first numbers must",
        "run.toml:17:9: evaluation.games = 7 is not allowed; allowed: an even number, 2 to 100000",
        "run.toml:18:24: evaluation.opponents = \"alphabeta:dept=3\": player `alphabeta` has no key",
        "--set selfplay.actors: not of the form key=value",
        "--set replay.ratio=0: replay.ratio = 0 is not allowed; allowed: a number, above 0 to 1000",
        "--set device=tpu: device = tpu is not allowed; allowed: \"auto\", \"cpu\",",
    ];
    assert_eq!(found.len(), wanted.len(), "{found:#?}");
    for wanted in wanted {
        assert!(found.iter().any(|problem| problem.starts_with(wanted)), "{wanted}\n{found:#?}");
    }
}

#[test]
fn a_syntax_error_is_reported_with_its_place() {
    one_problem("seed = 1\nboard = 8x8\n", &[], "run.toml:2:");
    one_problem("seed = 1\nseed = 2\n", &[], "run.toml:2:1: not TOML: duplicate key");
    assert!(problems("a = \n[b\nc = 'x\n", &[]).len() > 1);
}

#[test]
fn a_value_of_the_wrong_type_is_refused() {
    one_problem("seed = 1.5", &[], "run.toml:1:8: seed = 1.5 is a fractional number; allowed");
    one_problem("board = 8", &[], "run.toml:1:9: board = 8 is a whole number; allowed: \"8x8\"");
    one_problem("search = 3", &[], "run.toml:1:1: unknown key `search`");
    one_problem("[[search]]\nroot = 1", &[], "run.toml:1:");
    one_problem("[seed]\na = 1", &[], "run.toml:1:");
    one_problem("[net]\nowner_head = 1", &[], "run.toml:2:14: net.owner_head = 1 is a whole");
    one_problem("[learner]\nema = nan", &[], "run.toml:2:7: learner.ema = nan is not allowed");
    one_problem("[learner]\nema = true", &[], "run.toml:2:7: learner.ema = true is true or false");
    one_problem("[selfplay]\nramp = [[1]]", &[], "run.toml:2:9: selfplay.ramp = [1] is a list");
    one_problem("[learner]\nlearning_rate = []", &[], "run.toml:2:17: learner.learning_rate = []");
    one_problem("[serch.a]\nb = 1", &[], "run.toml:1:2: unknown key `serch`");
    one_problem(
        "[learner]\nlearning_rate = [[5, 1]]",
        &[],
        "run.toml:2:18: learner.learning_rate: pair [5, 1] is not allowed: the first pair must \
         start at 0; allowed: a list of pairs",
    );
}

#[test]
fn a_key_in_the_wrong_section_gets_the_right_one_suggested() {
    one_problem(
        "simulations = 4",
        &[],
        "run.toml:1:1: unknown key `simulations`; did you mean `search.simulations`?",
    );
    one_problem(
        "[net]\nactors = 4",
        &[],
        "run.toml:2:1: unknown key `net.actors`; did you mean `selfplay.actors`?",
    );
    // Nothing is like it.
    one_problem("[net]\nzzz = 4", &[], "run.toml:2:1: unknown key `net.zzz`; allowed: ");
}

#[test]
fn overrides_win_and_need_no_quotes() {
    let text = "board = \"7x7\"\n[search]\nsimulations = 5\nroot = \"gumbel\"";
    let overrides =
        ["board=6x6", "search.simulations = 9", "device=cuda:1", "selfplay.ramp=[[0,16],[9,32]]"];
    let config = parse(text, &overrides).unwrap();
    assert_eq!((config.board, config.search.simulations), (Shape::Square6, 9));
    assert_eq!((config.search.root, &*config.device), (mcts::Root::Gumbel, "cuda:1"));
    assert_eq!(config.selfplay.ramp, [(0, 16), (9, 32)]);
    let twice = parse("", &["seed=1", "seed=2"]).unwrap();
    assert_eq!(twice.seed, 2);
    // A wrong value in the file does not matter if an override replaces it.
    assert!(parse("seed = \"x\"", &["seed=3"]).is_ok());
}

/// A configuration with two contradicting keys, and the beginning of the message.
const CONTRADICTIONS: &[(&str, &str)] = &[
    (
        "[learner]\nthreads = 3\nbatch = 64",
        "run.toml:2:11: learner.threads = 3 contradicts learner.batch = 64: each thread needs 32",
    ),
    (
        "[learner]\nthreads = 2\n[net]\ntower = \"paper\"\ninputs = \"discs\"\nscore_head = false\nowner_head = false\nglobal_pooling = false\ndropout = 0.3\n[search]\nscore_weight = 0",
        "run.toml:2:11: learner.threads = 2 contradicts net.dropout = 0.3: with dropout the order",
    ),
    (
        "[limits]\nminutes = 0\n[selfplay]\nactors = 0",
        "run.toml:4:10: selfplay.actors = 0 contradicts limits.steps = 0: a run without games of",
    ),
    (
        "[replay]\nmin_positions = 600000",
        "run.toml:2:17: replay.min_positions = 600000 contradicts replay.max_positions = 500000",
    ),
    (
        "[net]\ntower = \"paper\"\nscore_head = true\n",
        "run.toml:3:14: net.score_head = true contradicts net.tower = \"paper\": the `paper`",
    ),
    (
        "[net]\ntower = \"paper\"\ninputs = \"lookahead\"\n",
        "run.toml:3:10: net.inputs = \"lookahead\" contradicts net.tower = \"paper\": the `paper`",
    ),
    ("[net]\ndropout = 0.3", "run.toml:2:11: net.dropout = 0.3 contradicts net.tower = \"resnet\""),
    (
        "[net]\ninputs_evaluator = \"842ceacc\"",
        "run.toml:2:20: net.inputs_evaluator = \"842ceacc\" contradicts net.inputs = \"lookahead\"",
    ),
    (
        "[net]\nscore_head = false\n[search]\nscore_weight = 0.1",
        "run.toml:4:16: search.score_weight = 0.1 contradicts net.score_head = false",
    ),
    (
        "[net]\nscore_head = false\n[search]\nscore_empties = 20",
        "run.toml:4:17: search.score_empties = 20 contradicts net.score_head = false",
    ),
    (
        "[selfplay]\nfull_share = 0.25\nfast_simulations = 65",
        "run.toml:3:20: selfplay.fast_simulations = 65 contradicts search.simulations = 64",
    ),
    (
        "[selfplay]\nfull_share = 0.25\nramp = [[0, 8]]",
        "run.toml:3:8: selfplay.fast_simulations = 16 contradicts selfplay.ramp = [[0, 8]]",
    ),
    (
        "device = \"cpu\"\n[inference]\nprecision = \"f16\"",
        "run.toml:3:13: inference.precision = \"f16\" contradicts device = \"cpu\"",
    ),
    (
        "device = \"cuda:0\"\n[inference]\nbackend = \"amx\"",
        "run.toml:3:11: inference.backend = \"amx\" contradicts device = \"cuda:0\"",
    ),
    (
        "[net]\nchannels = 48\n[inference]\nbackend = \"amx\"",
        "run.toml:2:12: net.channels = 48 contradicts inference.backend = \"amx\"",
    ),
    (
        "board = \"6x6\"\n[selfplay]\nopening_plies = 32",
        "run.toml:3:17: selfplay.opening_plies = 32 contradicts board = \"6x6\"",
    ),
    (
        "[search]\nprune_noise = true\ntempered_targets = true",
        "run.toml:3:20: search.tempered_targets = true contradicts search.prune_noise = true",
    ),
    (
        "[search]\nsolve_leaves = 8\n[replay]\nskip_empties = 9",
        "run.toml:4:16: replay.skip_empties = 9 contradicts search.solve_leaves = 8",
    ),
    (
        "[search]\nsolve_empties = 4\nsolve_leaves = 9\n[replay]\nskip_empties = 5",
        "run.toml:5:16: replay.skip_empties = 5 contradicts search.solve_empties = 4",
    ),
    (
        "[limits]\npositions = 1000",
        "run.toml:2:13: replay.min_positions = 20000 contradicts limits.positions = 1000",
    ),
];

#[test]
fn contradictions_are_reported() {
    for (text, beginning) in CONTRADICTIONS {
        one_problem(text, &[], beginning);
    }
}

#[test]
fn a_refused_value_contradicts_nothing() {
    let found = problems("[replay]\nmin_positions = 600000\nmax_positions = -1", &[]);
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn defaults_follow_the_tower_and_its_heads() {
    let paper = parse("[net]\ntower = \"paper\"", &[]).unwrap();
    assert!(!paper.net.score_head && !paper.net.owner_head && !paper.net.global_pooling);
    assert_eq!((paper.net.dropout, paper.search.score_weight), (0.3, 0.0));
    let bare = parse("[net]\nscore_head = false", &[]).unwrap();
    assert_eq!(bare.search.score_weight, 0.0);
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let missing = Config::load(Path::new("no/such.toml"), &[]).unwrap_err().to_string();
    assert!(missing.starts_with("cannot read no/such.toml"), "{missing}");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("binary.toml");
    std::fs::write(&path, b"a = \xff").unwrap();
    let binary = Config::load(&path, &[]).unwrap_err().to_string();
    assert!(binary.ends_with("binary.toml is not a text file: byte 4 is not UTF-8"), "{binary}");
}

#[test]
fn the_reference_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/configuration.md");
    let page = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        page == reference(),
        "docs/configuration.md is out of date; write it again with\n  \
         cargo run -- config --reference > docs/configuration.md"
    );
}

/// Each shipped configuration has no problem and a comment for each key.
#[test]
fn shipped_configurations_are_read_and_commented() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        names.insert(path.file_stem().unwrap().to_str().unwrap().to_string());
        Config::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        let text = std::fs::read_to_string(&path).unwrap();
        let mut above = "";
        for line in text.lines() {
            let is_key = line.contains(" = ") && !line.starts_with('#');
            assert!(
                !is_key || above.starts_with("# ") || line.contains(" # "),
                "{}: no comment for `{line}`",
                path.display()
            );
            above = line;
        }
    }
    for name in ["quick", "cpu", "gpu", "paper", "smoke"] {
        assert!(names.contains(name), "configs/{name}.toml is missing");
    }
}

#[test]
fn an_explained_configuration_is_the_same_configuration() {
    let config = Config { seed: 77, ..Config::default() };
    assert_eq!(Config::parse("x", &config.explained(), &[]).unwrap(), config);
    let comment =
        "# Batch size: positions in a training step. Allowed: a whole number, 2 to 1048576.\n";
    assert!(config.explained().contains(comment));
}

prop_compose! {
    fn top()(
        board in proptest::sample::select(&Shape::ALL[..]),
        fewest in any::<bool>(),
        seed in 0..=i64::MAX as u64,
        gpu in proptest::option::of(0u8..9),
        minutes in 0.0..1e6,
        games in 0..=i64::MAX as u64,
    ) -> Config {
        Config {
            board,
            goal: if fewest { Goal::Fewest } else { Goal::Most },
            seed,
            device: gpu.map_or("cpu".into(), |number| format!("cuda:{number}")),
            limits: RunLimits { minutes, games, ..RunLimits::default() },
            ..Config::default()
        }
    }
}

prop_compose! {
    fn any_config()(
        mut config in top(),
        (root, first_play) in (
            proptest::sample::select(mcts::Root::ALL),
            proptest::sample::select(mcts::FirstPlay::ALL),
        ),
        (simulations, c_puct, share) in (17..=1_000_000u32, 0.0f32..100.0, 0.0f32..=1.0),
        full_share in 0.001f32..=1.0,
        ramp in proptest::collection::btree_map(0..=i64::MAX as u64, 16..1000u32, 0..4),
        rates in proptest::collection::btree_map(1..=i64::MAX as u64, 0.0..10.0f64, 0..4),
        (ratio, exponent, ema) in (1e-9..1000.0f64, 1e-9..=1.0f64, 0.0..1.0f64),
        (heads, augment) in (any::<(bool, bool)>(), any::<bool>()),
        optimizer in proptest::sample::select(learner::OptimizerKind::ALL),
        players in proptest::collection::vec(
            proptest::sample::select(&["random", "greedy", "alphabeta:depth=3", "rollouts"][..]),
            0..4,
        ),
    ) -> Config {
        config.search = mcts::Options {
            root, first_play, simulations, c_puct, dirichlet_share: share, ..config.search
        };
        (config.net.score_head, config.net.owner_head) = heads;
        config.search.score_weight = if heads.0 { share } else { 0.0 };
        config.selfplay.full_share = full_share;
        config.selfplay.ramp = ramp.into_iter().collect();
        config.learner.learning_rate = [(0, 0.1)].into_iter().chain(rates).collect();
        config.learner.optimizer = optimizer;
        (config.replay.ratio, config.replay.growth_exponent) = (ratio, exponent);
        (config.learner.ema, config.learner.augment) = (ema, augment);
        config.evaluation.opponents = players.into_iter().map(String::from).collect();
        config
    }
}

proptest! {
    #[test]
    fn a_resolved_configuration_reads_back_as_itself(config in any_config()) {
        let text = config.resolved();
        match Config::parse("resolved", &text, &[]) {
            Ok(read) => prop_assert_eq!(read, config),
            Err(error) => prop_assert!(false, "{}\n{}", error, text),
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[\\[\\]a-z_.= \"0-9\n,{}#-]{0,80}", set in "[a-z.=\\[\\]0-9\"]{0,20}") {
        let _ = parse(&text, &[&set]);
    }
}
