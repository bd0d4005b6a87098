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
use std::time::Duration;

mod defaults;
mod evaluator;
mod page;
mod read;
mod table;
mod write;

pub(super) use super::grammar::is_printable;
use super::grammar::{Fields, SHOWN, SpecError};
pub use super::grammar::{PlayerName, SpecKind};
use crate::choices::choices;
use crate::game::notation::plain_excerpt;
use crate::keys::{Allowed, keys, limits, one_of, text, whole, within};
use crate::search::mcts;
use crate::search::mcts::options::MOST_SOLVED;
pub use crate::search::rollouts::Options as RolloutsSpec;
pub use evaluator::{EvaluatorKind, EvaluatorSource};
pub use page::reference;
use read::{read_alphabeta, read_external, read_net, read_policy, read_rollouts};

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

limits! {
    /// The limit of an alpha-beta search.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum ThinkingLimit {
        /// Depth of the search in plies.
        Depth(u32) = "depth", whole(1, 60);
        /// Time for each move.
        MoveTime(Duration) = "movetime";
        /// Time for all moves of a game.
        GameTime(Duration) = "gametime";
        /// Positions searched for each move.
        Nodes(u64) = "nodes", whole(1, u64::MAX);
    }
}

keys! {
    /// An alpha-beta player.
    #[derive(Clone, PartialEq, Debug)]
    pub struct AlphaBetaSpec {
        /// The limit of its search.
        part limit: ThinkingLimit = ThinkingLimit::Depth(6);

        /// The evaluator at the leaves: `positional` knows square values and mobility, `discs` the
        /// disc difference alone; or a model that is no net, as a model file, a checkpoint or a run
        /// directory.
        key evaluator("eval"): EvaluatorSource = EvaluatorSource::default();

        /// Multi-ProbCut: the search skips lines that a shallower search predicts to be irrelevant
        /// by this many standard deviations. Only with an evaluator whose prediction errors are
        /// measured: `positional` on 8x8 for the most discs. Without the key no line is skipped.
        key probcut: Option<f32> = None, within(0.1, 10.0);

        /// Positions with at most this many empty squares are solved exactly, whatever the depth,
        /// the time or the nodes; 0 means off.
        key solve_empties: u32 = 0, whole(0, MOST_SOLVED);

        /// Threads of one search; with a time limit one for each core of the player, up to a limit
        /// (below).
        ///
        /// `None` means the default.
        key threads: Option<usize> = None, THREADS;

        /// Size of the transposition table in MiB.
        key table_mb: usize = 16, whole(1, 65536);
    }
}

const THREADS: Allowed = whole(1, 256);

limits! {
    /// A time limit.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Time {
        /// Time for each move.
        Move(Duration) = "movetime";
        /// Time for all moves of a game.
        Game(Duration) = "gametime";
    }
}

keys! {
    /// A tree search guided by a net.
    #[derive(Clone, PartialEq, Debug)]
    pub struct NetPlayerSpec {
        /// A net file, a checkpoint or a run directory.
        field path: PathBuf = PathBuf::new();

        /// The settings of its search.
        part search: mcts::Options = NetPlayerSpec::default_search();

        /// The time limit that replaces `search.simulations`, if set.
        part time: Option<Time> = None;

        /// Leaves of one tree that wait for predictions at the same time: more make the search
        /// faster, but weaker for the same number of simulations.
        ///
        /// `None` means the default for its threads and time limit.
        key parallel: Option<u32> = None, whole(1, 2048);

        /// Threads that compute the net for one move; with a time limit one for each core of the
        /// player, up to a limit (below).
        ///
        /// `None` means the default.
        key threads: Option<usize> = None, THREADS;

        /// The prediction for a position is the mean over this many of its images under the board's
        /// symmetries; each image costs a prediction of the net.
        key symmetries: usize = 1, SYMMETRIES;
    }
}

const SYMMETRIES: Allowed = one_of(&[1, 2, 4, 8]);

keys! {
    /// A net's policy without search.
    #[derive(Clone, PartialEq, Debug)]
    pub struct PolicySpec {
        /// A net file, a checkpoint or a run directory.
        field path: PathBuf = PathBuf::new();

        /// How many plies from the start of a game are drawn from the policy; later the most
        /// probable move is played.
        key temperature_plies: u32 = 0, whole(0, 100);

        /// The prediction for a position is the mean over this many of its images; see `net`.
        key symmetries: usize = 1, SYMMETRIES;
    }
}

keys! {
    /// An external engine: another program.
    #[derive(Clone, PartialEq, Debug)]
    pub struct ExternalSpec {
        /// The protocol that the program speaks.
        key protocol: Protocol = Protocol::Nboard => required("a protocol");

        /// The program and its arguments, split as a shell splits them; no shell runs.
        key command: String = String::new(),
            text("a program and its arguments, with quotes that close", is_command)
            => required("a command");

        /// The search depth of an NBoard program.
        key depth: u32 = 8, whole(1, 60)
            => refused("with `protocol=gtp`: set it in the engine's command");

        /// The longest time for an answer; a program that takes longer forfeits the game.
        key timeout: Duration = Duration::from_secs(60);
    }
}

fn is_command(text: &str) -> bool {
    shlex::split(text).is_some_and(|words| !words.is_empty())
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

/// The largest default of `threads` with a time limit. The strength with more threads has not been
/// measured.
const MAX_DEFAULT_THREADS: usize = 4;

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
    pub fn new(path: PathBuf, simulations: u32) -> NetPlayerSpec {
        let mut spec = NetPlayerSpec { path, ..NetPlayerSpec::default() };
        spec.search.simulations = simulations;
        spec.with_default_solver()
    }
}

impl PolicySpec {
    /// A player that always plays the most probable move of the net at `path`.
    pub fn new(path: PathBuf) -> PolicySpec {
        PolicySpec { path, ..PolicySpec::default() }
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
        let name = fields.name()?.and_then(|name| PlayerName::new(&name));
        let kind = match kind.name {
            "random" => PlayerKind::Random,
            "greedy" => PlayerKind::Greedy,
            "alphabeta" => PlayerKind::AlphaBeta(read_alphabeta(&fields)?),
            "rollouts" => PlayerKind::Rollouts(read_rollouts(&fields)?),
            "net" => PlayerKind::Net(read_net(&mut fields)?),
            "policy" => PlayerKind::Policy(read_policy(&mut fields)?),
            _ => PlayerKind::External(read_external(&fields)?),
        };
        Ok(PlayerSpec { kind, name })
    }
}

#[cfg(test)]
mod tests;
