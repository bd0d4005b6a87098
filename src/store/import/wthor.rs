//! Reads games of the WTHOR archive (Fédération Française d'Othello): files with the ending `.wtb`.
//!
//! A file has a header of 16 bytes and a record of 68 bytes for each game; numbers are
//! little-endian.
//!
//! | header | content | record | content |
//! |---|---|---|---|
//! | 0-3 | century, year, month and day of the file | 0-1 | number of the tournament |
//! | 4-7 | games | 2-3, 4-5 | numbers of black and of white |
//! | 8-9 | 0 (lists of names have their length here) | 6 | black's discs at the end |
//! | 10-11 | year of the games | 7 | black's discs by perfect play |
//! | 12 | board: 0 or 8 (8x8), 10 (10x10) | 8-67 | moves: 10 * row + column, from 11 to 88; 0 at the end |
//! | 13 | 0, or 1 for solitaire problems | | |
//! | 14 | empty squares of the perfect play | | |
//!
//! Passes are not written. Empty squares count for the winner. The archive has games that end early
//! and, in theory, illegal moves. So a game's moves are replayed by the rules, and a game that does not fit them is an error of that game only.

use std::path::{Path, PathBuf};

use super::names::{Kind, Names};
use super::{Ending, Fault, Found, Game, Games, ImportError};
use crate::game::record::{GameRecord, MoveRecord, Source};
use crate::game::{Goal, Position, Square, Square8};
use crate::store::files::{self, FileError};
use crate::store::limits;

const HEADER_BYTES: usize = 16;
const RECORD_BYTES: usize = 68;
/// What a byte that is no square is read as. It is never legal.
const NO_SQUARE: Square = Square(u8::MAX);

/// Why a file is not read as games.
#[derive(Debug, thiserror::Error)]
pub enum WthorError {
    /// The operating system reported an error, or the file is too long.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is too short for a header.
    #[error("{} has {found} bytes; a WTHOR file has at least {HEADER_BYTES}", path.display())]
    NoHeader {
        /// The file.
        path: PathBuf,
        /// Its length.
        found: usize,
    },
    /// A field of the header is not that of games on 8x8.
    #[error(
        "{} holds no WTHOR games for 8x8: byte {offset}, {field}, is {found}; allowed: {allowed}",
        path.display()
    )]
    Header {
        /// The file.
        path: PathBuf,
        /// The offset of the field, in bytes.
        offset: usize,
        /// The meaning of the field.
        field: &'static str,
        /// Its value.
        found: u32,
        /// The values that it may have.
        allowed: &'static str,
    },
    /// The file has another length than its header says.
    #[error(
        "{} is cut off or no WTHOR file: it has {found} bytes; {games} games have {wanted}",
        path.display()
    )]
    Length {
        /// The file.
        path: PathBuf,
        /// Its length.
        found: usize,
        /// The games of the header.
        games: u32,
        /// The length that this number of games has.
        wanted: u64,
    },
}

/// Why a game is not used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GameFault {
    /// A byte is not a square of 8x8.
    #[error("move {number} is byte {found}; allowed: 11 to 88 without 0 and 9 at the end, or 0")]
    NoSquare {
        /// The move, counted from 1.
        number: usize,
        /// The byte.
        found: u8,
    },
    /// A move is not legal.
    #[error("move {number}, byte {found}, is not legal")]
    Illegal {
        /// The move, counted from 1.
        number: usize,
        /// The byte.
        found: u8,
    },
    /// It has more discs than squares.
    #[error("its result is {found} black discs; allowed: 0 to 64")]
    Discs {
        /// The discs.
        found: u8,
    },
}

/// A file of games.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WthorFile {
    /// The year of the games.
    pub year: u16,
    /// The games in the order of the file.
    pub games: Vec<WthorGame>,
}

/// The record of a game, not yet checked by the rules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WthorGame {
    record: [u8; RECORD_BYTES],
}

/// The games of a file, with the names of the lists beside it.
pub(super) fn games(path: &Path) -> Result<Games, ImportError> {
    let file = WthorFile::read(path)?;
    let players = Names::beside(path, Kind::Players)?;
    let tournaments = Names::beside(path, Kind::Tournaments)?;
    let year = (file.year != 0).then(|| file.year.to_string().into());
    let games = file.games.into_iter().zip(1..).map(move |(game, number)| {
        let [tournament, black, white] = game.numbers();
        let game = game.read(number).map(|game| Game {
            black: players.get(black),
            white: players.get(white),
            date: year.clone(),
            event: tournaments.get(tournament),
            ..game
        });
        Ok(Found { number, game: game.map_err(Fault::from) })
    });
    Ok(Box::new(games))
}

