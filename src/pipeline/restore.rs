//! What a run goes on from, or begins with.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};

use super::{RunState, held_out, spec};
use crate::config::{Config, FIXED_KEYS};
use crate::game::Geometry;
use crate::net::description::Description;
use crate::net::weights::Weights;
use crate::net::{Part, parts};
use crate::store::checkpoint::{self, Checkpoint, CheckpointError, load_net};
use crate::store::games::{self, GamesError, ReadError, Reason, Skipped, Totals};
use crate::store::net_file::NetFile;
use crate::store::run_dir::{BegunNet, RunDir};
use crate::train::learner::Learner;
use crate::train::replay::Replay;

/// A net that a new run begins with instead of a random one.
pub struct FirstNet {
    path: PathBuf,
    file: NetFile,
    description: Description,
}

impl FirstNet {
    /// Reads the net that a path means (a net file, a folder of one, a checkpoint or a run
    /// directory), for a run of this configuration.
    ///
    /// # Errors
    ///
    /// There is none, it is damaged, or it is not of the kind that the run trains.
    pub fn read(path: &Path, config: &Config) -> anyhow::Result<FirstNet> {
        let file = load_net(path)?;
        let described = || format!("the description of the net in {}", path.display());
        let description: Description =
            serde_json::from_value(file.spec().clone()).with_context(described)?;
        if let Some(difference) = difference(&description, config)? {
            bail!(
                "{}: its net is of {difference}; a run can only begin with a net of its own kind",
                path.display()
            );
        }
        let broken = || format!("the arrays of the net in {}", path.display());
        let (weights, _) = Weights::from_bytes(file.bytes()).with_context(broken)?;
        for Part { name, shape, .. } in parts(&description.spec) {
            weights.get(&name, &shape).with_context(broken)?;
        }
        Ok(FirstNet { path: path.to_path_buf(), file, description })
    }

    /// Makes it the checkpoint of step 0 of a new run. That it is to be there is noted first, so
    /// that a run which dies in between is not taken for one of a random net.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn put(self, run: &mut RunDir) -> anyhow::Result<()> {
        let Description { positions, steps, .. } = self.description;
        run.begin_with_net(BegunNet { path: self.path, positions, steps })?;
        let checkpoint = Checkpoint {
            step: 0,
            minutes: 0.0,
            net: self.file,
            learner: None,
            state: serde_json::to_value(RunState::default())?,
            keep_net: false,
        };
        checkpoint.save(&run.checkpoints())?;
        Ok(())
    }
}

/// The first key by which a net is not of the kind that a configuration trains, with both values.
fn difference(found: &Description, config: &Config) -> anyhow::Result<Option<String>> {
    let wanted = Description { spec: spec(config), goal: config.goal, ..found.clone() };
    let (found, wanted) = (serde_json::to_value(found)?, serde_json::to_value(wanted)?);
    let show = |values: &serde_json::Value, place: &str| {
        values.pointer(place).map_or(String::new(), serde_json::Value::to_string)
    };
    let mut places = FIXED_KEYS.into_iter().filter_map(|key| Some((key, described_at(key)?)));
    let differs = |(_, place): &(&str, String)| found.pointer(place) != wanted.pointer(place);
    Ok(places.find(differs).map(|(key, place)| {
        let (found, wanted) = (show(&found, &place), show(&wanted, &place));
        format!("{key} = {found}, the configuration says {wanted}")
    }))
}

/// Where a net's description holds a key of the configuration, if it does.
fn described_at(key: &str) -> Option<String> {
    match key {
        "board" => Some("/shape".to_owned()),
        "goal" => Some("/goal".to_owned()),
        _ => key.strip_prefix("net.").map(|option| format!("/options/{option}")),
    }
}

/// Where a run goes on.
pub(super) struct Restored {
    /// Its counters.
    pub state: RunState,
    /// Games that the newest checkpoint counts and that were lost to damage.
    pub lost_games: u64,
}

