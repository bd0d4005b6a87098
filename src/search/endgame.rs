//! The exact solver: what a position is worth when both sides play perfectly to the end.
//!
//! Scores are [`Board::final_score`]s for the side to move: disc differences with the empty
//! squares to the winner, negated under [`Goal::Fewest`]. Alpha-beta over a table of bounds;
//! moves that leave the opponent the fewest replies come first.

use crate::game::{Board, Geometry, Goal, Square, Word};

/// Below this many empties neither the table nor the sorting of moves pays.
const SHALLOW: u32 = 5;

/// What is known of a position: bounds on its score, and the move that gave the lower one.
#[derive(Clone, Copy)]
struct Entry<G: Geometry> {
    board: Board<G>,
    lower: i8,
    upper: i8,
    best: u8,
}

/// Solves positions exactly; keeps its table between positions.
pub struct Solver<G: Geometry> {
    goal: Goal,
    table: Vec<Entry<G>>,
    /// Positions visited since the solver was made, including finished games.
    pub nodes: u64,
}

impl<G: Geometry> Solver<G> {
    /// A solver whose table takes at most `table_bytes` (but at least one entry).
    pub fn new(goal: Goal, table_bytes: usize) -> Self {
        let entries = (table_bytes / size_of::<Entry<G>>()).max(1);
        let entries = 1 << entries.ilog2();
        // No position has all squares empty, so this board stands for a free entry.
        let nothing = Board { mine: G::Word::ZERO, theirs: G::Word::ZERO };
        let free = Entry { board: nothing, lower: i8::MIN, upper: i8::MAX, best: u8::MAX };
        Solver { goal, table: vec![free; entries], nodes: 0 }
    }

    /// The final score for the side to move under perfect play. A side without moves passes.
    pub fn score(&mut self, board: Board<G>) -> i32 {
        let most = G::SQUARES as i32;
        self.negamax(board, -most, most)
    }

    /// The score, and one line of perfect play to the end of the game, passes left out.
    pub fn best_line(&mut self, board: Board<G>) -> (i32, Vec<Square>) {
        let score = self.score(board);
        let (mut board, mut target, mut line) = (board, score, Vec::new());
        loop {
            if board.legal().is_empty() {
                board = board.pass();
                target = -target;
            }
            let most = G::SQUARES as i32;
            let found = board.legal().find(|&square| {
                let child = board.play_unchecked(square);
                target >= most || -self.negamax(child, -target - 1, -target + 1) == target
            });
            let Some(square) = found else { return (score, line) };
            line.push(square);
            board = board.play_unchecked(square);
            target = -target;
        }
    }

