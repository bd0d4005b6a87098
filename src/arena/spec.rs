//! Player specifications: one grammar on the command line, in configurations and in protocols.
//!
//! `random`, `greedy`, `alphabeta:depth=6,eval=positional`, `rollouts:simulations=200`,
//! `net:CHECKPOINT,simulations=100`, `policy:CHECKPOINT`,
//! `external:protocol=nboard,command="..."`. A specification is written back in one canonical
//! form, without the keys that have their default, and that form is the player's name in
//! ratings; the keys that say most (depth, simulations) are always written.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

mod write;

use super::grammar::{Fields, SpecError, list};
use crate::choices::choices;
use crate::eval::positional::Positional;
use crate::eval::{Discs, Evaluator};
use crate::game::{Geometry, Goal};
use crate::search::mcts;

choices! {
    /// The evaluation at the leaves of an alpha-beta search.
    pub enum Evaluation {
        /// Square values and mobility.
        #[default]
        Positional = "positional",
        /// Nothing but the disc difference.
        Discs = "discs",
    }
}

impl Evaluation {
    /// The evaluator that strives for a goal.
    pub fn evaluator<G: Geometry>(self, goal: Goal) -> Arc<dyn Evaluator<G>> {
        match self {
            Evaluation::Positional => Arc::new(Positional::new(goal)),
            Evaluation::Discs => Arc::new(Discs { goal }),
        }
    }
}

choices! {
    /// The language that an outside engine speaks.
    pub enum Protocol {
        /// The protocol of the NBoard program.
        #[default]
        Nboard = "nboard",
        /// The Go Text Protocol, as Othello engines use it.
        Gtp = "gtp",
    }
}

/// What bounds an alpha-beta search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Limit {
    /// Plies.
    Depth(u32),
    /// Time for each move.
    MoveTime(Duration),
    /// Time for all of its moves of a game.
    GameTime(Duration),
    /// Positions for each move.
    Nodes(u64),
}

/// An alpha-beta player.
#[derive(Clone, PartialEq, Debug)]
pub struct AlphaBetaSpec {
    /// When it stops thinking.
    pub limit: Limit,
    /// How it evaluates.
    pub evaluation: Evaluation,
    /// By how many standard deviations Multi-ProbCut wants to be sure; `None` leaves it off.
    pub probcut: Option<f32>,
    /// With at most this many empty squares it plays perfectly, whatever the limit.
    pub solve_empties: u32,
    /// Threads of one search.
    pub threads: usize,
    /// Size of its transposition table in MiB.
    pub table_mb: usize,
}

impl Default for AlphaBetaSpec {
    fn default() -> AlphaBetaSpec {
        let limit = Limit::Depth(6);
        AlphaBetaSpec {
            limit,
            evaluation: Evaluation::Positional,
            probcut: None,
            solve_empties: 0,
            threads: 1,
            table_mb: 16,
        }
    }
}

/// A tree search with random rollouts.
#[derive(Clone, PartialEq, Debug)]
pub struct RolloutsSpec {
    /// Rollouts for each move.
    pub simulations: u32,
    /// Weight of the exploration term of UCT.
    pub c_uct: f32,
}

impl Default for RolloutsSpec {
    fn default() -> RolloutsSpec {
        RolloutsSpec { simulations: 200, c_uct: crate::search::rollouts::Options::default().c_uct }
    }
}

/// Time for thinking, in place of a number of simulations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Time {
    /// For each move.
    Move(Duration),
    /// For all moves of a game.
    Game(Duration),
}

/// A tree search guided by a network.
#[derive(Clone, PartialEq, Debug)]
pub struct NetPlayerSpec {
    /// A net file, a checkpoint or a run directory.
    pub path: PathBuf,
    /// How it searches.
    pub search: mcts::Options,
    /// The time that it may take, in place of `search.simulations`.
    pub time: Option<Time>,
    /// Leaves of one tree that are evaluated at the same time.
    pub parallel: u32,
    /// Threads that compute the net.
    pub threads: usize,
}

