//! Training stage by stage, as a user runs it: the model does not depend on kills or on the number
//! of threads, and bad input is refused with one clear error.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use outflank::players::models::LoadedModel;
use outflank::train::seeds::{Purpose, stream};
use rand::RngExt;

const CONFIG: &str = r#"
method = "stages"
board = "6x6"
seed = 5
[stages]
empties = 8
gap = 2
boards = 200
passes = 3
features = ["parity", "mobility", "frontier", "flippable", "classes"]
"#;

/// Another method that trains stage by stage.
const TD: &str = r#"
method = "td"
board = "6x6"
seed = 5
[td]
boards = 60
depth = 2
target_depth = 1
passes = 4
"#;

/// Learning by patterns, in 25 units.
const ENDGAME: &str = r#"
method = "endgame"
board = "6x6"
seed = 5
[endgame]
patterns = [
  "a1 b1 c1 d1 e1 f1 b2 e2", "a1 b1 c1 a2 b2 c2 a3 b3 c3", "a2 b2 c2 d2 e2 f2", "a3 b3 c3 d3 e3 f3",
  "a1 b2 c3 d4 e5 f6", "a2 b3 c4 d5 e6", "a3 b4 c5 d6",
]
first_lines = 2000
first_solved = 9
second_lines = 400
solved = 11
rounds = 1
last_games = 600
depth = 2
opening = 12
probcut_boards = 10
probcut_depth = 5
"#;

/// A one-hot net, in 12 units.
const NTUPLE: &str = r#"
method = "ntuple"
board = "6x6"
seed = 5
[ntuple]
inputs = "frontier"
hidden = 16
stages = 2
rounds = 3
games = 600
depth = 1
opening = 12
solved = 8
epochs = 2
batch = 256
"#;

/// How often the run is killed.
const KILLS: usize = 20;