impl WthorFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is cut off, or holds no games for 8x8.
    pub fn read(path: &Path) -> Result<WthorFile, WthorError> {
        WthorFile::from_bytes(&files::read(path, limits::ARCHIVE)?, path)
    }

    /// Reads the bytes of a file; `path` is for the error only.
    ///
    /// # Errors
    ///
    /// The bytes are cut off, or are no games for 8x8.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<WthorFile, WthorError> {
        let path = || path.to_path_buf();
        let Some((header, records)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
            return Err(WthorError::NoHeader { path: path(), found: bytes.len() });
        };
        let games = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
        let [names, year] =
            [8, 10].map(|offset| u16::from_le_bytes([header[offset], header[offset + 1]]));
        let fields: [(usize, &str, u32, &[u32], &str); 3] = [
            (8, "the number of names", names.into(), &[0], "0, for games"),
            (12, "the size of the board", header[12].into(), &[0, 8], "0 or 8"),
            (13, "the kind of the games", header[13].into(), &[0], "0, for whole games"),
        ];
        for (offset, field, found, values, allowed) in fields {
            if !values.contains(&found) {
                return Err(WthorError::Header { path: path(), offset, field, found, allowed });
            }
        }
        let wanted = HEADER_BYTES as u64 + u64::from(games) * RECORD_BYTES as u64;
        if bytes.len() as u64 != wanted {
            return Err(WthorError::Length { path: path(), found: bytes.len(), games, wanted });
        }
        let (records, _) = records.as_chunks::<RECORD_BYTES>();
        Ok(WthorFile { year, games: records.iter().map(|&record| WthorGame { record }).collect() })
    }
}

impl WthorGame {
    /// The numbers of the tournament, of black and of white in the lists of names.
    pub fn numbers(&self) -> [u16; 3] {
        [0, 2, 4].map(|at| u16::from_le_bytes([self.record[at], self.record[at + 1]]))
    }

    /// The game, replayed by the rules. One that is not finished is no fault.
    fn read(&self, id: u64) -> Result<Game, GameFault> {
        let discs = self.recorded_discs();
        if discs > 64 {
            return Err(GameFault::Discs { found: discs });
        }
        let mut position = Position::<Square8>::start();
        let begin = GameRecord::begin(position, Goal::Most, id);
        let mut record = GameRecord { source: Source::Import, ..begin };
        for ((square, &found), number) in self.moves().zip(&self.record[8..]).zip(1..) {
            if square == NO_SQUARE {
                return Err(GameFault::NoSquare { number, found });
            }
            let next = position.play(square).ok_or(GameFault::Illegal { number, found })?;
            position = next.pass_if_forced();
            record.moves.push(MoveRecord::of(square));
        }
        let mut ending = Ending::Unfinished;
        if position.board.is_over() {
            record.score = position.black_view().difference() as i16;
            ending = Ending::Finished;
        }
        Ok(Game::plain(record, ending).with_stated(Some(2 * i16::from(discs) - 64)))
    }

    /// Black's discs at the end, as the archive has them: empty squares count for the winner.
    pub fn recorded_discs(&self) -> u8 {
        self.record[6]
    }

