//! Frames: each record in a game file has a header with its length and checksum, so that readers
//! find the next record after damage.
//!
//! | bytes | field |
//! |---|---|
//! | 4 | `OFG1` |
//! | 4 | length of the payload |
//! | 4 | CRC-32 of everything after this field |
//! | 8 | the game's id |
//! | 4 | the game's training positions |
//! | length | the payload |
//!
//! Numbers are little-endian. The id and the count of positions are outside the compressed
//! payload, so that games are counted without decompressing them.

use std::ops::Range;

use crc32fast::Hasher;

use crate::game::MAX_SQUARES;

const MAGIC: [u8; 4] = *b"OFG1";
pub(super) const HEADER: usize = 24;
/// Offset of the first byte that the checksum covers. The checksum itself is just before it.
const CHECKED: usize = 12;
/// The longest payload, in bytes. A game takes well under a kilobyte; a greater length is damage.
const LONGEST: usize = 1 << 20;

/// A complete frame with a correct checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Frame<'a> {
    pub offset: usize,
    pub end: usize,
    pub id: u64,
    pub positions: u32,
    pub payload: &'a [u8],
}

/// What is wrong with a range of bytes that holds no frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DamageKind {
    /// The bytes do not start with the frame's magic number.
    Foreign,
    /// The length or the checksum is wrong.
    Checksum,
    /// The bytes end inside the frame.
    CutOff,
    /// The frame claims more positions than a board has squares.
    Positions,
}

/// A range of bytes that holds no frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct DamagedRange {
    pub offset: usize,
    pub end: usize,
    pub damage: DamageKind,
}

impl DamagedRange {
    /// Whether this may be a frame whose writer died: the bytes end inside it, and it is no longer
    /// than a frame can be.
    pub fn is_torn(&self) -> bool {
        self.damage == DamageKind::CutOff && self.end - self.offset <= HEADER + LONGEST
    }
}

/// Appends a frame to `out`.
pub(super) fn write(out: &mut Vec<u8>, id: u64, positions: u32, payload: &[u8]) {
    debug_assert!(payload.len() <= LONGEST);
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    let checked = out.len() + 4;
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&id.to_le_bytes());
    out.extend_from_slice(&positions.to_le_bytes());
    out.extend_from_slice(payload);
    let crc = crc32fast::hash(&out[checked..]);
    out[checked - 4..checked].copy_from_slice(&crc.to_le_bytes());
}

/// Iterates over the frames in `bytes` from `offset` on, and the damaged ranges between them.
pub(super) fn scan(bytes: &[u8], offset: usize) -> Scan<'_> {
    Scan { bytes, scanner: Scanner::new(offset) }
}

/// Iterator over frames and damaged ranges, by rising offset.
pub(super) struct Scan<'a> {
    bytes: &'a [u8],
    scanner: Scanner,
}

impl<'a> Iterator for Scan<'a> {
    type Item = Result<Frame<'a>, DamagedRange>;

    fn next(&mut self) -> Option<Self::Item> {
        self.scanner.next(self.bytes)
    }
}

/// The state of a scan. The scan takes time linear in the number of bytes, whatever they are: each
/// possible start of a frame is checked once.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    /// Where the next frame is looked for.
    pub offset: usize,
    /// No complete frame starts between `offset` and here.
    searched: usize,
    checksums: RangeChecksums,
}

impl Scanner {
    pub fn new(offset: usize) -> Scanner {
        Scanner { offset, ..Scanner::default() }
    }

