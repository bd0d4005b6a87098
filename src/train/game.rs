//! One self-play game, as a state machine that pauses whenever it needs a prediction of the net.
//!
//! A game plays its opening moves, then searches each move. When few squares are empty, the exact
//! solver plays the rest. A game owns its tree and its random stream, so its moves depend only on
//! its number and the net's predictions. There is one exception: among moves proven to be equally
//! good, the choice may depend on the positions that the actor's solver has stored.

use rand::RngExt;

use super::options::selfplay::{Opening, Options};
use super::seeds::{Purpose, Random, stream};
use crate::game::record::{GameRecord, MoveRecord};
use crate::game::{Board, Geometry, Goal, Position, Square, SquareSet};
use crate::predict::Prediction;
use crate::search::draw::draw;
use crate::search::endgame::Solver;
use crate::search::mcts::{self, Gathered, Mode, Ticket, TreeSearch};

/// Settings of all self-play games of a run.
#[derive(Clone, Debug)]
pub struct SelfPlaySettings {
    /// The run's random seed.
    pub seed: u64,
    /// Which score wins.
    pub goal: Goal,
    /// How moves are searched.
    pub search: mcts::Options,
    /// How games are played.
    pub selfplay: Options,
}

impl SelfPlaySettings {
    /// Simulations of a full search in a game that starts when the run has generated this many
    /// positions.
    pub fn simulations(&self, positions: u64) -> u32 {
        let ramp = self.selfplay.ramp.iter();
        ramp.take_while(|&&(from, _)| from <= positions)
            .last()
            .map_or(self.search.simulations, |&(_, simulations)| simulations)
    }
}

/// The opening of a game, as its number decides it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DrawnOpening {
    /// The number of opening moves; fewer are played if the game ends before.
    pub length: u32,
    /// The moves. `None` if the net chooses them.
    pub moves: Option<Vec<Square>>,
}

/// What a game needs before it can continue.
#[derive(Clone, Copy, Debug)]
pub enum GameStatus<G: Geometry> {
    /// The net's prediction for a position.
    NeedsPrediction {
        /// The position, from the view of the side to move.
        board: Board<G>,
        /// Its legal moves.
        legal: SquareSet<G>,
    },
    /// Nothing: the game is over.
    Finished,
}

/// Counts of work, for throughput figures.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Work {
    /// Simulations finished, including those that ended in an exact score.
    pub simulations: u64,
    /// Predictions received from the net.
    pub evaluations: u64,
    /// Moves searched.
    pub searches: u64,
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        self.simulations += other.simulations;
        self.evaluations += other.evaluations;
        self.searches += other.searches;
    }
}

enum Phase {
    /// This many opening moves are left.
    Opening(u32),
    /// A new position, whose search has not started.
    NewPosition,
    /// A search is running; `full` if its policy is a training target.
    Searching { full: bool },
}

/// A game in progress.
pub struct SelfPlayGame<G: Geometry> {
    position: Position<G>,
    search: TreeSearch<G>,
    random: Random,
    phase: Phase,
    ticket: Option<Ticket>,
    record: GameRecord,
    simulations: u32,
    /// The moves of [`SelfPlayGame::follow`].
    guide: Vec<Square>,
    /// See [`SelfPlayGame::departures`].
    departures: Vec<usize>,
    /// The work since the owner last took it.
    pub work: Work,
}

impl<G: Geometry> SelfPlayGame<G> {
    /// Starts game number `id` of a run. Its full searches have `simulations` simulations.
    /// `version` is the net's version at the start, for the record.
    pub fn new(
        settings: &SelfPlaySettings,
        id: u64,
        version: u32,
        simulations: u32,
    ) -> SelfPlayGame<G> {
        let search = TreeSearch::new(settings.goal, &settings.search);
        SelfPlayGame::with_search(settings, search, id, version, simulations)
    }

    /// Replaces this finished game by a new one, which keeps the tree's allocations. Returns the
    /// record of the finished game.
    pub fn restart(
        &mut self,
        settings: &SelfPlaySettings,
        id: u64,
        version: u32,
        simulations: u32,
    ) -> GameRecord {
        let spare = TreeSearch::new(settings.goal, &settings.search);
        let mut search = std::mem::replace(&mut self.search, spare);
        search.forget();
        let next = SelfPlayGame::with_search(settings, search, id, version, simulations);
        std::mem::replace(self, next).record
    }

