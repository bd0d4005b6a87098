//! The positions that players are judged by, with what is known of their exact scores.
//!
//! They come from a file of OBF lines, whose `move:score` pairs are taken as exact scores with
//! the best one among them, or from the games of a run or of matches; as OBF lines they are
//! written again.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::arena::ladder::{GameLine, Ladder, LadderError};
use crate::arena::player::combine;
use crate::game::notation::{NotationError, obf, parse_obf, square_name};
use crate::game::record::{GameRecord, RecordError};
use crate::game::{Geometry, Goal, Position, Square};
use crate::store::games::{self, GamesError, ReadError};
use crate::store::lines::{BadLine, BadLines, LineError, Lines};
use crate::store::run_dir::{self, GAMES};
use crate::store::{self, FileError, limits};

/// A position with a move to find.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem<G: Geometry> {
    position: Position<G>,
    /// Exact scores for the side to move: none at all, or the best move's and maybe others'.
    scores: Vec<(Square, i32)>,
}

impl<G: Geometry> Problem<G> {
    /// A position of which nothing is known; `None` if its side to move has no move.
    pub fn new(position: Position<G>) -> Option<Problem<G>> {
        let has_move = !position.board.legal().is_empty();
        has_move.then_some(Problem { position, scores: Vec::new() })
    }

    /// The position.
    pub fn position(&self) -> Position<G> {
        self.position
    }

    /// A best move and its score, if they are known.
    pub fn best(&self) -> Option<(Square, i32)> {
        self.scores.iter().copied().rev().max_by_key(|&(_, score)| score)
    }

    /// The exact score of a move, if it is known.
    pub fn score(&self, square: Square) -> Option<i32> {
        self.scores.iter().find(|(known, _)| *known == square).map(|&(_, score)| score)
    }

    /// Remembers the exact score of a move; the first to be told must be a best one.
    pub fn note(&mut self, square: Square, score: i32) {
        if self.score(square).is_none() {
            self.scores.push((square, score));
        }
    }

    fn read(line: &str) -> Result<Problem<G>, LineProblem> {
        let line = parse_obf::<G>(line)?;
        let mut problem = Problem::new(line.position).ok_or(LineProblem::NoMove)?;
        for (square, score) in line.scores {
            let legal = square.filter(|&square| line.position.board.legal().contains(square));
            let shown = || square.map_or_else(|| "a pass".into(), square_name::<G>).into();
            let square = legal.ok_or_else(|| LineProblem::NotLegal { shown: shown() })?;
            problem.note(square, score);
        }
        Ok(problem)
    }

    /// The position as an OBF line, with the scores that are known.
    fn line(&self) -> String {
        let mut line = obf(self.position);
        if !self.scores.is_empty() {
            line.push(';');
        }
        for &(square, score) in &self.scores {
            let _ = write!(line, " {}:{score:+};", square_name::<G>(square));
        }
        line
    }
}

