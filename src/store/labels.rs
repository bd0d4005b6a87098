//! Files of labels: boards with their scores, from which evaluators learn.
//!
//! All numbers are little-endian.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `OFLABEL1` |
//! | 1 | the board: its place in [`Shape::ALL`] |
//! | 1 | 0 if the most discs win, 1 if the fewest |
//! | 8 | the number of labels |
//! | each label | discs of the side to move, discs of the other side, the score as a signed byte |
//! | 4 | the CRC-32 of all bytes before |
//!
//! A set of discs has 8 bytes if the bits of the board fit 64, otherwise 16. A file is written
//! completely or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use super::files::{self, Action, FileError, write_atomically};
use super::limits;
use crate::game::{Bitboard, Board, Geometry, Goal, Shape};

const MAGIC: &[u8; 8] = b"OFLABEL1";
const HEADER: usize = 18;
const CHECKSUM: usize = 4;

/// The folder of the labels in a run directory.
const FOLDER: &str = "labels";

/// A board with its score.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label<G: Geometry> {
    /// The board; the side to move has discs `mine`.
    pub board: Board<G>,
    /// The score in discs for the side to move.
    pub score: i8,
}

/// Why a file of labels cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LabelsError {
    /// The operating system reported an error, or the file is too long.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not one of labels, or it is damaged.
    #[error("{} cannot be read: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        problem: Box<str>,
    },
    /// A run has no labels.
    #[error(
        "{} has no labels; allowed: the directory of a run that plays and labels games, such as one \
         of method \"endgame\"",
        run.display()
    )]
    None {
        /// The path that was given.
        run: PathBuf,
    },
}

/// The file of a run for the labels of a part of a round. Both are counted from 0.
pub fn file(run: &Path, round: u64, part: u64) -> PathBuf {
    run.join(FOLDER).join(format!("round-{:02}-part-{}.labels", round + 1, part + 1))
}

/// Removes the files that a process left half written when it died. Only the owner of the run may
/// call it.
///
/// # Errors
///
/// The folder of the labels cannot be read, or a file cannot be removed.
pub fn remove_temporary_files(run: &Path) -> Result<(), FileError> {
    let folder = run.join(FOLDER);
    if folder.is_dir() { files::remove_temporary_files(&folder) } else { Ok(()) }
}

/// The files of the newest rounds of a run, at most `rounds` of them, in the order of the rounds.
///
/// # Errors
///
/// The folder of the labels cannot be read, or has none.
pub fn newest_files(run: &Path, rounds: u64) -> Result<Vec<PathBuf>, LabelsError> {
    let none = || LabelsError::None { run: run.to_path_buf() };
    let folder = run.join(FOLDER);
    if !folder.is_dir() {
        return Err(none());
    }
    let at = |error| LabelsError::File(FileError::at(Action::Read, &folder)(error));
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).map_err(at)? {
        let path = entry.map_err(at)?.path();
        if let Some(round) = round_of(&path) {
            found.push((round, path));
        }
    }
    found.sort();
    let newest = found.last().ok_or_else(none)?.0;
    let counts = |round: u64| newest - round < rounds;
    Ok(found.into_iter().filter(|(round, _)| counts(*round)).map(|(_, path)| path).collect())
}

/// The round in the name of a file of labels.
fn round_of(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?.strip_prefix("round-")?.strip_suffix(".labels")?;
    name.split_once("-part-")?.0.parse().ok()
}

/// The bytes of a set of discs.
fn width<G: Geometry>() -> usize {
    if G::PLAYABLE.widen() >> 64 == 0 { 8 } else { 16 }
}

/// Writes a file of labels, and the folder that it is in.
///
/// # Errors
///
/// The file cannot be written. An older file at the path is then unchanged.
///
/// ```
/// use outflank::game::{Board, Goal, Square6};
/// use outflank::store::labels::{self, Label};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("one.labels");
/// // Perfect play of 6x6 loses by 4 for the first player.
/// let label = Label { board: Board::<Square6>::start(), score: -4 };
/// labels::write(&path, Goal::Most, &[label])?;
/// assert_eq!(labels::read::<Square6>(&path, Goal::Most)?, [label]);
/// assert!(labels::read::<Square6>(&path, Goal::Fewest).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write<G: Geometry>(path: &Path, goal: Goal, labels: &[Label<G>]) -> Result<(), FileError> {
    let width = width::<G>();
    let mut bytes = Vec::with_capacity(HEADER + labels.len() * (2 * width + 1) + CHECKSUM);
    bytes.extend(MAGIC);
    bytes.push(Shape::ALL.iter().position(|&shape| shape == G::SHAPE).unwrap_or_default() as u8);
    bytes.push(u8::from(goal == Goal::Fewest));
    bytes.extend((labels.len() as u64).to_le_bytes());
    for label in labels {
        bytes.extend(&label.board.mine.widen().to_le_bytes()[..width]);
        bytes.extend(&label.board.theirs.widen().to_le_bytes()[..width]);
        bytes.push(label.score as u8);
    }
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    if let Some(folder) = path.parent() {
        files::create_dir(folder)?;
    }
    write_atomically(path, &bytes)
}

/// Reads a file of labels for the board `G` and this goal.
///
/// # Errors
///
/// The file cannot be read, is damaged, or is for another board or goal.
pub fn read<G: Geometry>(path: &Path, goal: Goal) -> Result<Vec<Label<G>>, LabelsError> {
    let bytes = files::read(path, limits::LABELS)?;
    parse(&bytes, goal).map_err(|problem| LabelsError::Content {
        path: path.to_path_buf(),
        problem: problem.into(),
    })
}

