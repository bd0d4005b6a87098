//! Records in a byte stream that may be damaged: each stands in a frame that can be found again.
//!
//! | bytes | field |
//! |---|---|
//! | 4 | `OFG1` |
//! | 4 | length of the payload |
//! | 4 | CRC-32 of everything after this field |
//! | 8 | the game's id |
//! | 4 | positions of the game that can be learnt from |
//! | length | the payload |
//!
//! Numbers are little-endian. The id and the count stand outside the compressed payload, so
//! that a folder of games is counted without unpacking them.

use std::ops::Range;

use crc32fast::Hasher;

use crate::game::MAX_SQUARES;

const MAGIC: [u8; 4] = *b"OFG1";
pub(super) const HEADER: usize = 24;
/// Where the bytes begin that the checksum, which stands before them, is of.
const CHECKED: usize = 12;
/// A game takes well under a kilobyte; a length beyond this is damage.
const LONGEST: usize = 1 << 20;

/// A whole frame whose checksum is right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Frame<'a> {
    pub offset: usize,
    pub end: usize,
    pub id: u64,
    pub positions: u32,
    pub payload: &'a [u8],
}

/// What is wrong with a stretch of bytes that holds no frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Damage {
    /// The bytes do not begin like a frame.
    Foreign,
    /// The bytes begin like a frame, but are not what was written.
    Checksum,
    /// The bytes end before the frame does.
    CutOff,
    /// The frame claims more positions than a game has.
    Positions,
}

/// A stretch of bytes between frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bad {
    pub offset: usize,
    pub end: usize,
    pub damage: Damage,
}

impl Bad {
    /// Whether this may be a frame whose writer died, at the end of what it wrote: no longer than a
    /// frame can be.
    pub fn is_torn(&self) -> bool {
        self.damage == Damage::CutOff && self.end - self.offset <= HEADER + LONGEST
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

/// The frames in `bytes` from `offset` on, and the damage between them.
pub(super) fn scan(bytes: &[u8], offset: usize) -> Scan<'_> {
    Scan { bytes, scanner: Scanner::new(offset) }
}

/// An iterator of frames and damage, in the order of the bytes.
pub(super) struct Scan<'a> {
    bytes: &'a [u8],
    scanner: Scanner,
}

impl<'a> Iterator for Scan<'a> {
    type Item = Result<Frame<'a>, Bad>;

    fn next(&mut self) -> Option<Self::Item> {
        self.scanner.next(self.bytes)
    }
}

/// Where a scan of some bytes stands. It takes time in proportion to the bytes, whatever they
/// are: each place where a frame may begin is checked once.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    /// Where it goes on.
    pub offset: usize,
    /// No whole frame begins from `offset` to here.
    searched: usize,
    sums: Sums,
}

impl Scanner {
    pub fn new(offset: usize) -> Scanner {
        Scanner { offset, ..Scanner::default() }
    }

    /// The next frame of `bytes`, which are the same ones at each call, or the damage before it.
    pub fn next<'a>(&mut self, bytes: &'a [u8]) -> Option<Result<Frame<'a>, Bad>> {
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

    fn frame<'a>(&mut self, bytes: &'a [u8]) -> Result<Frame<'a>, Bad> {
        let (offset, rest) = (self.offset, &bytes[self.offset..]);
        let resynchronised = |from| find_magic(bytes, from..bytes.len()).unwrap_or(bytes.len());
        if !rest.starts_with(&MAGIC) {
            let end = resynchronised(offset + 1);
            // A file cut off within a frame's first bytes is cut off, not foreign.
            let cut = end == bytes.len() && MAGIC.starts_with(rest);
            let damage = if cut { Damage::CutOff } else { Damage::Foreign };
            return Err(Bad { offset, end, damage });
        }
        let Some(end) = claimed_end(bytes, offset) else {
            let end = resynchronised(offset + MAGIC.len());
            let damage = if end == bytes.len() { Damage::CutOff } else { Damage::Checksum };
            return Err(Bad { offset, end, damage });
        };
        if offset < self.searched || !self.is_whole(bytes, offset) {
            // Where the length leads to another frame it is right, and only this one is lost, unless
            // it is the length that is damaged and leads beyond a frame.
            let end = match self.whole_frame_within(bytes, offset + MAGIC.len()..end) {
                Some(start) => start,
                None if end == bytes.len() || bytes[end..].starts_with(&MAGIC) => end,
                None => resynchronised(offset + MAGIC.len()),
            };
            return Err(Bad { offset, end, damage: Damage::Checksum });
        }
        let positions = u32_at(rest, 20);
        if positions as usize > MAX_SQUARES {
            return Err(Bad { offset, end, damage: Damage::Positions });
        }
        Ok(Frame {
            offset,
            end,
            id: u64::from(u32_at(rest, 12)) | u64::from(u32_at(rest, 16)) << 32,
            positions,
            payload: &bytes[offset + HEADER..end],
        })
    }

    /// Where the first whole frame begins that begins in `range`.
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

    /// Whether a whole frame with the right checksum begins at `offset`.
    fn is_whole(&mut self, bytes: &[u8], offset: usize) -> bool {
        claimed_end(bytes, offset).is_some_and(|end| {
            self.sums.of(bytes, offset + CHECKED..end) == u32_at(bytes, offset + CHECKED - 4)
        })
    }
}

/// Where the bytes of [`MAGIC`] stand first that begin in `range`.
fn find_magic(bytes: &[u8], range: Range<usize>) -> Option<usize> {
    let end = (range.end + MAGIC.len() - 1).min(bytes.len());
    let found = bytes.get(range.start..end)?.windows(MAGIC.len()).position(|four| four == MAGIC)?;
    Some(range.start + found)
}

