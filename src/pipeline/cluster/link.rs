//! The connection to a NATS server, and the thread that owns its runtime.
//!
//! Everything asynchronous runs on one thread with a runtime of its own. The rest of the program
//! speaks to it by channels.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::jetstream::context::{GetStreamErrorKind, RequestError, RequestErrorKind};
use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event};

use super::names::{Name, NameError};
use crate::store::{self, FileError, with_causes};

/// The longest wait for an answer of the server.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Pause between two attempts to connect.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest file of a login, in bytes.
const LONGEST_LOGIN: u64 = 64 << 10;

/// Where the server is, and how to log in.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Its URL, such as `nats://127.0.0.1:4222` or `tls://host:4222`.
    pub url: String,
    /// The login; `None` for a server without accounts.
    pub login: Option<Login>,
    /// A file with the certificate of an authority that signed the server's.
    pub authority: Option<PathBuf>,
}

/// A login at the server.
#[derive(Clone)]
pub enum Login {
    /// A user with its password.
    Password {
        /// The user. A worker has the same name.
        user: Name,
        /// The password.
        password: String,
    },
    /// The text of a NATS credentials file.
    Credentials(String),
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // No secrets in logs.
        f.write_str(match self {
            Login::Password { .. } => "Password",
            Login::Credentials(_) => "Credentials",
        })
    }
}

/// Why the server cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The file of a login or certificate cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file holds no login.
    #[error("{} holds no login; allowed: one line USER:PASSWORD, or a NATS credentials file", path.display())]
    NoLogin {
        /// The file.
        path: PathBuf,
    },
    /// The user of a login is not a name.
    #[error("{}: the user is no name of a worker", path.display())]
    User {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: NameError,
    },
    /// The URL is not that of a server.
    #[error(
        "`{url}` is not the address of a NATS server; allowed: nats://HOST:PORT or tls://HOST:PORT"
    )]
    Url {
        /// The URL.
        url: String,
    },
    /// The server refuses the login.
    #[error("the server at {url} refuses the login; give one that it knows: --login FILE")]
    Login {
        /// The URL.
        url: String,
    },
    /// The server's certificate is not accepted.
    #[error(
        "no safe connection to {url}: {message}; --authority FILE names the certificate of its authority, and the clocks of both machines must be right"
    )]
    Tls {
        /// The URL.
        url: String,
        /// The error of the TLS library.
        message: String,
    },
    /// The server has no JetStream.
    #[error(
        "the server at {url} has no JetStream; start it with `nats-server -js`, or with `jetstream` in its configuration"
    )]
    NoJetStream {
        /// The URL.
        url: String,
    },
    /// A request to the server failed.
    #[error("{what}: {message}")]
    Request {
        /// What was asked.
        what: String,
        /// The server's or the client's message.
        message: String,
    },
    /// The system gives no runtime.
    #[error("cannot start a thread for the network")]
    Runtime(#[source] io::Error),
    /// The process is stopping.
    #[error("interrupted")]
    Stopped,
}

impl LinkError {
    /// Makes an error of a failed request.
    pub fn request<E: std::fmt::Display>(what: &str) -> impl FnOnce(E) -> LinkError {
        move |error| LinkError::Request { what: what.into(), message: error.to_string() }
    }
}

impl Login {
    /// Reads the file of a login.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or holds no login.
    pub fn read(path: &Path) -> Result<Login, LinkError> {
        let no_login = || LinkError::NoLogin { path: path.into() };
        let bytes = store::read(path, LONGEST_LOGIN)?;
        let text = String::from_utf8(bytes).map_err(|_| no_login())?;
        if text.contains("BEGIN NATS USER JWT") {
            return Ok(Login::Credentials(text));
        }
        let (user, password) = text.trim().split_once(':').ok_or_else(no_login)?;
        if password.is_empty() || password.contains(char::is_whitespace) {
            return Err(no_login());
        }
        let user = user.parse().map_err(|source| LinkError::User { path: path.into(), source })?;
        Ok(Login::Password { user, password: password.into() })
    }
}

/// A runtime for one thread.
///
/// # Errors
///
/// The system gives none.
pub fn runtime() -> Result<tokio::runtime::Runtime, LinkError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(LinkError::Runtime)
}

