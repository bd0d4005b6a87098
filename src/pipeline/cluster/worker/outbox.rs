//! The games that a worker has sent and that are not yet stored: a folder with a file for each message.
//!
//! A file is removed when the learner has stored or refused all its games. Files that an earlier
//! start left are sent again. The folder is locked by one worker.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::pipeline::cluster::wire::{self, SentGame};
use crate::store::games::GamesError;
use crate::store::{Action, FileError, create_dir, lock_file, read, write_atomically};

/// The ending of a message's file.
const ENDING: &str = "games";
/// The longest message that is read.
const LONGEST: u64 = 8 << 20;
/// A longer message is split: the server of `scripts/nats.conf` takes up to a megabyte.
const LARGEST_SENT: usize = 700_000;
/// A message that is not confirmed for so long is sent again.
const SEND_AGAIN_AFTER: Duration = Duration::from_secs(20);

/// Why the outbox cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OutboxError {
    /// The operating system reported an error.
    #[error(transparent)]
    File(#[from] FileError),
    /// Another worker uses the folder.
    #[error("{} is in use by another worker; give this one another --name or --outbox", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// A game cannot be compressed.
    #[error(transparent)]
    Games(#[from] GamesError),
}

/// A message in the outbox.
struct Waiting {
    /// Numbers of games that are not done with.
    games: HashSet<u64>,
    bytes: u64,
    sent: Option<Instant>,
}

/// The folder of a worker's unconfirmed games.
pub struct Outbox {
    folder: PathBuf,
    /// By the number in the file's name.
    messages: BTreeMap<u64, Waiting>,
    next: u64,
    /// Locked as long as it is open.
    _lock: File,
}

impl Outbox {
    /// Opens a folder, and makes it if it is missing. Files that cannot be read are renamed, with a
    /// warning.
    ///
    /// # Errors
    ///
    /// The folder is in use, or cannot be read or written.
    pub fn open(folder: &Path) -> Result<Outbox, OutboxError> {
        create_dir(folder)?;
        let path = folder.join("lock");
        let lock = File::create(&path).map_err(FileError::at(Action::Write, &path))?;
        if !lock_file(&lock, &path)? {
            return Err(OutboxError::InUse { path: folder.into() });
        }
        let mut outbox =
            Outbox { folder: folder.into(), messages: BTreeMap::new(), next: 1, _lock: lock };
        let entries = fs::read_dir(folder).map_err(FileError::at(Action::Read, folder))?;
        for entry in entries {
            let path = entry.map_err(FileError::at(Action::Read, folder))?.path();
            let number = path
                .extension()
                .filter(|ending| *ending == ENDING)
                .and_then(|_| path.file_stem().and_then(|name| name.to_str()?.parse::<u64>().ok()));
            if let Some(number) = number {
                outbox.take_file(number, &path)?;
            }
        }
        Ok(outbox)
    }

    fn take_file(&mut self, number: u64, path: &Path) -> Result<(), OutboxError> {
        let bytes = read(path, LONGEST)?;
        match wire::unpack(&bytes) {
            Ok((_, sent)) => {
                self.note(number, &sent, bytes.len());
                self.next = self.next.max(number.saturating_add(1));
            }
            Err(error) => {
                tracing::warn!("{}: {error}; left out", path.display());
                let aside = path.with_extension("damaged");
                fs::rename(path, &aside).map_err(FileError::at(Action::Rename, &aside))?;
            }
        }
        Ok(())
    }

    fn note(&mut self, number: u64, sent: &[SentGame], bytes: usize) {
        let games = sent.iter().map(|game| game.record.id).collect();
        let waiting = Waiting { games, bytes: bytes as u64, sent: None };
        self.messages.insert(number, waiting);
    }

    /// Writes games to the disk as a message that is not yet sent, or as several if it is too long.
    ///
    /// # Errors
    ///
    /// It cannot be written; the games are not in the outbox.
    pub fn add(&mut self, kernel: &str, sent: &[SentGame]) -> Result<(), OutboxError> {
        let bytes = wire::pack(kernel, sent)?;
        if bytes.len() > LARGEST_SENT && sent.len() > 1 {
            let (first, rest) = sent.split_at(sent.len() / 2);
            self.add(kernel, first)?;
            return self.add(kernel, rest);
        }
        let number = self.next;
        write_atomically(&self.path(number), &bytes)?;
        self.next += 1;
        self.note(number, sent, bytes.len());
        Ok(())
    }

    /// The next message that is due, with its number: one that was never sent, or not confirmed for
    /// long. It counts as sent from now on.
    ///
    /// # Errors
    ///
    /// Its file cannot be read.
    pub fn next_due(&mut self) -> Result<Option<(u64, Vec<u8>)>, OutboxError> {
        let is_due =
            |waiting: &Waiting| waiting.sent.is_none_or(|sent| sent.elapsed() >= SEND_AGAIN_AFTER);
        let due = self.messages.iter_mut().find(|(_, waiting)| is_due(waiting));
        let Some((&number, waiting)) = due else { return Ok(None) };
        waiting.sent = Some(Instant::now());
        Ok(Some((number, read(&self.path(number), LONGEST)?)))
    }

    /// A message could not be sent: it is due again after a pause.
    pub fn failed(&mut self, number: u64, pause: Duration) {
        if let Some(waiting) = self.messages.get_mut(&number) {
            waiting.sent = Instant::now().checked_sub(SEND_AGAIN_AFTER.saturating_sub(pause));
        }
    }

    /// These games are done with. Removes messages without any other game.
    ///
    /// # Errors
    ///
    /// A file cannot be removed.
    pub fn done(&mut self, numbers: impl Iterator<Item = u64>) -> Result<(), OutboxError> {
        let numbers: HashSet<u64> = numbers.collect();
        let mut finished = Vec::new();
        for (&message, waiting) in &mut self.messages {
            waiting.games.retain(|number| !numbers.contains(number));
            if waiting.games.is_empty() {
                finished.push(message);
            }
        }
        for message in finished {
            let path = self.path(message);
            fs::remove_file(&path).map_err(FileError::at(Action::Remove, &path))?;
            self.messages.remove(&message);
        }
        Ok(())
    }

    /// Games that are not done with.
    pub fn games(&self) -> u64 {
        self.messages.values().map(|waiting| waiting.games.len() as u64).sum()
    }

    /// Bytes of all messages.
    pub fn bytes(&self) -> u64 {
        self.messages.values().map(|waiting| waiting.bytes).sum()
    }

    fn path(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{number:012}.{ENDING}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::cluster::wire::NetId;
    use crate::store::games::tests::a_game;

    fn sent(ids: std::ops::Range<u64>) -> Vec<SentGame> {
        let net = NetId { start: 1, version: 0 };
        ids.map(|id| SentGame { record: a_game(id, 9), nets: vec![net] }).collect()
    }

    fn due(outbox: &mut Outbox) -> Vec<u64> {
        std::iter::from_fn(|| outbox.next_due().expect("a file"))
            .map(|(number, _)| number)
            .collect()
    }

    #[test]
    fn games_stay_until_they_are_done_with_also_over_a_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut outbox = Outbox::open(folder.path()).expect("a new one");
        outbox.add("k", &sent(0..3)).expect("written");
        outbox.add("k", &sent(3..5)).expect("written");
        assert_eq!((outbox.games(), due(&mut outbox)), (5, vec![1, 2]));
        assert_eq!(due(&mut outbox), [0; 0]);
        outbox.done([0, 2, 4].into_iter()).expect("done");
        assert_eq!(outbox.games(), 2);
        outbox.failed(2, Duration::ZERO);
        assert_eq!(due(&mut outbox), [2]);
        assert!(matches!(Outbox::open(folder.path()), Err(OutboxError::InUse { .. })));
        drop(outbox);
        // What was done with in a message that is still there comes again: the learner knows it.
        let mut again = Outbox::open(folder.path()).expect("the same");
        assert_eq!((again.games(), due(&mut again)), (5, vec![1, 2]));
        again.add("k", &sent(5..6)).expect("written");
        assert_eq!(due(&mut again), [3]);
        again.done(0..6).expect("done");
        assert_eq!((again.games(), again.bytes()), (0, 0));
        let left = fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 1, "only the lock is left");
    }

    #[test]
    fn a_long_message_is_split() {
        use rand::RngExt as _;

        let folder = tempfile::tempdir().expect("a folder");
        let mut outbox = Outbox::open(folder.path()).expect("a new one");
        let mut random = crate::train::seeds::stream(1, crate::train::seeds::Purpose::Match, 0);
        let mut long = sent(0..300);
        for played in long.iter_mut().flat_map(|game| &mut game.record.moves) {
            // Nothing that could be compressed.
            played.policy = (0..90).map(|_| random.random()).collect();
        }
        outbox.add("k", &long).expect("written");
        assert_eq!(outbox.games(), 300);
        let mut messages = 0;
        while let Some((_, bytes)) = outbox.next_due().expect("a file") {
            assert!(bytes.len() <= LARGEST_SENT, "{} bytes", bytes.len());
            messages += 1;
        }
        assert!(messages > 1, "{messages}");
    }

    #[test]
    fn a_damaged_message_is_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut outbox = Outbox::open(folder.path()).expect("a new one");
        outbox.add("k", &sent(0..3)).expect("written");
        outbox.add("k", &sent(3..5)).expect("written");
        let path = outbox.path(1);
        drop(outbox);
        let whole = fs::read(&path).expect("a file");
        fs::write(&path, &whole[..whole.len() / 2]).expect("written");
        let mut again = Outbox::open(folder.path()).expect("the rest");
        assert_eq!((again.games(), due(&mut again)), (2, vec![2]));
        assert!(path.with_extension("damaged").exists());
    }
}
