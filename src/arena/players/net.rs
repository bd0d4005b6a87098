//! A network as a player: with a tree search over its estimates, or by its policy alone.
//!
//! All games that the player is shown at once share one batch, so a match of many games is as
//! fast as self-play.

use std::collections::HashMap;
use std::time::Instant;

use crate::arena::player::{Choice, Hint, Player, PlayerError, Turn, stream};
use crate::game::{Board, Geometry, Goal, Square};
use crate::net::Input;
use crate::net::inference::{Backend, InferenceError, Outputs};
use crate::search::endgame::Solver;
use crate::search::mcts::{self, Answer, Gathered, Mode, Search, Ticket};

/// Games that a net likes to be shown at once: enough for a full batch.
const GAMES_AT_ONCE: usize = 64;
/// Bytes of the exact solver's table.
const SOLVER_TABLE_BYTES: usize = 16 << 20;

/// Searches with a net; keeps a tree for each game.
pub struct NetPlayer<G: Geometry> {
    name: String,
    seed: u64,
    goal: Goal,
    options: mcts::Options,
    parallel: usize,
    backend: Box<dyn Backend>,
    solver: Solver<G>,
    searches: HashMap<u32, Box<Search<G>>>,
    inputs: Vec<Input>,
    asked: Vec<(usize, Ticket)>,
    outputs: Outputs,
}

/// What a turn came to.
enum Thought<G: Geometry> {
    /// The position was solved.
    Solved { score: i32, line: Vec<Square> },
    /// The position was searched, in this tree.
    Searched(Box<Search<G>>),
}

impl<G: Geometry> NetPlayer<G> {
    /// A player that searches as `options` say, with up to `parallel` leaves of one tree in a
    /// batch.
    pub fn new(
        name: String,
        goal: Goal,
        backend: Box<dyn Backend>,
        options: mcts::Options,
        parallel: usize,
        seed: u64,
    ) -> NetPlayer<G> {
        NetPlayer {
            name,
            seed,
            goal,
            options,
            parallel: parallel.max(1),
            backend,
            solver: Solver::new(goal, SOLVER_TABLE_BYTES),
            searches: HashMap::new(),
            inputs: Vec::new(),
            asked: Vec::new(),
            outputs: Outputs::default(),
        }
    }

    /// Thinks about all turns at once.
    fn think(&mut self, turns: &[Turn<'_, G>]) -> Result<Vec<Thought<G>>, InferenceError> {
        let mut thoughts = Vec::with_capacity(turns.len());
        for turn in turns {
            let board = turn.position.board;
            if board.empties() <= self.options.solve_empties {
                let (score, line) = self.solver.best_line(board);
                thoughts.push(Thought::Solved { score, line });
                continue;
            }
            let kept = self.searches.remove(&turn.game);
            let mut search =
                kept.unwrap_or_else(|| Box::new(Search::new(self.goal, &self.options)));
            search.begin(board, self.options.simulations, Mode::Play);
            thoughts.push(Thought::Searched(search));
        }
        while self.gather(turns, &mut thoughts) {
            self.backend.evaluate(&self.inputs, &mut self.outputs)?;
            for (index, &(turn, ticket)) in self.asked.iter().enumerate() {
                if let Thought::Searched(search) = &mut thoughts[turn] {
                    search.apply(ticket, answer::<G>(&self.outputs, index));
                }
            }
        }
        Ok(thoughts)
    }

    /// Collects the leaves that the searches want evaluated; false once they want none.
    fn gather(&mut self, turns: &[Turn<'_, G>], thoughts: &mut [Thought<G>]) -> bool {
        self.inputs.clear();
        self.asked.clear();
        for (index, thought) in thoughts.iter_mut().enumerate() {
            let Thought::Searched(search) = thought else { continue };
            let mut random = stream(self.seed, &turns[index]);
            for _ in 0..self.parallel {
                let gathered = search.gather(&mut self.solver, &mut random);
                let Some(Gathered::Leaf { ticket, board, legal }) = gathered else { break };
                self.inputs.push(Input::new(board, legal));
                self.asked.push((index, ticket));
            }
        }
        !self.inputs.is_empty()
    }

    fn conclude(&mut self, turn: &Turn<'_, G>, thought: Thought<G>) -> Result<Choice, PlayerError> {
        let nothing = || PlayerError::IllegalMove { shown: "nothing".into() };
        match thought {
            Thought::Solved { score, line } => {
                let square = *line.first().ok_or_else(nothing)?;
                Ok(Choice { score: Some(score as f32), ..Choice::plain(square) })
            }
            Thought::Searched(mut search) => {
                let early = turn.ply() < self.options.temperature_plies;
                let temperature =
                    if early { self.options.temperature } else { self.options.temperature_late };
                let mut random = stream(self.seed, turn);
                let square = search.choose(temperature, &mut random).ok_or_else(nothing)?;
                let choice = Choice {
                    score: search.tree().exact().map(f32::from),
                    depth: Some(search.tree().visits()),
                    nodes: u64::from(search.simulations()),
                    ..Choice::plain(square)
                };
                self.searches.insert(turn.game, search);
                Ok(choice)
            }
        }
    }
}

impl<G: Geometry> NetPlayer<G> {
    /// Gives each hint that is not proven the disc difference that the net expects after its
    /// first move. A net without that head foretells 0 for all of them, and is not quoted.
    fn add_scores(&mut self, turn: &Turn<'_, G>, hints: &mut [Hint]) -> Result<(), InferenceError> {
        let mut open: Vec<_> = hints.iter_mut().filter(|hint| !hint.exact).collect();
        let after = |hint: &&mut Hint| {
            let next = hint.line.first().and_then(|&square| turn.position.play(square));
            next.unwrap_or(turn.position).settled()
        };
        let positions: Vec<_> = open.iter().map(after).collect();
        let inputs = positions.iter().map(|next| Input::new(next.board, next.board.legal()));
        self.inputs.clear();
        self.inputs.extend(inputs);
        if self.inputs.is_empty() {
            return Ok(());
        }
        self.backend.evaluate(&self.inputs, &mut self.outputs)?;
        let scores = &self.outputs.score[..open.len()];
        if scores.iter().all(|&score| score == 0.0) {
            return Ok(());
        }
        for ((hint, next), score) in open.iter_mut().zip(&positions).zip(scores) {
            let same_side = next.side == turn.position.side;
            hint.score = Some(if same_side { *score } else { -score });
        }
        Ok(())
    }
}

fn answer<G: Geometry>(outputs: &Outputs, index: usize) -> Answer<'_> {
    Answer {
        policy: &outputs.policy[index * G::SQUARES..][..G::SQUARES],
        value: outputs.value[index],
        score: outputs.score[index],
    }
}

fn failed(error: InferenceError) -> PlayerError {
    PlayerError::Network { reason: error.to_string().into() }
}

/// Shares a batch's time out among its choices.
fn timed(choices: &mut [Result<Choice, PlayerError>], begun: Instant) {
    let each = begun.elapsed().as_secs_f64() / choices.len().max(1) as f64;
    choices.iter_mut().flatten().for_each(|choice| choice.seconds = each);
}

impl<G: Geometry> Player<G> for NetPlayer<G> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn choose(&mut self, turns: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        let begun = Instant::now();
        match self.think(turns).map_err(failed) {
            Err(error) => vec![Err(error); turns.len()],
            Ok(thoughts) => {
                let concluded = turns.iter().zip(thoughts);
                let mut choices: Vec<_> =
                    concluded.map(|(turn, thought)| self.conclude(turn, thought)).collect();
                timed(&mut choices, begun);
                choices
            }
        }
    }

