//! Reads the options of players. Here are the defaults and refusals that depend on other keys.

use super::{AlphaBetaSpec, ExternalSpec, NetPlayerSpec, PolicySpec, Protocol, RolloutsSpec};
use crate::players::grammar::{Fields, SpecError};
use crate::search::mcts::FirstPlay;

pub(super) fn read_alphabeta(fields: &Fields) -> Result<AlphaBetaSpec, SpecError> {
    let mut spec = AlphaBetaSpec::default();
    fields.read_limits(&mut spec)?;
    fields.read_others(&mut spec)?;
    let timed = spec.is_timed();
    spec.threads = spec.threads.filter(|&threads| threads > 1 || timed);
    Ok(spec)
}

pub(super) fn read_rollouts(fields: &Fields) -> Result<RolloutsSpec, SpecError> {
    let mut spec = RolloutsSpec::default();
    fields.read_limits(&mut spec)?;
    fields.read_others(&mut spec)?;
    Ok(spec)
}

pub(super) fn read_net(fields: &mut Fields) -> Result<NetPlayerSpec, SpecError> {
    let mut spec = NetPlayerSpec { path: fields.subject()?.into(), ..NetPlayerSpec::default() };
    fields.read_limits(&mut spec)?;
    spec = spec.with_default_solver();
    fields.read_others(&mut spec)?;
    if !fields.has("score_empties") {
        // This default depends on `solve_empties`, which may be given.
        spec.search.score_empties = spec.default_score_empties();
    }
    fields.refuse("temperature", spec.search.temperature_plies == 0)?;
    fields.refuse("fpu_reduction", spec.search.first_play == FirstPlay::Zero)?;
    let timed = spec.time.is_some();
    spec.threads = spec.threads.filter(|&threads| threads > 1 || timed);
    // The default of `parallel` depends on the threads, which may not be known yet.
    if spec.threads.is_some() || !timed {
        spec.omit_default_parallel();
    }
    Ok(spec)
}

pub(super) fn read_policy(fields: &mut Fields) -> Result<PolicySpec, SpecError> {
    let mut spec = PolicySpec::new(fields.subject()?.into());
    fields.read_others(&mut spec)?;
    Ok(spec)
}

pub(super) fn read_external(fields: &Fields) -> Result<ExternalSpec, SpecError> {
    let mut spec = ExternalSpec::default();
    fields.read_others(&mut spec)?;
    fields.refuse("depth", spec.protocol != Protocol::Nboard)?;
    Ok(spec)
}