/// A network's policy without search.
#[derive(Clone, PartialEq, Debug)]
pub struct PolicySpec {
    /// A net file, a checkpoint or a run directory.
    pub path: PathBuf,
    /// How many moves of a game are drawn at temperature 1, counted in plies.
    pub temperature_plies: u32,
}

/// An engine in a process of its own.
#[derive(Clone, PartialEq, Debug)]
pub struct ExternalSpec {
    /// What it speaks.
    pub protocol: Protocol,
    /// The program and its arguments, split like a shell does, without a shell.
    pub command: String,
    /// The depth that an NBoard engine is set to.
    pub depth: u32,
    /// How long it may be silent when an answer is due.
    pub timeout: Duration,
}

/// A player as text describes it.
#[derive(Clone, PartialEq, Debug)]
pub enum PlayerSpec {
    /// Any legal move.
    Random,
    /// The move that turns the most discs.
    Greedy,
    /// Alpha-beta search.
    AlphaBeta(AlphaBetaSpec),
    /// Tree search with random rollouts, without a network.
    Rollouts(RolloutsSpec),
    /// Tree search with a network.
    Net(NetPlayerSpec),
    /// A network without search.
    Policy(PolicySpec),
    /// An outside engine.
    External(ExternalSpec),
}

const ALPHABETA_KEYS: &[&str] = &[
    "depth",
    "movetime",
    "gametime",
    "nodes",
    "eval",
    "probcut",
    "solve_empties",
    "threads",
    "table_mb",
];
const ROLLOUTS_KEYS: &[&str] = &["simulations", "c_uct"];
const NET_KEYS: &[&str] = &[
    "simulations",
    "movetime",
    "gametime",
    "solve_empties",
    "temperature_plies",
    "temperature",
    "c_puct",
    "first_play",
    "fpu_reduction",
    "score_weight",
    "tree_reuse",
    "parallel",
    "threads",
];
const POLICY_KEYS: &[&str] = &["temperature_plies"];
const EXTERNAL_KEYS: &[&str] = &["protocol", "command", "depth", "timeout"];

impl PlayerSpec {
    /// The kinds of players and the keys of each.
    pub const KINDS: &'static [(&'static str, &'static [&'static str])] = &[
        ("random", &[]),
        ("greedy", &[]),
        ("alphabeta", ALPHABETA_KEYS),
        ("rollouts", ROLLOUTS_KEYS),
        ("net", NET_KEYS),
        ("policy", POLICY_KEYS),
        ("external", EXTERNAL_KEYS),
    ];

    /// Whether the same position always gets the same move, in every match and with any seed.
    pub fn is_deterministic(&self) -> bool {
        match self {
            PlayerSpec::Random | PlayerSpec::Greedy | PlayerSpec::Rollouts(_) => false,
            PlayerSpec::AlphaBeta(spec) => {
                spec.threads == 1 && matches!(spec.limit, Limit::Depth(_) | Limit::Nodes(_))
            }
            PlayerSpec::Net(spec) => spec.search.temperature_plies == 0 && spec.time.is_none(),
            PlayerSpec::Policy(spec) => spec.temperature_plies == 0,
            PlayerSpec::External(_) => false,
        }
    }

    /// The net file, checkpoint or run directory that the player comes from, if it does.
    pub fn checkpoint(&self) -> Option<&PathBuf> {
        match self {
            PlayerSpec::Net(spec) => Some(&spec.path),
            PlayerSpec::Policy(spec) => Some(&spec.path),
            _ => None,
        }
    }
}

impl NetPlayerSpec {
    /// A net at `path` that plays as strongly as it can with `simulations`.
    pub fn new(path: PathBuf, simulations: u32) -> NetPlayerSpec {
        let search =
            mcts::Options { simulations, temperature_plies: 0, ..mcts::Options::default() };
        NetPlayerSpec { path, search, time: None, parallel: 1, threads: 1 }
    }

