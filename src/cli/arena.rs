//! `outflank arena`: matches between players of any kind, and the ratings of all.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::bail;

use super::contest::{
    MatchArgs, contestants, labels, run_match, tell_of_ladder, warn_of, write_file,
};
use super::interrupt::{INTERRUPTED, stop_flag};
use crate::arena::labels::Labels;
use crate::arena::ladder::{Ladder, Terms};
use crate::arena::matches::{Contestant, MatchSettings};
use crate::arena::report::{Report, verdict_name};
use crate::arena::run_curve;
use crate::arena::spec::PlayerSpec;
use crate::arena::standings::{Standings, standings};
use crate::arena::svg;
use crate::arena::tally::{Ruling, Sprt, Verdict, elo};
use crate::game::{Geometry, Goal, Shape};

/// Plays matches between all pairs of players and rates all players of the ladder file.
///
/// Players: random, greedy, alphabeta:depth=6,eval=positional, alphabeta:movetime=100ms,probcut=1.5,
/// rollouts:simulations=200, net:CHECKPOINT,simulations=100, policy:CHECKPOINT,
/// external:protocol=nboard|gtp,command="...". Any of them may have name=NAME, for tables and
/// pictures. Without players the ratings are printed.
/// With --sprt the exit code is 0 if the first player proves stronger, else 1; it is 130 if Ctrl-C
/// left games unplayed.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The players, two or more
    #[arg(value_name = "SPEC")]
    players: Vec<PlayerSpec>,
    #[command(flatten)]
    matches: MatchArgs,
    /// The board
    #[arg(long, value_name = "BOARD", default_value = "8x8")]
    shape: Shape,
    /// Who wins: most or fewest discs
    #[arg(long, value_name = "GOAL", default_value = "most")]
    goal: Goal,
    /// Decides openings and random moves; by default one that the ladder has not seen
    #[arg(long, value_name = "SEED", conflicts_with = "resume")]
    seed: Option<u64>,
    /// The file that keeps all games; made if there is none
    #[arg(long, value_name = "FILE", default_value = "ladder.jsonl")]
    ladder: PathBuf,
    /// Go on with the last matches between these players
    #[arg(long)]
    resume: bool,
    /// Stop when the first player is shown to be elo1 stronger, or not even elo0
    #[arg(long, value_name = "elo0,elo1", allow_hyphen_values = true)]
    sprt: Option<Sprt>,
    /// The player, or its label, whose rating is 0, and to whom errors refer; by default 0 is greedy, or
    /// random where greedy has not played, or else the first that is no net of a run, or else the
    /// mean of all; errors refer to the mean
    #[arg(long, value_name = "SPEC")]
    anchor: Option<String>,
    /// Also count the games of another ladder, which is only read; may be repeated
    #[arg(long, value_name = "FILE")]
    also: Vec<PathBuf>,
    /// Also draw the crosstable
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Also draw the ratings of nets over their training, and those of other players as levels
    #[arg(long, value_name = "FILE.svg")]
    curve: Option<PathBuf>,
    /// What --curve has on its axis: steps, positions, games or minutes of training
    #[arg(long, value_name = "WHAT", default_value = "steps", requires = "curve")]
    over: svg::Over,
}

/// Runs the subcommand.
///
/// # Errors
///
/// Players, openings or a ladder that cannot be used.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if args.players.len() == 1 {
        bail!("a match needs two players; only `{}` is given", args.players[0]);
    }
    if args.sprt.is_some() && args.players.len() != 2 {
        bail!("--sprt compares exactly two players; {} are given", args.players.len());
    }
    dispatch!(args.shape, G => Arena::<G>::open(&args)?.run())
}

