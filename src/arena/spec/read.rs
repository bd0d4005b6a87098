//! Specifications from text: which values each key may have.

use std::time::Duration;

use super::{
    AlphaBetaSpec, DEFAULT_DEPTH, DEFAULT_TIMEOUT, EvaluatorKind, ExternalSpec, NetPlayerSpec,
    PolicySpec, Protocol, RolloutsSpec, ThinkingLimit, Time,
};
use crate::arena::grammar::{Fields, SpecError};
use crate::search::mcts::FirstPlay;

pub(super) fn read_alphabeta(mut fields: Fields) -> Result<AlphaBetaSpec, SpecError> {
    let mut spec = AlphaBetaSpec::default();
    let given = [
        ("depth", fields.whole("depth", 1..=60)?.map(ThinkingLimit::Depth)),
        ("movetime", take_duration(&mut fields, "movetime")?.map(ThinkingLimit::MoveTime)),
        ("gametime", take_duration(&mut fields, "gametime")?.map(ThinkingLimit::GameTime)),
        ("nodes", fields.whole("nodes", 1..=u64::MAX)?.map(ThinkingLimit::Nodes)),
    ];
    let mut limits = given.into_iter().filter_map(|(key, limit)| Some((key, limit?)));
    if let Some((first, limit)) = limits.next() {
        spec.limit = limit;
        if let Some((second, _)) = limits.next() {
            return Err(SpecError::Exclusive { kind: "alphabeta", first, second });
        }
    }
    let names = EvaluatorKind::ALL.iter().map(|evaluation| evaluation.name());
    spec.evaluation = fields.choice("eval", names)?.unwrap_or_default();
    spec.probcut = fields.number("probcut", 0.1..=10.0)?;
    spec.solve_empties = fields.whole("solve_empties", 0..=30)?.unwrap_or(spec.solve_empties);
    let timed = spec.is_timed();
    spec.threads = fields.whole("threads", 1..=256)?.filter(|&threads| threads > 1 || timed);
    spec.table_mb = fields.whole("table_mb", 1..=65536)?.unwrap_or(spec.table_mb);
    Ok(spec)
}

pub(super) fn read_rollouts(mut fields: Fields) -> Result<RolloutsSpec, SpecError> {
    let default = RolloutsSpec::default();
    Ok(RolloutsSpec {
        simulations: fields.whole("simulations", 1..=100_000_000)?.unwrap_or(default.simulations),
        c_uct: fields.number("c_uct", 0.0..=100.0)?.unwrap_or(default.c_uct),
    })
}

pub(super) fn read_net(mut fields: Fields) -> Result<NetPlayerSpec, SpecError> {
    let path = fields.subject(CHECKPOINT, "net:runs/quick,simulations=100")?;
    let mut spec = NetPlayerSpec::new(path.into(), 100);
    let simulations = fields.whole("simulations", 1..=100_000_000)?;
    let movetime = take_duration(&mut fields, "movetime")?;
    let gametime = take_duration(&mut fields, "gametime")?;
    let given = [
        ("simulations", simulations.is_some()),
        ("movetime", movetime.is_some()),
        ("gametime", gametime.is_some()),
    ];
    let mut given = given.into_iter().filter(|(_, given)| *given).map(|(key, _)| key);
    if let (Some(first), Some(second)) = (given.next(), given.next()) {
        return Err(SpecError::Exclusive { kind: "net", first, second });
    }
    spec.time = movetime.map(Time::Move).or(gametime.map(Time::Game));
    spec.search.simulations = simulations.unwrap_or(spec.search.simulations);
    spec = spec.solving_as_usual();
    let search = &mut spec.search;
    search.solve_empties = fields.whole("solve_empties", 0..=30)?.unwrap_or(search.solve_empties);
    search.solve_leaves = fields.whole("solve_leaves", 0..=30)?.unwrap_or(search.solve_leaves);
    search.solve_growth = fields.number("solve_growth", 0.0..=4.0)?.unwrap_or(search.solve_growth);
    search.wipeout_nodes =
        fields.whole("wipeout_nodes", 0..=1_000_000)?.unwrap_or(search.wipeout_nodes);
    search.temperature_plies = fields.whole("temperature_plies", 0..=92)?.unwrap_or(0);
    let temperature = fields.number("temperature", 0.0..=100.0)?;
    if temperature.is_some() && search.temperature_plies == 0 {
        return Err(fields.unread("temperature", "without `temperature_plies`"));
    }
    search.temperature = temperature.unwrap_or(search.temperature);
    search.c_puct = fields.number("c_puct", 0.0..=100.0)?.unwrap_or(search.c_puct);
    let names = FirstPlay::ALL.iter().map(|choice| choice.name());
    search.first_play = fields.choice("first_play", names)?.unwrap_or(search.first_play);
    let fpu_reduction = fields.number("fpu_reduction", 0.0..=2.0)?;
    if fpu_reduction.is_some() && search.first_play == FirstPlay::Zero {
        return Err(fields.unread("fpu_reduction", "with `first_play=zero`"));
    }
    search.fpu_reduction = fpu_reduction.unwrap_or(search.fpu_reduction);
    search.spread_scale = fields.number("spread_scale", 0.0..=1.0)?.unwrap_or(search.spread_scale);
    search.prior_temperature =
        fields.number("prior_temperature", 0.1..=10.0)?.unwrap_or(search.prior_temperature);
    search.score_weight = fields.number("score_weight", 0.0..=1.0)?.unwrap_or(search.score_weight);
    search.tree_reuse =
        fields.choice("tree_reuse", ["true", "false"].into_iter())?.unwrap_or(search.tree_reuse);
    // As many as are solved count, so this comes after them.
    spec.search.score_empties =
        fields.whole("score_empties", 0..=92)?.unwrap_or(spec.usual_score_empties());
    let timed = spec.time.is_some();
    spec.threads = fields.whole("threads", 1..=256)?.filter(|&threads| threads > 1 || timed);
    spec.parallel = fields.whole("parallel", 1..=2048)?;
    // How many leaves are usual is only known where the threads are.
    if spec.threads.is_some() || !timed {
        spec.leave_out_usual_parallel();
    }
    spec.symmetries = read_symmetries(&mut fields)?;
    Ok(spec)
}