    /// Leaves in a batch where nothing else is said: one, for a search whose strength is in its
    /// simulations; some for each thread; and a few where the clock decides, for their speed.
    fn usual_parallel(&self) -> u32 {
        let threads = self.threads as u32;
        match (self.time, threads) {
            (None, 1) => 1,
            (None, _) => 4 * threads,
            (Some(_), _) => 8 * threads,
        }
    }
}

impl FromStr for PlayerSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<PlayerSpec, SpecError> {
        let text = text.trim();
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let kinds = PlayerSpec::KINDS;
        let Some(&(kind, keys)) = kinds.iter().find(|(name, _)| *name == kind.trim()) else {
            let names: Vec<_> = kinds.iter().map(|(name, _)| *name).collect();
            return Err(SpecError::UnknownKind {
                found: kind.into(),
                allowed: list(&names).into(),
            });
        };
        let takes_subject = matches!(kind, "net" | "policy");
        let fields = Fields::parse(kind, keys, takes_subject, rest)?;
        match kind {
            "random" => Ok(PlayerSpec::Random),
            "greedy" => Ok(PlayerSpec::Greedy),
            "alphabeta" => read_alphabeta(fields).map(PlayerSpec::AlphaBeta),
            "rollouts" => read_rollouts(fields).map(PlayerSpec::Rollouts),
            "net" => read_net(fields).map(PlayerSpec::Net),
            "policy" => read_policy(fields).map(PlayerSpec::Policy),
            _ => read_external(fields).map(PlayerSpec::External),
        }
    }
}

fn read_alphabeta(mut fields: Fields) -> Result<AlphaBetaSpec, SpecError> {
    let mut spec = AlphaBetaSpec::default();
    let given = [
        ("depth", fields.whole("depth", 1..=60)?.map(Limit::Depth)),
        ("movetime", take_duration(&mut fields, "movetime")?.map(Limit::MoveTime)),
        ("gametime", take_duration(&mut fields, "gametime")?.map(Limit::GameTime)),
        ("nodes", fields.whole("nodes", 1..=u64::MAX)?.map(Limit::Nodes)),
    ];
    let mut limits = given.into_iter().filter_map(|(key, limit)| Some((key, limit?)));
    if let Some((first, limit)) = limits.next() {
        spec.limit = limit;
        if let Some((second, _)) = limits.next() {
            return Err(SpecError::Exclusive { kind: "alphabeta", first, second });
        }
    }
    let names = Evaluation::ALL.iter().map(|evaluation| evaluation.name());
    spec.evaluation = fields.choice("eval", names)?.unwrap_or_default();
    spec.probcut = fields.number("probcut", 0.1..=10.0)?;
    spec.solve_empties = fields.whole("solve_empties", 0..=30)?.unwrap_or(spec.solve_empties);
    spec.threads = fields.whole("threads", 1..=256)?.unwrap_or(spec.threads);
    spec.table_mb = fields.whole("table_mb", 1..=65536)?.unwrap_or(spec.table_mb);
    Ok(spec)
}

fn read_rollouts(mut fields: Fields) -> Result<RolloutsSpec, SpecError> {
    let default = RolloutsSpec::default();
    Ok(RolloutsSpec {
        simulations: fields.whole("simulations", 1..=100_000_000)?.unwrap_or(default.simulations),
        c_uct: fields.number("c_uct", 0.0..=100.0)?.unwrap_or(default.c_uct),
    })
}

