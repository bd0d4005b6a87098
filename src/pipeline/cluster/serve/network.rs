//! The thread that speaks to the server for the learner: it takes commands, and runs the tasks of
//! the [`Desk`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::Sender;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::Receipt;
use super::desk::{Desk, Message};
use super::shared::Shared;
use crate::pipeline::cluster::link::{LinkError, ServerOptions, connect};
use crate::pipeline::messages::NewNet;

/// How long the last messages may take.
const FLUSH_WITHIN: Duration = Duration::from_secs(1);

/// From the coordinator and the checker to the network thread.
pub(super) enum Command {
    /// A new net.
    Publish(NewNet),
    /// These games are stored or refused.
    Done(Vec<Receipt>),
    /// This message cannot be read, and must not come again.
    Unreadable(u64),
    /// No more games are taken.
    Close { has_ended: bool },
    /// The thread ends.
    End,
}

pub(super) struct Network {
    pub options: ServerOptions,
    pub shared: Arc<Shared>,
    pub commands: UnboundedReceiver<Command>,
    pub to_checker: Sender<Message>,
}

impl Network {
    /// Takes commands until it is told to end. Sends the first result of the connection to `ready`.
    pub async fn run(mut self, ready: Sender<Result<(), LinkError>>) {
        let (newest, nets) = watch::channel(None);
        let stop = Arc::new(AtomicBool::new(false));
        let (opened, mut desk) = watch::channel(None);
        let task = open(
            self.options.clone(),
            Arc::clone(&self.shared),
            (nets, self.to_checker, ready),
            (opened, Arc::clone(&stop)),
        );
        let mut task = Some(tokio::spawn(task));
        while let Some(command) = self.commands.recv().await {
            let open: Option<Arc<Desk>> = desk.borrow_and_update().clone();
            match (command, open) {
                (Command::Publish(net), _) => {
                    self.shared.note_net(&net);
                    newest.send_replace(Some(net));
                }
                (Command::Done(receipts), Some(desk)) => desk.done(receipts).await,
                (Command::Unreadable(message), Some(desk)) => desk.refuse(message).await,
                (Command::Close { has_ended }, open) => {
                    self.shared.has_ended.store(has_ended, Ordering::Relaxed);
                    stop.store(true, Ordering::Relaxed);
                    if let Some(task) = task.take() {
                        task.abort();
                    }
                    // Workers learn until the end how the run stands.
                    if let Some(desk) = open {
                        tokio::spawn(desk.send_states());
                    }
                }
                (Command::End, open) => {
                    if let Some(desk) = open {
                        // The server may be gone: then there is nobody to tell.
                        let _ = tokio::time::timeout(FLUSH_WITHIN, desk.flush()).await;
                    }
                    return;
                }
                (Command::Done(_) | Command::Unreadable(_), None) => {}
            }
        }
    }
}

type Inputs = (watch::Receiver<Option<NewNet>>, Sender<Message>, Sender<Result<(), LinkError>>);

/// Connects, and runs the tasks until this future is dropped.
async fn open(
    options: ServerOptions,
    shared: Arc<Shared>,
    (nets, to_checker, ready): Inputs,
    (opened, stop): (watch::Sender<Option<Arc<Desk>>>, Arc<AtomicBool>),
) {
    let name = format!("outflank learner {}", shared.run);
    let (client, jetstream) = match connect(&options, &name, &stop).await {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!("workers cannot join: {error}");
            let _ = ready.send(Err(error));
            return;
        }
    };
    let desk = Arc::new(Desk::new(shared, client, jetstream));
    let first = desk.prepare().await.map(drop);
    if let Err(error) = &first {
        tracing::warn!("{error}; tries again");
    }
    let _ = ready.send(Ok(()));
    opened.send_replace(Some(Arc::clone(&desk)));
    let tasks = [
        tokio::spawn(Arc::clone(&desk).take_messages(to_checker)),
        tokio::spawn(Arc::clone(&desk).put_nets(nets)),
        tokio::spawn(Arc::clone(&desk).send_states()),
        tokio::spawn(Arc::clone(&desk).lease_numbers()),
        tokio::spawn(Arc::clone(&desk).take_reports()),
    ];
    let _end = AbortOnDrop(tasks.into());
    std::future::pending().await
}

struct AbortOnDrop(Vec<JoinHandle<()>>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}
