//! The late part of a game, which a net player with a time limit leaves to alpha-beta.
//!
//! Far from the end a tree search with a net finds what an evaluator does not know. With fewer empty
//! squares alpha-beta sees so much of the rest of the game that it plays better in the same time
//! (docs/journal/play-settings.md).

use std::time::Duration;

use super::NetPlayer;
use crate::eval::AnyEvaluator;
use crate::game::Geometry;
use crate::players::contestant::OpenError;
use crate::players::control::{Analysis, Control};
use crate::players::kinds::alphabeta::{AlphaBetaPlayer, AlphaBetaSpec};
use crate::players::player::{Choice, Player as _, PlayerError, Turn};

/// The alpha-beta player of the late positions of a game.
pub(super) struct Handover<G: Geometry> {
    /// It gets positions with at most this many empty squares.
    empties: u32,
    player: AlphaBetaPlayer<G>,
}

impl<G: Geometry> NetPlayer<G> {
    /// The same player, which leaves positions with at most this many empty squares to alpha-beta with
    /// this evaluator.
    ///
    /// # Errors
    ///
    /// There is no memory for the search.
    pub(super) fn with_handover(
        mut self,
        empties: u32,
        evaluator: &AnyEvaluator<G>,
    ) -> Result<NetPlayer<G>, OpenError> {
        let spec = AlphaBetaSpec::with_time_of_caller(evaluator, self.settings.solvers);
        let player = spec.player(String::new(), self.goal, evaluator)?;
        self.handover = Some(Handover { empties, player });
        Ok(self)
    }

    /// The alpha-beta player for this turn, if it is one of the late ones, and the time that it has.
    fn late(
        &mut self,
        turn: &Turn<'_, G>,
        control: &Control<'_>,
    ) -> Option<(&mut AlphaBetaPlayer<G>, Option<Duration>)> {
        let time = self.budget(turn, control.effort).time;
        let handover = self.handover.as_mut()?;
        if turn.position.board.empties() > handover.empties {
            return None;
        }
        // The tree is of no use any more.
        self.searches.remove(&turn.game);
        Some((&mut handover.player, time))
    }

    /// The move of alpha-beta; `None` if the net has to move.
    pub(super) fn late_choice(
        &mut self,
        turn: &Turn<'_, G>,
        control: &mut Control<'_>,
    ) -> Result<Option<Choice>, PlayerError> {
        let Some((player, time)) = self.late(turn, control) else { return Ok(None) };
        control.within(time, |control| player.think(turn, control)).map(Some)
    }

    /// What alpha-beta says of the position; `None` if the net has to search.
    pub(super) fn late_analysis(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<Option<Analysis>, PlayerError> {
        let Some((player, time)) = self.late(turn, control) else { return Ok(None) };
        control.within(time, |control| player.analyze(turn, count, control)).map(Some)
    }
}