    fn slot(&self, board: Board<G>) -> usize {
        let fold = |word: G::Word| {
            let wide = word.widen();
            wide as u64 ^ ((wide >> 64) as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93)
        };
        let mixed = fold(board.mine)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(31)
            .wrapping_add(fold(board.theirs))
            .wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ mixed >> 32) as usize & (self.table.len() - 1)
    }

    /// The score if it lies between `alpha` and `beta`, else a bound on it on the same side.
    fn negamax(&mut self, board: Board<G>, alpha: i32, beta: i32) -> i32 {
        let legal = board.legal();
        if legal.is_empty() {
            self.nodes += 1;
            let passed = board.pass();
            if passed.legal().is_empty() {
                return board.final_score(self.goal);
            }
            return -self.negamax(passed, -beta, -alpha);
        }
        self.nodes += 1;
        if board.empties() < SHALLOW {
            self.shallow(board, alpha, beta)
        } else {
            self.deep(board, alpha, beta)
        }
    }

    fn shallow(&mut self, board: Board<G>, alpha: i32, beta: i32) -> i32 {
        let mut best = i32::MIN;
        for square in board.legal() {
            let score = -self.negamax(board.play_unchecked(square), -beta, -alpha.max(best));
            best = best.max(score);
            if best >= beta {
                break;
            }
        }
        best
    }

    fn deep(&mut self, board: Board<G>, mut alpha: i32, mut beta: i32) -> i32 {
        let slot = self.slot(board);
        let entry = self.table[slot];
        let known = entry.board == board;
        let first = if known { entry.best } else { u8::MAX };
        if known {
            let (lower, upper) = (entry.lower as i32, entry.upper as i32);
            if lower >= beta || lower == upper {
                return lower;
            }
            if upper <= alpha {
                return upper;
            }
            alpha = alpha.max(lower);
            beta = beta.min(upper);
        }
        let mut moves = [(0u32, Square(0)); crate::game::MAX_SQUARES];
        let mut count = 0;
        for square in board.legal() {
            let replies = board.play_unchecked(square).legal().len() as u32;
            moves[count] = (if square.0 == first { 0 } else { 1 + replies }, square);
            count += 1;
        }
        moves[..count].sort_unstable();
        let (mut best, mut best_square) = (i32::MIN, Square(u8::MAX));
        for &(_, square) in &moves[..count] {
            let child = board.play_unchecked(square);
            let floor = alpha.max(best);
            // All moves but the first are expected to fail low, which a null window shows cheaply.
            let mut score = if best == i32::MIN {
                -self.negamax(child, -beta, -floor)
            } else {
                -self.negamax(child, -floor - 1, -floor)
            };
            if best != i32::MIN && score > floor && score < beta {
                score = -self.negamax(child, -beta, -score);
            }
            if score > best {
                (best, best_square) = (score, square);
            }
            if best >= beta {
                break;
            }
        }
        let most = G::SQUARES as i32;
        let lower = if best > alpha { best } else { -most };
        let upper = if best < beta { best } else { most };
        self.table[slot] =
            Entry { board, lower: lower as i8, upper: upper as i8, best: best_square.0 };
        best
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::game::Shape;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn minimax<G: Geometry>(board: Board<G>, goal: Goal) -> i32 {
        let best = board.legal().map(|square| -minimax(board.play_unchecked(square), goal)).max();
        best.unwrap_or_else(|| {
            if board.is_over() { board.final_score(goal) } else { -minimax(board.pass(), goal) }
        })
    }

    pub(in crate::search) fn random_board<G: Geometry>(
        random: &mut Xoshiro256PlusPlus,
        empties: u32,
    ) -> Board<G> {
        loop {
            let mut board = Board::<G>::start();
            while board.empties() > empties && !board.is_over() {
                let legal: Vec<_> = board.legal().collect();
                board = match legal.len() {
                    0 => board.pass(),
                    count => board.play_unchecked(legal[random.random_range(0..count)]),
                };
            }
            if board.empties() == empties {
                return board;
            }
        }
    }

    fn agrees_with_minimax<G: Geometry>() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for goal in [Goal::Most, Goal::Fewest] {
            // A table this small is overwritten all the time.
            let mut small = Solver::<G>::new(goal, 1 << 10);
            let mut large = Solver::<G>::new(goal, 1 << 20);
            for round in 0..120 {
                let board = random_board::<G>(&mut random, round % 8);
                let wanted = minimax(board, goal);
                assert_eq!(small.score(board), wanted, "{board:?} {goal}");
                let (score, line) = large.best_line(board);
                assert_eq!(score, wanted, "{board:?} {goal}");
                assert_eq!(played_out(board, &line, goal), wanted, "{board:?} {goal} {line:?}");
            }
        }
    }

    fn played_out<G: Geometry>(mut board: Board<G>, line: &[Square], goal: Goal) -> i32 {
        let mut sign = 1;
        for &square in line {
            if board.legal().is_empty() {
                board = board.pass();
                sign = -sign;
            }
            board = board.play(square).expect("a legal line");
            sign = -sign;
        }
        assert!(board.is_over());
        sign * board.final_score(goal)
    }

    #[test]
    fn solver_agrees_with_plain_minimax() {
        for shape in Shape::ALL {
            dispatch!(shape, G => agrees_with_minimax::<G>());
        }
    }
}
