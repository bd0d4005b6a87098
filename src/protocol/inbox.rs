//! Lines that a thread of its own reads ahead, so that the next line can end a search.
//!
//! Lines are numbered, and the number of the newest line of each urgency is kept. So it does not
//! matter whether a line comes before a search has begun or while it is under way.

use std::io::{self, BufRead};
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::lines::{Line, next_line};
use crate::search::stop::Stop;

/// Lines that wait to be obeyed. Once there are as many, the next ones stay with the peer.
const WAITING: usize = 64;

/// How urgent a line is while a search goes on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Urgency {
    /// It can wait until the search is done.
    Patient,
    /// The peer leaves. Nothing is read after it.
    Leaving,
    /// It asks something new, or changes the position.
    Question,
}

/// A line and its number, or the end of the input.
type Arrival = (u64, io::Result<Option<Line>>);

/// The lines of a peer, read ahead.
pub struct Inbox {
    lines: Receiver<Arrival>,
    desk: Arc<Mutex<Desk>>,
    /// A line that was waited for and not taken yet.
    ahead: Option<Arrival>,
    /// The number of the line that was taken last.
    taken: u64,
}

/// What the reading thread and the taker of lines share.
#[derive(Default)]
struct Desk {
    /// The number of the newest line of each urgency.
    newest: [u64; 3],
    /// The flag of the search under way, and how urgent a line must be to set it.
    search: Option<(Urgency, Stop)>,
}

impl Desk {
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
    /// Starts to read. `urgency` judges each line, and `None` at the end of the input. The thread
    /// ends with the input, or at the first line that it reads after the inbox is gone.
    pub fn open(
        input: impl BufRead + Send + 'static,
        urgency: impl Fn(Option<&Line>) -> Urgency + Send + 'static,
    ) -> Inbox {
        let (sender, lines) = bounded(WAITING);
        let desk = Arc::new(Mutex::new(Desk::default()));
        let shared = Arc::clone(&desk);
        std::thread::spawn(move || read(input, &urgency, &shared, &sender));
        Inbox { lines, desk, ahead: None, taken: 0 }
    }

    /// Takes the next line; `None` at the end of the input.
    ///
    /// # Errors
    ///
    /// The input fails.
    pub fn receive(&mut self) -> io::Result<Option<Line>> {
        self.wait();
        // A reader that is gone has sent the end of the input before.
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

    /// A flag for a search that belongs to the line taken last. It is set once a line of at least
    /// this urgency has come after that one.
    pub fn stop_at(&self, least: Urgency) -> Stop {
        let stop = Stop::default();
        let mut desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        if desk.holds(least, self.taken) {
            stop.set();
        }
        desk.search = Some((least, stop.clone()));
        stop
    }

    /// Whether a line of at least this urgency has come after the line taken last.
    pub fn holds(&self, least: Urgency) -> bool {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner).holds(least, self.taken)
    }
}

fn read(
    mut input: impl BufRead,
    urgency: &impl Fn(Option<&Line>) -> Urgency,
    desk: &Mutex<Desk>,
    sender: &Sender<Arrival>,
) {
    for number in 1.. {
        let line = next_line(&mut input);
        let text = line.as_ref().ok().and_then(Option::as_ref);
        let urgency = urgency(text);
        let last = text.is_none() || urgency == Urgency::Leaving;
        desk.lock().unwrap_or_else(PoisonError::into_inner).arrived(number, urgency);
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
            Some(Line::Text(text)) if text.len() == 2 => Urgency::Leaving,
            Some(_) => Urgency::Question,
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
        wait_for(&inbox.stop_at(Urgency::Leaving));
        // All that will be read has been read.
        assert!(!inbox.stop_at(Urgency::Question).is_set());
        assert!(inbox.stop_at(Urgency::Patient).is_set());
        for left in [true, true, false] {
            assert_eq!(inbox.holds(Urgency::Leaving), left);
            assert!(!inbox.holds(Urgency::Question), "that line has been taken");
            inbox.receive().expect("memory");
        }
    }

    #[test]
    fn a_flag_is_set_while_the_peer_still_writes() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let mut inbox = Inbox::open(io::BufReader::new(reader), urgency);
        io::Write::write_all(&mut writer, b"a\n").expect("a reader");
        inbox.receive().expect("a pipe").expect("a line");
        let stop = inbox.stop_at(Urgency::Question);
        io::Write::write_all(&mut writer, b"b\n").expect("a reader");
        inbox.wait();
        assert!(!stop.is_set());
        io::Write::write_all(&mut writer, b"ccc\n").expect("a reader");
        wait_for(&stop);
    }
}
