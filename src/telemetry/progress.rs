//! How far a run has come, on a terminal as a bar and elsewhere as lines.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::arena::rating::Rating;

/// Time between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(30);

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

    fn line(&self) -> String {
        let mut line = format!(
            "{} games  {} positions  {} steps  {:.1} games/s  {:.0} evals/s",
            self.games,
            self.positions,
            self.steps,
            self.games_per_second,
            self.evaluations_per_second,
        );
        if let Some(loss) = self.loss {
            line += &format!("  loss {loss:.3}");
        }
        if let Some(rating) = self.rating {
            line += &format!("  rating {rating}");
        }
        line += &format!("  {}", clock(self.seconds));
        if let Some(left) = self.seconds_left() {
            line += &format!("  {} left", clock(left));
        }
        line
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
        let bar = ProgressBar::new(1000);
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {percent:>3} %  {msg}") {
            bar.set_style(style);
        }
        Display::Bar(bar)
    }

    pub fn show(&mut self, progress: &Progress) {
        match self {
            Display::Bar(bar) => {
                bar.set_position((progress.done.unwrap_or(0.0) * 1000.0) as u64);
                bar.set_message(progress.line());
            }
            Display::Lines(last) => {
                if last.is_none_or(|last| last.elapsed() >= LINE_EVERY) {
                    *last = Some(Instant::now());
                    tracing::info!("{}", progress.line());
                }
            }
            Display::Nowhere => {}
        }
    }

    pub fn finish(&self) {
        if let Display::Bar(bar) = self {
            bar.abandon();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_is_known() {
        let mut progress = Progress {
            games: 1200,
            positions: 64000,
            steps: 250,
            games_per_second: 12.34,
            evaluations_per_second: 40123.4,
            loss: None,
            rating: None,
            seconds: 75.0,
            done: Some(0.25),
        };
        assert_eq!(
            progress.line(),
            "1200 games  64000 positions  250 steps  12.3 games/s  40123 evals/s  1:15  3:45 left"
        );
        let rating = Rating { elo: 812.4, error: 40.0 };
        (progress.loss, progress.rating, progress.done) = (Some(1.5), Some(rating), None);
        assert!(progress.line().ends_with("evals/s  loss 1.500  rating 812 +- 78  1:15"));
    }
}
