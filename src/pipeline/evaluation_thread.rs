//! The evaluation thread: it rates a run's nets by matches while the run trains.
//!
//! The opponents of the configuration are the anchors of the run's rating scale. They play each
//! other once. Each net plays all of them and some of the run's earlier nets. The games are written
//! to the run's ladder file, in the format and with the rating method of `outflank arena`. Each
//! rated net is kept by a checkpoint, which is written before its first game.

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context as _;
use crossbeam_channel::{Receiver, Sender};
use rand::RngExt as _;

use super::messages::NetToRate;
use super::state::NetRating;
use super::sync::Shared;
use crate::arena::ladder::{Ladder, LadderError, MatchTerms, PlayerLine};
use crate::arena::matches::{MatchSettings, play, tally};
use crate::arena::openings::OpeningSource;
use crate::arena::rating::Rating;
use crate::arena::standings::standings;
use crate::arena::tally::Tally;
use crate::config::Config;
use crate::game::Geometry;
use crate::players::contestant::PlayerContext;
use crate::players::contestant::{Contestant, Origin};
use crate::players::kinds::{NetCopies, NetPlayer, NetPlayerSettings};
use crate::players::models::LoadedModel;
use crate::players::open;
use crate::players::player::Player;
use crate::search::mcts;
use crate::store::checkpoint;
use crate::store::run_dir::CHECKPOINTS;
use crate::telemetry::Event;
use crate::train::seeds::{Purpose, stream};

/// The players of the configured opponents.
pub(super) fn opponents<G: Geometry>(
    config: &Config,
) -> anyhow::Result<Vec<Contestant<'static, G>>> {
    let context = PlayerContext {
        device: config.device.clone(),
        inference: config.inference.clone(),
        ..PlayerContext::new(config.goal)
    };
    let open = |opponent: &String| {
        let place = || format!("evaluation.opponents: `{opponent}`");
        let spec = opponent.parse().with_context(place)?;
        open::contestant::<G>(&spec, &context).with_context(place)
    };
    config.evaluation.opponents.iter().map(open).collect()
}

/// The run's ladder file.
pub const LADDER: &str = "ladder.jsonl";

/// The evaluation thread.
pub(super) struct EvaluationThread<'a> {
    pub config: &'a Config,
    pub run_dir: PathBuf,
    pub shared: &'a Shared<'a>,
    pub telemetry: Sender<Event>,
    /// The channel for ratings.
    pub ratings: Sender<NetRating>,
}

