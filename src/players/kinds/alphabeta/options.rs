//! The options of alpha-beta players.

use std::path::PathBuf;
use std::time::Duration;

use super::{AlphaBetaPlayer, EvaluatorSource};
use crate::eval::AnyEvaluator;
use crate::game::{Geometry, Goal};
use crate::keys::{keys, limits, whole, within};
use crate::players::contestant::{OpenError, PlayerContext};
use crate::players::grammar::{Fields, SpecError, SpecKind};
use crate::players::kind::{Kind, Opened, PlayerOptions, THREADS, default_threads};
use crate::search::clock::Allotment;
use crate::search::mcts::options::MOST_SOLVED;
use crate::search::memory::room_for;

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

        /// The evaluator at the leaves: `best` is the strongest that comes with the program for the
        /// board and goal, `positional` knows square values and mobility, `discs` the disc
        /// difference alone; or a model that is no net, as a model file, a checkpoint or a run
        /// directory.
        key evaluator("eval"): EvaluatorSource = EvaluatorSource::default();

        /// Multi-ProbCut: the search skips lines that a shallower search predicts to be irrelevant
        /// by this many standard deviations. Only with an evaluator whose prediction errors are
        /// measured: models by patterns, and `positional` on 8x8 for the most discs. 0 skips no line.
        /// Without the key it is 1.3 for such an evaluator with a time limit, else 0.
        key probcut: Option<f32> = None, within(0.0, 10.0);

        /// How `gametime` is divided among the moves: evenly, or on a straight line that falls from
        /// move to move. With `falling` the search also uses up the time of each move, in an
        /// iteration that it cannot complete if need be.
        key allotment: Allotment = Allotment::Even => refused("without `gametime`");

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

/// The margin of Multi-ProbCut for players with a time limit, in standard deviations. It won matches
/// against others (docs/journal/patterns.md).
pub(super) const TIMED_PROBCUT: f32 = 1.3;

/// The margin of a player with a time limit and this evaluator.
fn default_probcut<G: Geometry>(evaluator: &AnyEvaluator<G>) -> Option<f32> {
    evaluator.probcut().map(|_| TIMED_PROBCUT)
}

impl AlphaBetaSpec {
    /// The margin of Multi-ProbCut; `None` if no line is skipped.
    pub(super) fn margin(&self) -> Option<f32> {
        self.probcut.filter(|&margin| margin > 0.0)
    }

    /// A search to this depth, with the evaluator of the model at `path`.
    pub fn with_model(path: PathBuf, depth: u32) -> AlphaBetaSpec {
        let (limit, evaluator) = (ThinkingLimit::Depth(depth), EvaluatorSource::Model(path));
        AlphaBetaSpec { limit, evaluator, ..AlphaBetaSpec::default() }
    }

    /// A search whose time comes from the caller's effort, with the margin of Multi-ProbCut that a time
    /// limit has by default.
    pub(in crate::players::kinds) fn with_time_of_caller<G: Geometry>(
        evaluator: &AnyEvaluator<G>,
        threads: usize,
    ) -> AlphaBetaSpec {
        AlphaBetaSpec {
            limit: ThinkingLimit::MoveTime(Duration::MAX),
            probcut: default_probcut(evaluator),
            threads: Some(threads),
            ..AlphaBetaSpec::default()
        }
    }

    /// The player with an evaluator that has the parameters of Multi-ProbCut if these options want it.
    ///
    /// # Errors
    ///
    /// There is no memory for the table, or the evaluator has no such parameters.
    pub(in crate::players::kinds) fn player<G: Geometry>(
        &self,
        name: String,
        goal: Goal,
        evaluator: &AnyEvaluator<G>,
    ) -> Result<AlphaBetaPlayer<G>, OpenError> {
        room_for((self.table_mb as u64) << 20)
            .map_err(|source| OpenError::Memory { key: "table_mb", source })?;
        AlphaBetaPlayer::new(name, goal, evaluator, self.clone()).map_err(|_| {
            let evaluation = self.evaluator.to_string();
            OpenError::NoProbCut { evaluation, shape: G::SHAPE, goal }
        })
    }

    fn is_timed(&self) -> bool {
        matches!(self.limit, ThinkingLimit::MoveTime(_) | ThinkingLimit::GameTime(_))
    }
}

impl PlayerOptions for AlphaBetaSpec {
    fn with_defaults(&self) -> Box<dyn PlayerOptions> {
        Box::new(AlphaBetaSpec { limit: self.limit, ..AlphaBetaSpec::default() })
    }

    fn is_deterministic(&self) -> bool {
        self.threads.unwrap_or(1) == 1 && !self.is_timed()
    }

    fn solve_empties(&self) -> u32 {
        self.solve_empties
    }

    fn set_cores(&mut self, cores: usize) {
        if self.is_timed() {
            self.threads.get_or_insert(default_threads(cores));
        }
    }
}

impl Kind for AlphaBetaSpec {
    const ROW: SpecKind = SpecKind {
        name: "alphabeta",
        description: "searches with alpha-beta, without a net",
        subject: None,
        options: || Box::new(AlphaBetaSpec::default()),
        shortest: "alphabeta",
        variants: &["alphabeta:movetime=1s"],
        examples: &[
            ("alphabeta:depth=8", "every line of play to depth 8"),
            ("alphabeta:movetime=100ms,probcut=1.5", "Multi-ProbCut, 0.1 s for each move"),
            (
                "alphabeta:gametime=30s,allotment=falling",
                "30 s for all moves of a game, most of it for the first ones",
            ),
            ("alphabeta:depth=8,solve_empties=14", "perfect play from 14 empty squares on"),
        ],
    };

    fn read(fields: &mut Fields) -> Result<AlphaBetaSpec, SpecError> {
        let mut spec = AlphaBetaSpec::default();
        fields.read_limits(&mut spec)?;
        fields.read_others(&mut spec)?;
        fields.refuse("allotment", !matches!(spec.limit, ThinkingLimit::GameTime(_)))?;
        let timed = spec.is_timed();
        spec.probcut = spec.probcut.filter(|&margin| margin > 0.0 || timed);
        spec.threads = spec.threads.filter(|&threads| threads > 1 || timed);
        Ok(spec)
    }

    fn open<G: Geometry>(
        self,
        context: &PlayerContext,
    ) -> Result<Opened<AlphaBetaSpec, G>, OpenError> {
        let goal = context.goal;
        let (evaluator, found) = self.evaluator.open::<G>(goal)?;
        let timed = self.is_timed().then(|| default_probcut(&evaluator)).flatten();
        let options = AlphaBetaSpec { evaluator: found, probcut: self.probcut.or(timed), ..self };
        if options.margin().is_some() && evaluator.probcut().is_none() {
            let evaluation = options.evaluator.to_string();
            return Err(OpenError::NoProbCut { evaluation, shape: G::SHAPE, goal });
        }
        let own = options.clone();
        Ok(Opened::new(options, move |name, _| own.player(name, goal, &evaluator)))
    }
}
