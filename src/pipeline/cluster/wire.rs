//! The messages between workers and the learner.
//!
//! All but games are JSON. Games are a header of one line of JSON, then the games in the frames of a
//! game file. Every message is checked when it is read, and none can take memory without bound: the
//! server limits a message to 8 MB.

use serde::{Deserialize, Serialize};

use crate::game::record::GameRecord;
use crate::store::games::{self, SkipReason};

/// The version of the messages. A worker of another version does not join.
pub const PROTOCOL: u32 = 1;

/// The most nets of a game in a message.
pub const MOST_NETS: usize = 8;

/// A run that workers can join.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Announcement {
    /// [`PROTOCOL`] of the learner.
    pub protocol: u32,
    /// The learner's program version.
    pub program: String,
    /// The resolved configuration, in TOML.
    pub config: String,
    /// The description of the model.
    pub description: serde_json::Value,
}

impl Announcement {
    /// CRC-32 of the announcement as JSON.
    pub fn checksum(&self) -> u32 {
        crc32fast::hash(&serde_json::to_vec(self).unwrap_or_default())
    }
}

/// A net: the start of the learner that made it, and its version. After a crash a learner continues
/// from its last checkpoint, so a version alone may mean two nets.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize,
)]
pub struct NetId {
    /// The number of the learner's start, from 1.
    pub start: u32,
    /// The version within the run.
    pub version: u32,
}

/// The newest net of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NetNotice {
    /// Which net it is.
    pub id: NetId,
    /// Positions of self-play when it was published.
    pub positions: u64,
    /// CRC-32 of its bytes.
    pub checksum: u32,
}

/// What the learner wants, several times a second.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct State {
    /// The newest net; `None` before the first one is on the server.
    pub net: Option<NetNotice>,
    /// CRC-32 of the announcement. A worker joins again if it changes.
    pub announcement: u32,
    /// Positions of all games so far.
    pub positions: u64,
    /// Positions up to which games are wanted.
    pub wanted: u64,
    /// Whether the learner lacks a position to train on, and games are wanted in any case.
    pub starved: bool,
    /// Whether the run has reached its end.
    pub ended: bool,
    /// Workers that are not listened to, with the reason.
    pub excluded: Vec<(String, String)>,
}

/// A worker asks for numbers of games.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LeaseRequest {
    /// How many it wants, at least 1.
    pub count: u64,
}

/// Numbers that a worker may use, or why it gets none.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LeaseReply {
    /// The first number, and the number after the last one.
    Numbers(u64, u64),
    /// The reason of a refusal.
    Refused(String),
}

/// What a worker does.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Games finished since the worker's start.
    pub games: u64,
    /// Simulations since the last report.
    pub simulations: u64,
    /// Predictions of the net since the last report.
    pub evaluations: u64,
    /// Searched moves since the last report.
    pub searches: u64,
    /// Seconds in which its actors played since the last report.
    pub busy: f64,
    /// Seconds in which its actors waited since the last report.
    pub waiting: f64,
    /// The net that it plays with.
    pub net: NetId,
    /// Games in its outbox.
    pub unconfirmed: u64,
    /// Its actors.
    pub actors: u32,
}

/// Which of a worker's games are done with.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Stored {
    /// Numbers of games that are on the learner's disk.
    pub games: Vec<u64>,
    /// Numbers of games that were refused, with the reason.
    pub refused: Vec<(u64, String)>,
}

/// The header of a message with games.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PackHeader {
    /// [`PROTOCOL`] of the worker.
    pub protocol: u32,
    /// The kind of its kernels.
    pub kernel: String,
    /// For each game the nets that played it, in their order; at most [`MOST_NETS`].
    pub nets: Vec<Vec<NetId>>,
}

/// A game as a worker sends it.
#[derive(Clone, PartialEq, Debug)]
pub struct SentGame {
    /// The game; its `net_version` is that of the first net.
    pub record: GameRecord,
    /// The nets that played it, in their order. Of more than [`MOST_NETS`] the last ones are left
    /// out.
    pub nets: Vec<NetId>,
}

/// Why a message is not read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WireError {
    /// It has no header.
    #[error("the message has no header, a line of JSON")]
    NoHeader,
    /// The header is not of this layout.
    #[error("the header is not valid: {message}")]
    Header {
        /// The parser's message.
        message: Box<str>,
    },
    /// Another version.
    #[error("the message has version {found}, this program reads version {PROTOCOL}")]
    Protocol {
        /// Its version.
        found: u32,
    },
    /// A game is damaged.
    #[error("a game is damaged: {0}")]
    Game(SkipReason),
    /// The header does not fit the games.
    #[error(
        "the header has {header} lists of nets for {games} games; allowed: one for each, of 1 to {MOST_NETS} nets"
    )]
    Count {
        /// Entries of the header.
        header: usize,
        /// Games.
        games: usize,
    },
}

