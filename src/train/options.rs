//! The settings of self-play, the replay window and the learner.

use crate::choices::choices;

/// How games are made.
pub mod selfplay {
    use super::choices;

    choices! {
        /// How the first moves of a game are chosen.
        pub enum Opening {
            /// Uniformly among the legal moves.
            #[default]
            Random = "random",
            /// By the net's policy without a search.
            Policy = "policy",
        }
    }

    /// How games are made.
    #[derive(Clone, Debug, PartialEq, serde::Serialize)]
    pub struct Options {
        /// Threads that play games; at least 1.
        pub actors: u32,
        /// Games that one actor plays at the same time, which is also the largest batch it
        /// asks the net for; at least 1.
        pub games_per_actor: u32,
        /// Share of the moves that are searched with all simulations and give a policy to
        /// learn, above 0 to 1; the others get `fast_simulations` and no noise.
        pub full_share: f32,
        /// Simulations of the other moves; at least 1.
        pub fast_simulations: u32,
        /// How the first moves are chosen.
        pub opening: Opening,
        /// A game's number of opening moves is drawn uniformly from 0 to this.
        pub opening_plies: u32,
        /// Temperature of the policy in openings that it chooses; above 0.
        pub opening_temperature: f32,
        /// A side resigns when its value stays below this, -1 to 0; -1 never.
        pub resign_below: f32,
        /// For how many of its own moves in a row; at least 1.
        pub resign_plies: u32,
        /// Share of the games that ignore resignation, so that its errors can be counted, 0 to 1.
        pub resign_playout_share: f32,
        /// Pairs of (positions made so far, simulations of a full search from then on), the
        /// positions rising; before the first pair, and without any, `search.simulations`.
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
                opening_temperature: 1.0,
                resign_below: -1.0,
                resign_plies: 3,
                resign_playout_share: 0.1,
                ramp: Vec::new(),
            }
        }
    }
}

/// Which positions are learnt from, and how often.
pub mod replay {
    /// Which positions are learnt from, and how often.
    #[derive(Clone, Debug, PartialEq, serde::Serialize)]
    pub struct Options {
        /// Positions before learning starts; at least 1.
        pub min_positions: u64,
        /// The most positions that the window holds.
        pub max_positions: u64,
        /// The window grows as this power of the positions made, above 0 to 1; 1 keeps all up to
        /// `max_positions`.
        pub growth_exponent: f64,
        /// Up to this many positions the window holds all of them.
        pub growth_start: u64,
        /// Training samples drawn for each new position, at least: actors wait for it; above 0.
        pub ratio: f64,
        /// The most of them, for which the learner waits; 0 is the same as `ratio`.
        pub ratio_max: f64,
        /// Positions with at most this many empty squares are not drawn: the solver answers for
        /// the net there.
        pub skip_empties: u32,
        /// How far ahead the search's value looks that is mixed into the value target: the lambda
        /// of a return, 0 to 1. 0 is the position's own search, 1 the outcome.
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

/// How the net is fitted.
pub mod learner {
    use super::choices;

    choices! {
        /// The rule that turns gradients into steps.
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
            /// This program's kernels on a processor, where they can compute the net in the
            /// precision that is asked for; else libtorch.
            #[default]
            Auto = "auto",
            /// libtorch, operator by operator.
            Libtorch = "libtorch",
        }
    }

    choices! {
        /// The number format of convolutions and of what lies between them, in libtorch of the
        /// whole pass; the weights stay float32.
        pub enum Precision {
            /// bf16 where the device is fast at it, as with AMX; else float32.
            #[default]
            Auto = "auto",
            /// 32-bit floats.
            F32 = "f32",
            /// 16-bit brain floats.
            Bf16 = "bf16",
        }
    }

    /// How the net is fitted.
    #[derive(Clone, Debug, PartialEq, serde::Serialize)]
    pub struct Options {
        /// Positions in a step; at least 2 (batch norm).
        pub batch: u32,
        /// Steps between two nets that the actors get; at least 1.
        pub steps_per_publish: u32,
        /// The rule that turns gradients into steps.
        pub optimizer: OptimizerKind,
        /// Pairs of (positions made so far, learning rate from then on), a staircase; the first
        /// pair starts at 0.
        pub learning_rate: Vec<(u64, f64)>,
        /// Momentum of `sgd`, 0 to below 1.
        pub momentum: f64,
        /// Weight decay; at least 0.
        pub weight_decay: f64,
        /// Share of the old value in the averaged weights that play uses, per step, 0 to below 1;
        /// 0 plays the newest weights.
        pub ema: f64,
        /// Share of the search's value in the value target, 0 to 1; the rest is the outcome.
        pub search_value_share: f32,
        /// Weight of the policy loss.
        pub policy_weight: f64,
        /// Weight of the value loss.
        pub value_weight: f64,
        /// Weight of the loss on the final disc difference.
        pub score_weight: f64,
        /// Weight of the loss on the final owners of the squares.
        pub owner_weight: f64,
        /// The largest norm of a gradient, longer ones are shortened to it; 0 switches it off.
        pub gradient_clip: f64,
        /// The code that computes gradients.
        pub backend: Backend,
        /// The number format of the pass forward and backward.
        pub precision: Precision,
        /// A loss above this, or one that is no number, stops the run.
        pub loss_limit: f64,
        /// Steps over which the learning rate rises from 0 at the start of a run.
        pub warmup_steps: u64,
        /// The last share of a run, 0 to 1, in which the learning rate falls evenly to a twentieth;
        /// 0 lets it be.
        pub cooldown: f64,
        /// Whether each sample is turned by a random symmetry of the board.
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
                gradient_clip: 0.0,
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