    /// The next frame, or the damaged range before it. `bytes` must be the same at each call.
    pub fn next<'a>(&mut self, bytes: &'a [u8]) -> Option<Result<Frame<'a>, DamagedRange>> {
        if self.offset >= bytes.len() {
            return None;
        }
        let found = self.frame(bytes);
        self.offset = match &found {
            Ok(frame) => frame.end,
            Err(bad) => bad.end,
        };
        Some(found)
    }

    fn frame<'a>(&mut self, bytes: &'a [u8]) -> Result<Frame<'a>, DamagedRange> {
        let (offset, rest) = (self.offset, &bytes[self.offset..]);
        let resynchronised = |from| find_magic(bytes, from..bytes.len()).unwrap_or(bytes.len());
        if !rest.starts_with(&MAGIC) {
            let end = resynchronised(offset + 1);
            // The file may end within the magic number.
            let is_cut_off = end == bytes.len() && MAGIC.starts_with(rest);
            let damage = if is_cut_off { DamageKind::CutOff } else { DamageKind::Foreign };
            return Err(DamagedRange { offset, end, damage });
        }
        let Some(end) = claimed_end(bytes, offset) else {
            let end = resynchronised(offset + MAGIC.len());
            let damage = if end == bytes.len() { DamageKind::CutOff } else { DamageKind::Checksum };
            return Err(DamagedRange { offset, end, damage });
        };
        if offset < self.searched || !self.is_whole(bytes, offset) {
            // If another frame follows at the claimed end, the length is probably right and only
            // this frame is lost. But a damaged length may skip a complete frame: look for that
            // first.
            let end = match self.whole_frame_within(bytes, offset + MAGIC.len()..end) {
                Some(start) => start,
                None if end == bytes.len() || bytes[end..].starts_with(&MAGIC) => end,
                None => resynchronised(offset + MAGIC.len()),
            };
            return Err(DamagedRange { offset, end, damage: DamageKind::Checksum });
        }
        let positions = u32_at(rest, 20);
        if positions as usize > MAX_SQUARES {
            return Err(DamagedRange { offset, end, damage: DamageKind::Positions });
        }
        Ok(Frame {
            offset,
            end,
            id: u64::from(u32_at(rest, 12)) | u64::from(u32_at(rest, 16)) << 32,
            positions,
            payload: &bytes[offset + HEADER..end],
        })
    }

    /// The start of the first complete frame that starts in `range`.
    fn whole_frame_within(&mut self, bytes: &[u8], mut range: Range<usize>) -> Option<usize> {
        range.start = range.start.max(self.searched);
        while let Some(start) = find_magic(bytes, range.clone()) {
            self.searched = start;
            if self.is_whole(bytes, start) {
                return Some(start);
            }
            range.start = start + MAGIC.len();
        }
        self.searched = self.searched.max(range.end);
        None
    }

    /// Whether a complete frame with a correct checksum starts at `offset`.
    fn is_whole(&mut self, bytes: &[u8], offset: usize) -> bool {
        claimed_end(bytes, offset).is_some_and(|end| {
            self.checksums.of(bytes, offset + CHECKED..end) == u32_at(bytes, offset + CHECKED - 4)
        })
    }
}

/// The first offset in `range` at which the bytes of [`MAGIC`] start.
fn find_magic(bytes: &[u8], range: Range<usize>) -> Option<usize> {
    let end = (range.end + MAGIC.len() - 1).min(bytes.len());
    let found = bytes.get(range.start..end)?.windows(MAGIC.len()).position(|four| four == MAGIC)?;
    Some(range.start + found)
}

/// The end of a frame at `offset` according to its length. `None` if the bytes end before that, or
/// if the length is above [`LONGEST`].
fn claimed_end(bytes: &[u8], offset: usize) -> Option<usize> {
    let payload = offset + HEADER;
    if payload > bytes.len() {
        return None;
    }
    let length = u32_at(bytes, offset + MAGIC.len()) as usize;
    (length <= LONGEST && length <= bytes.len() - payload).then_some(payload + length)
}

fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[offset..offset + 4]);
    u32::from_le_bytes(word)
}

/// Computes CRC-32 checksums of ranges of the same bytes. The time does not depend on the length of
/// the range, so a file of many headers that claim long frames is not slower than any other.
#[derive(Debug, Default)]
struct RangeChecksums {
    /// For each block, the checksum of all bytes before it.
    before_block: Vec<u32>,
}

impl RangeChecksums {
    const BLOCK: usize = 4096;

    fn of(&mut self, bytes: &[u8], range: Range<usize>) -> u32 {
        if range.len() <= 2 * Self::BLOCK {
            return crc32fast::hash(&bytes[range]);
        }
        // CRC-32 of two adjacent ranges: the first range's checksum, shifted by the length of the
        // second, XOR the second range's checksum.
        let mut shifted = self.before(bytes, range.start);
        shifted.combine(&Hasher::new_with_initial_len(0, range.len() as u64));
        self.before(bytes, range.end).finalize() ^ shifted.finalize()
    }

    /// The checksum of `bytes[..end]`.
    fn before(&mut self, bytes: &[u8], end: usize) -> Hasher {
        if self.before_block.is_empty() {
            self.before_block.push(0);
        }
        let block = end / Self::BLOCK;
        for known in self.before_block.len()..=block {
            let last = (known - 1) * Self::BLOCK;
            let sum = extended(self.before_block[known - 1], &bytes[last..known * Self::BLOCK]);
            self.before_block.push(sum.finalize());
        }
        extended(self.before_block[block], &bytes[block * Self::BLOCK..end])
    }
}

