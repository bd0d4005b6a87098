//! Restores a resumed run from its files, and stores the initial net of a new run.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};

use super::counted::CountedGames;
use super::{NetTrainee, RunState, Trainee as _, held_out};
use crate::config::Config;
use crate::game::Geometry;
use crate::model::{Description, Weights};
use crate::players::models::LoadedModel;
use crate::store::checkpoint::{self, Checkpoint, CheckpointError, ModelLocation, load_model};
use crate::store::games::{self, GamesError, ReadError, SkipReason, SkippedRecord, Totals};
use crate::store::leases::LeaseBook;
use crate::store::model_file::ModelFile;
use crate::store::run_dir::{InitialNetInfo, RunDir};
use crate::store::set_aside::{self, SetAside};
use crate::train::learner::Learner;
use crate::train::replay::Replay;

/// A net that a new run starts with instead of random weights.
pub struct InitialModel {
    path: PathBuf,
    file: ModelFile,
    description: Description,
}

impl InitialModel {
    /// Reads the net at a path (a net file or its folder, a checkpoint, or a run directory) for a
    /// run of this configuration.
    ///
    /// # Errors
    ///
    /// There is no net, it is damaged, or it does not fit the configuration.
    pub fn read(path: &Path, config: &Config) -> anyhow::Result<InitialModel> {
        let model = LoadedModel::read(path)?;
        let wanted = NetTrainee::open(config, None)?.description();
        if let Some(difference) = model.description.difference(&wanted) {
            bail!(
                "{}: its model has {difference}; board, goal and [net] must be the same",
                path.display()
            );
        }
        let file = load_model(path)?;
        Ok(InitialModel { path: path.to_path_buf(), file, description: model.description })
    }

