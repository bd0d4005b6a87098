//! Files of opening books.
//!
//! All numbers are little-endian.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `OFLBOOK1` |
//! | 1 | the board: its place in [`Shape::ALL`] |
//! | 1 | 0 if the most discs win, 1 if the fewest |
//! | 8 | the number of positions |
//! | each position | discs of the side to move, discs of the other side, the leaf move |
//! | 4 | the CRC-32 of all bytes before |
//!
//! A set of discs has 8 bytes if the bits of the board fit 64, otherwise 16. A leaf move has the
//! number of its square (255: none), its score in hundredths of a disc (2 bytes, signed) and its
//! depth (255: exact; 0 if there is no move). Positions are canonical and sorted. The values are
//! not in the file; the reader computes them. A file is written completely or not at all.

use std::path::{Path, PathBuf};

use super::{Book, DISC, Entry, Leaf};
use crate::game::{Bitboard, Board, Geometry, Goal, Shape, Square};
use crate::store::files::{self, FileError, write_atomically};
use crate::store::limits;

const MAGIC: &[u8; 8] = b"OFLBOOK1";
const HEADER: usize = 18;
const CHECKSUM: usize = 4;
/// The bytes of a leaf move.
const LEAF: usize = 4;
/// The square of a position without a leaf move.
const NO_SQUARE: u8 = u8::MAX;

/// Why a book cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// The operating system reported an error, or the file is too long.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not a book, or it is damaged, or for another game.
    #[error("{} is not used as a book: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, where, and what is allowed.
        problem: Box<str>,
    },
    /// The book has too many positions for a file.
    #[error(
        "{} is not written: {found} positions are too many; allowed: {most} on this board",
        path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The number of positions.
        found: usize,
        /// The most positions that a file may have.
        most: usize,
    },
}

/// The game that a book is for, and its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// The board.
    pub shape: Shape,
    /// Which score wins.
    pub goal: Goal,
    /// The number of positions that the file claims to have.
    pub positions: u64,
}

impl Header {
    /// Reads the header of a book only.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is not a book.
    pub fn read(path: &Path) -> Result<Header, BookError> {
        let (start, _) = files::read_start(path, HEADER as u64)?;
        Header::parse(&start).map_err(|problem| at(path, problem))
    }

    fn parse(bytes: &[u8]) -> Result<Header, String> {
        if !bytes.starts_with(MAGIC) {
            let found = String::from_utf8_lossy(&bytes[..bytes.len().min(MAGIC.len())]);
            return Err(format!(
                "it begins with `{}`; a book of this version begins with `OFLBOOK1`",
                found.escape_debug()
            ));
        }
        let Some(header) = bytes.first_chunk::<HEADER>() else {
            let length = bytes.len();
            return Err(format!("it is cut off after {length} bytes, within its first {HEADER}"));
        };
        let shape = Shape::ALL.get(usize::from(header[8])).copied().ok_or_else(|| {
            let most = Shape::ALL.len() - 1;
            format!("byte 8, the board, is {}; allowed: 0 to {most}", header[8])
        })?;
        let goal = match header[9] {
            0 => Goal::Most,
            1 => Goal::Fewest,
            found => return Err(format!("byte 9, the goal, is {found}; allowed: 0 or 1")),
        };
        let positions = u64::from_le_bytes(std::array::from_fn(|byte| header[10 + byte]));
        Ok(Header { shape, goal, positions })
    }
}

fn at(path: &Path, problem: String) -> BookError {
    BookError::Content { path: path.to_path_buf(), problem: problem.into() }
}

/// The bytes of a set of discs.
fn width<G: Geometry>() -> usize {
    if G::PLAYABLE.widen() >> 64 == 0 { 8 } else { 16 }
}

/// The bytes of a position.
fn size<G: Geometry>() -> usize {
    2 * width::<G>() + LEAF
}

impl<G: Geometry> Book<G> {
    /// The most positions of a book on this board, so that its file can be read again.
    pub fn capacity() -> usize {
        (limits::BOOK as usize - HEADER - CHECKSUM) / size::<G>()
    }

