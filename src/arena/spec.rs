//! Player specifications: one grammar on the command line, in configurations and in protocols.
//!
//! `random`, `greedy`, `alphabeta:depth=6,eval=positional`, `rollouts:simulations=200`,
//! `net:CHECKPOINT,simulations=100`, `policy:CHECKPOINT`,
//! `external:protocol=nboard,command="..."`. A specification is written back in one canonical
//! form. It leaves out keys with their default value, except the keys that limit the thinking (such
//! as depth and simulations). Without `name=`, which any player may have, that form identifies the
//! player in ratings.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

mod defaults;
mod name;
mod page;
mod read;
mod table;
mod write;

pub use super::grammar::{AllowedValues, SpecKey, SpecKind};
use super::grammar::{Fields, SHOWN, SpecError};
use crate::choices::choices;
use crate::eval::positional::Positional;
use crate::eval::{Discs, Evaluator};
use crate::game::notation::plain_excerpt;
use crate::game::{Geometry, Goal, Shape};
use crate::search::mcts;
pub use name::PlayerName;
pub(super) use name::is_printable;
pub use page::reference;
use read::{read_alphabeta, read_external, read_net, read_policy, read_rollouts};

choices! {
    /// The evaluator at the leaves of an alpha-beta search.
    pub enum EvaluatorKind {
        /// Square values and mobility.
        #[default]
        Positional = "positional",
        /// The disc difference alone.
        Discs = "discs",
    }
}

impl EvaluatorKind {
    /// The evaluator for a goal.
    pub fn evaluator<G: Geometry>(self, goal: Goal) -> Arc<dyn Evaluator<G>> {
        match self {
            EvaluatorKind::Positional => Arc::new(Positional::new(goal)),
            EvaluatorKind::Discs => Arc::new(Discs { goal }),
        }
    }

    /// Whether Multi-ProbCut has parameters for this evaluator on a board, for a goal.
    pub fn has_probcut(self, shape: Shape, goal: Goal) -> bool {
        dispatch!(shape, G => self.evaluator::<G>(goal).probcut().is_some())
    }
}

choices! {
    /// The protocol of an external engine.
    pub enum Protocol {
        /// The NBoard protocol.
        #[default]
        Nboard = "nboard",
        /// The Go Text Protocol, as Othello engines use it.
        Gtp = "gtp",
    }
}

/// The limit of an alpha-beta search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ThinkingLimit {
    /// Depth in plies.
    Depth(u32),
    /// Time for each move.
    MoveTime(Duration),
    /// Time for all moves of a game.
    GameTime(Duration),
    /// Positions for each move.
    Nodes(u64),
}

/// An alpha-beta player.
#[derive(Clone, PartialEq, Debug)]
pub struct AlphaBetaSpec {
    /// The limit of its search.
    pub limit: ThinkingLimit,
    /// The evaluator at its leaves.
    pub evaluator: EvaluatorKind,
    /// The confidence of Multi-ProbCut in standard deviations; `None` means off.
    pub probcut: Option<f32>,
    /// Positions with at most this many empty squares are solved exactly, whatever the limit.
    pub solve_empties: u32,
    /// Threads of one search. `None` means one, or with a time limit one for each core of the
    /// player, up to four.
    pub threads: Option<usize>,
    /// Size of the transposition table in MiB.
    pub table_mb: usize,
}

