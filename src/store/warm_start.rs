//! Copies games of earlier runs into a new run, which trains on them before it plays its own.
//!
//! A larger net can start from the games of a smaller net instead of from random play. In this way
//! KataGo's main run grew from 6 blocks of 96 channels to 20 of 256 (Wu 2019, arXiv:1902.10565).
//! The games are copied, so that the new run does not depend on the files of the earlier runs.

use std::path::{Path, PathBuf};

use super::games::{
    GameWriter, Games, GamesError, ReadError, read_tail, totals, training_positions,
};
use super::run_dir::{GAMES, RunDirError, is_run};
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
    /// A run has no readable game.
    #[error("{} has no games that can be read", path.display())]
    Empty {
        /// The run directory.
        path: PathBuf,
    },
    /// A run's games have another board or goal.
    #[error(
        "{}: its games have board {} and goal {}, the configuration has board {} and goal {}",
        path.display(),
        found.0.name(),
        found.1.name(),
        wanted.0.name(),
        wanted.1.name()
    )]
    OtherGame {
        /// The run directory.
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
    /// Records that could not be read.
    pub skipped: u64,
}

/// The newest games of some runs, checked but not yet copied.
pub struct WarmStart {
    sources: Vec<SourceRun>,
}

impl WarmStart {
    /// Opens the newest games of `runs`, with about `positions` training positions together. Each
    /// run gives an equal share, or all its games if it has fewer.
    ///
    /// # Errors
    ///
    /// A directory is not a run, has no games, or its first game read has not the board and goal
    /// `wanted`.
    pub fn open(
        runs: &[PathBuf],
        positions: u64,
        wanted: (Shape, Goal),
    ) -> Result<WarmStart, WarmStartError> {
        let share = positions.div_ceil(runs.len().max(1) as u64);
        let sources = runs.iter().map(|run| SourceRun::open(run, share, wanted));
        Ok(WarmStart { sources: sources.collect::<Result<_, _>>()? })
    }

    /// Appends the games to the folder `to`, with ids from 0. The runs are mixed evenly, each from
    /// its oldest game to its newest, so that the newest games of all runs come last.
    ///
    /// # Errors
    ///
    /// A segment cannot be read, or the games cannot be written.
    pub fn copy(mut self, to: &Path) -> Result<CopiedGames, WarmStartError> {
        let mut writer = GameWriter::open(to)?;
        let mut copied = CopiedGames::default();
        while let Some(index) = self.furthest_behind() {
            let source = &mut self.sources[index];
            match source.games.next() {
                Some(Ok(game)) => {
                    let positions = u64::from(training_positions(&game));
                    source.taken += positions;
                    writer.append(&GameRecord { id: copied.games, ..game })?;
                    copied.games += 1;
                    copied.positions += positions;
                }
                Some(Err(ReadError::Skipped(_))) => copied.skipped += 1,
                Some(Err(ReadError::File(error))) => return Err(GamesError::from(error).into()),
                None => {
                    self.sources.swap_remove(index);
                }
            }
        }
        writer.flush_sync()?;
        Ok(copied)
    }

    /// The index of the run with the smallest copied share; `None` after all runs are copied.
    fn furthest_behind(&self) -> Option<usize> {
        let shares = self.sources.iter().map(|source| source.taken as f64 / source.expected as f64);
        shares.enumerate().min_by(|one, other| one.1.total_cmp(&other.1)).map(|(index, _)| index)
    }
}

/// The games of one run.
struct SourceRun {
    games: Games,
    /// Positions to copy. A few more may be copied, since whole games are.
    expected: u64,
    /// Positions copied so far.
    taken: u64,
}

impl SourceRun {
    fn open(run: &Path, share: u64, wanted: (Shape, Goal)) -> Result<SourceRun, WarmStartError> {
        if !is_run(run).map_err(RunDirError::from)? {
            return Err(RunDirError::NoRun { path: run.to_path_buf() }.into());
        }
        let dir = run.join(GAMES);
        let Some(first) = read_tail(&dir, share)?.find_map(Result::ok) else {
            return Err(WarmStartError::Empty { path: run.to_path_buf() });
        };
        let found = (first.shape, first.goal);
        if found != wanted {
            return Err(WarmStartError::OtherGame { path: run.to_path_buf(), found, wanted });
        }
        let expected = totals(&dir)?.positions.min(share).max(1);
        Ok(SourceRun { games: read_tail(&dir, share)?, expected, taken: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::super::games::tests::a_game;
    use super::*;
    use crate::store::games::read_all;
    use crate::store::run_dir::RunDir;

    const WANTED: (Shape, Goal) = (Shape::Square8, Goal::Most);

    /// A run whose games have these net versions, 30 positions each.
    fn a_run(path: &Path, versions: impl Iterator<Item = u32>) {
        let run = RunDir::create(path, "", 1).expect("a run");
        let mut writer = GameWriter::open(&run.games()).expect("a folder of games");
        for (id, net_version) in versions.enumerate() {
            writer.append(&GameRecord { net_version, ..a_game(id as u64, 30) }).expect("a game");
        }
    }

    #[test]
    fn the_newest_games_of_all_runs_are_mixed_evenly_with_new_ids() {
        let folder = tempfile::tempdir().expect("a folder");
        let runs = ["long", "short"].map(|name| folder.path().join(name));
        a_run(&runs[0], 100..120);
        a_run(&runs[1], 200..204);
        // Ten games of each are asked for, and the second run has four.
        let copied = WarmStart::open(&runs, 600, WANTED)
            .and_then(|start| start.copy(&folder.path().join("new")))
            .expect("games");
        assert_eq!(copied, CopiedGames { games: 14, positions: 420, skipped: 0 });
        let games: Vec<_> = read_all(&folder.path().join("new"))
            .expect("the folder")
            .map(|game| game.expect("a game"))
            .collect();
        assert!(games.iter().map(|game| game.id).eq(0..14));
        let versions: Vec<u32> = games.iter().map(|game| game.net_version).collect();
        let of = |run: u32| versions.iter().copied().filter(move |version| version / 100 == run);
        assert!(of(1).eq(110..120) && of(2).eq(200..204), "{versions:?}");
        for (half, expected) in [(&versions[..7], 5), (&versions[7..], 5)] {
            let long = half.iter().filter(|version| **version < 200).count();
            assert_eq!(long, expected, "{versions:?}");
        }
    }

    #[test]
    fn runs_without_suitable_games_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name| folder.path().join(name);
        a_run(&path("played"), 0..1);
        a_run(&path("empty"), 0..0);
        let refused = |name, wanted| match WarmStart::open(&[path("played"), path(name)], 9, wanted)
        {
            Ok(_) => panic!("{name} was taken"),
            Err(error) => error.to_string(),
        };
        assert!(refused("nothing", WANTED).contains("nothing holds no run"));
        assert!(refused("empty", WANTED).contains("empty has no games"));
        let message = refused("played", (Shape::Square6, Goal::Fewest));
        assert!(message.contains("its games have board 8x8 and goal most"), "{message}");
        assert!(message.contains("configuration has board 6x6 and goal fewest"), "{message}");
    }
}
