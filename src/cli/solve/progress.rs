//! Shows the progress of a long solve, and estimates its time.
//!
//! On a terminal it updates a line on standard error twice a second. Otherwise it logs a line every
//! half minute. Estimates depend only on the number of empty squares, so they are rough.

use std::io::IsTerminal;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use indicatif::{ProgressBar, ProgressStyle};

use crate::game::Geometry;
use crate::game::notation::square_name;
use crate::search::endgame::{SolveMonitor, SolveProgress};

/// `solve` warns of positions with at least this many empty squares.
pub const LONG: u32 = 24;
/// With fewer empty squares a position is solved so fast that no progress is shown.
const SHOWN: u32 = 16;
/// Time between two updates of the line on a terminal.
const SHOW_EVERY: Duration = Duration::from_millis(500);
/// Time between two lines in the log.
const LOG_EVERY: Duration = Duration::from_secs(30);

/// The mean number of nodes for the score of an 8x8 position from a game with 20 empty squares.
const NODES_OF_20: f64 = 1.3e7;
/// The factor by which each further empty square grows the nodes, from the means with 12 and 20.
const GROWTH: f64 = 2.5;
/// Nodes a second on one thread, for an estimate before the solve.
const RATE: f64 = 4.5e7;

/// The typical number of nodes for a solve.
fn typical_nodes(empties: u32) -> f64 {
    NODES_OF_20 * GROWTH.powi(empties as i32 - 20)
}

/// The typical time of a solve in seconds.
pub fn typical_seconds(empties: u32, threads: u16) -> f64 {
    typical_nodes(empties) / (RATE * f64::from(threads))
}

/// A time in words, with at most two significant digits.
pub fn about(seconds: f64) -> String {
    const UNITS: [(f64, &str); 5] = [
        (31_557_600.0, "years"),
        (86_400.0, "days"),
        (3_600.0, "hours"),
        (60.0, "minutes"),
        (1.0, "seconds"),
    ];
    let (length, unit) =
        UNITS.into_iter().find(|&(length, _)| seconds >= 2.0 * length).unwrap_or(UNITS[4]);
    let count = seconds / length;
    if count < 1.5 {
        return "about a second".into();
    }
    if count >= 1e6 {
        return "more than a million years".into();
    }
    // More digits would look more exact than the estimate is.
    let scale = 10f64.powi((count.log10() as i32 - 1).max(0));
    format!("about {:.0} {unit}", (count / scale).round() * scale)
}

/// Runs `work`, a solve that `monitor` follows, and shows its progress if it takes long.
pub fn with_progress<G: Geometry, T>(
    title: &str,
    empties: u32,
    monitor: &SolveMonitor,
    work: impl FnOnce() -> T,
) -> T {
    if empties < SHOWN {
        return work();
    }
    let (end, ended) = bounded::<()>(0);
    std::thread::scope(|scope| {
        scope.spawn(move || show::<G>(title, empties, monitor, &ended));
        let result = work();
        drop(end);
        result
    })
}

/// Shows progress until the channel's sender is dropped.
fn show<G: Geometry>(title: &str, empties: u32, monitor: &SolveMonitor, ended: &Receiver<()>) {
    let is_terminal = std::io::stderr().is_terminal();
    let pause = if is_terminal { SHOW_EVERY } else { LOG_EVERY };
    let mut bar = None;
    while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(pause) {
        let line = format!("{title}: {}", line::<G>(&monitor.progress(), empties, monitor.time()));
        if is_terminal {
            bar.get_or_insert_with(line_on_terminal).set_message(line);
        } else {
            tracing::info!("{line}");
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

fn line_on_terminal() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
        bar.set_style(style);
    }
    bar
}

fn line<G: Geometry>(progress: &SolveProgress, empties: u32, limit: Option<Duration>) -> String {
    let SolveProgress { nodes, elapsed, moves, moves_done, best } = *progress;
    let rate = nodes as f64 / elapsed.as_secs_f64().max(1e-3);
    let typical = typical_nodes(empties) / rate.max(1.0);
    let mut line = clock(elapsed);
    if let Some(limit) = limit {
        line += &format!(" of {}", clock(limit));
    }
    // A narrow terminal cuts off the end, so the most important figures come first.
    line += &format!(", {moves_done} of {moves} moves done");
    if let Some((square, score)) = best {
        line += &format!(", best {} {score:+}", square_name::<G>(square));
    }
    line += &match typical > elapsed.as_secs_f64() {
        true => format!("; usually {} in all", about(typical)),
        false => format!("; longer than usual ({})", about(typical)),
    };
    line + &format!("; {:.1} M nodes/s", rate / 1e6)
}

fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Square, Square8};

    #[test]
    fn times_have_at_most_two_digits_and_a_unit() {
        for (seconds, wanted) in [
            (0.0, "about a second"),
            (1.49, "about a second"),
            (1.5, "about 2 seconds"),
            (3.4, "about 3 seconds"),
            (119.0, "about 120 seconds"),
            (125.0, "about 2 minutes"),
            (7_000.0, "about 120 minutes"),
            (8_000.0, "about 2 hours"),
            (400_000.0, "about 5 days"),
            (31_557_600.0 * 1_234.0, "about 1200 years"),
            (1e30, "more than a million years"),
        ] {
            assert_eq!(about(seconds), wanted, "{seconds}");
        }
    }

    #[test]
    fn the_line_has_the_time_the_moves_and_an_estimate() {
        let mut progress = SolveProgress {
            nodes: 800_000_000,
            elapsed: Duration::from_secs(20),
            moves: 11,
            moves_done: 0,
            best: None,
        };
        let line = |progress: &SolveProgress, limit| line::<Square8>(progress, 24, limit);
        let first = line(&progress, None);
        // 1.3e7 positions of 20 empty squares, times 2.5^4, at 4e7 a second.
        let wanted =
            "0:20, 0 of 11 moves done; longer than usual (about 13 seconds); 40.0 M nodes/s";
        assert_eq!(first, wanted);
        (progress.moves_done, progress.best) = (2, Some((Square(19), 4)));
        let second = line(&progress, Some(Duration::from_secs(3_700)));
        assert!(
            second.starts_with("0:20 of 1:01:40, 2 of 11 moves done, best d3 +4; "),
            "{second}"
        );
        progress.nodes = 80_000_000;
        let third = line(&progress, None);
        assert!(third.contains("; usually about 2 minutes in all; 4.0 M nodes/s"), "{third}");
    }
}
