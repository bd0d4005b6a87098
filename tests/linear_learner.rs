//! A learner that is no net trains through the whole pipeline, is killed, and is resumed: games,
//! replay window, checkpoints, ratings and the final model.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use outflank::config::Config;
use outflank::eval::Evaluator;
use outflank::eval::linear::{Features, Linear};
use outflank::game::{Bitboard, Board, Geometry, Goal, Position, Square6};
use outflank::model::{Description, Kind, Weights};
use outflank::pipeline::{self, RunEnd, Trainee};
use outflank::players::contestant::PlayerContext;
use outflank::players::models::LoadedModel;
use outflank::players::open;
use outflank::players::player::Turn;
use outflank::predict::Input;
use outflank::store::checkpoint;
use outflank::store::run_dir::{RunDir, State};
use outflank::telemetry::Telemetry;
use outflank::train::learner::{Learner, LearnerError, Losses, Options, RunProgress};
use outflank::train::replay::Batch;
use outflank::train::seeds::Random;

type G = Square6;

const CONFIG: &str = r#"
board = "6x6"
[limits]
games = 300
minutes = 0
[search]
simulations = 8
solve_empties = 6
solve_leaves = 6
[selfplay]
games_per_actor = 16
[replay]
min_positions = 300
max_positions = 5000
growth_start = 1000
ratio = 2
[learner]
batch = 64
steps_per_publish = 4
learning_rate = [[0, 0.001]]
[checkpoint]
every_minutes = 0.001
[evaluation]
every_minutes = 0.01
games = 10
simulations = 8
opponents = ["random"]
"#;

/// Learns the weights of a linear evaluator from final scores, by stochastic gradient descent.
struct LinearLearner {
    features: Features<G>,
    options: Options,
    weights: Vec<f32>,
    steps: u64,
    /// The sum of the losses since they were last read, and the number of steps.
    losses: (f64, u32),
}

impl LinearLearner {
    /// The features of a sample, and its final score in discs minus the evaluation.
    fn error(&self, input: &Input, score: f32) -> (Vec<f32>, f32) {
        let [mine, theirs] = [input.mine, input.theirs].map(<G as Geometry>::Bitboard::narrow);
        let features = self.features.of(Board { mine, theirs })[..self.weights.len()].to_vec();
        let found: f32 = features.iter().zip(&self.weights).map(|(x, weight)| x * weight).sum();
        (features, score * G::SQUARES as f32 - found)
    }

    fn arrays(&self) -> Weights {
        let mut arrays = Weights::default();
        arrays.insert("weights", vec![1, self.weights.len()], self.weights.clone());
        arrays.insert("discs", vec![1], vec![20.0]);
        arrays.insert("win_scale", vec![1], vec![6.0]);
        arrays
    }
}

impl Learner for LinearLearner {
    fn steps(&self) -> u64 {
        self.steps
    }

    fn learning_rate(&self, progress: RunProgress) -> f64 {
        self.options.learning_rate_at(self.steps, progress)
    }

    fn step(&mut self, batch: &Batch, progress: RunProgress, _: &mut Random) {
        let rate = self.learning_rate(progress) as f32 / batch.inputs.len() as f32;
        let mut gradient = vec![0.0; self.weights.len()];
        for (input, &score) in batch.inputs.iter().zip(&batch.score) {
            let (features, error) = self.error(input, score);
            self.losses.0 += f64::from(error * error) / batch.inputs.len() as f64;
            gradient.iter_mut().zip(features).for_each(|(sum, x)| *sum += error * x);
        }
        self.weights.iter_mut().zip(gradient).for_each(|(weight, sum)| *weight += rate * sum);
        self.steps += 1;
        self.losses.1 += 1;
    }

    fn take_losses(&mut self) -> Result<Losses, LearnerError> {
        let (sum, steps) = std::mem::take(&mut self.losses);
        let mean = sum / f64::from(steps.max(1));
        let losses = Losses { total: mean, parts: vec![("score", mean)] };
        self.options.check_losses(losses, self.steps)
    }

    fn evaluate(&mut self, batch: &Batch) -> Vec<(&'static str, f64)> {
        let pairs = batch.inputs.iter().zip(&batch.score);
        let errors = pairs.map(|(input, &score)| f64::from(self.error(input, score).1.abs()));
        vec![("held_out/discs", errors.sum::<f64>() / batch.inputs.len().max(1) as f64)]
    }

    fn play_weights(&self) -> Weights {
        self.arrays()
    }

    fn state(&self) -> Weights {
        self.arrays()
    }

    fn start_from(&mut self, weights: &Weights) -> Result<(), LearnerError> {
        self.weights = weights.get("weights", &[1, self.weights.len()])?.to_vec();
        Ok(())
    }

    fn load(&mut self, _: &Weights, state: &Weights, steps: u64) -> Result<(), LearnerError> {
        self.steps = steps;
        self.start_from(state)
    }
}

struct LinearTrainee<'a>(&'a Config);

