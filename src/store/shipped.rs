//! The files that come with the program: models by board and goal, and configurations.

use std::path::{Path, PathBuf};

use crate::game::{Goal, Shape};

/// The folder of the models in the source tree.
pub const FOLDER: &str = "checkpoints";

/// The folder of the net that learnt a board and goal from nothing, such as `checkpoints/6x6` or
/// `checkpoints/8x8-fewest`, looked for as [`folder`] does. `None` if there is no such folder.
pub fn net(shape: Shape, goal: Goal) -> Option<PathBuf> {
    model(&of_board(shape, goal))
}

/// The folder of the strongest net for a board and goal: one that reads evaluations, or [`net`].
/// `None` if there is none.
///
/// ```
/// use outflank::game::{Goal, Shape};
/// use outflank::store::shipped;
///
/// let net = shipped::strongest_net(Shape::Square8, Goal::Most).expect("it is shipped");
/// assert!(net.ends_with("checkpoints/8x8-small"));
/// let net = shipped::strongest_net(Shape::Square7, Goal::Most).expect("it is shipped");
/// assert!(net.ends_with("checkpoints/7x7"));
/// ```
pub fn strongest_net(shape: Shape, goal: Goal) -> Option<PathBuf> {
    model(&format!("{}-small", of_board(shape, goal))).or_else(|| net(shape, goal))
}

/// The folder of the evaluator by patterns for a board and goal, such as
/// `checkpoints/patterns-8x8`, looked for as [`net`] is. `None` if there is none.
pub fn patterns(shape: Shape, goal: Goal) -> Option<PathBuf> {
    model(&format!("patterns-{}", of_board(shape, goal)))
}

/// The folder of the net over patterns for a board and goal, such as `checkpoints/patternnet-8x8`,
/// looked for as [`net`] is. `None` if there is none.
pub fn patternnet(shape: Shape, goal: Goal) -> Option<PathBuf> {
    model(&format!("patternnet-{}", of_board(shape, goal)))
}

/// The folder of the strongest evaluator for a board and goal: a net over patterns, patterns, or a
/// linear one that beats the positional one (docs/ntuple.md, docs/stages.md, docs/td.md). `None` if
/// there is none.
///
/// ```
/// use outflank::game::{Goal, Shape};
/// use outflank::store::shipped;
///
/// let patterns = shipped::evaluator(Shape::Square6, Goal::Most).expect("it is shipped");
/// assert!(patterns.ends_with("checkpoints/patterns-6x6"));
/// assert_eq!(shipped::evaluator(Shape::Square7, Goal::Fewest), None);
/// ```
pub fn evaluator(shape: Shape, goal: Goal) -> Option<PathBuf> {
    let linear = || match (shape, goal) {
        (Shape::Octagon88, Goal::Most) => model("stages-octagon88"),
        (Shape::Cross92, Goal::Most) => model("perversi"),
        _ => None,
    };
    patternnet(shape, goal).or_else(|| patterns(shape, goal)).or_else(linear)
}

fn of_board(shape: Shape, goal: Goal) -> String {
    match goal {
        Goal::Most => shape.name().to_string(),
        Goal::Fewest => format!("{shape}-{goal}"),
    }
}

fn model(name: &str) -> Option<PathBuf> {
    folder(&format!("{FOLDER}/{name}"))
}

/// A folder that comes with the program, such as `configs` or `checkpoints/8x8`. It is looked for in
/// the current directory, then in the package of which the program is a part (two folders above the
/// program), then in the source tree from which it was built. `None` if it is nowhere.
pub fn folder(name: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().unwrap_or_default();
    let package = program.parent().and_then(Path::parent);
    let places = [Some(Path::new(".")), package, Some(Path::new(env!("CARGO_MANIFEST_DIR")))];
    places.into_iter().flatten().map(|place| place.join(name)).find(|folder| folder.is_dir())
}
