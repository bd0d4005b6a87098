//! The fault for a key that does not exist: a suggestion, and the keys that exist.

use std::collections::BTreeSet;

use super::problem::{Fault, nearest};
use super::sections::{ConfigKey, join};

/// The fault for an unknown key `path`, given all keys. The suggestion is a similar key of the same
/// section, else a key of that name in another section, else a similar section.
pub(super) fn unknown(keys: &[ConfigKey], path: &str) -> Fault {
    let (section, name) = path.split_once('.').unwrap_or(("", path));
    let neighbours = || keys.iter().filter(|key| key.section == section);
    let elsewhere = || keys.iter().filter(|key| key.name == name);
    let sections: BTreeSet<&str> =
        keys.iter().map(|key| key.section).filter(|name| !name.is_empty()).collect();
    let suggestion = nearest(name, neighbours().map(|key| key.name))
        .map(|near| join(section, near))
        .or_else(|| elsewhere().next().map(ConfigKey::path))
        .or_else(|| nearest(path, sections.iter().copied()).map(|near| format!("[{near}]")))
        .or_else(|| {
            let near =
                nearest(section, sections.iter().copied()).filter(|&near| near != section)?;
            let is_key = keys.iter().any(|key| (key.section, key.name) == (near, name));
            Some(if is_key { join(near, name) } else { format!("[{near}]") })
        });
    let mut allowed: Vec<String> = neighbours().map(|key| key.name.to_string()).collect();
    if section.is_empty() || allowed.is_empty() {
        allowed.extend(sections.iter().map(|name| format!("[{name}]")));
    }
    Fault::Unknown { suggestion: suggestion.map(Box::from), allowed: allowed.join(", ").into() }
}
