//! The replay window: the newest positions, stored compactly and sampled uniformly.
//!
//! There are three ring buffers: one of positions, one of the bytes of their policies, and one of
//! games with their final boards. Whole games are added and removed, so the buffers stay in step.
//! On 8x8 a position takes 32 bytes, its policy one byte per legal move (about 10), and its share
//! of the game's final board about 1 byte.
//!
//! Invariant: `positions` is the concatenation of the games' positions, oldest first, and
//! `policies` is the concatenation of the positions' policies.

use std::collections::VecDeque;

use rand::{Rng, RngExt};

pub use super::options::replay::Options;
use crate::game::record::{GameRecord, RecordError};
use crate::game::{Board, Colour, Geometry, Position, SquareSet, Symmetry};
use crate::predict::Input;

/// The largest number of positions in the window after `generated` positions.
///
/// The window holds all positions up to `growth_start`, then grows as a power of the positions
/// generated (KataGo's method notes give 0.65 for the exponent), up to `max_positions`.
pub fn window(options: &Options, generated: u64) -> u64 {
    let start = options.growth_start.max(1) as f64;
    let grown = if generated as f64 <= start {
        generated as f64
    } else {
        start * (generated as f64 / start).powf(options.growth_exponent)
    };
    (grown as u64).clamp(options.min_positions.min(options.max_positions), options.max_positions)
}

struct StoredPosition<G: Geometry> {
    board: Board<G>,
    /// Start of the policy, counted in bytes since the window was created, modulo 2^32.
    policy_start: u32,
    /// The number of the game, counted since the window was created, modulo 2^32.
    game: u32,
    /// The search's value for the side to move, or the result if it is unknown, in units of 1/32767.
    value: i16,
    /// The score for the side to move: exact if known, otherwise the game's final score.
    score: i8,
    /// The number of the policy's weights; 0 without a policy target.
    policy_len: u8,
    side: Colour,
}

struct StoredGame<G: Geometry> {
    black: G::Bitboard,
    white: G::Bitboard,
    positions: u16,
    policy_bytes: u16,
    resigned: bool,
}

/// The window over positions of shape `G`.
pub struct Replay<G: Geometry> {
    positions: VecDeque<StoredPosition<G>>,
    policies: VecDeque<u8>,
    games: VecDeque<StoredGame<G>>,
    /// Games and policy bytes that were removed, modulo 2^32.
    removed_games: u32,
    removed_bytes: u32,
    /// Positions ever added.
    total_positions: u64,
    options: Options,
    /// Scratch memory of [`Replay::sample`].
    order: Vec<usize>,
}

/// Counts of a game that was added to the window.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct AddedGame {
    /// Training positions added.
    pub positions: usize,
    /// Passes in the whole game.
    pub passes: usize,
}

/// A batch of training samples as flat arrays, one row for each sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// The positions, with their symmetries applied.
    pub inputs: Vec<Input>,
    /// Whether each square is a legal move, 1 or 0; rows of `squares`.
    pub legal: Vec<f32>,
    /// Probabilities over all squares, rows of `squares`; all zero without a policy target.
    pub policy: Vec<f32>,
    /// Whether there is a policy target, 1 or 0.
    pub has_policy: Vec<f32>,
    /// The game's result for the side to move mixed with the search's value, -1 to 1.
    pub value: Vec<f32>,
    /// The final disc difference for the side to move, divided by the number of squares.
    pub score: Vec<f32>,
    /// The final owner of each square, rows of `squares`: 1 mine, -1 theirs, 0 nobody's.
    pub owner: Vec<f32>,
    /// Whether score and owner are known, 1 or 0. They are unknown after a resignation.
    pub has_ending: Vec<f32>,
    /// The mean age of the samples, in positions generated after them.
    pub mean_age: f64,
}

impl<G: Geometry> Replay<G> {
    /// An empty window.
    pub fn new(options: &Options) -> Replay<G> {
        let capacity = options.max_positions as usize + 2 * G::SQUARES;
        Replay {
            positions: VecDeque::with_capacity(capacity),
            policies: VecDeque::with_capacity(capacity * 10),
            games: VecDeque::with_capacity(capacity / (G::SQUARES / 2)),
            removed_games: 0,
            removed_bytes: 0,
            total_positions: 0,
            options: options.clone(),
            order: Vec::new(),
        }
    }

