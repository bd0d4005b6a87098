//! How far a run has come, on a terminal as a bar and elsewhere as lines.
//!
//! The bar is one line as wide as the terminal: what matters least is left out where it does not
//! fit. Messages are written above it ([`above_bar`]), so that it never stands twice.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

use crate::arena::rating::Rating;

/// Time between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(30);
/// Columns of the bar in a wide terminal, and in one of less than [`WIDE`] columns.
const BAR: [usize; 2] = [20, 10];
const WIDE: usize = 100;
/// Columns that stay free at the end of the line, for the `^C` that a terminal prints there: a line
/// that it pushed over the edge could not be cleared.
const FREE: u16 = 3;

/// The bar on the terminal, while there is one.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn shown() -> MutexGuard<'static, Option<ProgressBar>> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls a function that writes to standard error: the progress bar, if there is one, makes way for
/// its lines and comes back below them.
pub fn above_bar<R>(write: impl FnOnce() -> R) -> R {
    let bar = shown().clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Standard error, above the progress bar.
#[derive(Debug)]
pub struct Messages;

impl Write for Messages {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        above_bar(|| io::stderr().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// How far a run has come.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// Games recorded.
    pub games: u64,
    /// Positions made by self-play.
    pub positions: u64,
    /// Learning steps.
    pub steps: u64,
    /// Games a second of late.
    pub games_per_second: f64,
    /// Net evaluations a second of late.
    pub evaluations_per_second: f64,
    /// The mean total loss of late; none before learning starts.
    pub loss: Option<f64>,
    /// The newest rating.
    pub rating: Option<Rating>,
    /// Seconds of training over all starts.
    pub seconds: f64,
    /// The share of the run that is done, 0 to 1, as its nearest limit says.
    pub done: Option<f64>,
}

impl Progress {
    /// Seconds that are left at the pace so far.
    pub fn seconds_left(&self) -> Option<f64> {
        let done = self.done.filter(|&done| done > 0.0)?;
        Some(self.seconds * (1.0 - done) / done)
    }

    /// What is known, in at most so many columns: the least important is left out first.
    fn line(&self, columns: usize) -> String {
        let optional = |text: Option<String>| text.unwrap_or_default();
        // In the order of the line, each with its rank: the highest is left out first.
        let mut parts = vec![
            (5, format!("{} games", self.games)),
            (7, format!("{} positions", self.positions)),
            (6, format!("{} steps", self.steps)),
            (4, format!("{:.1} games/s", self.games_per_second)),
            (8, format!("{:.0} evals/s", self.evaluations_per_second)),
            (3, optional(self.loss.map(|loss| format!("loss {loss:.3}")))),
            (2, optional(self.rating.map(|rating| format!("rating {rating}")))),
            (1, clock(self.seconds)),
            (0, optional(self.seconds_left().map(|left| format!("{} left", clock(left))))),
        ];
        parts.retain(|(_, text)| !text.is_empty());
        loop {
            let texts: Vec<&str> = parts.iter().map(|(_, text)| text.as_str()).collect();
            let line = texts.join("  ");
            // All of it is ASCII: a byte is a column.
            if line.len() <= columns {
                return line;
            }
            let last = parts.iter().map(|&(rank, _)| rank).max();
            parts.retain(|&(rank, _)| Some(rank) != last);
        }
    }
}

fn clock(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// The terminal, but for its last columns. The library fills its line with blanks up to the edge.
#[derive(Debug)]
struct Screen(Term);

impl TermLike for Screen {
    fn width(&self) -> u16 {
        self.0.width().saturating_sub(FREE)
    }

    fn height(&self) -> u16 {
        self.0.height()
    }

    fn move_cursor_up(&self, lines: usize) -> io::Result<()> {
        self.0.move_cursor_up(lines)
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        self.0.move_cursor_down(lines)
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        self.0.move_cursor_right(columns)
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        self.0.move_cursor_left(columns)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.0.write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Where progress is shown.
pub(super) enum Display {
    Bar(ProgressBar),
    Lines(Option<Instant>),
    Nowhere,
}

impl Display {
    pub fn new(quiet: bool) -> Display {
        if quiet {
            return Display::Nowhere;
        }
        if !std::io::stderr().is_terminal() {
            return Display::Lines(None);
        }
        let screen = Box::new(Screen(Term::buffered_stderr()));
        let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::term_like(screen));
        *shown() = Some(bar.clone());
        Display::Bar(bar)
    }

    pub fn show(&mut self, progress: &Progress) {
        match self {
            Display::Bar(bar) => {
                let columns = usize::from(Screen(Term::stderr()).width());
                let (template, taken) = template(progress.done.is_some(), columns);
                if let Ok(style) = ProgressStyle::with_template(&template) {
                    bar.set_style(style);
                }
                bar.set_position((progress.done.unwrap_or(0.0) * 1000.0) as u64);
                bar.set_message(progress.line(columns.saturating_sub(taken)));
            }
            Display::Lines(last) => {
                if last.is_none_or(|last| last.elapsed() >= LINE_EVERY) {
                    *last = Some(Instant::now());
                    tracing::info!("{}", progress.line(usize::MAX));
                }
            }
            Display::Nowhere => {}
        }
    }

    /// Removes the bar: the command's last lines say where the run has got to.
    pub fn finish(&self) {
        if let Display::Bar(bar) = self {
            bar.finish_and_clear();
            *shown() = None;
        }
    }
}

/// How the bar's line is laid out, and the columns of it before the message. A run without limits
/// has no bar.
fn template(has_end: bool, columns: usize) -> (String, usize) {
    if !has_end {
        return ("{msg}".into(), 0);
    }
    let bar = BAR[usize::from(columns < WIDE)];
    (format!("{{bar:{bar}}} {{percent:>3}} %  {{msg}}"), bar + " 100 %  ".len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress() -> Progress {
        Progress {
            games: 1200,
            positions: 64000,
            steps: 250,
            games_per_second: 12.34,
            evaluations_per_second: 40123.4,
            loss: None,
            rating: None,
            seconds: 75.0,
            done: Some(0.25),
        }
    }

    #[test]
    fn the_line_says_what_is_known() {
        let mut progress = progress();
        assert_eq!(
            progress.line(usize::MAX),
            "1200 games  64000 positions  250 steps  12.3 games/s  40123 evals/s  1:15  3:45 left"
        );
        let rating = Rating { elo: 812.4, error: 40.0 };
        (progress.loss, progress.rating, progress.done) = (Some(1.5), Some(rating), None);
        let line = progress.line(usize::MAX);
        assert!(line.ends_with("evals/s  loss 1.500  rating 812 +- 78  1:15"), "{line}");
    }

    /// What is left out of a line stays out of every narrower one.
    #[test]
    fn the_line_fits_any_width_and_keeps_what_matters() {
        let rating = Some(Rating { elo: 1222.0, error: 46.0 });
        let progress = Progress { loss: Some(1.917), rating, ..progress() };
        let parts = |columns: usize| -> Vec<String> {
            let line = progress.line(columns);
            assert!(line.len() <= columns, "{columns} columns: {line}");
            line.split("  ").map(str::to_owned).collect()
        };
        for columns in 1..130 {
            let (narrow, wide) = (parts(columns - 1), parts(columns));
            let stays = |part: &String| part.is_empty() || wide.contains(part);
            assert!(narrow.iter().all(stays), "{columns} columns: {narrow:?} and {wide:?}");
        }
        for columns in [80, 110].map(|columns| columns - usize::from(FREE)) {
            let (_, taken) = template(true, columns);
            let line = progress.line(columns - taken);
            assert!(line.ends_with("loss 1.917  rating 1222 +- 90  1:15  3:45 left"), "{line}");
        }
    }
}