fn parse<G: Geometry>(bytes: &[u8], goal: Goal) -> Result<Vec<Label<G>>, String> {
    if !bytes.starts_with(MAGIC) {
        return Err("it is not a file of labels of this program's version".into());
    }
    let length = bytes.len();
    let cut = || format!("it is cut off: it has {length} bytes");
    let (content, checksum) = bytes.split_last_chunk::<CHECKSUM>().ok_or_else(cut)?;
    if content.len() < HEADER {
        return Err(cut());
    }
    let (header, records) = content.split_at(HEADER);
    let count = u64::from_le_bytes(std::array::from_fn(|byte| header[10 + byte]));
    let size = 2 * width::<G>() + 1;
    let shape = Shape::ALL.get(usize::from(header[8])).copied();
    if shape != Some(G::SHAPE) {
        let found = shape.map_or("unknown".into(), |shape| shape.to_string());
        return Err(format!("its board is {found}; wanted: {}", G::SHAPE));
    }
    if header[9] != u8::from(goal == Goal::Fewest) {
        return Err(format!("its labels are for the other goal; wanted: {goal}"));
    }
    if count.checked_mul(size as u64) != Some(records.len() as u64) {
        return Err(format!(
            "it is cut off: it names {count} labels of {size} bytes, and has {} bytes for them",
            records.len()
        ));
    }
    if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
        return Err("it is damaged: its checksum is wrong".into());
    }
    let label = |(index, record): (usize, &[u8])| {
        let half = size / 2;
        let discs = |bytes: &[u8]| {
            let mut wide = [0; 16];
            wide[..half].copy_from_slice(bytes);
            u128::from_le_bytes(wide)
        };
        let [mine, theirs] = [discs(&record[..half]), discs(&record[half..2 * half])];
        let score = record[2 * half] as i8;
        let on_board = (mine | theirs) & !G::PLAYABLE.widen() == 0 && mine & theirs == 0;
        if !on_board || usize::from(score.unsigned_abs()) > G::SQUARES {
            return Err(format!("label {index} is no board of {} with a score", G::SHAPE));
        }
        let [mine, theirs] = [mine, theirs].map(G::Bitboard::narrow);
        Ok(Label { board: Board { mine, theirs }, score })
    };
    records.chunks_exact(size).enumerate().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::testing::random_game;
    use crate::game::{Cross92, Octagon88, Square6, Square8};

    fn labels<G: Geometry>() -> Vec<Label<G>> {
        let boards = random_game::<G>(4).into_iter();
        boards.map(|board| Label { board, score: board.discs() as i8 - 40 }).collect()
    }

    #[test]
    fn labels_come_back_as_they_were_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("one.labels");
        for (shape, goal) in [(Shape::Square8, Goal::Most), (Shape::Cross92, Goal::Fewest)] {
            dispatch!(shape, G => {
                write(&path, goal, &labels::<G>()).expect("written");
                assert_eq!(read::<G>(&path, goal).expect("read"), labels::<G>());
            });
        }
        write::<Octagon88>(&path, Goal::Most, &[]).expect("written");
        assert_eq!(read::<Octagon88>(&path, Goal::Most).expect("read"), []);
    }

    #[test]
    fn the_newest_rounds_are_found_and_a_folder_without_labels_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = folder.path();
        let error = newest_files(run, 2).expect_err("no labels").to_string();
        assert!(error.contains("has no labels; allowed: the directory of a run"), "{error}");
        for (round, part) in [(0, 0), (1, 0), (99, 1), (99, 0), (98, 0)] {
            write::<Square6>(&file(run, round, part), Goal::Most, &[]).expect("written");
        }
        fs::write(run.join(FOLDER).join("round-120-part-1.txt"), "text").expect("a file");
        let found = newest_files(run, 2).expect("files");
        assert_eq!(found, [file(run, 98, 0), file(run, 99, 0), file(run, 99, 1)]);
    }

    #[test]
    fn half_written_files_are_removed_and_no_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = folder.path();
        remove_temporary_files(run).expect("nothing to remove");
        write::<Square6>(&file(run, 0, 0), Goal::Most, &[]).expect("written");
        let half = run.join(FOLDER).join(".round-01-part-2.labels.77.tmp");
        fs::write(&half, "OFL").expect("a file");
        remove_temporary_files(run).expect("removed");
        assert!(!half.exists() && file(run, 0, 0).exists());
    }

    #[test]
    fn a_damaged_or_foreign_file_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("one.labels");
        let error = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("written");
            let error = read::<Square8>(&path, Goal::Most).expect_err("a bad file").to_string();
            assert!(error.contains("one.labels"), "the file is not named: {error}");
            error
        };
        write(&path, Goal::Most, &labels::<Square8>()).expect("written");
        let whole = std::fs::read(&path).expect("a file");
        for cut in 0..whole.len() {
            error(&whole[..cut]);
        }
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x10;
            error(&bytes);
        }
        assert!(error(b"{}").contains("not a file of labels"));
        assert!(error(&whole[..whole.len() - 9]).contains("it is cut off"));
        write(&path, Goal::Most, &labels::<Square6>()).expect("written");
        let other = std::fs::read(&path).expect("a file");
        assert!(error(&other).contains("its board is 6x6; wanted: 8x8"));
        let name = |result: Result<Vec<Label<Cross92>>, _>| match result {
            Ok(_) => String::new(),
            Err(error) => LabelsError::to_string(&error),
        };
        write(&path, Goal::Fewest, &labels::<Cross92>()).expect("written");
        assert!(name(read(&path, Goal::Most)).contains("the other goal; wanted: most"));
    }
}
