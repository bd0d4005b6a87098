//! Every key: what it sets, what it may be, and its default.

use super::reader::{Bounds, MOST, Reader, read_number, read_whole};
use super::{Config, Limits};
use crate::arena;
use crate::game::{Goal, Shape};
use crate::net::{Tower, TowerOptions, inference};
use crate::search::mcts;
use crate::store::checkpoint::Rule;
use crate::train::{learner, replay, selfplay};

/// The sections in the order in which they are read and shown.
pub(super) const SECTIONS: [&str; 9] = [
    "limits",
    "net",
    "search",
    "selfplay",
    "inference",
    "replay",
    "learner",
    "checkpoint",
    "evaluation",
];

const SHARE: Bounds = Bounds::within(0.0, 1.0);
const WEIGHT: Bounds = Bounds::within(0.0, 1000.0);
const MINUTES: Bounds = Bounds::within(0.0, 1e6);
const SIMULATIONS: std::ops::RangeInclusive<u32> = 1..=1_000_000;

/// Reads all keys. A section's defaults may depend on what was read before it: the paper's net
/// has no extra heads, and without a score head there is no score to search for.
pub(super) fn read(reader: &mut Reader<'_>) -> Config {
    let mut config = Config::default();
    top(reader, &mut config);
    reader.section("limits");
    config.limits = limits(reader, config.limits);
    reader.section("net");
    config.net = net(reader, config.net);
    reader.section("search");
    if !config.net.score_head {
        config.search.score_weight = 0.0;
    }
    config.search = search(reader, config.search);
    reader.section("selfplay");
    config.selfplay = selfplay(reader, config.selfplay);
    reader.section("inference");
    config.inference = inference(reader, config.inference);
    reader.section("replay");
    config.replay = replay(reader, config.replay);
    reader.section("learner");
    config.learner = learner(reader, config.learner);
    reader.section("checkpoint");
    config.checkpoint = checkpoint(reader, config.checkpoint);
    reader.section("evaluation");
    config.evaluation = evaluation(reader, config.evaluation);
    config
}

fn is_device(name: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    matches!(name, "auto" | "cpu" | "cuda") || name.strip_prefix("cuda:").is_some_and(number)
}

fn top(r: &mut Reader<'_>, config: &mut Config) {
    config.board = r.choice(("board", "the board"), config.board, &Shape::ALL, Shape::name);
    config.goal = r.choice(
        ("goal", "which disc count wins: the most (Othello) or the fewest (reversed Othello)"),
        config.goal,
        &[Goal::Most, Goal::Fewest],
        Goal::name,
    );
    config.seed = r.whole(("seed", "what everything random follows from"), config.seed, 0..=MOST);
    config.device = r.word(
        ("device", "where the net is trained and played: `auto` takes a GPU if there is one"),
        std::mem::take(&mut config.device),
        "\"auto\", \"cpu\", \"cuda\", \"cuda:N\" (N is a GPU's number)",
        is_device,
    );
}

fn limits(r: &mut Reader<'_>, d: Limits) -> Limits {
    Limits {
        minutes: r.number(
            ("minutes", "minutes of training over all starts; 0 is no limit"),
            d.minutes,
            MINUTES,
        ),
        games: r.whole(("games", "games of self-play; 0 is no limit"), d.games, 0..=MOST),
        positions: r.whole(
            ("positions", "positions of self-play; 0 is no limit"),
            d.positions,
            0..=MOST,
        ),
        steps: r.whole(("steps", "steps of the learner; 0 is no limit"), d.steps, 0..=MOST),
    }
}

