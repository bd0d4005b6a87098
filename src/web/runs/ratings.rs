//! The ratings of a run's nets and of the fixed opponents, from its ladder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use super::curves::Curves;
use crate::arena::ladder::Ladder;
use crate::arena::run_curve::fill_in_missing;
use crate::arena::standings::{Standing, standings};
use crate::game::{Goal, Shape};
use crate::web::error::ApiError;

/// The run's ladder.
const LADDER: &str = "ladder.jsonl";
/// A longer ladder is not read, since its ratings would take long.
const LONGEST_LADDER: u64 = 64 << 20;
/// The most ladders whose ratings are kept.
const MOST_KEPT: usize = 64;

/// Ratings of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Ratings {
    /// The run's nets, by rising step.
    ratings: Vec<Rated>,
    /// Everybody else in the ladder, the weakest first.
    opponents: Vec<Opponent>,
}

/// A net of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Rated {
    name: String,
    step: u64,
    minutes: Option<f64>,
    games: Option<f64>,
    positions: Option<f64>,
    /// Elo.
    rating: f64,
    /// Its standard error.
    error: f64,
}

/// A fixed opponent.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Opponent {
    name: String,
    rating: f64,
    error: f64,
}

/// Ratings by ladder and length of its file: a rating needs all games of the ladder.
#[derive(Debug, Default)]
pub(in crate::web) struct Known(Mutex<HashMap<PathBuf, (u64, Ratings)>>);

/// The ratings of a run's ladder; `None` if it has no ladder.
pub(super) fn read(
    run: &Path,
    game: (Shape, Goal),
    known: &Known,
) -> Result<Option<Ratings>, ApiError> {
    let path = run.join(LADDER);
    let Ok(length) = std::fs::metadata(&path).map(|data| data.len()) else { return Ok(None) };
    if length > LONGEST_LADDER {
        return Ok(None);
    }
    let lock = || known.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((of, ratings)) = lock().get(&path)
        && *of == length
    {
        return Ok(Some(ratings.clone()));
    }
    let ladder = Ladder::open_read_only(&path);
    let ladder = ladder.map_err(|error| ApiError::failed(format!("{LADDER}: {error}")))?;
    let ratings = of_ladder(run, &ladder, game);
    let mut kept = lock();
    if kept.len() >= MOST_KEPT {
        kept.clear();
    }
    kept.insert(path, (length, ratings.clone()));
    Ok(Some(ratings))
}

fn of_ladder(run: &Path, ladder: &Ladder, (shape, goal): (Shape, Goal)) -> Ratings {
    let mut standings = dispatch!(shape, G => standings::<G>(ladder, goal, None));
    fill_in_missing(&mut standings, run);
    let mut ratings: Vec<Rated> = standings.players.iter().filter_map(rated).collect();
    ratings.sort_by_key(|rated| rated.step);
    let others = standings.players.iter().rev().filter(|player| player.origin.is_none());
    let opponents = others.map(|player| Opponent {
        name: player.label.clone(),
        rating: player.rating.elo,
        error: player.rating.error,
    });
    Ratings { ratings, opponents: opponents.collect() }
}

fn rated(player: &Standing) -> Option<Rated> {
    let origin = player.origin.as_ref()?;
    Some(Rated {
        name: player.label.clone(),
        step: origin.step,
        minutes: origin.minutes,
        games: origin.games.map(|games| games as f64),
        positions: origin.positions.map(|positions| positions as f64),
        rating: player.rating.elo,
        error: player.rating.error,
    })
}

impl Ratings {
    /// The ratings that the run's evaluations wrote into its curves, for a run without a ladder.
    pub fn of_curves(curves: &Curves) -> Ratings {
        let curve = |name: &str| curves.curves.get(name).map_or(&[][..], Vec::as_slice);
        let errors = curve("rating/error");
        let ratings = curve("rating/net").iter().enumerate().filter_map(|(at, rating)| {
            let step = curves.steps[at] as u64;
            Some(Rated {
                name: format!("step {step}"),
                step,
                minutes: Some(curves.minutes[at]),
                games: Some(curves.games[at]),
                positions: Some(curves.positions[at]),
                rating: (*rating)?,
                error: errors.get(at).copied().flatten().unwrap_or(0.0),
            })
        });
        Ratings { ratings: ratings.collect(), opponents: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_a_ladder_has_the_ratings_of_its_curves() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/runs/hour");
        assert_eq!(
            read(&path, (Shape::Square8, Goal::Most), &Known::default()).expect("no error"),
            None
        );
        let curves = super::super::curves::read(&path).expect("curves");
        let ratings = Ratings::of_curves(&curves).ratings;
        assert!(ratings.len() > 3, "{ratings:?}");
        assert!(ratings.iter().all(|rated| rated.error > 0.0 && rated.minutes.is_some()));
        assert!(ratings.is_sorted_by_key(|rated| rated.step));
        assert!(ratings[ratings.len() - 1].rating > ratings[0].rating, "it has learnt");
    }
}
