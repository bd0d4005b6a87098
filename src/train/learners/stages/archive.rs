//! Boards of games that were played, with the final score of their game: what the stages learn from
//! instead of minimax scores.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use rand::seq::SliceRandom;

use super::boards::{Draw, Scored};
use crate::game::record::{GameRecord, RecordError};
use crate::game::{Colour, Geometry, Goal, Position, Shape};
use crate::store::games::{self, GamesError};
use crate::store::import::wthor::{GameFault, WthorError, WthorFile, WthorGame};
use crate::store::run_dir;

/// Why games cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// A file of WTHOR cannot be read.
    #[error(transparent)]
    Wthor(#[from] WthorError),
    /// Games of a run cannot be read.
    #[error(transparent)]
    Games(#[from] GamesError),
    /// A folder cannot be read.
    #[error("stages.games: cannot read {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: std::io::Error,
    },
    /// A path holds no games.
    #[error(
        "stages.games: {} holds no games; allowed: a file of WTHOR (.wtb), a folder of them, a run \
         directory, or its `games`",
        path.display()
    )]
    NoGames {
        /// The path.
        path: PathBuf,
    },
    /// Games of WTHOR are wanted for another board or goal.
    #[error("stages.games: {} is for 8x8 and goal \"most\"; the configuration says otherwise", path.display())]
    OtherGame {
        /// The file.
        path: PathBuf,
    },
    /// There are too few boards for a stage.
    #[error(
        "stages.games: {found} boards with {discs} discs; a stage needs at least {least}; {games}"
    )]
    TooFew {
        /// The games, and those that are left out.
        games: String,
        /// Boards that there are.
        found: usize,
        /// The discs of the stage.
        discs: u32,
        /// The fewest boards of a stage.
        least: usize,
    },
}

/// The fewest boards of a stage.
const LEAST_BOARDS: usize = 10;

/// Games that are not used for one reason.
#[derive(Clone, Default, Debug)]
struct LeftOut {
    count: u64,
    /// The first of them, with its fault.
    first: String,
}

impl LeftOut {
    fn add(&mut self, game: impl FnOnce() -> String) {
        if self.count == 0 {
            self.first = game();
        }
        self.count += 1;
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            0 => f.write_str("0"),
            count => write!(f, "{count} (first: {})", self.first),
        }
    }
}

/// How many games were read, and how many of them are not used.
#[derive(Clone, Default, Debug)]
struct Counts {
    games: u64,
    /// They end before the game is over, or by resignation.
    unfinished: LeftOut,
    /// They have an illegal move or another fault.
    illegal: LeftOut,
    /// An earlier file has them too.
    repeated: LeftOut,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { games, unfinished, illegal, repeated } = self;
        write!(
            f,
            "{games} games; left out: unfinished {unfinished}, illegal {illegal}, repeated {repeated}"
        )
    }
}

/// The boards of all stages.
pub(super) struct Archive<G: Geometry> {
    /// For each stage, its number of discs and its boards.
    stages: Vec<(u32, Vec<Scored<G>>)>,
    goal: Goal,
    counts: Counts,
    /// The number of the file that had a game first.
    seen: HashMap<WthorGame, usize>,
    files: usize,
}

impl<G: Geometry> Archive<G> {
    /// Reads the games of all paths, for stages with these numbers of discs. Games that are not used
    /// are counted, and each is named in the log.
    ///
    /// # Errors
    ///
    /// A path holds no games, a file cannot be read, or a stage has too few boards.
    pub fn read(paths: &[String], discs: &[u32], goal: Goal) -> Result<Self, ArchiveError> {
        let stages = discs.iter().map(|&discs| (discs, Vec::new())).collect();
        let (counts, seen) = (Counts::default(), HashMap::new());
        let mut archive = Archive { stages, goal, counts, seen, files: 0 };
        for path in paths {
            archive.add_path(Path::new(path))?;
        }
        archive.seen = HashMap::new();
        let least = LEAST_BOARDS;
        match archive.stages.iter().find(|(_, boards)| boards.len() < least) {
            Some(&(discs, ref boards)) => {
                let (found, games) = (boards.len(), archive.summary());
                Err(ArchiveError::TooFew { games, found, discs, least })
            }
            None => Ok(archive),
        }
    }