fn net(r: &mut Reader<'_>, d: TowerOptions) -> TowerOptions {
    let tower = r.choice(
        ("tower", "the trunk: residual blocks, or the net of Fu and Xu"),
        d.tower,
        Tower::ALL,
        Tower::name,
    );
    let d = match tower {
        Tower::Resnet => d,
        Tower::Paper => TowerOptions {
            global_pooling: false,
            score_head: false,
            owner_head: false,
            dropout: 0.3,
            ..d
        },
    };
    TowerOptions {
        tower,
        blocks: r.whole(("blocks", "residual blocks of a `resnet`"), d.blocks, 1..=100),
        channels: r.whole(("channels", "channels of each convolution"), d.channels, 1..=1024),
        global_pooling: r.flag(
            ("global_pooling", "whether some blocks of a `resnet` see means over the whole board"),
            d.global_pooling,
        ),
        score_head: r.flag(
            ("score_head", "whether a `resnet` also foretells the final disc difference"),
            d.score_head,
        ),
        owner_head: r.flag(
            ("owner_head", "whether a `resnet` also foretells each square's final owner"),
            d.owner_head,
        ),
        dropout: r.number(
            ("dropout", "share of the `paper` net's hidden units that a training step drops"),
            d.dropout,
            Bounds::below(0.0, 1.0),
        ),
    }
}

fn search(r: &mut Reader<'_>, d: mcts::Options) -> mcts::Options {
    mcts::Options {
        root: r.choice(
            ("root", "how the root divides its simulations among the moves"),
            d.root,
            mcts::Root::ALL,
            mcts::Root::name,
        ),
        simulations: r.whole(
            ("simulations", "simulations of a full search"),
            d.simulations,
            SIMULATIONS,
        ),
        c_puct: r.single(
            ("c_puct", "weight of the prior against the value in PUCT"),
            d.c_puct,
            Bounds::within(0.0, 100.0),
        ),
        first_play: r.choice(
            ("first_play", "what an unvisited move is taken to be worth: its parent's mean less `fpu_reduction`, or 0"),
            d.first_play,
            mcts::FirstPlay::ALL,
            mcts::FirstPlay::name,
        ),
        fpu_reduction: r.single(
            ("fpu_reduction", "how much worse than its parent an unvisited move is taken to be, in units of value"),
            d.fpu_reduction,
            Bounds::within(0.0, 2.0),
        ),
        dirichlet_total: r.single(
            ("dirichlet_total", "sum of the Dirichlet noise's parameters over a position's moves"),
            d.dirichlet_total,
            Bounds::above(0.0, 1000.0),
        ),
        dirichlet_share: r.single(
            ("dirichlet_share", "the noise's share in the root's priors in self-play; 0 is off"),
            d.dirichlet_share,
            SHARE,
        ),
        temperature: r.single(
            ("temperature", "moves are drawn with probability ~ visits^(1/temperature); 0 takes the most visited"),
            d.temperature,
            Bounds::within(0.0, 10.0),
        ),
        temperature_plies: r.whole(
            ("temperature_plies", "plies from the start of a game that `temperature` holds for"),
            d.temperature_plies,
            0..=100,
        ),
        temperature_late: r.single(
            ("temperature_late", "the temperature of later moves"),
            d.temperature_late,
            Bounds::within(0.0, 10.0),
        ),
        tree_reuse: r.flag(
            ("tree_reuse", "whether the played move's subtree is kept for the next search"),
            d.tree_reuse,
        ),
        gumbel_considered: r.whole(
            ("gumbel_considered", "moves that a Gumbel root starts with"),
            d.gumbel_considered,
            1..=128,
        ),
        gumbel_c_visit: r.single(
            ("gumbel_c_visit", "visits added to the most visited move's when a Gumbel root scales values"),
            d.gumbel_c_visit,
            Bounds::within(0.0, 1e6),
        ),
        gumbel_c_scale: r.single(
            ("gumbel_c_scale", "scale of a value against a logit at a Gumbel root"),
            d.gumbel_c_scale,
            Bounds::within(0.0, 1000.0),
        ),
        solve_empties: r.whole(
            ("solve_empties", "positions with at most this many empty squares are solved exactly; 0 is off"),
            d.solve_empties,
            0..=20,
        ),
        score_weight: r.single(
            ("score_weight", "share of the final disc difference in the utility that is backed up"),
            d.score_weight,
            SHARE,
        ),
    }
}

