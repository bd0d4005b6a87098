//! The options of players that search with a net. Some defaults depend on other options.

use std::path::PathBuf;
use std::time::Duration;

use super::{NetPlayer, NetPlayerSettings};
use crate::game::Geometry;
use crate::keys::{Keyed as _, keys, limits, whole};
use crate::net::InputEvaluator;
use crate::players::contestant::{OpenError, PlayerContext};
use crate::players::grammar::{Fields, SpecError, SpecKind, written};
use crate::players::kind::{CHECKPOINT, Kind, Opened, PlayerOptions, THREADS, default_threads};
use crate::players::kinds::EvaluatorSource;
use crate::players::kinds::copies::{Copies, SYMMETRIES};
use crate::players::models::LoadedModel;
use crate::search::mcts::{self, FirstPlay};

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

        /// Alpha-beta plays the rest of a game from this many empty squares on, with the evaluator that
        /// the net reads, or else the strongest one for the board; 0 means off. Without the key it is
        /// 26 for a net that reads evaluations, else 0.
        key alphabeta_empties: Option<u32> = None, whole(0, 92) => refused("without `movetime` or `gametime`");

        /// The prediction for a position is the mean over this many of its images under the board's
        /// symmetries; each image costs a prediction of the net.
        key symmetries: usize = 1, SYMMETRIES;
    }
}

/// Solving a leaf with this many empty squares takes about as long as a prediction of an 8x64 net.
const SOLVE_LEAVES: u32 = 12;
/// With a time limit a solve costs simulations, so it must take less time than a prediction of a
/// 4x64 net.
const SOLVE_LEAVES_TIMED: u32 = 10;
/// With 100 ms a move, a net that reads evaluations scores more if alpha-beta plays from here on. Other
/// numbers from 22 to 36 are as good, within the errors (docs/journal/play-settings.md).
const ALPHABETA_EMPTIES: u32 = 26;

impl NetPlayerSpec {
    /// A net at `path` with the strongest settings known for `simulations`.
    pub fn new(path: PathBuf, simulations: u32) -> NetPlayerSpec {
        let mut spec = NetPlayerSpec { path, ..NetPlayerSpec::default() };
        spec.search.simulations = simulations;
        spec.with_default_solver()
    }

    /// The settings of the search with the default number of simulations.
    ///
    /// Self-play explores, but a match needs the best move. So the settings differ from those of
    /// self-play: a lower `c_puct` that scales with the spread of the values, more even priors, and
    /// more positions for the solver. docs/journal/play-settings.md and docs/journal/solving.md
    /// have the measurements.
    fn default_search() -> mcts::Options {
        mcts::Options {
            simulations: 100,
            c_puct: 0.9,
            fpu_reduction: 0.15,
            spread_scale: 1.0,
            prior_temperature: 1.5,
            temperature_plies: 0,
            solve_empties: 17,
            solve_leaves: SOLVE_LEAVES,
            solve_growth: 1.0,
            ..mcts::Options::default()
        }
    }

    /// The same player with the default limits of the solver.
    fn with_default_solver(mut self) -> NetPlayerSpec {
        self.search.solve_empties = self.default_solve_empties();
        self.search.solve_leaves =
            if self.time.is_some() { SOLVE_LEAVES_TIMED } else { SOLVE_LEAVES };
        self.search.score_empties = self.default_score_empties();
        self
    }

    /// The default of `score_empties`. With at least 400 simulations and no time limit it is one
    /// more than `solve_empties`: there the tree solves most of its positions. With fewer
    /// simulations or a time limit it is 0, because a search for discs alone would give wins away
    /// (docs/journal/solving.md).
    fn default_score_empties(&self) -> u32 {
        const ENOUGH_SIMULATIONS: u32 = 400;
        let mcts::Options { simulations, solve_empties, .. } = self.search;
        let enough = self.time.is_none() && simulations >= ENOUGH_SIMULATIONS && solve_empties > 0;
        if enough { solve_empties + 1 } else { 0 }
    }

    /// The default of `solve_empties`.
    ///
    /// Each further empty square makes a solve about 2.2 times as long. Without a time limit, a
    /// solve should take no longer than the search: some milliseconds for 100 simulations, and one
    /// square more each time that they double. With a time limit, a solve should take a small part
    /// of the move's time, because the time of a solve that is given up is lost.
    fn default_solve_empties(&self) -> u32 {
        /// A game's time is divided by this number of moves.
        const MOVES: u32 = 25;
        let time = match self.time {
            None => return 17 + (self.search.simulations / 100).clamp(1, 128).ilog2(),
            Some(Time::Move(time)) => time,
            Some(Time::Game(time)) => time / MOVES,
        };
        match time.as_millis() {
            25_000.. => 24,
            5000.. => 22,
            1000.. => 20,
            200.. => 18,
            40.. => 16,
            8.. => 14,
            _ => 12,
        }
    }

    /// With the default of `alphabeta_empties`.
    fn with_handover(mut self, reads_evaluations: bool) -> NetPlayerSpec {
        if self.time.is_some() && reads_evaluations {
            self.alphabeta_empties.get_or_insert(ALPHABETA_EMPTIES);
        }
        self
    }

    /// Sets `parallel` to `None` if it equals the default, so that equal players have equal texts.
    fn omit_default_parallel(&mut self) {
        let given = self.parallel.take();
        self.parallel = given.filter(|&leaves| leaves as usize != self.leaves());
    }

