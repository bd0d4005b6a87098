//! Copies games of earlier runs and of archives into a new run, which trains on them before it plays
//! its own.
//!
//! A larger net can start from the games of a smaller net instead of from random play. In this way
//! KataGo's main run grew from 6 blocks of 96 channels to 20 of 256 (Wu 2019, arXiv:1902.10565).
//! The games are copied, so that the new run does not depend on the files of the earlier runs.
//!
//! Games of archives have no policies and no values. Unfinished ones are left out, and so are those
//! that a run has set aside.

use std::path::{Path, PathBuf};

use super::games::{
    GameWriter, Games, GamesError, ReadError, read_tail, totals, training_positions,
};
use super::import::{self, Game, GameFile, ImportError};
use super::json_file::JsonFileError;
use super::lines::SHOWN;
use super::run_dir::{GAMES, RunDirError, is_run};
use super::set_aside::{self, SetAside};
use crate::game::record::GameRecord;
use crate::game::{Goal, Shape};

/// Why games cannot be copied.
#[derive(Debug, thiserror::Error)]
pub enum WarmStartError {
    /// A directory holds no run, or cannot be read.
    #[error(transparent)]
    RunDir(#[from] RunDirError),
    /// Games cannot be read or written.
    #[error(transparent)]
    Games(#[from] GamesError),
    /// The list of a run's games that are set aside cannot be read.
    #[error(transparent)]
    SetAside(#[from] JsonFileError),
    /// A file of games cannot be read.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A run or file has no readable game.
    #[error("{} has no games that can be read", path.display())]
    Empty {
        /// The run directory or file.
        path: PathBuf,
    },
    /// Games have another board or goal.
    #[error(
        "{}: its games have board {} and goal {}, the configuration has board {} and goal {}",
        path.display(),
        found.0.name(),
        found.1.name(),
        wanted.0.name(),
        wanted.1.name()
    )]
    OtherGame {
        /// The run directory or file.
        path: PathBuf,
        /// The board and goal of its games.
        found: (Shape, Goal),
        /// The board and goal of the configuration.
        wanted: (Shape, Goal),
    },
}

/// Counts of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CopiedGames {
    /// Games copied.
    pub games: u64,
    /// Their training positions.
    pub positions: u64,
    /// Records of runs that could not be read.
    pub skipped: u64,
}

/// Games of files that are not used.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LeftOut {
    /// They end early.
    pub unfinished: u64,
    /// They break the rules, or cannot be read.
    pub faulty: u64,
    /// The first of them, each with its fault.
    pub first: Vec<String>,
}

/// The newest games of some runs and files, checked but not yet copied.
///
/// ```
/// use std::path::PathBuf;
///
/// use outflank::game::{Goal, Shape};
/// use outflank::store::warm_start::WarmStart;
///
/// let folder = tempfile::tempdir()?;
/// let sources = [PathBuf::from("tests/data/run-1")];
/// let start = WarmStart::open(&sources, 100, (Shape::Square6, Goal::Most))?;
/// let copied = start.copy(folder.path())?;
/// assert!(copied.games >= 3 && copied.positions >= 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WarmStart {
    sources: Vec<Source>,
    left_out: LeftOut,
    imitates: bool,
}

impl WarmStart {
    /// Opens the newest games of `sources`, run directories or files and folders of games, with
    /// about `positions` training positions together. Each gives an equal share, or all its games if
    /// it has fewer.
    ///
    /// # Errors
    ///
    /// A source cannot be read, has no games, or the first game read has not the board and goal
    /// `wanted`.
    pub fn open(
        sources: &[PathBuf],
        positions: u64,
        wanted: (Shape, Goal),
    ) -> Result<WarmStart, WarmStartError> {
        let share = positions.div_ceil(sources.len().max(1) as u64);
        let mut start =
            WarmStart { sources: Vec::new(), left_out: LeftOut::default(), imitates: false };
        for path in sources {
            let source = match is_run(path).map_err(RunDirError::from)? {
                true => Source::of_run(path, share, wanted)?,
                false => Source::of_files(path, share, wanted, &mut start.left_out)?,
            };
            start.sources.push(source);
        }
        Ok(start)
    }

    /// Whether a move without a policy teaches the policy itself, as if it were certain.
    #[must_use]
    pub fn imitating(self, imitates: bool) -> WarmStart {
        WarmStart { imitates, ..self }
    }

    /// The games of files that are not used.
    pub fn left_out(&self) -> &LeftOut {
        &self.left_out
    }

    /// Appends the games to the folder `to`, with ids from 0. The sources are mixed evenly, each from
    /// its oldest game to its newest, so that the newest games of all come last.
    ///
    /// # Errors
    ///
    /// A source cannot be read, or the games cannot be written.
    pub fn copy(mut self, to: &Path) -> Result<CopiedGames, WarmStartError> {
        let mut writer = GameWriter::open(to)?;
        let mut copied = CopiedGames::default();
        while let Some(index) = self.furthest_behind() {
            let source = &mut self.sources[index];
            match source.games.next()? {
                Next::Game(game) => {
                    let positions = u64::from(training_positions(&game));
                    source.taken += positions;
                    let game = if self.imitates { imitated(*game) } else { *game };
                    writer.append(&GameRecord { id: copied.games, ..game })?;
                    copied.games += 1;
                    copied.positions += positions;
                }
                Next::Skipped => copied.skipped += 1,
                Next::End => {
                    self.sources.swap_remove(index);
                }
            }
        }
        writer.flush_sync()?;
        Ok(copied)
    }