    /// The moves without passes, not yet checked: a byte that is no square becomes `NO_SQUARE`.
    pub fn moves(&self) -> impl Iterator<Item = Square> {
        let square = |&byte: &u8| match (byte / 10, byte % 10) {
            (row @ 1..=8, column @ 1..=8) => Square(8 * (row - 1) + column - 1),
            _ => NO_SQUARE,
        };
        self.record[8..].iter().take_while(|&&byte| byte != 0).map(square)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::game::{Square8, SquareSet};

    /// The record of a game with these moves.
    fn record(moves: &[u8]) -> [u8; RECORD_BYTES] {
        let mut record = [0; RECORD_BYTES];
        record[8..8 + moves.len()].copy_from_slice(moves);
        record
    }

    /// A file of these records.
    pub(crate) fn file(year: u16, records: &[[u8; RECORD_BYTES]]) -> Vec<u8> {
        let mut bytes = vec![20, 26, 1, 1];
        bytes.extend((records.len() as u32).to_le_bytes());
        bytes.extend([0, 0]);
        bytes.extend(year.to_le_bytes());
        bytes.extend([8, 0, 22, 0]);
        bytes.extend(records.as_flattened());
        bytes
    }

    /// The record of a whole game, in which each side plays its first, or its last, legal move.
    pub(crate) fn whole_game(chooses_last: bool) -> [u8; RECORD_BYTES] {
        let mut position = Position::<Square8>::start();
        let mut moves = Vec::new();
        loop {
            let legal: SquareSet<Square8> = position.board.legal();
            let chosen = if chooses_last { legal.last() } else { legal.into_iter().next() };
            let Some(square) = chosen else { break };
            moves.push(10 * (square.0 / 8 + 1) + square.0 % 8 + 1);
            position = position.play(square).expect("a legal move").pass_if_forced();
        }
        let mut record = record(&moves);
        record[6] = (32 + position.black_view().difference() / 2) as u8;
        record
    }

    fn read(bytes: &[u8]) -> Result<WthorFile, String> {
        WthorFile::from_bytes(bytes, Path::new("WTH_2001.wtb")).map_err(|error| error.to_string())
    }

    #[test]
    fn whole_games_are_replayed() {
        let found = read(&file(2001, &[whole_game(false), whole_game(true)])).expect("a file");
        assert_eq!((found.year, found.games.len()), (2001, 2));
        for game in &found.games {
            let replayed = game.read(1).expect("a whole game");
            assert_eq!((replayed.ending, replayed.stated), (Ending::Finished, None));
            let positions = replayed.record.positions::<Square8>().expect("legal moves");
            let (last, moves) = (positions.last().expect("moves"), positions.len());
            assert_eq!(last.board.discs() as usize, moves + 3);
            assert_eq!(i16::from(game.recorded_discs()), 32 + replayed.record.score / 2);
        }
    }

    #[test]
    fn a_fault_of_a_game_is_named_with_its_move() {
        let read = |moves: &[u8]| WthorGame { record: record(moves) }.read(1);
        let game = |moves: &[u8]| read(moves).expect_err("a fault");
        // Black may play d3 (34), c4 (43), f5 (56) or e6 (65).
        assert_eq!(game(&[34, 99]), GameFault::NoSquare { number: 2, found: 99 });
        assert_eq!(game(&[34, 34]), GameFault::Illegal { number: 2, found: 34 });
        assert_eq!(game(&[11]), GameFault::Illegal { number: 1, found: 11 });
        for moves in [&[34, 33][..], &[]] {
            let game = read(moves).expect("an unfinished game");
            assert_eq!((game.ending, game.squares().count()), (Ending::Unfinished, moves.len()));
        }
        let mut impossible = WthorGame { record: record(&[34]) };
        impossible.record[6] = 99;
        let error = impossible.read(1).expect_err("99 discs").to_string();
        assert_eq!(error, "its result is 99 black discs; allowed: 0 to 64");
        let messages = [game(&[34, 99]), game(&[11])].map(|it| it.to_string());
        assert!(messages[0].starts_with("move 2 is byte 99"), "{messages:?}");
        assert_eq!(messages[1], "move 1, byte 11, is not legal");
    }

    #[test]
    fn cut_off_and_foreign_files_are_named_with_place_and_allowed_values() {
        let whole = file(2001, &[whole_game(false), whole_game(true)]);
        for length in 0..whole.len() {
            let error = read(&whole[..length]).expect_err("a part of a file");
            assert!(error.starts_with("WTH_2001.wtb "), "{error}");
        }
        assert_eq!(
            read(&whole[..100]).expect_err("a part"),
            "WTH_2001.wtb is cut off or no WTHOR file: it has 100 bytes; 2 games have 152"
        );
        let with = |offset: usize, byte: u8| {
            let mut bytes = whole.clone();
            bytes[offset] = byte;
            read(&bytes).expect_err("another file")
        };
        assert_eq!(
            with(12, 10),
            "WTH_2001.wtb holds no WTHOR games for 8x8: byte 12, the size of the board, is 10; \
             allowed: 0 or 8"
        );
        // A list of players, and a file of problems.
        assert!(with(8, 7).contains("byte 8, the number of names, is 7; allowed: 0, for games"));
        assert!(with(13, 1).contains("byte 13, the kind of the games, is 1"));
        let error = read(b"(;GM[Othello]PC[Outflank]").expect_err("another format");
        assert!(error.contains("holds no WTHOR games"), "{error}");
    }
}
