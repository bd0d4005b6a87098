//! The moves of many games in one value of the database, and the search for a position in them.
//!
//! An entry has the game's number (4 bytes, little-endian), black's score (1 byte, [`UNKNOWN`] if
//! there is none), the number of moves (1 byte) and a byte for the square of each move. A block has
//! games of one board and goal.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, params};

use super::{Library, LibraryError};
use crate::game::{Board, Colour, Geometry, Goal, Position, Shape, Square, Symmetry};

/// A block ends after so many bytes, so that one game is read quickly.
const BLOCK: usize = 1 << 16;
const UNKNOWN: i8 = i8::MIN;
const HEAD: usize = 6;

/// A game of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    pub id: u32,
    /// Black's score.
    pub score: Option<i8>,
    /// The squares by number.
    pub moves: &'a [u8],
}

impl<'a> Entry<'a> {
    /// The entry at the start of some bytes, and the rest. `None` at the end, or if they are damaged.
    pub fn split(bytes: &'a [u8]) -> Option<(Entry<'a>, &'a [u8])> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let (moves, rest) = rest.split_at_checked(usize::from(head[5]))?;
        let id = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        let score = Some(head[4] as i8).filter(|&score| score != UNKNOWN);
        Some((Entry { id, score, moves }, rest))
    }

    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.id.to_le_bytes());
        bytes.extend([self.score.unwrap_or(UNKNOWN) as u8, self.moves.len() as u8]);
        bytes.extend(self.moves);
    }
}

/// Blocks in the making, one for each board, goal and kind of start.
#[derive(Debug, Default)]
pub(super) struct BlockWriter {
    open: HashMap<(Shape, Goal, bool), Open>,
    /// The number of the newest block.
    newest: i64,
}

#[derive(Debug, Default)]
struct Open {
    id: i64,
    first: u32,
    bytes: Vec<u8>,
}

impl BlockWriter {
    /// A writer whose first block has the number after `newest`.
    pub fn after(newest: i64) -> BlockWriter {
        BlockWriter { open: HashMap::new(), newest }
    }

    /// Adds a game; `own_start` if it does not begin at the board's start. Returns its block and
    /// where it is there.
    pub fn add(
        &mut self,
        database: &Connection,
        (shape, goal, own_start): (Shape, Goal, bool),
        entry: Entry<'_>,
    ) -> rusqlite::Result<(i64, usize)> {
        let key = (shape, goal, own_start);
        if self.open.get(&key).is_some_and(|open| open.bytes.len() >= BLOCK)
            && let Some(full) = self.open.remove(&key)
        {
            store(database, key, &full)?;
        }
        let newest = &mut self.newest;
        let open = self.open.entry(key).or_insert_with(|| {
            *newest += 1;
            Open { id: *newest, first: entry.id, bytes: Vec::with_capacity(BLOCK + 128) }
        });
        let at = open.bytes.len();
        entry.write(&mut open.bytes);
        Ok((open.id, at))
    }

    /// Stores what is open: the next file has blocks of its own.
    pub fn end_file(&mut self, database: &Connection) -> rusqlite::Result<()> {
        self.open.drain().try_for_each(|(key, open)| store(database, key, &open))
    }
}

fn store(
    database: &Connection,
    (shape, goal, own_start): (Shape, Goal, bool),
    open: &Open,
) -> rusqlite::Result<()> {
    let insert = "INSERT INTO blocks (id, first, board, goal, own_start, bytes) \
                  VALUES (?, ?, ?, ?, ?, ?)";
    let values = params![open.id, open.first, shape.name(), goal.name(), own_start, open.bytes];
    database.prepare_cached(insert)?.execute(values).map(|_| ())
}

/// What was played in a position.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Explored {
    /// The games that reached it.
    pub games: u64,
    /// The moves played there, the most frequent first. Images under a symmetry that keeps the
    /// position are one move.
    pub moves: Vec<Following>,
}

/// How games went on with a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Following {
    /// The move.
    pub square: Square,
    /// The games with it, finished or not.
    pub games: u64,
    /// Those that black won.
    pub black: u64,
    /// Those that white won.
    pub white: u64,
    /// Those without a winner.
    pub draws: u64,
    /// The sum of black's scores in those games.
    pub sum: i64,
}

impl Following {
    /// A move of no game.
    pub fn unplayed(square: Square) -> Following {
        Following { square, games: 0, black: 0, white: 0, draws: 0, sum: 0 }
    }

    /// Black's mean score; `None` without a finished game.
    pub fn mean(&self) -> Option<f64> {
        let scored = self.black + self.white + self.draws;
        (scored > 0).then(|| self.sum as f64 / scored as f64)
    }

    fn add(&mut self, score: Option<i8>) {
        self.games += 1;
        let Some(score) = score else { return };
        self.sum += i64::from(score);
        match score.signum() {
            1 => self.black += 1,
            -1 => self.white += 1,
            _ => self.draws += 1,
        }
    }
}

