//! The positions in which players' moves are judged, with the known exact scores.
//!
//! They come from a file of OBF lines or from the games of a run or a ladder. The `move:score`
//! pairs of an OBF line are exact scores, and the best move must be among them. Positions can be
//! written to such a file again.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::arena::ladder::{GameLine, Ladder, LadderError};
use crate::game::notation::{NotationError, obf, parse_obf, square_name};
use crate::game::record::{GameRecord, RecordError};
use crate::game::{Geometry, Goal, Position, Square};
use crate::players::player::combine;
use crate::store::games::{self, GamesError, ReadError};
use crate::store::lines::{BadLine, BadLines, LineError, Lines};
use crate::store::run_dir::{self, GAMES};
use crate::store::{self, FileError, limits};

/// A position in which a player chooses a move.
///
/// ```
/// use outflank::arena::loss::positions::{self, TestPosition};
/// use outflank::game::{Square6, notation};
///
/// let line = "OOO***-O*-*-O*O***OOO*****O*O-*-O-O- O";
/// let mut entry = TestPosition::new(notation::parse_obf::<Square6>(line)?.position).expect("a move");
/// let a2 = notation::parse_square::<Square6>("a2").expect("a square");
/// entry.note(a2, 8);
/// assert_eq!((entry.best(), entry.score(a2)), (Some((a2, 8)), Some(8)));
/// assert!(positions::to_lines(&[entry]).contains("a2:+8"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestPosition<G: Geometry> {
    position: Position<G>,
    /// Exact scores of moves, for the side to move. If there are any, the best move is among them.
    scores: Vec<(Square, i32)>,
}

impl<G: Geometry> TestPosition<G> {
    /// A position without known scores. `None` if the side to move has no legal move.
    pub fn new(position: Position<G>) -> Option<TestPosition<G>> {
        let has_move = !position.board.legal().is_empty();
        has_move.then_some(TestPosition { position, scores: Vec::new() })
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

    /// Stores the exact score of a move. The first move that is stored must be a best move.
    pub fn note(&mut self, square: Square, score: i32) {
        if self.score(square).is_none() {
            self.scores.push((square, score));
        }
    }

    fn read(line: &str) -> Result<TestPosition<G>, PositionLineError> {
        let line = parse_obf::<G>(line)?;
        let mut position = TestPosition::new(line.position).ok_or(PositionLineError::NoMove)?;
        for (square, score) in line.scores {
            let legal = square.filter(|&square| line.position.board.legal().contains(square));
            let shown = || square.map_or_else(|| "a pass".into(), square_name::<G>).into();
            let square = legal.ok_or_else(|| PositionLineError::NotLegal { shown: shown() })?;
            position.note(square, score);
        }
        Ok(position)
    }

    /// The position as an OBF line, with the known scores.
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

/// An error in a line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PositionLineError {
    /// The line is not UTF-8 text.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The line is not a position.
    #[error(transparent)]
    Notation(#[from] NotationError),
    /// The side to move has no legal move.
    #[error("the side to move has no legal move in this position")]
    NoMove,
    /// The line has a score of an illegal move.
    #[error("the line has a score for {shown}, which is not legal in this position")]
    NotLegal {
        /// The move.
        shown: Box<str>,
    },
}

/// Why there are no positions.
#[derive(Debug, thiserror::Error)]
pub enum PositionsError {
    /// The file or the folder of games cannot be read.
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
        first: Option<BadLine<PositionLineError>>,
    },
    /// The path is neither a run nor a ladder.
    #[error(
        "{} is neither a run directory (from `outflank train`) nor a ladder file (from \
         `outflank arena`)",
        path.display()
    )]
    NoGames {
        /// The path.
        path: PathBuf,
    },
    /// The ladder cannot be read.
    #[error(transparent)]
    Ladder(#[from] LadderError),
    /// The ladder has no game on this board and for this goal.
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
    /// A game is on another board or breaks the rules.
    #[error("{}, game {id}", path.display())]
    Record {
        /// The run.
        path: PathBuf,
        /// The game's number.
        id: u64,
        /// The error.
        source: RecordError,
    },
    /// The games are for the other goal.
    #[error("{}: the games are for goal `{found}`, not `{wanted}`", path.display())]
    OtherGoal {
        /// The run.
        path: PathBuf,
        /// The games' goal.
        found: Goal,
        /// The requested goal.
        wanted: Goal,
    },
    /// No game has a position with this number of empty squares and a legal move.
    #[error(
        "no game of {} has a position with {empties} empty squares and a legal move",
        path.display()
    )]
    NoPosition {
        /// The run or ladder.
        path: PathBuf,
        /// The requested number of empty squares.
        empties: u32,
    },
}

/// Positions, and what was left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Positions<G: Geometry> {
    /// The positions; at least one.
    pub positions: Vec<TestPosition<G>>,
    /// The lines of the file that were left out.
    pub bad_lines: BadLines<PositionLineError>,
    /// The number of games or lines of a ladder that could not be read.
    pub skipped: usize,
}

