//! Writes specifications in their canonical form.

use std::fmt;
use std::path::PathBuf;

use super::{
    AlphaBetaSpec, ExternalSpec, NetPlayerSpec, PlayerKind, PlayerSpec, PolicySpec, RolloutsSpec,
    SpecKind, table,
};
use crate::keys::Keyed;
use crate::players::grammar::{NAME, Quoted, written};

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        let Some(name) = &self.name else { return Ok(()) };
        let has_keys = !matches!(self.kind, PlayerKind::Random | PlayerKind::Greedy);
        let separator = if has_keys { ',' } else { ':' };
        write!(f, "{separator}{}={}", NAME.name, Quoted(&name.to_string()))
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
        for key in row.keys() {
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
            PlayerKind::Policy(_) => PlayerKind::Policy(PolicySpec::default()),
            PlayerKind::External(_) => PlayerKind::External(ExternalSpec::default()),
        }
    }

    /// The options that have the keys, if the kind has any.
    fn options(&self) -> Option<&dyn Keyed> {
        match self {
            PlayerKind::Random | PlayerKind::Greedy => None,
            PlayerKind::AlphaBeta(spec) => Some(spec),
            PlayerKind::Rollouts(spec) => Some(spec),
            PlayerKind::Net(spec) => Some(spec),
            PlayerKind::Policy(spec) => Some(spec),
            PlayerKind::External(spec) => Some(spec),
        }
    }

    /// The value of a key as a specification writes it; `None` if it is not set.
    pub(super) fn value(&self, key: &str) -> Option<String> {
        match self {
            // The time limit replaces the simulations.
            PlayerKind::Net(spec) if spec.time.is_some() && key == "simulations" => None,
            _ => self.options()?.get(key).map(|value| written(&value)),
        }
    }
}
