//! A player that uses a net's policy: one prediction for each move, no search.

use std::path::PathBuf;
use std::time::Instant;

use super::copies::{Copies, SYMMETRIES};
use super::hints::predicted_hints;
use super::net::{GAMES_PER_BATCH, network_error, set_times};
use crate::game::{Board, Geometry, Goal, Square};
use crate::keys::{keys, whole, within};
use crate::players::contestant::{OpenError, PlayerContext};
use crate::players::control::{Analysis, Control};
use crate::players::grammar::{Fields, SpecError, SpecKind};
use crate::players::kind::{CHECKPOINT, Kind, Opened, PlayerOptions};
use crate::players::models::LoadedModel;
use crate::players::player::{Choice, Player, PlayerError, Turn, stream};
use crate::predict::Input;
use crate::predict::{Backend, Predictions};
use crate::search::draw::draw;

keys! {
    /// A net's policy without search.
    #[derive(Clone, PartialEq, Debug)]
    pub struct PolicySpec {
        /// A net file, a checkpoint or a run directory.
        field path: PathBuf = PathBuf::new();

        /// How many plies from the start of a game are drawn from the policy; later the most
        /// probable move is played.
        key temperature_plies: u32 = 0, whole(0, 100);

        /// Moves are drawn in proportion to the policy to the power of 1 / `temperature`.
        key temperature: f32 = 1.0, within(0.05, 20.0) => refused("without `temperature_plies`");

        /// The prediction for a position is the mean over this many of its images; see `net`.
        key symmetries: usize = 1, SYMMETRIES;
    }
}

impl PolicySpec {
    /// A player that always plays the most probable move of the net at `path`.
    pub fn new(path: PathBuf) -> PolicySpec {
        PolicySpec { path, ..PolicySpec::default() }
    }
}

impl PlayerOptions for PolicySpec {
    fn with_defaults(&self) -> Box<dyn PlayerOptions> {
        Box::new(PolicySpec::default())
    }

    fn is_deterministic(&self) -> bool {
        self.temperature_plies == 0
    }

    fn checkpoint(&self) -> Option<&PathBuf> {
        Some(&self.path)
    }
}

impl Kind for PolicySpec {
    const ROW: SpecKind = SpecKind {
        name: "policy",
        description: "plays by a net's policy, without search",
        subject: Some(CHECKPOINT),
        options: || Box::new(PolicySpec::default()),
        shortest: "policy:CHECKPOINT",
        variants: &[],
        examples: &[("policy:runs/quick", "the policy of a run's newest checkpoint")],
    };

    fn read(fields: &mut Fields) -> Result<PolicySpec, SpecError> {
        let mut spec = PolicySpec::new(fields.subject()?.into());
        fields.read_others(&mut spec)?;
        fields.refuse("temperature", spec.temperature_plies == 0)?;
        Ok(spec)
    }

    fn open<G: Geometry>(
        self,
        context: &PlayerContext,
    ) -> Result<Opened<PolicySpec, G>, OpenError> {
        let net = LoadedModel::read(&self.path)?.for_match(G::SHAPE, context.goal)?;
        let options = PolicySpec { path: net.identity(), ..self };
        let origin = net.origin();
        let copies = Copies::new(net, context, 1, options.symmetries);
        let goal = context.goal;
        let PolicySpec { temperature_plies, temperature, .. } = options;
        let make = move |name, seed| {
            let backend = Box::new(copies.make::<G>()?);
            let predictions = Predictions::default();
            Ok(PolicyPlayer {
                name,
                seed,
                goal,
                temperature_plies,
                temperature,
                backend,
                predictions,
            })
        };
        Ok(Opened { origin: Some(origin), ..Opened::new(options, make) })
    }
}

/// Draws its moves from the policy of a net in the first `temperature_plies` plies of a game. Later it
/// plays the move with the highest policy. It does not search.
struct PolicyPlayer {
    name: String,
    seed: u64,
    goal: Goal,
    temperature_plies: u32,
    temperature: f32,
    backend: Box<dyn Backend>,
    predictions: Predictions,
}

impl PolicyPlayer {
    fn pick<G: Geometry>(&self, turn: &Turn<'_, G>, index: usize) -> Option<Square> {
        let legal = turn.position.board.legal();
        let logits = self.predictions.get(index, G::SQUARES).policy;
        let logit = |square: Square| logits[square.index()];
        let best = legal.max_by(|&a, &b| logit(a).total_cmp(&logit(b)))?;
        if turn.ply() >= self.temperature_plies {
            return Some(best);
        }
        let weight = |square: Square| ((logit(square) - logit(best)) / self.temperature).exp();
        let drawn = draw(legal.map(weight), &mut stream(self.seed, turn));
        drawn.and_then(|place| legal.into_iter().nth(place)).or(Some(best))
    }
}

impl<G: Geometry> Player<G> for PolicyPlayer {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        let begun = Instant::now();
        let input = |board: Board<G>| Input::new(board, board.legal());
        let inputs: Vec<Input> = turns.iter().map(|turn| input(turn.position.board)).collect();
        if let Err(error) = self.backend.predict(&inputs, &mut self.predictions) {
            return vec![Err(network_error(error)); turns.len()];
        }
        let nothing = || PlayerError::IllegalMove { shown: "nothing".into() };
        let mut choices: Vec<_> = turns
            .iter()
            .enumerate()
            .map(|(index, turn)| self.pick(turn, index).map(Choice::plain).ok_or_else(nothing))
            .collect();
        set_times(&mut choices, begun);
        choices
    }

    fn end_game(&mut self, _game: u32) {}

    fn analyze(
        &mut self,
        turn: &Turn<'_, G>,
        count: usize,
        control: &mut Control<'_>,
    ) -> Result<Analysis, PlayerError> {
        let hints = predicted_hints(self.backend.as_mut(), turn.position, self.goal);
        let mut hints = hints.map_err(network_error)?;
        hints.truncate(count);
        Ok(control.analysis(hints, 1))
    }

    fn batch(&self) -> usize {
        GAMES_PER_BATCH
    }
}