    fn with_search(
        settings: &SelfPlaySettings,
        search: TreeSearch<G>,
        id: u64,
        version: u32,
        simulations: u32,
    ) -> SelfPlayGame<G> {
        let mut random = stream(settings.seed, Purpose::Game, id);
        let opening_moves = random.random_range(0..=settings.selfplay.opening_plies);
        // Older versions drew a number here. Without it the games of every seed would change.
        let _unused: f64 = random.random();
        let position = Position::<G>::start();
        SelfPlayGame {
            position,
            search,
            random,
            phase: Phase::Opening(opening_moves),
            ticket: None,
            record: GameRecord {
                net_version: version,
                moves: Vec::with_capacity(G::SQUARES),
                ..GameRecord::begin(position, settings.goal, id)
            },
            simulations,
            guide: Vec::new(),
            departures: Vec::new(),
            work: Work::default(),
        }
    }

    /// The opening of game `id`. It needs no prediction.
    pub fn opening(settings: &SelfPlaySettings, id: u64) -> DrawnOpening {
        let mut game = SelfPlayGame::<G>::new(settings, id, 0, 1);
        let mut length = 0;
        if let Phase::Opening(drawn) = game.phase {
            length = drawn;
        }
        while let Phase::Opening(left @ 1..) = game.phase {
            if game.opening_move(settings, left).is_some() {
                return DrawnOpening { length, moves: None };
            }
        }
        let moves = game.record.moves.iter().map(|played| played.square).collect();
        DrawnOpening { length, moves: Some(moves) }
    }

    /// Makes a new game play these moves in place of those that its searches choose, as long as
    /// they are legal. The record has the results of its own searches. So the game can be compared
    /// with another one move by move.
    ///
    /// Moves that need no prediction are not replaced: those of a random opening, and those that
    /// the solver plays.
    pub fn follow(&mut self, moves: Vec<Square>) {
        self.guide = moves;
    }

    /// The moves of [`SelfPlayGame::follow`] that the game would not have chosen, counted from 0.
    pub fn departures(&self) -> &[usize] {
        &self.departures
    }

    /// The record so far. It is complete when the game is finished.
    pub fn record(&self) -> &GameRecord {
        &self.record
    }

    /// The move to make where the game itself would make `own`.
    fn guided(&mut self, own: Square) -> Square {
        let place = self.record.moves.len();
        let legal = self.position.board.legal();
        let is_legal = |square: Square| square.index() < G::SQUARES && legal.contains(square);
        let guide = self.guide.get(place).filter(|&&square| is_legal(square));
        let square = guide.copied().unwrap_or(own);
        if square != own {
            self.departures.push(place);
        }
        square
    }

    /// Continues until a prediction is needed or the game is over.
    pub fn advance(
        &mut self,
        settings: &SelfPlaySettings,
        solver: &mut Solver<G>,
    ) -> GameStatus<G> {
        loop {
            let status = match self.phase {
                Phase::Opening(0) => {
                    self.record.opening_moves = self.record.moves.len() as u16;
                    self.phase = Phase::NewPosition;
                    None
                }
                Phase::Opening(left) => self.opening_move(settings, left),
                Phase::NewPosition => self.start_move(settings, solver),
                Phase::Searching { full } => self.continue_search(settings, solver, full),
            };
            if let Some(status) = status {
                return status;
            }
        }
    }

    fn opening_move(&mut self, settings: &SelfPlaySettings, left: u32) -> Option<GameStatus<G>> {
        let board = self.position.board;
        let legal = board.legal();
        // The game has ended during its opening: `start_move` finishes it.
        if legal.is_empty() {
            self.phase = Phase::Opening(0);
            return None;
        }
        if settings.selfplay.opening == Opening::Policy {
            return Some(GameStatus::NeedsPrediction { board, legal });
        }
        let choice = self.random.random_range(0..legal.len());
        let square = legal.into_iter().nth(choice)?;
        self.make_move(square, Vec::new(), None, None);
        self.phase = Phase::Opening(left - 1);
        None
    }

