//! Monte Carlo tree search without a network: UCT with one random game from each new leaf.
//!
//! Each simulation adds one node. A node's statistics are from the view of the side whose move led
//! to it. A search keeps nothing from earlier ones, so its result depends only on the position and
//! the random stream.

use rand::{Rng, RngExt};

use crate::game::{Bitboard, Board, Geometry, Goal, Square, SquareSet};
use crate::keys::{keys, whole, within};

keys! {
    /// The settings of the search.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Options {
        /// Random games for each move.
        key simulations: u32 = 200, whole(1, 100_000_000) => limit();

        /// Weight of the exploration term of UCT.
        ///
        /// A win counts 1 and a loss 0.
        key c_uct: f32 = 1.0, within(0.0, 100.0);
    }
}

/// The result of the search for one move.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveReport {
    /// The move and the most visited line after it, without passes.
    pub line: Vec<Square>,
    /// Simulations through this move.
    pub visits: u32,
    /// The mean result for the side to move, where a win is 1, a draw 0.5 and a loss 0.
    pub win_chance: f32,
    /// Mean final disc difference for the side to move.
    pub score: f32,
}

struct Node<G: Geometry> {
    /// From the view of the side to move, which has a legal move unless the game is over.
    board: Board<G>,
    /// The move that led to the node.
    square: Square,
    /// Whether the side that made this move is to move again.
    same_side: bool,
    untried: SquareSet<G>,
    children: Vec<u32>,
    visits: u32,
    /// The sum of points (win 1, draw 0.5, loss 0) of the side whose move led to the node.
    points: f64,
    /// The sum of final disc differences of the same side.
    score: f64,
}

/// A search tree over positions of shape `G`.
///
/// ```
/// use outflank::game::{Board, Goal, Square8};
/// use outflank::search::rollouts::{Options, Rollouts};
/// use rand::SeedableRng;
///
/// let mut search = Rollouts::<Square8>::new(Goal::Most, Options::default());
/// search.begin(Board::start());
/// search.run(50, &mut rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1));
/// let moves = search.moves();
/// assert_eq!(moves.iter().map(|found| found.visits).sum::<u32>(), 50);
/// assert!(moves[0].visits >= moves[3].visits, "the most visited move is first");
/// ```
pub struct Rollouts<G: Geometry> {
    options: Options,
    goal: Goal,
    nodes: Vec<Node<G>>,
    path: Vec<usize>,
}

impl<G: Geometry> Rollouts<G> {
    /// A search for the given goal.
    pub fn new(goal: Goal, options: Options) -> Rollouts<G> {
        Rollouts { options, goal, nodes: Vec::new(), path: Vec::new() }
    }

    /// Starts the search of `board`, whose side to move must have a legal move.
    pub fn begin(&mut self, board: Board<G>) {
        self.nodes.clear();
        self.nodes.push(Node::new(board, Square(0), false));
    }

    /// Runs more simulations of the search that [`Rollouts::begin`] started.
    ///
    /// # Panics
    ///
    /// Before the first [`Rollouts::begin`].
    pub fn run(&mut self, simulations: u32, random: &mut impl Rng) {
        for _ in 0..simulations {
            self.simulate(random);
        }
    }

    /// The moves with at least one simulation, most visited first.
    ///
    /// # Panics
    ///
    /// Before the first [`Rollouts::begin`].
    pub fn moves(&self) -> Vec<MoveReport> {
        let mut moves: Vec<_> =
            self.nodes[0].children.iter().map(|&child| child as usize).collect();
        moves.sort_by_key(|&child| (std::cmp::Reverse(self.nodes[child].visits), child));
        moves.into_iter().map(|child| self.report(child)).collect()
    }

    fn report(&self, child: usize) -> MoveReport {
        let node = &self.nodes[child];
        let visits = node.visits.max(1);
        MoveReport {
            line: self.line(child),
            visits: node.visits,
            win_chance: (node.points / f64::from(visits)) as f32,
            score: (node.score / f64::from(visits)) as f32,
        }
    }

    fn line(&self, mut at: usize) -> Vec<Square> {
        let mut line = vec![self.nodes[at].square];
        let visits = |child: &&u32| self.nodes[**child as usize].visits;
        while let Some(&child) = self.nodes[at].children.iter().max_by_key(visits) {
            at = child as usize;
            line.push(self.nodes[at].square);
        }
        line
    }

    fn simulate(&mut self, random: &mut impl Rng) {
        let mut at = 0;
        self.path.clear();
        self.path.push(at);
        loop {
            let node = &self.nodes[at];
            if !node.untried.is_empty() {
                let square = pick(node.untried, random);
                at = self.add_child(at, square);
                self.path.push(at);
                break;
            }
            if node.children.is_empty() {
                break;
            }
            at = self.select(at);
            self.path.push(at);
        }
        let score = play_out(self.nodes[at].board, self.goal, random);
        self.back_up(score);
    }