fn selfplay(r: &mut Reader<'_>, d: selfplay::Options) -> selfplay::Options {
    selfplay::Options {
        actors: r.whole(("actors", "threads that play games"), d.actors, 1..=1024),
        games_per_actor: r.whole(
            ("games_per_actor", "games that one actor plays at a time, and so its largest batch"),
            d.games_per_actor,
            1..=65536,
        ),
        full_share: r.single(
            ("full_share", "share of the moves that get a full search and give a policy to learn"),
            d.full_share,
            Bounds::above(0.0, 1.0),
        ),
        fast_simulations: r.whole(
            ("fast_simulations", "simulations of the other moves"),
            d.fast_simulations,
            SIMULATIONS,
        ),
        opening: r.choice(
            ("opening", "how the first moves are drawn: uniformly, or from the net's policy"),
            d.opening,
            selfplay::Opening::ALL,
            selfplay::Opening::name,
        ),
        opening_plies: r.whole(
            ("opening_plies", "the most such moves; each game draws a number from 0 to this"),
            d.opening_plies,
            0..=60,
        ),
        opening_temperature: r.single(
            ("opening_temperature", "temperature of the policy in such moves"),
            d.opening_temperature,
            Bounds::above(0.0, 10.0),
        ),
        resign_below: r.single(
            ("resign_below", "a side whose value stays below this resigns; -1 is never"),
            d.resign_below,
            Bounds::within(-1.0, 0.0),
        ),
        resign_plies: r.whole(
            ("resign_plies", "for how many of its own moves in a row"),
            d.resign_plies,
            1..=60,
        ),
        resign_playout_share: r.single(
            ("resign_playout_share", "share of the games that are played out all the same, to count wrong resignations"),
            d.resign_playout_share,
            SHARE,
        ),
        ramp: r.stairs(
            ("ramp", "pairs [positions made, simulations of a full search from then on]; before the first, `search.simulations`"),
            d.ramp,
            "a list of pairs [whole number, whole number from 1 to 1000000] whose first numbers rise, such as [[0, 16], [200000, 64]]".into(),
            false,
            |value, allowed| read_whole(value, &SIMULATIONS, allowed),
        ),
    }
}

fn inference(r: &mut Reader<'_>, d: inference::Options) -> inference::Options {
    inference::Options {
        backend: r.choice(
            (
                "backend",
                "the code that computes the net in play: `auto` takes the fastest there is",
            ),
            d.backend,
            inference::BackendKind::ALL,
            inference::BackendKind::name,
        ),
        precision: r.choice(
            ("precision", "its number format: `auto` takes the fastest that the device has"),
            d.precision,
            inference::Precision::ALL,
            inference::Precision::name,
        ),
    }
}

fn replay(r: &mut Reader<'_>, d: replay::Options) -> replay::Options {
    replay::Options {
        min_positions: r.whole(
            ("min_positions", "positions in the window before learning starts"),
            d.min_positions,
            1..=MOST,
        ),
        max_positions: r.whole(
            ("max_positions", "the most positions in the window, each at most 100 bytes of memory"),
            d.max_positions,
            1..=1_000_000_000,
        ),
        growth_exponent: r.number(
            ("growth_exponent", "the window grows as this power of the positions made; 1 keeps all up to `max_positions`"),
            d.growth_exponent,
            Bounds::above(0.0, 1.0),
        ),
        growth_start: r.whole(
            ("growth_start", "positions up to which the window keeps all"),
            d.growth_start,
            1..=MOST,
        ),
        ratio: r.number(
            ("ratio", "training samples for each new position"),
            d.ratio,
            Bounds::above(0.0, 1000.0),
        ),
    }
}

