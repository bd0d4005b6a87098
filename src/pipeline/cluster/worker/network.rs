//! The thread that speaks to the server for a worker.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::Context;
use async_nats::jetstream::message::PublishMessage;
use crossbeam_channel::Sender;
use futures_util::StreamExt as _;
use tokio::io::AsyncReadExt as _;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;

use super::WorkerError;
use crate::game::notation::plain_excerpt;
use crate::model::weights::Weights;
use crate::pipeline::cluster::link::{LinkError, ServerOptions, connect};
use crate::pipeline::cluster::names::{self, NETS_BUCKET, Name, RUNS_BUCKET};
use crate::pipeline::cluster::wire::{
    Announcement, LeaseReply, LeaseRequest, NetNotice, PROTOCOL, Report, State, Stored, parse,
};
use crate::store::with_causes;

/// How long runs are looked for before one of them is joined.
const LOOK: Duration = Duration::from_millis(800);
const PAUSE: Duration = Duration::from_millis(300);
/// The largest net that is taken, in bytes. The largest that a configuration allows has 7.4 GiB, but
/// no worker plays with such a net.
const LARGEST_NET: u64 = 1 << 30;

/// From the worker to its network thread.
pub(super) enum Command {
    /// A message with games, by its number in the outbox.
    Send {
        number: u64,
        bytes: Vec<u8>,
    },
    /// Numbers for new games are needed.
    Lease(u64),
    Report(Report),
    /// The thread ends.
    End,
}

/// From the network thread to its worker.
pub(super) enum Event {
    State(State),
    Net {
        notice: NetNotice,
        weights: Arc<Weights>,
    },
    Numbers(Range<u64>),
    /// The request for numbers failed.
    NoNumbers {
        why: String,
        is_final: bool,
    },
    /// A message is on the server.
    Sent(u64),
    NotSent {
        number: u64,
        why: String,
    },
    Stored(Stored),
}

/// A connection to the server of a run.
pub(super) struct Joined {
    client: Client,
    jetstream: Context,
    pub run: Name,
    pub announcement: Announcement,
}

/// Connects, and finds the run. Waits for a server and a learner that are not there.
pub(super) async fn join(
    server: &ServerOptions,
    name: &Name,
    wanted: Option<&Name>,
    stop: &AtomicBool,
) -> Result<Joined, WorkerError> {
    let (client, jetstream) = connect(server, &format!("outflank worker {name}"), stop).await?;
    let run = match wanted {
        Some(run) => run.clone(),
        None => find_run(&client, stop).await?,
    };
    let announcement = read_announcement(&jetstream, &run, stop).await?;
    if announcement.protocol != PROTOCOL {
        return Err(WorkerError::Protocol {
            found: announcement.protocol,
            program: plain_excerpt(&announcement.program, 40).into(),
        });
    }
    Ok(Joined { client, jetstream, run, announcement })
}

/// The run whose learner is there.
async fn find_run(client: &Client, stop: &AtomicBool) -> Result<Name, WorkerError> {
    let what = "the states of runs";
    let mut states =
        client.subscribe("outflank.*.state").await.map_err(LinkError::request(what))?;
    let mut has_told = false;
    loop {
        let mut found = BTreeSet::new();
        let end = tokio::time::Instant::now() + LOOK;
        while let Ok(Some(message)) = tokio::time::timeout_at(end, states.next()).await {
            let run = message.subject.split('.').nth(1).and_then(|run| run.parse::<Name>().ok());
            found.extend(run);
        }
        if stop.load(Ordering::Relaxed) {
            return Err(LinkError::Stopped.into());
        }
        match found.len() {
            0 => {
                if !std::mem::replace(&mut has_told, true) {
                    tracing::info!("no learner is at the server; waits for one");
                }
            }
            1 => return found.pop_first().ok_or_else(|| LinkError::Stopped.into()),
            _ => {
                let names: Vec<_> = found.iter().take(20).map(Name::as_str).collect();
                return Err(WorkerError::ManyRuns { runs: names.join(", ") });
            }
        }
    }
}

