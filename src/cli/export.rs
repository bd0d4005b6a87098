//! `outflank export`: copies a run's net to a folder, with a card that describes its training.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use super::machine::processor;
use super::tell_how_to_play;
use crate::arena::ladder::Ladder;
use crate::arena::standings::{Standing, Standings, standings};
use crate::config::{Config, Method};
use crate::game::Goal;
use crate::model::Description;
use crate::pipeline::{LADDER, RunState};
use crate::players::inputs;
use crate::players::models::LoadedModel;
use crate::store::checkpoint::{self, Checkpoint, ModelLocation};
use crate::store::run_dir::{InitialNetInfo, Machine};
use crate::store::{self, run_dir};

/// The card: how the net was trained, and its rating.
const CARD: &str = "README.md";
const CONFIG: &str = "config.toml";

/// Copies a run's net into a folder of its own, with its configuration and a card that describes
/// how it was trained.
///
/// The folder can be used like any other checkpoint: `net:FOLDER`, `outflank eval FOLDER`. It
/// holds what is needed to play, not what is needed to continue the training.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A run directory (its newest checkpoint), or one checkpoint of a run
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The new folder; it must not exist yet, or be empty
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
///
/// There is no checkpoint of a run, it is damaged, or the folder cannot be written or is not empty.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let ModelLocation::Checkpoint(path) = checkpoint::find(&args.run)? else {
        bail!("{} is a net without a run; only runs can be exported", args.run.display());
    };
    let origin = Origin::of(&path)?;
    let is_free = fs::read_dir(&args.folder).is_ok_and(|mut entries| entries.next().is_none());
    if args.folder.exists() && !is_free {
        bail!("{} is not empty; name a new folder", args.folder.display());
    }
    let card = origin.card()?;
    store::create_dir(&args.folder)?;
    let write = |name: &str, bytes: &[u8]| store::write_atomically(&args.folder.join(name), bytes);
    write(CARD, card.as_bytes())?;
    write(CONFIG, origin.config.as_bytes())?;
    if let Some(net) = origin.model.net() {
        inputs::pass_on(net, origin.model.description.goal, &origin.run, &args.folder)?;
    }
    // The net comes last, so a folder with a net is complete.
    write(checkpoint::NET, origin.checkpoint.net.bytes())?;
    println!("{}: net, configuration and card", args.folder.display());
    let folder = args.folder.display();
    match origin.model.net() {
        Some(_) => tell!("play against it with: outflank play net:{folder}"),
        None => tell_how_to_play(&args.folder),
    }
    Ok(ExitCode::SUCCESS)
}

/// Where a net comes from.
struct Origin {
    /// The run directory.
    run: PathBuf,
    /// The run's configuration as resolved.
    config: String,
    seed: u64,
    begun_with: u64,
    first_net: Option<InitialNetInfo>,
    program: String,
    machine: Option<Machine>,
    checkpoint: Checkpoint,
    model: LoadedModel,
    state: RunState,
}

impl Origin {
    fn of(path: &Path) -> anyhow::Result<Origin> {
        // The full path, because the parents of a path such as `.` are needed.
        let whole = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let run = whole.ancestors().nth(2).unwrap_or(&whole).to_path_buf();
        let manifest = match run_dir::list(&run)?.pop() {
            Some(listed) if listed.path == run => listed.manifest?,
            _ => bail!("{} is not in the `checkpoints` of a run directory", path.display()),
        };
        let config = run_dir::read_config(&run)?;
        let checkpoint = Checkpoint::load(path)?;
        let state = serde_json::from_value(checkpoint.state.clone())
            .with_context(|| format!("the counters of checkpoint {}", path.display()))?;
        let location = ModelLocation::Checkpoint(path.to_path_buf());
        let model = LoadedModel::of(&checkpoint.net, location)?;
        Ok(Origin {
            run,
            config,
            seed: manifest.seed,
            begun_with: manifest.begun_with,
            first_net: manifest.first_net,
            program: manifest.program,
            machine: manifest.machine,
            checkpoint,
            model,
            state,
        })
    }