/// The checksum `sum`, extended by `bytes`.
fn extended(sum: u32, bytes: &[u8]) -> Hasher {
    let mut hasher = Hasher::new_with_initial(sum);
    hasher.update(bytes);
    hasher
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(payloads: &[Vec<u8>]) -> (Vec<u8>, Vec<usize>) {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        for (id, payload) in payloads.iter().enumerate() {
            write(&mut bytes, id as u64, id as u32 * 2, payload);
            ends.push(bytes.len());
        }
        (bytes, ends)
    }

    fn payloads() -> impl Strategy<Value = Vec<Vec<u8>>> {
        proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..80), 1..8)
    }

    /// The first frame's length changes from 8 to 40, so its claimed end is that of the second.
    #[test]
    fn a_wrong_length_loses_only_its_own_frame() {
        let (mut bytes, ends) = file(&[vec![7; 8], vec![7; 8], vec![7; 8]]);
        bytes[4] ^= 32;
        let found: Vec<_> = scan(&bytes, 0).map(|found| found.map(|frame| frame.id)).collect();
        let damage = DamageKind::Checksum;
        assert_eq!(found, [Err(DamagedRange { offset: 0, end: ends[0], damage }), Ok(1), Ok(2)]);
    }

    /// A game has at most as many training positions as its board has squares.
    #[test]
    fn a_frame_with_too_many_positions_is_refused() {
        let mut bytes = Vec::new();
        for positions in [MAX_SQUARES as u32, MAX_SQUARES as u32 + 1, u32::MAX, 0] {
            write(&mut bytes, 1, positions, b"payload");
        }
        let damage = |found: Result<Frame, DamagedRange>| found.err().map(|bad| bad.damage);
        let found: Vec<_> = scan(&bytes, 0).map(damage).collect();
        let bad = Some(DamageKind::Positions);
        assert_eq!(found, [None, bad, bad, None]);
    }

    /// Every header claims all bytes up to the good frame. A checksum over all these bytes for each
    /// header would take hours for this megabyte.
    #[test]
    fn headers_that_claim_long_frames_are_each_checked_once() {
        const HEADERS: usize = 43_000;
        let mut bytes = Vec::new();
        for behind in (0..HEADERS).rev() {
            let numbers = [(behind * HEADER) as u32, 0, 0, 0, 0].map(u32::to_le_bytes);
            bytes.extend_from_slice(&MAGIC);
            bytes.extend_from_slice(&numbers.concat());
        }
        // The claimed ends are not the start of the good frame, so no header's length is believed.
        bytes.extend_from_slice(&[0; 8]);
        write(&mut bytes, 7, 1, b"payload");
        let (good, bad): (Vec<_>, Vec<_>) = scan(&bytes, 0).partition(Result::is_ok);
        assert_eq!(good.into_iter().map(|frame| frame.unwrap().id).collect::<Vec<_>>(), [7]);
        assert_eq!(bad.len(), HEADERS);
    }

    proptest! {
        #[test]
        fn a_long_range_has_the_checksum_of_its_bytes(
            bytes in proptest::collection::vec(any::<u8>(), 0..40_000),
            cuts in proptest::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 1..6),
        ) {
            let mut checksums = RangeChecksums::default();
            for (one, other) in cuts {
                let mut ends = [one, other].map(|cut| cut.index(bytes.len() + 1));
                ends.sort();
                let range = ends[0]..ends[1];
                let found = checksums.of(&bytes, range.clone());
                prop_assert_eq!(found, crc32fast::hash(&bytes[range]));
            }
        }

        #[test]
        fn frames_are_read_as_written(payloads in payloads()) {
            let (bytes, _) = file(&payloads);
            let found: Vec<_> = scan(&bytes, 0).map(|frame| frame.unwrap()).collect();
            prop_assert_eq!(found.len(), payloads.len());
            for (id, (frame, payload)) in found.iter().zip(&payloads).enumerate() {
                prop_assert_eq!(frame.payload, &payload[..]);
                prop_assert_eq!((frame.id, frame.positions), (id as u64, id as u32 * 2));
            }
        }

        #[test]
        fn a_flipped_bit_loses_one_frame(payloads in payloads(), bit in any::<prop::sample::Index>()) {
            let (mut bytes, ends) = file(&payloads);
            let bit = bit.index(bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            let hit = ends.iter().position(|&end| bit / 8 < end).unwrap() as u64;
            let (good, bad): (Vec<_>, Vec<_>) = scan(&bytes, 0).partition(Result::is_ok);
            let ids: Vec<u64> = good.into_iter().map(|frame| frame.unwrap().id).collect();
            let wanted: Vec<u64> = (0..payloads.len() as u64).filter(|&id| id != hit).collect();
            prop_assert_eq!(ids, wanted);
            prop_assert_eq!(bad.len(), 1);
        }

        #[test]
        fn a_truncated_file_loses_one_frame(payloads in payloads(), cut in any::<prop::sample::Index>()) {
            let (bytes, ends) = file(&payloads);
            let cut = cut.index(bytes.len());
            let whole = ends.iter().filter(|&&end| end <= cut).count();
            let torn = usize::from(cut != 0 && !ends.contains(&cut));
            let (good, bad): (Vec<_>, Vec<_>) = scan(&bytes[..cut], 0).partition(Result::is_ok);
            prop_assert_eq!((good.len(), bad.len()), (whole, torn));
            for bad in bad {
                prop_assert_eq!(bad.unwrap_err().damage, DamageKind::CutOff);
            }
        }

        #[test]
        fn any_bytes_are_scanned_to_their_end(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut reached = 0;
            for found in scan(&bytes, 0) {
                let (offset, end) = match found {
                    Ok(frame) => (frame.offset, frame.end),
                    Err(bad) => (bad.offset, bad.end),
                };
                prop_assert_eq!(offset, reached);
                prop_assert!(end > offset);
                reached = end;
            }
            prop_assert_eq!(reached, bytes.len());
        }
    }
}
