//! What players with a net share: a net that was read, and the copies that each thread of a match
//! gets.

use super::{NetCopies, SymmetricNet};
use crate::game::Geometry;
use crate::keys::{Allowed, one_of};
use crate::players::contestant::{OpenError, PlayerContext};
use crate::players::models::LoadedModel;
use crate::predict::Backend;

/// The allowed values of the key `symmetries`.
pub(super) const SYMMETRIES: Allowed = one_of(&[1, 2, 4, 8]);

/// Makes copies of a player's net.
pub(super) struct Copies {
    net: LoadedModel,
    context: PlayerContext,
    /// The number of threads, each with a copy of the net.
    threads: usize,
    /// The number of images of each position that the net gets.
    symmetries: usize,
}

impl Copies {
    pub fn new(
        net: LoadedModel,
        context: &PlayerContext,
        threads: usize,
        symmetries: usize,
    ) -> Copies {
        Copies { net, context: context.clone(), threads, symmetries }
    }

    /// The copies for one player.
    pub fn make<G: Geometry>(&self) -> Result<NetCopies, OpenError> {
        let copy = || -> Result<Box<dyn Backend>, OpenError> {
            let net = self.net.backend(&self.context.inference, &self.context.device)?;
            Ok(match self.symmetries {
                1 => net,
                count => Box::new(SymmetricNet::<G>::new(net, count)),
            })
        };
        let others = (1..self.threads).map(|_| copy()).collect::<Result<_, _>>()?;
        Ok(NetCopies::new(copy()?, others))
    }
}
