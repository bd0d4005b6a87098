//! A client that sends forged and damaged messages under a worker's name.

use std::time::Duration;

use futures_util::StreamExt as _;

use super::harness::Cluster;

/// Messages that are no honest ones, made of an honest one.
fn forgeries(honest: &[u8]) -> Vec<Vec<u8>> {
    let end = honest.iter().position(|&byte| byte == b'\n').expect("a header");
    let (header, games) = (&honest[..end], &honest[end..]);
    let mut forged: Vec<Vec<u8>> = Vec::new();
    // Cut off, and with one wrong bit.
    forged.extend((0..30).map(|part| honest[..honest.len() * part / 30].to_vec()));
    for part in 0..30 {
        let mut damaged = honest.to_vec();
        let place = end + 1 + (games.len() - 1) * part / 30;
        damaged[place] ^= 1 << (part % 8);
        forged.push(damaged);
    }
    // Another header.
    let text = String::from_utf8(header.to_vec()).expect("JSON");
    let net = |id: &str| format!(r#"{{"protocol":1,"kernel":"","nets":[[{id}]]}}"#);
    let headers = [
        String::new(),
        "null".into(),
        "[]".into(),
        "{".repeat(10_000),
        "[".repeat(100_000),
        r#"{"protocol":1}"#.into(),
        r#"{"protocol":1,"kernel":7,"nets":[]}"#.into(),
        r#"{"protocol":1,"kernel":"","nets":[]}"#.into(),
        r#"{"protocol":1,"kernel":"","nets":[[]]}"#.into(),
        text.replace("\"protocol\":1", "\"protocol\":2"),
        text.replace("\"protocol\":1", "\"protocol\":-1"),
        text.replace("\"protocol\":1", "\"protocol\":1e99"),
        text.replace("\"start\":1", "\"start\":0"),
        text.replace("\"start\":1", "\"start\":9"),
        text.replace("\"start\":1", "\"start\":4294967296"),
        net(r#"{"start":1,"version":4000000000}"#),
        net(r#"{"start":1,"version":-1}"#),
        net(r#"{"start":1}"#),
        net("null"),
        net("1"),
    ];
    forged.extend(headers.map(|header| [header.as_bytes(), games].concat()));
    // More games than the header says, games without end, and bytes of other formats.
    forged.push([honest, &games[1..]].concat());
    forged.push([header, b"\n", &games[1..].repeat(1100)[..900_000]].concat());
    forged.push([header, b"\n"].concat());
    forged.push(vec![0; 1_000_000]);
    forged.push(vec![b'\n'; 1000]);
    forged.push(vec![0xff; 1000]);
    forged.push(b"(;GM[Othello]PC[Outflank]TY[8];)\n".to_vec());
    forged.push(b"f5d6c3d3c4f4\n".to_vec());
    forged
}

/// Requests for numbers, reports and confirmations that make no sense.
const NONSENSE: &[&str] = &[
    "",
    "{}",
    "null",
    "[]",
    "7",
    "\"a\"",
    "{\"count\":-1}",
    "{\"count\":1e300}",
    "{\"count\":null}",
    "{\"count\":\"9\"}",
    "{\"games\":-1}",
    "{\"games\":[[[",
    "\u{0}",
    "{\"busy\":1e999}",
];

#[test]
fn forged_messages_are_refused_and_the_run_is_unharmed() {
    let Some(mut cluster) = Cluster::with_jetstream() else { return };
    cluster.start_learner(&["--no-actors"]);
    cluster.start_worker(0);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let sent = runtime.expect("a runtime").block_on(async {
        let client = async_nats::connect(cluster.url()).await.expect("a server");
        let mut games = client.subscribe("outflank.*.games.*").await.expect("games");
        let honest = tokio::time::timeout(Duration::from_secs(100), games.next()).await;
        let honest = honest.expect("in time").expect("games of the worker");
        let run = honest.subject.split('.').nth(1).expect("a run").to_string();
        let mut sent = 0;
        for forged in forgeries(&honest.payload) {
            client.publish(honest.subject.clone(), forged.into()).await.expect("sent");
            sent += 1;
        }
        // The games of one worker under the name of another, and names that are none.
        for worker in ["eve", "worker-00", "A", &"x".repeat(60)] {
            let subject = format!("outflank.{run}.games.{worker}");
            client.publish(subject, honest.payload.clone()).await.expect("sent");
            sent += 1;
        }
        for kind in ["lease", "report"] {
            for nonsense in NONSENSE {
                let subject = format!("outflank.{run}.{kind}.eve");
                client
                    .publish_with_reply(subject, "nobody", (*nonsense).into())
                    .await
                    .expect("sent");
                sent += 1;
            }
        }
        let huge = format!("outflank.{run}.lease.eve");
        let reply = client.request(huge, "{\"count\":18446744073709551615}".into()).await;
        let reply = reply.expect("an answer").payload;
        assert!(reply.starts_with(b"{\"numbers\":["), "{reply:?}");
        client.flush().await.expect("sent");
        sent
    });
    assert!(sent >= 110, "{sent} kinds");
    // The honest worker plays on, and later games are confirmed.
    let before = cluster.output("worker-0").matches("stored games: [").count();
    let start = std::time::Instant::now();
    while cluster.output("worker-0").matches("stored games: [").count() < before + 4 {
        assert!(start.elapsed() < super::PATIENCE, "{}", cluster.output("learner"));
        std::thread::sleep(Duration::from_millis(50));
    }
    cluster.stop();
    let log = cluster.output("learner");
    let refused = log.matches("refused a message of worker").count();
    assert!(refused >= 70, "{refused} refused: {log}");
    assert!(log.matches("of worker eve: ").count() >= 1, "{log}");
    assert!(!log.contains("panicked"), "{log}");
    assert!(!cluster.stored().is_empty());
}
