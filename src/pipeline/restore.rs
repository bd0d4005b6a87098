//! What a run goes on from, or begins with.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};

use super::{RunState, held_out, spec};
use crate::config::Config;
use crate::game::Geometry;
use crate::net::description::Description;
use crate::net::weights::Weights;
use crate::net::{Part, parts};
use crate::store::checkpoint::{self, Checkpoint, CheckpointError, load_net};
use crate::store::games::{self, ReadError, Reason, Skipped};
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
        let wanted = Description { spec: spec(config), goal: config.goal, ..description.clone() };
        let (found, wanted) = (serde_json::to_value(&description)?, serde_json::to_value(wanted)?);
        let keys = [
            ("/shape", "board"),
            ("/goal", "goal"),
            ("/options/tower", "net.tower"),
            ("/options/inputs", "net.inputs"),
            ("/options/blocks", "net.blocks"),
            ("/options/channels", "net.channels"),
            ("/options/global_pooling", "net.global_pooling"),
            ("/options/score_head", "net.score_head"),
            ("/options/owner_head", "net.owner_head"),
        ];
        for (place, key) in keys {
            let (found, wanted) = (found.pointer(place), wanted.pointer(place));
            let show = |value: Option<&serde_json::Value>| {
                value.map_or(String::new(), |value| value.to_string())
            };
            ensure!(
                found == wanted,
                "{}: its net is of {key} = {}, the configuration says {}; a run can only begin \
                 with a net of its own kind",
                path.display(),
                show(found),
                show(wanted),
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

/// Brings learner, window and counters to where the run directory's files say that it was.
///
/// The games are the truth about what was played; the checkpoint is the truth about what was
/// learnt. After a kill there may be more games than the checkpoint knows of: they count, and
/// the learner catches up.
pub(super) fn restore<G: Geometry>(
    config: &Config,
    run: &RunDir,
    learner: &mut Learner,
    replay: &mut Replay<G>,
    held_out: &mut Replay<G>,
) -> anyhow::Result<RunState> {
    if run.manifest().copying {
        bail!(
            "{} was to begin with games of earlier runs and ended before it had them all; begin \
             anew in another directory",
            run.path().display()
        );
    }
    let mut state = RunState::default();
    let newest = match checkpoint::newest(&run.checkpoints()) {
        Err(CheckpointError::NoneYet { .. }) => None,
        found => Some(found?),
    };
    if let Some(path) = newest {
        let saved = Checkpoint::load(&path)?;
        state = serde_json::from_value(saved.state)
            .with_context(|| format!("the counters of checkpoint {}", path.display()))?;
        let fits = || format!("checkpoint {} does not fit this configuration", path.display());
        let (play, _) = Weights::from_bytes(saved.net.bytes()).with_context(fits)?;
        match saved.learner {
            Some(bytes) => {
                let (learnt, _) = Weights::from_bytes(&bytes).with_context(fits)?;
                learner.load(&play, &learnt, state.steps).with_context(fits)?;
            }
            None if state.steps == 0 => learner.begin_with(&play).with_context(fits)?,
            None => {
                bail!("checkpoint {} holds a net but no learner to go on with", path.display())
            }
        }
    } else if let Some(net) = &run.manifest().first_net {
        bail!(
            "{} was to begin with the net {} and ended before it had it; begin anew in another \
             directory",
            run.path().display(),
            net.path.display()
        );
    }
    let totals = games::totals(&run.games())?;
    state.games = totals.games;
    state.positions = totals.positions;
    state.next_game = state.next_game.max(totals.highest_id.map_or(0, |id| id + 1));
    let most = held_out::to_read(config.replay.max_positions);
    let newest = games::read_tail(&run.games(), most)?;
    let skipped = totals.skipped + refill(newest, state.positions, replay, held_out);
    if skipped > 0 {
        tracing::warn!("{skipped} damaged game records were skipped");
    }
    Ok(state)
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
