//! The numbers of games and minutes of training before each net of a run.
//!
//! Ladders store both for every net. Ladders of older versions lack them. Then they are read from
//! the run's checkpoints, with linear interpolation between two checkpoints.

use std::path::Path;

use super::standings::Standings;
use crate::store::checkpoint;
use crate::store::run_dir::CHECKPOINTS;

/// A point of a run: steps, games, minutes.
type Point = [f64; 3];

/// Adds games and minutes to the nets of a run's ladder that lack them, up to the newest checkpoint
/// in `run`.
pub fn fill_in_missing(standings: &mut Standings, run: &Path) {
    let name = run.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let origins = standings.players.iter_mut().filter_map(|player| player.origin.as_mut());
    let lacking: Vec<_> = origins
        .filter(|origin| origin.run == name)
        .filter(|origin| origin.games.is_none() || origin.minutes.is_none())
        .collect();
    if lacking.is_empty() {
        return;
    }
    let points = points(run);
    for origin in lacking {
        if let Some((games, minutes)) = interpolate(&points, origin.step as f64) {
            *origin = origin.clone().with_training(Some(games.round() as u64), Some(minutes));
        }
    }
}

/// The start of the run and its checkpoints, by rising step.
fn points(run: &Path) -> Vec<Point> {
    let kept = checkpoint::list(&run.join(CHECKPOINTS)).unwrap_or_default();
    let kept = kept.iter().filter_map(|(step, path)| match checkpoint::training_at(path) {
        Some((Some(games), minutes)) => Some([*step as f64, games as f64, minutes]),
        _ => None,
    });
    std::iter::once([0.0; 3]).chain(kept).collect()
}

/// Games and minutes at a step between the first and the last point.
fn interpolate(points: &[Point], step: f64) -> Option<(f64, f64)> {
    let pair = points.windows(2).find(|pair| step <= pair[1][0])?;
    let (before, after) = (pair[0], pair[1]);
    let share = (step - before[0]) / (after[0] - before[0]).max(1.0);
    let at = |place: usize| before[place] + share * (after[place] - before[place]);
    Some((at(1), at(2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_between_checkpoints_are_interpolated() {
        let points = [[0.0; 3], [100.0, 1_000.0, 2.0], [200.0, 4_000.0, 3.0]];
        for (step, wanted) in [
            (0.0, Some((0.0, 0.0))),
            (50.0, Some((500.0, 1.0))),
            (100.0, Some((1_000.0, 2.0))),
            (150.0, Some((2_500.0, 2.5))),
            (201.0, None),
        ] {
            assert_eq!(interpolate(&points, step), wanted, "at {step}");
        }
        assert_eq!(interpolate(&points[..1], 5.0), None);
    }
}
