//! The models that come with the program: their folders, by board and goal.

use std::path::{Path, PathBuf};

use crate::game::{Goal, Shape};

/// The folder of the models in the source tree.
pub const FOLDER: &str = "checkpoints";

/// The folder of the net for a board and goal, such as `checkpoints/6x6` or
/// `checkpoints/8x8-fewest`. It is looked for in the current directory, then in the source tree
/// from which the program was built. `None` if there is no such folder.
pub fn net(shape: Shape, goal: Goal) -> Option<PathBuf> {
    folder(&of_board(shape, goal))
}

/// The folder of the evaluator by patterns for a board and goal, such as
/// `checkpoints/patterns-8x8`, looked for as [`net`] is. `None` if there is none.
pub fn patterns(shape: Shape, goal: Goal) -> Option<PathBuf> {
    folder(&format!("patterns-{}", of_board(shape, goal)))
}

/// The folder of the strongest evaluator for a board and goal: patterns, or a linear one that beats
/// the positional one (docs/stages.md, docs/td.md). `None` if there is none.
pub fn evaluator(shape: Shape, goal: Goal) -> Option<PathBuf> {
    let linear = || match (shape, goal) {
        (Shape::Octagon88, Goal::Most) => folder("stages-octagon88"),
        (Shape::Cross92, Goal::Most) => folder("perversi"),
        _ => None,
    };
    patterns(shape, goal).or_else(linear)
}

fn of_board(shape: Shape, goal: Goal) -> String {
    match goal {
        Goal::Most => shape.name().to_string(),
        Goal::Fewest => format!("{shape}-{goal}"),
    }
}

fn folder(name: &str) -> Option<PathBuf> {
    let places = [Path::new("."), Path::new(env!("CARGO_MANIFEST_DIR"))];
    let folders = places.map(|place| place.join(FOLDER).join(name));
    folders.into_iter().find(|folder| folder.is_dir())
}