    fn end_game(&mut self, game: u32) {
        self.searches.remove(&game);
    }

    fn hints(&mut self, turn: &Turn<'_, G>, count: usize) -> Result<Vec<Hint>, PlayerError> {
        let thought = self.think(std::slice::from_ref(turn)).map_err(failed)?.pop();
        Ok(match thought {
            None => Vec::new(),
            Some(Thought::Solved { score, line }) => vec![Hint {
                line,
                win_chance: Some((score.signum() + 1) as f32 / 2.0),
                score: Some(score as f32),
                exact: true,
                depth: Some(turn.position.board.empties()),
            }],
            Some(Thought::Searched(search)) => {
                let mut hints = search_hints(&search, count);
                self.searches.insert(turn.game, search);
                self.add_scores(turn, &mut hints).map_err(failed)?;
                hints
            }
        })
    }

    fn batch(&self) -> usize {
        GAMES_AT_ONCE
    }
}

fn search_hints<G: Geometry>(search: &Search<G>, count: usize) -> Vec<Hint> {
    let mut moves: Vec<_> = search.tree().root_moves().collect();
    moves.sort_by_key(|stats| std::cmp::Reverse(stats.visits));
    let main = search.tree().principal_variation(12);
    let hint = |stats: mcts::MoveStats| {
        let exact = stats.lower == stats.upper;
        Hint {
            line: match main.first() {
                Some(&first) if first == stats.square => main.clone(),
                _ => vec![stats.square],
            },
            win_chance: stats.utility.map(|utility| (utility + 1.0) / 2.0),
            score: exact.then_some(f32::from(stats.lower)),
            exact,
            depth: Some(stats.visits),
        }
    };
    moves.into_iter().take(count).map(hint).collect()
}

/// Plays what a net's policy likes best, without a search.
pub struct PolicyPlayer {
    name: String,
    seed: u64,
    temperature_plies: u32,
    backend: Box<dyn Backend>,
    outputs: Outputs,
}

impl PolicyPlayer {
    /// A player that draws its moves from the policy for `temperature_plies` plies of a game
    /// and then takes the likeliest.
    pub fn new(
        name: String,
        backend: Box<dyn Backend>,
        temperature_plies: u32,
        seed: u64,
    ) -> PolicyPlayer {
        PolicyPlayer { name, seed, temperature_plies, backend, outputs: Outputs::default() }
    }

    fn pick<G: Geometry>(&self, turn: &Turn<'_, G>, index: usize) -> Option<Square> {
        let legal = turn.position.board.legal();
        let logits = answer::<G>(&self.outputs, index).policy;
        let logit = |square: Square| logits[square.index()];
        let best = legal.max_by(|&a, &b| logit(a).total_cmp(&logit(b)))?;
        if turn.ply() >= self.temperature_plies {
            return Some(best);
        }
        let weight = |square: Square| (logit(square) - logit(best)).exp();
        let mut left = rand::RngExt::random::<f32>(&mut stream(self.seed, turn))
            * legal.map(weight).sum::<f32>();
        let mut legal = legal;
        legal
            .find(|&square| {
                left -= weight(square);
                left < 0.0
            })
            .or(Some(best))
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
        if let Err(error) = self.backend.evaluate(&inputs, &mut self.outputs) {
            return vec![Err(failed(error)); turns.len()];
        }
        let nothing = || PlayerError::IllegalMove { shown: "nothing".into() };
        let mut choices: Vec<_> = turns
            .iter()
            .enumerate()
            .map(|(index, turn)| self.pick(turn, index).map(Choice::plain).ok_or_else(nothing))
            .collect();
        timed(&mut choices, begun);
        choices
    }

    fn end_game(&mut self, _game: u32) {}

    fn batch(&self) -> usize {
        GAMES_AT_ONCE
    }
}
