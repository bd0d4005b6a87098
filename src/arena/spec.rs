//! Player specifications: one grammar on the command line, in configurations and in protocols.
//!
//! `random`, `greedy`, `alphabeta:depth=6,eval=positional`, `rollouts:simulations=200`,
//! `net:CHECKPOINT,simulations=100`, `policy:CHECKPOINT`,
//! `external:protocol=nboard,command="..."`. A specification is written back in one canonical
//! form, without the keys that have their default; the keys that say most (depth, simulations)
//! are always written. Without `name=`, which any player may have, that form is the player's
//! identity in ratings.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

mod defaults;
mod name;
mod read;
mod write;

use super::grammar::{Fields, SHOWN, SpecError, list};
use crate::choices::choices;
use crate::eval::positional::Positional;
use crate::eval::{Discs, Evaluator};
use crate::game::notation::plain_excerpt;
use crate::game::{Geometry, Goal};
use crate::search::mcts;
pub use name::PlayerName;
pub(super) use name::is_printable;
use read::{read_alphabeta, read_external, read_net, read_policy, read_rollouts};

choices! {
    /// The evaluation at the leaves of an alpha-beta search.
    pub enum EvaluatorKind {
        /// Square values and mobility.
        #[default]
        Positional = "positional",
        /// Nothing but the disc difference.
        Discs = "discs",
    }
}

