//! From a player's specification to the player.

use super::external::External;
use super::matches::{Contestant, Open};
use super::nets::{LoadedNet, NetError};
use super::player::Player;
use super::players::{Greedy, NetPlayer, PolicyPlayer, Random, RolloutsPlayer};
use super::spec::PlayerSpec;
use crate::game::{Geometry, Goal};
use crate::net::inference;
use crate::search::rollouts;

/// Why a player cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its net cannot be used.
    #[error(transparent)]
    Net(#[from] NetError),
    /// Its net cannot be computed.
    #[error(transparent)]
    Inference(#[from] inference::InferenceError),
    /// This kind of player is not part of the program yet.
    #[error("this kind of player is not built yet")]
    NotBuilt,
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
/// A net is read here, once; its name says in which checkpoint it was found.
///
/// # Errors
///
/// A checkpoint that cannot be read or is of another board or goal.
pub fn contestant<G: Geometry>(
    spec: &PlayerSpec,
    context: &Context,
) -> Result<Contestant<'static, G>, OpenError> {
    let mut named = spec.clone();
    let mut net = None;
    if let PlayerSpec::Net(super::spec::NetPlayerSpec { path, .. })
    | PlayerSpec::Policy(super::spec::PolicySpec { path, .. }) = &mut named
    {
        let loaded = LoadedNet::read(path)?.for_match(G::SHAPE, context.goal)?;
        *path = loaded.identity();
        net = Some(loaded);
    }
    let name = named.to_string();
    let origin = net.as_ref().map(|net| net.origin(&name));
    let open = opener(spec.clone(), net, name.clone(), context.clone())?;
    Ok(Contestant { name, deterministic: spec.is_deterministic(), origin, open })
}

fn opener<G: Geometry>(
    spec: PlayerSpec,
    net: Option<LoadedNet>,
    name: String,
    context: Context,
) -> Result<Box<Open<'static, G>>, OpenError> {
    let goal = context.goal;
    let backend = move || match &net {
        Some(net) => Ok(net.backend(&context.inference, &context.device)?),
        None => Err(OpenError::NotBuilt),
    };
    Ok(match spec {
        PlayerSpec::Random => Box::new(|seed| boxed(Random::new(seed))),
        PlayerSpec::Greedy => Box::new(|seed| boxed(Greedy::new(seed))),
        PlayerSpec::Rollouts(spec) => Box::new(move |seed| {
            let options = rollouts::Options { simulations: spec.simulations, c_uct: spec.c_uct };
            boxed(RolloutsPlayer::new(name.clone(), goal, options, seed))
        }),
        PlayerSpec::Net(spec) => Box::new(move |seed| {
            let (search, parallel) = (spec.search.clone(), spec.parallel as usize);
            boxed(NetPlayer::new(name.clone(), goal, backend()?, search, parallel, seed))
        }),
        PlayerSpec::Policy(spec) => Box::new(move |seed| {
            boxed(PolicyPlayer::new(name.clone(), backend()?, spec.temperature_plies, seed))
        }),
        PlayerSpec::External(spec) => {
            Box::new(move |_| boxed(External::new(name.clone(), spec.clone())))
        }
        PlayerSpec::AlphaBeta(_) => return Err(OpenError::NotBuilt),
    })
}

fn boxed<G: Geometry>(player: impl Player<G> + 'static) -> Result<Box<dyn Player<G>>, OpenError> {
    Ok(Box::new(player))
}
