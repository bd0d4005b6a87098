//! A player that uses Monte Carlo tree search with random playouts, without a net.

use std::time::Instant;

use crate::game::{Geometry, Goal, Square};
use crate::players::contestant::{OpenError, PlayerContext};
use crate::players::control::{Analysis, Control};
use crate::players::grammar::{Fields, SpecError, SpecKind};
use crate::players::kind::{Kind, Opened, PlayerOptions};
use crate::players::player::{Bound, Choice, Hint, Player, PlayerError, Source, Turn, stream};
use crate::search::memory::room_for;
use crate::search::rollouts::{MoveReport, Options as RolloutsSpec, Rollouts};

/// Simulations between two checks of the control.
const SIMULATIONS_PER_CHECK: u32 = 64;
/// About what a simulation adds to the tree.
const BYTES_PER_SIMULATION: u64 = 200;
/// The most simulations of an endless search.
const MOST_SIMULATIONS: u32 = 1 << 20;

/// Searches each position with a new tree and random games.
pub struct RolloutsPlayer<G: Geometry> {
    name: String,
    seed: u64,
    simulations: u32,
    search: Rollouts<G>,
}

impl<G: Geometry> RolloutsPlayer<G> {
    /// A player whose random games depend on the seed.
    pub fn new(name: String, goal: Goal, options: RolloutsSpec, seed: u64) -> RolloutsPlayer<G> {
        let simulations = options.simulations.max(1);
        RolloutsPlayer { name, seed, simulations, search: Rollouts::new(goal, options) }
    }

    /// Searches a position and returns the number of simulations. Reports have at most `count`
    /// moves.
    fn search(&mut self, turn: &Turn<'_, G>, count: usize, control: &mut Control<'_>) -> u32 {
        let effort = control.effort;
        let deadline = effort.time.and_then(|time| Instant::now().checked_add(time));
        let most = match effort.endless {
            true => effort
                .caps
                .simulations
                .map_or(MOST_SIMULATIONS, |most| most.clamp(1, MOST_SIMULATIONS)),
            false => self.simulations,
        };
        let mut random = stream(self.seed, turn);
        self.search.begin(turn.position.board);
        let mut done = 0;
        while done < most {
            let slice = SIMULATIONS_PER_CHECK.min(most - done);
            self.search.run(slice, &mut random);
            done += slice;
            if control.stop.is_set() || deadline.is_some_and(|deadline| Instant::now() >= deadline)
            {
                break;
            }
            if control.is_due() {
                control.report(self.best_moves(turn, count), u64::from(done));
            }
        }
        done
    }

    fn best_moves(&self, turn: &Turn<'_, G>, count: usize) -> Vec<Hint> {
        // A move that ends the game has one result, and so a score that is exact.
        let ends = |line: &[Square]| {
            let after = line.first().and_then(|&square| turn.position.play(square));
            after.is_some_and(|after| after.board.is_over())
        };
        let hint = |report: MoveReport| Hint {
            bound: if ends(&report.line) { Bound::Exact } else { Bound::Estimated },
            line: report.line,
            win_chance: Some(report.win_chance),
            score: Some(report.score),
            depth: None,
            visits: Some(report.visits),
            policy: None,
            source: Source::Rollouts,
        };
        self.search.moves().into_iter().take(count).map(hint).collect()
    }
}

impl<G: Geometry> Player<G> for RolloutsPlayer<G> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        turns.iter().map(|turn| self.think(turn, &mut Control::plain())).collect()
    }

    fn end_game(&mut self, _game: u32) {}

    fn think(
        &mut self,
        turn: &Turn<'_, G>,
        control: &mut Control<'_>,
    ) -> Result<Choice, PlayerError> {
        let begun = Instant::now();
        let done = self.search(turn, 1, control);
        let moves = self.search.moves();
        let nothing = || PlayerError::IllegalMove { shown: "nothing".into() };
        let best = moves.first().ok_or_else(nothing)?;
        Ok(Choice {
            score: Some(best.score),
            depth: Some(done),
            nodes: u64::from(done),
            seconds: begun.elapsed().as_secs_f64(),
            ..Choice::plain(best.line[0])
        })
    }

    fn analyze(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<Analysis, PlayerError> {
        let done = self.search(turn, count, control);
        Ok(control.analysis(self.best_moves(turn, count), u64::from(done)))
    }
}

impl PlayerOptions for RolloutsSpec {
    fn with_defaults(&self) -> Box<dyn PlayerOptions> {
        Box::new(RolloutsSpec::default())
    }

    fn is_deterministic(&self) -> bool {
        false
    }
}

impl Kind for RolloutsSpec {
    const ROW: SpecKind = SpecKind {
        name: "rollouts",
        description: "searches a tree with UCT and random games, without a net",
        subject: None,
        options: || Box::new(RolloutsSpec::default()),
        shortest: "rollouts",
        variants: &[],
        examples: &[("rollouts:simulations=1000", "1,000 random games for each move")],
    };

    fn read(fields: &mut Fields) -> Result<RolloutsSpec, SpecError> {
        let mut spec = RolloutsSpec::default();
        fields.read_limits(&mut spec)?;
        fields.read_others(&mut spec)?;
        Ok(spec)
    }

    fn open<G: Geometry>(
        self,
        context: &PlayerContext,
    ) -> Result<Opened<RolloutsSpec, G>, OpenError> {
        let (goal, own) = (context.goal, self.clone());
        Ok(Opened::new(self, move |name, seed| {
            room_for(u64::from(own.simulations) * BYTES_PER_SIMULATION)
                .map_err(|source| OpenError::Memory { key: "simulations", source })?;
            Ok(RolloutsPlayer::new(name, goal, own.clone(), seed))
        }))
    }
}