/// What is wrong with a line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LineProblem {
    /// It is no text.
    #[error(transparent)]
    Line(#[from] LineError),
    /// It is no position.
    #[error(transparent)]
    Notation(#[from] NotationError),
    /// Nobody can choose anything there.
    #[error("the side to move has no move in this position")]
    NoMove,
    /// It gives a score to a move that cannot be made.
    #[error("a score is stated for {shown}, which is not legal in this position")]
    NotLegal {
        /// The move.
        shown: Box<str>,
    },
}

/// Why there are no positions.
#[derive(Debug, thiserror::Error)]
pub enum PositionsError {
    /// The file, or the folder of games, cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// No line of the file is a position.
    #[error(
        "no position in {}{}",
        path.display(),
        first.as_ref().map(|bad| format!(": {bad}")).unwrap_or_default()
    )]
    Nothing {
        /// The file.
        path: PathBuf,
        /// The first bad line.
        first: Option<BadLine<LineProblem>>,
    },
    /// There is nothing that holds games.
    #[error(
        "{} is neither a run directory, which `outflank train` makes, nor a file of games, which `outflank arena` writes",
        path.display()
    )]
    NoGames {
        /// What was named.
        path: PathBuf,
    },
    /// The matches cannot be read.
    #[error(transparent)]
    Ladder(#[from] LadderError),
    /// No match was on this board for this goal.
    #[error("{} has no game on board {board} for goal `{goal}`", path.display())]
    NoMatch {
        /// The ladder.
        path: PathBuf,
        /// The board's name.
        board: &'static str,
        /// The goal.
        goal: Goal,
    },
    /// The games cannot be read.
    #[error(transparent)]
    Games(#[from] GamesError),
    /// A game is of another board, or breaks the rules.
    #[error("{}, game {id}", path.display())]
    Record {
        /// The run.
        path: PathBuf,
        /// The game.
        id: u64,
        /// What is wrong.
        source: RecordError,
    },
    /// The games are for the other goal.
    #[error("{}: the games are for goal `{found}`, not `{wanted}`", path.display())]
    OtherGoal {
        /// The run.
        path: PathBuf,
        /// The games' goal.
        found: Goal,
        /// The one asked for.
        wanted: Goal,
    },
    /// No game comes by such a position.
    #[error("no game of {} has a position with {empties} empty squares to choose in", path.display())]
    NoneSuch {
        /// The run or ladder.
        path: PathBuf,
        /// The empty squares asked for.
        empties: u32,
    },
}

/// Positions, and what had to be left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Positions<G: Geometry> {
    /// The positions; at least one.
    pub problems: Vec<Problem<G>>,
    /// Lines of the file that were left out.
    pub bad_lines: BadLines<LineProblem>,
    /// Games, or a ladder's lines, that could not be read.
    pub skipped: usize,
}

/// The positions of a file, one OBF line each.
///
/// # Errors
///
/// The file cannot be read or holds no position.
pub fn from_file<G: Geometry>(path: &Path) -> Result<Positions<G>, PositionsError> {
    // All positions are kept, so the whole file may be as well, within its limit.
    let bytes = store::read(path, limits::POSITIONS)?;
    let mut found = Positions { problems: Vec::new(), bad_lines: BadLines::default(), skipped: 0 };
    // Reading from memory does not fail.
    for line in Lines::new(&bytes[..]).map_while(Result::ok) {
        match line.text.map_err(LineProblem::from).and_then(|text| Problem::read(&text)) {
            Ok(problem) => found.problems.push(problem),
            Err(problem) => {
                found.bad_lines.note(line.number, problem);
            }
        }
    }
    if found.problems.is_empty() {
        let first = found.bad_lines.first().first().cloned();
        return Err(PositionsError::Nothing { path: path.into(), first });
    }
    Ok(found)
}

/// The lines of a file that [`from_file`] reads again.
pub fn to_lines<G: Geometry>(problems: &[Problem<G>]) -> String {
    problems.iter().map(|problem| problem.line() + "\n").collect()
}

/// Which positions of games are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// The goal that the games must be for.
    pub goal: Goal,
    /// Empty squares of each position.
    pub empties: u32,
    /// How many positions.
    pub count: usize,
    /// Decides which games they are from.
    pub seed: u64,
}

/// Positions from the games of a run or of a ladder's matches, distinct up to symmetry, at most one
/// of each game and after its opening moves. Of a run they are drawn from the newer half of the
/// games; from all where that half has too few. There may be fewer than were asked for.
///
/// # Errors
///
/// There is neither run nor ladder, its games cannot be read or are of another board or goal, or
/// none of them has such a position.
pub fn from_games<G: Geometry>(
    path: &Path,
    sample: &Sample,
) -> Result<Positions<G>, PositionsError> {
    let found = if path.is_file() {
        of_ladder(path, sample)?
    } else if run_dir::is_run(path)? {
        of_run(path, sample)?
    } else {
        return Err(PositionsError::NoGames { path: path.into() });
    };
    if found.problems.is_empty() {
        return Err(PositionsError::NoneSuch { path: path.into(), empties: sample.empties });
    }
    Ok(found)
}

