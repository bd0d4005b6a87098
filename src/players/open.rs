//! Makes players from their specifications.

use super::contestant::{Contestant, OpenError, PlayerContext};
use super::kind::Opened;
use super::labels::label;
use super::player::Player;
use super::spec::{PlayerName, PlayerSpec};
use crate::game::{Geometry, Goal};

/// Makes the player of a specification, to be used alone: on one core, with nets on the fastest
/// device there is. Equal players from this function make the same moves.
///
/// # Errors
///
/// As for [`contestant`].
pub fn player<G: Geometry>(spec: &PlayerSpec, goal: Goal) -> Result<Box<dyn Player<G>>, OpenError> {
    const SEED: u64 = 1;
    (contestant::<G>(spec, &PlayerContext::new(goal))?.open)(SEED)
}

/// Makes the contestant of a specification.
///
/// A net is read here, once; the contestant's identity names the checkpoint in which it was found.
/// The identity of a player with a time limit includes its number of threads.
///
/// # Errors
///
/// A checkpoint that cannot be read or has another board or goal, a program that does not exist, or
/// ProbCut without parameters.
pub fn contestant<G: Geometry>(
    spec: &PlayerSpec,
    context: &PlayerContext,
) -> Result<Contestant<'static, G>, OpenError> {
    let spec = spec.clone().on_cores(context.cores);
    let Opened { options: kind, origin, make } = spec.kind.open(context)?;
    let given = spec.name.as_ref().map(PlayerName::to_string);
    let (name, deterministic) = (kind.to_string(), kind.is_deterministic());
    let called = label(&name, given.as_deref());
    let open = Box::new(move |seed| make(called.clone(), seed));
    Ok(Contestant { name, label: given, origin, deterministic, open })
}