/// Brings learner, window and counters to where the run directory's files say that it was.
///
/// The games are the truth about what was played; the checkpoint is the truth about what was
/// learnt. After a kill there may be more games than the checkpoint knows of: they count, and
/// the learner catches up. There cannot be fewer, since games are on the disk before a checkpoint
/// counts them: then some were lost, and the run is refused. Nothing on the disk is changed, except
/// that what a kill has left half done among the checkpoints is put right.
///
/// # Errors
///
/// Something of the run is missing, damaged, or of another configuration.
pub(super) fn restore<G: Geometry>(
    config: &Config,
    run: &RunDir,
    learner: &mut Learner,
    replay: &mut Replay<G>,
    held_out: &mut Replay<G>,
) -> anyhow::Result<Restored> {
    if run.manifest().copying {
        bail!(
            "{} was to begin with games of earlier runs and ended before it had them all; begin \
             anew in another directory",
            run.path().display()
        );
    }
    let mut state = match checkpoint::newest(&run.checkpoints()) {
        Err(CheckpointError::NoneYet { .. }) => without_checkpoint(run)?,
        found => learnt::<G>(config, run, &found?, learner)?,
    };
    let totals = match games::totals(&run.games()) {
        Err(GamesError::File(error)) if error.is_missing() => Totals::default(),
        totals => totals?,
    };
    let lost_games = lost(run, state.games, totals)?;
    state.games = totals.games;
    state.positions = totals.positions;
    let unused = totals.highest_id.map_or(0, |id| id.saturating_add(1));
    // Where a segment was copied by hand there are games of one number. Each counts.
    state.next_game = state.next_game.max(unused).max(totals.games);
    state.check(G::SQUARES).with_context(|| format!("the games in {}", run.games().display()))?;
    let most = held_out::to_read(config.replay.max_positions);
    let newest = games::read_tail(&run.games(), most)?;
    let skipped = totals.skipped + refill(newest, state.positions, replay, held_out);
    if skipped > 0 {
        tracing::warn!("{skipped} damaged game records were skipped");
    }
    tracing::debug!(
        "goes on from net version {}, {} steps, {} games, {} positions, {:.1} minutes; the window \
         has {} positions, {} are held out",
        state.version,
        state.steps,
        state.games,
        state.positions,
        state.seconds / 60.0,
        replay.len(),
        held_out.len()
    );
    Ok(Restored { state, lost_games })
}

/// Where a run stands that has no checkpoint: at its beginning, unless one is missing.
fn without_checkpoint(run: &RunDir) -> anyhow::Result<RunState> {
    let path = run.path().display();
    if let Some(net) = &run.manifest().first_net {
        bail!(
            "{path} was to begin with the net {} and ended before it had it; begin anew in another \
             directory",
            net.path.display()
        );
    }
    let steps = run.manifest().summary.steps;
    ensure!(
        steps == 0,
        "{} holds no checkpoint, but the run has learnt for {steps} steps; put one back, or begin \
         a new run with its games: outflank train {path}/config.toml --games {path}",
        run.checkpoints().display()
    );
    Ok(RunState::default())
}

/// Brings the learner to where a checkpoint was made, and returns its counters.
fn learnt<G: Geometry>(
    config: &Config,
    run: &RunDir,
    path: &Path,
    learner: &mut Learner,
) -> anyhow::Result<RunState> {
    let saved = Checkpoint::load(path)?;
    let counters = || format!("the counters in {}/state.json", path.display());
    let state: RunState = serde_json::from_value(saved.state).with_context(counters)?;
    state.check(G::SQUARES).with_context(counters)?;
    ensure!(
        state.steps == saved.step,
        "{}: `step` is {}; allowed: {}, as `state.steps` says",
        counters(),
        saved.step,
        state.steps
    );
    let described = || format!("the description of the net in checkpoint {}", path.display());
    let description = serde_json::from_value(saved.net.spec().clone()).with_context(described)?;
    if let Some(difference) = difference(&description, config)? {
        bail!("checkpoint {} is of {difference}; it cannot change on resume", path.display());
    }
    let noted = run.manifest().summary.steps;
    if noted > state.steps {
        let steps = state.steps;
        tracing::warn!(
            "the newest checkpoint is of step {steps}, though the run had stored step {noted}; it \
             goes on from step {steps}"
        );
    }
    let arrays = || format!("the arrays in checkpoint {}", path.display());
    let fits = || format!("checkpoint {} does not fit this configuration", path.display());
    let (play, _) = Weights::from_bytes(saved.net.bytes()).with_context(arrays)?;
    match saved.learner {
        Some(bytes) => {
            let (learnt, _) = Weights::from_bytes(&bytes).with_context(arrays)?;
            learner.load(&play, &learnt, state.steps).with_context(fits)?;
        }
        None if state.steps == 0 => learner.begin_with(&play).with_context(fits)?,
        None => bail!("checkpoint {} holds a net but no learner to go on with", path.display()),
    }
    Ok(state)
}

