//! Contradictions: values that are allowed alone, but not together.

use super::Config;
use super::method::Method;
use super::reader::Reader;
use super::value::as_toml;
use crate::game::Goal;
use crate::net::inference::{BackendKind, Precision};
use crate::net::{Inputs, Tower};
use crate::players::spec::{PlayerKind, PlayerSpec};

/// The AMX kernel computes blocks of this many channels.
const AMX_CHANNELS: u32 = 32;

/// Reports every pair of keys whose values contradict each other.
pub(super) fn contradictions(reader: &mut Reader<'_>, config: &Config) {
    match config.method {
        Method::AlphaZero => alphazero(reader, config),
        Method::Stages => stages(reader, config),
        // Any values of their keys can be combined.
        Method::Td | Method::Endgame | Method::NTuple => {}
    }
}

fn alphazero(reader: &mut Reader<'_>, config: &Config) {
    actors(reader, config);
    learner(reader, config);
    net(reader, config);
    inference(reader, config);
    search(reader, config);
    openings(reader, config);
    replay(reader, config);
    opponents(reader, config);
}

/// The fewest positions of which a thread of the learner computes the statistics.
const LEAST_OF_THREAD: u32 = 32;

fn learner(reader: &mut Reader<'_>, config: &Config) {
    let learner = &config.learner;
    let threads = ("learner.threads", as_toml(&learner.threads));
    if learner.threads > 1 && learner.batch / LEAST_OF_THREAD < learner.threads {
        let why = "each thread needs 32 positions or more of a batch";
        reader.contradiction(threads.clone(), ("learner.batch", as_toml(&learner.batch)), why);
    }
    if learner.threads > 1 && config.net.dropout > 0.0 {
        let dropout = ("net.dropout", as_toml(&config.net.dropout));
        let why = "with dropout the order of the threads would decide what is dropped";
        reader.contradiction(threads, dropout, why);
    }
}

fn actors(reader: &mut Reader<'_>, config: &Config) {
    let limits = &config.limits;
    if config.selfplay.actors == 0 && limits.steps == 0 && limits.minutes <= 0.0 {
        let why = "a run without games of its own never ends; set this limit or `limits.minutes`";
        let steps = ("limits.steps", "0".into());
        reader.contradiction(("selfplay.actors", "0".into()), steps, why);
    }
}

fn opponents(reader: &mut Reader<'_>, config: &Config) {
    for opponent in &config.evaluation.opponents {
        let Ok(PlayerKind::AlphaBeta(spec)) = opponent.parse().map(|spec: PlayerSpec| spec.kind)
        else {
            continue;
        };
        // A model is checked when it is opened.
        if spec.evaluator.model(config.board, config.goal).is_some() {
            continue;
        }
        let evaluator = spec.evaluator.kind();
        if spec.probcut.is_some() && !evaluator.has_probcut(config.board, config.goal) {
            let why = "the evaluator has no parameters of `probcut` there; leave it out";
            let other = match evaluator.has_probcut(config.board, Goal::Most) {
                true => ("goal", as_toml(&config.goal.name())),
                false => ("board", as_toml(&config.board.name())),
            };
            reader.contradiction(("evaluation.opponents", as_toml(opponent)), other, why);
        }
    }
}

fn net(reader: &mut Reader<'_>, config: &Config) {
    let net = &config.net;
    let tower = ("net.tower", as_toml(&net.tower));
    if net.tower == Tower::Paper {
        let why = "the `paper` tower has a policy and a value only; set it to false";
        for (key, on) in [
            ("net.score_head", net.score_head),
            ("net.owner_head", net.owner_head),
            ("net.global_pooling", net.global_pooling),
        ] {
            if on {
                reader.contradiction((key, "true".into()), tower.clone(), why);
            }
        }
        if net.inputs != Inputs::Discs {
            let why = "the `paper` tower has one plane of discs as input; set it to \"discs\"";
            reader.contradiction(("net.inputs", as_toml(&net.inputs)), tower, why);
        }
    } else if net.dropout > 0.0 {
        let why = "only the `paper` tower has dropout; set it to 0";
        reader.contradiction(("net.dropout", as_toml(&net.dropout)), tower, why);
    }
    if net.inputs != Inputs::Evaluations && !net.inputs_evaluator.is_empty() {
        let why = "only evaluations have an evaluator; leave it out";
        let inputs = ("net.inputs", as_toml(&net.inputs));
        reader.contradiction(("net.inputs_evaluator", as_toml(&net.inputs_evaluator)), inputs, why);
    }
    if !net.score_head && config.search.score_weight > 0.0 {
        reader.contradiction(
            ("search.score_weight", as_toml(&config.search.score_weight)),
            ("net.score_head", "false".into()),
            "a net without a score head predicts no disc difference; set the weight to 0",
        );
    }
    if !net.score_head && config.search.score_empties > 0 {
        reader.contradiction(
            ("search.score_empties", as_toml(&config.search.score_empties)),
            ("net.score_head", "false".into()),
            "a net without a score head predicts no disc difference; set it to 0",
        );
    }
}