/// A position that is searched, with its images.
struct Wanted<G: Geometry> {
    /// The squares with discs, the discs of black and of white, and the symmetry that leads back.
    images: Vec<(G::Bitboard, Board<G>, Symmetry)>,
    side: Colour,
    /// The moves from the board's start to it.
    moves: usize,
}

impl<G: Geometry> Wanted<G> {
    fn new(position: Position<G>) -> Wanted<G> {
        let position = position.pass_if_forced();
        let images = Symmetry::ALL.map(|symmetry| {
            let image = symmetry.board(position.black_view());
            (image.mine | image.theirs, image, symmetry.inverse())
        });
        let start = Board::<G>::start().discs();
        let moves = position.board.discs().saturating_sub(start) as usize;
        Wanted { images: images.to_vec(), side: position.side, moves }
    }

    /// The symmetries that lead from the position of a game to the wanted one; none if the game has
    /// not had it.
    fn in_game(&self, start: G::Bitboard, moves: &[u8]) -> Vec<Symmetry> {
        let Some(played) = moves.get(..self.moves) else { return Vec::new() };
        let filled = played.iter().fold(start, |filled, &square| filled | G::mask(Square(square)));
        if self.images.iter().all(|&(squares, ..)| squares != filled) {
            return Vec::new();
        }
        let mut position = Position::<G>::start();
        for &square in played {
            let Some(next) = position.play(Square(square)) else { return Vec::new() };
            position = next.pass_if_forced();
        }
        if position.side != self.side {
            return Vec::new();
        }
        let reached = position.black_view();
        let fits = self.images.iter().filter(|&&(_, image, _)| image == reached);
        fits.map(|&(.., back)| back).collect()
    }
}

impl Library {
    /// The numbers of the games that had a position or an image of it, in ascending order. Games
    /// with a start of their own are not searched.
    ///
    /// # Errors
    ///
    /// The index cannot be read.
    pub(super) fn with_position<G: Geometry>(
        &self,
        position: Position<G>,
        goal: Goal,
    ) -> Result<Vec<i64>, LibraryError> {
        let wanted = Wanted::new(position);
        let start = filled(Board::<G>::start());
        let mut found = Vec::new();
        self.each_game(G::SHAPE, goal, |entry| {
            if !wanted.in_game(start, entry.moves).is_empty() {
                found.push(i64::from(entry.id));
            }
        })?;
        found.sort_unstable();
        Ok(found)
    }

    /// What was played in a position, in the games that are in `among`, or in all.
    ///
    /// # Errors
    ///
    /// The index cannot be read.
    pub fn explore<G: Geometry>(
        &self,
        position: Position<G>,
        goal: Goal,
        among: Option<&HashSet<i64>>,
    ) -> Result<Explored, LibraryError> {
        let wanted = Wanted::new(position);
        let start = filled(Board::<G>::start());
        let mut games = 0;
        let mut moves: HashMap<Square, Following> = HashMap::new();
        self.each_game(G::SHAPE, goal, |entry| {
            if among.is_some_and(|among| !among.contains(&i64::from(entry.id))) {
                return;
            }
            let back = wanted.in_game(start, entry.moves);
            games += u64::from(!back.is_empty());
            let Some(&next) = entry.moves.get(wanted.moves) else { return };
            let images = back.iter().map(|symmetry| symmetry.square::<G>(Square(next)));
            if let Some(square) = images.min() {
                let of_square = moves.entry(square).or_insert(Following::unplayed(square));
                of_square.add(entry.score);
            }
        })?;
        let mut moves: Vec<Following> = moves.into_values().collect();
        moves.sort_by_key(|following| (std::cmp::Reverse(following.games), following.square));
        Ok(Explored { games, moves })
    }

    /// Shows every game from the start of a board. Squares of a damaged index are left out.
    fn each_game(
        &self,
        shape: Shape,
        goal: Goal,
        mut show: impl FnMut(Entry<'_>),
    ) -> Result<(), LibraryError> {
        let select = "SELECT bytes FROM blocks WHERE board = ? AND goal = ? AND own_start = 0";
        let squares = shape.layout().squares as u8;
        let mut read = || {
            let mut statement = self.database.prepare_cached(select)?;
            let mut rows = statement.query(params![shape.name(), goal.name()])?;
            while let Some(row) = rows.next()? {
                let mut rest = row.get_ref(0)?.as_blob()?;
                while let Some((entry, after)) = Entry::split(rest) {
                    if entry.moves.iter().all(|&square| square < squares) {
                        show(entry);
                    }
                    rest = after;
                }
            }
            Ok(())
        };
        read().map_err(|error| self.fault(error))
    }
}

fn filled<G: Geometry>(board: Board<G>) -> G::Bitboard {
    board.mine | board.theirs
}
