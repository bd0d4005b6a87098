//! Makes players from their specifications.

use super::contestant::{Contestant, PlayerFactory};
use super::external::{ExternalPlayer, missing_program};
use super::kinds::{
    AlphaBetaPlayer, GreedyPlayer, NetCopies, NetPlayer, NetPlayerSettings, PolicyPlayer,
    RandomPlayer, RolloutsPlayer, SymmetricNet,
};
use super::labels::label;
use super::models::{LoadError, LoadedModel};
use super::player::Player;
use super::spec::{
    AlphaBetaSpec, EvaluatorSource, NetPlayerSpec, PlayerKind, PlayerName, PlayerSpec, PolicySpec,
};
use crate::game::{Geometry, Goal, Shape};
use crate::net::inference;
use crate::predict::Backend;
use crate::search::mcts;

/// Why a player cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its net cannot be used.
    #[error(transparent)]
    Net(#[from] LoadError),
    /// The external engine's program does not exist.
    #[error("there is no program `{program}`")]
    NoProgram {
        /// The program as written in the command.
        program: String,
    },
    /// ProbCut is set, but its parameters were not measured for this evaluator, board and goal.
    #[error(
        "evaluator `{evaluation}` has no parameters of `probcut` for {shape} and goal {goal}; leave \
         out this key"
    )]
    NoProbCut {
        /// The player's evaluator.
        evaluation: String,
        /// The board.
        shape: Shape,
        /// Which score wins.
        goal: Goal,
    },
    /// Its net cannot be computed.
    #[error(transparent)]
    Inference(#[from] inference::InferenceError),
}

/// What a player needs besides its specification.
#[derive(Clone, PartialEq, Debug)]
pub struct PlayerContext {
    /// Which score wins.
    pub goal: Goal,
    /// The device for nets: `auto`, `cpu`, `cuda` or `cuda:N`.
    pub device: String,
    /// Options of the inference.
    pub inference: inference::Options,
    /// CPU cores for each player, at least 1.
    pub cores: usize,
}

impl PlayerContext {
    /// For one player on one core, with nets on the fastest device there is.
    pub fn new(goal: Goal) -> PlayerContext {
        let inference = inference::Options::default();
        PlayerContext { goal, device: "auto".into(), inference, cores: 1 }
    }
}

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
    let goal = context.goal;
    let spec = spec.clone().on_cores(context.cores);
    let given = spec.name.as_ref().map(PlayerName::to_string);
    let name = spec.kind.to_string();
    let called = label(&name, given.as_deref());
    let open: Box<PlayerFactory<'static, G>> = match spec.kind.clone() {
        PlayerKind::Net(own) => return net_player(own, given, context),
        PlayerKind::Policy(own) => return policy_player(own, given, context),
        PlayerKind::AlphaBeta(own) => return alphabeta_player(own, given, goal),
        PlayerKind::Random => Box::new(|seed| boxed(RandomPlayer::new(seed))),
        PlayerKind::Greedy => Box::new(|seed| boxed(GreedyPlayer::new(seed))),
        PlayerKind::Rollouts(own) => Box::new(move |seed| {
            boxed(RolloutsPlayer::new(called.clone(), goal, own.clone(), seed))
        }),
        PlayerKind::External(own) => {
            if let Some(program) = missing_program(&own.command) {
                return Err(OpenError::NoProgram { program });
            }
            Box::new(move |_| boxed(ExternalPlayer::new(called.clone(), own.clone())))
        }
    };
    let deterministic = spec.kind.is_deterministic();
    Ok(Contestant { name, label: given, origin: None, deterministic, open })
}

