//! Search trees compared with a stored file, so that no change alters them unnoticed.
//!
//! `UPDATE_GOLDEN=1 cargo test --test mcts golden` writes the file again.

use std::fmt::Write as _;
use std::path::Path;

use outflank::dispatch;
use outflank::game::{Geometry, Goal, Shape};
use outflank::search::mcts::{Mode, Options, Root};

use crate::common::{hashed, random, random_board, searched, without_solver};

fn describe<G: Geometry>(goal: Goal, root: Root, empties: u32, out: &mut String) {
    let board = random_board::<G>(&mut random(empties as u64), empties);
    let options = Options { root, solve_empties: 6, ..without_solver(120) };
    let mut search = searched(board, goal, &options, Mode::Explore, hashed);
    let policy = search.policy().to_vec();
    let tree = search.tree();
    let line = |square| outflank::game::notation::square_name::<G>(square);
    let variation: Vec<_> = tree.principal_variation(6).into_iter().map(line).collect();
    let (lower, upper) = tree.bounds();
    writeln!(
        out,
        "{} {goal} {root} {board:?}\n  visits {} utility {:.4} value {:.4} bounds {lower} {upper} line {}",
        G::SHAPE,
        tree.visits(),
        tree.root_utility(),
        tree.root_value(),
        variation.join(" "),
    )
    .expect("a string");
    for (stats, share) in tree.root_moves().zip(&policy) {
        writeln!(
            out,
            "  {} visits {} prior {:.4} utility {:.4} bounds {} {} policy {share:.4}",
            line(stats.square),
            stats.visits,
            stats.prior,
            stats.utility.unwrap_or(f32::NAN),
            stats.lower,
            stats.upper,
        )
        .expect("a string");
    }
}

#[test]
fn golden_trees() {
    let mut out = String::new();
    for shape in [Shape::Square8, Shape::Square6, Shape::Cross92] {
        for goal in [Goal::Most, Goal::Fewest] {
            for root in [Root::Puct, Root::Gumbel] {
                for empties in [9, 25] {
                    dispatch!(shape, G => describe::<G>(goal, root, empties, &mut out));
                }
            }
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcts/golden.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &out).expect("the golden file can be written");
    }
    let wanted = std::fs::read_to_string(&path).expect("the golden file");
    for (got, wanted) in out.lines().zip(wanted.lines()) {
        assert_eq!(got, wanted);
    }
    assert_eq!(out.lines().count(), wanted.lines().count());
}
