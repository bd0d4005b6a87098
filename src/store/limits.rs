//! The largest file of each kind that is read, in bytes.
//!
//! A file may have any length, and reading it takes as much memory. Each limit is far above the
//! largest real file of its kind. A longer file is refused before it is read; the error names its
//! length and the limit. `docs/reliability.md` lists the limits.

/// A configuration. With every key and comment it has about 5 kB.
pub const CONFIG: u64 = 1 << 20;

/// `run.json`, or a checkpoint's `state.json`. Both have less than 2 kB.
pub const STATE: u64 = 1 << 20;

/// A person's lessons. A thousand have 1.5 MB.
pub const LESSONS: u64 = 16 << 20;

/// A segment of games. A segment is closed at 32 MiB.
pub const SEGMENT: u64 = 256 << 20;

/// A net. The largest that a configuration allows, 100 blocks of 1024 channels, has 7.4 GiB.
pub const NET: u64 = 16 << 30;

/// A learner's saved state: its weights and the optimiser's state, at most five times the net.
pub const LEARNER: u64 = 64 << 30;

/// The positions or games of `loss --positions`, which are kept in memory. A large database of
/// 120,000 games has 15 MB.
pub const POSITIONS: u64 = 64 << 20;

/// A file of an archive of games. The largest year of WTHOR has 0.6 MB.
pub const ARCHIVE: u64 = 64 << 20;

/// A file of labels. One of a hundred million boards of 8x8 has 1.7 GB.
pub const LABELS: u64 = 4 << 30;

/// An opening book. A million positions of 8x8 have 20 MB.
pub const BOOK: u64 = 128 << 20;

/// The leases of a run. A thousand workers lease some 2 MB in an hour.
pub const LEASES: u64 = 256 << 20;

/// A saved game.
pub const GAME: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Shape;
    use crate::model::weights::LONGEST_HEADER;
    use crate::net::{Inputs, NetSpec, Tower, TowerOptions, array_specs};

    /// The largest net's arrays and (estimated) header, in bytes.
    fn largest(tower: Tower) -> (u64, u64) {
        let (blocks, channels) = (*TowerOptions::BLOCKS.end(), *TowerOptions::CHANNELS.end());
        let inputs = Inputs::Lookahead;
        let options = TowerOptions { tower, inputs, blocks, channels, ..TowerOptions::default() };
        let arrays = array_specs(&NetSpec { shape: Shape::Cross92, options, evaluator: None });
        let numbers: usize = arrays.iter().map(|array| array.shape.iter().product::<usize>()).sum();
        let described = |name: &str| name.len() + 120;
        let header: usize = arrays.iter().map(|array| described(&array.name)).sum();
        (4 * numbers as u64, header as u64)
    }

    #[test]
    fn the_largest_nets_are_far_below_the_limits() {
        for tower in [Tower::Resnet, Tower::Paper] {
            let (arrays, header) = largest(tower);
            assert!(2 * arrays < NET, "{arrays} bytes");
            assert!(5 * arrays < LEARNER, "{arrays} bytes");
            // A learner's file has a few arrays more than the net.
            assert!(4 * header < LONGEST_HEADER, "{header} bytes");
        }
    }
}
