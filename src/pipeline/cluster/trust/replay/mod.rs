//! Plays games of workers again and compares.
//!
//! A self-play game follows from its number, the run's settings, and the predictions of its net.
//! So the learner can play it again. The replay makes the moves of the worker's game, searches all
//! positions with the same random numbers, and compares the results of each search.
//!
//! - **The same kernel.** If worker and learner have the same [`kernel_name`], and the net did not
//!   change during the game, all moves, policies, values and exact scores agree bit by bit. The
//!   exception is the end of a game, which the solver plays: among equally good moves its choice
//!   depends on the games that the worker played before. There it is checked that all moves are
//!   best ones.
//! - **Other kernels.** With another number format or another order of sums, a search may visit
//!   other moves. Then mean distances decide ([`Thresholds`]). So they do if the net changed,
//!   because a record does not tell at which move.
//!
//! The games of one call share their batches, in another order than on the worker. This needs
//! kernels whose predictions do not depend on the batch ([`Backend::is_batch_invariant`]): the
//! program's own kernels, as a test shows. libtorch does not promise it, so games by libtorch are
//! compared by distance.

mod distance;
mod kernel;
mod verdict;

use crate::game::record::GameRecord;
use crate::game::{Geometry, Position};
use crate::predict::{Backend, Input, PredictError, Predictions};
use crate::search::endgame::Solver;
use crate::train::game::{GameStatus, SelfPlayGame, SelfPlaySettings};
use crate::train::selfplay::NetVersion;

pub use distance::{Distance, Thresholds};
pub use kernel::kernel_name;
pub use verdict::{Difference, Impossible, Verdict};

use verdict::Comparison;

/// Size of the solver's table in bytes.
const SOLVER_TABLE_BYTES: usize = 1 << 20;
/// The most games that are played at the same time. Each takes the memory of a search tree.
const MOST_GAMES: usize = 128;

/// A game of a worker that has passed [`check`](super::check).
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The game.
    pub record: &'a GameRecord,
    /// The version of the net at its end.
    pub last_net: u32,
    /// The worker's [`kernel_name`].
    pub kernel: &'a str,
}

impl Claim<'_> {
    /// Whether the net changed during the game.
    fn is_mixed(&self) -> bool {
        self.last_net != self.record.net_version
    }
}

/// A net of the run, ready to compute.
pub struct Net<'a> {
    /// Its version.
    pub version: NetVersion,
    /// A backend with its weights.
    pub backend: &'a mut dyn Backend,
}

/// A game that was played again with the moves of another one.
struct Replay {
    record: GameRecord,
    /// The moves that it would not have chosen.
    departures: Vec<usize>,
}

/// Plays games again.
pub struct Replayer<G: Geometry> {
    settings: SelfPlaySettings,
    thresholds: Thresholds,
    solver: Solver<G>,
}

impl<G: Geometry> Replayer<G> {
    /// A replayer for the games of a run with these settings.
    pub fn new(settings: SelfPlaySettings, thresholds: Thresholds) -> Replayer<G> {
        let solver = Solver::new(settings.goal, SOLVER_TABLE_BYTES);
        Replayer { settings, thresholds, solver }
    }

