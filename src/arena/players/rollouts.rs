//! Plain Monte Carlo tree search as a player.

use std::time::Instant;

use crate::arena::player::{Choice, Hint, Player, PlayerError, Turn, stream};
use crate::game::{Geometry, Goal};
use crate::search::rollouts::{MoveReport, Options, Rollouts};

/// Searches each position anew with random games.
pub struct RolloutsPlayer<G: Geometry> {
    name: String,
    seed: u64,
    simulations: u32,
    search: Rollouts<G>,
}

impl<G: Geometry> RolloutsPlayer<G> {
    /// A player whose random games follow from the seed.
    pub fn new(name: String, goal: Goal, options: Options, seed: u64) -> RolloutsPlayer<G> {
        let simulations = options.simulations;
        RolloutsPlayer { name, seed, simulations, search: Rollouts::new(goal, options) }
    }

    fn search(&mut self, turn: &Turn<'_, G>) -> Vec<MoveReport> {
        self.search.search(turn.position.board, &mut stream(self.seed, turn))
    }

    fn choose_one(&mut self, turn: &Turn<'_, G>) -> Result<Choice, PlayerError> {
        let begun = Instant::now();
        let moves = self.search(turn);
        let nothing = || PlayerError::IllegalMove { shown: "nothing".into() };
        let best = moves.first().ok_or_else(nothing)?;
        Ok(Choice {
            square: best.line[0],
            score: Some(best.score),
            depth: Some(self.simulations),
            nodes: u64::from(self.simulations),
            seconds: begun.elapsed().as_secs_f64(),
        })
    }
}

impl<G: Geometry> Player<G> for RolloutsPlayer<G> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        turns.iter().map(|turn| self.choose_one(turn)).collect()
    }

    fn end_game(&mut self, _game: u32) {}

    fn hints(&mut self, turn: &Turn<'_, G>, count: usize) -> Result<Vec<Hint>, PlayerError> {
        let hint = |report: MoveReport| Hint {
            line: report.line,
            win_chance: Some(report.win_chance),
            score: Some(report.score),
            exact: false,
            depth: Some(report.visits),
        };
        Ok(self.search(turn).into_iter().take(count).map(hint).collect())
    }
}
