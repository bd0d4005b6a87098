//! The workers that a run does not listen to: the file `workers.json` of a run.

use std::path::Path;

use anyhow::Context as _;

use crate::pipeline::cluster::trust::ledger::Excluded;
use crate::store::{limits, read as read_file, write_atomically};

const FILE: &str = "workers.json";

/// Reads the file of the run in a directory; without one nobody is excluded.
///
/// # Errors
///
/// The file cannot be read, or is not of this layout.
pub(super) fn read(run: &Path) -> anyhow::Result<Excluded> {
    let path = run.join(FILE);
    let bytes = match read_file(&path, limits::STATE) {
        Err(error) if error.is_missing() => return Ok(Excluded::default()),
        bytes => bytes?,
    };
    let wrong = || {
        format!("{} does not hold the excluded workers; remove it to listen to all", path.display())
    };
    let found: Excluded = serde_json::from_slice(&bytes).with_context(wrong)?;
    anyhow::ensure!(found.version == Excluded::VERSION, wrong());
    Ok(found)
}

/// Writes the file.
///
/// # Errors
///
/// It cannot be written.
pub(super) fn write(run: &Path, excluded: &Excluded) -> anyhow::Result<()> {
    Ok(write_atomically(&run.join(FILE), &serde_json::to_vec_pretty(excluded)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::cluster::trust::Ledger;

    #[test]
    fn excluded_workers_are_read_again() {
        let run = tempfile::tempdir().expect("a folder");
        assert!(read(run.path()).expect("none").excluded.is_empty());
        let mut ledger = Ledger::default();
        ledger.accept("eve", 3, 0);
        ledger.fail("eve", "it forges", 0);
        write(run.path(), &ledger.excluded()).expect("written");
        assert_eq!(read(run.path()).expect("one"), ledger.excluded());
        for text in ["", "{}", r#"{"version": 9, "excluded": {}}"#] {
            std::fs::write(run.path().join(FILE), text).expect("written");
            let error = read(run.path()).expect_err(text).to_string();
            assert!(error.contains("workers.json does not hold"), "{error}");
        }
    }
}
