//! The transposition table: results of earlier searches, by position.
//!
//! Its size is fixed, and threads share it without locks. A slot has two 64-bit words: the data,
//! and the signature XOR the data. If two threads write a slot at once, its signature does not
//! match, as for another position. Two positions can have the same 64-bit signature. Even then no
//! illegal move is played: a stored move only decides which legal move is tried first.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::game::{Bitboard, Board, Geometry, Square};

/// The number of slots in a bucket; together they fill one cache line.
const SLOTS_PER_BUCKET: usize = 4;

/// The result of a search of a position: bounds on its score.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The score is at least this.
    pub lower: i16,
    /// The score is at most this.
    pub upper: i16,
    /// The depth of the search in plies; [`Entry::EXACT`] if it went to the end of the game.
    pub depth: u8,
    /// The best move, if the search found one.
    pub best: Option<Square>,
}

impl Entry {
    /// The depth of a search to the end of the game.
    pub const EXACT: u8 = u8::MAX;
    const NO_MOVE: u8 = u8::MAX;

    fn pack(self, generation: u8) -> u64 {
        let best = self.best.map_or(Entry::NO_MOVE, |square| square.0);
        u64::from(self.lower as u16)
            | u64::from(self.upper as u16) << 16
            | u64::from(self.depth) << 32
            | u64::from(best) << 40
            | u64::from(generation) << 48
    }

    fn unpack(data: u64) -> Entry {
        let best = (data >> 40) as u8;
        Entry {
            lower: data as u16 as i16,
            upper: (data >> 16) as u16 as i16,
            depth: (data >> 32) as u8,
            best: (best != Entry::NO_MOVE).then_some(Square(best)),
        }
    }
}

/// The priority of keeping a slot: its depth, plus 256 if it is of the present generation.
fn priority(data: u64, generation: u8) -> u16 {
    let age = generation.wrapping_sub((data >> 48) as u8);
    u16::from((data >> 32) as u8) + if age == 0 { 256 } else { 0 }
}

#[derive(Default)]
struct Slot {
    /// Signature XOR data.
    check: AtomicU64,
    data: AtomicU64,
}

#[derive(Default)]
#[repr(align(64))]
struct Bucket([Slot; SLOTS_PER_BUCKET]);

/// The hash of a position.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Key {
    /// Identifies the position among those of a bucket.
    signature: u64,
    /// Selects the bucket; the table uses its low bits.
    index: u64,
}

/// Mixes two words: the low half of their product XOR its high half.
#[inline(always)]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

impl Key {
    /// The key of a board.
    #[inline(always)]
    pub fn of<G: Geometry>(board: Board<G>) -> Key {
        let (mine, theirs) = (board.mine.widen(), board.theirs.widen());
        let (mut a, mut b) = (mine as u64, theirs as u64);
        if size_of::<G::Bitboard>() > size_of::<u64>() {
            a = mix(a ^ 0xA076_1D64_78BD_642F, (mine >> 64) as u64 ^ 0xE703_7ED1_A0B4_28DB);
            b = mix(b ^ 0x8EBC_6AF0_9C88_C6E3, (theirs >> 64) as u64 ^ 0x5899_65CC_7537_4CC3);
        }
        let signature = mix(a ^ 0x1D8E_4E27_C47D_124F, b ^ 0xEB44_ACCA_B455_D165);
        let index = mix(a.rotate_left(23) ^ 0x9E37_79B9_7F4A_7C15, b ^ 0xC2B2_AE3D_27D4_EB4F);
        Key { signature, index }
    }

    /// A 64-bit hash of the position. Different positions very rarely have the same one.
    pub(super) fn signature(self) -> u64 {
        self.signature
    }
}

/// A transposition table of fixed size.
///
/// ```
/// use outflank::game::{Board, Square8};
/// use outflank::search::table::{Entry, Key, TranspositionTable};
///
/// let table = TranspositionTable::new(1 << 16);
/// let key = Key::of(Board::<Square8>::start());
/// let entry = Entry { lower: -2, upper: 4, depth: 6, best: None };
/// table.put(key, entry);
/// assert_eq!(table.get(key), Some(entry));
/// table.forget();
/// assert_eq!(table.get(key), None);
/// ```
pub struct TranspositionTable {
    buckets: Box<[Bucket]>,
    generation: AtomicU8,
    /// Part of every signature: changing it invalidates all entries at once.
    salt: AtomicU64,
}

impl TranspositionTable {
    /// A table of at most `bytes` bytes, but at least one cache line.
    pub fn new(bytes: usize) -> TranspositionTable {
        let buckets = (bytes / size_of::<Bucket>()).max(1);
        let buckets = 1usize << buckets.ilog2();
        TranspositionTable {
            buckets: (0..buckets).map(|_| Bucket::default()).collect(),
            generation: AtomicU8::new(0),
            salt: AtomicU64::new(1),
        }
    }

