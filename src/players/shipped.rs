//! The nets that come with the program, one for each trained board and goal.

use std::path::{Path, PathBuf};

use super::spec::{AlphaBetaSpec, NetPlayerSpec, PlayerKind, PlayerSpec, ThinkingLimit};
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
    let name = match goal {
        Goal::Most => shape.name().to_string(),
        Goal::Fewest => format!("{shape}-{goal}"),
    };
    let places = [Path::new("."), Path::new(env!("CARGO_MANIFEST_DIR"))];
    let folders = places.map(|place| place.join(FOLDER).join(&name));
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
            // Linear evaluators are named by their method first.
            let board = match name.strip_prefix("stages-") {
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
        let evaluators = ["perversi", "stages-8x8", "stages-octagon88"];
        assert_eq!(found, [&nets[..], &evaluators].concat());
        assert!(Shape::ALL.iter().all(|&shape| net(shape, Goal::Most).is_some()));
    }
}
