//! The kinds of players and their keys. The reader, error messages and `docs/players.md` all use
//! these tables.

use super::{EvaluatorKind, PlayerName, PlayerSpec, Protocol};
use crate::arena::grammar::AllowedValues::{Counts, Names, Number, Text, Time, Whole};
use crate::arena::grammar::{SpecKey, SpecKind};
use crate::search::mcts::FirstPlay;

/// The key that every player may have.
pub(super) const NAME: SpecKey = SpecKey::new(
    "name",
    Text(PlayerName::ALLOWED),
    "the player's name in tables, pictures and messages; it has no other effect",
);

impl PlayerSpec {
    /// The kinds of players.
    pub const KINDS: &'static [SpecKind] =
        &[RANDOM, GREEDY, ALPHABETA, ROLLOUTS, NET, POLICY, EXTERNAL];
}

pub(super) const RANDOM: SpecKind = SpecKind {
    name: "random",
    description: "plays any legal move",
    subject: None,
    keys: &[NAME],
    shortest: "random",
    variants: &[],
    examples: &[("random:name=chance", "a random player that tables call `chance`")],
};

pub(super) const GREEDY: SpecKind = SpecKind {
    name: "greedy",
    description: "plays the move that flips the most discs; of equal moves it plays any",
    subject: None,
    keys: &[NAME],
    shortest: "greedy",
    variants: &[],
    examples: &[("greedy", "the greedy player")],
};

pub(super) const ALPHABETA: SpecKind = SpecKind {
    name: "alphabeta",
    description: "searches with alpha-beta, without a net",
    subject: None,
    keys: ALPHABETA_KEYS,
    shortest: "alphabeta",
    variants: &["alphabeta:movetime=1s"],
    examples: &[
        ("alphabeta:depth=8", "every line of play to depth 8"),
        ("alphabeta:movetime=100ms,probcut=1.5", "Multi-ProbCut, 0.1 s for each move"),
        ("alphabeta:depth=8,solve_empties=14", "perfect play from 14 empty squares on"),
    ],
};

const ALPHABETA_KEYS: &[SpecKey] = &[
    NAME,
    SpecKey::new("depth", Whole(1, 60), "depth of the search in plies").limit(),
    SpecKey::new("movetime", Time, "time for each move").limit(),
    SpecKey::new("gametime", Time, "time for all moves of a game").limit(),
    SpecKey::new("nodes", Whole(1, u64::MAX), "positions searched for each move").limit(),
    SpecKey::new(
        "eval",
        Names(EvaluatorKind::NAMES),
        "the evaluator at the leaves: `positional` knows square values and mobility, `discs` the \
         disc difference alone",
    ),
    SpecKey::new(
        "probcut",
        Number(0.1, 10.0),
        "Multi-ProbCut: the search skips lines that a shallower search predicts to be irrelevant \
         by this many standard deviations. Only with an evaluator whose prediction errors are \
         measured: `positional` on 8x8 for the most discs. Without the key no line is skipped",
    ),
    SpecKey::new(
        "solve_empties",
        Whole(0, 30),
        "positions with at most this many empty squares are solved exactly, whatever the depth, \
         the time or the nodes; 0 means off",
    ),
    SpecKey::new(
        "threads",
        Whole(1, 256),
        "threads of one search; with a time limit one for each core of the player, up to a limit \
         (below)",
    ),
    SpecKey::new("table_mb", Whole(1, 65536), "size of the transposition table in MiB"),
];

pub(super) const ROLLOUTS: SpecKind = SpecKind {
    name: "rollouts",
    description: "searches a tree with UCT and random games, without a net",
    subject: None,
    keys: &[
        NAME,
        SpecKey::new("simulations", Whole(1, 100_000_000), "random games for each move").limit(),
        SpecKey::new("c_uct", Number(0.0, 100.0), "weight of the exploration term of UCT"),
    ],
    shortest: "rollouts",
    variants: &[],
    examples: &[("rollouts:simulations=1000", "1,000 random games for each move")],
};

/// The path of a player with a net.
const CHECKPOINT: &str = "a net file, a checkpoint or a run directory";

const SYMMETRIES: SpecKey = SpecKey::new(
    "symmetries",
    Counts(&[1, 2, 4, 8]),
    "the prediction for a position is the mean over this many of its images under the board's \
     symmetries; each image costs a prediction of the net",
);