fn alphabeta_player<G: Geometry>(
    own: AlphaBetaSpec,
    given: Option<String>,
    goal: Goal,
) -> Result<Contestant<'static, G>, OpenError> {
    let (evaluator, found) = match &own.evaluator {
        EvaluatorSource::Named(kind) => (kind.evaluator::<G>(goal), own.evaluator.clone()),
        EvaluatorSource::Model(path) => {
            let model = LoadedModel::read(path)?.for_match(G::SHAPE, goal)?;
            (model.evaluator()?, EvaluatorSource::Model(model.identity()))
        }
    };
    let own = AlphaBetaSpec { evaluator: found, ..own };
    let evaluation = own.evaluator.to_string();
    let refused = move || {
        let evaluation = evaluation.clone();
        OpenError::NoProbCut { evaluation, shape: G::SHAPE, goal }
    };
    if own.probcut.is_some() && evaluator.probcut().is_none() {
        return Err(refused());
    }
    let kind = PlayerKind::AlphaBeta(own.clone());
    let (name, deterministic) = (kind.to_string(), kind.is_deterministic());
    let called = label(&name, given.as_deref());
    let open = move |_| {
        let player = AlphaBetaPlayer::new(called.clone(), goal, &evaluator, own.clone());
        boxed(player.map_err(|_| refused())?)
    };
    Ok(Contestant { name, label: given, origin: None, deterministic, open: Box::new(open) })
}

fn net_player<G: Geometry>(
    own: NetPlayerSpec,
    given: Option<String>,
    context: &PlayerContext,
) -> Result<Contestant<'static, G>, OpenError> {
    let net = LoadedModel::read(&own.path)?.for_match(G::SHAPE, context.goal)?;
    let found = PlayerKind::Net(NetPlayerSpec { path: net.identity(), ..own.clone() });
    let goal = context.goal;
    // Without a score head the net predicts no disc differences, so the search must not use them.
    let search = match net.has_score() {
        true => own.search.clone(),
        false => mcts::Options { score_empties: 0, score_weight: 0.0, ..own.search.clone() },
    };
    let threads = own.threads.unwrap_or(1);
    let copies = Copies { threads, symmetries: own.symmetries };
    Ok(with_net((found, given), net, context, copies, move |name, net_copies, seed| {
        let (search, parallel) = (search.clone(), own.leaves());
        let thinking = NetPlayerSettings { search, parallel, time: own.time, solvers: threads };
        Box::new(NetPlayer::new(name, goal, net_copies, thinking, seed))
    }))
}

fn policy_player<G: Geometry>(
    own: PolicySpec,
    given: Option<String>,
    context: &PlayerContext,
) -> Result<Contestant<'static, G>, OpenError> {
    let net = LoadedModel::read(&own.path)?.for_match(G::SHAPE, context.goal)?;
    let found = PlayerKind::Policy(PolicySpec { path: net.identity(), ..own.clone() });
    let copies = Copies { threads: 1, symmetries: own.symmetries };
    Ok(with_net((found, given), net, context, copies, move |name, net_copies, seed| {
        Box::new(PolicyPlayer::new(name, Box::new(net_copies), own.temperature_plies, seed))
    }))
}

/// How often a player's net is computed.
#[derive(Clone, Copy)]
struct Copies {
    /// The number of threads, each with a copy of the net.
    threads: usize,
    /// The number of images of each position that the net gets.
    symmetries: usize,
}

/// A contestant with a net and perhaps a name from the user. Each thread of a match gets its own
/// copies of the net.
fn with_net<G: Geometry>(
    (found, given): (PlayerKind, Option<String>),
    net: LoadedModel,
    context: &PlayerContext,
    copies: Copies,
    make: impl Fn(String, NetCopies, u64) -> Box<dyn Player<G>> + Send + Sync + 'static,
) -> Contestant<'static, G> {
    let (name, context) = (found.to_string(), context.clone());
    let called = label(&name, given.as_deref());
    let origin = Some(net.origin());
    let open = move |seed| {
        let copy = || -> Result<Box<dyn Backend>, OpenError> {
            let net = net.backend(&context.inference, &context.device)?;
            Ok(match copies.symmetries {
                1 => net,
                count => Box::new(SymmetricNet::<G>::new(net, count)),
            })
        };
        let others = (1..copies.threads).map(|_| copy()).collect::<Result<_, _>>()?;
        Ok(make(called.clone(), NetCopies::new(copy()?, others), seed))
    };
    let deterministic = found.is_deterministic();
    Contestant { name, label: given, origin, deterministic, open: Box::new(open) }
}

fn boxed<G: Geometry>(player: impl Player<G> + 'static) -> Result<Box<dyn Player<G>>, OpenError> {
    Ok(Box::new(player))
}
