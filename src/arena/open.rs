//! From a player's specification to the player.

use super::external::{External, missing_program};
use super::labels::label;
use super::ladder::PlayerLine;
use super::matches::{Contestant, Open};
use super::nets::{LoadedNet, NetError};
use super::player::Player;
use super::players::{
    AlphaBeta, Greedy, NetCopies, NetPlayer, PolicyPlayer, Random, RolloutsPlayer, Symmetric,
    Thinking,
};
use super::spec::{AlphaBetaSpec, NetPlayerSpec, PlayerKind, PlayerName, PlayerSpec, PolicySpec};
use crate::game::{Geometry, Goal, Shape};
use crate::net::inference::{self, Backend};
use crate::search::{mcts, rollouts};

/// Why a player cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its net cannot be used.
    #[error(transparent)]
    Net(#[from] NetError),
    /// Its program is not there.
    #[error("there is no program `{program}`")]
    NoProgram {
        /// As its command names it.
        program: String,
    },
    /// It asks for ProbCut where nobody has measured its parameters.
    #[error(
        "evaluation `{evaluation}` has no parameters of `probcut` for {shape} and the goal {goal}; \
         leave that key out"
    )]
    NoProbCut {
        /// The player's evaluation.
        evaluation: &'static str,
        /// The board.
        shape: Shape,
        /// Who wins.
        goal: Goal,
    },
    /// Its net cannot be computed.
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
    /// Cores that each player has to itself, at least 1.
    pub cores: usize,
}

/// The player of a specification, ready to take part in matches.
///
/// A net is read here, once; its identity says in which checkpoint it was found. The identity of a
/// player by the clock says how many threads it takes.
///
/// # Errors
///
/// A checkpoint that cannot be read or is of another board or goal, a program that is not
/// there, or ProbCut without its parameters.
pub fn contestant<G: Geometry>(
    spec: &PlayerSpec,
    context: &Context,
) -> Result<Contestant<'static, G>, OpenError> {
    let goal = context.goal;
    let spec = spec.clone().on_cores(context.cores);
    let given = spec.name.as_ref().map(PlayerName::to_string);
    let name = spec.kind.to_string();
    let called = label(&name, given.as_deref());
    let open: Box<Open<'static, G>> = match spec.kind.clone() {
        PlayerKind::Net(own) => return net_player(own, given, context),
        PlayerKind::Policy(own) => return policy_player(own, given, context),
        PlayerKind::Random => Box::new(|seed| boxed(Random::new(seed))),
        PlayerKind::Greedy => Box::new(|seed| boxed(Greedy::new(seed))),
        PlayerKind::Rollouts(own) => {
            let options = rollouts::Options { simulations: own.simulations, c_uct: own.c_uct };
            Box::new(move |seed| {
                boxed(RolloutsPlayer::new(called.clone(), goal, options.clone(), seed))
            })
        }
        PlayerKind::AlphaBeta(own) => alphabeta_player(called, own, goal)?,
        PlayerKind::External(own) => {
            if let Some(program) = missing_program(&own.command) {
                return Err(OpenError::NoProgram { program });
            }
            Box::new(move |_| boxed(External::new(called.clone(), own.clone())))
        }
    };
    let line = given.map(|given| PlayerLine::labelled(name.clone(), given));
    Ok(Contestant { name, deterministic: spec.kind.is_deterministic(), line, open })
}

fn alphabeta_player<G: Geometry>(
    name: String,
    own: AlphaBetaSpec,
    goal: Goal,
) -> Result<Box<Open<'static, G>>, OpenError> {
    let evaluator = own.evaluation.evaluator::<G>(goal);
    let evaluation = own.evaluation.name();
    let refused = move || OpenError::NoProbCut { evaluation, shape: G::SHAPE, goal };
    if own.probcut.is_some() && evaluator.probcut().is_none() {
        return Err(refused());
    }
    Ok(Box::new(move |_| {
        let player = AlphaBeta::new(name.clone(), goal, evaluator.clone(), own.clone());
        boxed(player.map_err(|_| refused())?)
    }))
}

fn net_player<G: Geometry>(
    own: NetPlayerSpec,
    given: Option<String>,
    context: &Context,
) -> Result<Contestant<'static, G>, OpenError> {
    let net = LoadedNet::read(&own.path)?.for_match(G::SHAPE, context.goal)?;
    let found = PlayerKind::Net(NetPlayerSpec { path: net.identity(), ..own.clone() });
    let goal = context.goal;
    // A net without a score head predicts no discs, so there are none to weigh exact ones with.
    let search = match net.has_score() {
        true => own.search.clone(),
        false => mcts::Options { score_empties: 0, score_weight: 0.0, ..own.search.clone() },
    };
    let threads = own.threads.unwrap_or(1);
    let copies = Copies { threads, symmetries: own.symmetries };
    Ok(with_net((found, given), net, context, copies, move |name, net_copies, seed| {
        let (search, parallel) = (search.clone(), own.leaves());
        let thinking = Thinking { search, parallel, time: own.time, solvers: threads };
        Box::new(NetPlayer::new(name, goal, net_copies, thinking, seed))
    }))
}

fn policy_player<G: Geometry>(
    own: PolicySpec,
    given: Option<String>,
    context: &Context,
) -> Result<Contestant<'static, G>, OpenError> {
    let net = LoadedNet::read(&own.path)?.for_match(G::SHAPE, context.goal)?;
    let found = PlayerKind::Policy(PolicySpec { path: net.identity(), ..own.clone() });
    let copies = Copies { threads: 1, symmetries: own.symmetries };
    Ok(with_net((found, given), net, context, copies, move |name, net_copies, seed| {
        Box::new(PolicyPlayer::new(name, Box::new(net_copies), own.temperature_plies, seed))
    }))
}

/// How a player asks its net.
#[derive(Clone, Copy)]
struct Copies {
    /// Threads that compute the net.
    threads: usize,
    /// Images of a position that it is asked about.
    symmetries: usize,
}

/// A player around a net of its own, and the name that the user gave it; each thread that plays
/// gets its own copies.
fn with_net<G: Geometry>(
    (found, given): (PlayerKind, Option<String>),
    net: LoadedNet,
    context: &Context,
    copies: Copies,
    make: impl Fn(String, NetCopies, u64) -> Box<dyn Player<G>> + Send + Sync + 'static,
) -> Contestant<'static, G> {
    let (name, context) = (found.to_string(), context.clone());
    let called = label(&name, given.as_deref());
    let line = Some(net.line(&name).called(given));
    let open = move |seed| {
        let copy = || -> Result<Box<dyn Backend>, OpenError> {
            let net = net.backend(&context.inference, &context.device)?;
            Ok(match copies.symmetries {
                1 => net,
                count => Box::new(Symmetric::<G>::new(net, count)),
            })
        };
        let others = (1..copies.threads).map(|_| copy()).collect::<Result<_, _>>()?;
        Ok(make(called.clone(), NetCopies::new(copy()?, others), seed))
    };
    Contestant { name, deterministic: found.is_deterministic(), line, open: Box::new(open) }
}

fn boxed<G: Geometry>(player: impl Player<G> + 'static) -> Result<Box<dyn Player<G>>, OpenError> {
    Ok(Box::new(player))
}
