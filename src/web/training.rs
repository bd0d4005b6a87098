//! Starts, stops and resumes runs, if the program was started with `--allow-training`.
//!
//! A run is a process of its own: it goes on when the page's server ends, and can be resumed from
//! the command line. Only runs that this server has started can be stopped by it.

use std::collections::VecDeque;
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use super::error::ApiError;
use super::routes::{App, body};
use super::runs::{find, reading};
use crate::game::notation::plain_excerpt;
use crate::store::{self, limits, shipped};

/// Runs at the same time.
const MOST_RUNNING: usize = 2;
/// A wrong configuration ends the process within this time.
const STARTING: Duration = Duration::from_secs(2);
/// The last bytes of a process's messages that are kept.
const KEPT_BYTES: usize = 4_096;
/// The folder of configurations, in the current directory or in the source tree.
const CONFIGS: &str = "configs";
/// The longest name of a run.
const LONGEST_NAME: usize = 60;

/// The processes that this server has started.
#[derive(Debug)]
pub(super) struct Training {
    program: Option<PathBuf>,
    running: Mutex<Vec<Process>>,
}

#[derive(Debug)]
struct Process {
    run: PathBuf,
    child: Child,
    messages: Arc<Mutex<VecDeque<u8>>>,
    /// It was asked to end. A second interrupt would end it at once, unsaved.
    is_ending: bool,
}

impl Process {
    /// Its number. It was not waited for, so no other process can have it.
    fn number(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

/// The routes of training.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/api/training", get(offer))
        .route("/api/training/start", post(start))
        .route("/api/training/stop", post(stop))
        .route("/api/training/kill", post(kill))
        .route("/api/training/resume", post(resume))
}

impl Training {
    /// Training by a program, or none at all.
    pub fn new(program: Option<PathBuf>) -> Training {
        Training { program, running: Mutex::new(Vec::new()) }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Process>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain_mut(|process| matches!(process.child.try_wait(), Ok(None)));
        running
    }

    /// The runs whose processes this server has started and that go on.
    pub fn running(&self) -> Vec<PathBuf> {
        self.lock().iter().map(|process| process.run.clone()).collect()
    }

    /// Whether a run that this server has started has been told to end.
    pub fn is_ending(&self, run: &Path) -> bool {
        self.lock().iter().any(|process| process.run == run && process.is_ending)
    }

    fn program(&self) -> Result<&Path, ApiError> {
        let error = || ApiError::new(StatusCode::FORBIDDEN, "the page may not start or stop runs");
        self.program
            .as_deref()
            .ok_or_else(|| error().allowing("only after `outflank web --allow-training`"))
    }

    /// Starts `train` with these arguments. The run goes on when this program ends.
    fn launch(&self, run: PathBuf, arguments: &[&Path]) -> Result<(), ApiError> {
        let program = self.program()?;
        let mut running = self.lock();
        if running.len() >= MOST_RUNNING {
            let error = ApiError::busy("the page has started as many runs as it may");
            return Err(error.allowing(format!("{MOST_RUNNING} at the same time")));
        }
        let mut command = Command::new(program);
        command.arg("train").args(arguments).arg("--quiet").arg("--run-dir").arg(&run);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // A Ctrl-C for the page's server is not for the run.
        command.process_group(0);
        let failed = |error: std::io::Error| ApiError::failed(format!("no process: {error}"));
        let mut child = command.spawn().map_err(failed)?;
        let messages = Arc::<Mutex<VecDeque<u8>>>::default();
        if let Some(errors) = child.stderr.take() {
            let messages = messages.clone();
            let thread = std::thread::Builder::new().name("run messages".into());
            thread.spawn(move || keep_last(errors, &messages)).map_err(failed)?;
        }
        running.push(Process { run, child, messages, is_ending: false });
        Ok(())
    }

    /// Why the process of a run has failed, if it has.
    fn failure(&self, run: &Path) -> Option<ApiError> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let process = running.iter_mut().find(|process| process.run == run)?;
        let status = process.child.try_wait().ok()??;
        if status.success() {
            return None;
        }
        let messages = process.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = messages.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes).trim().replace('\n', "; ");
        Some(ApiError::bad(format!("the run did not start: {}", plain_excerpt(&text, KEPT_BYTES))))
    }
}

/// Reads a process's messages, so that it never waits, and keeps the last ones.
fn keep_last(mut errors: ChildStderr, messages: &Mutex<VecDeque<u8>>) {
    let mut bytes = [0; 1024];
    while let Ok(count @ 1..) = errors.read(&mut bytes) {
        let mut kept = messages.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&bytes[..count]);
        let surplus = kept.len().saturating_sub(KEPT_BYTES);
        kept.drain(..surplus);
    }
}

#[derive(Serialize)]
struct Offer {
    configs: Vec<Offered>,
}

