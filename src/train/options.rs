//! The settings of self-play, the replay window and the learner.

use crate::choices::choices;

/// How games are played.
pub mod selfplay {
    use super::choices;

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

    /// How games are played.
    #[derive(Clone, Debug, PartialEq, serde::Serialize)]
    pub struct Options {
        /// Threads that play games; at least 1.
        pub actors: u32,
        /// Games that one actor plays at the same time, and so its largest batch of positions;
        /// at least 1.
        pub games_per_actor: u32,
        /// Share of the moves with a full search, above 0 to 1. Only their policies are training
        /// targets. The other searches have `fast_simulations` and no noise.
        pub full_share: f32,
        /// Simulations of a search that is not full; at least 1.
        pub fast_simulations: u32,
        /// How the first moves are chosen.
        pub opening: Opening,
        /// A game's number of opening moves is drawn uniformly from 0 to this.
        pub opening_plies: u32,
        /// Pairs of (positions generated so far, simulations of a full search from then on), sorted
        /// by positions. Before the first pair and without pairs, `search.simulations` holds.
        pub ramp: Vec<(u64, u32)>,
    }

    impl Default for Options {
        fn default() -> Options {
            Options {
                actors: 1,
                games_per_actor: 128,
                full_share: 1.0,
                fast_simulations: 16,
                opening: Opening::Random,
                opening_plies: 8,
                ramp: Vec::new(),
            }
        }
    }
}

/// Which positions are sampled for training, and how often.
pub mod replay {
    /// Which positions are sampled for training, and how often.
    #[derive(Clone, Debug, PartialEq, serde::Serialize)]
    pub struct Options {
        /// Positions generated before training starts; at least 1.
        pub min_positions: u64,
        /// The largest number of positions in the window.
        pub max_positions: u64,
        /// The window grows as this power of the positions generated, above 0 to 1. With 1 it holds
        /// all positions up to `max_positions`.
        pub growth_exponent: f64,
        /// Up to this many positions the window holds all of them.
        pub growth_start: u64,
        /// The smallest number of training samples per new position; actors wait for the learner
        /// to keep it. Above 0.
        pub ratio: f64,
        /// The largest number of training samples per new position; the learner waits for new
        /// positions to keep it. 0 means the same as `ratio`.
        pub ratio_max: f64,
        /// Positions with at most this many empty squares are not sampled: the solver plays them.
        pub skip_empties: u32,
        /// The lambda (0 to 1) of the return that is mixed into the value target. 0 takes the value
        /// of the position's own search, 1 the game's result.
        pub value_lambda: f32,
    }

    impl Default for Options {
        fn default() -> Options {
            Options {
                min_positions: 20_000,
                max_positions: 500_000,
                growth_exponent: 0.65,
                growth_start: 50_000,
                ratio: 4.0,
                ratio_max: 0.0,
                skip_empties: 0,
                value_lambda: 0.0,
            }
        }
    }
}

/// How the net is trained.
pub mod learner {
    use super::choices;

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

    /// How the net is trained.
    #[derive(Clone, Debug, PartialEq, serde::Serialize)]
    pub struct Options {
        /// Samples in a step; at least 2 (batch norm).
        pub batch: u32,
        /// Steps between two nets that the actors get; at least 1.
        pub steps_per_publish: u32,
        /// The optimiser.
        pub optimizer: OptimizerKind,
        /// Pairs of (positions generated so far, learning rate from then on), sorted by positions;
        /// the first pair starts at 0.
        pub learning_rate: Vec<(u64, f64)>,
        /// Momentum of `sgd`, 0 to below 1.
        pub momentum: f64,
        /// Weight decay; at least 0.
        pub weight_decay: f64,
        /// Decay of the moving average of the weights, per step, 0 to below 1. The averaged weights
        /// play; with 0 the newest weights play.
        pub ema: f64,
        /// Share of the search's value in the value target, 0 to 1; the rest is the game's result.
        pub search_value_share: f32,
        /// Weight of the policy loss.
        pub policy_weight: f64,
        /// Weight of the value loss.
        pub value_weight: f64,
        /// Weight of the loss on the final disc difference.
        pub score_weight: f64,
        /// Weight of the loss on the final owners of the squares.
        pub owner_weight: f64,
        /// The code that computes gradients.
        pub backend: Backend,
        /// The number format of the forward and backward pass.
        pub precision: Precision,
        /// A loss above this, or not finite, stops the run.
        pub loss_limit: f64,
        /// Steps over which the learning rate rises from 0 at the start of a run.
        pub warmup_steps: u64,
        /// The last share of a run, 0 to 1, in which the learning rate falls linearly to a
        /// twentieth; 0 turns this off.
        pub cooldown: f64,
        /// Whether a random symmetry of the board is applied to each sample.
        pub augment: bool,
    }

    impl Default for Options {
        fn default() -> Options {
            Options {
                batch: 1024,
                steps_per_publish: 16,
                optimizer: OptimizerKind::Sgd,
                learning_rate: vec![(0, 0.02)],
                momentum: 0.9,
                weight_decay: 1e-4,
                ema: 0.99,
                search_value_share: 0.25,
                policy_weight: 1.0,
                value_weight: 1.0,
                score_weight: 0.25,
                owner_weight: 0.25,
                backend: Backend::Auto,
                precision: Precision::Auto,
                loss_limit: 50.0,
                warmup_steps: 100,
                cooldown: 0.0,
                augment: true,
            }
        }
    }
}
