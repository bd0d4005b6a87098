//! `outflank arena`: matches between players of any kind, and ratings.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::bail;

use super::contest::{
    MatchArgs, announce_ladder, contestants, labels, run_match, warn_of_skipped_lines, write_file,
};
use super::game_args::GameArgs;
use super::interrupt::{INTERRUPTED, stop_flag};
use crate::arena::ladder::{Ladder, MatchTerms, PlayerLine};
use crate::arena::matches::MatchSettings;
use crate::arena::report::{MatchReport, verdict_name};
use crate::arena::run_curve;
use crate::arena::standings::{Standings, standings};
use crate::arena::svg;
use crate::arena::tally::{Sprt, SprtResult, Verdict, elo};
use crate::game::Geometry;
use crate::players::contestant::Contestant;
use crate::players::labels::Labels;
use crate::players::spec::PlayerSpec;

/// Plays matches between all pairs of players and rates all players of the ladder file.
///
/// Players are written like greedy, alphabeta:depth=6 or net:runs/quick,simulations=100. `outflank
/// players` shows all kinds of players and their keys. Without players the ratings are printed.
///
/// With --sprt the exit code is 0 if the first player proves stronger, else 1. It is 130 if Ctrl-C
/// left games unplayed.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The players, two or more; without players only the ratings are printed
    #[arg(value_name = "SPEC")]
    players: Vec<PlayerSpec>,
    #[command(flatten)]
    matches: MatchArgs,
    #[command(flatten)]
    game: GameArgs,
    /// The seed of openings and random moves; by default one that the ladder does not have yet
    #[arg(long, value_name = "SEED", conflicts_with = "resume")]
    seed: Option<u64>,
    /// The ladder file, to which all games are added; it is created if there is none
    #[arg(long, value_name = "FILE", default_value = "ladder.jsonl")]
    ladder: PathBuf,
    /// Continue the last matches between these players
    #[arg(long)]
    resume: bool,
    /// Stop as soon as it is shown that the first player is elo1 Elo stronger, or not even elo0 Elo
    /// stronger; by default all games are played
    #[arg(long, value_name = "elo0,elo1", allow_hyphen_values = true)]
    sprt: Option<Sprt>,
    /// The player, or its label, whose rating is 0; errors are those of differences to it. By
    /// default greedy has rating 0, else random, else the first player that is not a net of a run,
    /// else the mean of all; errors are then those of differences to the mean
    #[arg(long, value_name = "SPEC")]
    anchor: Option<String>,
    /// Also count the games of another ladder, which is only read; may be repeated. By default none
    #[arg(long, value_name = "FILE")]
    also: Vec<PathBuf>,
    /// Draw the crosstable as a picture in this file; by default it is only printed
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Draw the ratings of nets over their training as a picture in this file, and other players as
    /// horizontal lines; by default there is no picture
    #[arg(long, value_name = "FILE.svg")]
    curve: Option<PathBuf>,
    /// The horizontal axis of --curve: steps, positions, games or minutes of training
    #[arg(long, value_name = "WHAT", default_value = "steps", requires = "curve")]
    over: svg::TrainingAxis,
}

/// Runs the subcommand.
///
/// # Errors
///
/// A player, the openings or a ladder cannot be used.
pub fn run(mut args: Args) -> anyhow::Result<ExitCode> {
    if args.players.len() == 1 {
        bail!("a match needs two players; only `{}` is given", args.players[0]);
    }
    if args.sprt.is_some() && args.players.len() != 2 {
        bail!("--sprt compares exactly two players; {} are given", args.players.len());
    }
    args.game.complete(&args.players);
    dispatch!(args.game.shape(), G => Arena::<G>::open(&args)?.run())
}

/// The folder of a ladder file. For a run's ladder it is the run directory.
fn run_of(ladder: &Path) -> PathBuf {
    let ladder = ladder.canonicalize().unwrap_or_else(|_| ladder.into());
    ladder.parent().unwrap_or(Path::new("")).into()
}

struct Arena<'a, G: Geometry> {
    args: &'a Args,
    ladder: Ladder,
    players: Vec<Contestant<'static, G>>,
    labels: Labels,
    verdict: Option<Verdict>,
    /// Whether an interrupt left games unplayed.
    stopped: bool,
}

