//! Keys of earlier versions that no longer exist.
//!
//! A user's configuration with such a key is refused with the reason. The stored configurations of
//! runs and exported nets hold every key of the version that wrote them. In those a removed key may
//! have its default, because the program then works as if the key had that value.

use super::entries::{Entries, Source};

/// A key that earlier versions had.
#[derive(Clone, Copy, Debug)]
pub(super) struct RemovedKey {
    /// The key with its section.
    pub path: &'static str,
    /// Its default, as resolved configurations write it.
    pub default: &'static str,
    /// What the program does instead, or what to use.
    pub instead: &'static str,
}

/// What the games of a teacher were for.
const TOLD: &str = "`net.inputs = \"evaluations\"` tells the net what a finished model says";
const TO_THE_END: &str = "every game is played to its end";

/// All removed keys.
pub(super) const REMOVED: &[RemovedKey] = &[
    RemovedKey {
        path: "selfplay.opening_temperature",
        default: "1.0",
        instead: "openings from the net's policy are drawn at temperature 1",
    },
    RemovedKey { path: "selfplay.resign_below", default: "-1.0", instead: TO_THE_END },
    RemovedKey { path: "selfplay.resign_plies", default: "3", instead: TO_THE_END },
    RemovedKey { path: "selfplay.resign_playout_share", default: "0.1", instead: TO_THE_END },
    RemovedKey {
        path: "learner.gradient_clip",
        default: "0.0",
        instead: "gradients are used as they are; lower `learner.learning_rate` if a run diverges",
    },
    RemovedKey {
        path: "net.soft_policy_head",
        default: "false",
        instead: "in training the net predicts the search's policy as it is",
    },
    RemovedKey { path: "selfplay.teacher", default: "\"\"", instead: TOLD },
    RemovedKey { path: "selfplay.teacher_positions", default: "500000", instead: TOLD },
    RemovedKey { path: "search.dirichlet_total", default: "10.0", instead: "it is always 10" },
    RemovedKey { path: "search.gumbel_considered", default: "16", instead: "it is always 16" },
    RemovedKey { path: "search.gumbel_c_visit", default: "50.0", instead: "it is always 50" },
    RemovedKey { path: "learner.momentum", default: "0.9", instead: "it is always 0.9" },
    RemovedKey { path: "learner.owner_weight", default: "0.25", instead: "it is always 0.25" },
];

/// The removed key with this path, if there is one.
pub(super) fn removed(path: &str) -> Option<&'static RemovedKey> {
    REMOVED.iter().find(|key| key.path == path)
}

/// Drops entries of removed keys that come from a file and have their default.
pub(super) fn drop_removed_defaults(entries: &mut Entries<'_>) {
    for key in REMOVED {
        let is_default = entries.values.get(key.path).is_some_and(|entry| {
            let is_in_file = matches!(entry.source, Source::File { .. });
            is_in_file && *entry.source.written(entry.value.span()) == *key.default
        });
        if is_default {
            entries.values.remove(key.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::{Config, keys};

    fn error(result: Result<Config, crate::config::ConfigError>) -> String {
        result.expect_err("a removed key").to_string()
    }

    #[test]
    fn a_removed_key_is_refused_with_the_reason() {
        let known = keys();
        for &RemovedKey { path, default, instead } in REMOVED {
            assert!(known.iter().all(|known| known.path() != path), "{path} is a key");
            let (section, name) = path.split_once('.').expect("a section");
            let text = format!("[{section}]\n{name} = {default}\n");
            let found = error(Config::parse("run.toml", &text, &[]));
            let wanted = format!("run.toml:2:1: `{path}` was removed: {instead}; ");
            assert!(found.contains(&wanted) && found.ends_with("delete the line"), "{found}");
            let set = format!("{path}={default}");
            let found = error(Config::parse_stored("config.toml", "", &[set]));
            assert!(found.ends_with("leave it out"), "{found}");
        }
    }

    #[test]
    fn a_stored_configuration_may_have_a_removed_key_with_its_default() {
        for &RemovedKey { path, default, .. } in REMOVED {
            let (section, name) = path.split_once('.').expect("a section");
            let text = |value: &str| format!("[{section}]\n{name} = {value}\n");
            let stored = Config::parse_stored("config.toml", &text(default), &[]);
            assert_eq!(stored.expect("a configuration"), Config::default());
            let found = error(Config::parse_stored("config.toml", &text("0.7"), &[]));
            assert!(found.contains(&format!("`{path}` was removed")), "{found}");
        }
    }

    /// Each was written by the version that trained the net.
    #[test]
    fn the_configurations_of_the_shipped_nets_are_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("checkpoints");
        let mut read = 0;
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path().join("config.toml");
            if path.is_file() {
                Config::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
                read += 1;
            }
        }
        assert!(read > 0);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config.toml");
        std::fs::write(&path, "[selfplay]\nresign_plies = 3\n").expect("a file");
        assert!(error(Config::load(&path, &[])).contains("was removed"));
        std::fs::write(folder.path().join("run.json"), "{}").expect("a file");
        assert_eq!(Config::load(&path, &[]).expect("a stored one"), Config::default());
    }
}