    fn add_child(&mut self, parent: usize, square: Square) -> usize {
        let child = self.nodes.len();
        let node = &mut self.nodes[parent];
        node.untried = SquareSet(node.untried.0 & !G::mask(square));
        node.children.push(child as u32);
        let after = node.board.play_unchecked(square);
        let same_side = after.legal().is_empty() && !after.pass().legal().is_empty();
        let board = if same_side { after.pass() } else { after };
        self.nodes.push(Node::new(board, square, same_side));
        child
    }

    /// The child with the greatest upper confidence bound UCB1 (UCT; Kocsis and Szepesvari 2006).
    fn select(&self, at: usize) -> usize {
        let log = (self.nodes[at].visits as f32).ln();
        let bound = |child: usize| {
            let node = &self.nodes[child];
            let visits = node.visits as f32;
            node.points as f32 / visits + self.options.c_uct * (2.0 * log / visits).sqrt()
        };
        let children = self.nodes[at].children.iter().map(|&child| child as usize);
        children.max_by(|&a, &b| bound(a).total_cmp(&bound(b))).unwrap_or(at)
    }

    /// Adds a final score, given for the side to move at the leaf, to the nodes of the path.
    fn back_up(&mut self, mut score: i32) {
        for &at in self.path.iter().rev() {
            let node = &mut self.nodes[at];
            if !node.same_side {
                score = -score;
            }
            node.visits += 1;
            node.points += 0.5 + 0.5 * f64::from(score.signum());
            node.score += f64::from(score);
        }
    }
}

impl<G: Geometry> Node<G> {
    fn new(board: Board<G>, square: Square, same_side: bool) -> Node<G> {
        let (untried, children) = (board.legal(), Vec::new());
        Node { board, square, same_side, untried, children, visits: 0, points: 0.0, score: 0.0 }
    }
}

/// Plays random moves to the end of the game. Returns the final score for the side to move on
/// `board`.
fn play_out<G: Geometry>(mut board: Board<G>, goal: Goal, random: &mut impl Rng) -> i32 {
    let mut sign = 1;
    loop {
        let mut legal = board.legal();
        if legal.is_empty() {
            board = board.pass();
            sign = -sign;
            legal = board.legal();
            if legal.is_empty() {
                return sign * board.final_score(goal);
            }
        }
        board = board.play_unchecked(pick(legal, random));
        sign = -sign;
    }
}

/// A random square of a set that is not empty.
#[inline(always)]
fn pick<G: Geometry>(set: SquareSet<G>, random: &mut impl Rng) -> Square {
    let count = set.0.count();
    // A multiplication is faster than a division; its bias is below 2^-25.
    let nth = (u64::from(random.random::<u32>()) * u64::from(count)) >> 32;
    let mut left = set.0;
    for _ in 0..nth {
        left = left.without_lowest();
    }
    G::square_at(left.lowest())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Shape;
    use crate::search::endgame::Solver;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn late_position<G: Geometry>(empties: u32, random: &mut Xoshiro256PlusPlus) -> Board<G> {
        loop {
            let mut board = Board::<G>::start();
            while board.empties() > empties && !board.is_over() {
                board = match board.legal() {
                    legal if legal.is_empty() => board.pass(),
                    legal => board.play_unchecked(pick(legal, random)),
                };
            }
            if !board.legal().is_empty() {
                return board;
            }
        }
    }

    /// With many simulations the most visited move keeps a win or a draw.
    fn finds_wins<G: Geometry>(goal: Goal) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut solver = Solver::<G>::new(goal, 1 << 16);
        let mut search = Rollouts::new(goal, Options::default());
        let (mut right, rounds) = (0, 20);
        for _ in 0..rounds {
            let board = late_position::<G>(5, &mut random);
            search.begin(board);
            search.run(3_000, &mut random);
            let moves = search.moves();
            let child = board.play_unchecked(moves[0].line[0]);
            right += u32::from(-solver.score(child).signum() == solver.score(board).signum());
            let visits: u32 = moves.iter().map(|report| report.visits).sum();
            assert_eq!(visits, 3_000);
        }
        assert!(right >= rounds - 1, "{right} of {rounds} on {} for {goal}", G::SHAPE);
    }

    #[test]
    fn many_simulations_find_the_winning_move() {
        for shape in Shape::ALL {
            dispatch!(shape, G => {
                finds_wins::<G>(Goal::Most);
                finds_wins::<G>(Goal::Fewest);
            });
        }
    }

    #[test]
    fn the_same_stream_gives_the_same_search() {
        let board = Board::<crate::game::Square8>::start();
        let run = || {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
            let mut search = Rollouts::new(Goal::Most, Options::default());
            search.begin(board);
            search.run(200, &mut random);
            search.moves()
        };
        assert_eq!(run(), run());
    }
}
