//! The real program, and a client for its page that can also be rude.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// No answer takes longer, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// `outflank web`, ended when it is dropped.
pub struct Page {
    child: Child,
    pub port: u16,
    /// The address that the program printed.
    pub url: String,
    /// The user's folder for data, where games are kept.
    _data: tempfile::TempDir,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The answer if the request was granted.
    pub fn ok(self) -> Answer {
        assert_eq!(self.status, 200, "{self:?}");
        self
    }

    /// The error of a refused request, which must say what is wrong.
    pub fn refused(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        let error = self.json();
        assert!(error["error"].as_str().is_some_and(|text| !text.is_empty()), "{self:?}");
        error
    }
}

impl Page {
    /// Starts the program with these options, at any free port.
    pub fn start(options: &[&str]) -> Page {
        let data = tempfile::tempdir().expect("a folder");
        let mut child = Command::new(env!("CARGO_BIN_EXE_outflank"))
            .args(["web", "--port", "0", "--no-open"])
            .args(options)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("XDG_DATA_HOME", data.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program");
        let mut url = String::new();
        let output = child.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut url).expect("a line");
        let url = url.trim().to_string();
        let port = url.split([':', '/', '?']).find_map(|part| part.parse().ok());
        let port = port.unwrap_or_else(|| panic!("no port in `{url}`"));
        Page { child, port, url, _data: data }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time limit");
        stream
    }

    /// Sends the head of a request. Version 1.0 ends the answer with the connection, without chunks.
    pub fn begin(&self, method: &str, path: &str, fields: &str) -> TcpStream {
        let mut stream = self.connect();
        let host = match fields.to_ascii_lowercase().contains("host:") {
            true => String::new(),
            false => format!("Host: 127.0.0.1:{}\r\n", self.port),
        };
        let head = format!("{method} {path} HTTP/1.0\r\n{host}{fields}\r\n");
        stream.write_all(head.as_bytes()).expect("sent");
        stream
    }

    pub fn send(&self, method: &str, path: &str, fields: &str, body: &[u8]) -> Answer {
        let fields = match method {
            "GET" => fields.to_string(),
            _ => format!("{fields}Content-Length: {}\r\n", body.len()),
        };
        let mut stream = self.begin(method, path, &fields);
        // The server may answer before it has read a body that is too long.
        let _ = stream.write_all(body);
        finish(stream)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "", b"")
    }

    pub fn post(&self, path: &str, body: &str) -> Answer {
        self.send("POST", path, "Content-Type: application/json\r\n", body.as_bytes())
    }

    /// A request whose answer is read by the caller.
    pub fn ask(&self, path: &str, body: &str) -> BufReader<TcpStream> {
        let fields =
            format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        let mut stream = self.begin("POST", path, &fields);
        stream.write_all(body.as_bytes()).expect("sent");
        BufReader::new(stream)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The whole answer.
pub fn finish(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    // A server that refuses a long body may end the connection before all of it was read.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: `{text}`"));
    let status = head.split_whitespace().nth(1).and_then(|status| status.parse().ok());
    Answer { status: status.expect("a status"), head: head.into(), body: body.into() }
}

/// The events of a stream: their kinds with their data.
pub fn events(body: &str) -> Vec<(String, Value)> {
    let field = |block: &str, name: &str| {
        block.lines().find_map(|line| Some(line.strip_prefix(name)?.trim().to_string()))
    };
    let blocks = body.split("\n\n");
    blocks
        .filter_map(|block| {
            let data = field(block, "data:")?;
            let data = serde_json::from_str(&data).expect("JSON");
            Some((field(block, "event:").unwrap_or_default(), data))
        })
        .collect()
}
