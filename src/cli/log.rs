//! The log on standard error, and its level.

use std::io::IsTerminal;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The environment variable that sets the level.
const VARIABLE: &str = "OUTFLANK_LOG";
/// The program's own log target. Libraries log warnings at most.
const OWN: &str = env!("CARGO_PKG_NAME");

/// Starts the log at the level of the environment variable.
pub fn start() {
    let given = std::env::var_os(VARIABLE).unwrap_or_default();
    let levels = levels(&given.to_string_lossy());
    let (targets, refused) = match levels {
        Ok(targets) => (targets, None),
        Err(refused) => (at(LevelFilter::INFO), Some(refused)),
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(|| crate::telemetry::Messages)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .without_time()
        // Do not panic if standard error is closed.
        .log_internal_errors(false);
    tracing_subscriber::registry().with(targets).with(lines).init();
    if let Some(part) = refused {
        tell!(
            "warning: {VARIABLE}: `{part}` is not a level; allowed: off, error, warn, info, debug, \
             trace, or a level for a module, such as {OWN}::net=debug; info is used"
        );
    }
    tracing::debug!("{OWN} {}", env!("CARGO_PKG_VERSION"));
}

/// The program at `level`, libraries at warnings at most. The client of NATS is silent: the program
/// says itself what its errors mean.
fn at(level: LevelFilter) -> Targets {
    let targets = Targets::new().with_default(LevelFilter::WARN.min(level));
    targets.with_target(OWN, level).with_target("async_nats", LevelFilter::OFF)
}

/// Parses levels: `LEVEL`, `MODULE=LEVEL`, or several of these separated by commas.
///
/// # Errors
///
/// The first part that is neither.
fn levels(text: &str) -> Result<Targets, String> {
    let mut targets = at(LevelFilter::INFO);
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (module, level) = part.split_once('=').unwrap_or((OWN, part));
        let level = level.parse().ok().filter(|_| !level.is_empty());
        let is_own = module.split("::").next() == Some(OWN);
        let level: LevelFilter = level.filter(|_| is_own).ok_or_else(|| part.to_owned())?;
        targets = match module {
            OWN => targets.with_default(LevelFilter::WARN.min(level)).with_target(OWN, level),
            module => targets.with_target(module, level),
        };
    }
    Ok(targets)
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn a_level_holds_for_the_program_or_a_module() {
        for (text, own, net, library) in [
            ("", Level::INFO, Level::INFO, Level::WARN),
            ("debug", Level::DEBUG, Level::DEBUG, Level::WARN),
            ("Error", Level::ERROR, Level::ERROR, Level::ERROR),
            ("outflank::net=trace", Level::INFO, Level::TRACE, Level::WARN),
            (" warn, outflank::net=debug,", Level::WARN, Level::DEBUG, Level::WARN),
        ] {
            let targets = levels(text).expect(text);
            for (target, level) in [(OWN, own), ("outflank::net", net), ("rustyline", library)] {
                assert!(targets.would_enable(target, &level), "{text}: {target} {level}");
                let more = [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG, Level::TRACE];
                let mut more = more.into_iter().filter(|more| *more > level);
                assert!(more.all(|more| !targets.would_enable(target, &more)), "{text}: {target}");
            }
        }
        assert!(!levels("off").expect("off").would_enable(OWN, &Level::ERROR));
    }

    #[test]
    fn the_part_that_is_not_a_level_is_returned() {
        for (text, wanted) in [
            ("loud", "loud"),
            ("debug,outflank=loud", "outflank=loud"),
            ("rustyline=debug", "rustyline=debug"),
            ("outflank=", "outflank="),
        ] {
            assert_eq!(levels(text).expect_err(text), wanted);
        }
    }
}