fn outflank(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn output(arguments: &[&str]) -> Output {
    outflank(arguments).output().expect("the program")
}

/// A folder with a configuration, and the paths of the configuration and of a run.
struct Folder {
    dir: tempfile::TempDir,
    config: String,
}

impl Folder {
    fn new(config: &str) -> Folder {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("stages.toml");
        fs::write(&path, config).expect("a file");
        Folder { config: path.display().to_string(), dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Trains a whole run with further arguments.
    fn train(&self, name: &str, more: &[&str]) -> LoadedModel {
        let run = self.path(name).display().to_string();
        let mut arguments = vec!["train", &self.config, "--run-dir", &run, "--quiet"];
        arguments.extend(more);
        let output = output(&arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        LoadedModel::read(&self.path(name)).expect("a model")
    }

    /// The error of a training that is refused.
    fn refused(&self, more: &[&str]) -> String {
        let run = self.path("refused").display().to_string();
        let mut arguments = vec!["train", &self.config, "--run-dir", &run, "--quiet"];
        arguments.extend(more);
        let output = output(&arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(!self.path("refused").exists(), "a refused run leaves a directory");
        String::from_utf8(output.stderr).expect("text")
    }
}

fn manifest(run: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(run.join("run.json")).expect("a file")).expect("JSON")
}

#[test]
fn killed_runs_and_other_numbers_of_threads_end_in_the_same_model() {
    ends_in_the_same_model(CONFIG, 36);
}

#[test]
fn the_same_holds_for_learning_by_temporal_differences() {
    ends_in_the_same_model(TD, 36);
}

#[test]
fn the_same_holds_for_learning_by_patterns() {
    ends_in_the_same_model(ENDGAME, 25);
}

#[test]
fn the_same_holds_for_a_one_hot_net() {
    ends_in_the_same_model(NTUPLE, 12);
}

fn ends_in_the_same_model(config: &str, units: u64) {
    let folder = Folder::new(config);
    let wanted = folder.train("whole", &["--set", "threads=1"]);
    assert_eq!(wanted.description.steps, units);
    assert_eq!(manifest(&folder.path("whole"))["state"], "finished");
    assert_eq!(manifest(&folder.path("whole"))["stages"], units);
    let two = folder.train("two", &["--set", "threads=2"]);
    assert_eq!(two.weights(), wanted.weights());
    let other = folder.train("other", &["--set", "seed=6"]);
    assert_ne!(other.weights(), wanted.weights());

    let run = folder.path("killed");
    let text = run.display().to_string();
    let mut random = stream(1, Purpose::Game, 0);
    let mut kills = 0;
    while kills < KILLS {
        // `run.json` is written last when a run is created.
        let mut arguments = vec!["train", &folder.config, "--run-dir", &text, "--quiet"];
        if run.join("run.json").exists() {
            arguments.push("--resume");
        }
        let silent = Stdio::null;
        let started = outflank(&arguments).stdout(silent()).stderr(silent()).spawn();
        let mut child = started.expect("the program");
        std::thread::sleep(Duration::from_millis(random.random_range(10..150)));
        let is_running = child.try_wait().expect("a child").is_none();
        child.kill().expect("a child");
        child.wait().expect("a child");
        if is_running {
            kills += 1;
        } else {
            // It was finished before it was killed often enough.
            fs::remove_dir_all(&run).expect("a run");
        }
    }
    let more: &[&str] = if run.join("run.json").exists() { &["--resume"] } else { &[] };
    let killed = folder.train("killed", more);
    assert_eq!(killed.description, wanted.description);
    assert_eq!(killed.weights(), wanted.weights());
    // A unit that was done twice may have two lines, and every unit has one.
    let metrics = fs::read_to_string(run.join("metrics.jsonl")).expect("curves");
    let whole = metrics.lines().filter(|line| line.contains("stage/seconds")).count() as u64;
    assert!(whole >= units, "{whole} of {units} units are in metrics.jsonl");

    // A finished run stays as it is.
    let before = fs::read(run.join("run.json")).expect("a file");
    folder.train("killed", &["--resume"]);
    assert_eq!(fs::read(run.join("run.json")).expect("a file"), before);
}

#[test]
fn a_trained_model_plays_and_beats_the_random_player() {
    let folder = Folder::new(CONFIG);
    folder.train("run", &[]);
    let run = folder.path("run").display().to_string();
    let ladder = folder.path("ladder.jsonl").display().to_string();
    let player = format!("alphabeta:depth=2,eval={run}");
    let games = ["arena", &player, "random", "--games", "100", "--ladder", &ladder, "--json"];
    let output = output(&games);
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stdout).expect("text");
    let line = lines.lines().next().expect("a line");
    let result: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert!(result["score"].as_f64() > Some(0.7), "{result}");
    // Its curves have a value for each stage, and its list of runs a line.
    let metrics = fs::read_to_string(folder.path("run").join("metrics.jsonl")).expect("curves");
    assert_eq!(metrics.lines().filter(|line| line.contains("stage/sigma")).count(), 36);
    let listed = outflank(&["runs", &run]).output().expect("the program");
    assert!(String::from_utf8_lossy(&listed.stdout).contains("finished"), "{listed:?}");
    let exported = folder.path("exported").display().to_string();
    let export = outflank(&["export", &run, &exported]).output().expect("the program");
    assert!(export.status.success(), "{export:?}");
    LoadedModel::read(&folder.path("exported")).expect("a model");
}

#[test]
fn temporal_differences_beat_their_first_weights_and_the_greedy_player() {
    let rates =
        "rate = 0.7\nfinal_rate = 0.02\nboards = 300\ndepth = 1\ntarget_depth = 3\nrepeats = 4";
    let folder =
        Folder::new(&format!("method = \"td\"\nboard = \"6x6\"\nseed = 5\n[td]\n{rates}\n"));
    folder.train("run", &[]);
    folder.train("initial", &["--set", "td.rate=0"]);
    let player = |name: &str| format!("alphabeta:depth=2,eval={}", folder.path(name).display());
    let ladder = folder.path("ladder.jsonl").display().to_string();
    for (opponent, least) in [(player("initial"), 0.57), ("greedy".into(), 0.9)] {
        let score = score(&player("run"), &opponent, &ladder);
        assert!(score > least, "{score} against {opponent}");
    }
}

/// The score of 300 games on 6x6, 0 to 1.
fn score(player: &str, opponent: &str, ladder: &str) -> f64 {
    let games = ["--games", "300", "--seed", "1", "--ladder", ladder, "--json"];
    let output = output(&[&["arena", player, opponent, "--shape", "6x6"], &games[..]].concat());
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stdout).expect("text");
    let line = lines.lines().next().expect("a line");
    let result: serde_json::Value = serde_json::from_str(line).expect("JSON");
    result["score"].as_f64().expect("a score")
}

#[test]
fn patterns_learnt_in_seconds_beat_the_positional_evaluator_and_have_probcut() {
    let folder = Folder::new(ENDGAME);
    folder
        .train("run", &["--set", "endgame.first_lines=20000", "--set", "endgame.last_games=6000"]);
    let run = folder.path("run").display().to_string();
    let ladder = folder.path("ladder.jsonl").display().to_string();
    let score = |player: &str, opponent| score(&format!("{player},eval={run}"), opponent, &ladder);
    let found = score("alphabeta:depth=3", "alphabeta:depth=3,eval=positional");
    assert!(found > 0.55, "{found}");
    let found = score("alphabeta:depth=6,probcut=1.5", "greedy");
    assert!(found > 0.9, "{found}");
    let text = ["solve", "start", "--shape", "6x6", "--eval", &run, "--seconds", "0.05"];
    let solve = output(&text);
    assert!(String::from_utf8_lossy(&solve.stdout).contains("total: 1 position"), "{solve:?}");
    let error = output(&["solve", "start", "--eval", &run]);
    let text = String::from_utf8_lossy(&error.stderr).into_owned();
    assert_eq!(error.status.code(), Some(2), "{text}");
    assert!(text.contains("6x6") && text.contains("8x8"), "{text}");
    // Fewer patterns fit the same labels worse.
    let error = |more: &[&str]| {
        let bench = ["bench", "patterns", &folder.config, "--labels", &run, "--json"];
        let found = output(&[&bench, more].concat());
        let text = String::from_utf8(found.stdout).expect("text");
        let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        let lines: Vec<serde_json::Value> = lines.collect();
        let is_error = |line: &&serde_json::Value| line["name"] == "patterns error, 10 empties";
        lines.iter().find(is_error).expect("an error")["value"].as_f64().expect("a number")
    };
    let few = error(&["--set", "endgame.patterns=[\"a1 b1 c1\"]"]);
    assert!(error(&[]) < few && few < 20.0, "{few}");
}

#[test]
fn every_fit_and_the_iterative_scheme_train() {
    let folder = Folder::new(CONFIG);
    let short = ["--set", "stages.passes=1", "--set", "stages.boards=60"];
    for (number, more) in [
        vec!["stages.fit=linear"],
        vec!["stages.fit=logistic", "stages.between=larger"],
        vec!["stages.fit=svm", "stages.centred=true"],
        vec!["stages.gap=8", "goal=fewest"],
        vec!["stages.gap=4", "stages.depth=1", "stages.rounds=3"],
    ]
    .into_iter()
    .enumerate()
    {
        let mut arguments = short.to_vec();
        more.iter().for_each(|change| arguments.extend(["--set", change]));
        let model = folder.train(&format!("run-{number}"), &arguments);
        let weights = model.weights().array("weights").expect("weights");
        assert!(weights.values.iter().any(|&weight| weight != 0.0), "{more:?}");
    }
}

#[test]
fn keys_of_another_method_are_named_with_it() {
    let folder = Folder::new(CONFIG);
    let error = folder.refused(&["--set", "search.simulations=9", "--set", "device=cpu"]);
    for (key, method) in [("search.simulations", "alphazero"), ("device", "alphazero")] {
        let wanted = format!("`{key}` is a key of method \"{method}\"; here method = \"stages\"");
        assert!(error.contains(&wanted), "{error}");
    }
    let folder = Folder::new("board = \"6x6\"\nthreads = 2\n[stages]\ngap = 3\n");
    let error = folder.refused(&[]);
    for (place, key) in [("2:11", "threads"), ("4:7", "stages.gap")] {
        let wanted = format!("stages.toml:{place}: `{key}` is a key of method \"stages\"");
        assert!(error.contains(&wanted), "{error}");
    }
    let folder = Folder::new(CONFIG);
    let error = folder.refused(&["--games", "somewhere"]);
    assert!(error.contains("--net and --games are for method \"alphazero\""), "{error}");
}

#[test]
fn keys_that_the_model_depends_on_cannot_change_on_resume() {
    let folder = Folder::new(CONFIG);
    let run = folder.path("run");
    folder.train("run", &["--set", "stages.passes=1"]);
    let text = run.display().to_string();
    let resumed = ["train", "--resume", "--run-dir", &text, "--set", "stages.boards=300"];
    let output = output(&resumed);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("stages.boards is 200 in the run, 300 in the configuration"), "{error}");
}

/// A file of WTHOR with this many games without moves.
fn wthor_file(games: u32) -> Vec<u8> {
    let mut bytes = vec![20, 26, 1, 1];
    bytes.extend(games.to_le_bytes());
    bytes.extend([0, 0, 0xd1, 7, 8, 0, 22, 0]);
    bytes.resize(16 + 68 * games as usize, 0);
    bytes
}

#[test]
fn games_that_cannot_be_used_are_named() {
    let folder = Folder::new(&CONFIG.replace("6x6", "8x8"));
    let archive = folder.path("WTH_2001.wtb");
    let path = archive.display().to_string();
    let games = format!("stages.games=[{path:?}]");
    let refused = |more: &[&str]| folder.refused(&[&["--set", &games], more].concat());
    assert!(refused(&[]).contains("cannot read") && refused(&[]).contains("WTH_2001.wtb"));
    fs::write(&archive, &wthor_file(3)[..100]).expect("a file");
    let error = refused(&[]);
    assert!(error.contains("WTH_2001.wtb is cut off or no WTHOR file"), "{error}");
    fs::write(&archive, b"no games at all, but a text").expect("a file");
    let error = refused(&[]);
    assert!(error.contains("WTH_2001.wtb holds no WTHOR games for 8x8"), "{error}");
    fs::write(&archive, wthor_file(3)).expect("a file");
    let copy = folder.path("copy.wtb");
    fs::write(&copy, wthor_file(3)).expect("a file");
    let both = format!("stages.games=[{:?}]", folder.dir.path().display().to_string());
    let error = folder.refused(&["--set", &both]);
    assert!(error.contains("0 boards with 56 discs; a stage needs at least 10"), "{error}");
    assert!(error.contains("6 games; left out: unfinished 6 (first: "), "{error}");
    let unfinished = "WTH_2001.wtb game 1: unfinished after move 0)";
    assert!(error.contains(unfinished), "{error}");
    assert!(error.contains("illegal 0, repeated 0"), "{error}");
    let error = refused(&["--set", "board=6x6"]);
    assert!(error.contains("WTH_2001.wtb is for 8x8"), "{error}");
    let empty = folder.path("empty");
    fs::create_dir(&empty).expect("a folder");
    let none = format!("stages.games=[{:?}]", empty.display().to_string());
    let error = folder.refused(&["--set", &none]);
    assert!(error.contains("empty holds no games; allowed: a run directory"), "{error}");
}

#[test]
fn a_model_of_another_board_is_refused() {
    let folder = Folder::new(CONFIG);
    folder.train("run", &["--set", "stages.passes=1"]);
    let player = format!("alphabeta:depth=1,eval={}", folder.path("run").display());
    let ladder = folder.path("ladder.jsonl").display().to_string();
    let games = ["arena", &player, "random", "--shape", "8x8", "--ladder", &ladder];
    let output = output(&games);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("the model is for board 6x6, not 8x8"), "{error}");
}
