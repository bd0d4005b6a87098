//! Close positions: a yardstick for evaluators and searches.
//!
//! Games between equal players are decided in even positions. An evaluator that is good in the uneven
//! ones of most collections may be bad there. So a strong player plays games from even openings, and
//! one board of each game is kept, with a score that is exact or that of a search far deeper than
//! those to be measured.

use rayon::prelude::*;

use super::openings::{Opening, OpeningError, OpeningSource};
use crate::game::notation::{obf, square_name};
use crate::game::{Geometry, Goal, Position, Square};
use crate::players::contestant::{Contestant, OpenError};
use crate::players::control::Control;
use crate::players::player::{Player, PlayerError, Turn, combine};
use crate::search::endgame::Solver;

/// Random openings that are looked at for an even one.
const TRIED: usize = 40;
/// Moves of an opening.
const PLIES: u32 = 8;
/// An opening is even if the better side has at most this many discs more at the end.
const EVEN: f32 = 3.0;
/// The solver's table takes so many bytes.
const TABLE_BYTES: usize = 64 << 20;

/// Why there is no position or no measurement.
#[derive(Debug, thiserror::Error)]
pub enum CloseError {
    /// A player cannot be made.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A player has no move.
    #[error(transparent)]
    Player(#[from] PlayerError),
    /// There are no openings.
    #[error(transparent)]
    Opening(#[from] OpeningError),
    /// A player does not say what it expects.
    #[error(
        "player `{player}` gives no scores; allowed: alphabeta, rollouts, net, and engines with scores"
    )]
    NoScore {
        /// Its name.
        player: Box<str>,
    },
}

/// A position with its score for the side to move.
#[derive(Clone, PartialEq, Debug)]
pub struct ClosePosition<G: Geometry> {
    /// The position.
    pub position: Position<G>,
    /// The best move.
    pub best: Square,
    /// The score in discs: exact, or expected by a deep search.
    pub score: i32,
    /// The even opening from which it was reached.
    pub opening: Vec<Square>,
}

impl<G: Geometry> ClosePosition<G> {
    /// The position as an OBF line with its best move and score.
    pub fn line(&self) -> String {
        format!("{}; {}:{:+};", obf(self.position), square_name::<G>(self.best), self.score)
    }
}

/// How positions are made.
pub struct Making<'a, G: Geometry> {
    /// Which score wins.
    pub goal: Goal,
    /// Plays the games, and says which openings are even.
    pub player: &'a Contestant<'static, G>,
    /// Scores the boards that are not solved.
    pub judge: &'a Contestant<'static, G>,
    /// Boards with at most this many empty squares are solved.
    pub solved: u32,
    /// The same seed gives the same positions.
    pub seed: u64,
}

