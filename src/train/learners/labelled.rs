//! What learners have in common that play games in rounds: the parts of a round, which labels count for
//! a fit, and which measure its errors.

use std::path::{Path, PathBuf};

use crate::game::{Geometry, Goal};
use crate::store::labels::{self, Label, LabelsError};
use crate::train::stagewise::UnitReport;

/// One line in this many is held out: it measures the errors and trains nothing.
const HELD_OUT: usize = 50;

/// The empty squares at which errors are measured, with two more on both sides.
const NEAR: [u32; 5] = [10, 20, 30, 40, 50];

/// How many of the newest rounds give boards that were not solved. Earlier rounds played worse.
pub const ROUNDS_OF_RESULTS: u64 = 2;

/// A normal distribution with this standard deviation is nearest to a logistic one of scale 1, and
/// its mean absolute value is the second number times its deviation.
const LOGISTIC_DEVIATION: f64 = 1.702;
const MEAN_ABSOLUTE: f64 = 0.798;

/// The scale of chances to win, in discs, for a mean absolute error in discs.
pub fn win_scale(error: f64) -> f32 {
    ((error / MEAN_ABSOLUTE / LOGISTIC_DEVIATION) as f32).max(f32::MIN_POSITIVE)
}

/// A part of a round: a unit of the work. A run that was killed loses at most one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// The number of the round, and of all rounds.
    pub round: u64,
    pub rounds: u64,
    /// The number of the part in the round, and of all its parts.
    pub part: u64,
    pub parts: u64,
}

impl Part {
    /// The part that is the unit of this number.
    pub fn of_unit(unit: u64, parts: u64, rounds: u64) -> Part {
        Part { round: unit / parts, rounds, part: unit % parts, parts }
    }

    /// Whether it is the last one of its round.
    pub fn is_last(&self) -> bool {
        self.part + 1 == self.parts
    }

    /// A report about it, without games and positions.
    pub fn report(&self) -> UnitReport {
        let mut name = format!("round {} of {}", self.round + 1, self.rounds);
        if self.parts > 1 {
            name += &format!(", part {} of {}", self.part + 1, self.parts);
        }
        let curves = vec![("stage/round".into(), (self.round + 1) as f64)];
        UnitReport { name, games: 0, positions: 0, curves }
    }
}

/// The result of a fit to labels.
#[derive(Clone, PartialEq, Debug)]
pub struct Fitted {
    /// The labels that were learnt from.
    pub labels: u64,
    /// Mean absolute errors in discs: of the training, and of held-out lines near some numbers of
    /// empty squares, such as `10 empties`.
    pub errors: Vec<(String, f64)>,
}

impl Fitted {
    /// A fit with this error of the training. `error` measures that of held-out labels.
    pub fn new<G: Geometry>(
        (labels, training): (usize, f64),
        held_out: &[Label<G>],
        error: impl Fn(&[Label<G>]) -> f64,
    ) -> Fitted {
        let mut errors = vec![("training".into(), training)];
        for middle in NEAR {
            let is_near = |label: &&Label<G>| label.board.empties().abs_diff(middle) <= 2;
            let near: Vec<_> = held_out.iter().filter(is_near).copied().collect();
            if !near.is_empty() {
                errors.push((format!("{middle} empties"), error(&near)));
            }
        }
        Fitted { labels: labels as u64, errors }
    }

    /// Adds the errors to a report: to its name, and as curves below `curve`.
    pub fn add_to(&self, report: &mut UnitReport, curve: &str) {
        for (what, error) in &self.errors {
            report.name += &format!(", error {error:.2} discs ({what})");
            report.curves.push((format!("{curve}/{}", what.replace(' ', "_")), *error));
        }
    }
}

/// Labels to learn from, and labels that measure the errors.
pub struct Divided<G: Geometry> {
    /// Labels to learn from.
    pub training: Vec<Label<G>>,
    /// Labels that measure the errors.
    pub held_out: Vec<Label<G>>,
}

/// The labels of a part of a round; none, with a warning, if their file is damaged or gone. The
/// others are still of use, and a long run can go on.
///
/// # Errors
///
/// The file is there and cannot be read.
pub fn of_part<G: Geometry>(
    run: &Path,
    goal: Goal,
    (round, part): (u64, u64),
) -> Result<Vec<Label<G>>, LabelsError> {
    let found = labels::read::<G>(&labels::file(run, round, part), goal);
    let is_lost = found.as_ref().is_err_and(|error| match error {
        LabelsError::Content { .. } => true,
        LabelsError::File(error) => error.is_missing(),
        LabelsError::None { .. } => false,
    });
    match found {
        Err(error) if is_lost => {
            tracing::warn!("{error}; the run learns without these labels");
            Ok(Vec::new())
        }
        found => found,
    }
}

