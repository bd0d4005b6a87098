//! `outflank loss`: how many discs a player's moves lose, by exact scores.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::contest::{contestants, context, labels, progress_bar};
use super::game_args::GameArgs;
use super::interrupt::{INTERRUPTED, stop_flag};
use super::machine::cores;
use crate::arena::loss::positions::{
    Positions, Sample, TestPosition, from_file, from_games, to_lines,
};
use crate::arena::loss::{self, LossError, LossReport, LossSettings};
use crate::game::Geometry;
use crate::players::contestant::Contestant;
use crate::players::spec::PlayerSpec;
use crate::search::memory::room_for;
use crate::store::write_atomically;

/// Measures how many discs players lose by their moves, with exact scores.
///
/// A move's loss is the best exact score less the exact score after the move, in discs. The
/// positions are OBF lines, or come from the games of a run (its newer half, if that has enough) or
/// of matches. Positions from games are distinct up to symmetry, at most one from each game. Scores
/// in an OBF line are taken as exact (`outflank solve FILE` checks them). Other scores are solved,
/// and `--write` stores them.
///
/// The exit code is 130 if Ctrl-C came before all moves were judged.
#[derive(clap::Args, Debug)]
#[command(group = clap::ArgGroup::new("source").required(true).args(["positions", "games"]))]
pub struct Args {
    /// The players, written as for `outflank arena`
    #[arg(value_name = "SPEC", required = true)]
    players: Vec<PlayerSpec>,
    /// A file with one OBF position a line; bad lines are left out, and the first ten are named
    #[arg(long, value_name = "FILE")]
    positions: Option<PathBuf>,
    /// A run directory or a ladder file of `outflank arena`, to take positions from its games
    #[arg(long, value_name = "PATH")]
    games: Option<PathBuf>,
    /// Empty squares of the positions from games
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "positions", value_parser = clap::value_parser!(u32).range(1..=60))]
    empties: u32,
    /// How many positions to take from games
    #[arg(long, value_name = "N", default_value_t = 1000, conflicts_with = "positions", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: u32,
    /// Write the positions to this file, with all exact scores that are known in the end; by
    /// default they are not kept. A later `--positions` with that file solves only what is new. It
    /// may be the file of `--positions`, which then loses its comments and bad lines
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// The seed of the choice of positions from games, and of random moves
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    game: GameArgs,
    /// Threads that play and solve; by default one for each core. Players with a time limit divide
    /// the cores among these threads: with `--threads 1` they can use all cores
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Size of all solvers' transposition tables together, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=65536))]
    table_mb: u32,
    /// The device that computes nets: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: String,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
///
/// A player or the positions cannot be used, or a file cannot be written.
pub fn run(mut args: Args) -> anyhow::Result<ExitCode> {
    args.game.complete(&args.players);
    dispatch!(args.game.shape(), G => judge_all::<G>(&args))
}

impl Args {
    fn positions<G: Geometry>(&self) -> anyhow::Result<Vec<TestPosition<G>>> {
        let Args { empties, seed, .. } = *self;
        let goal = self.game.goal();
        let wanted = self.count as usize;
        let sample = Sample { goal, empties, count: wanted, seed };
        let Positions { positions, bad_lines, skipped } = match (&self.positions, &self.games) {
            (Some(file), _) => from_file::<G>(file)?,
            (None, Some(run)) => from_games::<G>(run, &sample)?,
            (None, None) => bail!("no positions are given; use --positions or --games"),
        };
        for remark in bad_lines.remarks() {
            tell!("warning: {}: {remark}", self.source());
        }
        if skipped > 0 {
            tell!("warning: {}: {skipped} games cannot be read; left out", self.source());
        }
        if self.games.is_some() && positions.len() < wanted {
            let found = positions.len();
            tell!(
                "note: {}: the games have {found} distinct positions with {empties} empty squares; \
                 {wanted} were asked for",
                self.source()
            );
        }
        Ok(positions)
    }

    fn source(&self) -> String {
        let path = self.positions.as_ref().or(self.games.as_ref());
        path.map(|path| path.display().to_string()).unwrap_or_default()
    }

    fn settings(&self) -> LossSettings {
        LossSettings {
            goal: self.game.goal(),
            seed: self.seed,
            threads: self.threads.map_or_else(cores, usize::from),
            table_bytes: (self.table_mb as usize) << 20,
        }
    }
}

fn judge_all<G: Geometry>(args: &Args) -> anyhow::Result<ExitCode> {
    let goal = args.game.goal();
    let settings = args.settings();
    room_for(settings.table_bytes as u64 * settings.threads as u64).context("--table-mb")?;
    let context = context(goal, &args.device, cores() / settings.threads);
    let players = contestants::<G>(&args.players, &context)?;
    let mut positions = args.positions::<G>()?;
    let mut about = json!({
        "shape": args.game.shape().name(),
        "goal": args.game.goal().name(),
        "path": args.source(),
        "seed": args.seed,
    });
    if args.games.is_some() {
        about["empties"] = args.empties.into();
    }
    let labels = labels(players.iter(), None, goal);
    for (spec, player) in args.players.iter().zip(&players) {
        let label = labels.of(&player.name);
        let judged = match judge(args, player, label, &mut positions) {
            Err(stopped @ LossError::Stopped) => {
                tell!("{stopped}");
                return Ok(ExitCode::from(INTERRUPTED));
            }
            judged => judged.with_context(|| format!("player `{}`", player.name))?,
        };
        if let Some(path) = &args.write {
            write_atomically(path, to_lines(&positions).as_bytes())?;
        }
        let names = [player.name.as_str(), label];
        let report = LossReport::new(names, spec.kind.solve_empties(), &judged);
        report_solved_positions(spec, &report);
        if args.json {
            println!("{}", report.json(&about));
        } else {
            print!("{report}");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints how many positions the player solves itself, because these do not measure its search.
fn report_solved_positions(spec: &PlayerSpec, report: &LossReport) {
    let LossReport { label, solved_itself, positions, .. } = report;
    if *solved_itself > 0 {
        tell!(
            "note: {label} solves {solved_itself} of {positions} positions itself, those with at \
             most {} empty squares; to measure its search use solve_empties=0 or earlier positions",
            spec.kind.solve_empties()
        );
    }
}

fn judge<G: Geometry>(
    args: &Args,
    player: &Contestant<'_, G>,
    label: &str,
    positions: &mut [TestPosition<G>],
) -> Result<Vec<loss::JudgedMove<G>>, LossError> {
    let (settings, count) = (args.settings(), positions.len() as u64);
    let bar = progress_bar(label, count, "moves");
    let choices = loss::choices(player, positions, &settings, stop_flag(), &|done| bar.inc(done))?;
    bar.finish_and_clear();
    let bar = progress_bar(label, count, "solved");
    let judged = loss::judge(positions, &choices, &settings, stop_flag(), &|done| bar.inc(done))?;
    bar.finish_and_clear();
    Ok(judged)
}
