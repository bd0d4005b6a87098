//! A desk with players that answers queries, one position at a time.

use std::error::Error;

use super::answer::Answer;
use super::problem::Problem;
use super::query::Query;
use crate::game::Geometry;
use crate::net::inference;
use crate::players::contestant::PlayerContext;
use crate::players::control::{Analysis, Control};
use crate::players::opened::OpenPlayers;
use crate::players::player::{Player, PlayerError, Turn};
use crate::search::stop::Stop;
use crate::store::with_causes;

/// The most players that are kept open.
const MOST_PLAYERS: usize = 4;

/// How a desk opens players.
#[derive(Clone, PartialEq, Debug)]
pub struct DeskOptions {
    /// The device for nets: `auto`, `cpu`, `cuda` or `cuda:N`.
    pub device: String,
    /// CPU cores for a player, at least 1.
    pub cores: usize,
    /// The seed of random moves.
    pub seed: u64,
}

/// Players that stay open from query to query. One thread uses it; several desks work side by side.
pub struct Desk {
    options: DeskOptions,
    players: OpenPlayers,
}

impl Desk {
    /// A desk without players yet.
    pub fn new(options: DeskOptions) -> Desk {
        Desk { options, players: OpenPlayers::new(MOST_PLAYERS) }
    }

    /// Analyses one position of a query: the game after `turn` moves. `sink` gets the answers. All
    /// but the last have `is_during_search`. The flag ends the analysis within some milliseconds.
    /// The answer does not depend on earlier queries.
    ///
    /// # Errors
    ///
    /// The game has no such turn, the player cannot be opened, or it fails.
    pub fn answer(
        &mut self,
        query: &Query,
        turn: usize,
        stop: &Stop,
        sink: &mut dyn FnMut(Answer),
    ) -> Result<(), Problem> {
        dispatch!(query.shape, G => self.answer_on::<G>(query, turn, stop, sink))
    }

    fn answer_on<G: Geometry>(
        &mut self,
        query: &Query,
        turn: usize,
        stop: &Stop,
        sink: &mut dyn FnMut(Answer),
    ) -> Result<(), Problem> {
        let no_turn = || player_problem(query, turn, "the game has no such turn".into());
        let question = query.question::<G>(turn).ok_or_else(no_turn)?;
        let position = question.position();
        let mut analysis = Analysis::default();
        if !position.board.is_over() && !stop.is_set() {
            let during = |analysis: &Analysis| {
                let answer = Answer::of(query, turn, position, analysis);
                sink(Answer { is_during_search: true, ..answer });
            };
            let DeskOptions { device, cores, seed } = self.options.clone();
            let inference = inference::Options::default();
            let context =
                PlayerContext { goal: query.goal, device, inference, cores: cores.max(1) };
            let work = |player: &mut dyn Player<G>| {
                Ok::<_, Box<dyn Error>>(analyse(player, query, &question.turn(), stop, during)?)
            };
            let result = self.players.with(&query.player, &context, seed, work);
            analysis =
                result.map_err(|error| player_problem(query, turn, with_causes(error.as_ref())))?;
        }
        let terminated = stop.is_set();
        sink(Answer { terminated, ..Answer::of(query, turn, position, &analysis) });
        Ok(())
    }
}

/// The player's analysis of a position, without memory of earlier ones.
fn analyse<G: Geometry>(
    player: &mut dyn Player<G>,
    query: &Query,
    turn: &Turn<'_, G>,
    stop: &Stop,
    mut during: impl FnMut(&Analysis),
) -> Result<Analysis, PlayerError> {
    player.end_game(turn.game);
    let control = Control::new(stop.clone(), query.limits.effort());
    let mut control = match query.report_every {
        Some(interval) => control.reporting(interval, &mut during),
        None => control,
    };
    let result = player.analyze(turn, query.max_moves, &mut control);
    player.end_game(turn.game);
    match result {
        Err(PlayerError::Interrupted) if stop.is_set() => Ok(Analysis::default()),
        result => result,
    }
}

fn player_problem(query: &Query, turn: usize, error: String) -> Problem {
    Problem {
        id: Some(query.id.as_str().into()),
        turn: Some(turn),
        error: error.into(),
        field: Some("player".into()),
        value: Some(query.player.to_string().into()),
        allowed: None,
    }
}
