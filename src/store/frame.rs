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

const MAGIC: [u8; 4] = *b"OFG1";
pub(super) const HEADER: usize = 24;
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
    Scan { bytes, offset }
}

pub(super) struct Scan<'a> {
    bytes: &'a [u8],
    offset: usize,
}

fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[offset..offset + 4]);
    u32::from_le_bytes(word)
}

impl<'a> Scan<'a> {
    /// Where the next frame may begin, at `from` or later.
    fn resynchronise(&self, from: usize) -> usize {
        let from = from.min(self.bytes.len());
        self.bytes[from..]
            .windows(MAGIC.len())
            .position(|window| window == MAGIC)
            .map_or(self.bytes.len(), |found| from + found)
    }

    fn begins_frame(&self, offset: usize) -> bool {
        offset == self.bytes.len() || self.bytes[offset..].starts_with(&MAGIC)
    }

    /// Where the first frame begins that lies in `range` whole and whose checksum is right.
    fn whole_frame_within(&self, range: Range<usize>) -> Option<usize> {
        let mut start = self.resynchronise(range.start);
        while start + HEADER <= range.end {
            let rest = &self.bytes[start..range.end];
            let length = u32_at(rest, 4) as usize;
            let frame = rest.get(12..HEADER.saturating_add(length));
            if frame.is_some_and(|checked| crc32fast::hash(checked) == u32_at(rest, 8)) {
                return Some(start);
            }
            start = self.resynchronise(start + MAGIC.len());
        }
        None
    }

    fn frame(&self, offset: usize) -> Result<Frame<'a>, Bad> {
        let rest = &self.bytes[offset..];
        if !rest.starts_with(&MAGIC) {
            let end = self.resynchronise(offset + 1);
            // A file cut off within a frame's first bytes is cut off, not foreign.
            let cut = end == self.bytes.len() && MAGIC.starts_with(rest);
            let damage = if cut { Damage::CutOff } else { Damage::Foreign };
            return Err(Bad { offset, end, damage });
        }
        let length = if rest.len() < HEADER { LONGEST } else { u32_at(rest, 4) as usize };
        if length > LONGEST || rest.len() < HEADER + length {
            let end = self.resynchronise(offset + MAGIC.len());
            let damage = if end == self.bytes.len() { Damage::CutOff } else { Damage::Checksum };
            return Err(Bad { offset, end, damage });
        }
        let end = offset + HEADER + length;
        if crc32fast::hash(&rest[12..HEADER + length]) != u32_at(rest, 8) {
            // Where the length leads to another frame it is right, and only this one is lost, unless
            // it is the length that is damaged and leads beyond a frame.
            let end = match self.whole_frame_within(offset + MAGIC.len()..end) {
                Some(start) => start,
                None if self.begins_frame(end) => end,
                None => self.resynchronise(offset + MAGIC.len()),
            };
            return Err(Bad { offset, end, damage: Damage::Checksum });
        }
        Ok(Frame {
            offset,
            end,
            id: u64::from(u32_at(rest, 12)) | u64::from(u32_at(rest, 16)) << 32,
            positions: u32_at(rest, 20),
            payload: &rest[HEADER..HEADER + length],
        })
    }
}

impl<'a> Iterator for Scan<'a> {
    type Item = Result<Frame<'a>, Bad>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.offset >= self.bytes.len() {
            return None;
        }
        let found = self.frame(self.offset);
        self.offset = match &found {
            Ok(frame) => frame.end,
            Err(bad) => bad.end,
        };
        Some(found)
    }
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

    proptest! {
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