fn read_symmetries(fields: &mut Fields) -> Result<usize, SpecError> {
    let given = fields.take("symmetries", "1, 2, 4 or 8", |value| {
        value.parse().ok().filter(|count| [1, 2, 4, 8].contains(count))
    })?;
    Ok(given.unwrap_or(1))
}

pub(super) fn read_policy(mut fields: Fields) -> Result<PolicySpec, SpecError> {
    let path = fields.subject(CHECKPOINT, "policy:runs/quick")?.into();
    let temperature_plies = fields.whole("temperature_plies", 0..=92)?.unwrap_or(0);
    let symmetries = read_symmetries(&mut fields)?;
    Ok(PolicySpec { path, temperature_plies, symmetries })
}

pub(super) fn read_external(mut fields: Fields) -> Result<ExternalSpec, SpecError> {
    let example = "external:protocol=gtp,command=\"engine --gtp\"";
    let missing = |wanted| SpecError::Missing { kind: "external", wanted, example };
    let names = Protocol::ALL.iter().map(|protocol| protocol.name());
    let protocol = fields.choice("protocol", names)?.ok_or(missing("a protocol"))?;
    let allowed = "a program and its arguments, with quotes that close";
    let command = fields
        .take("command", allowed, |value| {
            shlex::split(value).filter(|words| !words.is_empty()).map(|_| value.to_owned())
        })?
        .ok_or(missing("a command"))?;
    let depth = fields.whole("depth", 1..=60)?;
    if depth.is_some() && protocol != Protocol::Nboard {
        return Err(fields.unread("depth", "with `protocol=gtp`: set it in the engine's command"));
    }
    let depth = depth.unwrap_or(DEFAULT_DEPTH);
    let timeout = take_duration(&mut fields, "timeout")?.unwrap_or(DEFAULT_TIMEOUT);
    Ok(ExternalSpec { protocol, command, depth, timeout })
}

const CHECKPOINT: &str = "a net file, a checkpoint or a run directory";

fn take_duration(fields: &mut Fields, key: &'static str) -> Result<Option<Duration>, SpecError> {
    fields.take(key, "a time above 0 such as 100ms, 2s or 1.5m, at most a day", parse_duration)
}

/// A time such as `100ms`, `2s` or `1.5m`.
fn parse_duration(text: &str) -> Option<Duration> {
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0)];
    let (number, unit) =
        units.iter().find_map(|&(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))?;
    let seconds: f64 = number.trim().parse::<f64>().ok()? * unit;
    let fits = (0.001..=86_400.0).contains(&seconds);
    fits.then(|| Duration::from_millis((seconds * 1000.0).round() as u64))
}
