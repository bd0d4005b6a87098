//! The nets and evaluators that come with the program, for each trained board and goal.

use std::path::{Path, PathBuf};

use super::spec::{
    AlphaBetaSpec, EvaluatorSource, NetPlayerSpec, PlayerKind, PlayerSpec, ThinkingLimit,
};
use crate::game::{Goal, Shape};

/// The folder of the nets in the source tree.
const FOLDER: &str = "checkpoints";
/// Simulations of a net that plays against people.
const SIMULATIONS: u32 = 1600;
/// Search depth of the alpha-beta player if there is no net.
const DEPTH_WITHOUT_NET: u32 = 8;

/// The folder of the net for a board and goal, such as `checkpoints/6x6` or
/// `checkpoints/8x8-fewest`. It is looked for in the current directory, then in the source tree
/// from which the program was built. `None` if there is no such folder.
pub fn net(shape: Shape, goal: Goal) -> Option<PathBuf> {
    folder(&of_board(shape, goal))
}

/// The best evaluator for a board and goal: the patterns that come with the program, such as
/// `checkpoints/patterns-8x8`, or the positional one.
pub fn evaluator(shape: Shape, goal: Goal) -> EvaluatorSource {
    let patterns = folder(&format!("patterns-{}", of_board(shape, goal)));
    patterns.map_or_else(EvaluatorSource::default, EvaluatorSource::Model)
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

/// The default opponent for a board and goal: the net that comes with the program, or an
/// alpha-beta player.
pub fn opponent(shape: Shape, goal: Goal) -> PlayerSpec {
    let kind = match net(shape, goal) {
        Some(folder) => PlayerKind::Net(NetPlayerSpec::new(folder, SIMULATIONS)),
        None => {
            let limit = ThinkingLimit::Depth(DEPTH_WITHOUT_NET);
            PlayerKind::AlphaBeta(AlphaBetaSpec { limit, ..AlphaBetaSpec::default() })
        }
    };
    kind.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::players::models::LoadedModel;

    #[test]
    fn every_shipped_net_is_for_the_board_and_goal_of_its_name() {
        let mut found = Vec::new();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
        for entry in std::fs::read_dir(folder).expect("the folder of nets") {
            let folder = entry.expect("a file").path();
            if !folder.is_dir() {
                continue;
            }
            let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
            // Evaluators are named by their method first.
            let methods = ["stages-", "patterns-"];
            let board = match methods.iter().find_map(|method| name.strip_prefix(method)) {
                Some(board) => board,
                None if name == "perversi" => "cross92",
                None => &name,
            };
            let (shape, kind) = board.split_once('-').unwrap_or((board, ""));
            let goal = if kind == "fewest" { Goal::Fewest } else { Goal::Most };
            let net = LoadedModel::read(&folder).expect("a whole net");
            net.for_match(shape.parse().expect("a board"), goal).expect("the net of that name");
            found.push(name);
        }
        found.sort();
        let nets =
            ["6x6", "7x7", "8x8", "8x8-fewest", "8x8-hour", "8x8-small", "cross92", "octagon88"];
        let evaluators = ["patterns-8x8", "perversi", "stages-8x8", "stages-octagon88"];
        assert_eq!(found, [&nets[..], &evaluators].concat());
        assert_eq!(evaluator(Shape::Square7, Goal::Fewest), EvaluatorSource::default());
        let patterns = evaluator(Shape::Square8, Goal::Most);
        assert!(patterns.to_string().ends_with("checkpoints/patterns-8x8"), "{patterns}");
        assert!(Shape::ALL.iter().all(|&shape| net(shape, Goal::Most).is_some()));
    }
}