/// The folder that a ladder file lies in: the run, if it is a run's.
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
        let players = contestants(&args.players, &args.matches.context(args.goal))?;
        for (place, player) in players.iter().enumerate() {
            if players[..place].iter().any(|other| other.name == player.name) {
                bail!("player `{}` is given twice", player.name);
            }
        }
        // Before a ladder is begun for nothing.
        args.matches.openings.book::<G>(1, 0)?;
        // Without players the ladder is only looked at: a run that is training may be writing to
        // it, and would find it locked.
        let mut ladder = match players.is_empty() {
            true => Ladder::look_at(&args.ladder)?,
            false => Ladder::open(&args.ladder)?,
        };
        warn_of(&args.ladder, &ladder.skipped);
        for path in &args.also {
            warn_of(path, &ladder.count_also(path)?);
        }
        let labels = labels(players.iter(), Some(&ladder), args.goal);
        if !players.is_empty() {
            tell_of_ladder::<G>(&args.ladder, &ladder, args.goal);
        }
        Ok(Arena { args, ladder, players, labels, verdict: None, stopped: false })
    }

    fn run(mut self) -> anyhow::Result<ExitCode> {
        for player in &self.players {
            if let Some(line) = player.line.clone() {
                self.ladder.introduce(line)?;
            }
        }
        if self.anchor_of_match().is_none() {
            // Before matches are played for nothing.
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
            self.verdict = report.ruling.map(|ruling| ruling.verdict);
        }
        let shown = self.show_standings();
        if self.stopped {
            // The games so far may be too few for what was to be shown.
            if let Err(error) = shown {
                tell!("{error:#}");
            }
            tell!("stopped; --resume goes on");
            return Ok(ExitCode::from(INTERRUPTED));
        }
        shown?;
        let accepted = self.verdict.is_none_or(|verdict| verdict == Verdict::Accepted);
        Ok(if accepted { ExitCode::SUCCESS } else { ExitCode::from(1) })
    }

    /// The player of this match that is to have rating 0. A net's name tells the very checkpoint
    /// that was found.
    fn anchor_of_match(&self) -> Option<&str> {
        let given = self.args.anchor.as_ref()?;
        let kind = given.parse().ok().map(|spec: PlayerSpec| spec.kind);
        let mut players = self.args.players.iter().zip(&self.players);
        let found = players.find(|(of, player)| {
            let is_meant = Some(&of.kind) == kind.as_ref() || player.name == *given;
            is_meant || self.labels.of(&player.name) == given
        });
        found.map(|(_, player)| player.name.as_str())
    }

    /// The name in the ladder of the player that is to have rating 0, which may be given by that
    /// name, by a specification or by its label.
    fn anchor(&self) -> anyhow::Result<Option<String>> {
        let Some(given) = &self.args.anchor else { return Ok(None) };
        let canonical = given.parse().ok().map(|spec: PlayerSpec| spec.kind.to_string());
        let games = self.ladder.games_on(G::SHAPE, self.args.goal);
        let names: HashSet<&str> =
            games.flat_map(|game| [game.black.as_str(), game.white.as_str()]).collect();
        let labelled = names.iter().find(|name| self.labels.of(name) == given);
        let wanted = [self.anchor_of_match(), Some(given), canonical.as_deref()];
        let known = wanted.into_iter().flatten().find(|name| names.contains(name));
        match known.or(labelled.copied()) {
            Some(name) => Ok(Some(name.to_owned())),
            None => bail!("--anchor `{given}` has played no game on board {}", self.args.shape),
        }
    }

    fn play(&mut self, one: usize, other: usize, seed: u64) -> anyhow::Result<Report> {
        let args = self.args;
        let pair = [&self.players[one], &self.players[other]];
        let terms = Terms {
            first: pair[0].name.clone(),
            second: pair[1].name.clone(),
            board: args.shape.name().into(),
            goal: args.goal.name().into(),
            openings: args.matches.openings.to_string(),
        };
        let known = self.ladder.last(&terms).filter(|_| args.resume).cloned();
        if args.resume && known.is_none() {
            tell!(
                "note: no match of {} and {} with openings {} is there to go on with; a new one begins",
                self.labels.of(&terms.first),
                self.labels.of(&terms.second),
                terms.openings
            );
        }
        // Before a match is begun for nothing.
        let book = args.matches.book::<G>(known.as_ref().map_or(seed, |line| line.seed))?;
        let line = known.map_or_else(|| self.ladder.begin(terms, seed), Ok)?;
        let setting = MatchSettings {
            goal: args.goal,
            games: args.matches.games,
            seed: line.seed,
            threads: args.matches.threads(),
            sprt: args.sprt,
        };
        let outcome =
            run_match(pair, &self.labels, &book, &setting, Some((&mut self.ladder, &line)))?;
        let possible = setting.games_of(pair, book.openings.len());
        let names = pair.map(|player| player.name.as_str());
        let report = Report::new(names, &self.labels, &outcome);
        Ok(report.limited_to(possible, setting.games))
    }

    fn show(&self, report: &Report) {
        if self.args.matches.json {
            println!("{}", report.match_json());
            return;
        }
        let (score, low, high) = report.score();
        let all = report.tally.outcomes();
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
        if let (Some(test), Some(Ruling { verdict, ratio })) = (self.args.sprt, report.ruling) {
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
        let mut standings = standings::<G>(&self.ladder, self.args.goal, anchor.as_deref());
        for ladder in std::iter::once(&self.args.ladder).chain(&self.args.also) {
            run_curve::complete(&mut standings, &run_of(ladder));
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
        let placed = origins.iter().filter(|origin| over.of(origin).is_some()).count();
        let Some(curve) = svg::curve(standings, over) else {
            match origins.is_empty() {
                true => {
                    bail!("no player of the ladder comes from a training run: no curve to draw")
                }
                false => bail!(
                    "the ladder does not say after how many {over} of training its nets were \
                     saved, nor does a checkpoint beside it; --over steps can be drawn"
                ),
            }
        };
        if placed < origins.len() {
            tell!(
                "note: {} of {} nets are left out of the curve: their {over} of training are not known",
                origins.len() - placed,
                origins.len()
            );
        }
        write_file(path, &curve)
    }
}