async fn read_announcement(
    jetstream: &Context,
    run: &Name,
    stop: &AtomicBool,
) -> Result<Announcement, WorkerError> {
    let mut has_told = false;
    loop {
        let why = match jetstream.get_key_value(RUNS_BUCKET).await {
            Err(error) => with_causes(&error),
            Ok(runs) => match runs.get(run.as_str()).await {
                Err(error) => with_causes(&error),
                Ok(None) => "the server does not know it".into(),
                Ok(Some(bytes)) => {
                    return parse(&bytes).map_err(|message| WorkerError::Announcement { message });
                }
            },
        };
        if stop.load(Ordering::Relaxed) {
            return Err(LinkError::Stopped.into());
        }
        if !std::mem::replace(&mut has_told, true) {
            tracing::warn!("waits for run {run}: {why}");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

impl Joined {
    /// Passes messages until the worker says that it ends.
    pub async fn serve(
        self,
        worker: Name,
        mut commands: UnboundedReceiver<Command>,
        events: Sender<Event>,
    ) {
        let (newest, nets) = watch::channel(None);
        let this = Arc::new(self);
        let tasks = [
            tokio::spawn(Arc::clone(&this).take_states(events.clone(), newest)),
            tokio::spawn(Arc::clone(&this).take_nets(events.clone(), nets)),
            tokio::spawn(Arc::clone(&this).take_stored(worker.clone(), events.clone())),
        ];
        while let Some(command) = commands.recv().await {
            match command {
                Command::Send { number, bytes } => {
                    tokio::spawn(Arc::clone(&this).send(
                        worker.clone(),
                        number,
                        bytes,
                        events.clone(),
                    ));
                }
                Command::Lease(count) => {
                    tokio::spawn(Arc::clone(&this).lease(worker.clone(), count, events.clone()));
                }
                Command::Report(report) => {
                    let bytes = serde_json::to_vec(&report).unwrap_or_default();
                    let subject = names::report(&this.run, &worker);
                    // Without a connection a report may be lost: the next one follows.
                    let _ = this.client.publish(subject, bytes.into()).await;
                }
                Command::End => break,
            }
        }
        let _ = tokio::time::timeout(PAUSE, this.client.flush()).await;
        tasks.iter().for_each(tokio::task::JoinHandle::abort);
    }

    async fn take_states(
        self: Arc<Self>,
        events: Sender<Event>,
        newest: watch::Sender<Option<NetNotice>>,
    ) {
        let Ok(mut states) = self.client.subscribe(names::state(&self.run)).await else { return };
        while let Some(message) = states.next().await {
            match parse::<State>(&message.payload) {
                Ok(state) => {
                    newest.send_if_modified(|known| {
                        let is_new = state.net.is_some() && *known != state.net;
                        if is_new {
                            known.clone_from(&state.net);
                        }
                        is_new
                    });
                    let _ = events.send(Event::State(state));
                }
                Err(error) => tracing::debug!("a state of the run: {error}"),
            }
        }
    }

    async fn take_nets(
        self: Arc<Self>,
        events: Sender<Event>,
        mut newest: watch::Receiver<Option<NetNotice>>,
    ) {
        while newest.changed().await.is_ok() {
            let Some(notice) = newest.borrow_and_update().clone() else { continue };
            match self.net(&notice).await {
                Ok(weights) => {
                    let _ = events.send(Event::Net { notice, weights });
                }
                Err(error) => {
                    // A newer net may have replaced it.
                    tracing::debug!("net {}: {error}", notice.id.version);
                    tokio::time::sleep(PAUSE).await;
                    newest.mark_changed();
                }
            }
        }
    }

    async fn net(&self, notice: &NetNotice) -> Result<Arc<Weights>, LinkError> {
        let what = "a net";
        let bucket = self.jetstream.get_object_store(NETS_BUCKET).await;
        let bucket = bucket.map_err(LinkError::request(what))?;
        let object = bucket.get(names::net(&self.run, notice.id)).await;
        let object = object.map_err(LinkError::request(what))?;
        let mut bytes = Vec::new();
        let read = object.take(LARGEST_NET).read_to_end(&mut bytes).await;
        read.map_err(LinkError::request(what))?;
        let found = crc32fast::hash(&bytes);
        if found != notice.checksum {
            let message = format!("its checksum is {found:08x}, expected {:08x}", notice.checksum);
            return Err(LinkError::Request { what: what.into(), message });
        }
        let (weights, _) = Weights::from_bytes(&bytes).map_err(LinkError::request(what))?;
        Ok(Arc::new(weights))
    }

    async fn take_stored(self: Arc<Self>, worker: Name, events: Sender<Event>) {
        let subject = names::stored(&self.run, &worker);
        let Ok(mut stored) = self.client.subscribe(subject).await else { return };
        while let Some(message) = stored.next().await {
            match parse::<Stored>(&message.payload) {
                Ok(stored) => {
                    let _ = events.send(Event::Stored(stored));
                }
                Err(error) => tracing::debug!("a confirmation: {error}"),
            }
        }
    }

    async fn send(
        self: Arc<Self>,
        worker: Name,
        number: u64,
        bytes: Vec<u8>,
        events: Sender<Event>,
    ) {
        let message = PublishMessage::build().payload(bytes.into());
        let subject = names::games(&self.run, &worker);
        let sent = self.jetstream.send_publish(subject, message).await;
        let event = match sent {
            Err(error) => Event::NotSent { number, why: with_causes(&error) },
            Ok(acknowledged) => match acknowledged.await {
                Err(error) => Event::NotSent { number, why: with_causes(&error) },
                Ok(_) => Event::Sent(number),
            },
        };
        let _ = events.send(event);
    }

    async fn lease(self: Arc<Self>, worker: Name, count: u64, events: Sender<Event>) {
        let request = serde_json::to_vec(&LeaseRequest { count }).unwrap_or_default();
        let reply = self.client.request(names::lease(&self.run, &worker), request.into()).await;
        let failed = |why: String| Event::NoNumbers { why, is_final: false };
        let event = match reply {
            Err(error) => failed(with_causes(&error)),
            Ok(message) => match parse::<LeaseReply>(&message.payload) {
                Err(error) => failed(error.into()),
                Ok(LeaseReply::Refused(why)) => Event::NoNumbers { why, is_final: true },
                Ok(LeaseReply::Numbers(first, end)) if first < end => Event::Numbers(first..end),
                Ok(LeaseReply::Numbers(..)) => failed("the learner has none now".into()),
            },
        };
        let _ = events.send(event);
    }
}
