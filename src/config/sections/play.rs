//! The keys of `[search]` and `[selfplay]`.

use super::{SHARE, SIMULATIONS};
use crate::config::reader::{Bounds, Reader, read_whole};
use crate::search::mcts;
use crate::train::selfplay;

#[allow(clippy::too_many_lines, reason = "a table, one entry for each key")]
pub(super) fn search(r: &mut Reader<'_>, d: mcts::Options) -> mcts::Options {
    mcts::Options {
        root: r.choice(
            ("root", "how the root divides its simulations among the moves"),
            d.root,
            mcts::Root::ALL,
            mcts::Root::name,
        ),
        simulations: r.whole(
            ("simulations", "simulations of a full search"),
            d.simulations,
            SIMULATIONS,
        ),
        c_puct: r.single(
            ("c_puct", "weight of the prior against the value in PUCT"),
            d.c_puct,
            Bounds::within(0.0, 100.0),
        ),
        first_play: r.choice(
            (
                "first_play",
                "what an unvisited move is taken to be worth: its parent's \
                mean less `fpu_reduction`, or 0",
            ),
            d.first_play,
            mcts::FirstPlay::ALL,
            mcts::FirstPlay::name,
        ),
        fpu_reduction: r.single(
            (
                "fpu_reduction",
                "how much worse than its parent an unvisited move is \
                taken to be, in units of value",
            ),
            d.fpu_reduction,
            Bounds::within(0.0, 2.0),
        ),
        spread_scale: r.single(
            (
                "spread_scale",
                "how far `c_puct` and `fpu_reduction` are proportional to the deviation of the \
                utilities behind a position, 0 not at all; at a deviation of 0.4 they are as given",
            ),
            d.spread_scale,
            Bounds::within(0.0, 1.0),
        ),
        prior_temperature: r.single(
            (
                "prior_temperature",
                "priors are the net's policy to the power of 1 / `prior_temperature`: evener above 1",
            ),
            d.prior_temperature,
            Bounds::within(0.1, 10.0),
        ),
        dirichlet_total: r.single(
            (
                "dirichlet_total",
                "sum of the Dirichlet noise's parameters over a \
                position's moves",
            ),
            d.dirichlet_total,
            Bounds::above(0.0, 1000.0),
        ),
        dirichlet_share: r.single(
            (
                "dirichlet_share",
                "the noise's share in the root's priors in self-play; 0 \
                is off",
            ),
            d.dirichlet_share,
            SHARE,
        ),
        prune_noise: r.flag(
            (
                "prune_noise",
                "whether the policy that is learnt leaves out visits that noise alone has earned",
            ),
            d.prune_noise,
        ),
        tempered_targets: r.flag(
            (
                "tempered_targets",
                "whether the policy that is learnt is what the move is drawn from, \
                visits^(1/temperature), and not the visits",
            ),
            d.tempered_targets,
        ),
        temperature: r.single(
            (
                "temperature",
                "moves are drawn with probability ~ visits^(1/temperature); \
                0 takes the most visited",
            ),
            d.temperature,
            Bounds::within(0.0, 10.0),
        ),
        temperature_plies: r.whole(
            (
                "temperature_plies",
                "plies from the start of a game that `temperature` \
                holds for",
            ),
            d.temperature_plies,
            0..=100,
        ),
        temperature_late: r.single(
            ("temperature_late", "the temperature of later moves"),
            d.temperature_late,
            Bounds::within(0.0, 10.0),
        ),
        tree_reuse: r.flag(
            ("tree_reuse", "whether the played move's subtree is kept for the next search"),
            d.tree_reuse,
        ),
        gumbel_considered: r.whole(
            ("gumbel_considered", "moves that a Gumbel root starts with"),
            d.gumbel_considered,
            1..=128,
        ),
        gumbel_c_visit: r.single(
            (
                "gumbel_c_visit",
                "visits added to the most visited move's when a Gumbel \
                root scales values",
            ),
            d.gumbel_c_visit,
            Bounds::within(0.0, 1e6),
        ),
        gumbel_c_scale: r.single(
            ("gumbel_c_scale", "scale of a value against a logit at a Gumbel root"),
            d.gumbel_c_scale,
            Bounds::within(0.0, 1000.0),
        ),
        solve_empties: r.whole(
            (
                "solve_empties",
                "positions of a game with at most this many empty squares are \
                solved exactly; 0 is off",
            ),
            d.solve_empties,
            0..=20,
        ),
        solve_leaves: r.whole(
            (
                "solve_leaves",
                "leaves of the tree with at most this many empty squares are \
                solved exactly, up to `solve_empties`",
            ),
            d.solve_leaves,
            0..=20,
        ),
        solve_growth: r.single(
            (
                "solve_growth",
                "empty squares by which `solve_leaves` rises for a position of the tree each time \
                that its simulations double, up to `solve_empties`",
            ),
            d.solve_growth,
            Bounds::within(0.0, 4.0),
        ),
        wipeout_nodes: r.whole(
            (
                "wipeout_nodes",
                "positions looked at, at a leaf where a side has at most 3 discs, for the forced \
                loss of its last one; 0 is off. Only where the most discs win",
            ),
            d.wipeout_nodes,
            0..=1_000_000,
        ),
        score_weight: r.single(
            (
                "score_weight",
                "share of the final disc difference in the utility that is \
                backed up",
            ),
            d.score_weight,
            SHARE,
        ),
        score_empties: r.whole(
            (
                "score_empties",
                "with at most this many empty squares at the root the utility is the final disc \
                difference alone; 0 is off",
            ),
            d.score_empties,
            0..=92,
        ),
    }
}

