//! The evaluator thread: matches between a run's nets and fixed opponents, while it trains.
//!
//! The opponents are the anchors of the run's scale: they play each other once, and every net
//! plays them all. Each game goes into a ladder file of the run, in the same form and rated in
//! the same way as those of `outflank arena`, which can count several such files together.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context as _;
use crossbeam_channel::{Receiver, Sender};
use rand::RngExt as _;

use super::messages::NewNet;
use super::sync::Shared;
use crate::arena::ladder::{Ladder, LadderError, PlayerLine, Terms};
use crate::arena::matches::{Contestant, Setting, play, tally};
use crate::arena::open::{self, Context};
use crate::arena::openings::Source;
use crate::arena::players::{Crew, NetPlayer, Thinking};
use crate::arena::rating::Rating;
use crate::arena::standings::standings;
use crate::arena::tally::Tally;
use crate::config::Config;
use crate::game::Geometry;
use crate::net::{NetSpec, inference};
use crate::search::mcts;
use crate::telemetry::Event;
use crate::train::seeds::{Purpose, stream};

/// The run's ladder file.
pub const LADDER: &str = "ladder.jsonl";

/// What the evaluator thread works with.
pub(super) struct Evaluator<'a> {
    pub config: &'a Config,
    pub spec: &'a NetSpec,
    pub run_dir: PathBuf,
    pub shared: &'a Shared<'a>,
    pub telemetry: Sender<Event>,
    /// Where the newest rating goes.
    pub ratings: Sender<f64>,
}

impl Evaluator<'_> {
    /// Plays for each net that comes until no more can come. A failure ends the evaluations,
    /// not the run; if somebody else has the ladder, only this evaluation is left out.
    pub fn run<G: Geometry>(self, nets: Receiver<NewNet>) {
        for net in nets {
            if self.shared.stopping() {
                return;
            }
            let begun = Instant::now();
            tracing::debug!("the evaluation of step {} begins", net.steps);
            let evaluated = self.evaluate::<G>(&net);
            let seconds = begun.elapsed().as_secs_f64();
            tracing::debug!("the evaluation of step {} has taken {seconds:.1} s", net.steps);
            let Err(error) = evaluated else { continue };
            if let Some(LadderError::Locked { .. }) = error.downcast_ref() {
                tracing::warn!("an evaluation is skipped: {error:#}");
            } else {
                tracing::warn!("no more evaluations in this run: {error:#}");
                return;
            }
        }
    }

    fn evaluate<G: Geometry>(&self, net: &NewNet) -> anyhow::Result<()> {
        let mut ladder = Ladder::open(&self.run_dir.join(LADDER))?;
        let anchors = self.anchors::<G>()?;
        for (place, anchor) in anchors.iter().enumerate() {
            for other in &anchors[..place] {
                if other.name != anchor.name
                    && self.play([other, anchor], None, &mut ladder)?.is_none()
                {
                    return Ok(());
                }
            }
        }
        let run = self.run_dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = format!("{run}@{}", net.steps);
        let line = PlayerLine::new(name.clone(), run, net.steps, Some(net.positions))
            .after(Some(net.games), Some(net.minutes));
        ladder.introduce(line.clone())?;
        let contestant = self.contestant::<G>(line, net);
        let mut values = Vec::new();
        for anchor in &anchors {
            let number = u64::from(net.version);
            let seed = stream(self.config.seed, Purpose::Match, number).random();
            let Some(tally) = self.play([&contestant, anchor], Some(seed), &mut ladder)? else {
                return Ok(());
            };
            values.push((format!("score/{}", anchor.name), tally.score()));
        }
        if let Some(rating) = self.rating::<G>(&ladder, &name) {
            values.push(("rating/net".to_string(), rating.elo));
            values.push(("rating/error".to_string(), rating.error));
            let _ = self.ratings.try_send(rating.elo);
        }
        // The receiver outlives this thread unless telemetry has failed, which it reports.
        let _ = self.telemetry.send(Event::Scalars { positions: net.positions, values });
        Ok(())
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

    /// The result of a match; `None` if the run stops first. Without a seed of its own a match
    /// is the one between these two that every run plays, as far as it is not in the ladder.
    fn play<G: Geometry>(
        &self,
        pair: [&Contestant<'_, G>; 2],
        seed: Option<u64>,
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
        let known = ladder.last(&terms).filter(|_| seed.is_none()).cloned();
        let record = known.map_or_else(|| ladder.begin(terms, seed.unwrap_or(0)), Ok)?;
        let book = source.book::<G>(options.games.div_ceil(2) as usize, record.seed)?;
        let setting = Setting {
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

    fn contestant<'a, G: Geometry>(
        &'a self,
        line: PlayerLine,
        net: &'a NewNet,
    ) -> Contestant<'a, G> {
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
            let backend =
                inference::open(self.spec, &net.weights, &config.inference, &config.device)?;
            let player = NetPlayer::new(
                player.clone(),
                config.goal,
                Crew::new(backend, Vec::new()),
                Thinking { search: options.clone(), parallel: 1, time: None, solvers: 1 },
                seed,
            );
            Ok(Box::new(player) as Box<dyn crate::arena::player::Player<G>>)
        };
        Contestant { name, deterministic: true, line: Some(line), open: Box::new(open) }
    }
}
