//! Games of earlier runs that a new run begins with.
//!
//! A larger net need not find out again what a smaller one has: it learns the smaller one's games
//! first and plays its own afterwards. So KataGo's main run went from 6 blocks of 96 channels to 20
//! of 256 (Wu 2019, arXiv:1902.10565). The games are copied, so that the run owns what it has
//! learnt from, whatever becomes of the runs that they were of.

use std::path::{Path, PathBuf};

use super::games::{GameWriter, Games, GamesError, ReadError, learnable, read_tail, totals};
use super::run_dir::{GAMES, RunDirError, is_run};
use crate::game::record::GameRecord;
use crate::game::{Goal, Shape};

/// Why games cannot be taken over.
#[derive(Debug, thiserror::Error)]
pub enum WarmStartError {
    /// A directory holds no run.
    #[error(transparent)]
    RunDir(#[from] RunDirError),
    /// Games cannot be read or written.
    #[error(transparent)]
    Games(#[from] GamesError),
    /// A run has no game that can be read.
    #[error("{} has no games to begin with", path.display())]
    Empty {
        /// The run directory.
        path: PathBuf,
    },
    /// A run's games are of another board, or end otherwise.
    #[error(
        "{}: its games are on {} for the {} discs, the configuration is for {} and the {}",
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
        /// Those of the configuration.
        wanted: (Shape, Goal),
    },
}

/// What was taken over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Copied {
    /// Games.
    pub games: u64,
    /// Their positions that can be learnt from.
    pub positions: u64,
    /// Records that could not be read.
    pub skipped: u64,
}

/// The newest games of some runs, looked at but not yet copied.
pub struct WarmStart {
    sources: Vec<Source>,
}

impl WarmStart {
    /// Looks for the newest games of `runs` that hold about `positions` positions together, as
    /// many from each run as it has up to an equal share.
    ///
    /// # Errors
    ///
    /// A directory is no run, or its first game is not of the board and goal `wanted`, or it has
    /// none.
    pub fn open(
        runs: &[PathBuf],
        positions: u64,
        wanted: (Shape, Goal),
    ) -> Result<WarmStart, WarmStartError> {
        let share = positions.div_ceil(runs.len().max(1) as u64);
        let sources = runs.iter().map(|run| Source::open(run, share, wanted));
        Ok(WarmStart { sources: sources.collect::<Result<_, _>>()? })
    }

    /// Appends the games to the folder `to`, numbered from 0. The runs are evenly mixed, each
    /// from its oldest game to its newest, so that the newest of all come last.
    ///
    /// # Errors
    ///
    /// A segment cannot be read, or the games cannot be written.
    pub fn copy(mut self, to: &Path) -> Result<Copied, WarmStartError> {
        let mut writer = GameWriter::open(to)?;
        let mut copied = Copied::default();
        while let Some(index) = self.furthest_behind() {
            let source = &mut self.sources[index];
            match source.games.next() {
                Some(Ok(game)) => {
                    let positions = u64::from(learnable(&game));
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

    /// The run of which the smallest share has been copied; `None` once all are.
    fn furthest_behind(&self) -> Option<usize> {
        let shares = self.sources.iter().map(|source| source.taken as f64 / source.expected as f64);
        shares.enumerate().min_by(|one, other| one.1.total_cmp(&other.1)).map(|(index, _)| index)
    }
}

/// One run's games.
struct Source {
    games: Games,
    /// Positions that are to come from here, but for the first game's, of which some may be more.
    expected: u64,
    taken: u64,
}

impl Source {
    fn open(run: &Path, share: u64, wanted: (Shape, Goal)) -> Result<Source, WarmStartError> {
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
        Ok(Source { games: read_tail(&dir, share)?, expected, taken: 0 })
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
    fn the_newest_games_of_all_runs_are_mixed_evenly_and_numbered_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let runs = ["long", "short"].map(|name| folder.path().join(name));
        a_run(&runs[0], 100..120);
        a_run(&runs[1], 200..204);
        // Ten games of each are asked for, and the second run has four.
        let copied = WarmStart::open(&runs, 600, WANTED)
            .and_then(|start| start.copy(&folder.path().join("new")))
            .expect("games");
        assert_eq!(copied, Copied { games: 14, positions: 420, skipped: 0 });
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
    fn what_has_no_fitting_games_is_named() {
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
        assert!(message.contains("8x8 for the most discs"), "{message}");
        assert!(message.contains("6x6 and the fewest"), "{message}");
    }
}