    /// How many games there are, and those that are left out, in words.
    pub fn summary(&self) -> String {
        self.counts.to_string()
    }

    /// The boards of a draw, each of another game as long as there are enough.
    pub fn scored(&self, draw: Draw) -> Vec<Scored<G>> {
        let stage = self.stages.iter().find(|(discs, _)| *discs == draw.discs);
        let boards = stage.map_or(&[][..], |(_, boards)| boards);
        let mut order: Vec<usize> = (0..boards.len()).collect();
        let count = boards.len().min(draw.count as usize);
        let (chosen, _) = order.partial_shuffle(&mut draw.stream(0), count);
        chosen.iter().map(|&index| boards[index]).collect()
    }

    fn add_path(&mut self, path: &Path) -> Result<(), ArchiveError> {
        let games = path.join(run_dir::GAMES);
        if is_wthor(path) {
            self.add_wthor(path)
        } else if games.is_dir() {
            self.add_run(&games, path)
        } else {
            let folder = |source| ArchiveError::Folder { path: path.to_path_buf(), source };
            let entries = fs::read_dir(path).map_err(folder)?;
            let entries: Result<Vec<_>, _> =
                entries.map(|entry| entry.map(|it| it.path())).collect();
            let mut files = entries.map_err(folder)?;
            files.retain(|file| is_wthor(file));
            files.sort();
            if files.is_empty() {
                return self.add_run(path, path);
            }
            files.iter().try_for_each(|file| self.add_wthor(file))
        }
    }

    fn add_wthor(&mut self, path: &Path) -> Result<(), ArchiveError> {
        if G::SHAPE != Shape::Square8 || self.goal != Goal::Most {
            return Err(ArchiveError::OtherGame { path: path.to_path_buf() });
        }
        let file = WthorFile::read(path)?;
        let number = self.files;
        self.files += 1;
        for (index, game) in file.games.iter().enumerate() {
            self.counts.games += 1;
            if *self.seen.entry(*game).or_insert(number) != number {
                self.counts.repeated.add(|| format!("{} game {}", path.display(), index + 1));
                continue;
            }
            match game.replay::<G>() {
                Ok(replayed) => {
                    let score = replayed.score;
                    replayed.positions.iter().for_each(|&at| self.add_board(at, score));
                }
                Err(fault) => self.leave_out(path, index, fault.to_string(), is_unfinished(fault)),
            }
        }
        Ok(())
    }

    fn add_run(&mut self, dir: &Path, path: &Path) -> Result<(), ArchiveError> {
        let before = self.counts.games;
        for (index, record) in games::read_all(dir)?.enumerate() {
            self.counts.games += 1;
            match record {
                Ok(record) => match self.positions(&record) {
                    Ok(positions) => positions
                        .iter()
                        .for_each(|&position| self.add_board(position, record.score.into())),
                    Err((fault, unfinished)) => self.leave_out(dir, index, fault, unfinished),
                },
                Err(error) => self.leave_out(dir, index, error.to_string(), false),
            }
        }
        if self.counts.games == before {
            return Err(ArchiveError::NoGames { path: path.to_path_buf() });
        }
        Ok(())
    }

    /// The positions of a game, or why it is not used and whether it is unfinished.
    fn positions(&self, record: &GameRecord) -> Result<Vec<Position<G>>, (String, bool)> {
        if record.resigned {
            return Err(("a side resigned".into(), true));
        }
        if record.goal != self.goal {
            return Err((format!("the goal is {}", record.goal), false));
        }
        let fault = |error: RecordError| (error.to_string(), error == RecordError::Unfinished);
        record.positions().map_err(fault)
    }