#[allow(clippy::too_many_lines, reason = "a table, one entry for each key")]
pub(super) fn selfplay(r: &mut Reader<'_>, d: selfplay::Options) -> selfplay::Options {
    selfplay::Options {
        actors: r.whole(("actors", "threads that play games"), d.actors, 1..=1024),
        games_per_actor: r.whole(
            (
                "games_per_actor",
                "games that one actor plays at a time, and so its \
                largest batch",
            ),
            d.games_per_actor,
            1..=65536,
        ),
        full_share: r.single(
            (
                "full_share",
                "share of the moves that get a full search and give a policy \
                to learn",
            ),
            d.full_share,
            Bounds::above(0.0, 1.0),
        ),
        fast_simulations: r.whole(
            ("fast_simulations", "simulations of the other moves"),
            d.fast_simulations,
            SIMULATIONS,
        ),
        opening: r.choice(
            ("opening", "how the first moves are drawn: uniformly, or from the net's policy"),
            d.opening,
            selfplay::Opening::ALL,
            selfplay::Opening::name,
        ),
        opening_plies: r.whole(
            ("opening_plies", "the most such moves; each game draws a number from 0 to this"),
            d.opening_plies,
            0..=60,
        ),
        opening_temperature: r.single(
            ("opening_temperature", "temperature of the policy in such moves"),
            d.opening_temperature,
            Bounds::above(0.0, 10.0),
        ),
        resign_below: r.single(
            ("resign_below", "a side whose value stays below this resigns; -1 is never"),
            d.resign_below,
            Bounds::within(-1.0, 0.0),
        ),
        resign_plies: r.whole(
            ("resign_plies", "for how many of its own moves in a row"),
            d.resign_plies,
            1..=60,
        ),
        resign_playout_share: r.single(
            (
                "resign_playout_share",
                "share of the games that are played out all the \
                same, to count wrong resignations",
            ),
            d.resign_playout_share,
            SHARE,
        ),
        ramp: r.stairs(
            (
                "ramp",
                "pairs [positions made, simulations of a full search from then \
                on]; before the first, `search.simulations`",
            ),
            d.ramp,
            "a list of pairs [whole number, whole number from 1 to 1000000] whose first \
                numbers rise, such as [[0, 16], [200000, 64]]"
                .into(),
            false,
            |value, allowed| read_whole(value, &SIMULATIONS, allowed),
        ),
    }
}
