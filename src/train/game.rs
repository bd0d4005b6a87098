//! One game of self-play as a state machine that stops whenever it needs the net.
//!
//! A game goes through its opening moves, then searches every move, and once few squares are
//! empty plays the rest from the exact solver. It owns its tree and its random stream, so
//! what it plays depends on its number and the net's answers alone; only among moves that are
//! proven to be equally good, what the actor's solver has met before may decide.

use rand::RngExt;

use super::options::selfplay::{Opening, Options};
use super::seeds::{Purpose, Random, stream};
use crate::game::record::{GameRecord, MoveRecord};
use crate::game::{Board, Colour, Geometry, Goal, Position, Square, SquareSet, Word};
use crate::search::draw::draw;
use crate::search::endgame::Solver;
use crate::search::mcts::{self, Gathered, Mode, Prediction, Ticket, TreeSearch};

/// What all games of a run have in common.
#[derive(Clone, Debug)]
pub struct SelfPlaySettings {
    /// The run's seed.
    pub seed: u64,
    /// Which score wins.
    pub goal: Goal,
    /// How moves are searched.
    pub search: mcts::Options,
    /// How games are made.
    pub selfplay: Options,
}

/// What a game wants next.
#[derive(Clone, Copy, Debug)]
pub enum GameStatus<G: Geometry> {
    /// The net's answer for a position.
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
    /// Simulations finished, those that ended in an exact score included.
    pub simulations: u64,
    /// Answers taken from the net.
    pub evaluations: u64,
    /// Moves searched.
    pub searches: u64,
    /// Games played out although a side would have resigned, and those of them in which that
    /// side did not lose.
    pub resignations_checked: u64,
    /// See `resignations_checked`.
    pub resignation_errors: u64,
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        self.simulations += other.simulations;
        self.evaluations += other.evaluations;
        self.searches += other.searches;
        self.resignations_checked += other.resignations_checked;
        self.resignation_errors += other.resignation_errors;
    }
}

enum Phase {
    /// This many opening moves are still to be made.
    Opening(u32),
    /// The position has to be looked at before its search starts.
    Settling,
    /// A search is under way; `full` if its policy is to be learnt.
    Searching { full: bool },
}

/// A game under way.
pub struct SelfPlayGame<G: Geometry> {
    position: Position<G>,
    search: TreeSearch<G>,
    random: Random,
    phase: Phase,
    ticket: Option<Ticket>,
    record: GameRecord,
    ignores_resignation: bool,
    /// For how many of its own moves in a row each side's value has been hopeless.
    hopeless: [u32; 2],
    /// Who would have resigned first.
    hopeless_side: Option<Colour>,
    simulations: u32,
    /// The work since it was last asked for.
    pub work: Work,
}

impl<G: Geometry> SelfPlayGame<G> {
    /// Game number `id` of a run, to be played with the net of `version` and `simulations` in
    /// a full search.
    pub fn new(
        rules: &SelfPlaySettings,
        id: u64,
        version: u32,
        simulations: u32,
    ) -> SelfPlayGame<G> {
        let search = TreeSearch::new(rules.goal, &rules.search);
        SelfPlayGame::with_search(rules, search, id, version, simulations)
    }

    /// Starts another game in the place of this one, keeping the allocations of the tree, and
    /// returns the record of this one.
    pub fn restart(
        &mut self,
        rules: &SelfPlaySettings,
        id: u64,
        version: u32,
        simulations: u32,
    ) -> GameRecord {
        let spare = TreeSearch::new(rules.goal, &rules.search);
        let mut search = std::mem::replace(&mut self.search, spare);
        search.forget();
        let next = SelfPlayGame::with_search(rules, search, id, version, simulations);
        std::mem::replace(self, next).record
    }

