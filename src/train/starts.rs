//! Positions of earlier games at which new self-play games begin (search control).
//!
//! Either any position of a game is kept (Go-Exploit: Trudeau and Bowling 2023), or the one with the
//! greatest regret (Tsai et al. 2026): there the values of the searches differed most from the
//! result. A position whose regret has been great is played again more often, and its regret is
//! brought up to date each time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use super::options::selfplay::{Options, RestartFrom};
use super::seeds::{Purpose, stream};
use crate::game::notation::{NotationError, parse_transcript, transcript};
use crate::game::record::GameRecord;
use crate::game::{Colour, Geometry, Position, Square};
use crate::search::draw::draw;

/// How many positions are kept.
const MOST_KEPT: usize = 1000;
/// The weight of a position's new regret against its earlier ones.
const NEW_REGRET: f32 = 0.5;
/// The greatest regret: a value of 1 where the result is -1, or the reverse.
const MOST_REGRET: f32 = 4.0;

/// A position that is kept.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Start {
    /// The moves from the start of the game to it.
    pub moves: String,
    /// Its regret, 0 to 4; 1 where all positions count the same.
    pub regret: f32,
}

/// A saved position that cannot be one.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum InvalidStart {
    /// Its moves are not legal.
    #[error("`starts[{index}].moves`: {error}")]
    Moves {
        /// Its place, counted from 0.
        index: usize,
        /// What is wrong with them.
        error: NotationError,
    },
    /// Its regret is out of range.
    #[error("`starts[{index}].regret` is {regret}; allowed: 0 to 4")]
    Regret {
        /// Its place, counted from 0.
        index: usize,
        /// Its regret.
        regret: f32,
    },
}

/// The positions that a run keeps.
#[derive(Debug)]
pub struct Starts {
    share: f32,
    from: RestartFrom,
    seed: u64,
    kept: Mutex<Vec<Start>>,
}

impl Starts {
    /// Those that a checkpoint has saved, of a run with this seed.
    ///
    /// # Errors
    ///
    /// A position is impossible.
    pub fn restore<G: Geometry>(
        options: &Options,
        seed: u64,
        saved: Vec<Start>,
    ) -> Result<Starts, InvalidStart> {
        for (index, start) in saved.iter().enumerate() {
            parse_transcript(&start.moves, Position::<G>::start())
                .map_err(|error| InvalidStart::Moves { index, error })?;
            let regret = start.regret;
            if !(0.0..=MOST_REGRET).contains(&regret) {
                return Err(InvalidStart::Regret { index, regret });
            }
        }
        let (share, from) = (options.restarts, options.restart_from);
        Ok(Starts { share, from, seed, kept: Mutex::new(saved) })
    }

    /// All that are kept, for a checkpoint.
    pub fn saved(&self) -> Vec<Start> {
        self.kept().clone()
    }

    /// The moves with which game `id` begins; none if it begins at the start.
    pub fn draw<G: Geometry>(&self, id: u64) -> Vec<Square> {
        let mut random = stream(self.seed, Purpose::Start, id);
        if random.random::<f32>() >= self.share {
            return Vec::new();
        }
        let kept = self.kept();
        let drawn = draw(kept.iter().map(|start| start.regret), &mut random);
        let moves = drawn.map(|index| parse_transcript(&kept[index].moves, Position::<G>::start()));
        moves.and_then(Result::ok).map_or(Vec::new(), |(moves, _)| moves)
    }