impl Trainee for LinearTrainee<'_> {
    fn description(&self) -> Description {
        let (shape, goal) = (self.0.board, self.0.goal);
        let options = serde_json::Value::Null;
        Description { kind: Kind::Linear, shape, options, goal, positions: 0, steps: 0 }
    }

    fn learner(&self) -> anyhow::Result<Box<dyn Learner>> {
        let features = Features::default();
        // Losses here are squares of whole games' disc differences.
        let options = Options { loss_limit: 5000.0, ..self.0.learner.clone() };
        let weights = vec![0.0; features.count()];
        Ok(Box::new(LinearLearner { features, options, weights, steps: 0, losses: (0.0, 0) }))
    }
}

/// Trains in the run directory: starts the run, or resumes it if it exists.
fn train(folder: &Path, changes: &[&str]) -> RunEnd {
    let changes: Vec<String> = changes.iter().map(|&change| change.into()).collect();
    let config = Config::parse("test", CONFIG, &changes).expect("a configuration");
    let mut run = match folder.exists() {
        true => RunDir::open(folder),
        false => RunDir::create(folder, &config.resolved(), config.seed),
    }
    .expect("a run directory");
    let telemetry = Telemetry::start(run.path(), &config.resolved(), true).expect("telemetry");
    let stop = AtomicBool::new(false);
    let trainee = LinearTrainee(&config);
    let end = pipeline::train_model(&trainee, &config, &mut run, &telemetry, &stop);
    let end = end.expect("it trains");
    telemetry.finish().expect("curves");
    run.record(State::Finished, end.state.summary()).expect("a state");
    end
}

#[test]
fn a_linear_evaluator_is_trained_rated_and_played() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let end = train(&run, &[]);
    assert!(end.state.games >= 300 && end.state.steps > 100, "{end:?}");
    // The learned evaluator beats the random player.
    let rating = end.state.last_rating().expect("the last model is rated");
    assert!(rating.elo > 0.0, "{rating:?}");

    let model = LoadedModel::read(&run).expect("a model");
    assert_eq!((model.description.kind, model.description.steps), (Kind::Linear, end.state.steps));
    let evaluator = Linear::<G>::read(&model.description, model.weights()).expect("an evaluator");
    // A corner is worth more than the square beside it.
    let features = Features::<G>::default();
    let weights = model.weights().get("weights", &[1, features.count()]).expect("weights");
    assert!(weights[5] > weights[6], "{weights:?}");
    assert_eq!(evaluator.win_scale().0, 6.0);

    // The names of its losses are those of its curves.
    let metrics = fs::read_to_string(run.join("metrics.jsonl")).expect("metrics");
    let report = metrics.lines().find(|line| line.contains("loss/")).expect("a report");
    let report: serde_json::Value = serde_json::from_str(report).expect("JSON");
    assert!(report["values"]["loss/score"].as_f64().is_some_and(|loss| loss > 0.0), "{report}");
    assert!(report["values"]["held_out/discs"].is_number(), "{report}");
    assert!(report["values"]["loss/policy"].is_null(), "{report}");

    // The same folder is a player of tree search and an evaluator of alpha-beta.
    let start = Position::start();
    for spec in ["net:@,simulations=20", "alphabeta:depth=3,eval=@"] {
        let spec = spec.replace('@', &run.display().to_string());
        let spec = spec.parse().expect("a player");
        let mut player = open::player::<G>(&spec, Goal::Most).expect("a player");
        let choice = player.choose(&[Turn::at(start)]).remove(0).expect("a move");
        assert!(start.board.legal().contains(choice.square));
        // The identity tells this model from a later one of the run.
        let context = PlayerContext::new(Goal::Most);
        let name = open::contestant::<G>(&spec, &context).expect("a player").name;
        assert!(name.contains("/step-") && name.contains('#'), "{name}");
    }
}

const RUN: &str = "OUTFLANK_TEST_RUN";

#[test]
#[ignore = "another test runs it in a process of its own"]
fn train_until_killed() {
    let run = std::env::var_os(RUN).expect("a run directory");
    train(Path::new(&run), &["limits.games=1000000", "evaluation.every_minutes=0"]);
}

#[test]
fn a_killed_run_is_resumed() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program)
        .args(["--ignored", "--exact", "train_until_killed"])
        .env(RUN, &run)
        .stdout(Stdio::null())
        .spawn()
        .expect("a process");
    let begun = Instant::now();
    let checkpoints = run.join("checkpoints");
    let saved = || checkpoint::list(&checkpoints).unwrap_or_default();
    while saved().iter().all(|(step, _)| *step < 20) {
        assert!(begun.elapsed() < Duration::from_secs(100), "no checkpoint");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ended");
    let (step, _) = saved().pop().expect("a checkpoint");

    let games = outflank::store::games::totals(&run.join("games")).expect("games").games;
    let more = format!("limits.games={}", games + 50);
    let end = train(&run, &[&more, "evaluation.every_minutes=0"]);
    assert!(end.state.games >= games + 50 && end.state.steps > step, "{end:?}");
    let model = LoadedModel::read(&run).expect("a model");
    assert_eq!((model.description.kind, model.description.steps), (Kind::Linear, end.state.steps));
}
