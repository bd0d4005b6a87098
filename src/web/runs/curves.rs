//! The curves of a run's `metrics.jsonl`, with as many points as a chart has room for.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::store::lines::Lines;
use crate::store::open_stored;
use crate::telemetry::METRICS;
use crate::web::error::ApiError;

/// The most points of a curve.
const MOST_POINTS: usize = 600;
/// The most lines of a file that are read; the file of a long run has some thousands.
const MOST_LINES: usize = 200_000;
/// The most curves.
const MOST_CURVES: usize = 320;
/// A longer time between two lines is a time in which the run did not train.
const LONGEST_PAUSE: f64 = 600.0;
/// The last line of a run may come this soon after the one before, in seconds. Its speeds say nothing.
const SHORTEST: f64 = 1.0;

/// A curve that every method has that trains stage by stage, and no other one.
const STAGE: &str = "stage/seconds";

/// A line of the file.
#[derive(Deserialize)]
struct Line {
    positions: u64,
    /// Seconds since 1970.
    time: f64,
    values: BTreeMap<String, f64>,
}

/// The curves of a run. All lists have the same length.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Curves {
    /// Minutes of training.
    pub minutes: Vec<f64>,
    /// Games of self-play, from the positions and the length of games.
    pub games: Vec<f64>,
    /// Positions of self-play.
    pub positions: Vec<f64>,
    /// Training steps, or the stages of a method that trains stage by stage.
    pub steps: Vec<f64>,
    /// By name; `None` where a curve has no value.
    pub curves: BTreeMap<String, Vec<Option<f64>>>,
    /// Lines of the file that cannot be read.
    pub bad_lines: usize,
}

/// A line with its place on every x axis: minutes, games, positions, steps.
struct Point {
    axes: [f64; 4],
    values: BTreeMap<String, f64>,
}

/// The curves of the run in a folder; a run without curves has empty ones.
pub(super) fn read(run: &Path) -> Result<Curves, ApiError> {
    let file = match open_stored(&run.join(METRICS)) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Curves::default()),
        Err(error) => return Err(ApiError::failed(format!("{METRICS}: {error}"))),
    };
    let (mut points, mut evaluations, mut bad_lines) = (Vec::new(), Vec::new(), 0);
    let mut axes = Axes::default();
    for line in Lines::new(BufReader::new(file)).take(MOST_LINES) {
        let line = line.map_err(|error| ApiError::failed(format!("{METRICS}: {error}")))?;
        // The last line may be half-written while the run goes on.
        let parsed = line.text.ok().and_then(|text| serde_json::from_str::<Line>(&text).ok());
        match parsed {
            Some(line) if line.is_evaluation() => evaluations.push(line),
            Some(line) => points.push(axes.place(line)),
            None => bad_lines += 1,
        }
    }
    let rated: Vec<_> = evaluations.into_iter().map(|line| placed(line, &points)).collect();
    points.extend(rated);
    let order = |a: &Point, b: &Point| {
        a.axes[2].total_cmp(&b.axes[2]).then(a.axes[0].total_cmp(&b.axes[0]))
    };
    points.sort_by(order);
    Ok(Curves { bad_lines, ..thinned(&points) })
}

impl Line {
    /// Whether it is about a net of earlier: its positions are those before that net.
    fn is_evaluation(&self) -> bool {
        self.values.keys().all(|name| name.starts_with("rating/") || name.starts_with("score/"))
    }
}

/// An evaluation at the place of the net that it rates.
fn placed(line: Line, points: &[Point]) -> Point {
    let positions = line.positions as f64;
    let after = points.partition_point(|point| point.axes[2] < positions);
    let near = points.get(after).or(points.last()).map_or([0.0; 4], |point| point.axes);
    Point { axes: [near[0], near[1], positions, near[3]], values: line.values }
}

/// The sums that make the x axes.
#[derive(Default)]
struct Axes {
    last: Option<(f64, u64)>,
    minutes: f64,
    games: f64,
    steps: f64,
}

impl Axes {
    fn place(&mut self, mut line: Line) -> Point {
        let (time, positions) = self.last.unwrap_or((line.time, 0));
        let passed = line.time - time;
        if self.last.is_some() && passed < SHORTEST {
            line.values.retain(|name, _| !name.starts_with("speed/"));
        }
        self.minutes += if (0.0..=LONGEST_PAUSE).contains(&passed) { passed / 60.0 } else { 0.0 };
        if let Some(&length) = line.values.get("games/length").filter(|length| **length > 0.0) {
            self.games += line.positions.saturating_sub(positions) as f64 / length;
            self.last = Some((line.time, line.positions));
        } else {
            // The games of these positions are counted with the next line that has a length.
            self.last = Some((line.time, positions));
        }
        // A method that trains stage by stage writes one line for each stage.
        let stage = if line.values.contains_key(STAGE) { 1.0 } else { 0.0 };
        let steps = line.values.get("learner/steps").copied();
        self.steps = steps.unwrap_or(self.steps + stage);
        let axes = [self.minutes, self.games, line.positions as f64, self.steps];
        Point { axes, values: line.values }
    }
}