/// The bytes of a message with games.
///
/// # Errors
///
/// A game cannot be compressed.
pub fn pack(kernel: &str, sent: &[SentGame]) -> Result<Vec<u8>, games::GamesError> {
    let nets = sent.iter().map(|game| game.nets.clone()).collect();
    let header = PackHeader { protocol: PROTOCOL, kernel: kernel.into(), nets };
    // Strings and numbers are always JSON.
    let mut bytes = serde_json::to_vec(&header).unwrap_or_default();
    bytes.push(b'\n');
    sent.iter().try_for_each(|game| games::pack(&game.record, &mut bytes))?;
    Ok(bytes)
}

/// The games of a message, and the kind of the worker's kernels.
///
/// # Errors
///
/// The message is damaged or of another version.
pub fn unpack(bytes: &[u8]) -> Result<(String, Vec<SentGame>), WireError> {
    let end = bytes.iter().position(|&byte| byte == b'\n').ok_or(WireError::NoHeader)?;
    let (header, rest) = (&bytes[..end], &bytes[end + 1..]);
    let header: PackHeader = parse(header).map_err(|message| WireError::Header { message })?;
    if header.protocol != PROTOCOL {
        return Err(WireError::Protocol { found: header.protocol });
    }
    let records = games::unpack(rest).map_err(WireError::Game)?;
    let is_allowed = |nets: &Vec<NetId>| (1..=MOST_NETS).contains(&nets.len());
    if records.len() != header.nets.len() || !header.nets.iter().all(is_allowed) {
        return Err(WireError::Count { header: header.nets.len(), games: records.len() });
    }
    let nets = header.nets.into_iter();
    let game = |(record, nets)| SentGame { record, nets };
    Ok((header.kernel, records.into_iter().zip(nets).map(game).collect()))
}

/// Parses JSON from the network. The message of an error is short.
pub fn parse<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, Box<str>> {
    serde_json::from_slice(bytes)
        .map_err(|error| crate::game::notation::plain_excerpt(&error.to_string(), 200))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::games::tests::a_game;

    fn sent(ids: &[u64]) -> Vec<SentGame> {
        let net = |version| NetId { start: 2, version };
        let game = |&id| SentGame { record: a_game(id, 20), nets: vec![net(3), net(4)] };
        ids.iter().map(game).collect()
    }

    #[test]
    fn games_come_back() {
        let games = sent(&[5, 6, 900]);
        let bytes = pack("avx512", &games).expect("packed");
        assert_eq!(unpack(&bytes), Ok(("avx512".into(), games)));
        assert_eq!(unpack(&pack("", &[]).expect("packed")), Ok((String::new(), Vec::new())));
    }

    #[test]
    fn wrong_headers_are_named() {
        let bytes = pack("a", &sent(&[5, 6])).expect("packed");
        let text = |bytes: &[u8]| unpack(bytes).expect_err("an error").to_string();
        assert_eq!(text(b""), "the message has no header, a line of JSON");
        assert!(text(b"{}\n").starts_with("the header is not valid: missing field `protocol`"));
        let of = |header: &PackHeader| {
            let end = bytes.iter().position(|&byte| byte == b'\n').expect("a header");
            [serde_json::to_vec(header).expect("JSON").as_slice(), &bytes[end..]].concat()
        };
        let net = NetId::default();
        let right = PackHeader { protocol: 1, kernel: "a".into(), nets: vec![vec![net]; 2] };
        assert!(unpack(&of(&right)).is_ok());
        let other = PackHeader { protocol: 2, ..right.clone() };
        assert_eq!(text(&of(&other)), "the message has version 2, this program reads version 1");
        for nets in [vec![vec![net]; 3], vec![vec![net], vec![]], vec![vec![net; 9]; 2]] {
            let count = nets.len();
            let other = PackHeader { nets, ..right.clone() };
            let wanted = format!("the header has {count} lists of nets for 2 games");
            assert!(text(&of(&other)).starts_with(&wanted));
        }
    }

    proptest! {
        #[test]
        fn damaged_messages_are_errors_and_never_panic(place in 0usize..2000, flip in 1u8..) {
            let mut bytes = pack("avx2", &sent(&[1, 2])).expect("packed");
            let length = bytes.len();
            bytes[place % length] ^= flip;
            if let Ok((kernel, games)) = unpack(&bytes) {
                // Only the text of the kernel or the numbers of nets may have changed.
                prop_assert!(place % length < 200, "{kernel} {}", games.len());
            }
            prop_assert!(unpack(&bytes[..place % length]).is_err());
        }
    }
}
