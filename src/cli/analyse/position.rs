//! The best moves of a position.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::play::display::{self, BoardStyle};
use crate::game::Geometry;
use crate::players::control::{Analysis, Control};
use crate::players::player::Player;
use crate::protocol::json::Limits;
use crate::protocol::session::Session;
use crate::search::stop::Stop;

/// The time between two tables on a terminal.
const INTERVAL: Duration = Duration::from_millis(200);

/// The board and the table of moves. On a terminal the table is shown, and improves, while the
/// player searches.
///
/// # Errors
///
/// The player fails.
pub fn show<G: Geometry>(
    session: &Session<G>,
    limits: Limits,
    count: usize,
    player: &mut dyn Player<G>,
) -> anyhow::Result<String> {
    let board = display::board(session, BoardStyle::of_stdout());
    let head = format!("{board}{}\n\n", display::status(session));
    let table = |analysis: &Analysis| {
        let Analysis { hints, nodes, seconds } = analysis;
        let effort = format!("{nodes} positions or simulations in {seconds:.2} s");
        format!("{}{effort}\n", display::hints_table::<G>(hints))
    };
    let live = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{msg}") {
        live.set_style(style);
    }
    let mut sink = |analysis: &Analysis| live.set_message(format!("{head}{}", table(analysis)));
    let mut control = Control::new(Stop::default(), limits.effort()).reporting(INTERVAL, &mut sink);
    let analysis = player.analyze(&session.turn(0), count, &mut control)?;
    live.finish_and_clear();
    Ok(head + &table(&analysis))
}