    /// Writes the net as the checkpoint of step 0 of a new run. First `run.json` records that the
    /// run starts with a net. If the process dies in between, the run cannot be resumed with random
    /// weights by mistake.
    ///
    /// # Errors
    ///
    /// The checkpoint or `run.json` cannot be written.
    pub fn put(self, run: &mut RunDir) -> anyhow::Result<()> {
        let Description { positions, steps, .. } = self.description;
        run.note_initial_net(InitialNetInfo { path: self.path, positions, steps })?;
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

/// The restored state of a run.
pub(super) struct RestoredRun {
    /// The counters.
    pub state: RunState,
    /// Games that the newest checkpoint counts but that were lost to damage.
    pub lost_games: u64,
    /// The numbers of the stored games.
    pub counted: CountedGames,
    /// Those that must not train.
    pub excluded: SetAside,
}

/// Restores learner, windows and counters from the files of the run directory.
///
/// The counters of games and positions come from the game files, everything else from the newest
/// checkpoint. After a kill there may be more games than the checkpoint counts: they are used, and
/// the learner catches up. If there are fewer games than the checkpoint counts, games were lost,
/// and this is an error unless damaged records account for it.
///
/// Files are not changed, except that partly written or removed checkpoints are cleaned up.
///
/// # Errors
///
/// Files of the run are missing or damaged, or do not fit the configuration.
pub(super) fn restore<G: Geometry>(
    description: &Description,
    config: &Config,
    run: &RunDir,
    learner: &mut dyn Learner,
    replay: &mut Replay<G>,
    held_out: &mut Replay<G>,
) -> anyhow::Result<RestoredRun> {
    if run.manifest().copying {
        bail!(
            "{} was created with --games, and the process ended before all games were copied; \
             start again in another directory",
            run.path().display()
        );
    }
    let mut state = match checkpoint::newest(&run.checkpoints()) {
        Err(CheckpointError::NoneYet { .. }) => state_without_checkpoint(run)?,
        found => restore_learner::<G>(description, run, &found?, learner)?,
    };
    let mut counted = CountedGames::default();
    let count = |id| {
        counted.insert(id);
    };
    let totals = match games::totals_with(&run.games(), count) {
        Err(GamesError::File(error)) if error.is_missing() => Totals::default(),
        totals => totals?,
    };
    let lost_games = count_lost_games(run, state.games, totals)?;
    state.games = totals.games;
    state.positions = totals.positions;
    let unused = totals.highest_id.map_or(0, |id| id.saturating_add(1));
    // If a user copied a segment, several games have the same number, and each of them counts.
    let leased = LeaseBook::read_at_least(run.path(), state.leases)?.end();
    state.next_game = state.next_game.max(unused).max(totals.games).max(leased);
    state.check(G::SQUARES).with_context(|| format!("the games in {}", run.games().display()))?;
    let most = held_out::positions_to_read(config.replay.max_positions);
    let newest = games::read_tail(&run.games(), most)?;
    let excluded = set_aside::read(run.path())?;
    let windows = (&mut *replay, &mut *held_out);
    let skipped = totals.skipped + refill_windows(newest, state.positions, &excluded, windows);
    if skipped > 0 {
        tracing::warn!("{skipped} damaged game records were skipped");
    }
    tracing::debug!(
        "continues from net version {}, {} steps, {} games, {} positions, {:.1} minutes; {} \
         positions in the window, {} held out",
        state.version,
        state.steps,
        state.games,
        state.positions,
        state.seconds / 60.0,
        replay.len(),
        held_out.len()
    );
    Ok(RestoredRun { state, lost_games, counted, excluded })
}

/// The state of a run without a checkpoint: that of a new run, unless a checkpoint is missing.
fn state_without_checkpoint(run: &RunDir) -> anyhow::Result<RunState> {
    let path = run.path().display();
    if let Some(net) = &run.manifest().first_net {
        bail!(
            "{path} was created with --net {}, and the process ended before the net was stored; \
             start again in another directory",
            net.path.display()
        );
    }
    let steps = run.manifest().summary.steps;
    ensure!(
        steps == 0,
        "{} holds no checkpoint, but the run has trained for {steps} steps; put one back, or start \
         a new run with its games: outflank train {path}/config.toml --games {path}",
        run.checkpoints().display()
    );
    Ok(RunState::default())
}

/// Restores the learner from a checkpoint, and returns the checkpoint's counters.
fn restore_learner<G: Geometry>(
    wanted: &Description,
    run: &RunDir,
    path: &Path,
    learner: &mut dyn Learner,
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
    let location = ModelLocation::Checkpoint(path.to_path_buf());
    let model = LoadedModel::of(&saved.net, location)?;
    if let Some(difference) = model.description.difference(wanted) {
        let path = path.display();
        bail!("checkpoint {path} has {difference}; this key cannot change on resume");
    }
    let recorded = run.manifest().summary.steps;
    if recorded > state.steps {
        let steps = state.steps;
        tracing::warn!(
            "the newest checkpoint is of step {steps}, but run.json records step {recorded}; the \
             run continues from step {steps}"
        );
    }
    let arrays = || format!("the arrays in checkpoint {}", path.display());
    let fits = || format!("checkpoint {} does not fit this configuration", path.display());
    match saved.learner {
        Some(bytes) => {
            let (saved_state, _) = Weights::from_bytes(&bytes).with_context(arrays)?;
            learner.load(model.weights(), &saved_state, state.steps).with_context(fits)?;
        }
        None if state.steps == 0 => learner.start_from(model.weights()).with_context(fits)?,
        None => bail!(
            "checkpoint {} has a net but no learner.safetensors, so a run cannot continue from it",
            path.display()
        ),
    }
    Ok(state)
}

/// The number of games that the newest checkpoint counts and that are missing. At most one game may
/// be missing per damaged record; this is logged as a warning. A start that cut off damaged records
/// and ended before its first checkpoint has recorded their number in `run.json`.
///
/// # Errors
///
/// More games are missing than damage explains.
fn count_lost_games(run: &RunDir, counted: u64, totals: Totals) -> anyhow::Result<u64> {
    let counted = counted.max(run.manifest().begun_with);
    let lost = counted.saturating_sub(totals.games);
    let path = run.path().display();
    let games = if totals.games > 0 { format!(" --games {path}") } else { String::new() };
    let damaged = totals.skipped + u64::from(totals.torn);
    ensure!(
        lost <= damaged.max(run.manifest().lost_games),
        "{}: {} games are left of {counted}; put the missing files back, or start a new run with \
         the rest: outflank train {path}/config.toml --net {path}{games}",
        run.games().display(),
        totals.games
    );
    if lost > 0 {
        tracing::warn!("{lost} games of {counted} were lost to damage");
    }
    Ok(lost)
}

/// Fills the windows with the newest games of a run that has generated `total` positions, without
/// the `excluded` ones. Returns the number of records that could not be used, not counting those in
/// [`Totals::skipped`].
pub(super) fn refill_windows<G: Geometry>(
    newest: games::Games,
    total: u64,
    excluded: &SetAside,
    (replay, held_out): (&mut Replay<G>, &mut Replay<G>),
) -> u64 {
    let mut unused = 0;
    for record in newest {
        // The window's size depends on all positions of the run, not only on those read here.
        replay.set_total_positions(total);
        let usable = match record {
            Ok(record) if excluded.contains(record.id) => continue,
            Ok(record) => held_out::window_for(&record, replay, held_out).add(&record).is_ok(),
            // `Totals::skipped` counts these.
            Err(ReadError::Skipped(SkippedRecord {
                reason: SkipReason::Foreign | SkipReason::Checksum | SkipReason::CutOff,
                ..
            })) => continue,
            Err(_) => false,
        };
        unused += !usable as u64;
    }
    replay.set_total_positions(total);
    unused
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::FIXED_KEYS;
    use crate::game::Square8;
    use crate::store::games::GameWriter;
    use crate::store::games::tests::a_game;
    use crate::train::replay::Options;

    /// Otherwise a run could be resumed with another net.
    #[test]
    fn a_change_of_a_fixed_key_of_the_net_is_a_difference() {
        let described = |changes: &[&str]| {
            let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
            let config = Config::parse("test", "", &changes).expect("a configuration");
            NetTrainee::open(&config, None).expect("a net").description()
        };
        let description = |change| described(&[change]);
        let plain = description("seed=1");
        // What is off by default is not in the description.
        let all = described(&["net.inputs=evaluations"]);
        let options = all.options.as_object().expect("options").keys();
        let keys: Vec<String> = options.map(|option| format!("net.{option}")).collect();
        let (free, fixed): (Vec<_>, Vec<_>) =
            keys.iter().partition(|key| !FIXED_KEYS.contains(&key.as_str()));
        assert_eq!(free, ["net.dropout"]);
        let mut dropping = plain.clone();
        dropping.options["dropout"] = 0.1.into();
        assert_eq!(dropping.difference(&plain), None);
        assert_eq!(fixed.len(), FIXED_KEYS.iter().filter(|key| key.starts_with("net.")).count());
        for change in [
            "board=6x6",
            "goal=fewest",
            "net.blocks=5",
            "net.score_head=false",
            "net.inputs=evaluations",
        ] {
            let found = description(change).difference(&plain).expect("a difference");
            assert_eq!(found.key, change.split('=').next().expect("a key"));
        }
    }

    #[test]
    fn a_refilled_window_holds_the_same_positions() {
        // Of 12,000 positions, the first window holds some 2,700. It would hold 1,550 if its size
        // were computed from the positions read again. The second window is full.
        for (most, growth_exponent) in [(3_000, 0.4), (6_000, 0.8)] {
            check_refill(&Options {
                min_positions: 100,
                max_positions: most,
                growth_start: 1_000,
                growth_exponent,
                ..Default::default()
            });
        }
    }

    fn check_refill(options: &Options) {
        const POSITIONS_PER_GAME: usize = 30;
        let windows = || {
            (Replay::<Square8>::new(options), Replay::<Square8>::new(&held_out::options(options)))
        };
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = GameWriter::open(folder.path()).expect("a folder of games");
        let (mut replay, mut held_out) = windows();
        let mut total = 0;
        for id in 0..400 {
            let game = a_game(id, POSITIONS_PER_GAME);
            writer.append(&game).expect("a game");
            let window = held_out::window_for(&game, &mut replay, &mut held_out);
            total += window.add(&game).expect("a legal game").positions as u64;
            replay.set_total_positions(total);
        }
        writer.flush_sync().expect("games on the disk");

        // What a resume reads, and just what the training window needs.
        let enough = options.max_positions + options.max_positions / 40 + 128;
        for most in [held_out::positions_to_read(options.max_positions), enough] {
            let (mut again, mut held_out_again) = windows();
            let newest = games::read_tail(folder.path(), most).expect("the games");
            let (none, both) = (SetAside::default(), (&mut again, &mut held_out_again));
            assert_eq!(refill_windows(newest, total, &none, both), 0);
            assert_eq!(again.total_positions(), replay.total_positions());
            assert!(most == enough || held_out_again.len() == held_out.len());
            let lacking = replay.len().abs_diff(again.len());
            let message = format!("{} of {} positions", again.len(), replay.len());
            assert!(lacking <= 2 * POSITIONS_PER_GAME, "{message}");

            // Without the newest games that are set aside.
            let (mut fewer, mut held_out_fewer) = windows();
            let excluded = (380..400).collect();
            let newest = games::read_tail(folder.path(), most).expect("the games");
            refill_windows(newest, total, &excluded, (&mut fewer, &mut held_out_fewer));
            let all = |one: &Replay<Square8>, other: &Replay<Square8>| one.len() + other.len();
            assert!(all(&fewer, &held_out_fewer) < all(&again, &held_out_again));
        }
    }
}
