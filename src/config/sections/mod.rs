//! Every key: its meaning, the allowed values and its default.

mod learn;
mod play;

use super::reader::{Bounds, MAX_WHOLE, Reader};
use super::{Config, RunLimits};
use crate::arena;
use crate::game::{Goal, Shape};
use crate::net::{Inputs, Tower, TowerOptions, inference};
use crate::store::checkpoint::Retention;

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
const MINUTES: Bounds = Bounds::within(0.0, 1e6);
const SIMULATIONS: std::ops::RangeInclusive<u32> = 1..=1_000_000;

/// Reads all keys. Some defaults depend on keys of earlier sections: the `paper` tower has no extra
/// heads, and without a score head the search has no score to weigh.
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
    config.search = play::search(reader, config.search);
    reader.section("selfplay");
    config.selfplay = play::selfplay(reader, config.selfplay);
    reader.section("inference");
    config.inference = inference(reader, config.inference);
    reader.section("replay");
    config.replay = learn::replay(reader, config.replay);
    reader.section("learner");
    config.learner = learn::learner(reader, config.learner);
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
    config.seed = r.whole(("seed", "the random seed"), config.seed, 0..=MAX_WHOLE);
    config.device = r.word(
        ("device", "the device that trains and plays: `auto` takes a GPU if there is one"),
        std::mem::take(&mut config.device),
        "\"auto\", \"cpu\", \"cuda\", \"cuda:N\" (N is a GPU's number)",
        is_device,
    );
}

fn limits(r: &mut Reader<'_>, d: RunLimits) -> RunLimits {
    RunLimits {
        minutes: r.number(
            ("minutes", "minutes of training, all starts of the run added up; 0 means no limit"),
            d.minutes,
            MINUTES,
        ),
        games: r.whole(("games", "games of self-play; 0 means no limit"), d.games, 0..=MAX_WHOLE),
        positions: r.whole(
            ("positions", "positions of self-play; 0 means no limit"),
            d.positions,
            0..=MAX_WHOLE,
        ),
        steps: r.whole(("steps", "training steps; 0 means no limit"), d.steps, 0..=MAX_WHOLE),
    }
}

fn net(r: &mut Reader<'_>, d: TowerOptions) -> TowerOptions {
    let tower = r.choice(
        ("tower", "the architecture: residual blocks, or the net of Fu and Xu"),
        d.tower,
        Tower::ALL,
        Tower::name,
    );
    let d = match tower {
        Tower::Resnet => d,
        Tower::Paper => TowerOptions {
            inputs: Inputs::Discs,
            global_pooling: false,
            score_head: false,
            owner_head: false,
            dropout: 0.3,
            ..d
        },
    };
    TowerOptions {
        tower,
        inputs: r.choice(
            (
                "inputs",
                "input planes of a `resnet`: the discs, or also the effects of each legal move",
            ),
            d.inputs,
            Inputs::ALL,
            Inputs::name,
        ),
        blocks: r.whole(
            ("blocks", "residual blocks of a `resnet`"),
            d.blocks,
            TowerOptions::BLOCKS,
        ),
        channels: r.whole(
            ("channels", "channels of each convolution"),
            d.channels,
            TowerOptions::CHANNELS,
        ),
        global_pooling: r.flag(
            (
                "global_pooling",
                "whether some blocks of a `resnet` get averages over the whole board",
            ),
            d.global_pooling,
        ),
        score_head: r.flag(
            ("score_head", "whether a `resnet` also predicts the final disc difference"),
            d.score_head,
        ),
        owner_head: r.flag(
            ("owner_head", "whether a `resnet` also predicts each square's final owner"),
            d.owner_head,
        ),
        dropout: r.number(
            ("dropout", "share of the `paper` net's hidden units dropped in a training step"),
            d.dropout,
            Bounds::below(0.0, 1.0),
        ),
    }
}

fn inference(r: &mut Reader<'_>, d: inference::Options) -> inference::Options {
    inference::Options {
        backend: r.choice(
            (
                "backend",
                "the code that computes the net in play; `auto` takes the fastest one that \
                supports the machine and the net",
            ),
            d.backend,
            inference::BackendKind::ALL,
            inference::BackendKind::name,
        ),
        precision: r.choice(
            ("precision", "number format in play; `auto` takes the fastest on the device"),
            d.precision,
            inference::Precision::ALL,
            inference::Precision::name,
        ),
    }
}

fn checkpoint(r: &mut Reader<'_>, d: Retention) -> Retention {
    Retention {
        every_minutes: r.number(
            ("every_minutes", "minutes of training between two checkpoints"),
            d.every_minutes,
            Bounds::above(0.0, 1e6),
        ),
        keep_last: r.whole(
            ("keep_last", "how many of the newest checkpoints are kept"),
            d.keep_last,
            1..=1_000_000,
        ),
        keep_every_minutes: r.number(
            (
                "keep_every_minutes",
                "of the older checkpoints one is kept per this many minutes of training; 0 means \
                none",
            ),
            d.keep_every_minutes,
            MINUTES,
        ),
    }
}

fn evaluation(r: &mut Reader<'_>, d: arena::Options) -> arena::Options {
    arena::Options {
        every_minutes: r.number(
            ("every_minutes", "minutes of training between two evaluations; 0 means none"),
            d.every_minutes,
            MINUTES,
        ),
        games: r.even(
            ("games", "games against each opponent; each opening is played with both colours"),
            d.games,
            2..=100_000,
        ),
        simulations: r.whole(
            ("simulations", "simulations a move of the net"),
            d.simulations,
            SIMULATIONS,
        ),
        opponents: r.players(("opponents", "the opponents, as player specifications"), d.opponents),
        earlier_nets: r.whole(
            ("earlier_nets", "how many of the newest rated nets of this run are opponents as well"),
            d.earlier_nets,
            0..=1000,
        ),
        opening_plies: r.whole(
            ("opening_plies", "random moves at the start of each pair of games"),
            d.opening_plies,
            1..=40,
        ),
    }
}
