//! Solves some of the positions again whose scores are said to be exact.

use rand::{Rng, RngExt};

use crate::game::record::GameRecord;
use crate::game::{Geometry, Position};
use crate::search::endgame::Solver;
use crate::train::game::SelfPlaySettings;

/// How many games are checked, and how much of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    /// The share of the games, 0 to 1.
    pub share: f64,
    /// The most positions of a game.
    pub positions: usize,
    /// Positions with more empty squares take too long. One more about doubles the time.
    pub most_empties: u32,
}

/// A score that is not the exact one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("move {} is said to have the exact score {found}; it has {wanted}", index + 1)]
pub struct WrongScore {
    /// The move, counted from 0.
    pub index: usize,
    /// The score in the record, for the side to move.
    pub found: i8,
    /// The exact score.
    pub wanted: i32,
}

/// Solves positions of games.
pub struct ExactChecker<G: Geometry> {
    solver: Solver<G>,
}

impl<G: Geometry> ExactChecker<G> {
    /// A checker for games of a run with these settings. Its table has `table_bytes` bytes.
    pub fn new(settings: &SelfPlaySettings, table_bytes: usize) -> ExactChecker<G> {
        ExactChecker { solver: Solver::new(settings.goal, table_bytes) }
    }

    /// Draws whether a game is checked. If so, solves its affordable exact position with the most
    /// empty squares, and others drawn at random. The game must have passed
    /// [`check`](super::check).
    ///
    /// Returns how many positions were solved: 0 if the game was not drawn, or if no exact position
    /// is affordable.
    ///
    /// # Errors
    ///
    /// A score is not the exact one.
    pub fn check<R: Rng>(
        &mut self,
        record: &GameRecord,
        sample: &Sample,
        random: &mut R,
    ) -> Result<usize, WrongScore> {
        if random.random::<f64>() >= sample.share {
            return Ok(0);
        }
        let mut affordable = exact_positions::<G>(record);
        affordable.retain(|exact| exact.position.board.empties() <= sample.most_empties);
        // The first one has the most empty squares. If it is right, the later scores are as well,
        // unless two of them are wrong in a way that cancels out.
        for place in 1..affordable.len().min(sample.positions) {
            let drawn = random.random_range(place..affordable.len());
            affordable.swap(place, drawn);
        }
        affordable.truncate(sample.positions);
        affordable.iter().try_for_each(|exact| self.solve(exact))?;
        Ok(affordable.len())
    }

    fn solve(&mut self, exact: &ExactPosition<G>) -> Result<(), WrongScore> {
        let ExactPosition { index, position, score: found } = *exact;
        let wanted = self.solver.score(position.board);
        if wanted == i32::from(found) {
            return Ok(());
        }
        Err(WrongScore { index, found, wanted })
    }
}

/// A position of a game with its exact score.
struct ExactPosition<G: Geometry> {
    index: usize,
    position: Position<G>,
    score: i8,
}

