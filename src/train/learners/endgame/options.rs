//! The keys of learning patterns from the end of the game.

use crate::eval::patterns::MAX_PATTERN_SQUARES;
use crate::eval::probcut::deviations;
use crate::game::{Shape, notation};
use crate::keys::{keys, texts, whole, within};
use crate::train::learners::labelled::ROUNDS_OF_RESULTS;
use crate::train::learners::lines::Lines;

keys! {
    /// How games and their exact endings train an evaluator by patterns.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Options {
        /// The patterns, each as the names of its squares, at most ten, with blanks between them.
        /// Their images under the symmetries of the board are added; there may be up to 64 in all.
        key patterns: Vec<String> = edges_and_lines(),
            texts("a list of texts such as \"a1 b1 c1\"", squares);

        /// Discs between two stages. Between the stages the weights are interpolated.
        key gap: u32 = 5, whole(1, 92);

        /// Lines of the first round, which learns endings from shallow play.
        key first_lines: u32 = 200_000, whole(100, 1_000_000_000);

        /// Empty squares from which the lines of the first round are solved. Each further one takes
        /// about twice as long.
        key first_solved: u32 = 13, whole(4, 24);

        /// Games of the second round, which plays to the endings with the evaluator of the first.
        key second_lines: u32 = 20_000, whole(0, 1_000_000_000);

        /// Empty squares from which the games of the second and later rounds are solved.
        key solved: u32 = 16, whole(4, 26);

        /// Rounds of games after the second. Each learns from the games of the round before.
        key rounds: u32 = 5, whole(0, 100);

        /// Games of each of these rounds but the last two.
        key games: u32 = 50_000, whole(100, 1_000_000_000);

        /// Games of each of the last two rounds. The model learns the opening and the midgame from
        /// them alone.
        key last_games: u32 = 150_000, whole(100, 1_000_000_000);

        /// Plies of the search that plays the games.
        key depth: u32 = 4, whole(1, 12);

        /// The same in the last two rounds.
        key last_depth: u32 = 4, whole(1, 12);

        /// How sure the searches of the last two rounds are of each line that they skip by
        /// Multi-ProbCut, in percent; 0 means that they skip none.
        key confidence: f32 = 0.0, within(0.0, 99.9);

        /// Empty squares from which searches of the last two rounds go to the end of the game, and
        /// their scores are the labels. A number that is not above `solved` means none.
        key probable: u32 = 0, whole(0, 30);

        /// The most random moves at the start of a line.
        key opening: u32 = 20, whole(1, 60);

        /// Share of random moves after them.
        key random: f32 = 0.02, within(0.0, 1.0);

        /// The label of a board that was not solved is a mean of the search scores from it on and of
        /// the exact result. From move to move their weight falls by this factor; 1 means that only
        /// the result counts.
        key lambda: f32 = 0.8, within(0.0, 1.0);

        /// The penalty on large weights: a weight that so many boards use is drawn half of the way
        /// to 0.
        key ridge: f32 = 3.0, within(0.0, 1e6);

        /// Steps of the method of conjugate gradients in each round.
        key steps: u32 = 60, whole(1, 10_000);

        /// Boards with each number of empty squares that are searched to fit Multi-ProbCut.
        key probcut_boards: u32 = 100, whole(1, 100_000);

        /// Depth to which they are searched. The fit also serves deeper searches.
        key probcut_depth: u32 = 10, whole(3, 20);
    }
}

/// Whether a text names one to ten squares of some board. The board at hand may have fewer.
pub(in crate::train::learners) fn squares(text: &str) -> Result<(), Box<str>> {
    let names: Vec<&str> = text.split_whitespace().collect();
    let is_square = |name: &str, shape: Shape| dispatch!(shape, G => notation::parse_square::<G>(name).is_some());
    let is_unknown = |name: &&&str| !Shape::ALL.iter().any(|&shape| is_square(name, shape));
    if let Some(name) = names.iter().find(is_unknown) {
        return Err(format!(
            "`{}` is no square; allowed: names such as a1",
            notation::plain_excerpt(name, 8)
        )
        .into());
    }
    match names.len() {
        1..=MAX_PATTERN_SQUARES => Ok(()),
        count => Err(format!("it has {count} squares; allowed: 1 to {MAX_PATTERN_SQUARES}").into()),
    }
}

/// The patterns of Buro's program for 8x8 as the literature names them: corners, edges, and lines.
pub(in crate::train::learners) fn edges_and_lines() -> Vec<String> {
    [
        "a1 b1 c1 d1 e1 f1 g1 h1 b2 g2",
        "a1 b1 c1 d1 e1 a2 b2 c2 d2 e2",
        "a1 b1 c1 a2 b2 c2 a3 b3 c3",
        "a2 b2 c2 d2 e2 f2 g2 h2",
        "a3 b3 c3 d3 e3 f3 g3 h3",
        "a4 b4 c4 d4 e4 f4 g4 h4",
        "a1 b2 c3 d4 e5 f6 g7 h8",
        "a2 b3 c4 d5 e6 f7 g8",
        "a3 b4 c5 d6 e7 f8",
        "a4 b5 c6 d7 e8",
        "a5 b6 c7 d8",
    ]
    .map(String::from)
    .into()
}

impl Options {
    /// The lines of a round, counted from 0.
    pub fn lines(&self, round: u64, squares: u32) -> Lines {
        let opening = self.opening;
        match round {
            0 => Lines {
                count: self.first_lines.into(),
                // Games that begin with random moves throughout too, for rare arrangements.
                opening: (opening / 2, squares - self.first_solved - 4),
                random: 0.2,
                depth: 1,
                solved: self.first_solved,
                probcut: None,
                probable: 0,
                labelled: self.first_solved,
                others: 0.0,
                lambda: 1.0,
            },
            1 => Lines {
                count: self.second_lines.into(),
                opening: (4, 2 * opening),
                random: 0.05,
                depth: 2,
                solved: self.solved,
                probcut: None,
                probable: 0,
                labelled: self.solved,
                others: 0.0,
                lambda: 1.0,
            },
            _ if self.is_last(round) => Lines {
                depth: self.last_depth,
                probcut: (self.confidence > 0.0).then(|| deviations(self.confidence.into())),
                probable: self.probable,
                ..self.whole_games(self.last_games, squares)
            },
            _ => self.whole_games(self.games, squares),
        }
    }

    /// Lines from the first move on.
    fn whole_games(&self, count: u32, squares: u32) -> Lines {
        Lines {
            count: count.into(),
            opening: (self.opening / 4, self.opening),
            random: self.random,
            depth: self.depth,
            probcut: None,
            solved: self.solved,
            probable: 0,
            labelled: squares,
            others: 0.0,
            lambda: self.lambda,
        }
    }

    /// The numbers of discs of the stages. Boards with fewer discs than the first are its own.
    pub fn discs_of_stages(&self, squares: u32) -> Vec<f32> {
        let first = (squares / 6).max(4);
        let discs = (first..squares - 1).step_by(self.gap as usize).chain([squares - 1]);
        discs.map(|discs| discs as f32).collect()
    }

    /// Whether a round is one of the last, whose games teach the midgame and the opening.
    fn is_last(&self, round: u64) -> bool {
        round + ROUNDS_OF_RESULTS >= self.all_rounds()
    }

    /// All rounds.
    pub fn all_rounds(&self) -> u64 {
        2 + u64::from(self.rounds)
    }
}