impl<G: Geometry> Making<'_, G> {
    /// A position with `empties` empty squares from game `number`. `None` if the game ends before.
    ///
    /// # Errors
    ///
    /// A player cannot be made, has no move or no score.
    ///
    /// ```
    /// use outflank::arena::close::Making;
    /// use outflank::game::{Goal, Square6};
    /// use outflank::players::contestant::PlayerContext;
    /// use outflank::players::open;
    ///
    /// let context = PlayerContext::new(Goal::Most);
    /// let spec = "alphabeta:depth=1,eval=positional".parse()?;
    /// let player = &open::contestant::<Square6>(&spec, &context)?;
    /// let making = Making { goal: Goal::Most, player, judge: player, solved: 8, seed: 3 };
    /// let made = making.position(0, 8)?.expect("the game is long enough");
    /// assert_eq!(made.position.board.empties(), 8);
    /// println!("{}", made.line()); // the position with its best move and exact score
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn position(
        &self,
        number: u64,
        empties: u32,
    ) -> Result<Option<ClosePosition<G>>, CloseError> {
        let seed = combine(&[self.seed, number]);
        let mut player = (self.player.open)(seed)?;
        let Some(opening) = self.even_opening(player.as_mut(), seed)? else { return Ok(None) };
        let mut position = opening.position;
        while position.board.empties() > empties && !position.board.is_over() {
            let choice = player.think(&Turn::at(position), &mut Control::plain())?;
            // A move of a player is legal.
            position = position.play(choice.square).unwrap_or(position).pass_if_forced();
        }
        if position.board.is_over() {
            return Ok(None);
        }
        let (best, score) = if empties <= self.solved {
            let (score, line) = Solver::new(self.goal, TABLE_BYTES).best_line(position.board);
            (line.first().copied(), score)
        } else {
            let mut judge = (self.judge.open)(seed)?;
            let (best, score) = scored(judge.as_mut(), position)?;
            (Some(best), score.round() as i32)
        };
        let found =
            best.map(|best| ClosePosition { position, best, score, opening: opening.moves });
        Ok(found)
    }

    /// The first random opening that is even; `None` if none of many is.
    fn even_opening(
        &self,
        player: &mut dyn Player<G>,
        seed: u64,
    ) -> Result<Option<Opening<G>>, CloseError> {
        let book = OpeningSource::Random { plies: PLIES }.book::<G>(TRIED, seed)?;
        for opening in book.openings {
            if scored(player, opening.position)?.1.abs() <= EVEN {
                return Ok(Some(opening));
            }
        }
        Ok(None)
    }
}

/// The move of a player, and its score in discs.
fn scored<G: Geometry>(
    player: &mut dyn Player<G>,
    position: Position<G>,
) -> Result<(Square, f32), CloseError> {
    let choice = player.think(&Turn::at(position), &mut Control::plain())?;
    let none = || CloseError::NoScore { player: player.name().into() };
    Ok((choice.square, choice.score.ok_or_else(none)?))
}

/// How far the scores of a player lie from the right ones, in positions with the same number of
/// empty squares.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Errors {
    /// Their empty squares.
    pub empties: u32,
    /// The number of positions.
    pub positions: usize,
    /// The mean absolute error in discs.
    pub error: f64,
    /// The mean error in discs: above 0 if the player overrates the side to move.
    pub bias: f64,
    /// The correlation of its scores with the right ones, -1 to 1; 0 if either are all equal.
    pub correlation: f64,
}

impl Errors {
    /// The errors of pairs of a player's score and the right one.
    fn of(empties: u32, pairs: &[(f64, f64)]) -> Errors {
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| {
            pairs.iter().map(of).sum::<f64>() / pairs.len().max(1) as f64
        };
        let (found, right) = (mean(&|pair| pair.0), mean(&|pair| pair.1));
        let variance = |of: &dyn Fn(&(f64, f64)) -> f64, around: f64| {
            mean(&|pair| (of(pair) - around).powi(2))
        };
        let product = variance(&|pair| pair.0, found) * variance(&|pair| pair.1, right);
        let covariance = mean(&|pair| (pair.0 - found) * (pair.1 - right));
        Errors {
            empties,
            positions: pairs.len(),
            error: mean(&|pair| (pair.0 - pair.1).abs()),
            bias: found - right,
            correlation: if product > 0.0 { covariance / product.sqrt() } else { 0.0 },
        }
    }
}

