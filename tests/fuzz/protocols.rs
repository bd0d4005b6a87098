//! The protocol servers: for any input, each line is answered and the server continues.

use std::io::Cursor;

use bolero::check;
use outflank::game::{Goal, Square6, Square8};
use outflank::players::kinds::{GreedyPlayer, RandomPlayer};
use outflank::protocol::{gtp, nboard};

use crate::input::Input;
use crate::limits::{is_short, within_memory};

/// The longest answer to a line, in characters: a board diagram, or the list of commands.
const LONGEST_ANSWER: usize = 2000;

#[test]
fn gtp_commands() {
    let seeds = [
        "1 boardsize 8\nclear_board\nplay black F5\n2 genmove w\nundo\nshowboard\nfinal_score\n",
        "outflank_set_position OX-------------------------------------------------------------- X\n\
         genmove black\ngenmove white\nplay white c1\ngenmove b\nundo\nundo\nfinal_score\nquit\n",
        "list_commands\nknown_command play\nname\nversion\nprotocol_version\nkomi 6.5\n\
         time_settings 300 0 0\ntime_left b 10 0\nreg_genmove b\n",
    ];
    let seeds: Vec<Vec<u8>> = seeds.iter().map(|text| text.as_bytes().to_vec()).collect();
    let words = [
        "\n",
        "play ",
        "genmove ",
        "black ",
        "w ",
        "pass",
        "undo\n",
        "f5",
        "d6",
        "quit\n",
        "boardsize ",
        "clear_board\n",
        "outflank_set_position ",
        "#",
        "\t",
        "showboard\n",
        "final_score\n",
        "reg_genmove ",
        "time_left ",
        "time_settings ",
    ];
    check!().with_iterations(3000).with_type::<Input>().for_each(|input| {
        let bytes = input.bytes(&seeds, &words);
        let mut output = Vec::new();
        within_memory(&bytes, || {
            gtp::serve::<Square8>(
                &mut RandomPlayer::new(1),
                Goal::Most,
                Cursor::new(bytes.clone()),
                &mut output,
            )
            .expect("memory does not fail");
        });
        let text = String::from_utf8(output).expect("text");
        let lines = bytes.split(|&byte| byte == b'\n').count();
        is_short(&text, LONGEST_ANSWER * lines);
        for answer in text.split_terminator("\n\n") {
            assert!(answer.starts_with(['=', '?']), "{answer}");
        }
    });
}

#[test]
fn nboard_commands() {
    let seeds = [
        "nboard 2\nset depth 8\nset game (;GM[Othello]PB[a]PW[b]TY[6]BO[6 --------------O*----*O-------------- *]B[B3];)\nmove C2\nping 3\ngo\nhint 4\nlearn\nquit\n",
        "set game (;GM[Othello]TY[6]BO[6 O*---------------------------------- *];)\ngo\nhint 2\nmove PA\nmove C1\n",
        "ping 1\nmove B3/1.5/0.2\nB4\nanalyze\nset contempt 0\nhint x\n",
    ];
    let seeds: Vec<Vec<u8>> = seeds.iter().map(|text| text.as_bytes().to_vec()).collect();
    let words = [
        "\n",
        "set game ",
        "set depth ",
        "move ",
        "go\n",
        "hint ",
        "ping ",
        "PA",
        "B3",
        "quit\n",
        "(;GM[Othello]",
        "BO[6 ",
        "]",
        ";)",
        "B[B3]",
        "W[B2]",
    ];
    check!().with_iterations(3000).with_type::<Input>().for_each(|input| {
        let bytes = input.bytes(&seeds, &words);
        let mut output = Vec::new();
        within_memory(&bytes, || {
            nboard::serve::<Square6>(
                &mut GreedyPlayer::new(1),
                Cursor::new(bytes.clone()),
                &mut output,
            )
            .expect("memory does not fail");
        });
        let text = String::from_utf8(output).expect("text");
        let lines = bytes.split(|&byte| byte == b'\n').count();
        // A ping is answered with its own text.
        is_short(&text, LONGEST_ANSWER * lines + 3 * bytes.len());
    });
}