/// Connects to the server. Waits for a server that is not there, and says so.
///
/// # Errors
///
/// The address, the login or the certificate is refused, the server has no JetStream, or `stop` is
/// set.
pub async fn connect(
    options: &ServerOptions,
    name: &str,
    stop: &AtomicBool,
) -> Result<(Client, Context), LinkError> {
    let url = || options.url.clone();
    let mut has_told = false;
    let client = loop {
        if stop.load(Ordering::Relaxed) {
            return Err(LinkError::Stopped);
        }
        let error = match connect_options(options, name)?.connect(&options.url).await {
            Ok(client) => break client,
            Err(error) => error,
        };
        match error.kind() {
            ConnectErrorKind::ServerParse => return Err(LinkError::Url { url: url() }),
            ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                return Err(LinkError::Login { url: url() });
            }
            ConnectErrorKind::Tls => {
                return Err(LinkError::Tls { url: url(), message: with_causes(&error) });
            }
            _ if with_causes(&error).contains("certificate") => {
                return Err(LinkError::Tls { url: url(), message: with_causes(&error) });
            }
            _ => {}
        }
        if !std::mem::replace(&mut has_told, true) {
            tracing::warn!("waits for the NATS server at {}: {}", options.url, with_causes(&error));
        }
        tokio::time::sleep(PAUSE).await;
    };
    let mut jetstream = jetstream::new(client.clone());
    jetstream.set_timeout(TIMEOUT);
    check_jetstream(&options.url, &jetstream).await?;
    Ok((client, jetstream))
}

/// Checks that the server has JetStream. A worker may not ask for the account, so a refusal or a
/// timeout proves nothing.
async fn check_jetstream(url: &str, jetstream: &Context) -> Result<(), LinkError> {
    let Err(error) = jetstream.get_stream("outflank-none").await else { return Ok(()) };
    let is_missing = match error.kind() {
        GetStreamErrorKind::JetStream(error) => {
            [ErrorCode::JETSTREAM_NOT_ENABLED, ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT]
                .contains(&error.error_code())
        }
        GetStreamErrorKind::Request => {
            let source = std::error::Error::source(&error);
            let request = source.and_then(|source| source.downcast_ref::<RequestError>());
            request.is_some_and(|error| error.kind() == RequestErrorKind::NoResponders)
        }
        _ => false,
    };
    if is_missing { Err(LinkError::NoJetStream { url: url.into() }) } else { Ok(()) }
}

fn connect_options(options: &ServerOptions, name: &str) -> Result<ConnectOptions, LinkError> {
    let mut wanted = ConnectOptions::new()
        .name(name)
        .connection_timeout(TIMEOUT)
        .request_timeout(Some(TIMEOUT))
        .ping_interval(Duration::from_secs(10))
        .ignore_discovered_servers()
        .max_reconnects(None)
        .reconnect_delay_callback(|attempt| PAUSE.min(Duration::from_millis(100 * attempt as u64)))
        .event_callback(|event| async move {
            match event {
                Event::Connected => tracing::info!("connected to the NATS server"),
                Event::Disconnected => tracing::warn!("lost the NATS server; waits for it"),
                Event::ServerError(error) => tracing::warn!("the NATS server: {error}"),
                other => tracing::debug!("NATS: {other}"),
            }
        });
    if let Some(path) = &options.authority {
        // Read here only for an error that names the file.
        store::read(path, LONGEST_LOGIN)?;
        wanted = wanted.add_root_certificates(path.clone());
    }
    match &options.login {
        None => Ok(wanted),
        Some(Login::Password { user, password }) => Ok(wanted
            .custom_inbox_prefix(format!("_INBOX_{user}"))
            .user_and_password(user.to_string(), password.clone())),
        Some(Login::Credentials(text)) => {
            wanted.credentials(text).map_err(LinkError::request("the credentials file"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_login_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("login");
        let read = |text: &str| {
            std::fs::write(&path, text).expect("written");
            Login::read(&path)
        };
        for text in ["", "user", "user:", "user:a b", ":"] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.contains("login"), "{error}");
        }
        let error = read("Us er:secret").expect_err("a user that is no name");
        assert!(with_causes(&error).contains("`Us er` is not a name"), "{error}");
        let Ok(Login::Password { user, password }) = read("lab-1:sec:ret\n") else {
            panic!("a login");
        };
        assert_eq!((user.as_str(), password.as_str()), ("lab-1", "sec:ret"));
        assert_eq!(format!("{:?}", read("lab-1:secret").expect("a login")), "Password");
        assert!(matches!(read("-----BEGIN NATS USER JWT-----"), Ok(Login::Credentials(_))));
        let missing = Login::read(&folder.path().join("none")).expect_err("no file").to_string();
        assert!(missing.contains("none"), "{missing}");
    }
}