fn read_net(mut fields: Fields) -> Result<NetPlayerSpec, SpecError> {
    let path = fields.subject(CHECKPOINT, "net:runs/quick,simulations=100")?;
    let mut spec = NetPlayerSpec::new(path.into(), 100);
    let simulations = fields.whole("simulations", 1..=100_000_000)?;
    let movetime = take_duration(&mut fields, "movetime")?;
    let gametime = take_duration(&mut fields, "gametime")?;
    let given = [
        ("simulations", simulations.is_some()),
        ("movetime", movetime.is_some()),
        ("gametime", gametime.is_some()),
    ];
    let mut given = given.into_iter().filter(|(_, given)| *given).map(|(key, _)| key);
    if let (Some(first), Some(second)) = (given.next(), given.next()) {
        return Err(SpecError::Exclusive { kind: "net", first, second });
    }
    spec.time = movetime.map(Time::Move).or(gametime.map(Time::Game));
    let search = &mut spec.search;
    search.simulations = simulations.unwrap_or(search.simulations);
    search.solve_empties = fields.whole("solve_empties", 0..=30)?.unwrap_or(search.solve_empties);
    search.temperature_plies = fields.whole("temperature_plies", 0..=92)?.unwrap_or(0);
    search.temperature = fields.number("temperature", 0.0..=100.0)?.unwrap_or(search.temperature);
    search.c_puct = fields.number("c_puct", 0.0..=100.0)?.unwrap_or(search.c_puct);
    let names = mcts::options::FirstPlay::ALL.iter().map(|choice| choice.name());
    search.first_play = fields.choice("first_play", names)?.unwrap_or(search.first_play);
    search.fpu_reduction =
        fields.number("fpu_reduction", 0.0..=2.0)?.unwrap_or(search.fpu_reduction);
    search.score_weight = fields.number("score_weight", 0.0..=1.0)?.unwrap_or(search.score_weight);
    search.tree_reuse =
        fields.choice("tree_reuse", ["true", "false"].into_iter())?.unwrap_or(search.tree_reuse);
    spec.threads = fields.whole("threads", 1..=256)?.unwrap_or(1);
    spec.parallel = fields.whole("parallel", 1..=2048)?.unwrap_or(spec.usual_parallel());
    Ok(spec)
}

fn read_policy(mut fields: Fields) -> Result<PolicySpec, SpecError> {
    let path = fields.subject(CHECKPOINT, "policy:runs/quick")?.into();
    let temperature_plies = fields.whole("temperature_plies", 0..=92)?.unwrap_or(0);
    Ok(PolicySpec { path, temperature_plies })
}

fn read_external(mut fields: Fields) -> Result<ExternalSpec, SpecError> {
    let example = "external:protocol=gtp,command=\"engine --gtp\"";
    let missing = |wanted| SpecError::Missing { kind: "external", wanted, example };
    let names = Protocol::ALL.iter().map(|protocol| protocol.name());
    let protocol = fields.choice("protocol", names)?.ok_or(missing("a protocol"))?;
    let allowed = "a program and its arguments, with quotes that close";
    let command = fields
        .take("command", allowed, |value| {
            shlex::split(value).filter(|words| !words.is_empty()).map(|_| value.to_owned())
        })?
        .ok_or(missing("a command"))?;
    let depth = fields.whole("depth", 1..=60)?.unwrap_or(DEFAULT_DEPTH);
    let timeout = take_duration(&mut fields, "timeout")?.unwrap_or(DEFAULT_TIMEOUT);
    Ok(ExternalSpec { protocol, command, depth, timeout })
}

const CHECKPOINT: &str = "a net file, a checkpoint or a run directory";
const DEFAULT_DEPTH: u32 = 8;
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

fn take_duration(fields: &mut Fields, key: &'static str) -> Result<Option<Duration>, SpecError> {
    fields.take(key, "a time above 0 such as 100ms, 2s or 1.5m, at most a day", parse_duration)
}

/// A time such as `100ms`, `2s` or `1.5m`.
fn parse_duration(text: &str) -> Option<Duration> {
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0)];
    let (number, unit) =
        units.iter().find_map(|&(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))?;
    let seconds: f64 = number.trim().parse::<f64>().ok()? * unit;
    let fits = (0.001..=86_400.0).contains(&seconds);
    fits.then(|| Duration::from_millis((seconds * 1000.0).round() as u64))
}

#[cfg(test)]
mod tests;