    /// Ends the game, plays it out with the solver, or starts the search of its position.
    fn start_move(
        &mut self,
        settings: &SelfPlaySettings,
        solver: &mut Solver<G>,
    ) -> Option<GameStatus<G>> {
        let board = self.position.board;
        let legal = board.legal();
        if legal.is_empty() {
            self.record.score = self.position.black_view().final_score(settings.goal) as i16;
            return Some(GameStatus::Finished);
        }
        if board.empties() <= settings.search.solve_empties {
            self.play_out(settings, solver);
            return None;
        }
        let full = self.random.random::<f32>() < settings.selfplay.full_share;
        let (simulations, mode) = match full {
            // The only legal move needs no policy, only a value.
            _ if legal.len() == 1 => (2, Mode::Play),
            true => (self.simulations, Mode::Explore),
            false => (settings.selfplay.fast_simulations, Mode::Play),
        };
        self.search.begin(board, simulations, mode);
        self.phase = Phase::Searching { full: full && legal.len() > 1 };
        None
    }

    /// Plays the rest of the game perfectly, each move with its exact score.
    fn play_out(&mut self, settings: &SelfPlaySettings, solver: &mut Solver<G>) {
        let (mut score, line) = solver.best_line(self.position.board);
        let value = |score: i32| score.signum() as f32;
        for square in line {
            let legal = self.position.board.legal();
            let policy = match legal.len() {
                1 => Vec::new(),
                _ => legal.map(|other| if other == square { u16::MAX } else { 0 }).collect(),
            };
            let side = self.position.side;
            self.make_move(square, policy, Some(value(score)), Some(score as i8));
            if self.position.side != side {
                score = -score;
            }
        }
        self.record.score = self.position.black_view().final_score(settings.goal) as i16;
    }

    fn continue_search(
        &mut self,
        settings: &SelfPlaySettings,
        solver: &mut Solver<G>,
        full: bool,
    ) -> Option<GameStatus<G>> {
        match self.search.gather(solver, &mut self.random) {
            Some(Gathered::Leaf { ticket, board, legal }) => {
                self.ticket = Some(ticket);
                Some(GameStatus::NeedsPrediction { board, legal })
            }
            Some(_) | None => {
                self.finish_search(settings, full);
                None
            }
        }
    }

    fn finish_search(&mut self, settings: &SelfPlaySettings, full: bool) {
        self.work.simulations += self.search.simulations() as u64;
        self.work.searches += 1;
        self.phase = Phase::NewPosition;
        let plies = self.record.moves.len() as u32;
        let temperature = if plies < settings.search.temperature_plies {
            settings.search.temperature
        } else {
            settings.search.temperature_late
        };
        let value = self.search.tree().root_value();
        let exact = self.search.tree().exact();
        let policy = if full { quantised(self.search.target(temperature)) } else { Vec::new() };
        let square = self.search.choose(temperature, &mut self.random);
        let Some(square) = square.map(|own| self.guided(own)) else { return };
        self.make_move(square, policy, Some(value), exact);
    }

    fn make_move(
        &mut self,
        square: Square,
        policy: Vec<u16>,
        value: Option<f32>,
        exact: Option<i8>,
    ) {
        self.record.moves.push(MoveRecord { square, policy, value, exact });
        let board = self.position.board.play_unchecked(square);
        self.position = Position { board, side: !self.position.side }.pass_if_forced();
    }

    /// Takes the net's prediction for the position that `advance` returned.
    pub fn apply(&mut self, prediction: Prediction<'_>) {
        self.work.evaluations += 1;
        if let Some(ticket) = self.ticket.take() {
            self.search.apply(ticket, prediction);
        } else if let Phase::Opening(left) = self.phase {
            if let Some(own) = self.draw(prediction.policy) {
                let square = self.guided(own);
                self.make_move(square, Vec::new(), None, None);
            }
            self.phase = Phase::Opening(left - 1);
        }
    }

    /// Draws a legal move from a policy given as logits.
    fn draw(&mut self, logits: &[f32]) -> Option<Square> {
        let legal = self.position.board.legal();
        let greatest = legal.map(|square| logits[square.index()]).fold(f32::MIN, f32::max);
        let weight = |square: Square| (logits[square.index()] - greatest).exp();
        let drawn = draw(legal.map(weight), &mut self.random).unwrap_or(0);
        legal.into_iter().nth(drawn)
    }
}

/// Probabilities as 16-bit weights; the greatest weight is 65535.
fn quantised(shares: &[f32]) -> Vec<u16> {
    let greatest = shares.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    shares.iter().map(|share| (share / greatest * u16::MAX as f32).round() as u16).collect()
}
