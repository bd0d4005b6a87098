//! The rules for GoGui, which shows any game whose program answers these commands (GoGui manual,
//! chapter "Rules").

use super::{Answer, Server};
use crate::game::notation::{obf, square_name};
use crate::game::{Colour, Geometry};

/// The name of the game for `list_games`, `set_game` and GoGui.
pub const GAME: &str = "Othello";

/// The commands of this file.
pub const COMMANDS: &[&str] = &[
    "gogui-rules_board",
    "gogui-rules_board_size",
    "gogui-rules_final_result",
    "gogui-rules_game_id",
    "gogui-rules_legal_moves",
    "gogui-rules_side_to_move",
];

impl<G: Geometry> Server<'_, G> {
    /// The answer to one of [`COMMANDS`].
    pub(super) fn rules(&self, command: &str) -> Answer {
        if G::SQUARES != G::WIDTH * G::WIDTH {
            return Err(format!("GoGui has no board for {}", G::SHAPE));
        }
        Ok(match command {
            "gogui-rules_game_id" => GAME.into(),
            "gogui-rules_board_size" => G::WIDTH.to_string(),
            "gogui-rules_board" => self.rows(),
            "gogui-rules_legal_moves" => self.legal_moves(),
            "gogui-rules_side_to_move" => self.side_to_move().to_string(),
            _ if self.session.is_over() => self.result(),
            _ => String::new(),
        })
    }

    /// The rows of the board, the last one first: GoGui counts rows from below.
    fn rows(&self) -> String {
        let line = obf(self.session.position());
        let marks: Vec<u8> = line.bytes().take(G::SQUARES).collect();
        let of_row = |row: &[u8]| {
            let shown = |mark: &u8| {
                if *mark == b'-' {
                    "."
                } else if *mark == b'X' {
                    "X"
                } else {
                    "O"
                }
            };
            row.iter().map(shown).collect::<Vec<_>>().join(" ")
        };
        let rows: Vec<String> = marks.chunks(G::WIDTH).rev().map(of_row).collect();
        format!("\n{}", rows.join("\n"))
    }

    /// The side to move, which may have to pass.
    fn side_to_move(&self) -> Colour {
        self.session.unannounced_pass().unwrap_or(self.session.position().side)
    }

    fn legal_moves(&self) -> String {
        if self.session.is_over() {
            return String::new();
        }
        if self.session.unannounced_pass().is_some() {
            return "pass".into();
        }
        let legal = self.session.position().board.legal();
        legal
            .map(|square| square_name::<G>(square).to_ascii_uppercase())
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn result(&self) -> String {
        match self.session.black_view().final_score(self.goal) {
            0 => "Draw".into(),
            score @ 1.. => format!("Black wins by {score}"),
            score => format!("White wins by {}", -score),
        }
    }
}