/// The positions of a game that are said to be solved, in the order of the moves. None if the game
/// breaks the rules.
fn exact_positions<G: Geometry>(record: &GameRecord) -> Vec<ExactPosition<G>> {
    let positions = record.positions::<G>().unwrap_or_default();
    let moves = record.moves.iter().zip(positions).enumerate();
    let exact = moves.filter_map(|(index, (played, position))| {
        played.exact.map(|score| ExactPosition { index, position, score })
    });
    exact.collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::game::{Shape, Square6};
    use crate::pipeline::cluster::trust::fixtures::{Table, facts, play, settings};
    use crate::pipeline::cluster::trust::{Refusal, check};

    const SAMPLE: Sample = Sample { share: 1.0, positions: 3, most_empties: 12 };

    fn games(goal: &str) -> (SelfPlaySettings, Vec<GameRecord>) {
        let text = format!("goal = \"{goal}\"\n[search]\nsimulations = 8\nsolve_empties = 9");
        let settings = settings(Shape::Square6, &text);
        let games = play::<Square6>(&settings, &mut Table::new::<Square6>(4), 0..10);
        (settings, games)
    }

    #[test]
    fn scores_of_self_play_are_exact() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for goal in ["most", "fewest"] {
            let (settings, games) = games(goal);
            let mut checker = ExactChecker::<Square6>::new(&settings, 1 << 16);
            for game in games {
                assert_eq!(checker.check(&game, &SAMPLE, &mut random), Ok(3));
            }
        }
    }

    /// A forger knows the rules: all exact scores and values agree with one another, and with the
    /// result of moves that are not the best ones.
    #[test]
    fn a_consistent_line_of_bad_moves_is_found() {
        let (settings, games) = games("most");
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut checker = ExactChecker::<Square6>::new(&settings, 1 << 16);
        let facts = facts(Shape::Square6, &settings);
        let mut forged = 0;
        for game in &games {
            let first = check(game, &facts).expect("an honest game").played_out;
            let Some(game) = with_other_end(game, first) else { continue };
            check(&game, &facts).expect("the forgery obeys the rules");
            let found = checker.check(&game, &SAMPLE, &mut random).expect_err("a wrong score");
            assert_eq!(found.index, first);
            forged += 1;
        }
        assert!(forged >= 5, "{forged} games");
    }

    /// The game with the first legal moves from move `first` on, if that ends with another score.
    fn with_other_end(game: &GameRecord, first: usize) -> Option<GameRecord> {
        let mut position = game.positions::<Square6>().expect("a game")[first];
        let mut other = game.clone();
        other.moves.truncate(first);
        let mut sides = Vec::new();
        while let Some(square) = position.board.legal().next() {
            let mut played = game.moves[first].clone();
            let legal = position.board.legal();
            let weight = |other| if other == square { u16::MAX } else { 0 };
            played.policy = if legal.len() == 1 { Vec::new() } else { legal.map(weight).collect() };
            played.square = square;
            other.moves.push(played);
            sides.push(position.side);
            position = position.play(square).expect("a legal move").pass_if_forced();
        }
        other.score = position.black_view().final_score(game.goal) as i16;
        for (played, side) in other.moves[first..].iter_mut().zip(sides) {
            let black = side == crate::game::Colour::Black;
            let exact = if black { other.score } else { -other.score } as i8;
            (played.exact, played.value) = (Some(exact), Some(f32::from(exact.signum())));
        }
        // Positions proven before have the old score.
        for played in &mut other.moves[..first] {
            played.exact = None;
        }
        (other.score != game.score).then_some(other)
    }

    #[test]
    fn only_a_share_of_the_games_is_solved() {
        let (settings, games) = games("most");
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut checker = ExactChecker::<Square6>::new(&settings, 1 << 16);
        let mut solved = |sample: Sample| {
            let games = games.iter().cycle().take(200);
            let solved = games.map(|game| checker.check(game, &sample, &mut random));
            solved.map(|solved| solved.expect("exact scores")).collect::<Vec<_>>()
        };
        let drawn = solved(Sample { share: 0.25, ..SAMPLE }).iter().filter(|&&n| n > 0).count();
        assert!((25..75).contains(&drawn), "{drawn} of 200");
        assert!(solved(Sample { share: 0.0, ..SAMPLE }).iter().all(|&n| n == 0));
        // With few empty squares allowed, only the last positions are affordable.
        assert!(solved(Sample { most_empties: 1, ..SAMPLE }).iter().all(|&n| n <= 1));
    }

    /// A record that the rules refuse has no positions to solve, and causes no panic.
    #[test]
    fn a_record_that_breaks_the_rules_is_not_solved() {
        let (settings, games) = games("most");
        let mut game = games[0].clone();
        game.moves.truncate(5);
        assert_eq!(check(&game, &facts(Shape::Square6, &settings)), Err(Refusal::Unfinished));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut checker = ExactChecker::<Square6>::new(&settings, 1 << 16);
        assert_eq!(checker.check(&game, &SAMPLE, &mut random), Ok(0));
    }
}