impl Default for AlphaBetaSpec {
    fn default() -> AlphaBetaSpec {
        let limit = ThinkingLimit::Depth(6);
        AlphaBetaSpec {
            limit,
            evaluator: EvaluatorKind::Positional,
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

/// A time limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Time {
    /// For each move.
    Move(Duration),
    /// For all moves of a game.
    Game(Duration),
}

/// A tree search guided by a net.
#[derive(Clone, PartialEq, Debug)]
pub struct NetPlayerSpec {
    /// A net file, a checkpoint or a run directory.
    pub path: PathBuf,
    /// The settings of its search.
    pub search: mcts::Options,
    /// The time limit that replaces `search.simulations`, if set.
    pub time: Option<Time>,
    /// Leaves of one tree that wait for predictions at the same time; `None` means the default for
    /// its threads and time limit.
    pub parallel: Option<u32>,
    /// Threads that compute the net. `None` means one, or with a time limit one for each core of
    /// the player, up to four.
    pub threads: Option<usize>,
    /// Images of a position whose answers are averaged: 1, 2, 4 or 8.
    pub symmetries: usize,
}

/// A net's policy without search.
#[derive(Clone, PartialEq, Debug)]
pub struct PolicySpec {
    /// A net file, a checkpoint or a run directory.
    pub path: PathBuf,
    /// How many plies from the start of a game are drawn from the policy; later moves are the most
    /// probable ones.
    pub temperature_plies: u32,
    /// Images of a position whose answers are averaged: 1, 2, 4 or 8.
    pub symmetries: usize,
}

/// An external engine: another program.
#[derive(Clone, PartialEq, Debug)]
pub struct ExternalSpec {
    /// Its protocol.
    pub protocol: Protocol,
    /// The program and its arguments, which are split as a shell splits them.
    pub command: String,
    /// The depth that an NBoard engine is set to.
    pub depth: u32,
    /// The longest time that it may take for an answer.
    pub timeout: Duration,
}

/// A player specification.
#[derive(Clone, PartialEq, Debug)]
pub struct PlayerSpec {
    /// The kind with its settings. Its text identifies the player.
    pub kind: PlayerKind,
    /// The name that the user gives it.
    pub name: Option<PlayerName>,
}

/// A kind of player with its settings.
#[derive(Clone, PartialEq, Debug)]
pub enum PlayerKind {
    /// Any legal move.
    Random,
    /// The move that flips the most discs.
    Greedy,
    /// Alpha-beta search.
    AlphaBeta(AlphaBetaSpec),
    /// Tree search with random rollouts, without a net.
    Rollouts(RolloutsSpec),
    /// Tree search with a net.
    Net(NetPlayerSpec),
    /// A net's policy without search.
    Policy(PolicySpec),
    /// An external engine.
    External(ExternalSpec),
}

const DEFAULT_DEPTH: u32 = 8;
/// The largest default of `threads` with a time limit. The strength with more threads has not been
/// measured.
const MAX_DEFAULT_THREADS: usize = 4;
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

impl PlayerSpec {
    /// The same player with the default of `threads` filled in, on a machine that has `cores` for
    /// it. With a time limit that is one thread for each core, up to four.
    #[must_use]
    pub fn on_cores(mut self, cores: usize) -> PlayerSpec {
        let default = cores.clamp(1, MAX_DEFAULT_THREADS);
        match &mut self.kind {
            PlayerKind::AlphaBeta(spec) if spec.is_timed() => {
                spec.threads.get_or_insert(default);
            }
            PlayerKind::Net(spec) if spec.time.is_some() => {
                spec.threads.get_or_insert(default);
                spec.omit_default_parallel();
            }
            _ => {}
        }
        self
    }

    /// The net file, checkpoint or run directory of a player with a net.
    pub fn checkpoint(&self) -> Option<&PathBuf> {
        self.kind.checkpoint()
    }

    /// Positions with at most this many empty squares are solved exactly. A net player with a time
    /// limit gives up a solve that takes too long.
    pub fn solve_empties(&self) -> u32 {
        match &self.kind {
            PlayerKind::AlphaBeta(spec) => spec.solve_empties,
            PlayerKind::Net(spec) => spec.search.solve_empties,
            _ => 0,
        }
    }
}

impl PlayerKind {
    /// The net file, checkpoint or run directory of a player with a net.
    fn checkpoint(&self) -> Option<&PathBuf> {
        match self {
            PlayerKind::Net(spec) => Some(&spec.path),
            PlayerKind::Policy(spec) => Some(&spec.path),
            _ => None,
        }
    }

    /// Whether the player always plays the same move after the same moves, in every match and with
    /// any seed.
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
    /// A net at `path` with the strongest settings known for `simulations`.
    ///
    /// Self-play explores, but a match needs the best move. So the settings differ from those of
    /// self-play: a lower `c_puct` that scales with the spread of the values, more even priors, and
    /// more positions for the solver. docs/journal/play-settings.md and docs/journal/solving.md
    /// have the measurements.
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
        spec.with_default_solver()
    }
}

impl PolicySpec {
    /// A player that always plays the most probable move of the net at `path`.
    pub fn new(path: PathBuf) -> PolicySpec {
        PolicySpec { path, temperature_plies: 0, symmetries: 1 }
    }
}

impl FromStr for PlayerSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<PlayerSpec, SpecError> {
        let text = text.trim();
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let kinds = PlayerSpec::KINDS;
        let Some(kind) = kinds.iter().find(|row| row.name == kind.trim()) else {
            let names: Vec<_> = kinds.iter().map(|kind| kind.name).collect();
            return Err(SpecError::UnknownKind {
                found: plain_excerpt(kind, SHOWN),
                allowed: names.join(", ").into(),
            });
        };
        let mut fields = Fields::parse(kind, rest)?;
        let name = fields.take(table::NAME.name, |_, value| PlayerName::new(value))?;
        let kind = match kind.name {
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