impl<G: Geometry> Divided<G> {
    /// The labels of all rounds up to `last`, each of `parts` parts, that count: those of the newest
    /// rounds, and those of boards with at most as many empty squares as the round solved.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or no label is left to learn from.
    pub fn of_rounds(
        run: &Path,
        goal: Goal,
        (last, parts): (u64, u64),
        solved: impl Fn(u64) -> u32,
    ) -> Result<Self, LabelsError> {
        let mut divided = Divided { training: Vec::new(), held_out: Vec::new() };
        for round in 0..=last {
            let (solved, with_results) = (solved(round), round + ROUNDS_OF_RESULTS > last);
            for part in 0..parts {
                let labels = of_part(run, goal, (round, part))?;
                divided.add(&labels, |empties| with_results || empties <= solved);
            }
        }
        divided.unless_empty(&labels::file(run, last, parts - 1))
    }

    /// All labels of these files.
    ///
    /// # Errors
    ///
    /// A file cannot be read, is damaged, or is for another board or goal, or no label is left to
    /// learn from.
    pub fn of_files(files: &[PathBuf], goal: Goal) -> Result<Self, LabelsError> {
        let mut divided = Divided { training: Vec::new(), held_out: Vec::new() };
        for path in files {
            divided.add(&labels::read::<G>(path, goal)?, |_| true);
        }
        match files.last() {
            Some(path) => divided.unless_empty(path),
            None => Ok(divided),
        }
    }

    fn unless_empty(self, path: &Path) -> Result<Self, LabelsError> {
        let problem = || "it and the files beside it have too few labels to learn from".into();
        match self.training.is_empty() {
            true => Err(LabelsError::Content { path: path.to_path_buf(), problem: problem() }),
            false => Ok(self),
        }
    }

    /// Adds the labels of a file that count, by their number of empty squares.
    fn add(&mut self, labels: &[Label<G>], counts: impl Fn(u32) -> bool) {
        // A line has fewer empty squares from label to label.
        let lines = labels.chunk_by(|label, next| next.board.empties() < label.board.empties());
        for (number, line) in lines.enumerate() {
            let part = if number % HELD_OUT == 0 { &mut self.held_out } else { &mut self.training };
            part.extend(line.iter().filter(|label| counts(label.board.empties())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::testing::random_game;
    use crate::game::Square6;

    #[test]
    fn lines_are_held_out_as_a_whole_and_old_results_do_not_count() {
        let folder = tempfile::tempdir().expect("a folder");
        let boards = || random_game::<Square6>(3).into_iter().filter(|it| !it.legal().is_empty());
        let line: Vec<_> = boards().map(|board| Label { board, score: 2 }).collect();
        let lines = line.repeat(HELD_OUT + 2);
        for round in 0..3 {
            let path = labels::file(folder.path(), round, 0);
            labels::write(&path, Goal::Most, &lines).expect("written");
        }
        let read =
            |last| Divided::<Square6>::of_rounds(folder.path(), Goal::Most, (last, 1), |_| 5);
        let divided = read(1).expect("labels");
        assert_eq!(divided.held_out, line.repeat(4));
        assert_eq!(divided.training, line.repeat(2 * HELD_OUT));
        let solved = line.iter().filter(|label| label.board.empties() <= 5).count();
        let held_out = read(2).expect("labels").held_out.len();
        assert_eq!(held_out, 4 * line.len() + 2 * solved);
        let files = labels::newest_files(folder.path(), 2).expect("files");
        let divided = Divided::<Square6>::of_files(&files, Goal::Most).expect("labels");
        assert_eq!(divided.training, line.repeat(2 * HELD_OUT));
        labels::write::<Square6>(&files[0], Goal::Most, &line).expect("written");
        let error = Divided::<Square6>::of_files(&files[..1], Goal::Most).err().expect("no labels");
        assert!(error.to_string().contains("too few labels to learn from"), "{error}");
    }

    #[test]
    fn damaged_and_missing_files_are_left_out_and_the_others_count() {
        let folder = tempfile::tempdir().expect("a folder");
        let boards = || random_game::<Square6>(3).into_iter().filter(|it| !it.legal().is_empty());
        let line: Vec<_> = boards().map(|board| Label { board, score: 2 }).collect();
        let path = |part| labels::file(folder.path(), 0, part);
        for part in 0..3 {
            labels::write(&path(part), Goal::Most, &line.repeat(2)).expect("written");
        }
        let read = || Divided::<Square6>::of_rounds(folder.path(), Goal::Most, (0, 3), |_| 5);
        assert_eq!(read().expect("labels").training, line.repeat(3));
        std::fs::write(path(0), "damaged").expect("written");
        std::fs::remove_file(path(1)).expect("removed");
        assert_eq!(read().expect("labels").training, line);
        std::fs::remove_file(path(2)).expect("removed");
        let error = read().err().expect("no labels").to_string();
        assert!(error.contains("part-3") && error.contains("too few labels"), "{error}");
    }
}