fn of_run<G: Geometry>(run: &Path, sample: &Sample) -> Result<Positions<G>, PositionsError> {
    let folder = run.join(GAMES);
    let half = games::totals(&folder)?.positions / 2;
    let newer = of_records(run, games::read_tail(&folder, half)?, sample)?;
    match newer.problems.len() < sample.count {
        true => of_records(run, games::read_all(&folder)?, sample),
        false => Ok(newer),
    }
}

fn of_records<G: Geometry>(
    run: &Path,
    games: games::Games,
    sample: &Sample,
) -> Result<Positions<G>, PositionsError> {
    let (mut candidates, mut skipped) = (Vec::new(), 0);
    for game in games {
        match game {
            Ok(record) => candidates.extend(candidate::<G>(run, &record, sample)?),
            Err(ReadError::Skipped(_)) => skipped += 1,
            Err(ReadError::File(error)) => return Err(GamesError::from(error).into()),
        }
    }
    Ok(Positions { problems: draw(candidates, sample), bad_lines: BadLines::default(), skipped })
}

fn of_ladder<G: Geometry>(path: &Path, sample: &Sample) -> Result<Positions<G>, PositionsError> {
    let ladder = Ladder::look_at(path)?;
    let (board, goal) = (G::SHAPE.name(), sample.goal);
    let fits = |game: &&GameLine| game.board == board && game.goal == goal.name();
    let games: Vec<_> = ladder.games.iter().filter(fits).collect();
    if games.is_empty() {
        return Err(PositionsError::NoMatch { path: path.into(), board, goal });
    }
    let (mut candidates, mut skipped) = (Vec::new(), ladder.skipped.count as usize);
    for game in games {
        let Some(played) = game.played::<G>(game.first()) else {
            skipped += 1;
            continue;
        };
        let mut position = Some(played.opening.position);
        let mut choices = played.choices.iter();
        while let Some(now) = position.filter(|now| now.board.empties() > sample.empties) {
            let next = choices.next().and_then(|made| now.play(made.square));
            position = next.map(|next| next.settled());
        }
        let wanted = position.filter(|now| now.board.empties() == sample.empties);
        candidates.extend(wanted.and_then(Problem::new));
    }
    Ok(Positions { problems: draw(candidates, sample), bad_lines: BadLines::default(), skipped })
}

/// As many as are wanted, distinct up to symmetry.
fn draw<G: Geometry>(mut candidates: Vec<Problem<G>>, sample: &Sample) -> Vec<Problem<G>> {
    let parts = [sample.seed, u64::from(sample.empties)];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(combine(&parts));
    let (mut seen, mut problems) = (HashSet::new(), Vec::new());
    while problems.len() < sample.count && !candidates.is_empty() {
        let drawn = candidates.swap_remove(random.random_range(0..candidates.len()));
        if seen.insert(drawn.position.board.canonical()) {
            problems.push(drawn);
        }
    }
    problems
}

/// The position of a game with so many empty squares, if the game has come by it.
fn candidate<G: Geometry>(
    run: &Path,
    record: &GameRecord,
    sample: &Sample,
) -> Result<Option<Problem<G>>, PositionsError> {
    if record.goal != sample.goal {
        let (path, found, wanted) = (run.into(), record.goal, sample.goal);
        return Err(PositionsError::OtherGoal { path, found, wanted });
    }
    let bad = |source| PositionsError::Record { path: run.into(), id: record.id, source };
    let positions = record.positions::<G>().map_err(bad)?;
    let mut chosen = positions.into_iter().skip(record.opening_moves.into());
    let wanted = chosen.find(|position| position.board.empties() == sample.empties);
    Ok(wanted.and_then(Problem::new))
}
