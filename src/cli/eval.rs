//! `outflank eval`: measures a checkpoint's strength against fixed opponents.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::{Context as _, bail};

use super::contest::{
    MatchArgs, announce_ladder, contestants, labels, run_match, warn_of_skipped_lines,
};
use super::interrupt::{INTERRUPTED, stop_flag};
use crate::arena::fu_xu;
use crate::arena::ladder::{Ladder, MatchTerms, PlayerLine};
use crate::arena::matches::MatchSettings;
use crate::arena::report::{MatchReport, opponents_table};
use crate::arena::standings::standings;
use crate::game::{Geometry, Goal, Shape};
use crate::players::contestant::Contestant;
use crate::players::models::LoadedModel;
use crate::players::spec::{NetPlayerSpec, PlayerKind, PlayerSpec};

/// Published tables that can be played again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Table {
    /// Tables 1 to 4 of Fu and Xu
    Paper,
    /// Table 1: the net with tree search
    #[value(name = "paper-1")]
    Search,
    /// Table 2: the same against alpha-beta
    #[value(name = "paper-2")]
    AlphaBeta,
    /// Table 3: tree search with rollouts, without the net
    #[value(name = "paper-3")]
    Rollouts,
    /// Table 4: the policy alone
    #[value(name = "paper-4")]
    Policy,
}

impl Table {
    /// The table's number; `None` for all tables.
    fn number(self) -> Option<u32> {
        match self {
            Table::Paper => None,
            Table::Search => Some(1),
            Table::AlphaBeta => Some(2),
            Table::Rollouts => Some(3),
            Table::Policy => Some(4),
        }
    }
}

/// Plays a checkpoint's net against fixed opponents.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A net file, a checkpoint, or a run directory (its newest checkpoint)
    #[arg(value_name = "CHECKPOINT")]
    checkpoint: PathBuf,
    /// An opponent, written as for `outflank arena`; may be given several times [default: random,
    /// greedy, alphabeta:depth=2,eval=positional]
    #[arg(long, value_name = "SPEC", conflicts_with = "table")]
    against: Vec<PlayerSpec>,
    #[command(flatten)]
    matches: MatchArgs,
    /// Simulations of the net's search for each move
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    simulations: u32,
    /// The seed of openings and random moves
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Add the games to this ladder file and show the net's rating there; by default the games are
    /// not kept
    #[arg(long, value_name = "FILE", conflicts_with = "table")]
    ladder: Option<PathBuf>,
    /// Play a published table again, with the same number of games from the start position, and
    /// print both side by side; by default the opponents of --against are played
    #[arg(long, value_name = "NAME", conflicts_with_all = ["games", "openings"])]
    table: Option<Table>,
}

/// Runs the subcommand.
///
/// # Errors
///
/// The checkpoint, an opponent, the openings or the ladder cannot be used.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let net = LoadedModel::read(&args.checkpoint)?;
    let (shape, goal) = (net.description.shape, net.description.goal);
    if let Some(table) = args.table {
        if (shape, goal) != (Shape::Square8, Goal::Most) {
            bail!(
                "the tables of Fu and Xu are for board 8x8 and most discs; the net is for {shape} \
                 and {goal}"
            );
        }
        return play_tables(&args, table);
    }
    dispatch!(shape, G => play_opponents::<G>(&args, goal))
}

/// The opponents that were given, or the default ones.
fn opponents(args: &Args) -> anyhow::Result<Vec<PlayerSpec>> {
    if !args.against.is_empty() {
        return Ok(args.against.clone());
    }
    let defaults = ["random", "greedy", "alphabeta:depth=2,eval=positional"].map(str::parse);
    Ok(defaults.into_iter().collect::<Result<_, _>>()?)
}