    /// Adds a position of a game with this final score for black.
    fn add_board(&mut self, position: Position<G>, score: i32) {
        let Position { board, side } = position;
        let discs = board.discs();
        let stage = self.stages.iter_mut().find(|(of_stage, _)| *of_stage == discs);
        if let Some((_, boards)) = stage.filter(|_| !board.legal().is_empty()) {
            let score = if side == Colour::Black { score } else { -score };
            boards.push(Scored { board, score: score as f32 });
        }
    }

    fn leave_out(&mut self, path: &Path, index: usize, fault: String, is_unfinished: bool) {
        let game = format!("{} game {}: {fault}", path.display(), index + 1);
        tracing::debug!("left out: {game}");
        let Counts { unfinished, illegal, .. } = &mut self.counts;
        if is_unfinished { unfinished } else { illegal }.add(|| game);
    }
}

fn is_unfinished(fault: GameFault) -> bool {
    matches!(fault, GameFault::Unfinished { .. })
}

/// Whether a path has the ending of WTHOR games.
fn is_wthor(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("wtb"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Square6, Square8};
    use crate::store::import::wthor::tests::{file, whole_game};

    /// Writes files of these games, and reads them for two stages.
    fn read(files: &[(&str, &[[u8; 68]])]) -> Result<Archive<Square8>, ArchiveError> {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, games) in files {
            fs::write(folder.path().join(name), file(2001, games)).expect("a file");
        }
        Archive::read(&[folder.path().display().to_string()], &[40, 10], Goal::Most)
    }

    #[test]
    fn boards_have_the_final_score_of_their_game() {
        let games = [whole_game(false), whole_game(true)];
        let archive = read(&[("a.wtb", games.map(|game| [game; 8]).as_flattened())]);
        let archive = archive.expect("games");
        let draw = |discs, count| Draw { seed: 1, unit: 0, discs, count };
        let bytes = file(2001, &games);
        let replayed = WthorFile::from_bytes(&bytes, Path::new("a.wtb")).expect("games").games;
        for discs in [40, 10] {
            let boards = archive.scored(draw(discs, 100));
            assert_eq!(boards.len(), 16);
            for game in &replayed {
                let game = game.replay::<Square8>().expect("a whole game");
                let mut positions = game.positions.iter();
                let at = positions.find(|at| at.board.discs() == discs).expect("a position");
                let sign = if at.side == Colour::Black { 1 } else { -1 };
                let wanted = Scored { board: at.board, score: (sign * game.score) as f32 };
                assert_eq!(boards.iter().filter(|&&found| found == wanted).count(), 8);
            }
        }
        assert_eq!(archive.scored(draw(40, 5)).len(), 5);
    }

    #[test]
    fn games_that_are_left_out_are_counted_and_the_first_is_named() {
        let whole = whole_game(false);
        let (mut unfinished, mut illegal) = (whole, whole);
        unfinished[8 + 20..].fill(0);
        illegal[8 + 20] = 11;
        let games = [[whole; 12].as_slice(), &[illegal, unfinished]].concat();
        let archive = read(&[("a.wtb", &games), ("b.wtb", &[whole, whole])]).expect("games");
        let text = archive.summary();
        for part in [
            "16 games; left out: unfinished 1 (first: ",
            "a.wtb game 14: the game ends after move 20, with moves left)",
            "a.wtb game 13: move 21, byte 11, is not legal)",
            "repeated 2 (first: ",
            "b.wtb game 1)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(archive.scored(Draw { seed: 1, unit: 0, discs: 40, count: 100 }).len(), 12);
    }

    #[test]
    fn games_of_a_run_are_read() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run-1");
        let paths = [dir.display().to_string()];
        let archive = Archive::<Square6>::read(&paths, &[20], Goal::Most).expect("games");
        assert!(archive.summary().starts_with("24 games; left out: unfinished "));
        assert!(archive.stages[0].1.len() >= 10);
        let error = Archive::<Square8>::read(&paths, &[20], Goal::Most).err().expect("no games");
        let text = error.to_string();
        assert!(text.contains("illegal 24 (first: ") && text.contains("expected 8x8"), "{text}");
    }
}
