//! The keys of `[search]` and `[selfplay]`.

use super::{SHARE, SIMULATIONS};
use crate::config::reader::{Bounds, Reader, read_whole};
use crate::search::mcts;
use crate::train::selfplay;

#[allow(clippy::too_many_lines, reason = "a table, one entry for each key")]
pub(super) fn search(r: &mut Reader<'_>, d: mcts::Options) -> mcts::Options {
    mcts::Options {
        root: r.choice(
            ("root", "how the root distributes simulations over its moves"),
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
                "the value assumed for an unvisited move: its parent's mean less `fpu_reduction` \
                (\"parent\"), or 0 (\"zero\")",
            ),
            d.first_play,
            mcts::FirstPlay::ALL,
            mcts::FirstPlay::name,
        ),
        fpu_reduction: r.single(
            (
                "fpu_reduction",
                "how much worse than its parent an unvisited move is assumed to be, in units of \
                value",
            ),
            d.fpu_reduction,
            Bounds::within(0.0, 2.0),
        ),
        spread_scale: r.single(
            (
                "spread_scale",
                "how strongly `c_puct` and `fpu_reduction` scale with the standard deviation of \
                the utilities below a position: 0 not at all, 1 in proportion. At a deviation of \
                0.4 they are as given",
            ),
            d.spread_scale,
            Bounds::within(0.0, 1.0),
        ),
        prior_temperature: r.single(
            (
                "prior_temperature",
                "priors are the net's policy to the power of 1 / `prior_temperature`: above 1 \
                they are more even",
            ),
            d.prior_temperature,
            Bounds::within(0.1, 10.0),
        ),
        dirichlet_total: r.single(
            ("dirichlet_total", "sum of the Dirichlet noise's parameters over all legal moves"),
            d.dirichlet_total,
            Bounds::above(0.0, 1000.0),
        ),
        dirichlet_share: r.single(
            (
                "dirichlet_share",
                "share of the noise in the root's priors in self-play; 0 means off",
            ),
            d.dirichlet_share,
            SHARE,
        ),
        prune_noise: r.flag(
            (
                "prune_noise",
                "whether policy targets leave out the visits that come from noise alone",
            ),
            d.prune_noise,
        ),
        tempered_targets: r.flag(
            (
                "tempered_targets",
                "whether policy targets are the distribution that the move is drawn from, \
                visits^(1/temperature), instead of the visits",
            ),
            d.tempered_targets,
        ),
        temperature: r.single(
            (
                "temperature",
                "moves are drawn with probability ~ visits^(1/temperature); 0 plays the most \
                visited move",
            ),
            d.temperature,
            Bounds::within(0.0, 10.0),
        ),
        temperature_plies: r.whole(
            (
                "temperature_plies",
                "how many plies from the start of a game `temperature` applies to",
            ),
            d.temperature_plies,
            0..=100,
        ),
        temperature_late: r.single(
            ("temperature_late", "the temperature of all later moves"),
            d.temperature_late,
            Bounds::within(0.0, 10.0),
        ),
        tree_reuse: r.flag(
            ("tree_reuse", "whether the next search keeps the subtree of the played move"),
            d.tree_reuse,
        ),
        gumbel_considered: r.whole(
            ("gumbel_considered", "how many moves a Gumbel root samples"),
            d.gumbel_considered,
            1..=128,
        ),
        gumbel_c_visit: r.single(
            (
                "gumbel_c_visit",
                "visits that a Gumbel root adds to those of the most visited move when it scales \
                values",
            ),
            d.gumbel_c_visit,
            Bounds::within(0.0, 1e6),
        ),
        gumbel_c_scale: r.single(
            ("gumbel_c_scale", "factor in a Gumbel root's scale of values against logits"),
            d.gumbel_c_scale,
            Bounds::within(0.0, 1000.0),
        ),
        solve_empties: r.whole(
            (
                "solve_empties",
                "positions of a game with at most this many empty squares are solved exactly; 0 \
                switches all solving off",
            ),
            d.solve_empties,
            0..=20,
        ),
        solve_leaves: r.whole(
            (
                "solve_leaves",
                "leaves of the tree with at most this many empty squares are solved exactly, up to \
                `solve_empties`",
            ),
            d.solve_leaves,
            0..=20,
        ),
        solve_growth: r.single(
            (
                "solve_growth",
                "how many empty squares `solve_leaves` grows by, each time that the visits of a \
                node double, up to `solve_empties`",
            ),
            d.solve_growth,
            Bounds::within(0.0, 4.0),
        ),
        wipeout_nodes: r.whole(
            (
                "wipeout_nodes",
                "the most positions in the search for a forced wipe-out, at a leaf where a side \
                has at most 3 discs; 0 means off. Only for the goal `most`",
            ),
            d.wipeout_nodes,
            0..=1_000_000,
        ),
        score_weight: r.single(
            (
                "score_weight",
                "weight of the final disc difference in the utility that is backed up; the value \
                has the rest",
            ),
            d.score_weight,
            SHARE,
        ),
        score_empties: r.whole(
            (
                "score_empties",
                "with at most this many empty squares at the root, the utility is the final disc \
                difference alone; 0 means off",
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
                "games that an actor plays at the same time; also the batch size of the net in \
                play",
            ),
            d.games_per_actor,
            1..=65536,
        ),
        full_share: r.single(
            ("full_share", "share of the moves with a full search; only these train the policy"),
            d.full_share,
            Bounds::above(0.0, 1.0),
        ),
        fast_simulations: r.whole(
            ("fast_simulations", "simulations of a fast search, for the other moves"),
            d.fast_simulations,
            SIMULATIONS,
        ),
        opening: r.choice(
            (
                "opening",
                "how the first moves of a game are drawn: uniformly, or from the net's policy",
            ),
            d.opening,
            selfplay::Opening::ALL,
            selfplay::Opening::name,
        ),
        opening_plies: r.whole(
            ("opening_plies", "the number of such moves is drawn uniformly from 0 to this"),
            d.opening_plies,
            0..=60,
        ),
        ramp: r.schedule(
            (
                "ramp",
                "pairs [positions played so far, simulations of a full search from there on]; \
                before the first pair `search.simulations` applies",
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
