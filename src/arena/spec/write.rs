//! Specifications as text: the canonical form.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::{
    AlphaBetaSpec, DEFAULT_DEPTH, DEFAULT_TIMEOUT, NAME, NetPlayerSpec, PlayerKind, PlayerSpec,
    RolloutsSpec, ThinkingLimit, Time,
};
use crate::arena::grammar::Quoted;

fn duration_text(time: Duration) -> String {
    match time.as_millis() {
        whole if whole % 1000 == 0 => format!("{}s", whole / 1000),
        fraction => format!("{fraction}ms"),
    }
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        let Some(name) = &self.name else { return Ok(()) };
        let has_keys = !matches!(self.kind, PlayerKind::Random | PlayerKind::Greedy);
        let separator = if has_keys { ',' } else { ':' };
        write!(f, "{separator}{NAME}={}", Quoted(&name.to_string()))
    }
}

impl fmt::Display for PlayerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayerKind::Random => f.write_str("random"),
            PlayerKind::Greedy => f.write_str("greedy"),
            PlayerKind::AlphaBeta(spec) => write_alphabeta(spec, f),
            PlayerKind::Rollouts(spec) => {
                write!(f, "rollouts:simulations={}", spec.simulations)?;
                key(f, "c_uct", &spec.c_uct, &RolloutsSpec::default().c_uct)
            }
            PlayerKind::Net(spec) => write_net(spec, f),
            PlayerKind::Policy(spec) => {
                write!(f, "policy:{}", Quoted(&spec.path.to_string_lossy()))?;
                key(f, "temperature_plies", &spec.temperature_plies, &0)?;
                key(f, "symmetries", &spec.symmetries, &1)
            }
            PlayerKind::External(spec) => {
                let command = spec.command.replace('\\', "\\\\").replace('"', "\\\"");
                write!(f, "external:protocol={},command=\"{command}\"", spec.protocol)?;
                key(f, "depth", &spec.depth, &DEFAULT_DEPTH)?;
                key(f, "timeout", &duration_text(spec.timeout), &duration_text(DEFAULT_TIMEOUT))
            }
        }
    }
}

/// Writes a key unless it has its default.
fn key<T: PartialEq + fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    key: &str,
    value: &T,
    default: &T,
) -> fmt::Result {
    if value == default { Ok(()) } else { write!(f, ",{key}={value}") }
}

/// Writes a key if it has a value.
fn said<T: fmt::Display>(f: &mut fmt::Formatter<'_>, key: &str, value: Option<T>) -> fmt::Result {
    value.map_or(Ok(()), |value| write!(f, ",{key}={value}"))
}

fn write_alphabeta(spec: &AlphaBetaSpec, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match spec.limit {
        ThinkingLimit::Depth(plies) => write!(f, "alphabeta:depth={plies}")?,
        ThinkingLimit::MoveTime(time) => write!(f, "alphabeta:movetime={}", duration_text(time))?,
        ThinkingLimit::GameTime(time) => write!(f, "alphabeta:gametime={}", duration_text(time))?,
        ThinkingLimit::Nodes(nodes) => write!(f, "alphabeta:nodes={nodes}")?,
    }
    let default = AlphaBetaSpec::default();
    key(f, "eval", &spec.evaluation, &default.evaluation)?;
    said(f, "probcut", spec.probcut)?;
    key(f, "solve_empties", &spec.solve_empties, &default.solve_empties)?;
    said(f, "threads", spec.threads)?;
    key(f, "table_mb", &spec.table_mb, &default.table_mb)
}

fn write_net(spec: &NetPlayerSpec, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let search = &spec.search;
    let path = spec.path.to_string_lossy();
    write!(f, "net:{},", Quoted(&path))?;
    match spec.time {
        None => write!(f, "simulations={}", search.simulations)?,
        Some(Time::Move(time)) => write!(f, "movetime={}", duration_text(time))?,
        Some(Time::Game(time)) => write!(f, "gametime={}", duration_text(time))?,
    }
    let default =
        NetPlayerSpec { time: spec.time, ..NetPlayerSpec::new(PathBuf::new(), search.simulations) };
    let default = default.solving_as_usual().search;
    key(f, "solve_empties", &search.solve_empties, &default.solve_empties)?;
    key(f, "solve_leaves", &search.solve_leaves, &default.solve_leaves)?;
    key(f, "solve_growth", &search.solve_growth, &default.solve_growth)?;
    key(f, "wipeout_nodes", &search.wipeout_nodes, &default.wipeout_nodes)?;
    key(f, "temperature_plies", &search.temperature_plies, &0)?;
    key(f, "temperature", &search.temperature, &default.temperature)?;
    key(f, "c_puct", &search.c_puct, &default.c_puct)?;
    key(f, "first_play", &search.first_play, &default.first_play)?;
    key(f, "fpu_reduction", &search.fpu_reduction, &default.fpu_reduction)?;
    key(f, "spread_scale", &search.spread_scale, &default.spread_scale)?;
    key(f, "prior_temperature", &search.prior_temperature, &default.prior_temperature)?;
    key(f, "score_weight", &search.score_weight, &default.score_weight)?;
    key(f, "score_empties", &search.score_empties, &spec.usual_score_empties())?;
    key(f, "tree_reuse", &search.tree_reuse, &default.tree_reuse)?;
    said(f, "parallel", spec.parallel)?;
    said(f, "threads", spec.threads)?;
    key(f, "symmetries", &spec.symmetries, &1)
}
