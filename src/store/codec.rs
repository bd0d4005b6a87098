//! The binary layout of a game record.
//!
//! All values of one field are stored together (all squares, then all exact scores, ...), because
//! this compresses better than move by move. Unsigned integers are LEB128 varints, signed ones
//! zigzag varints. Floats are stored as their IEEE bits, so a decoded record equals the encoded
//! one. The first byte is the version of this layout.

use crate::game::record::{GameRecord, MoveRecord};
use crate::game::{Colour, Goal, Shape, Square};

const VERSION: u8 = 1;
const RESIGNED: u8 = 1;
const WHITE_STARTS: u8 = 2;
const FEWEST: u8 = 4;
/// No game has more moves than its board has squares, nor a position more legal moves.
const MOST_MOVES: u64 = crate::game::MAX_SQUARES as u64;

/// Why bytes are not a game record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CodecError {
    /// The record has a layout version that this program does not read.
    #[error("the record's layout has version {found}, this program reads version {VERSION}")]
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
        out.extend_from_slice(&played.value.to_bits().to_le_bytes());
    }
    for played in &record.moves {
        put(&mut out, played.policy.len() as u64);
    }
    for weight in record.moves.iter().flat_map(|played| &played.policy) {
        put(&mut out, u64::from(*weight));
    }
    out
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
    if version != VERSION {
        return Err(CodecError::Version { found: version });
    }
    let shape = reader.byte()?;
    let shape = *Shape::ALL.get(shape as usize).ok_or(CodecError::Field { field: "board" })?;
    let flags = reader.byte()?;
    if flags & !(RESIGNED | WHITE_STARTS | FEWEST) != 0 {
        return Err(CodecError::Field { field: "flags" });
    }
    let mut record = GameRecord {
        shape,
        goal: if flags & FEWEST != 0 { Goal::Fewest } else { Goal::Most },
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
    record.moves = moves(&mut reader, shape)?;
    match reader.0.len() {
        0 => Ok(record),
        count => Err(CodecError::Long { count }),
    }
}

fn moves(reader: &mut Reader<'_>, shape: Shape) -> Result<Vec<MoveRecord>, CodecError> {
    let count = reader.count("moves")?;
    let squares = shape.layout().squares;
    let mut moves = Vec::with_capacity(count);
    for &square in reader.take(count)? {
        if square as usize >= squares {
            return Err(CodecError::Field { field: "square" });
        }
        moves.push(MoveRecord {
            square: Square(square),
            policy: Vec::new(),
            value: 0.0,
            exact: None,
        });
    }
    for played in &mut moves {
        let field = "exact score";
        played.exact = match reader.varint(field)? {
            0 => None,
            code => Some(score(code - 1, shape, field)?),
        };
    }
    for played in &mut moves {
        played.value = f32::from_bits(u32::from_le_bytes(reader.array()?));
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
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    fn a_move(squares: u8) -> impl Strategy<Value = MoveRecord> {
        (
            0..squares,
            proptest::collection::vec(any::<u16>(), 0..20),
            -1.0f32..1.0,
            proptest::option::of(-(squares as i8)..=squares as i8),
        )
            .prop_map(|(square, policy, value, exact)| MoveRecord {
                square: Square(square),
                policy,
                value,
                exact,
            })
    }

    prop_compose! {
        /// Any record that the types allow; its moves need not be legal.
        pub fn any_record()(
            shape in proptest::sample::select(&Shape::ALL[..]),
        )(
            shape in Just(shape),
            (fewest, white, resigned) in any::<(bool, bool, bool)>(),
            (id, net_version, opening_moves) in any::<(u64, u32, u16)>(),
            score in -(shape.layout().squares as i16)..=shape.layout().squares as i16,
            (start_mine, start_theirs) in any::<(u128, u128)>(),
            moves in proptest::collection::vec(a_move(shape.layout().squares as u8), 0..64),
        ) -> GameRecord {
            GameRecord {
                shape,
                goal: if fewest { Goal::Fewest } else { Goal::Most },
                id,
                net_version,
                opening_moves,
                start_mine,
                start_theirs,
                start_side: if white { Colour::White } else { Colour::Black },
                moves,
                score,
                resigned,
            }
        }
    }

    proptest! {
        #[test]
        fn a_record_is_decoded_unchanged(record in any_record()) {
            prop_assert_eq!(decode(&encode(&record)), Ok(record));
        }

        #[test]
        fn bytes_cut_short_are_an_error(record in any_record(), cut in any::<prop::sample::Index>()) {
            let bytes = encode(&record);
            prop_assert_eq!(decode(&bytes[..cut.index(bytes.len())]), Err(CodecError::Short));
        }

        #[test]
        fn any_bytes_are_a_record_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = decode(&bytes);
        }
    }

    #[test]
    fn scores_above_the_number_of_squares_are_refused() {
        let mut record = crate::store::games::tests::a_game(0, 9);
        record.moves[50].exact = Some(64);
        assert_eq!(decode(&encode(&record)).as_ref(), Ok(&record));
        record.moves[50].exact = Some(-65);
        assert_eq!(decode(&encode(&record)), Err(CodecError::Field { field: "exact score" }));
        record.moves[50].exact = None;
        (record.resigned, record.score) = (true, i16::MIN);
        assert_eq!(decode(&encode(&record)), Err(CodecError::Field { field: "score" }));
    }

    #[test]
    fn a_value_outside_minus_one_to_one_is_refused() {
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.5, -1e30] {
            let played = MoveRecord { square: Square(0), policy: Vec::new(), value, exact: None };
            let record = GameRecord { moves: vec![played], ..empty() };
            assert_eq!(decode(&encode(&record)), Err(CodecError::Field { field: "value" }));
        }
    }

    fn empty() -> GameRecord {
        GameRecord {
            shape: Shape::Square6,
            goal: Goal::Most,
            id: 1,
            net_version: 0,
            opening_moves: 0,
            start_mine: 1,
            start_theirs: 2,
            start_side: Colour::Black,
            moves: Vec::new(),
            score: 0,
            resigned: true,
        }
    }

    #[test]
    fn varints_are_decoded_unchanged() {
        for number in [0, 1, 127, 128, u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            assert_eq!(Reader(&bytes).varint("n"), Ok(number));
        }
        let too_long = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
        assert_eq!(Reader(&too_long).varint("n"), Err(CodecError::Field { field: "n" }));
    }
}