    /// Plays games again that began with the net `first`. `last` is the net that some of them ended
    /// with, if the net changed during these. A game costs as much as playing it, and twice as much
    /// if its net changed. Many games in a call share their batches, which is faster.
    ///
    /// Returns one verdict for each game, in their order. A game with another first or last net
    /// gets [`Verdict::NotPossible`].
    ///
    /// # Errors
    ///
    /// A backend fails.
    pub fn replay(
        &mut self,
        claims: &[Claim<'_>],
        first: Net<'_>,
        mut last: Option<Net<'_>>,
    ) -> Result<Vec<Verdict>, PredictError> {
        let own_kernel = first.backend.is_batch_invariant().then(|| kernel_name(first.backend));
        let last_version = last.as_ref().map(|net| net.version.version);
        let is_known = |claim: &Claim<'_>| {
            claim.record.net_version == first.version.version
                && (!claim.is_mixed() || last_version == Some(claim.last_net))
        };
        let simulations = self.settings.simulations(first.version.positions);
        let mut verdicts = Vec::with_capacity(claims.len());
        for claims in claims.chunks(MOST_GAMES) {
            let known = || claims.iter().filter(|claim| is_known(claim));
            let records: Vec<_> = known().map(|claim| claim.record).collect();
            let mixed = known().filter(|claim| claim.is_mixed());
            let mixed: Vec<_> = mixed.map(|claim| claim.record).collect();
            let mut by_first = self.play(&records, simulations, first.backend)?.into_iter();
            let by_last = match &mut last {
                Some(last) => self.play(&mixed, simulations, last.backend)?,
                None => Vec::new(),
            };
            let mut by_last = by_last.into_iter();
            for claim in claims {
                let replay = if is_known(claim) { by_first.next() } else { None };
                let other = if is_known(claim) && claim.is_mixed() { by_last.next() } else { None };
                verdicts.push(match replay {
                    Some(replay) => self.judge(claim, own_kernel.as_deref(), &replay, other),
                    None => Verdict::NotPossible(Impossible::UnknownNet),
                });
            }
        }
        Ok(verdicts)
    }

    /// Plays these games again, all at the same time.
    fn play(
        &mut self,
        records: &[&GameRecord],
        simulations: u32,
        backend: &mut dyn Backend,
    ) -> Result<Vec<Replay>, PredictError> {
        let start = |record: &&GameRecord| {
            let (number, version) = (record.id, record.net_version);
            let mut game = SelfPlayGame::<G>::new(&self.settings, number, version, simulations);
            game.follow(record.moves.iter().map(|played| played.square).collect());
            game
        };
        let mut games: Vec<_> = records.iter().map(start).collect();
        let mut predictions = Predictions::default();
        loop {
            let (mut waiting, mut inputs) = (Vec::new(), Vec::new());
            for game in &mut games {
                let status = game.advance(&self.settings, &mut self.solver);
                if let GameStatus::NeedsPrediction { board, legal } = status {
                    inputs.push(Input::new(board, legal));
                    waiting.push(game);
                }
            }
            if inputs.is_empty() {
                break;
            }
            backend.predict(&inputs, &mut predictions)?;
            for (row, game) in waiting.into_iter().enumerate() {
                game.apply(predictions.get(row, G::SQUARES));
            }
        }
        let replay = |game: SelfPlayGame<G>| Replay {
            departures: game.departures().to_vec(),
            record: game.record().clone(),
        };
        Ok(games.into_iter().map(replay).collect())
    }

    fn judge(
        &mut self,
        claim: &Claim<'_>,
        own_kernel: Option<&str>,
        first: &Replay,
        last: Option<Replay>,
    ) -> Verdict {
        let record = claim.record;
        let Ok(positions) = record.positions::<G>() else {
            return Verdict::NotPossible(Impossible::BreaksRules);
        };
        let opening = usize::from(record.opening_moves).min(record.moves.len());
        let solved =
            |position: &Position<G>| position.board.empties() <= self.settings.search.solve_empties;
        let rest = positions[opening..record.moves.len()].iter();
        let played_out = opening + rest.clone().take_while(|position| !solved(position)).count();
        let solver = &mut self.solver;
        let is_wrong = |&index: &usize| {
            let found = record.moves[index].exact.map(i32::from);
            found != Some(solver.score(positions[index].board))
        };
        // The last positions are solved first, so that the table has the lines of the earlier ones.
        let wrong_end = (played_out..record.moves.len()).rev().filter(is_wrong).last();
        let must_agree = !claim.is_mixed() && own_kernel == Some(claim.kernel);
        let comparison = Comparison {
            claim: record,
            searched: opening..played_out,
            wrong_end,
            first,
            last: last.as_ref(),
            must_agree,
        };
        comparison.verdict(&self.thresholds)
    }
}

#[cfg(test)]
mod tests;
