//! `outflank worker`: plays self-play games for a learner on another machine.

use std::path::PathBuf;
use std::process::ExitCode;

use super::interrupt::stop_flag;
use super::machine::cores;
use super::server_args::LoginArgs;
use crate::pipeline::cluster::{Name, WorkerOptions, work};

/// Plays self-play games for a learner on another machine.
///
/// The learner is `outflank train CONFIG --nats URL`. A worker takes its configuration and nets from
/// it. Ctrl-C ends a worker in order. A worker that loses the server waits for it and goes on.
/// `docs/cluster.md` describes servers, logins, and what happens if a part fails.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The NATS server of the run, such as nats://192.168.0.7:4222
    #[arg(long, value_name = "URL")]
    nats: String,
    #[command(flatten)]
    login: LoginArgs,
    /// The run to play for; by default the only one at the server
    #[arg(long, value_name = "RUN")]
    run: Option<Name>,
    /// The worker's name, 1 to 32 of a-z, 0-9 and -; by default the user of the login, or the
    /// machine's name with a number
    #[arg(long, value_name = "NAME")]
    name: Option<Name>,
    /// Threads that play games; by default one for each core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    actors: Option<u16>,
    /// The device that computes nets: auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: String,
    /// The folder for games that the learner has not yet stored; by default outflank/outbox in the
    /// user's folder for caches
    #[arg(long, value_name = "DIR")]
    outbox: Option<PathBuf>,
    /// The most megabytes of such games; then the worker waits
    #[arg(long, value_name = "MB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    outbox_mb: u32,
}

const EXAMPLES: &str = "\
Examples:
  outflank worker --nats nats://192.168.0.7:4222
  outflank worker --nats tls://lab.example:4222 --login worker-3.login --authority ca.pem --actors 8";

/// Runs the subcommand, until the run ends or it is interrupted.
///
/// # Errors
///
/// The server or the run cannot be used, or the learner excludes this worker.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let options = args.options()?;
    let end = work(&options, stop_flag())?;
    let why = if end.has_run_ended { "the run has ended" } else { "stopped" };
    println!("{why}: {} games stored, {} refused", end.stored, end.refused);
    if end.unconfirmed > 0 {
        tell!(
            "{} games are not confirmed; they are sent at the next start of this worker",
            end.unconfirmed
        );
    }
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn options(&self) -> anyhow::Result<WorkerOptions> {
        Ok(WorkerOptions {
            server: self.login.options(&self.nats)?,
            run: self.run.clone(),
            name: self.name.clone(),
            actors: self.actors.map_or_else(|| cores() as u32, u32::from),
            device: self.device.clone(),
            outbox: self.outbox.clone().unwrap_or_else(default_outbox),
            outbox_bytes: u64::from(self.outbox_mb) << 20,
        })
    }
}

/// `outflank/outbox` in the user's folder for caches, or in the working directory without one.
fn default_outbox() -> PathBuf {
    let set =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    caches.unwrap_or_default().join("outflank").join("outbox")
}
