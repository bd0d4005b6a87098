//! Signals: the first one asks a subcommand to stop, the second one ends the process at once.
//!
//! Code that ends the process at once calls [`exit_now`]. `std::process::exit` would run libtorch's
//! destructors while other threads may still use it.

use std::io;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::getpgrp;
use rustix::termios::{OptionalActions, tcgetattr, tcgetpgrp, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use crate::players::external;

/// The exit code if Ctrl-C left work unfinished, as shells define it.
pub const INTERRUPTED: u8 = 130;

/// A flag that the first Ctrl-C sets, and so do SIGTERM and the end of the terminal. The signal
/// also ends all external engines, because a match that stops needs no more answers. A second
/// signal ends the process.
pub fn stop_flag() -> &'static AtomicBool {
    static STOP: AtomicBool = AtomicBool::new(false);
    static HANDLER: LazyLock<()> = LazyLock::new(|| on_signals(|signal| received(signal, &STOP)));
    LazyLock::force(&HANDLER);
    &STOP
}

/// From now on the first Ctrl-C ends the process and its engines at once. This is for subcommands
/// that have nothing to save; they only restore the present settings of the terminal.
pub fn exit_on_interrupt() {
    let settings = tcgetattr(io::stdin()).ok();
    on_signals(move |signal| {
        ENDING.store(true, Ordering::Release);
        // First, because a thread that waited for an engine may go on to the next prompt.
        external::end_all();
        // The line editor puts the terminal into raw mode.
        if let Some(settings) = settings.as_ref().filter(|_| owns_terminal()) {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, settings);
        }
        low_level::exit(128 + signal)
    });
}

/// Whether a signal is ending the process, after [`exit_on_interrupt`].
static ENDING: AtomicBool = AtomicBool::new(false);

/// Never returns if a signal is ending the process, otherwise returns at once. Code that changes the
/// settings of the terminal calls this first, so that they are not changed after they are restored.
pub fn wait_if_ending() {
    while ENDING.load(Ordering::Acquire) {
        std::thread::park();
    }
}

/// Ends all external engines and then the process, whatever its other threads are doing. No
/// destructor runs, so nothing is written or removed.
pub fn exit_now(code: i32) -> ! {
    external::end_all();
    low_level::exit(code)
}

/// Whether this process is in the foreground of its terminal. In the background the settings belong
/// to the shell, and a process that changes them is stopped.
fn owns_terminal() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|foreground| foreground == getpgrp())
}

/// Calls `act` for each signal, in a thread of its own.
fn on_signals(act: impl Fn(i32) + Send + 'static) {
    let mut signals = vec![SIGINT, SIGTERM];
    // `nohup` asks to ignore the end of the terminal.
    if !hangup_is_ignored() {
        signals.push(SIGHUP);
    }
    match Signals::new(signals) {
        Ok(mut signals) => drop(std::thread::spawn(move || signals.forever().for_each(act))),
        Err(error) => tell!("warning: Ctrl-C ends the process at once: {error}"),
    }
}

fn received(signal: i32, stop: &AtomicBool) {
    /// Whether there was a signal before. `stop` cannot tell: a run that ends by itself sets it.
    static ASKED: AtomicBool = AtomicBool::new(false);
    let again = ASKED.swap(true, Ordering::Relaxed);
    stop.store(true, Ordering::Relaxed);
    // A closed terminal may send SIGHUP twice.
    if again && signal != SIGHUP {
        exit_now(INTERRUPTED.into());
    }
    if !again {
        external::end_all();
        tell!("stopping; a second Ctrl-C ends at once");
    }
}

/// Whether this process was started with SIGHUP ignored; `false` if unknown.
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    ignored.is_some_and(|set| set >> (SIGHUP - 1) & 1 == 1)
}