fn play_opponents<G: Geometry>(args: &Args, goal: Goal) -> anyhow::Result<ExitCode> {
    let matches = &args.matches;
    let context = matches.context(goal);
    let opponents = opponents(args)?;
    let net = PlayerKind::Net(NetPlayerSpec::new(args.checkpoint.clone(), args.simulations));
    let net = contestants::<G>(&[net.into()], &context)?.remove(0);
    let players = contestants::<G>(&opponents, &context)?;
    // First, so that bad openings leave no new ladder behind.
    let book = matches.book::<G>(args.seed)?;
    let mut ladder = args.ladder.as_deref().map(Ladder::open).transpose()?;
    let all = std::iter::once(&net).chain(&players);
    let labels = labels(all.clone(), ladder.as_ref(), goal);
    if let (Some(ladder), Some(path)) = (&mut ladder, &args.ladder) {
        warn_of_skipped_lines(path, &ladder.skipped);
        announce_ladder::<G>(path, ladder, goal);
        for line in all.filter_map(PlayerLine::of) {
            ladder.add_player(line)?;
        }
    }
    let settings = MatchSettings {
        goal,
        games: matches.games,
        seed: args.seed,
        threads: matches.threads(),
        sprt: None,
    };
    let mut reports = Vec::new();
    for (spec, player) in opponents.iter().zip(&players) {
        if stop_flag().load(Ordering::Relaxed) {
            break;
        }
        let begin = |ladder: &mut Ladder| {
            ladder.begin_match(terms::<G>(args, goal, &net, player), args.seed)
        };
        let line = ladder.as_mut().map(begin).transpose()?;
        let (pair, names) = ([&net, player], [net.name.as_str(), player.name.as_str()]);
        let noted = ladder.as_mut().zip(line.as_ref());
        let result = run_match(pair, &labels, &book, &settings, noted)?;
        let possible = settings.game_count(pair, book.openings.len());
        let report = MatchReport::new(names, &labels, &result).limited_to(possible, matches.games);
        if matches.json {
            println!("{}", report.opponent_json(&spec.to_string()));
        }
        reports.push(report);
    }
    if !matches.json {
        println!("{}", labels.of(&net.name));
        print!("{}", opponents_table(&reports));
    }
    if let Some(ladder) = &ladder {
        show_rating::<G>(ladder, goal, &net.name, matches.json);
    }
    if reports.len() < opponents.len() || reports.iter().any(|report| report.stopped) {
        tell!("stopped before all games were played");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}

fn terms<G: Geometry>(
    args: &Args,
    goal: Goal,
    net: &Contestant<'_, G>,
    player: &Contestant<'_, G>,
) -> MatchTerms {
    MatchTerms {
        first: net.name.clone(),
        second: player.name.clone(),
        board: G::SHAPE.name().into(),
        goal: goal.name().into(),
        openings: args.matches.openings.to_string(),
    }
}

fn show_rating<G: Geometry>(ladder: &Ladder, goal: Goal, name: &str, json: bool) {
    let standings = standings::<G>(ladder, goal, None);
    let Some(player) = standings.players.iter().find(|player| player.name == name) else { return };
    if json {
        println!("{}", standings.player_json(player));
    } else {
        let (rating, games) = (player.rating, player.total.games());
        let zero = standings.zero_label();
        println!("rating in the ladder: {rating} from {games} games; {zero} has rating 0");
    }
}

fn play_tables(args: &Args, table: Table) -> anyhow::Result<ExitCode> {
    type G = crate::game::Square8;
    let context = args.matches.context(Goal::Most);
    let mut results = Vec::new();
    let is_chosen = |row: &&fu_xu::Row| table.number().is_none_or(|number| row.table == number);
    let rows: Vec<_> = fu_xu::ROWS.iter().filter(is_chosen).collect();
    for row in &rows {
        let agent = row.agent.spec(&args.checkpoint, args.simulations);
        let opponent = row.stand_in.parse::<PlayerSpec>().context("a table's opponent")?;
        let players = contestants::<G>(&[agent, opponent], &context)?;
        let threads = args.matches.threads();
        let pair = [&players[0], &players[1]];
        let result = fu_xu::play_row(row, pair, args.seed, threads, stop_flag())?;
        if stop_flag().load(Ordering::Relaxed) {
            break;
        }
        if args.matches.json {
            println!("{}", result.json());
        } else {
            tell!("table {}, {} ({}): done", row.table, row.opponent, row.stand_in);
        }
        results.push(result);
    }
    if !args.matches.json {
        println!("Net: {} with {} simulations\n", args.checkpoint.display(), args.simulations);
        print!("{}", fu_xu::text(&results));
    }
    if results.len() < rows.len() {
        tell!("stopped: {} of {} rows are not played", rows.len() - results.len(), rows.len());
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}