/// The mean of neighbouring points, so that at most [`MOST_POINTS`] are left.
fn thinned(points: &[Point]) -> Curves {
    let mut names: Vec<&String> = points.iter().flat_map(|point| point.values.keys()).collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(MOST_CURVES);
    let groups: Vec<&[Point]> = points.chunks(points.len().div_ceil(MOST_POINTS).max(1)).collect();
    // The last of a group, so that a curve ends where the run is.
    let axis = |number: usize| {
        let last = |group: &&[Point]| group.last().map_or(0.0, |point| point.axes[number]);
        groups.iter().map(last).collect()
    };
    let mean = |name: &str, group: &[Point]| {
        let values: Vec<f64> =
            group.iter().filter_map(|point| point.values.get(name).copied()).collect();
        let sum: f64 = values.iter().sum();
        (!values.is_empty()).then(|| sum / values.len() as f64)
    };
    let curve = |name: &String| {
        (name.clone(), groups.iter().map(|group| mean(name, group)).collect::<Vec<_>>())
    };
    Curves {
        minutes: axis(0),
        games: axis(1),
        positions: axis(2),
        steps: axis(3),
        curves: names.into_iter().map(curve).collect(),
        bad_lines: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves_of(text: &str) -> Curves {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(METRICS), text).expect("a file");
        read(folder.path()).expect("curves")
    }

    fn line(positions: u64, time: f64, loss: f64) -> String {
        let values =
            format!("{{\"games/length\":50.0,\"loss/policy\":{loss},\"learner/steps\":7}}");
        format!("{{\"positions\":{positions},\"time\":{time},\"values\":{values},\"version\":1}}\n")
    }

    #[test]
    fn the_axes_follow_from_the_lines() {
        let text = line(500, 60.0, 3.0) + &line(1000, 120.0, 2.0) + &line(1500, 9_000.0, 1.0);
        let found = curves_of(&(text + "{\"half"));
        assert_eq!(found.minutes, [0.0, 1.0, 1.0], "a pause is no training");
        assert_eq!(found.games, [10.0, 20.0, 30.0]);
        assert_eq!(found.positions, [500.0, 1000.0, 1500.0]);
        assert_eq!(found.curves["loss/policy"], [Some(3.0), Some(2.0), Some(1.0)]);
        assert_eq!((found.steps, found.bad_lines), (vec![7.0; 3], 1));
    }

    #[test]
    fn an_evaluation_stands_at_its_net() {
        let rating = "{\"positions\":500,\"time\":150,\"values\":{\"rating/net\":9.0}}\n";
        let found = curves_of(&(line(500, 60.0, 3.0) + &line(1000, 120.0, 2.0) + rating));
        assert_eq!(found.positions, [500.0, 500.0, 1000.0]);
        assert_eq!(found.minutes, [0.0, 0.0, 1.0]);
        assert_eq!(found.curves["rating/net"], [None, Some(9.0), None]);
    }

    #[test]
    fn stages_are_counted_as_steps() {
        let line = |values: &str| format!("{{\"positions\":9,\"time\":5,\"values\":{values}}}\n");
        let stage = line("{\"stage/seconds\":1.0}");
        let found = curves_of(&(line("{\"other\":1.0}") + &stage + &stage));
        assert_eq!(found.steps, [0.0, 1.0, 2.0]);
    }

    #[test]
    fn long_curves_are_thinned_to_means_and_keep_their_end() {
        let lines: String = (1..=3000u64).map(|n| line(n, n as f64, n as f64)).collect();
        let found = curves_of(&lines);
        assert_eq!(found.positions.len(), 600);
        assert_eq!(found.positions.last(), Some(&3000.0));
        assert_eq!(found.curves["loss/policy"][0], Some(3.0), "the mean of 1 to 5");
    }

    #[test]
    fn every_recorded_run_has_its_curves() {
        for run in ["hour", "long", "quick"] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/runs").join(run);
            let found = read(&path).expect("curves");
            assert_eq!(found.bad_lines, 0);
            for name in ["loss/policy", "loss/owner", "rating/net", "speed/games_per_second"] {
                assert!(found.curves.contains_key(name), "{run}: {name}");
            }
            for axis in [&found.minutes, &found.games, &found.positions, &found.steps] {
                assert!(axis.is_sorted() && axis.len() <= MOST_POINTS, "{run}");
            }
        }
    }
}
