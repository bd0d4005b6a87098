//! The search agrees with a plain one that follows the definitions, with boxed nodes.

use outflank::dispatch;
use outflank::game::{Board, Geometry, Goal, Shape, Square};
use outflank::search::mcts::options::FirstPlay;
use outflank::search::mcts::{Mode, Options};

use crate::common::{Net, hashed, random, random_board, searched, solver, without_solver};

/// A position of the plain search, from the view of its side to move.
struct Plain<G: Geometry> {
    board: Board<G>,
    moves: Vec<Move<G>>,
    visits: u32,
    sum: f64,
    /// The utility of each simulation.
    utilities: Vec<f64>,
    lower: i32,
    upper: i32,
}

struct Move<G: Geometry> {
    square: Square,
    prior: f64,
    visits: u32,
    sum: f64,
    lower: i32,
    upper: i32,
    /// The position after the move, and whether the same side is to move there.
    child: Option<(Box<Plain<G>>, bool)>,
}

struct PlainSearch<'a, G: Geometry> {
    options: &'a Options,
    goal: Goal,
    net: Net<G>,
}

impl<G: Geometry> PlainSearch<'_, G> {
    fn node(&self, board: Board<G>) -> Plain<G> {
        let most = G::SQUARES as i32;
        let (moves, utilities) = (Vec::new(), Vec::new());
        Plain { board, moves, visits: 0, sum: 0.0, utilities, lower: -most, upper: most }
    }

    fn utility(&self, value: f64, score: f64) -> f64 {
        let weight = self.options.score_weight as f64;
        (1.0 - weight) * value + weight * score / G::SQUARES as f64
    }

    fn exact(&self, score: i32) -> f64 {
        self.utility(score.signum() as f64, score as f64)
    }

    /// One simulation from `node`; returns its utility for the side to move there.
    fn simulate(&self, node: &mut Plain<G>, is_root: bool) -> f64 {
        let utility = if node.lower == node.upper && !is_root {
            self.exact(node.lower)
        } else if node.moves.is_empty() {
            self.expand(node, is_root)
        } else {
            self.follow(node)
        };
        node.visits += 1;
        node.sum += utility;
        node.utilities.push(utility);
        utility
    }

    fn expand(&self, node: &mut Plain<G>, is_root: bool) -> f64 {
        let known = if node.board.is_over() {
            Some(node.board.final_score(self.goal))
        } else if node.board.empties() <= self.options.solve_empties && !is_root {
            Some(solver(self.goal).score(node.board))
        } else {
            None
        };
        if let Some(score) = known {
            (node.lower, node.upper) = (score, score);
            return self.exact(score);
        }
        let estimate = (self.net)(node.board);
        let temperature = self.options.prior_temperature as f64;
        let weight = |square: Square| (estimate.policy[square.index()] as f64 / temperature).exp();
        let sum: f64 = node.board.legal().map(weight).sum();
        let most = G::SQUARES as i32;
        node.moves.extend(node.board.legal().map(|square| Move {
            square,
            prior: weight(square) / sum,
            visits: 0,
            sum: 0.0,
            lower: -most,
            upper: most,
            child: None,
        }));
        self.utility(estimate.value as f64, estimate.score as f64)
    }

    fn follow(&self, node: &mut Plain<G>) -> f64 {
        let place = self.select(node);
        let board = node.board;
        let edge = &mut node.moves[place];
        let (child, same_side) = edge.child.get_or_insert_with(|| {
            let next = board.play(edge.square).expect("a legal move");
            match next.legal().is_empty() {
                true => (Box::new(self.node(next.pass())), true),
                false => (Box::new(self.node(next)), false),
            }
        });
        let below = self.simulate(child, false);
        let utility = if *same_side { below } else { -below };
        (edge.lower, edge.upper) =
            if *same_side { (child.lower, child.upper) } else { (-child.upper, -child.lower) };
        let utility = utility.clamp(self.exact(edge.lower), self.exact(edge.upper));
        edge.visits += 1;
        edge.sum += utility;
        node.lower = node.moves.iter().map(|edge| edge.lower).max().expect("a move");
        node.upper = node.moves.iter().map(|edge| edge.upper).max().expect("a move");
        utility.clamp(self.exact(node.lower), self.exact(node.upper))
    }

    /// The factor of `c_puct` and `fpu_reduction`: the standard deviation of the utilities divided
    /// by 0.4, as if there were two more simulations with a deviation of 0.4.
    fn exploration(&self, node: &Plain<G>) -> f64 {
        let mean = node.sum / node.visits as f64;
        let squares: f64 = node.utilities.iter().map(|utility| (utility - mean).powi(2)).sum();
        let deviation = ((squares + 2.0 * 0.16) / (node.visits as f64 + 1.0)).sqrt();
        let share = self.options.spread_scale as f64;
        (1.0 - share) + share * deviation / 0.4
    }

    fn select(&self, node: &Plain<G>) -> usize {
        let visits: u32 = node.moves.iter().map(|edge| edge.visits).sum();
        let seen: f64 =
            node.moves.iter().filter(|edge| edge.visits > 0).map(|edge| edge.prior).sum();
        let exploration = self.exploration(node);
        let first = match self.options.first_play {
            FirstPlay::Zero => 0.0,
            FirstPlay::Parent => (node.sum / node.visits as f64
                - exploration * self.options.fpu_reduction as f64 * seen.sqrt())
            .max(-1.0),
        };
        let scale = (exploration * self.options.c_puct as f64 * (visits as f64).sqrt()).max(1e-3);
        let score = |edge: &Move<G>| {
            let q = if edge.visits == 0 { first } else { edge.sum / edge.visits as f64 };
            let q = q.clamp(self.exact(edge.lower), self.exact(edge.upper));
            q + scale * edge.prior / (1.0 + edge.visits as f64)
        };
        let useful = |edge: &Move<G>| edge.upper > node.lower && edge.lower < edge.upper;
        let places = (0..node.moves.len()).filter(|&place| useful(&node.moves[place]));
        let best = places.max_by(|&a, &b| score(&node.moves[a]).total_cmp(&score(&node.moves[b])));
        best.expect("a position that is not proven has a move that is not")
    }
}