    /// Positions in the window.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether the window holds nothing.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Positions ever added.
    pub fn total_positions(&self) -> u64 {
        self.total_positions
    }

    /// Sets the number of positions ever added, including those before this window was filled.
    pub fn set_total_positions(&mut self, positions: u64) {
        self.total_positions = positions;
    }

    /// The memory that the window takes, in bytes, including spare capacity.
    pub fn bytes(&self) -> usize {
        self.positions.capacity() * size_of::<StoredPosition<G>>()
            + self.policies.capacity()
            + self.games.capacity() * size_of::<StoredGame<G>>()
    }

    /// Adds a game's training positions and removes the oldest games beyond the window's size. The
    /// newest game always stays.
    ///
    /// # Errors
    ///
    /// The record is not a legal game; nothing is added.
    pub fn add(&mut self, record: &GameRecord) -> Result<AddedGame, RecordError> {
        let history = record.positions::<G>()?;
        let Some(last) = history.last() else { return Ok(AddedGame::default()) };
        let ending = last.black_view();
        let number = self.removed_games.wrapping_add(self.games.len() as u32);
        let (mut positions, mut bytes) = (0u16, 0u16);
        let skipped = record.opening_moves as usize;
        let values = returns(record, &history, self.options.value_lambda);
        let moves = history.iter().zip(&record.moves).zip(values);
        for ((position, played), value) in moves.skip(skipped) {
            let outcome = match position.side {
                Colour::Black => record.score,
                Colour::White => -record.score,
            };
            let policy_len = played.policy.len() as u8;
            self.positions.push_back(StoredPosition {
                board: position.board,
                policy_start: self.removed_bytes.wrapping_add(self.policies.len() as u32),
                game: number,
                value: (value.clamp(-1.0, 1.0) * i16::MAX as f32) as i16,
                score: played.exact.unwrap_or(outcome as i8),
                policy_len,
                side: position.side,
            });
            self.policies.extend(in_bytes(&played.policy));
            positions += 1;
            bytes += policy_len as u16;
        }
        self.games.push_back(StoredGame {
            black: ending.mine,
            white: ending.theirs,
            positions,
            policy_bytes: bytes,
            resigned: record.resigned,
        });
        self.total_positions += positions as u64;
        self.shrink();
        let passes = history.windows(2).filter(|pair| pair[0].side == pair[1].side).count();
        Ok(AddedGame { positions: positions as usize, passes })
    }

    fn shrink(&mut self) {
        let allowed = window(&self.options, self.total_positions) as usize;
        while self.positions.len() > allowed {
            let all = self.positions.len();
            let last = |oldest: &mut StoredGame<G>| usize::from(oldest.positions) < all;
            let Some(oldest) = self.games.pop_front_if(last) else { return };
            self.positions.drain(..oldest.positions as usize);
            self.policies.drain(..oldest.policy_bytes as usize);
            self.removed_games = self.removed_games.wrapping_add(1);
            self.removed_bytes = self.removed_bytes.wrapping_add(oldest.policy_bytes as u32);
        }
    }

    /// Draws `count` samples uniformly, with replacement, into `batch`. With `augment`, a random
    /// symmetry of the board is applied to each. `search_share` is the share of the search's value
    /// in the value target; the rest is the game's result.
    ///
    /// If the window is empty, the batch is cleared.
    pub fn sample<R: Rng>(
        &mut self,
        count: usize,
        augment: bool,
        search_share: f32,
        random: &mut R,
        batch: &mut Batch,
    ) {
        batch.clear();
        if self.is_empty() {
            return;
        }
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend((0..count).map(|_| self.draw(random)));
        // Sorted, so that the samples are read in the order of memory.
        order.sort_unstable();
        let mut age = 0.0;
        for &index in &order {
            let symmetry = match augment {
                true => Symmetry::ALL[random.random_range(0..8)],
                false => Symmetry::IDENTITY,
            };
            self.push(index, symmetry, search_share, batch);
            age += (self.len() - 1 - index) as f64;
        }
        batch.mean_age = age / count.max(1) as f64;
        self.order = order;
    }