/// The positions of a file of OBF lines.
///
/// # Errors
///
/// The file cannot be read or holds no position.
pub fn from_file<G: Geometry>(path: &Path) -> Result<Positions<G>, PositionsError> {
    // All positions are kept in memory anyway, so the whole file may be, up to its limit.
    let bytes = store::read(path, limits::POSITIONS)?;
    let mut found = Positions { positions: Vec::new(), bad_lines: BadLines::default(), skipped: 0 };
    // Reading from memory does not fail.
    for line in Lines::new(&bytes[..]).map_while(Result::ok) {
        match line.text.map_err(PositionLineError::from).and_then(|text| TestPosition::read(&text))
        {
            Ok(position) => found.positions.push(position),
            Err(error) => {
                found.bad_lines.note(line.number, error);
            }
        }
    }
    if found.positions.is_empty() {
        let first = found.bad_lines.first().first().cloned();
        return Err(PositionsError::Nothing { path: path.into(), first });
    }
    Ok(found)
}

/// The lines of a file that [`from_file`] reads again.
pub fn to_lines<G: Geometry>(positions: &[TestPosition<G>]) -> String {
    positions.iter().map(|position| position.line() + "\n").collect()
}

/// The positions to draw from games.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// The goal that the games must be for.
    pub goal: Goal,
    /// The number of empty squares of each position.
    pub empties: u32,
    /// The number of positions.
    pub count: usize,
    /// The random seed of the choice.
    pub seed: u64,
}

/// Positions from the games of a run or of a ladder: distinct up to symmetry, at most one of each
/// game, and after the game's opening moves. Positions of a run come from the newer half of its
/// games, or from all games if that half has too few. There may be fewer positions than requested.
///
/// # Errors
///
/// The path is neither a run nor a ladder, its games cannot be read or are for another board or
/// goal, or none of them has such a position.
pub fn from_games<G: Geometry>(
    path: &Path,
    sample: &Sample,
) -> Result<Positions<G>, PositionsError> {
    let found = if path.is_file() {
        positions_of_ladder(path, sample)?
    } else if run_dir::is_run(path)? {
        positions_of_run(path, sample)?
    } else {
        return Err(PositionsError::NoGames { path: path.into() });
    };
    if found.positions.is_empty() {
        return Err(PositionsError::NoPosition { path: path.into(), empties: sample.empties });
    }
    Ok(found)
}

fn positions_of_run<G: Geometry>(
    run: &Path,
    sample: &Sample,
) -> Result<Positions<G>, PositionsError> {
    let folder = run.join(GAMES);
    let half = games::totals(&folder)?.positions / 2;
    let newer = positions_of_records(run, games::read_tail(&folder, half)?, sample)?;
    match newer.positions.len() < sample.count {
        true => positions_of_records(run, games::read_all(&folder)?, sample),
        false => Ok(newer),
    }
}

fn positions_of_records<G: Geometry>(
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
    Ok(Positions { positions: draw(candidates, sample), bad_lines: BadLines::default(), skipped })
}

fn positions_of_ladder<G: Geometry>(
    path: &Path,
    sample: &Sample,
) -> Result<Positions<G>, PositionsError> {
    let ladder = Ladder::open_read_only(path)?;
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
            let next = choices.next().and_then(|choice| now.play(choice.square));
            position = next.map(|next| next.pass_if_forced());
        }
        let wanted = position.filter(|now| now.board.empties() == sample.empties);
        candidates.extend(wanted.and_then(TestPosition::new));
    }
    Ok(Positions { positions: draw(candidates, sample), bad_lines: BadLines::default(), skipped })
}

/// Draws [`Sample::count`] candidates, distinct up to symmetry.
fn draw<G: Geometry>(
    mut candidates: Vec<TestPosition<G>>,
    sample: &Sample,
) -> Vec<TestPosition<G>> {
    let parts = [sample.seed, u64::from(sample.empties)];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(combine(&parts));
    let (mut seen, mut positions) = (HashSet::new(), Vec::new());
    while positions.len() < sample.count && !candidates.is_empty() {
        let drawn = candidates.swap_remove(random.random_range(0..candidates.len()));
        if seen.insert(drawn.position.board.canonical()) {
            positions.push(drawn);
        }
    }
    positions
}

/// The game's position with [`Sample::empties`] empty squares, if it has one.
fn candidate<G: Geometry>(
    run: &Path,
    record: &GameRecord,
    sample: &Sample,
) -> Result<Option<TestPosition<G>>, PositionsError> {
    if record.goal != sample.goal {
        let (path, found, wanted) = (run.into(), record.goal, sample.goal);
        return Err(PositionsError::OtherGoal { path, found, wanted });
    }
    let bad = |source| PositionsError::Record { path: run.into(), id: record.id, source };
    let positions = record.positions::<G>().map_err(bad)?;
    let mut chosen = positions.into_iter().skip(record.opening_moves.into());
    let wanted = chosen.find(|position| position.board.empties() == sample.empties);
    Ok(wanted.and_then(TestPosition::new))
}
