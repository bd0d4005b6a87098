//! The kinds of players. Their keys are those of their options.

use super::{AlphaBetaSpec, ExternalSpec, NetPlayerSpec, PlayerSpec, PolicySpec, RolloutsSpec};
use crate::players::grammar::SpecKind;

impl PlayerSpec {
    /// The kinds of players.
    pub const KINDS: &'static [SpecKind] =
        &[RANDOM, GREEDY, ALPHABETA, ROLLOUTS, NET, POLICY, EXTERNAL];
}

pub(super) const RANDOM: SpecKind = SpecKind {
    name: "random",
    description: "plays any legal move",
    subject: None,
    options: None,
    shortest: "random",
    variants: &[],
    examples: &[("random:name=chance", "a random player that tables call `chance`")],
};

pub(super) const GREEDY: SpecKind = SpecKind {
    name: "greedy",
    description: "plays the move that flips the most discs; of equal moves it plays any",
    subject: None,
    options: None,
    shortest: "greedy",
    variants: &[],
    examples: &[("greedy", "the greedy player")],
};

pub(super) const ALPHABETA: SpecKind = SpecKind {
    name: "alphabeta",
    description: "searches with alpha-beta, without a net",
    subject: None,
    options: Some(|| Box::new(AlphaBetaSpec::default())),
    shortest: "alphabeta",
    variants: &["alphabeta:movetime=1s"],
    examples: &[
        ("alphabeta:depth=8", "every line of play to depth 8"),
        ("alphabeta:movetime=100ms,probcut=1.5", "Multi-ProbCut, 0.1 s for each move"),
        ("alphabeta:depth=8,solve_empties=14", "perfect play from 14 empty squares on"),
    ],
};

pub(super) const ROLLOUTS: SpecKind = SpecKind {
    name: "rollouts",
    description: "searches a tree with UCT and random games, without a net",
    subject: None,
    options: Some(|| Box::new(RolloutsSpec::default())),
    shortest: "rollouts",
    variants: &[],
    examples: &[("rollouts:simulations=1000", "1,000 random games for each move")],
};

/// The path of a player with a net.
const CHECKPOINT: &str = "a net file, a checkpoint or a run directory";

pub(super) const NET: SpecKind = SpecKind {
    name: "net",
    description: "searches a tree with a net",
    subject: Some(CHECKPOINT),
    options: Some(|| Box::new(NetPlayerSpec::default())),
    shortest: "net:CHECKPOINT",
    variants: &[
        "net:CHECKPOINT,threads=4",
        "net:CHECKPOINT,simulations=400",
        "net:CHECKPOINT,simulations=1600",
        "net:CHECKPOINT,movetime=100ms",
        "net:CHECKPOINT,movetime=1s",
        "net:CHECKPOINT,movetime=10s",
        "net:CHECKPOINT,gametime=5m",
    ],
    examples: &[
        ("net:runs/quick,simulations=100", "the newest checkpoint of a run"),
        ("net:checkpoints/8x8,movetime=1s", "a net that comes with the program, 1 s for each move"),
        (
            "net:runs/quick,temperature_plies=10,temperature=0.5",
            "the first ten plies are drawn by chance, so that games differ",
        ),
    ],
};

pub(super) const POLICY: SpecKind = SpecKind {
    name: "policy",
    description: "plays by a net's policy, without search",
    subject: Some(CHECKPOINT),
    options: Some(|| Box::new(PolicySpec::default())),
    shortest: "policy:CHECKPOINT",
    variants: &[],
    examples: &[("policy:runs/quick", "the policy of a run's newest checkpoint")],
};

pub(super) const EXTERNAL: SpecKind = SpecKind {
    name: "external",
    description: "runs another program",
    subject: None,
    options: Some(|| Box::new(ExternalSpec::default())),
    shortest: "external:protocol=nboard,command=\"...\"",
    variants: &[],
    examples: &[
        ("external:protocol=gtp,command=\"engine --gtp\"", "a program behind GTP"),
        (
            "external:protocol=nboard,command=\"engine --book \\\"my book\\\"\",depth=12",
            "an NBoard program at depth 12, with a blank in an argument",
        ),
    ],
};
