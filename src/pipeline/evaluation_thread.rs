//! The evaluator thread: matches between a run's nets and fixed opponents, while it trains.
//!
//! The opponents are the anchors of the run's scale: they play each other once, and every net
//! plays them all, and some of the run's earlier nets. Each game goes into a ladder file of the
//! run, in the same form and rated in the same way as those of `outflank arena`, which can count
//! several such files together. Every net in it is that of a checkpoint, written before its games.

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
use crate::arena::ladder::{Ladder, LadderError, Origin, PlayerLine, Terms};
use crate::arena::matches::{Contestant, MatchSettings, play, tally};
use crate::arena::nets::LoadedNet;
use crate::arena::open::{self, Context};
use crate::arena::openings::Source;
use crate::arena::player::Player;
use crate::arena::players::{NetCopies, NetPlayer, Thinking};
use crate::arena::rating::Rating;
use crate::arena::standings::standings;
use crate::arena::tally::Tally;
use crate::config::Config;
use crate::game::Geometry;
use crate::search::mcts;
use crate::store::checkpoint;
use crate::store::run_dir::CHECKPOINTS;
use crate::telemetry::Event;
use crate::train::seeds::{Purpose, stream};

/// The run's ladder file.
pub const LADDER: &str = "ladder.jsonl";

/// What the evaluator thread works with.
pub(super) struct EvaluationThread<'a> {
    pub config: &'a Config,
    pub run_dir: PathBuf,
    pub shared: &'a Shared<'a>,
    pub telemetry: Sender<Event>,
    /// Where the newest rating goes.
    pub ratings: Sender<NetRating>,
}

