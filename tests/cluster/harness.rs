//! A server, a learner and workers for a test, on the loopback.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use outflank::store::games;

/// The longest wait for anything.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The run of the tests: a small net that trains at once.
pub const CONFIG: &str = r#"
board = "6x6"
seed = 5
device = "cpu"
[limits]
minutes = 0
[net]
blocks = 1
channels = 8
[search]
simulations = 4
solve_empties = 8
[selfplay]
games_per_actor = 8
[replay]
min_positions = 200
[learner]
batch = 32
steps_per_publish = 4
[checkpoint]
every_minutes = 0.02
[evaluation]
every_minutes = 0
"#;

/// The server that `scripts/nats_server.py` fetched, or that `NATS_SERVER` names.
pub fn server_program() -> Option<PathBuf> {
    let set =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = || set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    let cache = set("OUTFLANK_CACHE").or_else(|| Some(caches()?.join("outflank")));
    let found = set("NATS_SERVER").or_else(|| Some(cache?.join("nats-server-2.15.1")));
    let found = found.filter(|path| path.is_file());
    if found.is_none() {
        println!("skipped: there is no NATS server; scripts/nats_server.py fetches one");
    }
    found
}

/// All processes of a test and their files. They are killed at its end.
pub struct Cluster {
    program: PathBuf,
    pub dir: tempfile::TempDir,
    pub port: u16,
    server: Option<Child>,
    pub learner: Option<Child>,
    pub workers: Vec<Option<Child>>,
    options: String,
}

impl Cluster {
    /// Starts a server with these lines in its configuration; `None` without a server.
    pub fn start(options: &str) -> Option<Cluster> {
        let program = server_program()?;
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let dir = tempfile::tempdir().expect("a folder");
        let (server, learner, workers) = (None, None, vec![None, None]);
        let options = options.to_string();
        let mut cluster = Cluster { program, dir, port, server, learner, workers, options };
        cluster.start_server();
        Some(cluster)
    }

    /// A server with the options of `scripts/nats.conf`.
    pub fn with_jetstream() -> Option<Cluster> {
        Cluster::start("max_payload: 1MB\njetstream { store_dir: STORE, sync_interval: always }")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn run(&self) -> PathBuf {
        self.path("run")
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub fn start_server(&mut self) {
        let store = format!("\"{}\"", self.path("server").display());
        let options = self.options.replace("STORE", &store);
        let text = format!("host: 127.0.0.1\nport: {}\n{options}\n", self.port);
        let conf = self.path("nats.conf");
        fs::write(&conf, text).expect("written");
        let child =
            Command::new(&self.program).arg("-c").arg(&conf).stderr(self.log("server")).spawn();
        self.server = Some(child.expect("a server"));
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(start.elapsed() < PATIENCE, "the server does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn kill_server(&mut self) {
        kill(&mut self.server);
    }

    fn log(&self, name: &str) -> Stdio {
        let path = self.path(&format!("{name}.log"));
        fs::OpenOptions::new().create(true).append(true).open(path).expect("a log").into()
    }

    pub fn outflank(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
        command.args(args).env("OUTFLANK_LOG", "debug").stdin(Stdio::null());
        command
    }

    /// Starts or resumes the run; `set` are overrides of its configuration.
    pub fn start_learner(&mut self, more: &[&str]) {
        let (config, run) = (self.path("small.toml"), self.run());
        fs::write(&config, CONFIG).expect("written");
        let mut command = self.outflank(&["train"]);
        if run.join("run.json").exists() {
            command.arg("--resume");
        } else {
            command.arg(&config);
        }
        command.arg("--run-dir").arg(&run).args(["--quiet", "--nats", &self.url()]).args(more);
        command.stdout(Stdio::null()).stderr(self.log("learner"));
        self.learner = Some(command.spawn().expect("a learner"));
    }

    pub fn start_worker(&mut self, index: usize) {
        let name = format!("worker-{index}");
        let mut command = self.outflank(&["worker", "--actors", "1", "--name", &name]);
        command.args(["--nats", &self.url(), "--outbox"]).arg(self.path("outbox"));
        // A worker that comes after the learner is started as the learner advises.
        if let Some((_, advice)) = self.output("learner").split_once(" --run ") {
            command.arg("--run").args(advice.split_whitespace().next());
        }
        command.stdout(self.log(&name)).stderr(self.log(&name));
        self.workers[index] = Some(command.spawn().expect("a worker"));
    }

    /// The output of a process so far.
    pub fn output(&self, name: &str) -> String {
        fs::read_to_string(self.path(&format!("{name}.log"))).unwrap_or_default()
    }

    /// Waits until a process has printed a text.
    pub fn wait_for(&self, name: &str, text: &str) {
        let start = Instant::now();
        while !self.output(name).contains(text) {
            assert!(start.elapsed() < PATIENCE, "{name}: no `{text}` in\n{}", self.output(name));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends workers, then the learner, in order.
    pub fn stop(&mut self) {
        for index in 0..self.workers.len() {
            if let Some(worker) = self.workers[index].take() {
                assert!(
                    interrupt(worker),
                    "worker-{index}: {}",
                    self.output(&format!("worker-{index}"))
                );
            }
        }
        if let Some(learner) = self.learner.take() {
            assert!(interrupt(learner), "{}", self.output("learner"));
        }
    }

    /// The numbers of all games that the run has stored. Each is legal, no number is there twice,
    /// and the run's counter is right.
    pub fn stored(&self) -> Vec<u64> {
        let mut numbers = Vec::new();
        for game in games::read_all(&self.run().join("games")).expect("games") {
            let game = game.expect("a record");
            game.positions::<outflank::game::Square6>().expect("a legal game");
            numbers.push(game.id);
        }
        numbers.sort_unstable();
        let all = numbers.len();
        numbers.dedup();
        assert_eq!(numbers.len(), all, "a game is there twice");
        let text = fs::read_to_string(self.run().join("run.json")).expect("run.json");
        let manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(manifest["summary"]["games"], all, "{text}");
        numbers
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let children = self.workers.iter_mut().chain([&mut self.learner, &mut self.server]);
        children.for_each(kill);
    }
}

/// Kills a process at once.
pub fn kill(child: &mut Option<Child>) {
    if let Some(mut child) = child.take() {
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Interrupts a process; whether it then ends well.
pub fn interrupt(mut child: Child) -> bool {
    let id = child.id().to_string();
    // A process that has ended by itself cannot be interrupted.
    let _ = Command::new("kill").args(["-INT", &id]).stderr(Stdio::null()).status();
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().expect("a child") {
            return status.success();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    false
}