    fn with_search(
        rules: &SelfPlaySettings,
        search: TreeSearch<G>,
        id: u64,
        version: u32,
        simulations: u32,
    ) -> SelfPlayGame<G> {
        let mut random = stream(rules.seed, Purpose::Game, id);
        let opening_moves = random.random_range(0..=rules.selfplay.opening_plies);
        let ignores_resignation =
            random.random::<f64>() < rules.selfplay.resign_playout_share as f64;
        let position = Position::<G>::start();
        SelfPlayGame {
            position,
            search,
            random,
            phase: Phase::Opening(opening_moves),
            ticket: None,
            record: GameRecord {
                shape: G::SHAPE,
                goal: rules.goal,
                id,
                net_version: version,
                opening_moves: 0,
                start_mine: position.board.mine.widen(),
                start_theirs: position.board.theirs.widen(),
                start_side: position.side,
                moves: Vec::with_capacity(G::SQUARES),
                score: 0,
                resigned: false,
            },
            ignores_resignation,
            hopeless: [0; 2],
            hopeless_side: None,
            simulations,
            work: Work::default(),
        }
    }

    /// Plays on until the net's answer is needed or the game is over.
    pub fn advance(&mut self, rules: &SelfPlaySettings, solver: &mut Solver<G>) -> GameStatus<G> {
        loop {
            let wanted = match self.phase {
                Phase::Opening(0) => {
                    self.record.opening_moves = self.record.moves.len() as u16;
                    self.phase = Phase::Settling;
                    None
                }
                Phase::Opening(left) => self.opening_move(rules, left),
                Phase::Settling => self.settle(rules, solver),
                Phase::Searching { full } => self.search_on(rules, solver, full),
            };
            if let Some(wanted) = wanted {
                return wanted;
            }
        }
    }

    fn opening_move(&mut self, rules: &SelfPlaySettings, left: u32) -> Option<GameStatus<G>> {
        let board = self.position.board;
        let legal = board.legal();
        // A game can end within its opening; it is then settled like any other.
        if legal.is_empty() {
            self.phase = Phase::Opening(0);
            return None;
        }
        if rules.selfplay.opening == Opening::Policy {
            return Some(GameStatus::NeedsPrediction { board, legal });
        }
        let choice = self.random.random_range(0..legal.len());
        let square = legal.into_iter().nth(choice)?;
        self.make_move(square, Vec::new(), 0.0, None);
        self.phase = Phase::Opening(left - 1);
        None
    }

    fn settle(
        &mut self,
        rules: &SelfPlaySettings,
        solver: &mut Solver<G>,
    ) -> Option<GameStatus<G>> {
        if self.record.resigned {
            return Some(GameStatus::Finished);
        }
        let board = self.position.board;
        let legal = board.legal();
        if legal.is_empty() {
            self.record.score = self.position.black_view().final_score(rules.goal) as i16;
            self.check_resignation();
            return Some(GameStatus::Finished);
        }
        if board.empties() <= rules.search.solve_empties {
            self.play_out(rules, solver);
            return None;
        }
        let full = self.random.random::<f32>() < rules.selfplay.full_share;
        let (simulations, mode) = match full {
            // A forced move needs no policy, only a value.
            _ if legal.len() == 1 => (2, Mode::Play),
            true => (self.simulations, Mode::Explore),
            false => (rules.selfplay.fast_simulations, Mode::Play),
        };
        self.search.begin(board, simulations, mode);
        self.phase = Phase::Searching { full: full && legal.len() > 1 };
        None
    }

    /// Plays the rest of the game perfectly, each move with its exact score.
    fn play_out(&mut self, rules: &SelfPlaySettings, solver: &mut Solver<G>) {
        let (mut score, line) = solver.best_line(self.position.board);
        let value = |score: i32| score.signum() as f32;
        for square in line {
            let legal = self.position.board.legal();
            let policy = match legal.len() {
                1 => Vec::new(),
                _ => legal.map(|other| if other == square { u16::MAX } else { 0 }).collect(),
            };
            let side = self.position.side;
            self.make_move(square, policy, value(score), Some(score as i8));
            if self.position.side != side {
                score = -score;
            }
        }
        self.record.score = self.position.black_view().final_score(rules.goal) as i16;
    }