/// The errors of a player by the empty squares of the positions, each with its right score.
///
/// # Errors
///
/// The player cannot be made, has no move or no score.
///
/// ```
/// use outflank::arena::close;
/// use outflank::game::{Goal, Square6, notation};
/// use outflank::players::contestant::PlayerContext;
/// use outflank::players::open;
///
/// let line = "OOO***-O*-*-O*O***OOO*****O*O-*-O-O- O";
/// let position = notation::parse_obf::<Square6>(line)?.position;
/// let spec = "alphabeta:depth=7,eval=positional".parse()?;
/// let player = open::contestant::<Square6>(&spec, &PlayerContext::new(Goal::Most))?;
/// let errors = close::errors(&player, &[(position, 8)])?;
/// assert_eq!((errors[0].empties, errors[0].error), (7, 0.0), "it searches to the end");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn errors<G: Geometry>(
    player: &Contestant<'static, G>,
    positions: &[(Position<G>, i32)],
) -> Result<Vec<Errors>, CloseError> {
    let one = |&(position, right): &(Position<G>, i32)| {
        let mut player = (player.open)(1)?;
        let (_, found) = scored(player.as_mut(), position)?;
        Ok((position.board.empties(), (f64::from(found), f64::from(right))))
    };
    let mut found = positions.par_iter().map(one).collect::<Result<Vec<_>, CloseError>>()?;
    found.sort_by_key(|(empties, _)| *empties);
    let of_number = |group: &[(u32, (f64, f64))]| {
        let pairs: Vec<_> = group.iter().map(|(_, pair)| *pair).collect();
        Errors::of(group[0].0, &pairs)
    };
    Ok(found.chunk_by(|a, b| a.0 == b.0).map(of_number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Square6;
    use crate::game::notation::parse_obf;
    use crate::players::contestant::PlayerContext;
    use crate::players::open::contestant;

    fn player(spec: &str) -> Contestant<'static, Square6> {
        let spec = spec.parse().expect("a player");
        contestant(&spec, &PlayerContext::new(Goal::Most)).expect("a player")
    }

    #[test]
    fn positions_have_their_scores_and_follow_the_seed() {
        let (shallow, deep) = (player("alphabeta:depth=2"), player("alphabeta:depth=6"));
        let making =
            |seed| Making { goal: Goal::Most, player: &shallow, judge: &deep, solved: 10, seed };
        for (number, empties) in [(0, 10), (1, 14)] {
            let made = making(7).position(number, empties).expect("players").expect("a position");
            assert_eq!(making(7).position(number, empties).expect("players"), Some(made.clone()));
            assert_eq!((made.position.board.empties(), made.opening.len()), (empties, 8));
            let line = parse_obf::<Square6>(&made.line()).expect("an OBF line");
            assert_eq!(line.position, made.position);
            assert_eq!(line.scores, [(Some(made.best), made.score)]);
            if empties == 10 {
                let mut solver = Solver::new(Goal::Most, 1 << 16);
                assert_eq!(made.score, solver.score(made.position.board));
            }
        }
    }

    #[test]
    fn errors_are_those_of_the_scores() {
        let found = Errors::of(22, &[(3.0, 1.0), (5.0, 2.0), (7.0, 3.0)]);
        let wanted = Errors { empties: 22, positions: 3, error: 3.0, bias: 3.0, correlation: 1.0 };
        assert!((found.correlation - 1.0).abs() < 1e-9);
        assert_eq!(Errors { correlation: 1.0, ..found }, wanted);
        assert_eq!(Errors::of(22, &[(3.0, 1.0), (3.0, 2.0)]).correlation, 0.0);
    }

    #[test]
    fn a_search_to_the_end_has_no_error_and_a_player_without_scores_is_refused() {
        let shallow = player("alphabeta:depth=2");
        let making =
            Making { goal: Goal::Most, player: &shallow, judge: &shallow, solved: 12, seed: 3 };
        let made = [8, 8, 10].iter().enumerate().filter_map(|(number, &empties)| {
            making.position(number as u64, empties).expect("players")
        });
        let positions: Vec<_> = made.map(|made| (made.position, made.score)).collect();
        let exact = errors(&player("alphabeta:depth=36"), &positions).expect("scores");
        assert_eq!(exact.iter().map(|errors| errors.positions).sum::<usize>(), positions.len());
        assert!(exact.iter().all(|errors| errors.error == 0.0 && errors.bias == 0.0), "{exact:?}");
        let error = errors(&player("random"), &positions).expect_err("no scores").to_string();
        assert!(error.contains("gives no scores"), "{error}");
    }
}