    /// Keeps a position of a finished game, and brings the regret of the one at which it began up to
    /// date.
    pub fn learn<G: Geometry>(&self, game: &GameRecord) {
        if self.share == 0.0 {
            return;
        }
        let regrets = regrets::<G>(game);
        let Some(&(first, regret)) = regrets.first() else { return };
        let moves = |place: usize| transcript::<G>(game.moves[..place].iter().map(|m| m.square));
        let mut kept = self.kept();
        match self.from {
            RestartFrom::Any => {
                let mut random = stream(self.seed, Purpose::Kept, game.id);
                let (place, _) = regrets[random.random_range(0..regrets.len())];
                if kept.len() >= MOST_KEPT {
                    kept.remove(0);
                }
                kept.push(Start { moves: moves(place), regret: 1.0 });
            }
            RestartFrom::Regret => {
                renew(&mut kept, &moves(first), regret);
                let greatest = regrets.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
                if let Some((place, regret)) = greatest {
                    keep_greatest(&mut kept, Start { moves: moves(place), regret });
                }
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Start>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn renew(kept: &mut [Start], moves: &str, regret: f32) {
    if let Some(known) = kept.iter_mut().find(|start| start.moves == moves) {
        known.regret += NEW_REGRET * (regret - known.regret);
    }
}

/// Keeps a position in place of the one with the least regret, if its own is greater.
fn keep_greatest(kept: &mut Vec<Start>, start: Start) {
    if kept.iter().any(|known| known.moves == start.moves) {
        return;
    }
    if kept.len() < MOST_KEPT {
        kept.push(start);
    } else if let Some(least) = kept.iter_mut().min_by(|a, b| a.regret.total_cmp(&b.regret))
        && least.regret < start.regret
    {
        *least = start;
    }
}

/// The places of the searched moves of a game, counted from 0, each with the regret of the position
/// there: the mean of `(value - result)^2` over the searches from it on, 0 to 4.
fn regrets<G: Geometry>(game: &GameRecord) -> Vec<(usize, f32)> {
    let Ok(positions) = game.replay::<G>() else { return Vec::new() };
    let (mut sum, mut count) = (0.0, 0.0);
    let mut found = Vec::new();
    for (place, (played, position)) in game.moves.iter().zip(&positions).enumerate().rev() {
        if place < usize::from(game.opening_moves) {
            break;
        }
        let Some(value) = played.value.filter(|_| played.exact.is_none()) else { continue };
        let result = match position.side {
            Colour::Black => game.score.signum(),
            Colour::White => -game.score.signum(),
        };
        // Rounding may carry a value a little beyond 1.
        sum += (value - f32::from(result)).powi(2).min(MOST_REGRET);
        count += 1.0;
        found.push((place, sum / count));
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::record::MoveRecord;
    use crate::game::{Goal, Square6};

    fn options(from: RestartFrom) -> Options {
        Options { restarts: 1.0, restart_from: from, ..Options::default() }
    }

    fn starts(from: RestartFrom) -> Starts {
        Starts::restore::<Square6>(&options(from), 7, Vec::new()).expect("none are kept")
    }

    /// A whole game whose moves follow from its number. All its searches have this value.
    fn game(id: u64, opening: usize, value: f32) -> GameRecord {
        let mut position = Position::<Square6>::start();
        let mut record = GameRecord::begin(position, Goal::Most, id);
        while let legal = position.board.legal()
            && !legal.is_empty()
        {
            let ply = record.moves.len();
            let square = legal.into_iter().nth((id as usize + ply) % legal.len()).expect("a move");
            let value = (ply >= opening).then_some(value);
            record.moves.push(MoveRecord { value, ..MoveRecord::of(square) });
            position = position.play(square).expect("legal").pass_if_forced();
        }
        record.opening_moves = opening as u16;
        record.score = position.black_view().final_score(Goal::Most) as i16;
        record
    }

    /// The first game that black wins.
    fn won(opening: usize) -> GameRecord {
        (0..).map(|id| game(id, opening, 0.5)).find(|game| game.score > 0).expect("a won game")
    }

    fn prefix(game: &GameRecord, length: usize) -> String {
        transcript::<Square6>(game.moves[..length].iter().map(|played| played.square))
    }

    #[test]
    fn regrets_are_means_over_the_rest_of_the_game() {
        let mut game = won(3);
        game.moves[5].exact = Some(2);
        let positions = game.replay::<Square6>().expect("legal moves");
        let result = |place: usize| match positions[place].side {
            Colour::Black => f32::from(game.score.signum()),
            Colour::White => -f32::from(game.score.signum()),
        };
        let found = regrets::<Square6>(&game);
        let searched: Vec<usize> = (3..game.moves.len()).filter(|&place| place != 5).collect();
        assert_eq!(found.iter().map(|regret| regret.0).collect::<Vec<_>>(), searched);
        for (index, &(_, regret)) in found.iter().enumerate() {
            let rest = &searched[index..];
            let sum: f32 = rest.iter().map(|&place| (0.5 - result(place)).powi(2)).sum();
            assert!((regret - sum / rest.len() as f32).abs() < 1e-5, "{index}");
        }
    }

    /// Otherwise a run could not be resumed from its own checkpoint.
    #[test]
    fn values_a_little_beyond_1_give_positions_that_can_be_restored() {
        let starts = starts(RestartFrom::Regret);
        let mut game = won(2);
        let positions = game.replay::<Square6>().expect("legal moves");
        for (played, position) in game.moves.iter_mut().zip(&positions).skip(2) {
            played.value = Some(if position.side == Colour::Black { -1.0005 } else { 1.0005 });
        }
        starts.learn::<Square6>(&game);
        let saved = starts.saved();
        assert_eq!(saved[0].regret, MOST_REGRET);
        Starts::restore::<Square6>(&options(RestartFrom::Regret), 7, saved).expect("its own");
    }

    #[test]
    fn the_position_of_greatest_regret_is_kept_once_and_its_regret_follows_the_games() {
        let starts = starts(RestartFrom::Regret);
        let first = won(2);
        starts.learn::<Square6>(&first);
        let greatest = |game: &GameRecord| {
            let found = regrets::<Square6>(game).into_iter();
            found.max_by(|a, b| a.1.total_cmp(&b.1)).expect("a searched move")
        };
        let (place, regret) = greatest(&first);
        let kept = Start { moves: prefix(&first, place), regret };
        assert_eq!(starts.saved(), std::slice::from_ref(&kept));

        // A game that begins there, with better values.
        let mut again = game(first.id, place, 0.5);
        let positions = again.replay::<Square6>().expect("legal moves");
        for (played, position) in again.moves.iter_mut().zip(&positions).skip(place) {
            let won = position.side == Colour::Black;
            played.value = Some(if won { 0.9 } else { -0.9 });
        }
        starts.learn::<Square6>(&again);
        let wanted = kept.regret + 0.5 * (0.01 - kept.regret);
        let saved = starts.saved();
        assert_eq!(saved[0].moves, kept.moves);
        assert!((saved[0].regret - wanted).abs() < 1e-4, "{saved:?}, wanted {wanted}");
        assert_eq!(
            starts.draw::<Square6>(3),
            again.moves[..place].iter().map(|m| m.square).collect::<Vec<_>>()
        );
    }

    #[test]
    fn no_more_are_kept_than_allowed_and_those_of_least_regret_go() {
        let mut kept = Vec::new();
        for number in 0..2 * MOST_KEPT {
            let regret = (number * 7919 % (2 * MOST_KEPT)) as f32 / 1000.0;
            keep_greatest(&mut kept, Start { moves: format!("{number}"), regret });
        }
        assert_eq!(kept.len(), MOST_KEPT);
        assert!(kept.iter().all(|start| start.regret >= 1.0));
    }

    #[test]
    fn any_position_may_be_kept_and_the_oldest_goes() {
        let starts = starts(RestartFrom::Any);
        let mut lengths = std::collections::BTreeSet::new();
        for id in 0..MOST_KEPT as u64 + 5 {
            starts.learn::<Square6>(&game(id, 4, 0.5));
        }
        let saved = starts.saved();
        assert_eq!(saved.len(), MOST_KEPT);
        for start in &saved {
            lengths.insert(start.moves.len() / 2);
        }
        assert!(lengths.len() > 20 && lengths.first() == Some(&4), "{lengths:?}");
    }

    #[test]
    fn a_share_of_the_games_begins_at_kept_positions_in_proportion_to_their_regret() {
        let saved = vec![
            Start { moves: "c2".into(), regret: 3.0 },
            Start { moves: "d5".into(), regret: 1.0 },
            Start { moves: "e4".into(), regret: 0.0 },
        ];
        let some = Options { restarts: 0.5, ..Options::default() };
        let starts = Starts::restore::<Square6>(&some, 1, saved).expect("legal");
        let mut counts = std::collections::BTreeMap::<String, u32>::new();
        for id in 0..4000 {
            let moves = starts.draw::<Square6>(id);
            assert_eq!(moves, starts.draw::<Square6>(id), "the number decides");
            *counts.entry(transcript::<Square6>(moves)).or_default() += 1;
        }
        for (moves, wanted) in [("", 2000), ("c2", 1500), ("d5", 500)] {
            assert!(counts[moves].abs_diff(wanted) < 120, "{counts:?}");
        }
        assert!(!counts.contains_key("e4"));
    }

    #[test]
    fn impossible_saved_positions_are_named() {
        let restore = |moves: &str, regret| {
            let good = Start { moves: "c2".into(), regret: 1.0 };
            let saved = vec![good, Start { moves: moves.into(), regret }];
            let result = Starts::restore::<Square6>(&options(RestartFrom::Any), 1, saved);
            result.expect_err("impossible").to_string()
        };
        assert!(restore("a1", 1.0).starts_with("`starts[1].moves`: move `a1` at offset 0"));
        let regret = "`starts[1].regret` is -1; allowed: 0 to 4";
        assert_eq!(restore("c2", -1.0), regret);
    }
}
