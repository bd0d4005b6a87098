//! The default opponent of people and of other programs.

use crate::game::{Goal, Shape};
use crate::store::shipped;

use super::spec::{AlphaBetaSpec, NetPlayerSpec, PlayerKind, PlayerSpec, ThinkingLimit};

/// Simulations of a net that plays against people.
const SIMULATIONS: u32 = 1600;
/// Search depth of the alpha-beta player if there is no net.
const DEPTH_WITHOUT_NET: u32 = 8;

/// The default opponent for a board and goal: the strongest net that comes with the program, or an
/// alpha-beta player.
///
/// ```
/// use outflank::game::{Goal, Shape};
/// use outflank::players::shipped;
/// use outflank::players::spec::PlayerKind;
///
/// let spec = shipped::opponent(Shape::Square8, Goal::Most);
/// assert!(matches!(spec.kind, PlayerKind::Net(_)), "{spec}");
/// ```
pub fn opponent(shape: Shape, goal: Goal) -> PlayerSpec {
    let kind = match shipped::strongest_net(shape, goal) {
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
    use std::path::Path;

    use super::*;
    use crate::players::models::LoadedModel;

    #[test]
    fn every_shipped_net_is_for_the_board_and_goal_of_its_name() {
        let mut found = Vec::new();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(shipped::FOLDER);
        for entry in std::fs::read_dir(folder).expect("the folder of nets") {
            let folder = entry.expect("a file").path();
            if !folder.is_dir() {
                continue;
            }
            let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
            // Evaluators are named by their method first.
            let methods =
                ["stages-", "patterns-", "patternnet-", "ntuple-", "onehot384-", "onehot512-"];
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
        let evaluators = [
            "ntuple-8x8",
            "onehot384-8x8",
            "onehot512-8x8",
            "patternnet-8x8",
            "patterns-6x6",
            "patterns-6x6-fewest",
            "patterns-7x7",
            "patterns-8x8",
            "patterns-8x8-fewest",
            "perversi",
            "stages-8x8",
            "stages-octagon88",
        ];
        let mut wanted = [&nets[..], &evaluators].concat();
        wanted.sort_unstable();
        assert_eq!(found, wanted);
        assert_eq!(shipped::evaluator(Shape::Square7, Goal::Fewest), None);
        let strongest = shipped::evaluator(Shape::Square8, Goal::Most).expect("a model");
        assert!(strongest.ends_with("checkpoints/patternnet-8x8"), "{}", strongest.display());
        assert!(Shape::ALL.iter().all(|&shape| shipped::net(shape, Goal::Most).is_some()));
    }
}