/// How many games the folder lacks that the newest checkpoint counts. A damaged record costs one
/// game, with a warning; more than that was lost by something else. A start that cut damaged records
/// off and ended before its first checkpoint has noted what they cost.
fn lost(run: &RunDir, counted: u64, totals: Totals) -> anyhow::Result<u64> {
    let counted = counted.max(run.manifest().begun_with);
    let lost = counted.saturating_sub(totals.games);
    let path = run.path().display();
    let games = if totals.games > 0 { format!(" --games {path}") } else { String::new() };
    let damaged = totals.skipped + u64::from(totals.torn);
    ensure!(
        lost <= damaged.max(run.manifest().lost_games),
        "{}: {} games are left of {counted}; put the missing files back, or begin a new run with \
         what is left: outflank train {path}/config.toml --net {path}{games}",
        run.games().display(),
        totals.games
    );
    if lost > 0 {
        tracing::warn!("{lost} games of {counted} were lost by damage");
    }
    Ok(lost)
}

/// Fills the windows with the newest games of a run that has made so many positions in all, and
/// tells how many records could not be used.
fn refill<G: Geometry>(
    newest: games::Games,
    made: u64,
    replay: &mut Replay<G>,
    held_out: &mut Replay<G>,
) -> u64 {
    let mut unused = 0;
    for record in newest {
        // How much the window may hold follows from all positions, not from those read again.
        replay.set_made(made);
        let usable = match record {
            Ok(record) => held_out::window_of(&record, replay, held_out).add(&record).is_ok(),
            // Damage that the totals have counted already.
            Err(ReadError::Skipped(Skipped {
                reason: Reason::Foreign | Reason::Checksum | Reason::CutOff,
                ..
            })) => continue,
            Err(_) => false,
        };
        unused += !usable as u64;
    }
    replay.set_made(made);
    unused
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Square8;
    use crate::store::games::GameWriter;
    use crate::store::games::tests::a_game;
    use crate::train::replay::Options;

    #[test]
    fn a_description_holds_every_fixed_key_of_its_net() {
        let config = Config::parse("test", "", &[]).expect("a configuration");
        let net = Description { spec: spec(&config), goal: config.goal, positions: 0, steps: 0 };
        let net = serde_json::to_value(net).expect("JSON");
        let is_told = |key: &str| described_at(key).is_some_and(|at| net.pointer(&at).is_some());
        let others: Vec<_> = FIXED_KEYS.into_iter().filter(|key| !is_told(key)).collect();
        assert_eq!(others, ["seed", "learner.optimizer"]);
    }

    #[test]
    fn a_window_filled_again_holds_what_the_unbroken_one_did() {
        // 12,000 positions are made. The first window may hold some 2,700 of them, but 1,550 if only
        // those read again had been made; the second is full.
        for (most, growth_exponent) in [(3_000, 0.4), (6_000, 0.8)] {
            filled_again(&Options {
                min_positions: 100,
                max_positions: most,
                growth_start: 1_000,
                growth_exponent,
                ..Default::default()
            });
        }
    }

    fn filled_again(options: &Options) {
        const LEARNABLE: usize = 30;
        let windows = || {
            (Replay::<Square8>::new(options), Replay::<Square8>::new(&held_out::options(options)))
        };
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = GameWriter::open(folder.path()).expect("a folder of games");
        let (mut replay, mut held_out) = windows();
        let mut made = 0;
        for id in 0..400 {
            let game = a_game(id, LEARNABLE);
            writer.append(&game).expect("a game");
            let window = held_out::window_of(&game, &mut replay, &mut held_out);
            made += window.add(&game).expect("a legal game").positions as u64;
            replay.set_made(made);
        }
        writer.flush_sync().expect("games on the disk");

        // All that a resume reads, and no more than the window to learn from needs.
        let enough = options.max_positions + options.max_positions / 40 + 128;
        for most in [held_out::to_read(options.max_positions), enough] {
            let (mut again, mut held_out_again) = windows();
            let newest = games::read_tail(folder.path(), most).expect("the games");
            assert_eq!(refill(newest, made, &mut again, &mut held_out_again), 0);
            assert_eq!(again.made(), replay.made());
            assert!(most == enough || held_out_again.len() == held_out.len());
            let lacking = replay.len().abs_diff(again.len());
            assert!(lacking <= 2 * LEARNABLE, "{} of {} positions", again.len(), replay.len());
        }
    }
}
