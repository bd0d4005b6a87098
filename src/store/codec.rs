//! The binary layout of a game record.
//!
//! All values of one field are stored together (all squares, then all exact scores, ...), because
//! this compresses better than move by move. Unsigned integers are LEB128 varints, signed ones
//! zigzag varints. Floats are stored as their IEEE bits, so a decoded record equals the encoded
//! one. The first byte is the version of this layout. Layout 1 had no source and no worker, and all
//! of its values are known.

use crate::game::record::{GameRecord, MoveRecord, Source, is_worker_name};
use crate::game::{Colour, Goal, Shape, Square};

const VERSION: u8 = 2;
/// The oldest layout that is read.
const OLDEST_VERSION: u8 = 1;
/// The bits of an unknown value. They are a NaN, which is no known value.
const UNKNOWN: u32 = u32::MAX;
const RESIGNED: u8 = 1;
const WHITE_STARTS: u8 = 2;
const FEWEST: u8 = 4;
/// No game has more moves than its board has squares, nor a position more legal moves.
const MOST_MOVES: u64 = crate::game::MAX_SQUARES as u64;

/// Why bytes are not a game record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CodecError {
    /// The record has a layout version that this program does not read.
    #[error(
        "the record's layout has version {found}, this program reads {OLDEST_VERSION} to {VERSION}"
    )]
    Version {
        /// The version in the record.
        found: u8,
    },
    /// The bytes end inside a field.
    #[error("the record ends inside a field")]
    Short,
    /// Bytes follow the last field.
    #[error("{count} bytes follow the record's last field")]
    Long {
        /// How many.
        count: usize,
    },
    /// A field's value is out of its range.
    #[error("field `{field}` holds an impossible value")]
    Field {
        /// The field.
        field: &'static str,
    },
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Encodes a record.
pub(super) fn encode(record: &GameRecord) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 + record.moves.len() * 40);
    let shape = Shape::ALL.iter().position(|&shape| shape == record.shape).unwrap_or(0);
    out.push(VERSION);
    out.push(shape as u8);
    let mut flags = 0;
    if record.resigned {
        flags |= RESIGNED;
    }
    if record.start_side == Colour::White {
        flags |= WHITE_STARTS;
    }
    if record.goal == Goal::Fewest {
        flags |= FEWEST;
    }
    out.push(flags);
    out.push(source_code(record.source));
    let worker = record.worker.as_deref().unwrap_or_default();
    put(&mut out, worker.len() as u64);
    out.extend_from_slice(worker.as_bytes());
    put(&mut out, record.id);
    put(&mut out, record.net_version.into());
    put(&mut out, record.opening_moves.into());
    put(&mut out, zigzag(record.score.into()));
    out.extend_from_slice(&record.start_mine.to_le_bytes());
    out.extend_from_slice(&record.start_theirs.to_le_bytes());
    put(&mut out, record.moves.len() as u64);
    out.extend(record.moves.iter().map(|played| played.square.0));
    for played in &record.moves {
        put(&mut out, played.exact.map_or(0, |score| zigzag(score.into()) + 1));
    }
    for played in &record.moves {
        out.extend_from_slice(&played.value.map_or(UNKNOWN, f32::to_bits).to_le_bytes());
    }
    for played in &record.moves {
        put(&mut out, played.policy.len() as u64);
    }
    for weight in record.moves.iter().flat_map(|played| &played.policy) {
        put(&mut out, u64::from(*weight));
    }
    out
}

fn source_code(source: Source) -> u8 {
    match source {
        Source::SelfPlay => 0,
        Source::Match => 1,
        Source::Import => 2,
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], CodecError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(CodecError::Short)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CodecError> {
        self.take(N)?.try_into().map_err(|_| CodecError::Short)
    }

    fn byte(&mut self) -> Result<u8, CodecError> {
        Ok(self.array::<1>()?[0])
    }

    fn varint(&mut self, field: &'static str) -> Result<u64, CodecError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if part << shift >> shift != part {
                break;
            }
            number |= part << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(CodecError::Field { field })
    }

    fn number<T: TryFrom<u64>>(&mut self, field: &'static str) -> Result<T, CodecError> {
        self.varint(field)?.try_into().map_err(|_| CodecError::Field { field })
    }

    /// A count of at most [`MOST_MOVES`], so that a flipped bit cannot allocate gigabytes.
    fn count(&mut self, field: &'static str) -> Result<usize, CodecError> {
        let count = self.varint(field)?;
        if count > MOST_MOVES {
            return Err(CodecError::Field { field });
        }
        Ok(count as usize)
    }
}

