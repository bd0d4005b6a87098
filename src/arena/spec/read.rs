//! Reads specifications. `table.rs` has the keys and their allowed values.

use super::{
    AlphaBetaSpec, DEFAULT_DEPTH, DEFAULT_TIMEOUT, ExternalSpec, NetPlayerSpec, PolicySpec,
    Protocol, RolloutsSpec, ThinkingLimit, Time,
};
use crate::arena::grammar::{Fields, SpecError};
use crate::search::mcts::FirstPlay;

pub(super) fn read_alphabeta(mut fields: Fields) -> Result<AlphaBetaSpec, SpecError> {
    let mut spec = AlphaBetaSpec::default();
    let limits = [
        fields.whole("depth")?.map(ThinkingLimit::Depth),
        fields.duration("movetime")?.map(ThinkingLimit::MoveTime),
        fields.duration("gametime")?.map(ThinkingLimit::GameTime),
        fields.whole("nodes")?.map(ThinkingLimit::Nodes),
    ];
    spec.limit = limits.into_iter().flatten().next().unwrap_or(spec.limit);
    spec.evaluator = fields.choice("eval")?.unwrap_or_default();
    spec.probcut = fields.number("probcut")?;
    spec.solve_empties = fields.whole("solve_empties")?.unwrap_or(spec.solve_empties);
    let timed = spec.is_timed();
    spec.threads = fields.whole::<usize>("threads")?.filter(|&threads| threads > 1 || timed);
    spec.table_mb = fields.whole("table_mb")?.unwrap_or(spec.table_mb);
    Ok(spec)
}

pub(super) fn read_rollouts(mut fields: Fields) -> Result<RolloutsSpec, SpecError> {
    let default = RolloutsSpec::default();
    Ok(RolloutsSpec {
        simulations: fields.whole("simulations")?.unwrap_or(default.simulations),
        c_uct: fields.number("c_uct")?.unwrap_or(default.c_uct),
    })
}

pub(super) fn read_net(mut fields: Fields) -> Result<NetPlayerSpec, SpecError> {
    let mut spec = NetPlayerSpec::new(fields.subject()?.into(), 100);
    let simulations = fields.whole("simulations")?;
    let movetime = fields.duration("movetime")?.map(Time::Move);
    spec.time = movetime.or(fields.duration("gametime")?.map(Time::Game));
    spec.search.simulations = simulations.unwrap_or(spec.search.simulations);
    spec = spec.with_default_solver();
    let search = &mut spec.search;
    search.solve_empties = fields.whole("solve_empties")?.unwrap_or(search.solve_empties);
    search.solve_leaves = fields.whole("solve_leaves")?.unwrap_or(search.solve_leaves);
    search.solve_growth = fields.number("solve_growth")?.unwrap_or(search.solve_growth);
    search.wipeout_nodes = fields.whole("wipeout_nodes")?.unwrap_or(search.wipeout_nodes);
    search.temperature_plies = fields.whole("temperature_plies")?.unwrap_or(0);
    let temperature = fields.number("temperature")?;
    if temperature.is_some() && search.temperature_plies == 0 {
        return Err(fields.no_effect("temperature"));
    }
    search.temperature = temperature.unwrap_or(search.temperature);
    search.c_puct = fields.number("c_puct")?.unwrap_or(search.c_puct);
    search.first_play = fields.choice("first_play")?.unwrap_or(search.first_play);
    let fpu_reduction = fields.number("fpu_reduction")?;
    if fpu_reduction.is_some() && search.first_play == FirstPlay::Zero {
        return Err(fields.no_effect("fpu_reduction"));
    }
    search.fpu_reduction = fpu_reduction.unwrap_or(search.fpu_reduction);
    search.spread_scale = fields.number("spread_scale")?.unwrap_or(search.spread_scale);
    search.prior_temperature =
        fields.number("prior_temperature")?.unwrap_or(search.prior_temperature);
    search.score_weight = fields.number("score_weight")?.unwrap_or(search.score_weight);
    search.tree_reuse = fields.choice("tree_reuse")?.unwrap_or(search.tree_reuse);
    // Its default depends on `solve_empties`, so this comes after it.
    spec.search.score_empties =
        fields.whole("score_empties")?.unwrap_or(spec.default_score_empties());
    let timed = spec.time.is_some();
    spec.threads = fields.whole::<usize>("threads")?.filter(|&threads| threads > 1 || timed);
    spec.parallel = fields.whole("parallel")?;
    // The default of `parallel` depends on the threads, which may not be known yet.
    if spec.threads.is_some() || !timed {
        spec.omit_default_parallel();
    }
    spec.symmetries = fields.whole("symmetries")?.unwrap_or(1);
    Ok(spec)
}

pub(super) fn read_policy(mut fields: Fields) -> Result<PolicySpec, SpecError> {
    let mut spec = PolicySpec::new(fields.subject()?.into());
    spec.temperature_plies = fields.whole("temperature_plies")?.unwrap_or(spec.temperature_plies);
    spec.symmetries = fields.whole("symmetries")?.unwrap_or(spec.symmetries);
    Ok(spec)
}

pub(super) fn read_external(mut fields: Fields) -> Result<ExternalSpec, SpecError> {
    let protocol: Option<Protocol> = fields.choice("protocol")?;
    let protocol = protocol.ok_or_else(|| fields.missing_key("protocol"))?;
    let command = fields.take("command", |_, value| {
        shlex::split(value).filter(|words| !words.is_empty()).map(|_| value.to_owned())
    })?;
    let command = command.ok_or_else(|| fields.missing_key("command"))?;
    let depth = fields.whole("depth")?;
    if depth.is_some() && protocol != Protocol::Nboard {
        return Err(fields.no_effect("depth"));
    }
    let depth = depth.unwrap_or(DEFAULT_DEPTH);
    let timeout = fields.duration("timeout")?.unwrap_or(DEFAULT_TIMEOUT);
    Ok(ExternalSpec { protocol, command, depth, timeout })
}