    /// The index of the source with the smallest copied share; `None` after all are copied.
    fn furthest_behind(&self) -> Option<usize> {
        let shares = self.sources.iter().map(|source| source.taken as f64 / source.expected as f64);
        shares.enumerate().min_by(|one, other| one.1.total_cmp(&other.1)).map(|(index, _)| index)
    }
}

/// The game with policies: where a move has none and there is a choice, that of the move itself.
fn imitated(mut game: GameRecord) -> GameRecord {
    dispatch!(game.shape, G => {
        // The games were checked when they were read.
        let positions = game.positions::<G>().unwrap_or_default();
        for (played, position) in game.moves.iter_mut().zip(positions) {
            let legal = position.board.legal();
            if played.policy.is_empty() && legal.len() > 1 {
                let weight = |square| if square == played.square { u16::MAX } else { 0 };
                played.policy = legal.map(weight).collect();
            }
        }
    });
    game
}

/// The games of one run, or of the files of one path.
struct Source {
    games: SourceGames,
    /// Positions to copy. A few more may be copied, since whole games are.
    expected: u64,
    /// Positions copied so far.
    taken: u64,
}

enum SourceGames {
    /// The games of a run, and those of them that are set aside.
    Run(Games, SetAside),
    Files(Box<FileGames>),
}

/// What follows in a source.
enum Next {
    Game(Box<GameRecord>),
    /// A record that cannot be read.
    Skipped,
    End,
}

impl Source {
    fn of_run(run: &Path, share: u64, wanted: (Shape, Goal)) -> Result<Source, WarmStartError> {
        let dir = run.join(GAMES);
        let aside = set_aside::read(run)?;
        let is_used = |game: &GameRecord| !aside.contains(game.id);
        let Some(first) = read_tail(&dir, share)?.filter_map(Result::ok).find(is_used) else {
            return Err(WarmStartError::Empty { path: run.to_path_buf() });
        };
        let found = (first.shape, first.goal);
        if found != wanted {
            return Err(WarmStartError::OtherGame { path: run.to_path_buf(), found, wanted });
        }
        let expected = totals(&dir)?.positions.min(share).max(1);
        let games = SourceGames::Run(read_tail(&dir, share)?, aside);
        Ok(Source { games, expected, taken: 0 })
    }

    /// The games of files. They are read twice: first to check and count them.
    fn of_files(
        path: &Path,
        share: u64,
        wanted: (Shape, Goal),
        left_out: &mut LeftOut,
    ) -> Result<Source, WarmStartError> {
        let files = import::files(path, None)?;
        let mut positions = 0;
        for file in &files {
            for found in file.games(wanted.0, wanted.1)? {
                let found = found?;
                match found.whole_game().map(|game| &game.record) {
                    Ok(record) if (record.shape, record.goal) != wanted => {
                        let (path, found) = (file.path.clone(), (record.shape, record.goal));
                        return Err(WarmStartError::OtherGame { path, found, wanted });
                    }
                    Ok(record) => positions += u64::from(training_positions(record)),
                    Err((reason, is_unfinished)) => {
                        *match is_unfinished {
                            true => &mut left_out.unfinished,
                            false => &mut left_out.faulty,
                        } += 1;
                        if left_out.first.len() < SHOWN {
                            let (path, unit) = (file.path.display(), file.unit());
                            left_out
                                .first
                                .push(format!("{path}: {unit} {}: {reason}", found.number));
                        }
                    }
                }
            }
        }
        if positions == 0 {
            return Err(WarmStartError::Empty { path: path.to_path_buf() });
        }
        let games = FileGames {
            files: files.into_iter(),
            wanted,
            current: None,
            before: positions.saturating_sub(share),
        };
        let expected = positions.min(share).max(1);
        Ok(Source { games: SourceGames::Files(Box::new(games)), expected, taken: 0 })
    }
}

impl SourceGames {
    fn next(&mut self) -> Result<Next, WarmStartError> {
        match self {
            SourceGames::Files(games) => games.next(),
            SourceGames::Run(games, aside) => match games.find(|game| !is_aside(game, aside)) {
                Some(Ok(game)) => Ok(Next::Game(Box::new(game))),
                Some(Err(ReadError::Skipped(_))) => Ok(Next::Skipped),
                Some(Err(ReadError::File(error))) => Err(GamesError::from(error).into()),
                None => Ok(Next::End),
            },
        }
    }
}

/// Whether a game of a run was read and is set aside.
fn is_aside(game: &Result<GameRecord, ReadError>, aside: &SetAside) -> bool {
    game.as_ref().is_ok_and(|game| aside.contains(game.id))
}

/// The last games of some files.
struct FileGames {
    files: std::vec::IntoIter<GameFile>,
    wanted: (Shape, Goal),
    current: Option<import::Games>,
    /// Positions of the games before those that are wanted.
    before: u64,
}

impl FileGames {
    fn next(&mut self) -> Result<Next, WarmStartError> {
        loop {
            let Some(games) = &mut self.current else {
                let Some(file) = self.files.next() else { return Ok(Next::End) };
                self.current = Some(file.games(self.wanted.0, self.wanted.1)?);
                continue;
            };
            let Some(found) = games.next().transpose()? else {
                self.current = None;
                continue;
            };
            let Ok(Game { record, .. }) = found.whole_game() else { continue };
            let positions = u64::from(training_positions(record));
            // The game in which the wanted positions begin is taken whole.
            if self.before >= positions {
                self.before -= positions;
                continue;
            }
            self.before = 0;
            return Ok(Next::Game(Box::new(record.clone())));
        }
    }
}

#[cfg(test)]
#[path = "warm_start_tests.rs"]
mod tests;
