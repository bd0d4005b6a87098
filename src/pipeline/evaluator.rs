//! The evaluator thread: matches between a run's nets and fixed opponents, while it trains.
//!
//! Every game goes into a ladder file of the run, so a net's rating comes from all games of
//! all nets so far: the opponents tie them together.

use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::Context as _;
use crossbeam_channel::{Receiver, Sender};

use super::messages::NewNet;
use super::sync::Shared;
use crate::arena::ladder::{Ladder, PlayerLine, Terms};
use crate::arena::matches::{Contestant, Setting, play, tally};
use crate::arena::open::{self, Context};
use crate::arena::openings::Source;
use crate::arena::players::NetPlayer;
use crate::arena::standings::standings;
use crate::config::Config;
use crate::game::Geometry;
use crate::net::{NetSpec, inference};
use crate::search::mcts;
use crate::telemetry::Event;

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
    /// not the run.
    pub fn run<G: Geometry>(self, nets: Receiver<NewNet>) {
        for net in nets {
            if let Err(error) = self.evaluate::<G>(&net) {
                tracing::warn!("no more evaluations in this run: {error:#}");
                return;
            }
        }
    }

    fn evaluate<G: Geometry>(&self, net: &NewNet) -> anyhow::Result<()> {
        let options = &self.config.evaluation;
        let mut ladder = Ladder::open(&self.run_dir.join(LADDER))?;
        let name = format!("net-{:06}", net.version);
        let run = self.run_dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let line = PlayerLine::new(name.clone(), run, net.version.into(), Some(net.positions));
        ladder.introduce(line.clone())?;
        let contestant = self.contestant::<G>(line, net);
        let context = Context {
            goal: self.config.goal,
            device: self.config.device.clone(),
            inference: self.config.inference.clone(),
        };
        let source = Source::Random { plies: options.opening_plies };
        let mut values = Vec::new();
        for opponent in &options.opponents {
            let spec = opponent.parse().with_context(|| format!("opponent `{opponent}`"))?;
            let opponent = open::contestant::<G>(&spec, &context)?;
            let terms = Terms {
                first: name.clone(),
                second: opponent.name.clone(),
                board: G::SHAPE.to_string(),
                goal: self.config.goal.to_string(),
                openings: source.to_string(),
            };
            let record = ladder.begin(terms, self.config.seed ^ u64::from(net.version))?;
            let book = source.book::<G>(options.games.div_ceil(2) as usize, record.seed)?;
            let setting = Setting {
                goal: self.config.goal,
                games: options.games,
                seed: record.seed,
                threads: 1,
                sprt: None,
            };
            let mut failure = None;
            let pair = [&contestant, &opponent];
            let stop = self.shared.stop;
            let outcome = play(pair, &book.openings, &setting, Vec::new(), stop, &mut |played| {
                failure = ladder.add(&record, played).err();
                if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            failure.map_or(Ok(()), Err)?;
            if outcome.stopped {
                return Ok(());
            }
            let (tally, _) = tally(&outcome.games);
            values.push((format!("score/{}", opponent.name), tally.score()));
        }
        if let Some(rating) = self.rating::<G>(&ladder, &name) {
            values.push(("rating/net".to_string(), rating));
            let _ = self.ratings.try_send(rating);
        }
        // The receiver outlives this thread unless telemetry has failed, which it reports.
        let _ = self.telemetry.send(Event::Scalars { positions: net.positions, values });
        Ok(())
    }

    /// The rating of a net in Elo, the first opponent being 0.
    fn rating<G: Geometry>(&self, ladder: &Ladder, name: &str) -> Option<f64> {
        let anchor = self.config.evaluation.opponents.first()?;
        let standings = standings::<G>(ladder, self.config.goal, Some(anchor));
        let found = standings.players.iter().find(|standing| standing.name == name)?;
        Some(found.rating.elo)
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
            let player =
                NetPlayer::new(player.clone(), config.goal, backend, options.clone(), 1, seed);
            Ok(Box::new(player) as Box<dyn crate::arena::player::Player<G>>)
        };
        Contestant { name, deterministic: true, origin: Some(line), open: Box::new(open) }
    }
}
