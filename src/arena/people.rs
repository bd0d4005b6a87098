//! How often players choose the moves that people chose, by the strength of the people.
//!
//! The measure is that of Maia (McIlroy-Young, Sen, Kleinberg, Anderson 2020, "Aligning superhuman AI
//! with human behavior"): the share of positions of games of people in which a player names the move
//! that was played. People are rated by the results of all their games, as players are.

use std::collections::HashMap;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use super::rating::{PairResult, ratings};
use crate::game::{Geometry, Position, Square};
use crate::players::contestant::{Contestant, OpenError};
use crate::players::player::PlayerError;
use crate::players::question::Question;
use crate::store::import::Game;

/// People with fewer games have no rating.
const LEAST_GAMES: usize = 30;

/// The first moves of a game are left out: people know them by heart.
const FIRST_PLY: usize = 8;

/// The exponents by which a policy is tried: 1 / temperature.
const SHARPNESS: [f64; 13] = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0];

/// Why a player cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    /// The player cannot be made.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The player has no answer.
    #[error(transparent)]
    Player(#[from] PlayerError),
}

/// The strength of people by the results of their games: Elo, where the mean of all has 0.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Strengths(HashMap<Box<str>, f64>);

impl Strengths {
    /// The strengths of all who have played 30 games or more among themselves and others.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use outflank::arena::people::Strengths;
    /// use outflank::game::{Goal, Shape};
    /// use outflank::store::import;
    ///
    /// let mut games = Vec::new();
    /// for file in import::files(Path::new("tests/data/run-1"), None)? {
    ///     for found in file.games(Shape::Square6, Goal::Most)? {
    ///         games.extend(found?.game);
    ///     }
    /// }
    /// assert!(Strengths::of(&games).of_name("Nobody").is_none(), "games of a run have no names");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(games: &[Game]) -> Strengths {
        let named = |game: &Game| -> Option<([Box<str>; 2], i16)> {
            Some(([game.black.clone()?, game.white.clone()?], game.score()?))
        };
        let results: Vec<_> = games.iter().filter_map(named).collect();
        let mut counts = HashMap::<&str, usize>::new();
        for name in results.iter().flat_map(|(names, _)| names) {
            *counts.entry(name).or_default() += 1;
        }
        let mut people: Vec<&str> = counts
            .iter()
            .filter(|(_, count)| **count >= LEAST_GAMES)
            .map(|(name, _)| *name)
            .collect();
        people.sort_unstable();
        let number: HashMap<&str, usize> = people.iter().copied().zip(0..).collect();
        let mut met = HashMap::<(usize, usize), (f64, f64)>::new();
        for ([black, white], score) in &results {
            let (Some(&first), Some(&second)) = (number.get(&**black), number.get(&**white)) else {
                continue;
            };
            if first == second {
                continue;
            }
            let points = f64::from(score.signum() + 1) / 2.0;
            let ordered = (first.min(second), first.max(second));
            let sums = met.entry(ordered).or_default();
            sums.0 += if first < second { points } else { 1.0 - points };
            sums.1 += 1.0;
        }
        let mut met: Vec<PairResult> = met
            .into_iter()
            .map(|((first, second), (points, games))| PairResult { first, second, points, games })
            .collect();
        met.sort_by_key(|pair| (pair.first, pair.second));
        let found = ratings(people.len(), &met, None);
        Strengths(people.iter().zip(found).map(|(&name, it)| (name.into(), it.elo)).collect())
    }

    /// The strength of a person; `None` for one without a rating.
    pub fn of_name(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }
}

/// A position of a game with the move that a person played.
#[derive(Clone, PartialEq, Debug)]
pub struct Asked<G: Geometry> {
    question: Question<G>,
    played: Square,
    /// The strength of the person.
    pub strength: f64,
}

/// Positions of games, one a game and person at most, in which there is a choice; in the order of the
/// strengths.
pub fn positions<G: Geometry>(
    games: &[Game],
    strengths: &Strengths,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<Asked<G>> {
    let mut found = Vec::new();
    for game in games.iter().filter(|game| game.record.shape == G::SHAPE) {
        let names = [game.black.as_deref(), game.white.as_deref()];
        let [Some(black), Some(white)] = names.map(|name| strengths.of_name(name?)) else {
            continue;
        };
        let squares: Vec<Square> = game.squares().collect();
        let mut position = Position::<G>::start();
        let mut choices: [Vec<usize>; 2] = Default::default();
        for (ply, &square) in squares.iter().enumerate() {
            position = position.pass_if_forced();
            if ply >= FIRST_PLY && position.board.legal().len() > 1 {
                choices[position.side as usize].push(ply);
            }
            let Some(next) = position.play(square) else { break };
            position = next;
        }
        for (plies, strength) in choices.iter().zip([black, white]) {
            if plies.is_empty() {
                continue;
            }
            let ply = plies[random.random_range(0..plies.len())];
            let question = Question::new(Position::start(), squares[..ply].to_vec());
            found.extend(question.map(|question| Asked {
                question,
                played: squares[ply],
                strength,
            }));
        }
    }
    // Those of equal strength in any order.
    found.shuffle(random);
    found.sort_by(|a, b| a.strength.total_cmp(&b.strength));
    found
}

/// How a player answers positions of people.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Agreement {
    /// The positions.
    pub positions: usize,
    /// The share of them in which the player names the move that was played.
    pub share: f64,
    /// The temperature with which the player's policy explains the moves best, and the mean of the
    /// negative logarithm of what it then gives to the moves played; `None` without a policy.
    pub policy: Option<(f64, f64)>,
}