fn inference(reader: &mut Reader<'_>, config: &Config) {
    let backend = ("inference.backend", as_toml(&config.inference.backend));
    let precision = ("inference.precision", as_toml(&config.inference.precision));
    let device = ("device", as_toml(&config.device));
    let on_gpu = config.device.starts_with("cuda");
    if config.inference.precision == Precision::F16 && config.device == "cpu" {
        let why = "a CPU computes in \"f32\" or \"bf16\"";
        reader.contradiction(precision.clone(), device.clone(), why);
    }
    let (formats, why) = match config.inference.backend {
        BackendKind::Amx => ([Precision::F32, Precision::F16], "matrix tiles compute in \"bf16\""),
        BackendKind::Winograd => {
            ([Precision::Bf16, Precision::F16], "this kernel computes in \"f32\"")
        }
        BackendKind::Auto | BackendKind::Eager => return,
    };
    if formats.contains(&config.inference.precision) {
        reader.contradiction(precision, backend.clone(), why);
    }
    if on_gpu {
        let why = "this kernel runs on a CPU only; for a GPU use \"auto\" or \"eager\"";
        reader.contradiction(backend.clone(), device, why);
    }
    if config.net.tower == Tower::Paper {
        let why = "this kernel computes residual towers only";
        reader.contradiction(backend, ("net.tower", as_toml(&config.net.tower)), why);
    } else if config.inference.backend == BackendKind::Amx
        && !config.net.channels.is_multiple_of(AMX_CHANNELS)
    {
        let why = "matrix tiles need a multiple of 32 channels";
        reader.contradiction(("net.channels", as_toml(&config.net.channels)), backend, why);
    }
}

fn search(reader: &mut Reader<'_>, config: &Config) {
    let selfplay = &config.selfplay;
    if selfplay.full_share >= 1.0 {
        return;
    }
    let fast = ("selfplay.fast_simulations", as_toml(&selfplay.fast_simulations));
    let why = "a fast search cannot have more simulations than a full one";
    let least = selfplay.ramp.iter().map(|&(_, simulations)| simulations).min();
    if selfplay.fast_simulations > config.search.simulations {
        let full = ("search.simulations", as_toml(&config.search.simulations));
        reader.contradiction(fast, full, why);
    } else if least.is_some_and(|least| selfplay.fast_simulations > least) {
        reader.contradiction(fast, ("selfplay.ramp", as_toml(&selfplay.ramp)), why);
    }
}

fn openings(reader: &mut Reader<'_>, config: &Config) {
    // Four squares are occupied at the start, and at least one move must remain for the search.
    let most = config.board.layout().squares as u32 - 5;
    let why = "no move would be left after the opening of a game on this board";
    for (key, plies) in [
        ("selfplay.opening_plies", config.selfplay.opening_plies),
        ("evaluation.opening_plies", config.evaluation.opening_plies),
    ] {
        if plies > most {
            let board = ("board", as_toml(&config.board.name()));
            reader.contradiction((key, as_toml(&plies)), board, why);
        }
    }
}

fn replay(reader: &mut Reader<'_>, config: &Config) {
    let replay = &config.replay;
    if replay.ratio_max > 0.0 && replay.ratio_max < replay.ratio {
        reader.contradiction(
            ("replay.ratio_max", as_toml(&replay.ratio_max)),
            ("replay.ratio", as_toml(&replay.ratio)),
            "the largest ratio must not be below the smallest; 0 means the same as `replay.ratio`",
        );
    }
    let search = &config.search;
    if replay.skip_empties > search.max_solve_empties(0) {
        let leaves = ("search.solve_leaves", as_toml(&search.solve_leaves));
        let empties = ("search.solve_empties", as_toml(&search.solve_empties));
        reader.contradiction(
            ("replay.skip_empties", as_toml(&replay.skip_empties)),
            if search.solve_empties < search.solve_leaves { empties } else { leaves },
            "the search would ask the net about positions that it was never trained on",
        );
    }
    if config.search.tempered_targets && config.search.prune_noise {
        reader.contradiction(
            ("search.tempered_targets", as_toml(&true)),
            ("search.prune_noise", as_toml(&true)),
            "moves are drawn from all visits, including those that come from noise",
        );
    }
    let least = ("replay.min_positions", as_toml(&config.replay.min_positions));
    if config.replay.min_positions > config.replay.max_positions {
        let most = ("replay.max_positions", as_toml(&config.replay.max_positions));
        let why = "the window never holds that many, so training would never start";
        reader.contradiction(least.clone(), most, why);
    }
    let limit = config.limits.positions;
    if limit > 0 && config.replay.min_positions > limit {
        let why = "the run would end before training starts";
        reader.contradiction(least, ("limits.positions", as_toml(&limit)), why);
    }
}

fn stages(reader: &mut Reader<'_>, config: &Config) {
    let stages = &config.stages;
    let offsets = ["parity", "constant"];
    let is_offset = |feature: &&String| offsets.contains(&feature.as_str());
    if stages.features.iter().filter(is_offset).count() != 1 {
        reader.contradiction(
            ("stages.features", as_toml(&stages.features)),
            ("stages.fit", as_toml(&stages.fit)),
            "a fit needs one offset: `parity` or `constant`, and not both",
        );
    }
    let most = config.board.layout().squares as u32 - 5;
    if stages.empties > most {
        reader.contradiction(
            ("stages.empties", as_toml(&stages.empties)),
            ("board", as_toml(&config.board.name())),
            "the last stage needs at least five discs, so that a move was played",
        );
    }
}