/// Decodes a disc difference, which is at most the board's number of squares.
fn score<T: TryFrom<i64>>(code: u64, shape: Shape, field: &'static str) -> Result<T, CodecError> {
    let score = unzigzag(code);
    let fits = score.unsigned_abs() <= shape.layout().squares as u64;
    T::try_from(score).ok().filter(|_| fits).ok_or(CodecError::Field { field })
}

/// Decodes a record. Whether its moves are legal is not checked here, but by
/// [`GameRecord::positions`].
///
/// # Errors
///
/// The bytes are not a record.
pub(super) fn decode(bytes: &[u8]) -> Result<GameRecord, CodecError> {
    let mut reader = Reader(bytes);
    let version = reader.byte()?;
    if !(OLDEST_VERSION..=VERSION).contains(&version) {
        return Err(CodecError::Version { found: version });
    }
    let shape = reader.byte()?;
    let shape = *Shape::ALL.get(shape as usize).ok_or(CodecError::Field { field: "board" })?;
    let flags = reader.byte()?;
    if flags & !(RESIGNED | WHITE_STARTS | FEWEST) != 0 {
        return Err(CodecError::Field { field: "flags" });
    }
    let (source, worker) = match version {
        OLDEST_VERSION => (Source::default(), None),
        _ => (source(&mut reader)?, worker(&mut reader)?),
    };
    let mut record = GameRecord {
        shape,
        goal: if flags & FEWEST != 0 { Goal::Fewest } else { Goal::Most },
        source,
        worker,
        id: reader.varint("id")?,
        net_version: reader.number("net version")?,
        opening_moves: reader.number("opening moves")?,
        score: score(reader.varint("score")?, shape, "score")?,
        start_mine: u128::from_le_bytes(reader.array()?),
        start_theirs: u128::from_le_bytes(reader.array()?),
        start_side: if flags & WHITE_STARTS != 0 { Colour::White } else { Colour::Black },
        moves: Vec::new(),
        resigned: flags & RESIGNED != 0,
    };
    record.moves = moves(&mut reader, shape, version)?;
    match reader.0.len() {
        0 => Ok(record),
        count => Err(CodecError::Long { count }),
    }
}

fn source(reader: &mut Reader<'_>) -> Result<Source, CodecError> {
    let code = reader.byte()?;
    let found = Source::ALL.into_iter().find(|&source| source_code(source) == code);
    found.ok_or(CodecError::Field { field: "source" })
}

fn worker(reader: &mut Reader<'_>) -> Result<Option<Box<str>>, CodecError> {
    let field = "worker";
    let length = reader.count(field)?;
    if length == 0 {
        return Ok(None);
    }
    let name = std::str::from_utf8(reader.take(length)?).ok().filter(|name| is_worker_name(name));
    Ok(Some(name.ok_or(CodecError::Field { field })?.into()))
}

fn moves(
    reader: &mut Reader<'_>,
    shape: Shape,
    version: u8,
) -> Result<Vec<MoveRecord>, CodecError> {
    let count = reader.count("moves")?;
    let squares = shape.layout().squares;
    let mut moves = Vec::with_capacity(count);
    for &square in reader.take(count)? {
        if square as usize >= squares {
            return Err(CodecError::Field { field: "square" });
        }
        moves.push(MoveRecord::of(Square(square)));
    }
    for played in &mut moves {
        let field = "exact score";
        played.exact = match reader.varint(field)? {
            0 => None,
            code => Some(score(code - 1, shape, field)?),
        };
    }
    for played in &mut moves {
        let bits = u32::from_le_bytes(reader.array()?);
        let is_known = version == OLDEST_VERSION || bits != UNKNOWN;
        played.value = is_known.then_some(f32::from_bits(bits));
        if !played.has_valid_value() {
            return Err(CodecError::Field { field: "value" });
        }
    }
    for played in &mut moves {
        played.policy = vec![0; reader.count("policy")?];
    }
    for weight in moves.iter_mut().flat_map(|played| &mut played.policy) {
        *weight = reader.number("policy weight")?;
    }
    Ok(moves)
}

#[cfg(test)]
#[path = "codec_tests.rs"]
pub(super) mod tests;
