//! The keys of `[replay]` and `[learner]`.

use super::SHARE;
use crate::config::reader::{Bounds, MAX_WHOLE, Reader, read_number};
use crate::train::{learner, replay};

/// Offsets into the replay window's policies have 32 bits, so the policies must stay below 4 GiB.
/// Those of this many positions do.
const MAX_POSITIONS: u64 = 100_000_000;

const WEIGHT: Bounds = Bounds::within(0.0, 1000.0);

#[allow(clippy::too_many_lines, reason = "a table, one entry for each key")]
pub(super) fn replay(r: &mut Reader<'_>, d: replay::Options) -> replay::Options {
    replay::Options {
        min_positions: r.whole(
            ("min_positions", "positions in the replay window before training starts"),
            d.min_positions,
            1..=MAX_WHOLE,
        ),
        max_positions: r.whole(
            (
                "max_positions",
                "the largest size of the replay window, in positions of at most 100 bytes each",
            ),
            d.max_positions,
            1..=MAX_POSITIONS,
        ),
        growth_exponent: r.number(
            (
                "growth_exponent",
                "the window grows as this power of the positions played so far; with 1 it keeps \
                all of them up to `max_positions`",
            ),
            d.growth_exponent,
            Bounds::above(0.0, 1.0),
        ),
        growth_start: r.whole(
            ("growth_start", "up to this many positions the window keeps all of them"),
            d.growth_start,
            1..=MAX_WHOLE,
        ),
        ratio: r.number(
            (
                "ratio",
                "training samples for each new position, at least; below this the actors wait for \
                the learner",
            ),
            d.ratio,
            Bounds::above(0.0, 1000.0),
        ),
        ratio_max: r.number(
            (
                "ratio_max",
                "training samples for each new position, at most; above this the learner waits for \
                the actors. 0 means the same as `ratio`: then a run with one actor on a CPU is \
                reproducible, unless a cooldown depends on the time",
            ),
            d.ratio_max,
            Bounds::within(0.0, 1000.0),
        ),
        skip_empties: r.whole(
            (
                "skip_empties",
                "positions with at most this many empty squares are not trained on, because the \
                solver plays them; at most `search.solve_leaves` and `search.solve_empties`",
            ),
            d.skip_empties,
            0..=20,
        ),
        value_lambda: r.single(
            (
                "value_lambda",
                "lambda of the return in the value target (see `learner.search_value_share`): 0 \
                takes the value of the position's own search, 1 the game's result, and a number \
                between them a weighted mean over the later searches",
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
        batch: r.whole(
            ("batch", "batch size: positions in a training step"),
            d.batch,
            2..=1_048_576,
        ),
        steps_per_publish: r.whole(
            ("steps_per_publish", "the actors get a new net after this many training steps"),
            d.steps_per_publish,
            1..=1_000_000,
        ),
        optimizer: r.choice(
            ("optimizer", "the optimizer"),
            d.optimizer,
            learner::OptimizerKind::ALL,
            learner::OptimizerKind::name,
        ),
        learning_rate: r.schedule(
            ("learning_rate", "pairs [positions played so far, learning rate from there on]"),
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
                "how strongly each step pulls the weights towards 0, times the learning rate",
            ),
            d.weight_decay,
            SHARE,
        ),
        ema: r.number(
            (
                "ema",
                "decay of the moving average of the weights, per step; the average plays. 0 plays \
                the newest weights",
            ),
            d.ema,
            Bounds::below(0.0, 1.0),
        ),
        search_value_share: r.single(
            (
                "search_value_share",
                "share of the search's value in the value target; the rest is the game's result",
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
        backend: r.choice(
            (
                "backend",
                "the code that computes gradients; \"auto\" takes this program's own kernels for \
                residual nets on a CPU, else libtorch. For \"bf16\" these kernels need AMX and a \
                multiple of 32 channels",
            ),
            d.backend,
            learner::Backend::ALL,
            learner::Backend::name,
        ),
        precision: r.choice(
            (
                "precision",
                "number format of the convolutions and the activations between them, with libtorch \
                of the whole pass; \"auto\" is bf16 where the device is fast at it, as with AMX. \
                The weights are always float32",
            ),
            d.precision,
            learner::Precision::ALL,
            learner::Precision::name,
        ),
        loss_limit: r.number(
            ("loss_limit", "a loss above this, or not finite, stops the run"),
            d.loss_limit,
            Bounds::above(0.0, 1e9),
        ),
        warmup_steps: r.whole(
            (
                "warmup_steps",
                "training steps in which the learning rate rises from 0 at the start of a run",
            ),
            d.warmup_steps,
            0..=MAX_WHOLE,
        ),
        cooldown: r.number(
            (
                "cooldown",
                "in this last share of the run (of its nearest limit) the learning rate falls to a \
                twentieth; 0 means off",
            ),
            d.cooldown,
            Bounds::within(0.0, 1.0),
        ),
        augment: r.flag(
            ("augment", "whether a random symmetry of the board is applied to each sample"),
            d.augment,
        ),
    }
}