pub(super) const NET: SpecKind = SpecKind {
    name: "net",
    description: "searches a tree with a net",
    subject: Some(CHECKPOINT),
    keys: NET_KEYS,
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

const NET_KEYS: &[SpecKey] = &[
    NAME,
    SpecKey::new("simulations", Whole(1, 100_000_000), "simulations for each move").limit(),
    SpecKey::new("movetime", Time, "time for each move").limit(),
    SpecKey::new("gametime", Time, "time for all moves of a game").limit(),
    SpecKey::new(
        "solve_empties",
        Whole(0, 30),
        "positions of the game with at most this many empty squares are solved exactly, with a \
         time limit as far as the time allows; 0 switches all solving off",
    ),
    SpecKey::new(
        "solve_leaves",
        Whole(0, 30),
        "leaves of the tree with at most this many empty squares are solved exactly, up to \
         `solve_empties`; 0 means off",
    ),
    SpecKey::new(
        "solve_growth",
        Number(0.0, 4.0),
        "how many empty squares `solve_leaves` grows by, each time that the visits of a node \
         double, up to `solve_empties`",
    ),
    SpecKey::new(
        "wipeout_nodes",
        Whole(0, 1_000_000),
        "the most positions in the search for a forced wipe-out, at a leaf where a side has at \
         most 3 discs; 0 means off. Only for the goal `most`",
    ),
    SpecKey::new(
        "temperature_plies",
        Whole(0, 92),
        "how many plies from the start of a game are drawn at `temperature`; later the most \
         visited move is played",
    ),
    SpecKey::new(
        "temperature",
        Number(0.0, 100.0),
        "moves are drawn with probability ~ visits^(1/temperature)",
    )
    .refused("without `temperature_plies`"),
    SpecKey::new("c_puct", Number(0.0, 100.0), "weight of the prior against the value in PUCT"),
    SpecKey::new(
        "first_play",
        Names(FirstPlay::NAMES),
        "the value assumed for an unvisited move: its parent's mean less `fpu_reduction` \
         (`parent`), or 0 (`zero`)",
    ),
    SpecKey::new(
        "fpu_reduction",
        Number(0.0, 2.0),
        "how much worse than its parent an unvisited move is assumed to be, in units of value",
    )
    .refused("with `first_play=zero`"),
    SpecKey::new(
        "spread_scale",
        Number(0.0, 1.0),
        "how strongly `c_puct` and `fpu_reduction` scale with the standard deviation of the \
         utilities below a position: 0 not at all, 1 in proportion. At a deviation of 0.4 they are \
         as given",
    ),
    SpecKey::new(
        "prior_temperature",
        Number(0.1, 10.0),
        "priors are the net's policy to the power of 1 / `prior_temperature`: above 1 they are \
         more even",
    ),
    SpecKey::new(
        "score_weight",
        Number(0.0, 1.0),
        "weight of the final disc difference in the utility that is backed up; the value has the \
         rest",
    ),
    SpecKey::new(
        "score_empties",
        Whole(0, 92),
        "with at most this many empty squares at the root, the utility is the final disc \
         difference alone; 0 means off",
    ),
    SpecKey::new(
        "tree_reuse",
        Names(&["true", "false"]),
        "whether the next search keeps the subtree of the played move",
    ),
    SpecKey::new(
        "parallel",
        Whole(1, 2048),
        "leaves of one tree that wait for predictions at the same time: more make the search \
         faster, but weaker for the same number of simulations",
    ),
    SpecKey::new(
        "threads",
        Whole(1, 256),
        "threads that compute the net for one move; with a time limit one for each core of the \
         player, up to a limit (below)",
    ),
    SYMMETRIES,
];

pub(super) const POLICY: SpecKind = SpecKind {
    name: "policy",
    description: "plays by a net's policy, without search",
    subject: Some(CHECKPOINT),
    keys: &[
        NAME,
        SpecKey::new(
            "temperature_plies",
            Whole(0, 92),
            "how many plies from the start of a game are drawn from the policy; later the most \
             probable move is played",
        ),
        SYMMETRIES,
    ],
    shortest: "policy:CHECKPOINT",
    variants: &[],
    examples: &[("policy:runs/quick", "the policy of a run's newest checkpoint")],
};

pub(super) const EXTERNAL: SpecKind = SpecKind {
    name: "external",
    description: "runs another program",
    subject: None,
    keys: &[
        NAME,
        SpecKey::new("protocol", Names(Protocol::NAMES), "the protocol that the program speaks")
            .required("a protocol"),
        SpecKey::new(
            "command",
            Text("a program and its arguments, with quotes that close"),
            "the program and its arguments, split as a shell splits them; no shell runs",
        )
        .required("a command"),
        SpecKey::new("depth", Whole(1, 60), "the search depth of an NBoard program")
            .refused("with `protocol=gtp`: set it in the engine's command"),
        SpecKey::new(
            "timeout",
            Time,
            "the longest time for an answer; a program that takes longer forfeits the game",
        ),
    ],
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
