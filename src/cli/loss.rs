//! `outflank loss`: how many discs a player's moves give away, by exact scores.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::contest::{contestants, context, labels, progress_bar};
use super::interrupt::{INTERRUPTED, stop_flag};
use super::machine::cores;
use crate::arena::loss::positions::{Positions, Problem, Sample, from_file, from_games, to_lines};
use crate::arena::loss::{self, LossError, LossReport, LossSettings};
use crate::arena::matches::Contestant;
use crate::arena::spec::PlayerSpec;
use crate::game::{Geometry, Goal, Shape};
use crate::store::write_atomically;

/// Judges players by the exact scores of their moves.
///
/// A move's loss is the best exact score less the exact score after the move, in discs. The
/// positions are OBF lines, or come from games: those of a run, newer half first, or those of
/// matches; distinct up to symmetry, one of a game. Scores that an OBF line states are taken as
/// exact (`outflank solve FILE` checks them); the rest is solved, which `--write` remembers.
///
/// The exit code is 130 if Ctrl-C came before all moves were judged.
#[derive(clap::Args, Debug)]
#[command(group = clap::ArgGroup::new("source").required(true).args(["positions", "games"]))]
pub struct Args {
    /// The players, as for `outflank arena`
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
    /// Write the positions there, with all exact scores that are known in the end; `--positions`
    /// then judges by the same ones, and solves only what is new. May be the file of
    /// `--positions`, which keeps neither comments nor bad lines
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Decides the positions from games, and random moves
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Board: 8x8, 6x6, 7x7, octagon88 or cross92
    #[arg(long, value_name = "BOARD", default_value = "8x8")]
    shape: Shape,
    /// Who wins: `most` or `fewest` discs
    #[arg(long, value_name = "GOAL", default_value = "most")]
    goal: Goal,
    /// Threads that play and solve; all cores by default. Players by the clock have what cores
    /// are left: all with `--threads 1`
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Size of the solvers' tables in MiB, all together
    #[arg(long, value_name = "MIB", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=65536))]
    table_mb: u32,
    /// Where nets are computed: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: String,
    /// How many of the costliest moves to show
    #[arg(long, value_name = "N", default_value_t = 5)]
    worst: usize,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
///
/// # Errors
///
/// Players or positions that cannot be used, or a file that cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    dispatch!(args.shape, G => judge_all::<G>(args))
}

impl Args {
    fn positions<G: Geometry>(&self) -> anyhow::Result<Vec<Problem<G>>> {
        let Args { goal, empties, seed, .. } = *self;
        let wanted = self.count as usize;
        let sample = Sample { goal, empties, count: wanted, seed };
        let Positions { problems, bad_lines, skipped } = match (&self.positions, &self.games) {
            (Some(file), _) => from_file::<G>(file)?,
            (None, Some(run)) => from_games::<G>(run, &sample)?,
            (None, None) => bail!("no positions are given; --positions or --games says which"),
        };
        for remark in bad_lines.remarks() {
            tell!("warning: {}: {remark}", self.source());
        }
        if skipped > 0 {
            tell!("warning: {}: {skipped} games cannot be read; left out", self.source());
        }
        if self.games.is_some() && problems.len() < wanted {
            let found = problems.len();
            tell!(
                "note: {}: the games have {found} distinct positions with {empties} empty squares; {wanted} were asked for",
                self.source()
            );
        }
        Ok(problems)
    }

    fn source(&self) -> String {
        let path = self.positions.as_ref().or(self.games.as_ref());
        path.map(|path| path.display().to_string()).unwrap_or_default()
    }

    fn setting(&self) -> LossSettings {
        LossSettings {
            goal: self.goal,
            seed: self.seed,
            threads: self.threads.map_or_else(cores, usize::from),
            table_bytes: (self.table_mb as usize) << 20,
        }
    }
}

fn judge_all<G: Geometry>(args: &Args) -> anyhow::Result<ExitCode> {
    let goal = args.goal;
    let context = context(goal, &args.device, cores() / args.setting().threads);
    let players = contestants::<G>(&args.players, &context)?;
    let mut problems = args.positions::<G>()?;
    let mut about = json!({
        "shape": args.shape.name(),
        "goal": args.goal.name(),
        "path": args.source(),
        "seed": args.seed,
    });
    if args.games.is_some() {
        about["empties"] = args.empties.into();
    }
    let labels = labels(players.iter(), None, goal);
    for (spec, player) in args.players.iter().zip(&players) {
        let label = labels.of(&player.name);
        let judged = match judge(args, player, label, &mut problems) {
            Err(stopped @ LossError::Stopped) => {
                tell!("{stopped}");
                return Ok(ExitCode::from(INTERRUPTED));
            }
            judged => judged.with_context(|| format!("player `{}`", player.name))?,
        };
        if let Some(path) = &args.write {
            write_atomically(path, to_lines(&problems).as_bytes())?;
        }
        let names = [player.name.as_str(), label];
        let report = LossReport::new(names, spec.solve_empties(), &judged, args.worst);
        tell_of_solutions(spec, &report);
        if args.json {
            println!("{}", report.json(&about));
        } else {
            print!("{report}");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A loss of 0 in positions that the player solves says nothing about its search.
fn tell_of_solutions(spec: &PlayerSpec, report: &LossReport) {
    let LossReport { label, solved_itself, positions, .. } = report;
    if *solved_itself > 0 {
        tell!(
            "note: {label} solves {solved_itself} of {positions} positions itself, those of at most {} \
             empty squares; solve_empties=0, or positions with more of them, judge its search",
            spec.solve_empties()
        );
    }
}

fn judge<G: Geometry>(
    args: &Args,
    player: &Contestant<'_, G>,
    label: &str,
    problems: &mut [Problem<G>],
) -> Result<Vec<loss::Judged<G>>, LossError> {
    let (setting, count) = (args.setting(), problems.len() as u64);
    let bar = progress_bar(label, count, "moves");
    let choices = loss::choices(player, problems, &setting, stop_flag(), &|done| bar.inc(done))?;
    bar.finish_and_clear();
    let bar = progress_bar(label, count, "solved");
    let judged = loss::judge(problems, &choices, &setting, stop_flag(), &|done| bar.inc(done))?;
    bar.finish_and_clear();
    Ok(judged)
}
