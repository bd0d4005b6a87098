//! What the subcommands that play matches share: their common options, and the way a match is
//! shown while it runs.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};

use super::interrupt::stop_flag;
use super::machine::cores;
use crate::arena::ladder::{Ladder, MatchLine};
use crate::arena::matches::{Contestant, Outcome, Setting, play};
use crate::arena::open::{Context, contestant};
use crate::arena::openings::{Book, Source};
use crate::arena::spec::PlayerSpec;
use crate::game::{Geometry, Goal};
use crate::net::inference;

/// How matches are played, wherever that can be chosen.
#[derive(clap::Args, Debug)]
pub struct MatchArgs {
    /// Games of each match; an odd number is rounded up, for openings are played with both
    /// colours
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub games: u32,
    /// Where games begin: random:PLIES, start, or a file of transcripts or OBF positions
    #[arg(long, value_name = "SOURCE", default_value = "random:8")]
    pub openings: Source,
    /// Threads that play games; all cores by default. Players by the clock have what cores are
    /// left: all with `--threads 1`
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Where nets are computed: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub device: String,
    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

impl MatchArgs {
    /// How many threads play.
    pub fn threads(&self) -> usize {
        self.threads.map_or_else(cores, usize::from)
    }

    /// What players need to know.
    pub fn context(&self, goal: Goal) -> Context {
        context(goal, &self.device, cores() / self.threads())
    }

    /// The openings of a match, with warnings for the lines of a file that are none.
    pub fn book<G: Geometry>(&self, seed: u64) -> anyhow::Result<Book<G>> {
        let wanted = self.games.div_ceil(2) as usize;
        let book = self.openings.book::<G>(wanted, seed)?;
        for remark in book.bad_lines.remarks() {
            tell!("warning: {}: {remark}", self.openings);
        }
        Ok(book)
    }
}

/// What players need to know that compute nets on `device` and have so many cores each.
pub fn context(goal: Goal, device: &str, cores: usize) -> Context {
    let inference = inference::Options::default();
    Context { goal, device: device.into(), inference, cores: cores.max(1) }
}

/// The players of some specifications.
pub fn contestants<G: Geometry>(
    specs: &[PlayerSpec],
    context: &Context,
) -> anyhow::Result<Vec<Contestant<'static, G>>> {
    let open = |spec| contestant(spec, context).with_context(|| format!("player `{spec}`"));
    specs.iter().map(open).collect()
}

/// Plays a match with a progress bar on a terminal; `ladder` gets each game as it ends.
pub fn run_match<G: Geometry>(
    pair: [&Contestant<'_, G>; 2],
    book: &Book<G>,
    setting: &Setting,
    mut ladder: Option<(&mut Ladder, &MatchLine)>,
) -> anyhow::Result<Outcome<G>> {
    let games = setting.games_of(pair, book.openings.len());
    let mut done = match &ladder {
        Some((ladder, of)) => ladder.games_of(of, &book.openings),
        None => Vec::new(),
    };
    // A match that is gone on with may have been meant to be longer.
    done.retain(|played| played.game < games);
    if book.openings.len() > 1 && games as usize > 2 * book.openings.len() {
        tell!(
            "note: {} distinct openings for {} pairs of games; they are used again",
            book.openings.len(),
            games / 2
        );
    }
    let bar = progress_bar(&format!("{} - {}", pair[0].name, pair[1].name), games.into(), "games");
    bar.set_position(done.len() as u64);
    let mut failure = None;
    let mut on_game = |played: &_| {
        bar.inc(1);
        if let Some((ladder, of)) = &mut ladder
            && let Err(error) = ladder.add(of, played)
        {
            failure = Some(error);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    let outcome = play(pair, &book.openings, setting, done, stop_flag(), &mut on_game)?;
    bar.finish_and_clear();
    match failure {
        Some(error) => Err(error.into()),
        None => Ok(outcome),
    }
}

/// A bar on a terminal; elsewhere it shows nothing.
pub fn progress_bar(title: &str, count: u64, things: &str) -> ProgressBar {
    let template =
        format!("{{msg}} {{wide_bar}} {{pos}}/{{len}} {things}, {{per_sec}}, {{eta}} left");
    let bar = ProgressBar::new(count).with_message(title.to_owned());
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

/// Writes a file that the user asked for.
pub fn write_file(path: &PathBuf, content: &str) -> anyhow::Result<()> {
    std::fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}

/// Tells of lines of a ladder that cannot be read.
pub fn warn_of(ladder: &Path, skipped: &[usize]) {
    if !skipped.is_empty() {
        let lines: Vec<_> = skipped.iter().map(|line| line.to_string()).collect();
        tell!(
            "warning: {}: lines that cannot be read are left out: {}",
            ladder.display(),
            lines.join(", ")
        );
    }
}