impl EvaluationThread<'_> {
    /// Plays for each net that comes until no more can come, or the run is interrupted. A failure
    /// ends the evaluations, not the run; if another process has the ladder, only this evaluation
    /// is left out.
    pub fn run<G: Geometry>(self, nets: Receiver<NetToRate>) {
        for net in nets {
            if self.shared.interrupted() {
                return;
            }
            let (begun, steps) = (Instant::now(), net.net.description.steps);
            tracing::debug!("the evaluation of step {} begins", steps);
            let evaluated = self.evaluate::<G>(&net);
            let seconds = begun.elapsed().as_secs_f64();
            tracing::debug!("the evaluation of step {} has taken {seconds:.1} s", steps);
            let Err(error) = evaluated else { continue };
            if let Some(LadderError::Locked { .. }) = error.downcast_ref() {
                tracing::warn!("an evaluation is skipped: {error:#}");
            } else {
                tracing::warn!("no more evaluations in this run: {error:#}");
                return;
            }
        }
    }

    fn evaluate<G: Geometry>(&self, given: &NetToRate) -> anyhow::Result<()> {
        let mut ladder = Ladder::open(&self.run_dir.join(LADDER))?;
        let anchors = self.anchors::<G>()?;
        for anchor in &anchors {
            // Not where its net comes from: an anchor is no net of this run.
            if let Some(given) = anchor.given_name() {
                ladder.introduce(PlayerLine::labelled(anchor.name.clone(), given.to_owned()))?;
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
        let line = introduce(given, &mut ladder)?;
        let earlier = self.earlier_nets::<G>(&line, &ladder);
        let steps = given.net.description.steps;
        let net = self.net_player::<G>(line, given.net.clone());
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
        let positions = given.net.description.positions;
        // The receiver outlives this thread unless telemetry has failed, which it reports.
        let _ = self.telemetry.send(Event::Scalars { positions, values });
        Ok(())
    }

    /// The newest of the run's rated nets before this one, as players. One whose checkpoint is gone
    /// is left out.
    fn earlier_nets<G: Geometry>(
        &self,
        line: &PlayerLine,
        ladder: &Ladder,
    ) -> Vec<Contestant<'_, G>> {
        let Some(this) = &line.origin else { return Vec::new() };
        let known = |other: &'_ PlayerLine| Some((other.origin.clone()?, other.clone()));
        let mut earlier: Vec<_> = ladder.players.values().filter_map(known).collect();
        earlier.retain(|(origin, _)| origin.run == this.run && origin.step < this.step);
        earlier.sort_by_key(|(origin, other)| Reverse((origin.step, other.name.clone())));
        let checkpoints = self.run_dir.join(CHECKPOINTS);
        let stored = |(origin, other): (Origin, PlayerLine)| {
            let net = LoadedNet::read(&checkpoint::path(&checkpoints, origin.step)).ok()?;
            let is_same = origin.net.as_deref() == Some(net.weights_checksum());
            is_same.then(|| self.net_player(other, net))
        };
        let most = self.config.evaluation.earlier_nets as usize;
        earlier.into_iter().filter_map(stored).take(most).collect()
    }

    /// The opponents, as players.
    fn anchors<G: Geometry>(&self) -> anyhow::Result<Vec<Contestant<'static, G>>> {
        let context = Context {
            goal: self.config.goal,
            device: self.config.device.clone(),
            inference: self.config.inference.clone(),
            cores: 1,
        };
        let open = |opponent: &String| {
            let spec = opponent.parse().with_context(|| format!("opponent `{opponent}`"))?;
            Ok(open::contestant::<G>(&spec, &context)?)
        };
        self.config.evaluation.opponents.iter().map(open).collect()
    }

    /// The result of a match; `None` if the run is interrupted. Games that are in the ladder already
    /// count; the seed is that of a match which is not.
    fn play<G: Geometry>(
        &self,
        pair: [&Contestant<'_, G>; 2],
        seed: u64,
        ladder: &mut Ladder,
    ) -> anyhow::Result<Option<Tally>> {
        let options = &self.config.evaluation;
        let source = Source::Random { plies: options.opening_plies };
        let terms = Terms {
            first: pair[0].name.clone(),
            second: pair[1].name.clone(),
            board: G::SHAPE.to_string(),
            goal: self.config.goal.to_string(),
            openings: source.to_string(),
        };
        let known = ladder.last(&terms).cloned();
        let record = known.map_or_else(|| ladder.begin(terms, seed), Ok)?;
        let book = source.book::<G>(options.games.div_ceil(2) as usize, record.seed)?;
        let setting = MatchSettings {
            goal: self.config.goal,
            games: options.games,
            seed: record.seed,
            threads: 1,
            sprt: None,
        };
        let done = ladder.games_of(&record, &book.openings);
        let mut failure = None;
        let stop = self.shared.stop;
        let outcome = play(pair, &book.openings, &setting, done, stop, &mut |played| {
            failure = ladder.add(&record, played).err();
            if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failure.map_or(Ok(()), Err)?;
        Ok((!outcome.stopped).then(|| tally(&outcome.games).0))
    }

    /// The rating of a player of the run's ladder.
    fn rating<G: Geometry>(&self, ladder: &Ladder, name: &str) -> Option<Rating> {
        let standings = standings::<G>(ladder, self.config.goal, None);
        let found = standings.players.iter().find(|standing| standing.name == name)?;
        Some(found.rating)
    }

    /// A net as a player, with the name that its line has in the ladder.
    fn net_player<G: Geometry>(&self, line: PlayerLine, net: LoadedNet) -> Contestant<'_, G> {
        let options = mcts::Options {
            simulations: self.config.evaluation.simulations,
            temperature_plies: 0,
            temperature_late: 0.0,
            ..self.config.search.clone()
        };
        let name = line.name.clone();
        let player = name.clone();
        let open = move |seed| {
            let config = self.config;
            let backend = net.backend(&config.inference, &config.device)?;
            let player = NetPlayer::new(
                player.clone(),
                config.goal,
                NetCopies::new(backend, Vec::new()),
                Thinking { search: options.clone(), parallel: 1, time: None, solvers: 1 },
                seed,
            );
            Ok(Box::new(player) as Box<dyn Player<G>>)
        };
        Contestant { name, deterministic: true, line: Some(line), open: Box::new(open) }
    }
}

/// Notes the net in the ladder, unless it is there already, under a name of its own: `RUN@STEP`. A
/// run that goes on from an older checkpoint may make another net of the same step, which is called
/// `RUN@STEP/2`. A line of an older version, without the checksum of its net, stands for any net of
/// its step.
fn introduce(given: &NetToRate, ladder: &mut Ladder) -> Result<PlayerLine, LadderError> {
    let mut line = given.net.line("").after(Some(given.games), Some(given.minutes));
    let net = |line: &PlayerLine| line.origin.as_ref().and_then(|origin| origin.net.clone());
    let plain = line.origin.as_ref().map(|origin| format!("{}@{}", origin.run, origin.step));
    let plain = plain.unwrap_or_default();
    line.name.clone_from(&plain);
    let mut number = 1;
    while let Some(known) = ladder.players.get(&line.name) {
        if net(known).is_none_or(|known| Some(known) == net(&line)) {
            return Ok(known.clone());
        }
        number += 1;
        line.name = format!("{plain}/{number}");
    }
    ladder.introduce(line.clone())?;
    Ok(line)
}