    /// Draws the index of a position with more than `skip_empties` empty squares. After 16 tries it
    /// accepts any position.
    fn draw<R: Rng>(&self, random: &mut R) -> usize {
        const TRIES: u32 = 16;
        let mut place = random.random_range(0..self.len());
        for _ in 1..TRIES {
            if self.positions[place].board.empties() > self.options.skip_empties {
                break;
            }
            place = random.random_range(0..self.len());
        }
        place
    }

    fn push(&self, index: usize, symmetry: Symmetry, search_share: f32, batch: &mut Batch) {
        let stored = &self.positions[index];
        let ending = &self.games[stored.game.wrapping_sub(self.removed_games) as usize];
        let board = symmetry.board(stored.board);
        let legal = board.legal();
        batch.inputs.push(Input::new(board, legal));
        let row = batch.policy.len();
        batch.legal.resize(row + G::SQUARES, 0.0);
        for square in legal {
            batch.legal[row + square.index()] = 1.0;
        }
        batch.policy.resize(row + G::SQUARES, 0.0);
        let start = stored.policy_start.wrapping_sub(self.removed_bytes) as usize;
        let weights = self.policies.range(start..start + stored.policy_len as usize);
        let sum: f32 = weights.clone().map(|&weight| weight as f32).sum();
        if sum > 0.0 {
            for (square, &weight) in stored.board.legal().zip(weights) {
                let place = row + symmetry.square::<G>(square).index();
                batch.policy[place] = weight as f32 / sum;
            }
        }
        batch.has_policy.push((sum > 0.0) as u32 as f32);
        let outcome = stored.score.signum() as f32;
        let search = stored.value as f32 / i16::MAX as f32;
        batch.value.push(outcome + search_share * (search - outcome));
        batch.score.push(stored.score as f32 / G::SQUARES as f32);
        let (mine, theirs) = match stored.side {
            Colour::Black => (ending.black, ending.white),
            Colour::White => (ending.white, ending.black),
        };
        let row = batch.owner.len();
        batch.owner.resize(row + G::SQUARES, 0.0);
        let owners = symmetry.board(Board::<G> { mine, theirs });
        for (set, owner) in [(owners.mine, 1.0), (owners.theirs, -1.0)] {
            for square in SquareSet::<G>(set) {
                batch.owner[row + square.index()] = owner;
            }
        }
        batch.has_ending.push(!ending.resigned as u32 as f32);
    }
}

/// The lambda return of each position of a game, for the side to move: a weighted mean of its
/// search's value and those of the later positions (Sutton and Barto 2018, section 12.1). It ends
/// at the first solved position, otherwise at the game's result. An unknown value has no weight: in
/// a game without values each return is the game's result.
fn returns<G: Geometry>(record: &GameRecord, history: &[Position<G>], lambda: f32) -> Vec<f32> {
    let mut values = Vec::with_capacity(record.moves.len());
    // The return of the later positions, for black.
    let mut later = record.score.signum() as f32;
    for (position, played) in history.iter().zip(&record.moves).rev() {
        let sign = if position.side == Colour::Black { 1.0 } else { -1.0 };
        if let Some(score) = played.exact {
            later = sign * score.signum() as f32;
        }
        if let Some(value) = played.value {
            later = sign * value * (1.0 - lambda) + later * lambda;
        }
        values.push(sign * later);
    }
    values.reverse();
    values
}

/// The weights of a policy as bytes. Those of self-play reach the largest number; others may be small.
fn in_bytes(policy: &[u16]) -> impl Iterator<Item = u8> {
    let greatest = policy.iter().copied().max().unwrap_or(0).max(1);
    policy.iter().map(move |&weight| match greatest {
        u16::MAX => (weight >> 8) as u8,
        _ => (u32::from(weight) * u32::from(u8::MAX) / u32::from(greatest)) as u8,
    })
}

impl Batch {
    fn clear(&mut self) {
        self.inputs.clear();
        self.legal.clear();
        self.policy.clear();
        self.has_policy.clear();
        self.value.clear();
        self.score.clear();
        self.owner.clear();
        self.has_ending.clear();
        self.mean_age = 0.0;
    }

    /// Samples in the batch.
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Whether the batch holds no sample.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }
}
