//! From a player's specification to the player.

use super::matches::Contestant;
use super::player::Player;
use super::players::{Greedy, Random, RolloutsPlayer};
use super::spec::PlayerSpec;
use crate::game::{Geometry, Goal};
use crate::net::inference;
use crate::search::rollouts;

/// Why a player cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// This kind of player is not part of the program yet.
    #[error("this kind of player is not built yet")]
    NotBuilt,
    /// The network cannot be used.
    #[error(transparent)]
    Inference(#[from] inference::InferenceError),
}

/// What players need to know besides their specification.
#[derive(Clone, PartialEq, Debug)]
pub struct Context {
    /// Which side of the score wins.
    pub goal: Goal,
    /// Where nets are computed: `auto`, `cpu`, `cuda` or `cuda:N`.
    pub device: String,
    /// How nets are computed.
    pub inference: inference::Options,
}

/// Somebody who takes part in matches as a specification says.
///
/// # Errors
///
/// A checkpoint that cannot be read or is of another board or goal.
pub fn contestant<G: Geometry>(
    spec: &PlayerSpec,
    context: &Context,
) -> Result<Contestant<'static, G>, OpenError> {
    let name = spec.to_string();
    let goal = context.goal;
    let open: Box<super::matches::Open<'static, G>> = match spec.clone() {
        PlayerSpec::Random => Box::new(|seed| boxed(Random::new(seed))),
        PlayerSpec::Greedy => Box::new(|seed| boxed(Greedy::new(seed))),
        PlayerSpec::Rollouts(spec) => {
            let (simulations, c_uct) = (spec.simulations, spec.c_uct);
            let options = rollouts::Options { simulations, c_uct };
            let name = name.clone();
            Box::new(move |seed| {
                boxed(RolloutsPlayer::new(name.clone(), goal, options.clone(), seed))
            })
        }
        _ => return Err(OpenError::NotBuilt),
    };
    Ok(Contestant { name, deterministic: spec.is_deterministic(), origin: None, open })
}

fn boxed<G: Geometry>(player: impl Player<G> + 'static) -> Result<Box<dyn Player<G>>, OpenError> {
    Ok(Box::new(player))
}
