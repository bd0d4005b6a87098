//! The options of alpha-beta players.

use std::path::PathBuf;
use std::time::Duration;

use super::{AlphaBetaPlayer, EvaluatorSource};
use crate::game::Geometry;
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
        let has_default = self.is_timed() && evaluator.probcut().is_some();
        let probcut = self.probcut.or(has_default.then_some(TIMED_PROBCUT));
        let options = AlphaBetaSpec { evaluator: found, probcut, ..self };
        let evaluation = options.evaluator.to_string();
        let refused = move || {
            let evaluation = evaluation.clone();
            OpenError::NoProbCut { evaluation, shape: G::SHAPE, goal }
        };
        if options.margin().is_some() && evaluator.probcut().is_none() {
            return Err(refused());
        }
        let own = options.clone();
        Ok(Opened::new(options, move |name, _| {
            room_for((own.table_mb as u64) << 20)
                .map_err(|source| OpenError::Memory { key: "table_mb", source })?;
            AlphaBetaPlayer::new(name, goal, &evaluator, own.clone()).map_err(|_| refused())
        }))
    }
}
