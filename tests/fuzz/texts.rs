//! Parsers of text: configurations, player specifications, positions, transcripts, games in GGF.

use bolero::check;
use outflank::config::{self, Config};
use outflank::dispatch;
use outflank::game::notation::{obf, parse_obf, parse_transcript, transcript};
use outflank::game::{Geometry, Position, Shape};
use outflank::players::spec::{PlayerKind, PlayerSpec};
use outflank::store::ggf;
use outflank::store::import::text;

use crate::input::Input;
use crate::limits::{is_short, within_memory};

fn seeds(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// An accepted configuration is read unchanged from its own text. Errors have few lines.
#[test]
fn configurations() {
    let seeds = seeds(&[
        "",
        &Config::default().resolved(),
        include_str!("../../configs/paper.toml"),
        include_str!("../../configs/gpu.toml"),
        include_str!("../../configs/smoke.toml"),
        "search = { simulations = 8, c_puct = 1.5 }\nevaluation.opponents = [\"random\", \"net:a\"]",
    ]);
    let names: Vec<String> =
        config::keys().iter().map(|key| format!("{} = ", key.path())).collect();
    let mut words: Vec<&str> = names.iter().map(String::as_str).collect();
    words.extend(["\n[search]\n", "\n[net]\n", "[[", "]]", "'''", "\"\"\"", "{", "}", "\n", "= ["]);
    check!().with_iterations(1500).with_type::<Input>().for_each(|input| {
        let text = String::from_utf8_lossy(&input.bytes(&seeds, &words)).into_owned();
        // The lines after this section are given as arguments of `--set`.
        let (text, arguments) = text.split_once("\n[net]\n").unwrap_or((&text, ""));
        let arguments: Vec<String> = arguments.lines().map(str::to_owned).collect();
        let whole = [text, &arguments.concat()].concat();
        let parse = || Config::parse("fuzz.toml", text, &arguments);
        match within_memory(whole.as_bytes(), parse) {
            Ok(config) => {
                let again = Config::parse("fuzz.toml", &config.resolved(), &[]);
                assert_eq!(again.expect("its own writing"), config);
            }
            Err(error) => is_short(&error.to_string(), 30_000),
        }
    });
}

/// A player specification is read unchanged from its own text.
#[test]
fn players() {
    let seeds = seeds(&[
        "random",
        "alphabeta:depth=6,eval=discs,probcut=1.5,solve_empties=12,threads=2,table_mb=64",
        "alphabeta:movetime=1.5s",
        "rollouts:simulations=200,c_uct=1.4",
        "net:runs/a,simulations=400,c_puct=1.5,temperature_plies=8,temperature=0.5,symmetries=8",
        "net:\"a, b\\\"c\",gametime=1m,threads=4,parallel=16",
        "policy:runs/a,temperature_plies=4",
        "external:protocol=nboard,command=\"engine --board \\\"x y\\\"\",depth=9,timeout=5s",
    ]);
    let mut words = vec![",", "=", ":", "\"", "\\", "ms", "s", "m"];
    for kind in PlayerKind::ROWS {
        words.push(kind.name);
        words.extend(kind.keys().iter().map(|key| key.name));
    }
    check!().with_iterations(10_000).with_type::<Input>().for_each(|input| {
        let bytes = input.bytes(&seeds, &words);
        let text = String::from_utf8_lossy(&bytes);
        match within_memory(&bytes, || text.parse::<PlayerSpec>()) {
            Ok(spec) => assert_eq!(spec.to_string().parse(), Ok(spec)),
            Err(error) => is_short(&error.to_string(), 1000),
        }
    });
}

/// A position is read unchanged from its own line.
#[test]
fn positions() {
    let seeds = seeds(&[
        "---------------------------OX------XO--------------------------- X",
        &format!("{}-- X; g8:+18; h1:+12; --:-127", "OX".repeat(31)),
        "--------------OX----XO-------------- O; c2:+2;",
        "0".repeat(93).as_str(),
    ]);
    let words = ["; ", ":", "--", "pass", "X", "O", "-", "%", "+64", "a1:"];
    check!().with_iterations(8000).with_type::<Input>().for_each(|input| {
        let bytes = input.bytes(&seeds, &words);
        let text = String::from_utf8_lossy(&bytes);
        for shape in Shape::ALL {
            dispatch!(shape, G => position::<G>(&text));
        }
    });
}

fn position<G: Geometry>(text: &str) {
    match within_memory(text.as_bytes(), || parse_obf::<G>(text)) {
        Ok(line) => {
            assert!(line.position.board.is_valid());
            let again = parse_obf::<G>(&obf(line.position)).expect("its own writing");
            assert_eq!(again.position, line.position);
        }
        Err(error) => is_short(&error.to_string(), 500),
    }
}

/// A transcript is read unchanged from its own text.
#[test]
fn transcripts() {
    let seeds = seeds(&[
        "",
        "f5d6c3d3c4f4f6f3e6e7d7c6",
        "c2b4c5d5",
        "f5d6c3d3c4f4c5b3c2b4e3e6c6b6b5a4",
        "e4pac3--d3",
    ]);
    let words = ["pa", "pass", "--", "@@", "f5", "j10", "a1", "PASS"];
    check!().with_iterations(8000).with_type::<Input>().for_each(|input| {
        let bytes = input.bytes(&seeds, &words);
        let text = String::from_utf8_lossy(&bytes);
        for shape in Shape::ALL {
            dispatch!(shape, G => {
                let start = Position::<G>::start();
                match within_memory(&bytes, || parse_transcript(&text, start)) {
                    Ok((moves, last)) => {
                        let own = transcript::<G>(moves.iter().copied());
                        assert_eq!(parse_transcript(&own, start), Ok((moves, last)));
                    }
                    Err(error) => is_short(&error.to_string(), 1000),
                }
            });
        }
    });
}

/// What is read of a text as people write it is a legal game, which is read unchanged from its own
/// transcript.
#[test]
fn texts_of_people() {
    let seeds = seeds(&[
        include_str!("../data/texts/num.txt"),
        include_str!("../data/texts/play.pgn"),
        include_str!("../data/texts/boards/coords.txt"),
        include_str!("../data/texts/boards/own.txt"),
        include_str!("../data/texts/boards/digits.txt"),
        include_str!("../data/texts/passpos.txt"),
        "f5d6c3\n# a comment\nf5f6e6f4 26-38\n",
        "kuro - shiro 34-30 f5d6c3d3c4f4",
    ]);
    let words = [
        "--",
        "ps",
        "f5",
        "\n",
        "black to move",
        " a b c d e f g h",
        "1. ",
        "●",
        "ｆ５",
        "26-38",
        "#",
        "-",
    ];
    check!().with_iterations(3000).with_type::<Input>().for_each(|input| {
        let bytes = input.bytes(&seeds, &words);
        let text = String::from_utf8_lossy(&bytes);
        for shape in Shape::ALL {
            dispatch!(shape, G => text_of_people::<G>(&text));
        }
    });
}

fn text_of_people<G: Geometry>(given: &str) {
    for (_, game) in within_memory(given.as_bytes(), || text::games::<G>(given)) {
        match game {
            Ok(written) => {
                assert!(written.start.board.is_valid());
                let own = transcript::<G>(written.moves.iter().copied());
                let again = parse_transcript(&own, written.start).expect("legal moves");
                assert_eq!(again, (written.moves.clone(), written.position()));
            }
            Err(fault) => is_short(&fault.to_string(), 1000),
        }
    }
}

/// A game is read unchanged from its own text, in which all passes are written.
#[test]
fn games_in_ggf() {
    let written = |shape: Shape, text: &str| {
        dispatch!(shape, G => {
            let start = Position::<G>::start();
            ggf::write(start, &parse_transcript(text, start).expect("legal moves").0)
        })
    };
    let seeds = seeds(&[
        "(;GM[Othello]PC[NBoard]DT[2014-02-21 20:52:27 GMT]PB[a\\]b]PW[chris]RE[?]TI[15:00]TY[8]BO[8 ---------------------------O*------*O--------------------------- *]B[F5//0.01]W[f6/-1.5]B[D3];)",
        &written(Shape::Square8, "f5d6c3d3c4f4f6f3e6e7d7c6"),
        &written(Shape::Square6, "c2b4"),
        &written(Shape::Octagon88, ""),
    ]);
    let words = ["BO[8 ", "B[", "W[", "PA]", "]", "[", "\\", ";)", "(;", "GM[Othello]", "/", "*"];
    check!().with_iterations(8000).with_type::<Input>().for_each(|input| {
        let bytes = input.bytes(&seeds, &words);
        let text = String::from_utf8_lossy(&bytes);
        for shape in Shape::ALL {
            dispatch!(shape, G => game::<G>(&text));
        }
    });
}

fn game<G: Geometry>(text: &str) {
    match within_memory(text.as_bytes(), || ggf::read::<G>(text)) {
        Ok(game) => {
            let moves: Vec<_> = game.moves.iter().flatten().copied().collect();
            let own = ggf::write(game.start.pass_if_forced(), &moves);
            let again = ggf::read::<G>(&own).expect("its own writing");
            assert_eq!(again.start, game.start.pass_if_forced());
            assert!(again.moves.iter().flatten().eq(&moves));
        }
        Err(error) => is_short(&error.to_string(), 500),
    }
}
