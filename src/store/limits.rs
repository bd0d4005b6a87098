//! The most bytes of each kind of file that are read.
//!
//! A file from outside may be of any length, and reading takes as much memory. Each limit is far
//! above the largest file of its kind that real use makes; a longer file is refused with its
//! length and the limit before it is read. `docs/reliability.md` lists them.

/// A configuration. Written out with every comment, one has about 5 kB.
pub const CONFIG: u64 = 1 << 20;

/// `run.json`, or a checkpoint's `state.json`. They have less than 2 kB.
pub const STATE: u64 = 1 << 20;

/// A segment of games. One is closed at 32 MiB.
pub const SEGMENT: u64 = 256 << 20;

/// A net. The largest that a configuration allows, 100 blocks of 1024 channels, has 7.4 GiB.
pub const NET: u64 = 16 << 30;

/// What a learner goes on from: its net, averages of it and the optimiser's state, which are
/// at most five times the net.
pub const LEARNER: u64 = 64 << 30;

/// The positions or games that `loss --positions` measures players on, which are kept in memory.
/// The 120,000 games of a large database have 15 MB.
pub const POSITIONS: u64 = 64 << 20;

/// A saved game.
pub const GAME: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Shape;
    use crate::net::weights::LONGEST_HEADER;
    use crate::net::{Inputs, NetSpec, Tower, TowerOptions, parts};

    /// The bytes of the largest net's arrays, and about those of the header.
    fn largest(tower: Tower) -> (u64, u64) {
        let (blocks, channels) = (*TowerOptions::BLOCKS.end(), *TowerOptions::CHANNELS.end());
        let inputs = Inputs::Lookahead;
        let options = TowerOptions { tower, inputs, blocks, channels, ..TowerOptions::default() };
        let parts = parts(&NetSpec { shape: Shape::Cross92, options });
        let numbers: usize = parts.iter().map(|part| part.shape.iter().product::<usize>()).sum();
        let described = |name: &str| name.len() + 120;
        let header: usize = parts.iter().map(|part| described(&part.name)).sum();
        (4 * numbers as u64, header as u64)
    }

    #[test]
    fn the_largest_nets_are_far_below_the_limits() {
        for tower in [Tower::Resnet, Tower::Paper] {
            let (arrays, header) = largest(tower);
            assert!(2 * arrays < NET, "{arrays} bytes");
            assert!(5 * arrays < LEARNER, "{arrays} bytes");
            // A learner's file has the arrays of the net, and few others.
            assert!(4 * header < LONGEST_HEADER, "{header} bytes");
        }
    }
}