    /// Starts a new generation. Older entries stay valid but are overwritten first.
    pub fn age(&self) {
        self.generation.fetch_add(1, Ordering::Relaxed);
    }

    /// Invalidates all entries. It takes constant time.
    pub fn forget(&self) {
        self.salt.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        self.age();
    }

    fn signature(&self, key: Key) -> u64 {
        key.signature ^ self.salt.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn bucket(&self, key: Key) -> &Bucket {
        &self.buckets[key.index as usize & (self.buckets.len() - 1)]
    }

    /// The entry of a position, if there is one.
    #[inline(always)]
    pub fn get(&self, key: Key) -> Option<Entry> {
        let signature = self.signature(key);
        self.bucket(key).0.iter().find_map(|slot| {
            let data = slot.data.load(Ordering::Relaxed);
            (slot.check.load(Ordering::Relaxed) ^ data == signature).then(|| Entry::unpack(data))
        })
    }

    /// Stores the entry of a position. It replaces an earlier entry of this position, else the
    /// entry with the lowest priority in the bucket.
    #[inline]
    pub fn put(&self, key: Key, entry: Entry) {
        let signature = self.signature(key);
        let generation = self.generation.load(Ordering::Relaxed);
        let slots = &self.bucket(key).0;
        // If all slots have the same priority, as exact scores do, the signature decides which one
        // is replaced, so that it is not always the same.
        let first = (signature >> 60) as usize;
        let mut chosen = (&slots[0], u16::MAX);
        for number in first..first + SLOTS_PER_BUCKET {
            let slot = &slots[number % SLOTS_PER_BUCKET];
            let data = slot.data.load(Ordering::Relaxed);
            if slot.check.load(Ordering::Relaxed) ^ data == signature {
                chosen.0 = slot;
                break;
            }
            let priority = priority(data, generation);
            if priority < chosen.1 {
                chosen = (slot, priority);
            }
        }
        let data = entry.pack(generation);
        chosen.0.data.store(data, Ordering::Relaxed);
        chosen.0.check.store(signature ^ data, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Cross92, Square8};

    fn entry(depth: u8) -> Entry {
        Entry { lower: -3, upper: 640, depth, best: Some(Square(91)) }
    }

    fn key(signature: u64) -> Key {
        Key { signature, index: 0 }
    }

    #[test]
    fn entries_come_back_as_they_were_stored() {
        let table = TranspositionTable::new(1 << 12);
        let key = Key::of(Board::<Cross92>::start());
        assert_eq!(table.get(key), None);
        for stored in [entry(7), Entry { best: None, ..entry(Entry::EXACT) }] {
            table.put(key, stored);
            assert_eq!(table.get(key), Some(stored));
        }
        table.forget();
        assert_eq!(table.get(key), None);
    }

    #[test]
    fn memory_is_bounded_and_shallow_or_old_entries_go_first() {
        let table = TranspositionTable::new(1);
        assert_eq!(table.buckets.len(), 1);
        for number in 1..=4 {
            table.put(key(number << 8), entry(number as u8));
        }
        table.put(key(5 << 8), entry(5));
        assert_eq!((table.get(key(1 << 8)), table.get(key(2 << 8))), (None, Some(entry(2))));
        table.age();
        table.put(key(6 << 8), entry(1));
        table.put(key(7 << 8), entry(1));
        assert_eq!((table.get(key(2 << 8)), table.get(key(6 << 8))), (None, Some(entry(1))));
        assert_eq!(table.get(key(5 << 8)), Some(entry(5)));
    }

    #[test]
    fn a_full_bucket_keeps_replacing_all_of_its_slots() {
        let table = TranspositionTable::new(1);
        let keys = |numbers: std::ops::Range<u64>| {
            numbers.map(|number| key(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
        };
        keys(0..200).for_each(|key| table.put(key, entry(Entry::EXACT)));
        let early = keys(0..100).filter(|&key| table.get(key).is_some()).count();
        let late = keys(100..200).filter(|&key| table.get(key).is_some()).count();
        assert_eq!((early, late), (0, SLOTS_PER_BUCKET));
    }

    #[test]
    fn different_boards_and_sides_have_different_keys() {
        let start = Board::<Square8>::start();
        assert_ne!(Key::of(start), Key::of(start.pass()));
        let mut signatures: Vec<_> =
            start.legal().map(|s| Key::of(start.play_unchecked(s))).collect();
        signatures.sort_by_key(|key| key.signature);
        signatures.dedup();
        assert_eq!(signatures.len(), 4);
    }
}
