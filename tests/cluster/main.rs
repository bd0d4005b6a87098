//! A learner and workers over a NATS server. Without a server these tests say that they are skipped.

mod harness;
mod hostile;

use std::collections::HashSet;
use std::process::Stdio;
use std::time::Duration;

use harness::{Cluster, PATIENCE, kill};
use outflank::train::seeds::{Purpose, stream};
use rand::RngExt;

#[test]
fn workers_play_for_a_learner_until_the_run_ends() {
    let Some(mut cluster) = Cluster::with_jetstream() else { return };
    // A worker that comes first waits for the learner.
    cluster.start_worker(0);
    cluster.wait_for("worker-0", "no learner is at the server");
    cluster.start_learner(&["--no-actors", "--set", "limits.steps=60", "--check-games", "0.2"]);
    cluster.wait_for("learner", " --run ");
    cluster.start_worker(1);
    for index in 0..2 {
        cluster.wait_for(&format!("worker-{index}"), "the run has ended:");
        let status = cluster.workers[index].take().expect("a worker").wait().expect("an end");
        assert!(status.success());
    }
    let status = cluster.learner.take().expect("a learner").wait().expect("an end");
    assert!(status.success(), "{}", cluster.output("learner"));
    let (stored, log) = (cluster.stored(), cluster.output("learner"));
    assert!(stored.len() > 10, "{}", stored.len());
    assert!(!log.contains("not listened to"), "{log}");
    let curves = std::fs::read_to_string(cluster.run().join("metrics.jsonl")).expect("curves");
    assert!(curves.contains("workers/worker-0/games_per_second"), "{curves}");
}

#[test]
fn kills_of_any_part_lose_no_game_and_count_none_twice() {
    let Some(mut cluster) = Cluster::with_jetstream() else { return };
    cluster.start_learner(&[]);
    (0..2).for_each(|index| cluster.start_worker(index));
    for index in 0..2 {
        cluster.wait_for(&format!("worker-{index}"), "stored games: [");
    }
    let mut random = stream(1, Purpose::Match, 0);
    for round in 0..9 {
        std::thread::sleep(Duration::from_millis(random.random_range(0..700)));
        match round % 3 {
            0 => {
                kill(&mut cluster.learner);
                cluster.start_learner(&[]);
            }
            1 => {
                cluster.kill_server();
                cluster.start_server();
            }
            _ => {
                let index = random.random_range(0..2);
                kill(&mut cluster.workers[index]);
                cluster.start_worker(index);
            }
        }
    }
    // The learner works again: more games are confirmed.
    let before = confirmed(&cluster).len();
    let start = std::time::Instant::now();
    while confirmed(&cluster).len() < before.max(10) + 3 {
        assert!(start.elapsed() < PATIENCE, "{}", cluster.output("worker-1"));
        std::thread::sleep(Duration::from_millis(50));
    }
    cluster.stop();
    let stored: HashSet<u64> = cluster.stored().into_iter().collect();
    let confirmed = confirmed(&cluster);
    let missing: Vec<_> = confirmed.difference(&stored).collect();
    assert!(missing.is_empty(), "confirmed and not stored: {missing:?}");
}

/// The games of which the two workers have been told that they are stored.
fn confirmed(cluster: &Cluster) -> HashSet<u64> {
    let mut games = HashSet::new();
    for index in 0..2 {
        for line in cluster.output(&format!("worker-{index}")).lines() {
            let Some((_, list)) = line.split_once("stored games: [") else { continue };
            games.extend(list.trim_end_matches(']').split(", ").flat_map(str::parse::<u64>));
        }
    }
    games
}

/// The last line that a worker prints if it ends with an error.
fn error_of_worker(cluster: &Cluster, args: &[&str]) -> String {
    let mut command = cluster.outflank(&["worker", "--actors", "1"]);
    command.args(args).arg("--outbox").arg(cluster.path("outbox")).env("OUTFLANK_LOG", "error");
    let output = command.stdout(Stdio::null()).output().expect("a worker");
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    String::from_utf8_lossy(&output.stderr).trim().to_string()
}

#[test]
fn bad_servers_and_logins_are_errors() {
    let users = "authorization { users: [ { user: \"anna\", password: \"right\" } ] }";
    let Some(cluster) = Cluster::start(users) else { return };
    let url = cluster.url();
    let login = cluster.path("login");
    let file = login.display().to_string();
    let error = error_of_worker(&cluster, &["--nats", &url]);
    assert!(error.contains("refuses the login"), "{error}");
    std::fs::write(&login, "anna:wrong").expect("written");
    let error = error_of_worker(&cluster, &["--nats", &url, "--login", &file]);
    assert!(error.contains("refuses the login; give one that it knows: --login FILE"), "{error}");
    std::fs::write(&login, "anna").expect("written");
    let error = error_of_worker(&cluster, &["--nats", &url, "--login", &file]);
    assert!(error.contains("holds no login; allowed: one line USER:PASSWORD"), "{error}");
    // This server has no JetStream.
    std::fs::write(&login, "anna:right").expect("written");
    let error = error_of_worker(&cluster, &["--nats", &url, "--login", &file]);
    assert!(error.contains("has no JetStream; start it with `nats-server -js`"), "{error}");
    let error = error_of_worker(&cluster, &["--nats", "http://127.0.0.1:x"]);
    assert!(
        error.contains("is not the address of a NATS server; allowed: nats://HOST:PORT"),
        "{error}"
    );
    let error = error_of_worker(&cluster, &["--nats", &url, "--name", "No Name"]);
    assert!(error.contains("is not a name; allowed: 1 to 32 of a-z, 0-9 and -"), "{error}");
}

#[test]
fn a_server_that_is_not_there_is_waited_for() {
    let Some(mut cluster) = Cluster::with_jetstream() else { return };
    cluster.kill_server();
    cluster.start_learner(&["--set", "limits.steps=20"]);
    cluster.start_worker(0);
    cluster.wait_for("worker-0", "waits for the NATS server at nats://127.0.0.1:");
    // Its own actors do not wait.
    let status = cluster.learner.take().expect("a learner").wait().expect("an end");
    assert!(status.success(), "{}", cluster.output("learner"));
    cluster.stop();
    assert!(!cluster.stored().is_empty());
}