fn agrees<G: Geometry>(goal: Goal, options: &Options, board: Board<G>) {
    let plain = PlainSearch { options, goal, net: hashed };
    let mut root = plain.node(board);
    for _ in 0..options.simulations {
        if root.lower == root.upper {
            break;
        }
        plain.simulate(&mut root, true);
    }
    let search = searched(board, goal, options, Mode::Play, hashed);
    let tree = search.tree();
    assert_eq!(tree.visits(), root.visits, "{board:?} {goal} {options:?}");
    assert_eq!((tree.bounds().0 as i32, tree.bounds().1 as i32), (root.lower, root.upper));
    for (got, wanted) in tree.root_moves().zip(&root.moves) {
        let context = format!("{got:?} of {board:?} {goal} {options:?}");
        assert_eq!(got.square, wanted.square, "{context}");
        assert_eq!(got.visits, wanted.visits, "{context}");
        assert_eq!((got.lower as i32, got.upper as i32), (wanted.lower, wanted.upper), "{context}");
        assert!((got.prior as f64 - wanted.prior).abs() < 1e-5, "{context}");
        if let Some(utility) = got.utility {
            let mean = wanted.sum / wanted.visits as f64;
            let mean = mean.clamp(plain.exact(wanted.lower), plain.exact(wanted.upper));
            assert!((utility as f64 - mean).abs() < 1e-4, "{context}: {mean}");
        }
    }
    assert_eq!(tree.root_moves().count(), root.moves.len());
}

fn agrees_on<G: Geometry>() {
    let mut random = random(1);
    for goal in [Goal::Most, Goal::Fewest] {
        for empties in [5, 8, 10, 14, 20, 31] {
            for solve_empties in [0, 6] {
                for (first_play, spread_scale, prior_temperature) in [
                    (FirstPlay::Parent, 0.0, 1.0),
                    (FirstPlay::Parent, 1.0, 1.5),
                    (FirstPlay::Zero, 0.5, 0.8),
                ] {
                    let options = Options {
                        solve_empties,
                        first_play,
                        spread_scale,
                        prior_temperature,
                        ..without_solver(300)
                    };
                    agrees::<G>(goal, &options, random_board(&mut random, empties));
                }
            }
        }
    }
}

#[test]
fn the_search_agrees_with_a_plain_search() {
    for shape in Shape::ALL {
        dispatch!(shape, G => agrees_on::<G>());
    }
}
