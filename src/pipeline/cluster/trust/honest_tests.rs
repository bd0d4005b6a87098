//! Games that self-play has played pass all checks.

use std::path::Path;

use proptest::prelude::*;

use super::fixtures::{Table, facts, play, settings};
use super::{Facts, check};
use crate::config::Config;
use crate::game::{Geometry, Shape};
use crate::pipeline::selfplay_settings;
use crate::store::games;
use crate::train::game::SelfPlaySettings;

/// Checks that games of these settings pass. Returns how many exact scores they have before the
/// solver plays.
fn games_pass<G: Geometry>(settings: &SelfPlaySettings, salt: u64) -> usize {
    let numbers = salt % 5000..salt % 5000 + 4;
    let mut proven = 0;
    for game in play::<G>(settings, &mut Table::new::<G>(salt), numbers) {
        let checked = check(&game, &facts(G::SHAPE, settings));
        let checked = checked.unwrap_or_else(|refusal| panic!("{refusal}: {game:?}"));
        assert_eq!(checked.opening, usize::from(game.opening_moves));
        proven += checked.exact - (game.moves.len() - checked.played_out);
    }
    proven
}

fn a_configuration() -> impl Strategy<Value = String> {
    let search = (
        prop_oneof![Just("puct"), Just("gumbel")],
        1..40u32,
        0..9u32,
        0..9u32,
        any::<[bool; 3]>(),
        prop_oneof![Just("0.0"), Just("0.5"), Just("1.0"), Just("3.0")],
        0..2u32,
    );
    let selfplay = (
        prop_oneof![Just("0.25"), Just("1.0")],
        prop_oneof![Just("random"), Just("policy")],
        0..31u32,
    );
    (any::<bool>(), any::<u32>(), search, selfplay).prop_map(|(fewest, seed, search, selfplay)| {
        let (root, simulations, empties, leaves, [prune, temper, reuse], late, growth) = search;
        let (full_share, opening, plies) = selfplay;
        let goal = if fewest { "fewest" } else { "most" };
        format!(
            "goal = \"{goal}\"\nseed = {seed}\n[search]\nroot = \"{root}\"\n\
             simulations = {simulations}\nsolve_empties = {empties}\nsolve_leaves = {}\n\
             solve_growth = {growth}.0\nprune_noise = {}\ntempered_targets = {temper}\n\
             tree_reuse = {reuse}\ntemperature_late = {late}\n[selfplay]\n\
             fast_simulations = {}\nfull_share = {full_share}\nopening = \"{opening}\"\nopening_plies = {plies}\n",
            leaves.min(empties),
            prune && !temper,
            simulations.min(3)
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn games_of_all_settings_and_boards_pass(text in a_configuration(), salt in any::<u64>()) {
        for shape in Shape::ALL {
            let settings = settings(shape, &text);
            dispatch!(shape, G => games_pass::<G>(&settings, salt));
        }
    }
}

/// So that the checks of exact scores before the solver plays are not vacuous.
#[test]
fn searches_prove_exact_scores() {
    let text = "[search]\nsimulations = 60\nsolve_empties = 8\nsolve_leaves = 8";
    let proven: usize = (0..5)
        .map(|salt| {
            let settings = settings(Shape::Square6, text);
            games_pass::<crate::game::Square6>(&settings, salt)
        })
        .sum();
    assert!(proven >= 5, "{proven}");
}

/// The games of a recorded run.
#[test]
fn games_of_a_stored_run_pass() {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run-1");
    let text = std::fs::read_to_string(run.join("config.toml")).expect("a configuration");
    let config = Config::parse_stored("config.toml", &text, &[]).expect("a configuration");
    let settings = selfplay_settings(&config);
    let facts = Facts { has_net: &|version| version < 1000, ..facts(config.board, &settings) };
    let mut count = 0;
    for game in games::read_all(&run.join("games")).expect("games") {
        let mut game = game.expect("a record");
        // The version that stored them wrote 0 for the unknown values of an opening.
        for played in &mut game.moves[..usize::from(game.opening_moves)] {
            assert_eq!(played.value.take(), Some(0.0));
        }
        let checked = check(&game, &facts);
        assert!(checked.is_ok(), "{}: {game:?}", checked.unwrap_err());
        count += 1;
    }
    assert!(count >= 24, "{count}");
}
