//! Who a run is on the server: the file `cluster.json` of a run.

use std::path::Path;

use anyhow::Context as _;
use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use crate::pipeline::cluster::names::Name;
use crate::store::{read, write_atomically};

const FILE: &str = "cluster.json";
const LONGEST: u64 = 1 << 16;

/// The name of a run on the server, and how often its learner was started there.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Identity {
    /// The run's name on the server.
    pub run: Name,
    /// The number of this start, from 1.
    pub start: u32,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    run: String,
    start: u32,
}

impl Identity {
    /// Reads the identity of the run in a directory, or makes one, and counts this start.
    ///
    /// # Errors
    ///
    /// The file cannot be read or written, or holds no identity.
    pub fn of(run: &Path) -> anyhow::Result<Identity> {
        let path = run.join(FILE);
        let found = match read(&path, LONGEST) {
            Err(error) if error.is_missing() => Identity { run: new_name(run), start: 0 },
            bytes => parse(&bytes?).with_context(|| {
                format!("{} holds no name of a run; remove it to give it a new one", path.display())
            })?,
        };
        let identity = Identity { start: found.start.saturating_add(1), ..found };
        let stored = Stored { run: identity.run.to_string(), start: identity.start };
        write_atomically(&path, &serde_json::to_vec_pretty(&stored)?)?;
        Ok(identity)
    }
}

fn parse(bytes: &[u8]) -> anyhow::Result<Identity> {
    let Stored { run, start } = serde_json::from_slice(bytes)?;
    Ok(Identity { run: run.parse()?, start })
}

/// A name like that of the directory, with a random part: two labs may use one server.
fn new_name(run: &Path) -> Name {
    let folder = run.file_name().unwrap_or_default().to_string_lossy();
    Name::like(&folder).numbered(rand::rng().random_range(1000..10_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_stays_and_starts_are_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = Identity::of(folder.path()).expect("a new one");
        let second = Identity::of(folder.path()).expect("the same");
        assert_eq!((first.start, second.start, &first.run), (1, 2, &second.run));
        for text in ["", "{}", r#"{"run": "A.B", "start": 3}"#] {
            std::fs::write(folder.path().join(FILE), text).expect("written");
            let error = Identity::of(folder.path()).expect_err(text).to_string();
            assert!(error.contains("cluster.json holds no name of a run"), "{error}");
        }
    }
}
