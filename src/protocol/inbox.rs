//! Lines of a peer, read ahead by a thread, so that the next line can end a search.
//!
//! Lines are numbered, and the number of the newest line of each urgency is kept. So a line has
//! the same effect whether it comes before a search has begun or while it runs.

use std::io::{self, BufRead};
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::lines::{Line, next_line};
use crate::search::stop::Stop;

/// The most lines that are read ahead. Later ones stay in the pipe.
const WAITING: usize = 64;

/// How urgent a line is for a running search.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Urgency {
    /// It can wait until the search is done.
    Patient,
    /// It ends the session. Nothing is read after it.
    Quit,
    /// It asks for a new search, or changes the position.
    NewSearch,
}

/// A line and its number, or the end of the input.
type Arrival = (u64, io::Result<Option<Line>>);

/// The lines of a peer, read ahead.
pub struct Inbox {
    lines: Receiver<Arrival>,
    shared_state: Arc<Mutex<SharedState>>,
    /// A line that has come and has not been taken yet.
    ahead: Option<Arrival>,
    /// The number of the line that was taken last.
    taken: u64,
}

/// State that the reading thread and the owner of the inbox share.
#[derive(Default)]
struct SharedState {
    /// The number of the newest line of each urgency.
    newest: [u64; 3],
    /// The stop flag of the running search, and the least urgency of a line that sets it.
    search: Option<(Urgency, Stop)>,
}

impl SharedState {
    fn arrived(&mut self, number: u64, urgency: Urgency) {
        self.newest[urgency as usize] = number;
        if let Some((least, stop)) = &self.search
            && *least <= urgency
        {
            stop.set();
        }
    }

    fn holds(&self, least: Urgency, taken: u64) -> bool {
        self.newest[least as usize..].iter().any(|&number| number > taken)
    }
}

impl Inbox {
    /// Starts to read. `urgency` rates each line, and `None` at the end of the input. The thread
    /// ends with the input, or at the first line that it reads after the inbox was dropped.
    pub fn open(
        input: impl BufRead + Send + 'static,
        urgency: impl Fn(Option<&Line>) -> Urgency + Send + 'static,
    ) -> Inbox {
        let (sender, lines) = bounded(WAITING);
        let shared_state = Arc::new(Mutex::new(SharedState::default()));
        let shared = Arc::clone(&shared_state);
        std::thread::spawn(move || read(input, &urgency, &shared, &sender));
        Inbox { lines, shared_state, ahead: None, taken: 0 }
    }

    /// Takes the next line; `None` at the end of the input.
    ///
    /// # Errors
    ///
    /// The input fails.
    pub fn receive(&mut self) -> io::Result<Option<Line>> {
        self.wait();
        // The reading thread sends the end of the input before it ends.
        let Some((number, line)) = self.ahead.take() else { return Ok(None) };
        self.taken = number;
        line
    }

    /// Waits until there is a next line, or the end of the input.
    pub fn wait(&mut self) {
        if self.ahead.is_none() {
            self.ahead = self.lines.recv().ok();
        }
    }

    /// A stop flag for the search that the line taken last asked for. A later line of at least
    /// this urgency sets it.
    pub fn stop_at(&self, least: Urgency) -> Stop {
        let stop = Stop::default();
        let mut shared_state = self.shared_state.lock().unwrap_or_else(PoisonError::into_inner);
        if shared_state.holds(least, self.taken) {
            stop.set();
        }
        shared_state.search = Some((least, stop.clone()));
        stop
    }

    /// Whether a line of at least this urgency has come after the line taken last.
    pub fn holds(&self, least: Urgency) -> bool {
        self.shared_state.lock().unwrap_or_else(PoisonError::into_inner).holds(least, self.taken)
    }
}

fn read(
    mut input: impl BufRead,
    urgency: &impl Fn(Option<&Line>) -> Urgency,
    shared_state: &Mutex<SharedState>,
    sender: &Sender<Arrival>,
) {
    for number in 1.. {
        let line = next_line(&mut input);
        let text = line.as_ref().ok().and_then(Option::as_ref);
        let urgency = urgency(text);
        let last = text.is_none() || urgency == Urgency::Quit;
        shared_state.lock().unwrap_or_else(PoisonError::into_inner).arrived(number, urgency);
        if sender.send((number, line)).is_err() || last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer lines are more urgent.
    fn urgency(line: Option<&Line>) -> Urgency {
        match line {
            Some(Line::Text(text)) if text.len() == 1 => Urgency::Patient,
            Some(Line::Text(text)) if text.len() == 2 => Urgency::Quit,
            Some(_) => Urgency::NewSearch,
            None => Urgency::Patient,
        }
    }

    fn wait_for(stop: &Stop) {
        while !stop.is_set() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn lines_come_in_order_up_to_the_one_that_leaves() {
        let mut inbox = Inbox::open(&b"a\nccc\nbb\nddd"[..], urgency);
        for text in ["a", "ccc", "bb"] {
            assert_eq!(inbox.receive().expect("memory"), Some(Line::Text(text.into())));
        }
        assert_eq!(inbox.receive().expect("memory"), None);
        assert_eq!(inbox.receive().expect("memory"), None);
    }

    #[test]
    fn a_flag_is_set_by_later_lines_that_are_urgent_enough() {
        let mut inbox = Inbox::open(&b"ccc\na\nbb\nccc\n"[..], urgency);
        inbox.receive().expect("memory").expect("a line");
        wait_for(&inbox.stop_at(Urgency::Quit));
        // All that will be read has been read.
        assert!(!inbox.stop_at(Urgency::NewSearch).is_set());
        assert!(inbox.stop_at(Urgency::Patient).is_set());
        for left in [true, true, false] {
            assert_eq!(inbox.holds(Urgency::Quit), left);
            assert!(!inbox.holds(Urgency::NewSearch), "that line has been taken");
            inbox.receive().expect("memory");
        }
    }

    #[test]
    fn a_flag_is_set_while_the_peer_still_writes() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let mut inbox = Inbox::open(io::BufReader::new(reader), urgency);
        io::Write::write_all(&mut writer, b"a\n").expect("a reader");
        inbox.receive().expect("a pipe").expect("a line");
        let stop = inbox.stop_at(Urgency::NewSearch);
        io::Write::write_all(&mut writer, b"b\n").expect("a reader");
        inbox.wait();
        assert!(!stop.is_set());
        io::Write::write_all(&mut writer, b"ccc\n").expect("a reader");
        wait_for(&stop);
    }
}
