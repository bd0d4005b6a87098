//! Writes specifications in their canonical form.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::{
    AlphaBetaSpec, DEFAULT_DEPTH, DEFAULT_TIMEOUT, ExternalSpec, NetPlayerSpec, PlayerKind,
    PlayerSpec, PolicySpec, RolloutsSpec, SpecKind, ThinkingLimit, Time, table,
};
use crate::arena::grammar::Quoted;
use crate::search::mcts;

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        let Some(name) = &self.name else { return Ok(()) };
        let has_keys = !matches!(self.kind, PlayerKind::Random | PlayerKind::Greedy);
        let separator = if has_keys { ',' } else { ':' };
        write!(f, "{separator}{}={}", table::NAME.name, Quoted(&name.to_string()))
    }
}

impl fmt::Display for PlayerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = self.row();
        f.write_str(row.name)?;
        let mut separator = ':';
        if let Some(path) = self.checkpoint() {
            write!(f, ":{}", Quoted(&path.to_string_lossy()))?;
            separator = ',';
        }
        let default = self.with_defaults();
        for key in row.keys {
            let Some(value) = self.value(key.name) else { continue };
            let is_always_written = key.is_limit || key.required.is_some();
            if is_always_written || default.value(key.name).as_ref() != Some(&value) {
                write!(f, "{separator}{}={value}", key.name)?;
                separator = ',';
            }
        }
        Ok(())
    }
}

impl PlayerKind {
    /// The kind's row in `table.rs`.
    fn row(&self) -> &'static SpecKind {
        match self {
            PlayerKind::Random => &table::RANDOM,
            PlayerKind::Greedy => &table::GREEDY,
            PlayerKind::AlphaBeta(_) => &table::ALPHABETA,
            PlayerKind::Rollouts(_) => &table::ROLLOUTS,
            PlayerKind::Net(_) => &table::NET,
            PlayerKind::Policy(_) => &table::POLICY,
            PlayerKind::External(_) => &table::EXTERNAL,
        }
    }

    /// The same player with the default of every key that may be left out.
    fn with_defaults(&self) -> PlayerKind {
        match self {
            PlayerKind::Random => PlayerKind::Random,
            PlayerKind::Greedy => PlayerKind::Greedy,
            PlayerKind::AlphaBeta(spec) => {
                let default = AlphaBetaSpec::default();
                PlayerKind::AlphaBeta(AlphaBetaSpec { limit: spec.limit, ..default })
            }
            PlayerKind::Rollouts(_) => PlayerKind::Rollouts(RolloutsSpec::default()),
            PlayerKind::Net(spec) => {
                let default = NetPlayerSpec::new(PathBuf::new(), spec.search.simulations);
                let mut default =
                    NetPlayerSpec { time: spec.time, ..default }.with_default_solver();
                // This default depends on the player's own `solve_empties`.
                default.search.score_empties = spec.default_score_empties();
                PlayerKind::Net(default)
            }
            PlayerKind::Policy(_) => PlayerKind::Policy(PolicySpec::new(PathBuf::new())),
            PlayerKind::External(spec) => {
                let (depth, timeout) = (DEFAULT_DEPTH, DEFAULT_TIMEOUT);
                PlayerKind::External(ExternalSpec { depth, timeout, ..spec.clone() })
            }
        }
    }

    /// The value of a key as a specification writes it; `None` if it is not set.
    pub(super) fn value(&self, key: &str) -> Option<String> {
        match self {
            PlayerKind::Random | PlayerKind::Greedy => None,
            PlayerKind::AlphaBeta(spec) => alphabeta_value(spec, key),
            PlayerKind::Rollouts(spec) => match key {
                "simulations" => Some(spec.simulations.to_string()),
                "c_uct" => Some(spec.c_uct.to_string()),
                _ => None,
            },
            PlayerKind::Net(spec) => net_value(spec, key),
            PlayerKind::Policy(spec) => match key {
                "temperature_plies" => Some(spec.temperature_plies.to_string()),
                "symmetries" => Some(spec.symmetries.to_string()),
                _ => None,
            },
            PlayerKind::External(spec) => external_value(spec, key),
        }
    }
}

fn alphabeta_value(spec: &AlphaBetaSpec, key: &str) -> Option<String> {
    match (key, spec.limit) {
        ("depth", ThinkingLimit::Depth(plies)) => Some(plies.to_string()),
        ("movetime", ThinkingLimit::MoveTime(time)) => Some(duration_text(time)),
        ("gametime", ThinkingLimit::GameTime(time)) => Some(duration_text(time)),
        ("nodes", ThinkingLimit::Nodes(nodes)) => Some(nodes.to_string()),
        ("eval", _) => Some(spec.evaluator.to_string()),
        ("probcut", _) => spec.probcut.map(|deviations| deviations.to_string()),
        ("solve_empties", _) => Some(spec.solve_empties.to_string()),
        ("threads", _) => spec.threads.map(|threads| threads.to_string()),
        ("table_mb", _) => Some(spec.table_mb.to_string()),
        _ => None,
    }
}

fn net_value(spec: &NetPlayerSpec, key: &str) -> Option<String> {
    match (key, spec.time) {
        ("simulations", None) => Some(spec.search.simulations.to_string()),
        ("movetime", Some(Time::Move(time))) => Some(duration_text(time)),
        ("gametime", Some(Time::Game(time))) => Some(duration_text(time)),
        ("parallel", _) => spec.parallel.map(|leaves| leaves.to_string()),
        ("threads", _) => spec.threads.map(|threads| threads.to_string()),
        ("symmetries", _) => Some(spec.symmetries.to_string()),
        (key, _) => search_value(&spec.search, key),
    }
}

fn search_value(search: &mcts::Options, key: &str) -> Option<String> {
    let value: &dyn fmt::Display = match key {
        "solve_empties" => &search.solve_empties,
        "solve_leaves" => &search.solve_leaves,
        "solve_growth" => &search.solve_growth,
        "wipeout_nodes" => &search.wipeout_nodes,
        "temperature_plies" => &search.temperature_plies,
        "temperature" => &search.temperature,
        "c_puct" => &search.c_puct,
        "first_play" => &search.first_play,
        "fpu_reduction" => &search.fpu_reduction,
        "spread_scale" => &search.spread_scale,
        "prior_temperature" => &search.prior_temperature,
        "score_weight" => &search.score_weight,
        "score_empties" => &search.score_empties,
        "tree_reuse" => &search.tree_reuse,
        _ => return None,
    };
    Some(value.to_string())
}

fn external_value(spec: &ExternalSpec, key: &str) -> Option<String> {
    match key {
        "protocol" => Some(spec.protocol.to_string()),
        "command" => {
            let escaped = spec.command.replace('\\', "\\\\").replace('"', "\\\"");
            Some(format!("\"{escaped}\""))
        }
        "depth" => Some(spec.depth.to_string()),
        "timeout" => Some(duration_text(spec.timeout)),
        _ => None,
    }
}

fn duration_text(time: Duration) -> String {
    match time.as_millis() {
        whole if whole % 1000 == 0 => format!("{}s", whole / 1000),
        fraction => format!("{fraction}ms"),
    }
}
