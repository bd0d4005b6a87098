//! How a signal ends a subcommand: the first in order, the second at once.
//!
//! Code that ends the process at once calls [`leave`]. Other threads may be at work in libtorch, and
//! `std::process::exit` would run its destructors under them.

use std::io;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::getpgrp;
use rustix::termios::{OptionalActions, tcgetattr, tcgetpgrp, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use crate::arena::external;

/// The exit code after Ctrl-C, where it leaves work undone: a shell's own.
pub const INTERRUPTED: u8 = 130;

/// Set by the first Ctrl-C (or request to terminate, or end of the terminal), which also ends all
/// outside engines: a match that is stopped needs none of their answers. The second ends the process.
pub fn stop_flag() -> &'static AtomicBool {
    static STOP: AtomicBool = AtomicBool::new(false);
    static HANDLER: LazyLock<()> = LazyLock::new(|| on_signals(|signal| received(signal, &STOP)));
    LazyLock::force(&HANDLER);
    &STOP
}

/// From now on the first Ctrl-C ends the process at once, as a shell's commands do, and the engines
/// that it has started: for subcommands that have nothing to bring in order but the terminal, which
/// is left as it is now.
pub fn end_at_once() {
    let settings = tcgetattr(io::stdin()).ok();
    on_signals(move |signal| {
        // While a line is edited the terminal is in raw mode.
        if let Some(settings) = settings.as_ref().filter(|_| owns_terminal()) {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, settings);
        }
        leave(128 + signal)
    });
}

/// Ends all outside engines and then the process, whatever its other threads are doing. Nothing
/// is written or cleared up: no destructor runs.
pub fn leave(code: i32) -> ! {
    external::end_all();
    low_level::exit(code)
}

/// Whether this process may change the terminal's settings: one in the background is stopped if it
/// tries, and the settings are the shell's there.
fn owns_terminal() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|foreground| foreground == getpgrp())
}

fn on_signals(act: impl Fn(i32) + Send + 'static) {
    let mut signals = vec![SIGINT, SIGTERM];
    // `nohup` asks that the end of the terminal be ignored.
    if !hangup_is_ignored() {
        signals.push(SIGHUP);
    }
    match Signals::new(signals) {
        Ok(mut signals) => drop(std::thread::spawn(move || signals.forever().for_each(act))),
        Err(error) => tell!("warning: Ctrl-C ends the process at once: {error}"),
    }
}

fn received(signal: i32, stop: &AtomicBool) {
    /// Not `stop`, which a run that ends by itself sets as well.
    static ASKED: AtomicBool = AtomicBool::new(false);
    let again = ASKED.swap(true, Ordering::Relaxed);
    stop.store(true, Ordering::Relaxed);
    // A terminal that is closed may say so twice.
    if again && signal != SIGHUP {
        leave(INTERRUPTED.into());
    }
    if !again {
        external::end_all();
        tell!("stopping; once more ends at once");
    }
}

/// Whether this process was started with hangups ignored, as far as the system tells.
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    ignored.is_some_and(|set| set >> (SIGHUP - 1) & 1 == 1)
}