    /// How many leaves wait for predictions at the same time. The default with one thread and no
    /// time limit is 1, which makes the best use of the simulations. Otherwise it is 4 for each
    /// thread, or 8 with a time limit, for speed.
    pub fn leaves(&self) -> usize {
        let threads = self.threads.unwrap_or(1);
        self.parallel.map_or_else(
            || match (self.time, threads) {
                (None, 1) => 1,
                (None, _) => 4 * threads,
                (Some(_), _) => 8 * threads,
            },
            |leaves| leaves as usize,
        )
    }
}

impl PlayerOptions for NetPlayerSpec {
    fn with_defaults(&self) -> Box<dyn PlayerOptions> {
        let default = NetPlayerSpec::new(PathBuf::new(), self.search.simulations);
        let mut default = NetPlayerSpec { time: self.time, ..default }.with_default_solver();
        // This default depends on the player's own `solve_empties`.
        default.search.score_empties = self.default_score_empties();
        Box::new(default)
    }

    fn is_deterministic(&self) -> bool {
        self.search.temperature_plies == 0 && self.time.is_none()
    }

    fn checkpoint(&self) -> Option<&PathBuf> {
        Some(&self.path)
    }

    fn solve_empties(&self) -> u32 {
        self.search.solve_empties
    }

    fn set_cores(&mut self, cores: usize) {
        if self.time.is_some() {
            self.threads.get_or_insert(default_threads(cores));
            self.omit_default_parallel();
        }
    }

    fn value(&self, key: &str) -> Option<String> {
        // The time limit replaces the simulations.
        let replaced = self.time.is_some() && key == "simulations";
        self.get(key).filter(|_| !replaced).map(|value| written(&value))
    }
}

impl Kind for NetPlayerSpec {
    const ROW: SpecKind = SpecKind {
        name: "net",
        description: "searches a tree with a net",
        subject: Some(CHECKPOINT),
        options: || Box::new(NetPlayerSpec::default()),
        shortest: "net:CHECKPOINT",
        variants: &[
            "net:CHECKPOINT,threads=4",
            "net:CHECKPOINT,simulations=400",
            "net:CHECKPOINT,simulations=1600",
            "net:CHECKPOINT,movetime=100ms",
            "net:CHECKPOINT,movetime=1s",
            "net:CHECKPOINT,movetime=10s",
            "net:CHECKPOINT,gametime=5m",
        ],
        examples: &[
            ("net:runs/quick,simulations=100", "the newest checkpoint of a run"),
            (
                "net:checkpoints/8x8-small,movetime=1s",
                "the net that is strongest for its time, 1 s for each move",
            ),
            (
                "net:runs/quick,temperature_plies=10,temperature=0.5",
                "the first ten plies are drawn by chance, so that games differ",
            ),
        ],
    };

    fn read(fields: &mut Fields) -> Result<NetPlayerSpec, SpecError> {
        let mut spec = NetPlayerSpec { path: fields.subject()?.into(), ..NetPlayerSpec::default() };
        fields.read_limits(&mut spec)?;
        spec = spec.with_default_solver();
        fields.read_others(&mut spec)?;
        if !fields.has("score_empties") {
            // This default depends on `solve_empties`, which may be given.
            spec.search.score_empties = spec.default_score_empties();
        }
        fields.refuse("temperature", spec.search.temperature_plies == 0)?;
        fields.refuse("alphabeta_empties", spec.time.is_none())?;
        fields.refuse("fpu_reduction", spec.search.first_play == FirstPlay::Zero)?;
        let timed = spec.time.is_some();
        spec.threads = spec.threads.filter(|&threads| threads > 1 || timed);
        // The default of `parallel` depends on the threads, which may not be known yet.
        if spec.threads.is_some() || !timed {
            spec.omit_default_parallel();
        }
        Ok(spec)
    }

    fn open<G: Geometry>(
        self,
        context: &PlayerContext,
    ) -> Result<Opened<NetPlayerSpec, G>, OpenError> {
        let net = LoadedModel::read(&self.path)?.for_match(G::SHAPE, context.goal)?;
        let evaluator = net.net().and_then(|spec| spec.evaluator.as_ref());
        let options =
            NetPlayerSpec { path: net.identity(), ..self }.with_handover(evaluator.is_some());
        let goal = context.goal;
        // Without a score head the net predicts no disc differences, so the search must not use
        // them.
        let search = match net.has_score() {
            true => options.search.clone(),
            false => {
                mcts::Options { score_empties: 0, score_weight: 0.0, ..options.search.clone() }
            }
        };
        let threads = options.threads.unwrap_or(1);
        let (parallel, time) = (options.leaves(), options.time);
        let settings = NetPlayerSettings { search, parallel, time, solvers: threads };
        let origin = net.origin();
        let handover = options.alphabeta_empties.filter(|&empties| empties > 0);
        let evaluator = match (handover, evaluator.and_then(InputEvaluator::evaluator)) {
            (None, _) => None,
            (Some(_), None) => Some(EvaluatorSource::Best.open(goal)?.0),
            (Some(_), own) => own,
        };
        let copies = Copies::new(net, context, threads, options.symmetries);
        let make = move |name, seed| {
            let player = NetPlayer::new(name, goal, copies.make::<G>()?, settings.clone(), seed);
            match handover.zip(evaluator.as_ref()) {
                None => Ok(player),
                Some((empties, evaluator)) => player.with_handover(empties, evaluator),
            }
        };
        Ok(Opened { origin: Some(origin), ..Opened::new(options, make) })
    }
}