fn learner(r: &mut Reader<'_>, d: learner::Options) -> learner::Options {
    let rate = Bounds::within(0.0, 10.0);
    learner::Options {
        batch: r.whole(("batch", "positions in a step"), d.batch, 2..=1_048_576),
        steps_per_publish: r.whole(
            ("steps_per_publish", "steps between two nets that the actors get"),
            d.steps_per_publish,
            1..=1_000_000,
        ),
        optimizer: r.choice(
            ("optimizer", "the rule that turns gradients into steps"),
            d.optimizer,
            learner::OptimizerKind::ALL,
            learner::OptimizerKind::name,
        ),
        learning_rate: r.stairs(
            ("learning_rate", "pairs [positions made, learning rate from then on]"),
            d.learning_rate,
            "a list of pairs [whole number, number from 0 to 10] whose first numbers rise from 0, such as [[0, 0.02], [1000000, 0.002]]".into(),
            true,
            |value, allowed| read_number(value, rate, allowed),
        ),
        momentum: r.number(
            ("momentum", "momentum of `sgd`"),
            d.momentum,
            Bounds::below(0.0, 1.0),
        ),
        weight_decay: r.number(
            ("weight_decay", "pull of the weights towards 0 in each step, times the learning rate"),
            d.weight_decay,
            SHARE,
        ),
        ema: r.number(
            ("ema", "share of the old value in the averaged weights that play, per step; 0 plays the newest"),
            d.ema,
            Bounds::below(0.0, 1.0),
        ),
        search_value_share: r.single(
            ("search_value_share", "share of the search's value in the value target; the rest is the outcome"),
            d.search_value_share,
            SHARE,
        ),
        policy_weight: r.number(("policy_weight", "weight of the policy loss"), d.policy_weight, WEIGHT),
        value_weight: r.number(("value_weight", "weight of the value loss"), d.value_weight, WEIGHT),
        score_weight: r.number(
            ("score_weight", "weight of the loss on the final disc difference"),
            d.score_weight,
            WEIGHT,
        ),
        owner_weight: r.number(
            ("owner_weight", "weight of the loss on the squares' final owners"),
            d.owner_weight,
            WEIGHT,
        ),
        gradient_clip: r.number(
            ("gradient_clip", "the largest norm of a gradient, longer ones are shortened to it; 0 is off"),
            d.gradient_clip,
            Bounds::within(0.0, 1e6),
        ),
        precision: r.choice(
            ("precision", "number format of the forward and backward pass; the weights stay float32"),
            d.precision,
            learner::Precision::ALL,
            learner::Precision::name,
        ),
        loss_limit: r.number(
            ("loss_limit", "a loss above this, or one that is no number, stops the run"),
            d.loss_limit,
            Bounds::above(0.0, 1e9),
        ),
        warmup_steps: r.whole(
            ("warmup_steps", "steps over which the learning rate rises from 0 at the start of a run"),
            d.warmup_steps,
            0..=MOST,
        ),
        augment: r.flag(
            ("augment", "whether each sample is turned by a random symmetry of the board"),
            d.augment,
        ),
    }
}

fn checkpoint(r: &mut Reader<'_>, d: Rule) -> Rule {
    Rule {
        every_minutes: r.number(
            ("every_minutes", "minutes of training between two checkpoints"),
            d.every_minutes,
            Bounds::above(0.0, 1e6),
        ),
        keep_last: r.whole(
            ("keep_last", "how many of the newest stay"),
            d.keep_last,
            1..=1_000_000,
        ),
        keep_every_minutes: r.number(
            (
                "keep_every_minutes",
                "of the older ones, one stays for each so many minutes of training; 0 is none",
            ),
            d.keep_every_minutes,
            MINUTES,
        ),
    }
}

fn evaluation(r: &mut Reader<'_>, d: arena::Options) -> arena::Options {
    arena::Options {
        every_minutes: r.number(
            ("every_minutes", "minutes of training between two evaluations; 0 is none"),
            d.every_minutes,
            MINUTES,
        ),
        games: r.even(
            ("games", "games against each opponent; pairs with colours swapped"),
            d.games,
            2..=100_000,
        ),
        simulations: r.whole(
            ("simulations", "simulations of the net's searches"),
            d.simulations,
            SIMULATIONS,
        ),
        opponents: r.players(("opponents", "the opponents"), d.opponents),
        opening_plies: r.whole(
            ("opening_plies", "random moves that each pair of games starts with"),
            d.opening_plies,
            0..=60,
        ),
        at_end_games: r.even(
            (
                "at_end_games",
                "games against each opponent when the run has reached a limit; 0 is none",
            ),
            d.at_end_games,
            0..=100_000,
        ),
    }
}