    fn search_on(
        &mut self,
        rules: &SelfPlaySettings,
        solver: &mut Solver<G>,
        full: bool,
    ) -> Option<GameStatus<G>> {
        match self.search.gather(solver, &mut self.random) {
            Some(Gathered::Leaf { ticket, board, legal }) => {
                self.ticket = Some(ticket);
                Some(GameStatus::NeedsPrediction { board, legal })
            }
            Some(_) | None => {
                self.finish_search(rules, full);
                None
            }
        }
    }

    fn finish_search(&mut self, rules: &SelfPlaySettings, full: bool) {
        self.work.simulations += self.search.simulations() as u64;
        self.work.searches += 1;
        self.phase = Phase::Settling;
        let plies = self.record.moves.len() as u32;
        let temperature = if plies < rules.search.temperature_plies {
            rules.search.temperature
        } else {
            rules.search.temperature_late
        };
        let value = self.search.tree().root_value();
        let exact = self.search.tree().exact();
        let policy = if full { quantised(self.search.target(temperature)) } else { Vec::new() };
        let square = self.search.choose(temperature, &mut self.random);
        let Some(square) = square else { return };
        if self.resigns(rules, value) {
            self.record.resigned = true;
            self.record.score = match self.position.side {
                Colour::Black => -1,
                Colour::White => 1,
            };
            return;
        }
        self.make_move(square, policy, value, exact);
    }

    fn resigns(&mut self, rules: &SelfPlaySettings, value: f32) -> bool {
        let count = &mut self.hopeless[self.position.side as usize];
        *count = if value < rules.selfplay.resign_below { *count + 1 } else { 0 };
        let resigns = *count >= rules.selfplay.resign_plies;
        if resigns {
            self.hopeless_side.get_or_insert(self.position.side);
        }
        resigns && !self.ignores_resignation
    }

    /// Counts a resignation that was overridden to see whether it would have been an error.
    fn check_resignation(&mut self) {
        let Some(side) = self.hopeless_side.filter(|_| !self.record.resigned) else { return };
        let error = match side {
            Colour::Black => self.record.score >= 0,
            Colour::White => self.record.score <= 0,
        };
        self.work.resignations_checked += 1;
        self.work.resignation_errors += error as u64;
    }

    fn make_move(&mut self, square: Square, policy: Vec<u16>, value: f32, exact: Option<i8>) {
        self.record.moves.push(MoveRecord { square, policy, value, exact });
        let board = self.position.board.play_unchecked(square);
        self.position = Position { board, side: !self.position.side }.settled();
    }

    /// Takes the net's answer for the position that `advance` asked about.
    pub fn apply(&mut self, rules: &SelfPlaySettings, answer: Prediction<'_>) {
        self.work.evaluations += 1;
        if let Some(ticket) = self.ticket.take() {
            self.search.apply(ticket, answer);
        } else if let Phase::Opening(left) = self.phase {
            let temperature = rules.selfplay.opening_temperature;
            if let Some(square) = self.draw(answer.policy, temperature) {
                self.make_move(square, Vec::new(), 0.0, None);
            }
            self.phase = Phase::Opening(left - 1);
        }
    }

    fn draw(&mut self, logits: &[f32], temperature: f32) -> Option<Square> {
        let legal = self.position.board.legal();
        let greatest = legal.map(|square| logits[square.index()]).fold(f32::MIN, f32::max);
        let weight = |square: Square| ((logits[square.index()] - greatest) / temperature).exp();
        let drawn = draw(legal.map(weight), &mut self.random).unwrap_or(0);
        legal.into_iter().nth(drawn)
    }
}

/// Shares that sum to one as 16-bit weights whose greatest is full scale.
fn quantised(shares: &[f32]) -> Vec<u16> {
    let greatest = shares.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    shares.iter().map(|share| (share / greatest * u16::MAX as f32).round() as u16).collect()
}
