//! Options and functions that the subcommands with matches share, and the progress bar of a match.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressStyle};

use super::interrupt::stop_flag;
use super::machine::cores;
use crate::arena::ladder::{GameLine, Ladder, MatchLine, SkippedLines};
use crate::arena::matches::{MatchResult, MatchSettings, play};
use crate::arena::openings::{OpeningBook, OpeningSource};
use crate::game::{Geometry, Goal};
use crate::net::inference;
use crate::players::contestant::Contestant;
use crate::players::contestant::PlayerContext;
use crate::players::labels::Labels;
use crate::players::open::contestant;
use crate::players::spec::PlayerSpec;

/// The options of subcommands that play matches.
#[derive(clap::Args, Debug)]
pub struct MatchArgs {
    /// Games of each match; an odd number is rounded up, since each opening is played with both
    /// colours
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub games: u32,
    /// The openings of the games: random:PLIES, start, a file of transcripts or OBF positions, or
    /// GAMES:PLIES for the first moves of games, such as WTH_2001.wtb:8
    #[arg(long, value_name = "SOURCE", default_value = "random:6")]
    pub openings: OpeningSource,
    /// Threads that play games; by default one for each core. Players with a time limit divide the
    /// cores among these threads: with `--threads 1` they can use all cores
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// The device that computes nets: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub device: String,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

impl MatchArgs {
    /// The number of threads that play.
    pub fn threads(&self) -> usize {
        self.threads.map_or_else(cores, usize::from)
    }

    /// The context in which players are opened.
    pub fn context(&self, goal: Goal) -> PlayerContext {
        context(goal, &self.device, cores() / self.threads())
    }

    /// The openings of a match. Prints warnings for bad lines of a file.
    pub fn book<G: Geometry>(&self, seed: u64) -> anyhow::Result<OpeningBook<G>> {
        let wanted = self.games.div_ceil(2) as usize;
        let book = self.openings.book::<G>(wanted, seed)?;
        let of_games = matches!(self.openings, OpeningSource::Games { .. });
        for remark in book.bad_lines.remarks() {
            let remark = if of_games { remark.replacen("line", "game", 1) } else { remark };
            tell!("warning: {}: {remark}", self.openings);
        }
        if book.too_short > 0 {
            let count = book.too_short;
            tell!("note: {count} games are too short, or on another board; left out");
        }
        Ok(book)
    }
}

/// The context of players that compute nets on `device` and have `cores` cores each.
pub fn context(goal: Goal, device: &str, cores: usize) -> PlayerContext {
    let inference = inference::Options::default();
    PlayerContext { goal, device: device.into(), inference, cores: cores.max(1) }
}

/// The players of these specifications.
///
/// # Errors
///
/// A player cannot be opened, or two different players have the same `name=`.
pub fn contestants<G: Geometry>(
    specs: &[PlayerSpec],
    context: &PlayerContext,
) -> anyhow::Result<Vec<Contestant<'static, G>>> {
    let open = |spec| contestant(spec, context).with_context(|| format!("player `{spec}`"));
    let players = specs.iter().map(open).collect::<anyhow::Result<Vec<_>>>()?;
    let mut given = HashMap::new();
    for player in &players {
        if let Some(name) = &player.label
            && let Some(other) = given.insert(name, &player.name)
            && *other != player.name
        {
            bail!("two players are called `{name}`: `{other}` and `{}`", player.name);
        }
    }
    Ok(players)
}

/// The labels of these players and of all players in the ladder on this board and for this goal.
/// The table of ratings has the same players, so it has the same labels.
pub fn labels<'a, G: Geometry>(
    players: impl Iterator<Item = &'a Contestant<'static, G>>,
    ladder: Option<&'a Ladder>,
    goal: Goal,
) -> Labels {
    let noted = |name: &'a str| ladder.and_then(|ladder| ladder.label(name));
    let own = players.map(|player| {
        let name = player.name.as_str();
        (name, player.label.as_deref().or_else(|| noted(name)))
    });
    let games = ladder.into_iter().flat_map(|ladder| ladder.games_on(G::SHAPE, goal));
    let others = games.flat_map(|game| [game.black.as_str(), game.white.as_str()]);
    Labels::new(own.chain(others.map(|name| (name, noted(name)))))
}

/// Prints where the games go, and how many games are there already.
pub fn announce_ladder<G: Geometry>(path: &Path, ladder: &Ladder, goal: Goal) {
    let path = path.display();
    let on_board = |game: &&GameLine| game.board == G::SHAPE.name() && game.goal == goal.name();
    let games: Vec<_> = ladder.games.iter().filter(on_board).collect();
    let players: HashSet<_> = games.iter().flat_map(|game| [&game.black, &game.white]).collect();
    match (games.len(), ladder.games.len()) {
        (0, 0) => tell!("games go to {path}, a new ladder"),
        (0, others) => {
            tell!("games go to {path}, which has {others} games on other boards or goals")
        }
        (games, _) => tell!(
            "games go to {path}, where {games} games of {} players count already",
            players.len()
        ),
    }
}

/// Plays a match, with a progress bar on a terminal. Each game is added to the ladder when it ends.
pub fn run_match<G: Geometry>(
    pair: [&Contestant<'_, G>; 2],
    labels: &Labels,
    book: &OpeningBook<G>,
    settings: &MatchSettings,
    mut ladder: Option<(&mut Ladder, &MatchLine)>,
) -> anyhow::Result<MatchResult<G>> {
    let games = settings.game_count(pair, book.openings.len());
    let mut done = match &ladder {
        Some((ladder, of)) => ladder.games_of(of, &book.openings),
        None => Vec::new(),
    };
    // The resumed match may have been longer than this one.
    done.retain(|played| played.game < games);
    if book.openings.len() > 1 && games as usize > 2 * book.openings.len() {
        tell!(
            "note: {} distinct openings for {} pairs of games; openings are used again",
            book.openings.len(),
            games / 2
        );
    }
    let [first, second] = pair.map(|player| labels.of(&player.name));
    let bar = progress_bar(&format!("{first} - {second}"), games.into(), "games");
    bar.set_position(done.len() as u64);
    let mut failure = None;
    let mut on_game = |played: &_| {
        bar.inc(1);
        if let Some((ladder, of)) = &mut ladder
            && let Err(error) = ladder.add_game(of, played)
        {
            failure = Some(error);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    let result = play(pair, &book.openings, settings, done, stop_flag(), &mut on_game)?;
    bar.finish_and_clear();
    match failure {
        Some(error) => Err(error.into()),
        None => Ok(result),
    }
}

/// A progress bar; it is shown on a terminal only. `things` names what it counts.
pub fn progress_bar(title: &str, count: u64, things: &str) -> ProgressBar {
    let template =
        format!("{{msg}} {{wide_bar}} {{pos}}/{{len}} {things}, {{per_sec}}, {{eta}} left");
    let bar = ProgressBar::new(count).with_message(title.to_owned());
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

/// Writes an output file.
pub fn write_file(path: &PathBuf, content: &str) -> anyhow::Result<()> {
    std::fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}

/// Prints a warning if a ladder has lines that cannot be read.
pub fn warn_of_skipped_lines(ladder: &Path, skipped: &SkippedLines) {
    if skipped.count > 0 {
        let path = ladder.display();
        tell!("warning: {path}: lines that cannot be read are left out: {skipped}");
    }
}