    fn card(&self) -> anyhow::Result<String> {
        let Description { shape, goal, .. } = self.model.description;
        let origin = self.run.join(CONFIG).display().to_string();
        let config = Config::parse_stored(&origin, &self.config, &[])?;
        // Older runs did not note their machine. For them the card has the present machine.
        let (place, machine) = match &self.machine {
            Some(machine) => ("machine", machine.clone()),
            None => ("exported on", processor()),
        };
        let wins = match goal {
            Goal::Most => "the most discs win",
            Goal::Fewest => "the fewest discs win",
        };
        let size = self.checkpoint.net.bytes().len().div_ceil(1000);
        let (name, model) = self.model_in_words();
        let first_net = self.first_net.as_ref().map_or(String::new(), |net| {
            let InitialNetInfo { path, positions, steps } = net;
            let path = path.display();
            format!("| first weights | net `{path}`: {positions} positions, {steps} steps |\n")
        });
        let found = self.standings()?;
        let own = found.as_ref().and_then(|found| self.own(found));
        let rating = own.map_or("not rated by the run".into(), |own| own.rating.to_string());
        let (rows, device) = self.training_rows(&config);
        let mut card = format!("# A {name} for {shape}, {wins}\n\n");
        let _ = write!(
            card,
            "Generated by `outflank export` from a run of Outflank {program}, seed {seed}.\n\n\
             | | |\n|---|---|\n\
             | {name} | {model}, {size} kB |\n\
             {first_net}\
             {rows}\
             | hours of training | {hours:.2} |\n\
             | rating | {rating} |\n\
             | {place} | {cpu}, {cores} cores{device} |\n\
             | configuration | [{CONFIG}]({CONFIG}) |\n",
            program = self.program,
            seed = self.seed,
            hours = self.checkpoint.minutes / 60.0,
            cpu = machine.cpu,
            cores = machine.cores,
        );
        if let Some(found) = &found {
            card.push_str(&self.curve(&config, found));
        }
        Ok(card)
    }

    /// The rows of the card about what the training took, and the end of the machine's row.
    fn training_rows(&self, config: &Config) -> (String, String) {
        let RunState { games, positions, steps, .. } = self.state;
        let method = config.method;
        if method != Method::AlphaZero {
            let rows = format!(
                "| method | `{method}` |\n\
                 | stages trained | {steps} |\n\
                 | positions scored | {positions} |\n"
            );
            return (rows, String::new());
        }
        let earlier = match self.begun_with {
            0 => String::new(),
            games => format!(", {games} of them from earlier runs and files"),
        };
        let batch = config.learner.batch;
        let rows = format!(
            "| games of self-play | {games}{earlier} |\n\
             | positions of self-play | {positions} |\n\
             | training steps | {steps} of {batch} positions |\n"
        );
        (rows, format!(", device `{}`", config.device))
    }

    /// The kind of the model, and its size.
    fn model_in_words(&self) -> (String, String) {
        let kind = self.model.description.kind;
        match self.model.net() {
            Some(net) => {
                let size = format!("{} blocks of {} channels", net.blocks(), net.channels());
                ("net".into(), size)
            }
            None => {
                let numbers: usize =
                    self.model.weights().iter().map(|(_, array)| array.values.len()).sum();
                (format!("{kind} evaluator"), format!("{numbers} numbers"))
            }
        }
    }

    /// The ratings of the run's own evaluations, if there were any.
    fn standings(&self) -> anyhow::Result<Option<Standings>> {
        let path = self.run.join(LADDER);
        if !path.exists() {
            return Ok(None);
        }
        let ladder = Ladder::open_read_only(&path)?;
        let Description { shape, goal, .. } = self.model.description;
        Ok(Some(dispatch!(shape, G => standings::<G>(&ladder, goal, None))))
    }

    /// The exported net in the ratings. Ladders of older versions identify a net by its step alone.
    fn own<'a>(&self, found: &'a Standings) -> Option<&'a Standing> {
        let own = self.checkpoint.net.weights_checksum();
        found.players.iter().find(|player| {
            player.origin.as_ref().is_some_and(|origin| match &origin.net {
                Some(net) => *net == own,
                None => origin.step == self.state.steps,
            })
        })
    }

    /// The card's table of ratings: the run's nets up to this one, and their opponents.
    fn curve(&self, config: &Config, found: &Standings) -> String {
        let step = |standing: &Standing| standing.origin.as_ref().map(|origin| origin.step);
        let own = self.own(found);
        let mut players: Vec<_> = found.players.iter().collect();
        players.retain(|player| step(player).is_none_or(|step| step <= self.state.steps));
        players.sort_by_key(|player| (step(player).is_some(), step(player)));
        let zero = found.zero.as_deref().unwrap_or("the mean of all");
        let evaluation = &config.evaluation;
        let mut text = format!(
            "\n## Ratings during training\n\n\
             Elo by maximum likelihood over the games of the run's evaluations; {zero} has rating \
             0, and the error\nis a 95 % interval. {games} games a pair, openings of {plies} \
             random plies with both colours,\n{simulations} simulations a move, no temperature.\n\n\
             | player | positions of self-play | games | rating |\n|---|---|---|---|\n",
            games = evaluation.games,
            plies = evaluation.opening_plies,
            simulations = evaluation.simulations,
        );
        for player in players {
            let is_own = own.is_some_and(|own| own.name == player.name);
            let name = match step(player) {
                Some(step) if is_own => format!("**this net**, after {step} steps"),
                Some(step) => format!("the net after {step} steps"),
                None => format!("`{}`", player.name),
            };
            let positions = player.origin.as_ref().and_then(|origin| origin.positions);
            let positions = positions.map_or(String::new(), |positions| positions.to_string());
            let (games, rating) = (player.total.games(), player.rating);
            let _ = writeln!(text, "| {name} | {positions} | {games} | {rating} |");
        }
        text
    }
}