impl EvaluationThread<'_> {
    /// Evaluates each net that it receives, until the channel closes or the run is interrupted.
    /// After an error there are no more evaluations, but the run continues. If another process has
    /// locked the ladder, only this evaluation is skipped.
    pub fn run<G: Geometry>(self, nets: Receiver<NetToRate>) {
        for net in nets {
            if self.shared.interrupted() {
                return;
            }
            let (start, steps) = (Instant::now(), net.net.description.steps);
            tracing::debug!("the evaluation of step {} starts", steps);
            let result = self.evaluate::<G>(&net);
            let seconds = start.elapsed().as_secs_f64();
            tracing::debug!("the evaluation of step {} took {seconds:.1} s", steps);
            let Err(error) = result else { continue };
            if let Some(LadderError::Locked { .. }) = error.downcast_ref() {
                tracing::warn!("an evaluation is skipped: {error:#}");
            } else {
                tracing::warn!("no more evaluations in this run: {error:#}");
                return;
            }
        }
    }

    fn evaluate<G: Geometry>(&self, candidate: &NetToRate) -> anyhow::Result<()> {
        let mut ladder = Ladder::open(&self.run_dir.join(LADDER))?;
        let anchors = opponents::<G>(self.config)?;
        for anchor in &anchors {
            // Without its net's origin: an anchor does not count as a net of this run.
            if anchor.label.is_some() {
                let label = anchor.label.clone();
                ladder.add_player(PlayerLine::new(anchor.name.clone(), label, None))?;
            }
        }
        for (place, anchor) in anchors.iter().enumerate() {
            for other in &anchors[..place] {
                if other.name != anchor.name
                    && self.play([other, anchor], 0, &mut ladder)?.is_none()
                {
                    return Ok(());
                }
            }
        }
        let line = add_to_ladder(candidate, &mut ladder)?;
        let earlier = self.earlier_nets::<G>(&line, &ladder);
        let steps = candidate.net.description.steps;
        let net = self.net_player::<G>(line.name, candidate.net.clone());
        let seed = stream(self.config.seed, Purpose::Match, steps).random();
        let mut values = Vec::new();
        for anchor in &anchors {
            let Some(tally) = self.play([&net, anchor], seed, &mut ladder)? else { return Ok(()) };
            values.push((format!("score/{}", anchor.name), tally.score()));
        }
        let mut scores = Vec::new();
        for other in &earlier {
            let Some(tally) = self.play([&net, other], seed, &mut ladder)? else { return Ok(()) };
            scores.push(tally.score());
        }
        if !scores.is_empty() {
            let mean = scores.iter().sum::<f64>() / scores.len() as f64;
            values.push(("score/earlier_nets".to_string(), mean));
        }
        if let Some(rating) = self.rating::<G>(&ladder, &net.name) {
            values.push(("rating/net".to_string(), rating.elo));
            values.push(("rating/error".to_string(), rating.error));
            let _ = self.ratings.try_send(NetRating { steps, rating });
        }
        let positions = candidate.net.description.positions;
        // An error means that telemetry has failed; it reports that itself.
        let _ = self.telemetry.send(Event::Scalars { positions, values });
        Ok(())
    }

    /// Players of the run's newest rated nets before this one. Nets without a checkpoint are left
    /// out.
    fn earlier_nets<G: Geometry>(
        &self,
        line: &PlayerLine,
        ladder: &Ladder,
    ) -> Vec<Contestant<'_, G>> {
        let Some(this) = &line.origin else { return Vec::new() };
        let with_origin = |other: &'_ PlayerLine| Some((other.origin.clone()?, other.clone()));
        let mut earlier: Vec<_> = ladder.players.values().filter_map(with_origin).collect();
        earlier.retain(|(origin, _)| origin.run == this.run && origin.step < this.step);
        earlier.sort_by_key(|(origin, other)| Reverse((origin.step, other.name.clone())));
        let checkpoints = self.run_dir.join(CHECKPOINTS);
        let player = |(origin, other): (Origin, PlayerLine)| {
            let net = LoadedModel::read(&checkpoint::path(&checkpoints, origin.step)).ok()?;
            let is_same = origin.net.as_deref() == Some(net.weights_checksum());
            is_same.then(|| self.net_player(other.name, net))
        };
        let most = self.config.evaluation.earlier_nets as usize;
        earlier.into_iter().filter_map(player).take(most).collect()
    }

    /// Plays a match and returns its tally; `None` if the run is interrupted. Games of this match
    /// that are already in the ladder count and are not played again. `seed` is for a new match.
    fn play<G: Geometry>(
        &self,
        pair: [&Contestant<'_, G>; 2],
        seed: u64,
        ladder: &mut Ladder,
    ) -> anyhow::Result<Option<Tally>> {
        let options = &self.config.evaluation;
        let source = OpeningSource::Random { plies: options.opening_plies };
        let terms = MatchTerms {
            first: pair[0].name.clone(),
            second: pair[1].name.clone(),
            board: G::SHAPE.to_string(),
            goal: self.config.goal.to_string(),
            openings: source.to_string(),
        };
        let known = ladder.last_match(&terms).cloned();
        let record = known.map_or_else(|| ladder.begin_match(terms, seed), Ok)?;
        let book = source.book::<G>(options.games.div_ceil(2) as usize, record.seed)?;
        let settings = MatchSettings {
            goal: self.config.goal,
            games: options.games,
            seed: record.seed,
            threads: 1,
            sprt: None,
        };
        let done = ladder.games_of(&record, &book.openings);
        let mut failure = None;
        let stop = self.shared.stop;
        let result = play(pair, &book.openings, &settings, done, stop, &mut |played| {
            failure = ladder.add_game(&record, played).err();
            if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failure.map_or(Ok(()), Err)?;
        Ok((!result.stopped).then(|| tally(&result.games).0))
    }

    /// The rating of a player in the run's ladder.
    fn rating<G: Geometry>(&self, ladder: &Ladder, name: &str) -> Option<Rating> {
        let standings = standings::<G>(ladder, self.config.goal, None);
        let standing = standings.players.iter().find(|standing| standing.name == name)?;
        Some(standing.rating)
    }

    /// A player of a net, with its name in the ladder.
    fn net_player<G: Geometry>(&self, name: String, net: LoadedModel) -> Contestant<'_, G> {
        let options = mcts::Options {
            simulations: self.config.evaluation.simulations,
            temperature_plies: 0,
            temperature_late: 0.0,
            ..self.config.search.clone()
        };
        let player = name.clone();
        let open = move |seed| {
            let config = self.config;
            let backend = net.backend(&config.inference, &config.device)?;
            let player = NetPlayer::new(
                player.clone(),
                config.goal,
                NetCopies::new(backend, Vec::new()),
                NetPlayerSettings { search: options.clone(), parallel: 1, time: None, solvers: 1 },
                seed,
            );
            Ok(Box::new(player) as Box<dyn Player<G>>)
        };
        Contestant { deterministic: true, ..Contestant::new(name, open) }
    }
}

/// Adds the net to the ladder as `RUN@STEP`, unless it is already there, and returns its line.
///
/// A run that is resumed from an older checkpoint may produce another net of the same step, which
/// is named `RUN@STEP/2`. Lines of older program versions have no checksum of their net: such a
/// line is used for any net of its step.
fn add_to_ladder(candidate: &NetToRate, ladder: &mut Ladder) -> Result<PlayerLine, LadderError> {
    let origin = candidate.net.origin();
    let origin = origin.with_training(Some(candidate.games), Some(candidate.minutes));
    let plain = format!("{}@{}", origin.run, origin.step);
    let mut line = PlayerLine::new(plain.clone(), None, Some(origin));
    let net = |line: &PlayerLine| line.origin.as_ref().and_then(|origin| origin.net.clone());
    let mut number = 1;
    while let Some(known) = ladder.players.get(&line.name) {
        if net(known).is_none_or(|known| Some(known) == net(&line)) {
            return Ok(known.clone());
        }
        number += 1;
        line.name = format!("{plain}/{number}");
    }
    ladder.add_player(line.clone())?;
    Ok(line)
}