impl<'a, G: Geometry> Arena<'a, G> {
    fn open(args: &'a Args) -> anyhow::Result<Arena<'a, G>> {
        if args.players.is_empty() && !args.ladder.exists() {
            bail!("no players are given, and there is no ladder {}", args.ladder.display());
        }
        let players = contestants(&args.players, &args.matches.context(args.game.goal()))?;
        for (place, player) in players.iter().enumerate() {
            if players[..place].iter().any(|other| other.name == player.name) {
                bail!("player `{}` is given twice", player.name);
            }
        }
        // First, so that bad openings leave no new ladder behind.
        args.matches.openings.book::<G>(1, 0)?;
        // Without players the ladder is not locked, because a run may be writing to it.
        let mut ladder = match players.is_empty() {
            true => Ladder::open_read_only(&args.ladder)?,
            false => Ladder::open(&args.ladder)?,
        };
        warn_of_skipped_lines(&args.ladder, &ladder.skipped);
        for path in &args.also {
            warn_of_skipped_lines(path, &ladder.include(path)?);
        }
        let labels = labels(players.iter(), Some(&ladder), args.game.goal());
        if !players.is_empty() {
            announce_ladder::<G>(&args.ladder, &ladder, args.game.goal());
        }
        Ok(Arena { args, ladder, players, labels, verdict: None, stopped: false })
    }

    fn run(mut self) -> anyhow::Result<ExitCode> {
        for player in &self.players {
            if let Some(line) = PlayerLine::of(player) {
                self.ladder.add_player(line)?;
            }
        }
        if self.anchor_of_match().is_none() {
            // A wrong anchor is an error before any match is played.
            self.anchor()?;
        }
        let seed = self.args.seed.unwrap_or_else(|| self.ladder.fresh_seed());
        let count = self.players.len();
        let pairs = (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other)));
        for (one, other) in pairs {
            self.stopped |= stop_flag().load(Ordering::Relaxed);
            if self.stopped {
                break;
            }
            let report = self.play(one, other, seed)?;
            self.show(&report);
            self.stopped = report.stopped;
            self.verdict = report.sprt.map(|sprt| sprt.verdict);
        }
        let shown = self.show_standings();
        if self.stopped {
            // There may be too few games for the table or a picture.
            if let Err(error) = shown {
                tell!("{error:#}");
            }
            tell!("stopped; --resume continues the matches");
            return Ok(ExitCode::from(INTERRUPTED));
        }
        shown?;
        let accepted = self.verdict.is_none_or(|verdict| verdict == Verdict::Accepted);
        Ok(if accepted { ExitCode::SUCCESS } else { ExitCode::from(1) })
    }

    /// The player of this match that --anchor means. It may be given by its specification, its name
    /// in the ladder or its label. A net's name in the ladder contains the exact checkpoint.
    fn anchor_of_match(&self) -> Option<&str> {
        let given = self.args.anchor.as_ref()?;
        let kind = given.parse().ok().map(|spec: PlayerSpec| spec.kind);
        let mut players = self.args.players.iter().zip(&self.players);
        let found = players.find(|(spec, player)| {
            let is_meant = Some(&spec.kind) == kind.as_ref() || player.name == *given;
            is_meant || self.labels.of(&player.name) == given
        });
        found.map(|(_, player)| player.name.as_str())
    }

    /// The name in the ladder of the player that --anchor means. It may be given by that name, by a
    /// specification or by its label.
    fn anchor(&self) -> anyhow::Result<Option<String>> {
        let Some(given) = &self.args.anchor else { return Ok(None) };
        let canonical = given.parse().ok().map(|spec: PlayerSpec| spec.kind.to_string());
        let games = self.ladder.games_on(G::SHAPE, self.args.game.goal());
        let names: HashSet<&str> =
            games.flat_map(|game| [game.black.as_str(), game.white.as_str()]).collect();
        let labelled = names.iter().find(|name| self.labels.of(name) == given);
        let wanted = [self.anchor_of_match(), Some(given), canonical.as_deref()];
        let known = wanted.into_iter().flatten().find(|name| names.contains(name));
        match known.or(labelled.copied()) {
            Some(name) => Ok(Some(name.to_owned())),
            None => {
                bail!("--anchor `{given}` has played no game on board {}", self.args.game.shape())
            }
        }
    }

    fn play(&mut self, one: usize, other: usize, seed: u64) -> anyhow::Result<MatchReport> {
        let args = self.args;
        let pair = [&self.players[one], &self.players[other]];
        let terms = MatchTerms {
            first: pair[0].name.clone(),
            second: pair[1].name.clone(),
            board: args.game.shape().name().into(),
            goal: args.game.goal().name().into(),
            openings: args.matches.openings.to_string(),
        };
        let known = self.ladder.last_match(&terms).filter(|_| args.resume).cloned();
        if args.resume && known.is_none() {
            tell!(
                "note: there is no match of {} and {} with openings {} to continue; a new one \
                 starts",
                self.labels.of(&terms.first),
                self.labels.of(&terms.second),
                terms.openings
            );
        }
        // First, so that bad openings leave no empty match in the ladder.
        let book = args.matches.book::<G>(known.as_ref().map_or(seed, |line| line.seed))?;
        let line = known.map_or_else(|| self.ladder.begin_match(terms, seed), Ok)?;
        let settings = MatchSettings {
            goal: args.game.goal(),
            games: args.matches.games,
            seed: line.seed,
            threads: args.matches.threads(),
            sprt: args.sprt,
        };
        let result =
            run_match(pair, &self.labels, &book, &settings, Some((&mut self.ladder, &line)))?;
        let possible = settings.game_count(pair, book.openings.len());
        let names = pair.map(|player| player.name.as_str());
        let report = MatchReport::new(names, &self.labels, &result);
        Ok(report.limited_to(possible, settings.games))
    }

    fn show(&self, report: &MatchReport) {
        if self.args.matches.json {
            println!("{}", report.match_json());
            return;
        }
        let (score, low, high) = report.score();
        let all = report.tally.total();
        println!("{} - {}", report.labels[0], report.labels[1]);
        println!(
            "  {}-{}-{} (wins, draws, losses), {:.1} % ({:.1} to {:.1}), Elo {:+.0} ({:+.0} to {:+.0})",
            all.wins,
            all.draws,
            all.losses,
            100.0 * score,
            100.0 * low,
            100.0 * high,
            elo(score),
            elo(low),
            elo(high)
        );
        let (black, white) = (report.tally.black, report.tally.white);
        println!(
            "  black {}-{}-{}, white {}-{}-{}, mean discs {}",
            black.wins,
            black.draws,
            black.losses,
            white.wins,
            white.draws,
            white.losses,
            report.tally.mean_discs().map_or("-".into(), |discs| format!("{discs:+.1}"))
        );
        for remark in report.remarks() {
            println!("  {remark}");
        }
        if let (Some(test), Some(SprtResult { verdict, ratio })) = (self.args.sprt, report.sprt) {
            println!(
                "  SPRT {},{}: {} (log-likelihood ratio {ratio:+.2} of {:.2})",
                test.elo0,
                test.elo1,
                verdict_name(verdict),
                Sprt::BOUND
            );
        }
    }

    fn show_standings(&self) -> anyhow::Result<()> {
        let anchor = self.anchor()?;
        let mut standings = standings::<G>(&self.ladder, self.args.game.goal(), anchor.as_deref());
        for ladder in std::iter::once(&self.args.ladder).chain(&self.args.also) {
            run_curve::fill_in_missing(&mut standings, &run_of(ladder));
        }
        if self.args.matches.json {
            standings.json().iter().for_each(|player| println!("{player}"));
        } else if standings.players.is_empty() {
            println!("no games on board {}, goal {}", standings.board, standings.goal);
        } else {
            print!("\n{}", standings.text());
        }
        if let Some(path) = &self.args.svg {
            write_file(path, &svg::crosstable(&standings))?;
        }
        if let Some(path) = &self.args.curve {
            self.draw_curve(&standings, path)?;
        }
        Ok(())
    }

    fn draw_curve(&self, standings: &Standings, path: &PathBuf) -> anyhow::Result<()> {
        let over = self.args.over;
        let origins: Vec<_> =
            standings.players.iter().filter_map(|player| player.origin.as_ref()).collect();
        let known = origins.iter().filter(|origin| over.value(origin).is_some()).count();
        let Some(curve) = svg::curve(standings, over) else {
            match origins.is_empty() {
                true => {
                    bail!("there is no curve: no player of the ladder comes from a training run")
                }
                false => bail!(
                    "the {over} of training of the ladder's nets are not known: neither the ladder \
                     nor a checkpoint beside it has them; use --over steps"
                ),
            }
        };
        if known < origins.len() {
            tell!(
                "note: {} of {} nets are left out of the curve: their {over} of training are not \
                 known",
                origins.len() - known,
                origins.len()
            );
        }
        write_file(path, &curve)?;
        tell!("the curve is in {}", path.display());
        Ok(())
    }
}
