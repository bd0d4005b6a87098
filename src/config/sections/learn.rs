//! The keys of `[replay]` and `[learner]`.

use super::SHARE;
use crate::config::reader::{Bounds, MOST, Reader, read_number};
use crate::train::{learner, replay};

/// The policies of so many positions take less than the 4 GiB that offsets in the window reach.
const MOST_POSITIONS: u64 = 100_000_000;

const WEIGHT: Bounds = Bounds::within(0.0, 1000.0);

#[allow(clippy::too_many_lines, reason = "a table, one entry for each key")]
pub(super) fn replay(r: &mut Reader<'_>, d: replay::Options) -> replay::Options {
    replay::Options {
        min_positions: r.whole(
            ("min_positions", "positions in the window before learning starts"),
            d.min_positions,
            1..=MOST,
        ),
        max_positions: r.whole(
            (
                "max_positions",
                "the most positions in the window, each at most 100 bytes \
                of memory",
            ),
            d.max_positions,
            1..=MOST_POSITIONS,
        ),
        growth_exponent: r.number(
            (
                "growth_exponent",
                "the window grows as this power of the positions made; \
                1 keeps all up to `max_positions`",
            ),
            d.growth_exponent,
            Bounds::above(0.0, 1.0),
        ),
        growth_start: r.whole(
            ("growth_start", "positions up to which the window keeps all"),
            d.growth_start,
            1..=MOST,
        ),
        ratio: r.number(
            ("ratio", "training samples for each new position, at least: actors wait for them"),
            d.ratio,
            Bounds::above(0.0, 1000.0),
        ),
        ratio_max: r.number(
            (
                "ratio_max",
                "the most training samples for each new position: the learner waits; 0 is the \
                same as `ratio`, with which a run of one actor on a processor is the same each time, \
                unless a cooldown looks at the clock",
            ),
            d.ratio_max,
            Bounds::within(0.0, 1000.0),
        ),
        skip_empties: r.whole(
            (
                "skip_empties",
                "positions with at most this many empty squares are not learnt from, for the net is \
                never asked about them; at most `search.solve_leaves` and `search.solve_empties`",
            ),
            d.skip_empties,
            0..=20,
        ),
        value_lambda: r.single(
            (
                "value_lambda",
                "how far ahead `learner.search_value_share` looks: 0 takes the position's own \
                search, 1 the outcome, and in between a mean over the searches that follow",
            ),
            d.value_lambda,
            SHARE,
        ),
    }
}

#[allow(clippy::too_many_lines, reason = "a table, one entry for each key")]
pub(super) fn learner(r: &mut Reader<'_>, d: learner::Options) -> learner::Options {
    let rate = Bounds::within(0.0, 10.0);
    learner::Options {
        batch: r.whole(("batch", "positions in a step"), d.batch, 2..=1_048_576),
        steps_per_publish: r.whole(
            ("steps_per_publish", "steps between two nets that the actors get"),
            d.steps_per_publish,
            1..=1_000_000,
        ),
        optimizer: r.choice(
            ("optimizer", "the rule that turns gradients into steps"),
            d.optimizer,
            learner::OptimizerKind::ALL,
            learner::OptimizerKind::name,
        ),
        learning_rate: r.stairs(
            ("learning_rate", "pairs [positions made, learning rate from then on]"),
            d.learning_rate,
            "a list of pairs [whole number, number from 0 to 10] whose first numbers \
                rise from 0, such as [[0, 0.02], [1000000, 0.002]]"
                .into(),
            true,
            |value, allowed| read_number(value, rate, allowed),
        ),
        momentum: r.number(("momentum", "momentum of `sgd`"), d.momentum, Bounds::below(0.0, 1.0)),
        weight_decay: r.number(
            (
                "weight_decay",
                "pull of the weights towards 0 in each step, times the \
                learning rate",
            ),
            d.weight_decay,
            SHARE,
        ),
        ema: r.number(
            (
                "ema",
                "share of the old value in the averaged weights that play, per \
                step; 0 plays the newest",
            ),
            d.ema,
            Bounds::below(0.0, 1.0),
        ),
        search_value_share: r.single(
            (
                "search_value_share",
                "share of the search's value in the value target; \
                the rest is the outcome",
            ),
            d.search_value_share,
            SHARE,
        ),
        policy_weight: r.number(
            ("policy_weight", "weight of the policy loss"),
            d.policy_weight,
            WEIGHT,
        ),
        value_weight: r.number(
            ("value_weight", "weight of the value loss"),
            d.value_weight,
            WEIGHT,
        ),
        score_weight: r.number(
            ("score_weight", "weight of the loss on the final disc difference"),
            d.score_weight,
            WEIGHT,
        ),
        owner_weight: r.number(
            ("owner_weight", "weight of the loss on the squares' final owners"),
            d.owner_weight,
            WEIGHT,
        ),
        gradient_clip: r.number(
            (
                "gradient_clip",
                "the largest norm of a gradient, longer ones are \
                shortened to it; 0 is off",
            ),
            d.gradient_clip,
            Bounds::within(0.0, 1e6),
        ),
        backend: r.choice(
            (
                "backend",
                "code that computes gradients; \"auto\" is this program's on a processor, \
                for residual nets; for \"bf16\" it must have AMX, and channels be a multiple of 32",
            ),
            d.backend,
            learner::Backend::ALL,
            learner::Backend::name,
        ),
        precision: r.choice(
            (
                "precision",
                "number format of convolutions and of what lies between them, in libtorch of the \
                whole pass; \"auto\" is bf16 on AMX, the weights stay float32",
            ),
            d.precision,
            learner::Precision::ALL,
            learner::Precision::name,
        ),
        loss_limit: r.number(
            ("loss_limit", "a loss above this, or one that is no number, stops the run"),
            d.loss_limit,
            Bounds::above(0.0, 1e9),
        ),
        warmup_steps: r.whole(
            (
                "warmup_steps",
                "steps over which the learning rate rises from 0 at the \
                start of a run",
            ),
            d.warmup_steps,
            0..=MOST,
        ),
        cooldown: r.number(
            (
                "cooldown",
                "the last share of a run (of the limit that is nearest) in which the learning rate \
                falls to a twentieth; 0 is off",
            ),
            d.cooldown,
            Bounds::within(0.0, 1.0),
        ),
        augment: r.flag(
            ("augment", "whether each sample is turned by a random symmetry of the board"),
            d.augment,
        ),
    }
}
