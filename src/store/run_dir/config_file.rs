//! `config.toml`, with its checksum in a comment at its end.
//!
//! The comment is in the file itself, so that text and checksum change in one write. A comment at the
//! beginning says that there is one: without it, a file that was cut at the end of a line would look
//! like a shorter configuration. A file with neither is from an older version, or a user edited it and
//! removed both.

use std::path::Path;

use super::{CONFIG, RunDirError};
use crate::store::{files, limits};

const HEAD: &str =
    "# The last line is a checksum. To keep an edit, remove that line and this one.\n";
const MARK: &str = "# crc32 of the lines above: ";
const ADVICE: &str = "; change keys with --set";

/// The text of the file: the configuration between the comments.
pub(super) fn seal(config: &str) -> String {
    let end = if config.is_empty() || config.ends_with('\n') { "" } else { "\n" };
    let lines = format!("{HEAD}{config}{end}");
    let crc32 = crc32fast::hash(lines.as_bytes());
    format!("{lines}{MARK}{crc32:08x}{ADVICE}\n")
}

/// Reads the configuration of the run in `dir`, without the comments.
///
/// # Errors
///
/// The file cannot be read or is empty, or its checksum is wrong or missing.
pub fn read_config(dir: &Path) -> Result<String, RunDirError> {
    let path = dir.join(CONFIG);
    let bytes = files::read_stored(&path, limits::CONFIG)?;
    let start = bytes.windows(MARK.len()).rposition(|window| window == MARK.as_bytes());
    let Some(start) = start.filter(|&start| start == 0 || bytes[start - 1] == b'\n') else {
        // A cut within the first line leaves a part of it.
        let is_cut = bytes.starts_with(HEAD.as_bytes()) || HEAD.as_bytes().starts_with(&bytes);
        let whole = || String::from_utf8_lossy(&bytes).into_owned();
        return if is_cut { Err(RunDirError::Config { path }) } else { Ok(whole()) };
    };
    let (lines, comment) = bytes.split_at(start);
    let recorded = comment.get(MARK.len()..MARK.len() + 8).unwrap_or_default();
    if recorded != format!("{:08x}", crc32fast::hash(lines)).as_bytes() {
        return Err(RunDirError::Config { path });
    }
    let lines = lines.strip_prefix(HEAD.as_bytes()).unwrap_or(lines);
    Ok(String::from_utf8_lossy(lines).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "seed = 7\nboard = \"6x6\"\n";

    fn a_file(bytes: &[u8]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(CONFIG), bytes).unwrap();
        dir
    }

    #[test]
    fn an_edit_is_detected_unless_the_comments_are_removed() {
        let sealed = seal(TEXT);
        assert_eq!(read_config(a_file(sealed.as_bytes()).path()).unwrap(), TEXT);
        let edited = sealed.replace("seed = 7", "seed = 8");
        let error = read_config(a_file(edited.as_bytes()).path()).unwrap_err().to_string();
        assert!(error.contains("config.toml") && error.contains("--set"), "{error}");
        let edited = edited.split_inclusive('\n').skip(1).take(2).collect::<String>();
        assert_eq!(read_config(a_file(edited.as_bytes()).path()).unwrap(), edited);
    }

    /// A cut at the end of a line left a valid configuration with other values.
    #[test]
    fn a_file_that_was_cut_anywhere_is_refused() {
        let sealed = seal(TEXT);
        let complete = sealed.rfind(ADVICE).unwrap();
        for length in 0..complete {
            let read = read_config(a_file(&sealed.as_bytes()[..length]).path());
            assert!(matches!(read, Err(RunDirError::Config { .. })), "{length}: {read:?}");
        }
    }

    #[test]
    fn a_file_of_an_older_version_is_read() {
        let old = seal(TEXT).replacen(HEAD, "", 1);
        let crc32 = format!("{:08x}", crc32fast::hash(TEXT.as_bytes()));
        let place = old.find(MARK).unwrap() + MARK.len();
        let old = format!("{}{crc32}{}", &old[..place], &old[place + 8..]);
        for text in [old.as_str(), TEXT] {
            assert_eq!(read_config(a_file(text.as_bytes()).path()).unwrap(), TEXT);
        }
    }

    #[test]
    fn any_text_is_read_as_written_with_a_final_newline() {
        for (text, wanted) in [("", ""), ("a", "a\n"), (MARK, &format!("{MARK}\n")), (TEXT, TEXT)] {
            assert_eq!(read_config(a_file(seal(text).as_bytes()).path()).unwrap(), wanted);
        }
    }

    proptest! {
        /// After one bit is flipped, the file is refused, or its keys and values are unchanged.
        #[test]
        fn no_flipped_bit_changes_a_key(bit in any::<prop::sample::Index>()) {
            let mut bytes = seal(TEXT).into_bytes();
            let bit = bit.index(bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(text) = read_config(a_file(&bytes).path())
                && let Ok(found) = text.parse::<toml::Table>()
            {
                prop_assert_eq!(found, TEXT.parse::<toml::Table>().unwrap());
            }
        }
    }
}
