//! The settings of self-play, the replay window and the learner.

use crate::choices::choices;
use crate::keys::{Allowed, above, at_least, below, keys, schedule, whole, within};
use crate::search::mcts::options::{MOST_SIMULATIONS, MOST_SOLVED};

/// How games are played.
pub mod selfplay {
    use super::{Allowed, MOST_SIMULATIONS, above, choices, keys, schedule, whole};

    /// The allowed numbers of simulations.
    const SIMULATIONS: Allowed = whole(1, MOST_SIMULATIONS);

    choices! {
        /// How the first moves of a game are chosen.
        pub enum Opening {
            /// Uniformly among the legal moves.
            #[default]
            Random = "random",
            /// Drawn from the net's policy, without a search.
            Policy = "policy",
        }
    }

    keys! {
        /// How games are played.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Options {
            /// Threads that play games. With 0 the run learns from the games that it begins with.
            ///
            /// That is from the games of `train --games`. The replay ratio then has no meaning, and
            /// the run needs a limit of steps or minutes.
            key actors: u32 = 1, whole(0, 1024);

            /// Games that an actor plays at the same time; also the batch size of the net in play.
            key games_per_actor: u32 = 128, whole(1, 65536);

            /// Share of the moves with a full search; only these train the policy.
            ///
            /// The other searches have `fast_simulations` and no noise.
            key full_share: f32 = 1.0, above(0.0, 1.0);

            /// Simulations of a fast search, for the other moves.
            key fast_simulations: u32 = 16, SIMULATIONS;

            /// How the first moves of a game are drawn: uniformly, or from the net's policy.
            key opening: Opening = Opening::Random;

            /// The number of such moves is drawn uniformly from 0 to this.
            key opening_plies: u32 = 8, whole(0, 60);

            /// Pairs [positions played so far, simulations of a full search from there on]; before
            /// the first pair `search.simulations` applies.
            key ramp: Vec<(u64, u32)> = Vec::new(),
                schedule(&SIMULATIONS, false, "[[0, 16], [200000, 64]]");
        }
    }
}

/// Which positions are sampled for training, and how often.
pub mod replay {
    use super::{MOST_SOLVED, above, at_least, keys, whole, within};

    /// Offsets into the replay window's policies have 32 bits, so the policies must stay below
    /// 4 GiB. Those of this many positions do.
    const MOST_POSITIONS: u64 = 100_000_000;

    keys! {
        /// Which positions are sampled for training, and how often.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Options {
            /// Positions in the replay window before training starts.
            key min_positions: u64 = 20_000, at_least(1);

            /// The largest size of the replay window, in positions of at most 100 bytes each.
            key max_positions: u64 = 500_000, whole(1, MOST_POSITIONS);

            /// The window grows as this power of the positions played so far; with 1 it keeps all
            /// of them up to `max_positions`.
            key growth_exponent: f64 = 0.65, above(0.0, 1.0);

            /// Up to this many positions the window keeps all of them.
            key growth_start: u64 = 50_000, at_least(1);

            /// Training samples for each new position, at least; below this the actors wait for the
            /// learner.
            key ratio: f64 = 4.0, above(0.0, 1000.0);

            /// Training samples for each new position, at most; above this the learner waits for
            /// the actors. 0 means the same as `ratio`: then a run with one actor on a CPU is
            /// reproducible, unless a cooldown depends on the time.
            key ratio_max: f64 = 0.0, within(0.0, 1000.0);

            /// Positions with at most this many empty squares are not trained on, because the
            /// solver plays them; at most `search.solve_leaves` and `search.solve_empties`.
            key skip_empties: u32 = 0, whole(0, MOST_SOLVED);

            /// Lambda of the return in the value target (see `learner.search_value_share`): 0 takes
            /// the value of the position's own search, 1 the game's result, and a number between
            /// them a weighted mean over the later searches.
            key value_lambda: f32 = 0.0, within(0.0, 1.0);
        }
    }
}