/// A configuration that a run can start with.
#[derive(Serialize)]
struct Offered {
    name: String,
    /// Its first comment, as one line.
    about: String,
    #[serde(skip)]
    path: PathBuf,
}

fn offered() -> Vec<Offered> {
    let Some(folder) = shipped::folder(CONFIGS) else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let paths = paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    let mut configs: Vec<_> = paths
        .filter_map(|path| {
            let bytes = store::read(&path, limits::CONFIG).ok()?;
            let text = String::from_utf8_lossy(&bytes);
            let comment = text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim);
            let about = comment.collect::<Vec<_>>().join(" ");
            Some(Offered { name: path.file_stem()?.to_str()?.to_string(), about, path })
        })
        .collect();
    configs.sort_by(|a, b| a.name.cmp(&b.name));
    configs
}

async fn offer(State(app): State<Arc<App>>) -> Result<Json<Offer>, ApiError> {
    app.training.program()?;
    reading(|| Ok(Json(Offer { configs: offered() }))).await
}

#[derive(Deserialize)]
struct NewRun {
    config: Box<str>,
    name: Box<str>,
}

#[derive(Deserialize, Serialize)]
struct Named {
    run: String,
}

async fn start(State(app): State<Arc<App>>, request: Request) -> Result<Json<Named>, ApiError> {
    app.training.program()?;
    let NewRun { config, name } = body(request).await?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !(1..=LONGEST_NAME).contains(&name.len()) || !name.bytes().all(plain) {
        return Err(ApiError::bad("the run cannot have this name")
            .at("name")
            .allowing(format!("1 to {LONGEST_NAME} letters, digits, `-` and `_`")));
    }
    let configs = reading(|| Ok(offered())).await?;
    let names: Vec<_> = configs.iter().map(|config| config.name.clone()).collect();
    let found = configs.into_iter().find(|offered| *offered.name == *config);
    let unknown = || ApiError::bad("there is no such configuration").at("config");
    let config = found.ok_or_else(|| unknown().allowing(names.join(", ")))?;
    let folder = app.options.runs.first().ok_or_else(|| ApiError::failed("no folder of runs"))?;
    let run = folder.join(&*name);
    if run.exists() {
        let error = format!("there is a run `{name}` already; choose another name");
        return Err(ApiError::bad(error).at("name"));
    }
    app.training.launch(run.clone(), &[&config.path])?;
    begun(&app, &run).await?;
    Ok(Json(Named { run: name.into() }))
}

/// Waits until the process has ended with an error or is likely to go on.
async fn begun(app: &App, run: &Path) -> Result<(), ApiError> {
    tokio::time::sleep(STARTING).await;
    app.training.failure(run).map_or(Ok(()), Err)
}

async fn resume(State(app): State<Arc<App>>, request: Request) -> Result<Json<Named>, ApiError> {
    app.training.program()?;
    let Named { run: id } = body(request).await?;
    let (folders, name) = (app.options.runs.clone(), id.clone());
    let run = reading(move || find(&folders, &name)).await?;
    if run.state == "running" {
        return Err(ApiError::bad("the run goes on already").at("run"));
    }
    app.training.launch(run.path.clone(), &[Path::new("--resume")])?;
    begun(&app, &run.path).await?;
    Ok(Json(Named { run: id }))
}

/// Asks a run to save itself and to end, as Ctrl-C does. Further requests change nothing.
async fn stop(State(app): State<Arc<App>>, request: Request) -> Result<Json<Named>, ApiError> {
    signal(&app, request, |process| {
        if !process.is_ending {
            kill_process(process.number(), Signal::INT)?;
            process.is_ending = true;
        }
        Ok(())
    })
    .await
}

/// Ends a run at once. What it has done since its last checkpoint is lost; its games are kept.
async fn kill(State(app): State<Arc<App>>, request: Request) -> Result<Json<Named>, ApiError> {
    signal(&app, request, |process| kill_process(process.number(), Signal::KILL)).await
}

/// Sends a signal to the process of the run that a request names.
async fn signal(
    app: &App,
    request: Request,
    send: impl FnOnce(&mut Process) -> rustix::io::Result<()>,
) -> Result<Json<Named>, ApiError> {
    app.training.program()?;
    let Named { run: id } = body(request).await?;
    let (folders, name) = (app.options.runs.clone(), id.clone());
    let run = reading(move || find(&folders, &name)).await?;
    let mut running = app.training.lock();
    let process = running.iter_mut().find(|process| process.run == run.path);
    let process = process.ok_or_else(|| {
        ApiError::bad("this page has not started the run, so it cannot stop it")
            .at("run")
            .allowing("Ctrl-C where it was started")
    })?;
    send(process)
        .map_err(|error| ApiError::failed(format!("the run cannot be stopped: {error}")))?;
    Ok(Json(Named { run: id }))
}
