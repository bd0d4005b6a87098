//! The keys of learning n-tuple and one-hot models.

use crate::choices::choices;
use crate::keys::{above, keys, one_of, text, texts, whole, within};
use crate::train::learners::endgame::{edges_and_lines, squares};
use crate::train::learners::lines::Lines;

choices! {
    /// What a model knows of a board.
    pub enum Inputs {
        /// The discs on lines and corners, and counts, without a hidden layer.
        Tuples = "tuples",
        /// What each square holds: a disc or moves, six states. A hidden layer follows.
        Moves = "moves",
        /// The same with frontier discs apart from the others, eight states.
        #[default]
        Frontier = "frontier",
        /// The discs on the patterns of method "endgame". Small layers follow.
        Patterns = "patterns",
    }
}

keys! {
    /// How games train an n-tuple perceptron or a net with one hidden layer.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Options {
        /// What the model knows of a board. `tuples`: the discs on lines and corners, without a hidden
        /// layer. `moves`: what each square holds, one of six states. `frontier`: one of eight states.
        /// `patterns`: the discs on patterns, with rows of 32 numbers and small layers.
        key inputs: Inputs = Inputs::default();

        /// Whether the model knows stable discs too: two more counts, or two more states of a square.
        key stable: bool = false;

        /// The patterns of `inputs = "patterns"`, as those of method "endgame".
        key patterns: Vec<String> = edges_and_lines(), texts("lists of squares", squares);

        /// Units of the hidden layer. Tuples have none, and patterns layers of their own.
        key hidden: u32 = 160, one_of(&[
            16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256,
        ]);

        /// Sets of weights from the hidden layer to the value, by the number of discs. Between two of
        /// them the weights are interpolated.
        key stages: u32 = 6, whole(1, 30);

        /// Rounds of games. Each is played by the model of the round before.
        key rounds: u32 = 8, whole(1, 100);

        /// Games of a round. The first round has twice as many.
        key games: u32 = 10_000, whole(100, 1_000_000_000);

        /// Plies of the search that plays the games after the first round.
        key depth: u32 = 2, whole(1, 12);

        /// The most random moves at the start of a game after the first round.
        key opening: u32 = 20, whole(1, 60);

        /// Share of random moves after them.
        key random: f32 = 0.02, within(0.0, 1.0);

        /// For this share of the moves that were searched, a board after another legal move, drawn at
        /// random, is labelled too, by a search of its own.
        key others: f32 = 0.0, within(0.0, 1.0);

        /// Empty squares from which games are solved.
        key solved: u32 = 12, whole(4, 24);

        /// The label of a board that was not solved is a mean of the search scores from it on and of
        /// the exact result. From move to move their weight falls by this factor; 1 means that only
        /// the result counts.
        key lambda: f32 = 0.9, within(0.0, 1.0);

        /// Learn from the labels of these runs instead of own games: run directories, of method
        /// "endgame" for example.
        key labels: Vec<String> = Vec::new(), texts("a list of paths", |_| Ok(()));

        /// A model that plays and labels the games, instead of the model that learns: a file or folder of a
        /// model, or a run. By default the model itself.
        key teacher: String = String::new(), text("the path of a model", |_| true);

        /// A model of the same inputs, patterns and stages whose numbers are the first: a file or folder of
        /// a model, or a run. By default they are random.
        key initial: String = String::new(), text("the path of a model", |_| true);

        /// How often the model learns from each label in a round.
        key epochs: u32 = 4, whole(1, 1000);

        /// Labels of a training step.
        key batch: u32 = 1024, whole(1, 1_000_000);

        /// The learning rate (Adam) at the start of a round. It falls to 0 on a straight line.
        key rate: f32 = 0.003, above(0.0, 1.0);
    }
}

impl Options {
    /// The lines of a round, counted from 0, on a board of `squares` squares. Without a teacher the
    /// first is played by a model that knows nothing, so only the results count.
    pub fn lines(&self, round: u64, squares: u32) -> Lines {
        let &Options { opening, random, solved, others, .. } = self;
        let latest = squares.saturating_sub(solved + 8).max(2);
        let games = u64::from(self.games);
        match round {
            0 if self.teacher.is_empty() => Lines {
                count: 2 * games,
                opening: (2, latest),
                random: 0.0,
                depth: 1,
                solved,
                probcut: None,
                probable: 0,
                labelled: squares,
                others: 0.0,
                lambda: 1.0,
            },
            _ => Lines {
                count: games,
                opening: (opening / 4, opening),
                random,
                depth: self.depth,
                solved,
                probcut: None,
                probable: 0,
                labelled: squares,
                others,
                lambda: self.lambda,
            },
        }
    }

    /// The numbers of discs of the stages on a board of `squares` squares, ascending.
    pub fn discs_of_stages(&self, squares: u32) -> Vec<f32> {
        let (first, last) = (squares / 6, squares - 2);
        let stages = self.stages.min(last - first);
        let discs = |stage: u32| match stages {
            1 => last,
            _ => first + (last - first) * stage / (stages - 1),
        };
        (0..stages).map(|stage| discs(stage) as f32).collect()
    }
}