/// How the net is trained.
pub mod learner {
    use super::{Allowed, above, below, choices, keys, schedule, whole, within};

    choices! {
        /// The optimiser.
        pub enum OptimizerKind {
            /// Stochastic gradient descent with momentum.
            #[default]
            Sgd = "sgd",
            /// Adam with decoupled weight decay.
            Adamw = "adamw",
            /// Adam; weight decay is part of the gradient.
            Adam = "adam",
            /// AdamW, but the steps of filters are orthogonal (Jordan 2024).
            Muon = "muon",
        }
    }

    choices! {
        /// The code that computes gradients.
        pub enum Backend {
            /// On a CPU, this program's own kernels if they support the net and the precision;
            /// otherwise libtorch.
            #[default]
            Auto = "auto",
            /// libtorch, operator by operator.
            Libtorch = "libtorch",
        }
    }

    choices! {
        /// The number format of the convolutions and the activations between them (with libtorch,
        /// of the whole pass). The weights are always float32.
        pub enum Precision {
            /// bf16 if the device is fast at it, for example with AMX; otherwise float32.
            #[default]
            Auto = "auto",
            /// 32-bit floats.
            F32 = "f32",
            /// 16-bit brain floats.
            Bf16 = "bf16",
        }
    }

    /// The allowed weights of a loss.
    const WEIGHT: Allowed = within(0.0, 1000.0);

    keys! {
        /// How the net is trained.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Options {
            /// Batch size: positions in a training step.
            ///
            /// Batch norm needs at least 2.
            key batch: u32 = 1024, whole(2, 1_048_576);

            /// Threads on a CPU; each computes a part of the batch, and normalises it by itself.
            ///
            /// A part has at least 32 positions. The same number of threads gives the same run.
            key threads: u32 = 1, whole(1, 64);

            /// The actors get a new net after this many training steps.
            key steps_per_publish: u32 = 16, whole(1, 1_000_000);

            /// The optimizer.
            key optimizer: OptimizerKind = OptimizerKind::Sgd;

            /// Pairs [positions played so far, learning rate from there on].
            key learning_rate: Vec<(u64, f64)> = vec![(0, 0.02)],
                schedule(&within(0.0, 10.0), true, "[[0, 0.02], [1000000, 0.002]]");

            /// How strongly each step pulls the weights towards 0, times the learning rate.
            key weight_decay: f64 = 1e-4, within(0.0, 1.0);

            /// Decay of the moving average of the weights, per step; the average plays. 0 plays the
            /// newest weights.
            key ema: f64 = 0.99, below(0.0, 1.0);

            /// Share of the search's value in the value target; the rest is the game's result.
            key search_value_share: f32 = 0.25, within(0.0, 1.0);

            /// Weight of the policy loss.
            key policy_weight: f64 = 1.0, WEIGHT;

            /// Weight of the value loss.
            key value_weight: f64 = 1.0, WEIGHT;

            /// Weight of the loss on the final disc difference.
            key score_weight: f64 = 0.25, WEIGHT;

            /// The code that computes gradients; "auto" takes this program's own kernels for
            /// residual nets on a CPU, else libtorch. For "bf16" these kernels need AMX and a
            /// multiple of 32 channels.
            key backend: Backend = Backend::Auto;

            /// Number format of the convolutions and the activations between them, with libtorch of
            /// the whole pass; "auto" is bf16 where the device is fast at it, as with AMX. The
            /// weights are always float32.
            key precision: Precision = Precision::Auto;

            /// A loss above this, or not finite, stops the run.
            key loss_limit: f64 = 50.0, above(0.0, 1e9);

            /// Training steps in which the learning rate rises from 0 at the start of a run.
            key warmup_steps: u64 = 100;

            /// In this last share of the run (of its nearest limit) the learning rate falls to a
            /// twentieth; 0 means off.
            ///
            /// It falls linearly.
            key cooldown: f64 = 0.0, within(0.0, 1.0);

            /// Whether a random symmetry of the board is applied to each sample.
            key augment: bool = true;
        }
    }
}