/// How a player answers positions.
///
/// # Errors
///
/// The player cannot be made, or has no answer.
pub fn agreement<G: Geometry>(
    player: &Contestant<'static, G>,
    asked: &[Asked<G>],
) -> Result<Agreement, PeopleError> {
    let answers = |part: &[Asked<G>]| -> Result<Vec<Answer>, PeopleError> {
        let mut player = (player.open)(1)?;
        part.iter()
            .map(|asked| {
                let turn = asked.question.turn();
                let hints = player.hints(&turn, usize::MAX)?;
                let is_played = |square: Option<&Square>| square == Some(&asked.played);
                let names_it = hints.first().is_some_and(|best| is_played(best.line.first()));
                let policy = hints.iter().map(|hint| hint.policy.map(f64::from));
                let policy = policy.collect::<Option<Vec<f64>>>();
                let place = hints.iter().position(|hint| is_played(hint.line.first()));
                Ok((names_it, policy.zip(place)))
            })
            .collect()
    };
    let threads = rayon::current_num_threads();
    let parts = asked.par_chunks(asked.len().div_ceil(threads).max(1)).map(answers);
    let answers = parts.collect::<Result<Vec<_>, _>>()?.concat();
    let named = answers.iter().filter(|(names_it, _)| *names_it).count();
    let policies: Option<Vec<_>> = answers.iter().map(|(_, policy)| policy.as_ref()).collect();
    let surprise = |sharpness: f64, policies: &[&(Vec<f64>, usize)]| {
        let of_one = |(policy, place): &(Vec<f64>, usize)| {
            let weight = |share: f64| share.max(1e-6).powf(sharpness);
            let sum: f64 = policy.iter().map(|&share| weight(share)).sum();
            (sum / weight(policy[*place])).ln()
        };
        policies.iter().map(|it| of_one(it)).sum::<f64>() / policies.len() as f64
    };
    let policy = policies.filter(|found| !found.is_empty()).and_then(|policies| {
        let tried = SHARPNESS.map(|sharpness| (1.0 / sharpness, surprise(sharpness, &policies)));
        tried.into_iter().min_by(|a, b| a.1.total_cmp(&b.1))
    });
    let count = answers.len();
    Ok(Agreement { positions: count, share: named as f64 / count.max(1) as f64, policy })
}

/// Whether the move played was named, and the policy with the place of that move.
type Answer = (bool, Option<(Vec<f64>, usize)>);

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::game::record::GameRecord;
    use crate::game::{Goal, Square6};
    use crate::players::contestant::PlayerContext;
    use crate::players::open::contestant;
    use crate::store::import;

    /// Games of a run, with names: of two people the first moves first in every game.
    fn games() -> Vec<Game> {
        let path = std::path::Path::new("tests/data/run-1");
        let files = import::files(path, None).expect("a run");
        let games = files[0].games(Square6::SHAPE, Goal::Most).expect("games");
        let games: Vec<Game> =
            games.map(|found| found.expect("a file").game.expect("a game")).collect();
        let named = |game: &Game| {
            let record = GameRecord { score: 2, ..game.record.clone() };
            let name = |name: &str| Some(name.into());
            Game { record, black: name("Strong"), white: name("Weak"), ..game.clone() }
        };
        games.iter().cycle().take(40).map(named).collect()
    }

    #[test]
    fn winners_are_stronger_and_few_games_give_no_rating() {
        let games = games();
        let strengths = Strengths::of(&games);
        let [strong, weak] = ["Strong", "Weak"].map(|name| strengths.of_name(name).expect("one"));
        assert!(strong > 100.0 && weak < -100.0, "{strong} {weak}");
        assert_eq!(Strengths::of(&games[..LEAST_GAMES - 1]), Strengths::default());
    }

    #[test]
    fn a_player_agrees_with_its_own_moves() {
        let games = games();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut asked = positions::<Square6>(&games, &Strengths::of(&games), &mut random);
        assert_eq!(asked.len(), 2 * games.len());
        assert!(asked.is_sorted_by_key(|asked| asked.strength));
        let spec = "alphabeta:depth=1,eval=positional".parse().expect("a player");
        let player = contestant(&spec, &PlayerContext::new(Goal::Most)).expect("a player");
        let mut open = (player.open)(1).expect("a player");
        for asked in &mut asked {
            let legal = asked.question.position().board.legal();
            assert!(legal.len() > 1 && legal.contains(asked.played));
            let hints = open.hints(&asked.question.turn(), 1).expect("hints");
            asked.played = hints[0].line[0];
        }
        let all = Agreement { positions: asked.len(), share: 1.0, policy: None };
        assert_eq!(agreement(&player, &asked).expect("answers"), all);
    }
}
