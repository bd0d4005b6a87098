//! The review of a game: the value by ply, what each move lost, and the mistakes.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::arena::report::table;
use crate::cli::contest::progress_bar;
use crate::cli::play::display;
use crate::game::notation::square_name;
use crate::game::{Colour, Geometry, Goal, Position, Square};
use crate::players::contestant::OpenError;
use crate::players::control::{Analysis, Control};
use crate::players::player::{Player, Turn};
use crate::players::review::{Loss, Value};
use crate::protocol::json::Limits;
use crate::protocol::session::Session;
use crate::search::stop::Stop;
use crate::store::openings;

/// Opens a player for a thread.
pub type Open<'a, G> = dyn Fn() -> Result<Box<dyn Player<G>>, OpenError> + Sync + 'a;

/// A move of the game.
struct Ply {
    side: Colour,
    square: Square,
    /// The value before the move.
    before: Value,
    loss: Loss,
    /// The player's best move.
    best: Option<Square>,
}

/// The tables of a game.
///
/// # Errors
///
/// The player cannot be opened, or fails.
pub fn review<G: Geometry>(
    session: &Session<G>,
    goal: Goal,
    limits: Limits,
    threads: usize,
    open: &Open<'_, G>,
) -> anyhow::Result<String> {
    let positions = positions(session);
    let analyses = analyse_all(session, &positions, limits, threads, open)?;
    let values: Vec<Value> = positions
        .iter()
        .zip(&analyses)
        .map(|(&position, analysis)| Value::of(position, analysis, goal))
        .collect();
    let ply = |(index, &square): (usize, &Square)| Ply {
        side: positions[index].side,
        square,
        before: values[index],
        loss: Loss::between(positions[index].side, values[index], values[index + 1]),
        best: analyses[index].hints.first().and_then(|best| best.line.first().copied()),
    };
    let plies: Vec<Ply> = session.moves().iter().enumerate().map(ply).collect();
    let mut text = rows::<G>(&plies) + "\n";
    if let Some(name) = openings::name(session.start(), session.moves()) {
        let _ = writeln!(text, "opening: {name}");
    }
    for side in [Colour::Black, Colour::White] {
        text.push_str(&summary::<G>(side, &plies));
    }
    if session.is_over() {
        let _ = writeln!(text, "{}", display::result(session.black_view().final_score(goal)));
    }
    Ok(text)
}

/// The positions of a game, from its start to its end.
fn positions<G: Geometry>(session: &Session<G>) -> Vec<Position<G>> {
    let mut position = session.start().pass_if_forced();
    let mut positions = vec![position];
    for &square in session.moves() {
        // The session has checked the moves.
        position = position.play(square).unwrap_or(position).pass_if_forced();
        positions.push(position);
    }
    positions
}

/// The analysis of each position, on several threads. The last positions are done first.
fn analyse_all<G: Geometry>(
    session: &Session<G>,
    positions: &[Position<G>],
    limits: Limits,
    threads: usize,
    open: &Open<'_, G>,
) -> anyhow::Result<Vec<Analysis>> {
    let results = Mutex::new(vec![Analysis::default(); positions.len()]);
    let left = AtomicUsize::new(positions.len());
    let bar = progress_bar("analysing", positions.len() as u64, "positions");
    let start = session.start().pass_if_forced();
    let work = || -> anyhow::Result<()> {
        let mut player = open()?;
        while let Ok(before) =
            left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1))
        {
            let index = before - 1;
            let (position, moves) = (positions[index], &session.moves()[..index]);
            if !position.board.is_over() {
                let turn = Turn { game: 0, start, moves, position };
                let mut control = Control::new(Stop::default(), limits.effort());
                let analysis = player.analyze(&turn, 1, &mut control)?;
                player.end_game(turn.game);
                let mut results = results.lock().unwrap_or_else(|error| error.into_inner());
                results[index] = analysis;
            }
            bar.inc(1);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads = threads.clamp(1, positions.len());
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let join = |handle: std::thread::ScopedJoinHandle<'_, anyhow::Result<()>>| {
            handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        handles.into_iter().try_for_each(join)
    })?;
    bar.finish_and_clear();
    Ok(results.into_inner().unwrap_or_else(|error| error.into_inner()))
}

/// A row for each move, with values for black.
fn rows<G: Geometry>(plies: &[Ply]) -> String {
    let head = ["side", "move", "best", "ply", "value", "black wins", "lost", ""];
    let mut rows = vec![head.map(String::from).to_vec()];
    for (index, ply) in plies.iter().enumerate() {
        let (best, played) = (ply.best.map(square_name::<G>), square_name::<G>(ply.square));
        let mark = if ply.before.is_exact { "=" } else { "" };
        let or_dash = |text: Option<String>| text.unwrap_or("-".into());
        rows.push(vec![
            ply.side.to_string(),
            played.clone(),
            or_dash(best.filter(|best| *best != played)),
            (index + 1).to_string(),
            or_dash(ply.before.score.map(|score| format!("{mark}{score:+.1}"))),
            or_dash(ply.before.win_chance.map(|chance| format!("{:.0} %", 100.0 * chance))),
            or_dash(lost(ply.loss)),
            if ply.loss.is_mistake() { "?".into() } else { String::new() },
        ]);
    }
    table(&rows, 3)
}

/// The loss in discs, or else in the chance to win.
fn lost(loss: Loss) -> Option<String> {
    let chance = || loss.win_chance.map(|chance| format!("{:.0} %", 100.0 * chance));
    loss.discs.map(|discs| format!("{discs:.1}")).or_else(chance)
}

/// What a side lost in all, and its mistakes.
fn summary<G: Geometry>(side: Colour, plies: &[Ply]) -> String {
    let own = || plies.iter().enumerate().filter(|(_, ply)| ply.side == side);
    let discs: f32 = own().filter_map(|(_, ply)| ply.loss.discs).sum();
    let mistakes: Vec<_> = own().filter(|(_, ply)| ply.loss.is_mistake()).collect();
    let name = |(index, ply): &(usize, &Ply)| {
        let loss = lost(ply.loss).unwrap_or_default();
        format!("{}. {} ({loss})", index + 1, square_name::<G>(ply.square))
    };
    let list = match mistakes.is_empty() {
        true => "no mistakes".into(),
        false => {
            format!("mistakes: {}", mistakes.iter().map(name).collect::<Vec<_>>().join(", "))
        }
    };
    format!("{side}: {discs:.1} discs lost in {} moves; {list}\n", own().count())
}