/// Where a frame at `offset` ends if its length is right; `None` if the bytes end before, or the
/// length is no frame's.
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

/// Checksums of stretches of some bytes. A long one takes no more time than a short one, so that
/// a file of many headers that claim long frames is read as fast as any other.
#[derive(Debug, Default)]
struct Sums {
    /// Those of all bytes before each block.
    before_block: Vec<u32>,
}

impl Sums {
    const BLOCK: usize = 4096;

    fn of(&mut self, bytes: &[u8], range: Range<usize>) -> u32 {
        if range.len() <= 2 * Sums::BLOCK {
            return crc32fast::hash(&bytes[range]);
        }
        // The checksum of two stretches in a row is that of the first, shifted by the length of
        // the second, XOR that of the second.
        let mut shifted = self.before(bytes, range.start);
        shifted.combine(&Hasher::new_with_initial_len(0, range.len() as u64));
        self.before(bytes, range.end).finalize() ^ shifted.finalize()
    }

    fn before(&mut self, bytes: &[u8], end: usize) -> Hasher {
        if self.before_block.is_empty() {
            self.before_block.push(0);
        }
        let block = end / Sums::BLOCK;
        for known in self.before_block.len()..=block {
            let last = (known - 1) * Sums::BLOCK;
            let sum = added(self.before_block[known - 1], &bytes[last..known * Sums::BLOCK]);
            self.before_block.push(sum.finalize());
        }
        added(self.before_block[block], &bytes[block * Sums::BLOCK..end])
    }
}

fn added(sum: u32, bytes: &[u8]) -> Hasher {
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

    /// The length of the first frame, 8, becomes 40, which is its end and the second frame.
    #[test]
    fn a_length_that_leads_beyond_a_frame_costs_only_its_own() {
        let (mut bytes, ends) = file(&[vec![7; 8], vec![7; 8], vec![7; 8]]);
        bytes[4] ^= 32;
        let found: Vec<_> = scan(&bytes, 0).map(|found| found.map(|frame| frame.id)).collect();
        let damage = Damage::Checksum;
        assert_eq!(found, [Err(Bad { offset: 0, end: ends[0], damage }), Ok(1), Ok(2)]);
    }

    /// A game has no more positions to learn from than its board has squares.
    #[test]
    fn a_count_of_positions_that_no_game_has_costs_its_frame() {
        let mut bytes = Vec::new();
        for positions in [MAX_SQUARES as u32, MAX_SQUARES as u32 + 1, u32::MAX, 0] {
            write(&mut bytes, 1, positions, b"payload");
        }
        let damage = |found: Result<Frame, Bad>| found.err().map(|bad| bad.damage);
        let found: Vec<_> = scan(&bytes, 0).map(damage).collect();
        let bad = Some(Damage::Positions);
        assert_eq!(found, [None, bad, bad, None]);
    }

    /// Every header claims all bytes up to the good frame, and so a frame with all headers behind it
    /// in it. Checking those again for each header would take hours for this megabyte.
    #[test]
    fn headers_that_claim_long_frames_are_each_checked_once() {
        const HEADERS: usize = 43_000;
        let mut bytes = Vec::new();
        for behind in (0..HEADERS).rev() {
            let numbers = [(behind * HEADER) as u32, 0, 0, 0, 0].map(u32::to_le_bytes);
            bytes.extend_from_slice(&MAGIC);
            bytes.extend_from_slice(&numbers.concat());
        }
        // The claims do not lead to the good frame, so none of them is taken for true.
        bytes.extend_from_slice(&[0; 8]);
        write(&mut bytes, 7, 1, b"payload");
        let (good, bad): (Vec<_>, Vec<_>) = scan(&bytes, 0).partition(Result::is_ok);
        assert_eq!(good.into_iter().map(|frame| frame.unwrap().id).collect::<Vec<_>>(), [7]);
        assert_eq!(bad.len(), HEADERS);
    }

    proptest! {
        #[test]
        fn a_long_stretch_has_the_checksum_of_its_bytes(
            bytes in proptest::collection::vec(any::<u8>(), 0..40_000),
            cuts in proptest::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 1..6),
        ) {
            let mut sums = Sums::default();
            for (one, other) in cuts {
                let mut ends = [one, other].map(|cut| cut.index(bytes.len() + 1));
                ends.sort();
                let range = ends[0]..ends[1];
                prop_assert_eq!(sums.of(&bytes, range.clone()), crc32fast::hash(&bytes[range]));
            }
        }

        #[test]
        fn frames_come_back(payloads in payloads()) {
            let (bytes, _) = file(&payloads);
            let found: Vec<_> = scan(&bytes, 0).map(|frame| frame.unwrap()).collect();
            prop_assert_eq!(found.len(), payloads.len());
            for (id, (frame, payload)) in found.iter().zip(&payloads).enumerate() {
                prop_assert_eq!(frame.payload, &payload[..]);
                prop_assert_eq!((frame.id, frame.positions), (id as u64, id as u32 * 2));
            }
        }

        #[test]
        fn a_flipped_bit_costs_one_frame(payloads in payloads(), bit in any::<prop::sample::Index>()) {
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
        fn a_cut_costs_the_frame_it_falls_in(payloads in payloads(), cut in any::<prop::sample::Index>()) {
            let (bytes, ends) = file(&payloads);
            let cut = cut.index(bytes.len());
            let whole = ends.iter().filter(|&&end| end <= cut).count();
            let torn = usize::from(cut != 0 && !ends.contains(&cut));
            let (good, bad): (Vec<_>, Vec<_>) = scan(&bytes[..cut], 0).partition(Result::is_ok);
            prop_assert_eq!((good.len(), bad.len()), (whole, torn));
            for bad in bad {
                prop_assert_eq!(bad.unwrap_err().damage, Damage::CutOff);
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
