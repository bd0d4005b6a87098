//! Which games a run has counted, by their numbers. A game that arrives again is not counted again.

use std::collections::HashMap;

/// A set of game numbers. Sixty-four neighbours take 16 bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct CountedGames(HashMap<u64, u64>);

impl CountedGames {
    /// Adds a number; false if it was there.
    pub fn insert(&mut self, number: u64) -> bool {
        let bits = self.0.entry(number / 64).or_default();
        let bit = 1 << (number % 64);
        let is_new = *bits & bit == 0;
        *bits |= bit;
        is_new
    }

    /// Removes a number.
    pub fn remove(&mut self, number: u64) {
        if let Some(bits) = self.0.get_mut(&(number / 64)) {
            *bits &= !(1 << (number % 64));
        }
    }

    /// Whether a number is in the set.
    pub fn contains(&self, number: u64) -> bool {
        self.0.get(&(number / 64)).is_some_and(|bits| bits & 1 << (number % 64) != 0)
    }
}

impl FromIterator<u64> for CountedGames {
    fn from_iter<T: IntoIterator<Item = u64>>(numbers: T) -> CountedGames {
        let mut counted = CountedGames::default();
        for number in numbers {
            counted.insert(number);
        }
        counted
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_agrees_with_a_plain_set(numbers in proptest::collection::vec(
            prop_oneof![0..300u64, any::<u64>()], 0..200
        )) {
            let (mut counted, mut plain) = (CountedGames::default(), HashSet::new());
            for number in numbers {
                prop_assert_eq!(counted.contains(number), plain.contains(&number));
                prop_assert_eq!(counted.insert(number), plain.insert(number));
                prop_assert!(counted.contains(number));
                if number % 3 == 0 {
                    counted.remove(number);
                    plain.remove(&number);
                }
            }
        }
    }
}
