//! Inputs: arbitrary bytes, or a valid seed after some edits.

use bolero::TypeGenerator;

/// The input of a parser. Its target supplies the seeds and words.
#[derive(Clone, Debug, TypeGenerator)]
pub enum Input {
    /// Arbitrary bytes.
    Bytes(Vec<u8>),
    /// A seed after edits that insert only printable characters.
    Text(u8, #[generator(edits())] Vec<Edit>),
    /// A seed after any edits.
    Edited(u8, #[generator(edits())] Vec<Edit>),
}

fn edits() -> impl bolero::ValueGenerator<Output = Vec<Edit>> {
    bolero::produce::<Vec<Edit>>().with().len(0usize..8)
}

/// A place in a seed, as a share of its length.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub struct Place(u16);

impl Place {
    fn of(self, length: usize) -> usize {
        (self.0 as usize * (length + 1)) >> 16
    }
}

/// A change of a seed.
#[derive(Clone, Debug, TypeGenerator)]
pub enum Edit {
    /// Flips a bit.
    Flip(Place, #[generator(0..8)] u8),
    /// Replaces a byte.
    Set(Place, u8),
    /// Truncates the seed.
    Truncate(Place),
    /// Removes some bytes.
    Cut(Place, #[generator(0..64)] u8),
    /// Copies some bytes to another place.
    Copy(Place, #[generator(0..64)] u8, Place),
    /// Repeats some bytes.
    Repeat(Place, #[generator(0..32)] u8, #[generator(0..100)] u8),
    /// Inserts bytes.
    Insert(Place, #[generator(bolero::produce::<Vec<u8>>().with().len(0usize..8))] Vec<u8>),
    /// Inserts one of the target's words.
    Word(Place, u8),
    /// Replaces a decimal number by one near the limits of number types.
    Number(Place, u8),
    /// Replaces a number of four bytes by one near the limits of its type.
    Binary(Place, u8),
}

const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "-1",
    "1",
    "2",
    "92",
    "93",
    "127",
    "128",
    "-128",
    "255",
    "256",
    "32768",
    "-32768",
    "65535",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e999",
    "-1e999",
    "1e-999",
    "0.5",
    "nan",
    "inf",
    "-inf",
    "0x10",
    "1_000",
    "99999999999999999999999",
];

impl Input {
    /// The bytes to parse.
    pub fn bytes(&self, seeds: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
        let (seed, edits, is_text) = match self {
            Input::Bytes(bytes) => return bytes.clone(),
            Input::Text(seed, edits) => (seed, edits, true),
            Input::Edited(seed, edits) => (seed, edits, false),
        };
        let mut bytes = seeds[*seed as usize % seeds.len()].clone();
        for edit in edits {
            edit.apply(&mut bytes, words, is_text);
        }
        bytes
    }
}

impl Input {
    /// The index of the seed. For arbitrary bytes, the index of the seed that they replace.
    pub fn seed(&self, seeds: usize) -> usize {
        match self {
            Input::Bytes(bytes) => bytes.len() % seeds,
            Input::Text(seed, _) | Input::Edited(seed, _) => *seed as usize % seeds,
        }
    }
}

impl Edit {
    fn apply(&self, bytes: &mut Vec<u8>, words: &[&str], is_text: bool) {
        let printable = |byte: u8| if is_text { b' ' + byte % 95 } else { byte };
        let length = bytes.len();
        let part = |place: Place, count: u8| {
            let start = place.of(length);
            start..(start + count as usize).min(length)
        };
        match self {
            Edit::Flip(place, bit) if is_text => Edit::Set(*place, *bit).apply(bytes, words, true),
            Edit::Flip(place, bit) => {
                bytes.get_mut(place.of(length)).into_iter().for_each(|byte| *byte ^= 1 << bit);
            }
            Edit::Set(place, value) => {
                let new = printable(*value);
                bytes.get_mut(place.of(length)).into_iter().for_each(|byte| *byte = new);
            }
            Edit::Truncate(place) => bytes.truncate(place.of(length)),
            Edit::Cut(place, count) => drop(bytes.drain(part(*place, *count))),
            Edit::Copy(from, count, to) => {
                let copied = bytes[part(*from, *count)].to_vec();
                insert(bytes, to.of(length), copied);
            }
            Edit::Repeat(place, count, times) => {
                let range = part(*place, *count);
                insert(bytes, range.end, bytes[range].repeat(*times as usize));
            }
            Edit::Insert(place, new) => {
                insert(bytes, place.of(length), new.iter().map(|&byte| printable(byte)).collect());
            }
            Edit::Word(place, word) if !words.is_empty() => {
                let word = words[*word as usize % words.len()];
                insert(bytes, place.of(length), word.into());
            }
            Edit::Word(..) => {}
            Edit::Number(place, number) => replace_number(bytes, place.of(length), *number),
            Edit::Binary(place, number) if is_text => {
                replace_number(bytes, place.of(length), *number);
            }
            Edit::Binary(place, number) => {
                let edges = [0, 1, u32::MAX, i32::MAX as u32, 1 << 20, (1 << 20) + 1, 93, 255];
                let number = edges[*number as usize % edges.len()].to_le_bytes();
                let start = place.of(length);
                if let Some(four) = bytes.get_mut(start..start + 4) {
                    four.copy_from_slice(&number);
                }
            }
        }
    }
}

fn insert(bytes: &mut Vec<u8>, place: usize, new: Vec<u8>) {
    bytes.splice(place..place, new);
}

/// Replaces the first number at `place` or after it.
fn replace_number(bytes: &mut Vec<u8>, place: usize, number: u8) {
    let Some(skipped) = bytes[place..].iter().position(u8::is_ascii_digit) else { return };
    let start = place + skipped;
    let is_part = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
    let end = start + bytes[start..].iter().take_while(is_part).count();
    bytes.splice(start..end, NUMBERS[number as usize % NUMBERS.len()].bytes());
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;

    /// Inputs that are all of one kind or never edited would find no faults.
    #[test]
    fn inputs_are_of_every_kind() {
        static COUNTS: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];
        let seeds = [b"a seed with the number 17 in it".to_vec()];
        bolero::check!().with_iterations(1000).with_type::<Input>().for_each(|input| {
            let bytes = input.bytes(&seeds, &["word"]);
            let kind = match input {
                Input::Bytes(_) => 0,
                _ if bytes == seeds[0] => 1,
                Input::Text(..) => {
                    assert!(bytes.iter().all(|byte| (b' '..=b'~').contains(byte)), "{bytes:?}");
                    2
                }
                Input::Edited(..) => 3,
            };
            COUNTS[kind].fetch_add(1, Relaxed);
        });
        for (kind, count) in COUNTS.iter().enumerate() {
            assert!(count.load(Relaxed) > 20, "kind {kind}: {COUNTS:?}");
        }
    }
}