impl EvaluatorKind {
    /// The evaluator that strives for a goal.
    pub fn evaluator<G: Geometry>(self, goal: Goal) -> Arc<dyn Evaluator<G>> {
        match self {
            EvaluatorKind::Positional => Arc::new(Positional::new(goal)),
            EvaluatorKind::Discs => Arc::new(Discs { goal }),
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
pub enum ThinkingLimit {
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
    pub limit: ThinkingLimit,
    /// How it evaluates.
    pub evaluation: EvaluatorKind,
    /// By how many standard deviations Multi-ProbCut wants to be sure; `None` leaves it off.
    pub probcut: Option<f32>,
    /// With at most this many empty squares it plays perfectly, whatever the limit.
    pub solve_empties: u32,
    /// Threads of one search; `None` for one, or, by the clock, what the machine has for it.
    pub threads: Option<usize>,
    /// Size of its transposition table in MiB.
    pub table_mb: usize,
}

impl Default for AlphaBetaSpec {
    fn default() -> AlphaBetaSpec {
        let limit = ThinkingLimit::Depth(6);
        AlphaBetaSpec {
            limit,
            evaluation: EvaluatorKind::Positional,
            probcut: None,
            solve_empties: 0,
            threads: None,
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
    /// Leaves of one tree that are evaluated at the same time; `None` for what suits its threads.
    pub parallel: Option<u32>,
    /// Threads that compute the net; `None` for one, or, by the clock, what the machine has for it.
    pub threads: Option<usize>,
    /// Images of a position whose answers are averaged: 1, 2, 4 or 8.
    pub symmetries: usize,
}

/// A network's policy without search.
#[derive(Clone, PartialEq, Debug)]
pub struct PolicySpec {
    /// A net file, a checkpoint or a run directory.
    pub path: PathBuf,
    /// How many moves of a game are drawn at temperature 1, counted in plies.
    pub temperature_plies: u32,
    /// Images of a position whose answers are averaged: 1, 2, 4 or 8.
    pub symmetries: usize,
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
pub struct PlayerSpec {
    /// What it is; written as text, its identity.
    pub kind: PlayerKind,
    /// What the user calls it.
    pub name: Option<PlayerName>,
}

/// What a player is.
#[derive(Clone, PartialEq, Debug)]
pub enum PlayerKind {
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

const DEFAULT_DEPTH: u32 = 8;
/// The most threads that a player by the clock takes without being told so: what more of them
/// are worth has not been measured.
const MOST_USUAL_THREADS: usize = 4;
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The key that every player may have.
const NAME: &str = "name";
const ALPHABETA_KEYS: &[&str] = &[
    NAME,
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
const ROLLOUTS_KEYS: &[&str] = &[NAME, "simulations", "c_uct"];
const NET_KEYS: &[&str] = &[
    NAME,
    "simulations",
    "movetime",
    "gametime",
    "solve_empties",
    "solve_leaves",
    "solve_growth",
    "wipeout_nodes",
    "temperature_plies",
    "temperature",
    "c_puct",
    "first_play",
    "fpu_reduction",
    "spread_scale",
    "prior_temperature",
    "score_weight",
    "score_empties",
    "tree_reuse",
    "parallel",
    "threads",
    "symmetries",
];
const POLICY_KEYS: &[&str] = &[NAME, "temperature_plies", "symmetries"];
const EXTERNAL_KEYS: &[&str] = &[NAME, "protocol", "command", "depth", "timeout"];

impl PlayerSpec {
    /// The kinds of players and the keys of each.
    pub const KINDS: &'static [(&'static str, &'static [&'static str])] = &[
        ("random", &[NAME]),
        ("greedy", &[NAME]),
        ("alphabeta", ALPHABETA_KEYS),
        ("rollouts", ROLLOUTS_KEYS),
        ("net", NET_KEYS),
        ("policy", POLICY_KEYS),
        ("external", EXTERNAL_KEYS),
    ];

    /// The same player on a machine that has so many cores for it. A player by the clock takes one
    /// thread for each, up to four, unless its specification has `threads`.
    #[must_use]
    pub fn on_cores(mut self, cores: usize) -> PlayerSpec {
        let usual = cores.clamp(1, MOST_USUAL_THREADS);
        match &mut self.kind {
            PlayerKind::AlphaBeta(spec) if spec.is_timed() => {
                spec.threads.get_or_insert(usual);
            }
            PlayerKind::Net(spec) if spec.time.is_some() => {
                spec.threads.get_or_insert(usual);
                spec.leave_out_usual_parallel();
            }
            _ => {}
        }
        self
    }

    /// The net file, checkpoint or run directory that the player comes from, if it does.
    pub fn checkpoint(&self) -> Option<&PathBuf> {
        match &self.kind {
            PlayerKind::Net(spec) => Some(&spec.path),
            PlayerKind::Policy(spec) => Some(&spec.path),
            _ => None,
        }
    }

    /// Empty squares from which on the player plays by the exact solver; by the clock, as far as
    /// its time allows.
    pub fn solve_empties(&self) -> u32 {
        match &self.kind {
            PlayerKind::AlphaBeta(spec) => spec.solve_empties,
            PlayerKind::Net(spec) => spec.search.solve_empties,
            _ => 0,
        }
    }
}

impl PlayerKind {
    /// Whether the same line of play always gets the same moves, in every match and with any seed.
    pub fn is_deterministic(&self) -> bool {
        match self {
            PlayerKind::Random | PlayerKind::Greedy | PlayerKind::Rollouts(_) => false,
            PlayerKind::AlphaBeta(spec) => spec.threads.unwrap_or(1) == 1 && !spec.is_timed(),
            PlayerKind::Net(spec) => spec.search.temperature_plies == 0 && spec.time.is_none(),
            PlayerKind::Policy(spec) => spec.temperature_plies == 0,
            PlayerKind::External(_) => false,
        }
    }
}

impl From<PlayerKind> for PlayerSpec {
    fn from(kind: PlayerKind) -> PlayerSpec {
        PlayerSpec { kind, name: None }
    }
}

impl AlphaBetaSpec {
    fn is_timed(&self) -> bool {
        matches!(self.limit, ThinkingLimit::MoveTime(_) | ThinkingLimit::GameTime(_))
    }
}

impl NetPlayerSpec {
    /// A net at `path` that plays as strongly as it can with `simulations`.
    ///
    /// A match asks for the best move and self-play for what can be learnt, so a player trusts the
    /// net's policy more, if not all of its certainty, looks for small differences where all moves
    /// are worth much the same, and leaves more of the game's end to the solver (docs/results.md,
    /// Play).
    pub fn new(path: PathBuf, simulations: u32) -> NetPlayerSpec {
        let search = mcts::Options {
            simulations,
            c_puct: 0.9,
            fpu_reduction: 0.15,
            spread_scale: 1.0,
            prior_temperature: 1.5,
            temperature_plies: 0,
            solve_growth: 1.0,
            ..mcts::Options::default()
        };
        let spec = NetPlayerSpec {
            path,
            search,
            time: None,
            parallel: None,
            threads: None,
            symmetries: 1,
        };
        spec.solving_as_usual()
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
                found: plain_excerpt(kind, SHOWN),
                allowed: list(&names).into(),
            });
        };
        let takes_subject = matches!(kind, "net" | "policy");
        let mut fields = Fields::parse(kind, keys, takes_subject, rest)?;
        let name = fields.take(NAME, PlayerName::ALLOWED, PlayerName::new)?;
        let kind = match kind {
            "random" => PlayerKind::Random,
            "greedy" => PlayerKind::Greedy,
            "alphabeta" => PlayerKind::AlphaBeta(read_alphabeta(fields)?),
            "rollouts" => PlayerKind::Rollouts(read_rollouts(fields)?),
            "net" => PlayerKind::Net(read_net(fields)?),
            "policy" => PlayerKind::Policy(read_policy(fields)?),
            _ => PlayerKind::External(read_external(fields)?),
        };
        Ok(PlayerSpec { kind, name })
    }
}

#[cfg(test)]
mod tests;
