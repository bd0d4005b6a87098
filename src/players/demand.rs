//! What a player asks of the machine, and how much of it somebody else's request may ask for.
//!
//! On the command line a user may ask for all that the machine has. A request of the page comes from
//! a client that has no such right, so its players have bounds of their own.

use super::spec::{PlayerKind, PlayerSpec};

/// The most that a player of a request may ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Memory for one transposition table, in MiB.
    pub table_mb: usize,
    /// Threads of one search.
    pub threads: usize,
    /// Random games for a move. Each keeps about 200 bytes until the move is chosen.
    pub simulations: u32,
}

/// A key of a player asks for more than is allowed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{key}` is {found}; a request may have at most {most}")]
pub struct TooMuch {
    /// The key.
    pub key: &'static str,
    /// Its value.
    pub found: u64,
    /// The largest allowed value.
    pub most: u64,
}

impl Bounds {
    /// The bounds of requests to the page, whose searches may use `threads` threads in all.
    pub fn of_requests(threads: usize) -> Bounds {
        Bounds { table_mb: 256, threads: threads.max(1), simulations: 1_000_000 }
    }

    /// Checks a player that needs no file.
    ///
    /// # Errors
    ///
    /// The first key that asks for too much.
    ///
    /// ```
    /// use outflank::players::demand::Bounds;
    ///
    /// let bounds = Bounds::of_requests(2);
    /// assert!(bounds.check(&"alphabeta:depth=4,threads=2".parse()?).is_ok());
    /// let error = bounds.check(&"alphabeta:depth=4,threads=9".parse()?).expect_err("too many");
    /// assert_eq!(error.to_string(), "`threads` is 9; a request may have at most 2");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(self, player: &PlayerSpec) -> Result<(), TooMuch> {
        let within = |key, found: u64, most: u64| match found > most {
            true => Err(TooMuch { key, found, most }),
            false => Ok(()),
        };
        match &player.kind {
            PlayerKind::AlphaBeta(spec) => {
                within("table_mb", spec.table_mb as u64, self.table_mb as u64)?;
                within("threads", spec.threads.unwrap_or(1) as u64, self.threads as u64)
            }
            PlayerKind::Rollouts(spec) => {
                within("simulations", spec.simulations.into(), self.simulations.into())
            }
            PlayerKind::Random(_)
            | PlayerKind::Greedy(_)
            | PlayerKind::Net(_)
            | PlayerKind::Policy(_)
            | PlayerKind::External(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_a_bound() {
        let bounds = Bounds::of_requests(2);
        for (spec, key) in [
            ("random", None),
            ("alphabeta:depth=20,table_mb=256,threads=2", None),
            ("alphabeta:movetime=1s", None),
            ("alphabeta:depth=2,table_mb=257", Some("table_mb")),
            ("alphabeta:depth=2,table_mb=65536", Some("table_mb")),
            ("alphabeta:depth=2,threads=3", Some("threads")),
            ("rollouts:simulations=1000000", None),
            ("rollouts:simulations=1000001", Some("simulations")),
        ] {
            let player: PlayerSpec = spec.parse().expect("a player");
            assert_eq!(bounds.check(&player).err().map(|error| error.key), key, "{spec}");
        }
    }
}