    /// Writes the book. The same book always gives the same bytes.
    ///
    /// # Errors
    ///
    /// The book has more positions than [`Book::capacity`], or the file cannot be written. An older
    /// file at the path is then unchanged.
    pub fn write(&self, path: &Path) -> Result<(), BookError> {
        let (found, most) = (self.len(), Self::capacity());
        if found > most {
            return Err(BookError::TooLarge { path: path.to_path_buf(), found, most });
        }
        Ok(write_atomically(path, &self.to_bytes())?)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let width = width::<G>();
        let mut bytes = Vec::with_capacity(HEADER + self.len() * size::<G>() + CHECKSUM);
        bytes.extend(MAGIC);
        let shape = Shape::ALL.iter().position(|&shape| shape == G::SHAPE);
        bytes.push(shape.unwrap_or_default() as u8);
        bytes.push(u8::from(self.goal == Goal::Fewest));
        bytes.extend((self.len() as u64).to_le_bytes());
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_unstable_by_key(|&(board, _)| board);
        for (board, entry) in entries {
            bytes.extend(&board.mine.widen().to_le_bytes()[..width]);
            bytes.extend(&board.theirs.widen().to_le_bytes()[..width]);
            let none = Leaf { square: Square(NO_SQUARE), score: 0, depth: 0 };
            let leaf = entry.leaf.unwrap_or(none);
            bytes.push(leaf.square.0);
            bytes.extend(leaf.score.to_le_bytes());
            bytes.push(leaf.depth);
        }
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// Reads a book for the board `G` and this goal, and a fingerprint of the file: its checksum.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is damaged, or is for another board or goal.
    ///
    /// ```
    /// use outflank::game::{Board, Goal, Shape, Square6};
    /// use outflank::store::book::{Book, Header};
    ///
    /// let mut book = Book::<Square6>::new(Goal::Most);
    /// book.add(Board::start());
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("mine.book");
    /// book.write(&path)?;
    /// let (read, _fingerprint) = Book::<Square6>::read(&path, Goal::Most)?;
    /// assert!(read.contains(Board::start()));
    /// assert_eq!(Header::read(&path)?.shape, Shape::Square6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(path: &Path, goal: Goal) -> Result<(Book<G>, u32), BookError> {
        let bytes = files::read_stored(path, limits::BOOK)?;
        Book::parse(&bytes, goal).map_err(|problem| at(path, problem))
    }

    fn parse(bytes: &[u8], goal: Goal) -> Result<(Book<G>, u32), String> {
        let header = Header::parse(bytes)?;
        if header.shape != G::SHAPE {
            return Err(format!("its board is {}; wanted: {}", header.shape, G::SHAPE));
        }
        if header.goal != goal {
            return Err(format!("its goal is {}; wanted: {goal}", header.goal));
        }
        let (size, found) = (size::<G>(), bytes.len());
        let count = header.positions;
        let wanted = count.saturating_mul(size as u64).saturating_add((HEADER + CHECKSUM) as u64);
        if found as u64 != wanted {
            return Err(format!(
                "it is cut off or damaged: it has {found} bytes; {count} positions of {size} bytes \
                 have {wanted}"
            ));
        }
        let (content, stored) = bytes.split_at(found - CHECKSUM);
        let crc32 = crc32fast::hash(content);
        let stored = u32::from_le_bytes(std::array::from_fn(|byte| stored[byte]));
        if crc32 != stored {
            return Err(format!(
                "it is damaged: its last 4 bytes, the checksum, are {stored:08x}; the bytes before \
                 have {crc32:08x}"
            ));
        }
        let mut book = Book::new(goal);
        let mut last = None;
        for (index, record) in content[HEADER..].chunks_exact(size).enumerate() {
            let read = read_position::<G>(record).and_then(|(board, leaf)| {
                match last.replace(board).is_some_and(|last| last >= board) {
                    true => Err("is not above the one before it".into()),
                    false => Ok((board, leaf)),
                }
            });
            let place = || format!("position {index}, at byte {}, ", HEADER + index * size);
            let (board, leaf) = read.map_err(|problem| place() + &problem)?;
            book.entries.insert(board, Entry { leaf, ..Entry::default() });
        }
        book.revalue();
        Ok((book, crc32))
    }
}

/// A position and its leaf move; the error continues a sentence about the position.
fn read_position<G: Geometry>(record: &[u8]) -> Result<(Board<G>, Option<Leaf>), String> {
    let width = width::<G>();
    let discs = |bytes: &[u8]| {
        let mut wide = [0; 16];
        wide[..width].copy_from_slice(bytes);
        u128::from_le_bytes(wide)
    };
    let (mine, theirs) = (discs(&record[..width]), discs(&record[width..2 * width]));
    if (mine | theirs) & !G::PLAYABLE.widen() != 0 || mine & theirs != 0 {
        return Err(format!(
            "has discs {mine:x} and {theirs:x}, which are no board of {}",
            G::SHAPE
        ));
    }
    let [mine, theirs] = [mine, theirs].map(G::Bitboard::narrow);
    let board = Board { mine, theirs };
    if board.legal().is_empty() || board.canonical() != board {
        return Err("has no move, or is not the least of its images".into());
    }
    let [square, low, high, depth] = std::array::from_fn(|byte| record[2 * width + byte]);
    let score = i16::from_le_bytes([low, high]);
    if square == NO_SQUARE {
        return match (score, depth) {
            (0, 0) => Ok((board, None)),
            _ => Err(format!("has a score {score} and a depth {depth} without a move; allowed: 0")),
        };
    }
    let is_legal = usize::from(square) < G::SQUARES && board.legal().contains(Square(square));
    let most = G::SQUARES as i16 * DISC;
    if !is_legal || !(-most..=most).contains(&score) || depth == 0 {
        return Err(format!(
            "has a move to square {square} of score {score} and depth {depth}; allowed: a legal \
             move (255 for none), {} to {most}, and 1 to 255",
            -most
        ));
    }
    Ok((board, Some(Leaf { square: Square(square), score, depth })))
}
