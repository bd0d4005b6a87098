//! Boards of games that were played, with the final score of their game: what the stages learn from
//! instead of minimax scores.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use rand::seq::SliceRandom;

use super::boards::{Draw, Scored};
use crate::game::{Colour, Geometry, Goal, Position, Shape, Square};
use crate::store::import::{self, Ending, Format, Found, GameFile, ImportError};

/// Why games cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Games cannot be read.
    #[error("stages.games")]
    Import(#[from] ImportError),
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

/// Why a game is not used.
#[derive(Clone, Copy, Debug)]
enum Reason {
    /// It ends before the game is over, or by resignation.
    Unfinished,
    /// It has an illegal move or another fault.
    Illegal,
    /// An earlier file has it too.
    Repeated,
}

/// How many games were read, and how many of them are not used.
#[derive(Clone, Default, Debug)]
struct Counts {
    games: u64,
    /// For each reason the number of games, and the first of them with its fault.
    left_out: [(u64, String); 3],
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} games; left out", self.games)?;
        let names = [": unfinished", ", illegal", ", repeated"];
        names.iter().zip(&self.left_out).try_for_each(|(name, (count, first))| match count {
            0 => write!(f, "{name} 0"),
            count => write!(f, "{name} {count} (first: {first})"),
        })
    }
}

/// What a game of several files has in all of them: its start, its moves, its players and its event.
type Identity = ([u128; 2], Vec<Square>, [Option<Box<str>>; 3]);

/// The boards of all stages.
pub(super) struct Archive<G: Geometry> {
    /// For each stage, its number of discs and its boards.
    stages: Vec<(u32, Vec<Scored<G>>)>,
    goal: Goal,
    counts: Counts,
    /// The number of the file that had a game first.
    seen: HashMap<Identity, usize>,
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
        let before = self.counts.games;
        for file in import::files(path, None)? {
            self.files += 1;
            let is_for_others = (G::SHAPE, self.goal) != (Shape::Square8, Goal::Most);
            if file.format == Some(Format::Wthor) && is_for_others {
                return Err(ArchiveError::OtherGame { path: file.path });
            }
            for found in file.games(G::SHAPE, self.goal)? {
                let found = found?;
                self.counts.games += 1;
                let Err((reason, fault)) = self.add_game(&file, &found) else { continue };
                let (path, unit, number) = (file.path.display(), file.unit(), found.number);
                let game = format!("{path} {unit} {number}: {fault}");
                tracing::debug!("left out: {game}");
                let (count, first) = &mut self.counts.left_out[reason as usize];
                *count += 1;
                if *count == 1 {
                    *first = game;
                }
            }
        }
        if self.counts.games == before {
            return Err(ImportError::NoGames { path: path.to_path_buf() }.into());
        }
        Ok(())
    }

    /// Adds the positions of a game, or says why it is not used.
    fn add_game(&mut self, file: &GameFile, found: &Found) -> Result<(), (Reason, String)> {
        let game = found.whole_game().map_err(|(fault, unfinished)| match unfinished {
            true => (Reason::Unfinished, fault),
            false => (Reason::Illegal, fault),
        })?;
        let record = &game.record;
        if game.ending == Ending::Resigned {
            return Err((Reason::Unfinished, "a side resigned".into()));
        }
        if record.goal != self.goal {
            return Err((Reason::Illegal, format!("the goal is {}", record.goal)));
        }
        // A run has no game twice.
        if file.format.is_some() {
            let names = [&game.black, &game.white, &game.event].map(Clone::clone);
            let start = [record.start_mine, record.start_theirs];
            let identity = (start, game.squares().collect(), names);
            if *self.seen.entry(identity).or_insert(self.files) != self.files {
                return Err((Reason::Repeated, "an earlier file has it".into()));
            }
        }
        let positions = record.positions().map_err(|it| (Reason::Illegal, it.to_string()))?;
        positions.iter().for_each(|&position| self.add_board(position, record.score.into()));
        Ok(())
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
}

#[cfg(test)]
mod tests {
    use std::fs;

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

    /// The positions of [`whole_game`] and its score.
    fn replayed(chooses_last: bool) -> (Vec<Position<Square8>>, i32) {
        let mut positions = vec![Position::start()];
        loop {
            let position = positions[positions.len() - 1];
            let legal = position.board.legal();
            let chosen = if chooses_last { legal.last() } else { legal.into_iter().next() };
            let Some(square) = chosen else {
                return (positions, position.black_view().difference());
            };
            positions.push(position.play(square).expect("a legal move").pass_if_forced());
        }
    }

    #[test]
    fn boards_have_the_final_score_of_their_game() {
        let games = [whole_game(false), whole_game(true)];
        let archive = read(&[("a.wtb", games.map(|game| [game; 8]).as_flattened())]);
        let archive = archive.expect("games");
        let draw = |discs, count| Draw { seed: 1, unit: 0, discs, count };
        for discs in [40, 10] {
            let boards = archive.scored(draw(discs, 100));
            assert_eq!(boards.len(), 16);
            for last in [false, true] {
                let (positions, score) = replayed(last);
                let mut positions = positions.iter();
                let at = positions.find(|at| at.board.discs() == discs).expect("a position");
                let sign = if at.side == Colour::Black { 1 } else { -1 };
                let wanted = Scored { board: at.board, score: (sign * score) as f32 };
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
            "a.wtb game 14: unfinished after move 20)",
            "a.wtb game 13: move 21, byte 11, is not legal)",
            "repeated 2 (first: ",
            "b.wtb game 1: an earlier file has it)",
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
