//! The page for people: play, analysis and the curves of runs in a browser (`outflank web`).
//!
//! One thread owns the runtime and answers every request. It never searches and never waits for a
//! file: searches have threads of their own (`engines`), and files are read on a small pool. The
//! page's files are part of the program (`assets`), so no request leaves the machine.
//!
//! Everything that a request names is looked up: a player in the menu (`menu`), a run in a listing
//! (`runs`). No text of a request becomes a path or a command. What may ask at all is decided in
//! `guard`.

mod advice;
mod analyse;
mod assets;
mod book;
mod engines;
mod error;
mod explore;
mod export;
mod game;
mod guard;
mod lessons;
mod library;
mod menu;
mod opening;
mod paste;
mod predict;
mod review;
mod routes;
mod runs;
mod server;
mod thinking;
mod training;

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

pub use book::ShownBook;
pub use guard::{PublicUrl, PublicUrlError, Token, TokenError};

use crate::players::contestant::PlayerContext;
use crate::players::spec::PlayerSpec;
use crate::store::{self, FileError};

/// The port without `--port`.
pub const DEFAULT_PORT: u16 = 8484;

/// What the server serves.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name or address at which the server listens, and that requests may name.
    pub host: String,
    /// The port; 0 means any free one.
    pub port: u16,
    /// Addresses at which others, such as a proxy, serve the page.
    pub public: Vec<PublicUrl>,
    /// The token that every request must have. `None` is for the loopback only.
    pub token: Option<Token>,
    /// A file that the page opens at first.
    pub file: Option<OpenedFile>,
    /// Folders of runs, or runs.
    pub runs: Vec<PathBuf>,
    /// The folder of the library, which is made when it is needed; `None` for no library.
    pub library: Option<PathBuf>,
    /// An opening book that the explorer shows.
    pub book: Option<ShownBook>,
    /// Players that the menu has besides its own.
    pub players: Vec<PlayerSpec>,
    /// The program that trains, if the page may start and stop runs.
    pub trainer: Option<PathBuf>,
    /// How players are opened. Its goal is replaced by that of each request.
    pub context: PlayerContext,
}

/// A file of games or positions that the page opens at first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenedFile {
    /// Its name, without its folder.
    name: String,
    /// Its content.
    bytes: Vec<u8>,
}

impl OpenedFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is longer than the page reads.
    pub fn read(path: &Path) -> Result<OpenedFile, FileError> {
        let bytes = store::read(path, routes::MOST_BODY as u64)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(OpenedFile { name, bytes })
    }
}

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// The host has no address.
    #[error("`{host}` is no address of this machine; allowed: an address or a name")]
    Host {
        /// The host.
        host: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The host is not the loopback and there is no token.
    #[error(
        "at `{host}` other machines can reach the page; add --token TOKEN, or leave out --host for \
         127.0.0.1"
    )]
    NoToken {
        /// The host.
        host: String,
    },
    /// The port is taken or not allowed.
    #[error("cannot listen at {address}; allowed: a free port, or 0 for any")]
    Port {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
    /// The runtime cannot start.
    #[error("the server cannot start")]
    Runtime(#[from] std::io::Error),
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    options: Options,
}

impl Server {
    /// Listens at the host and port of the options.
    ///
    /// # Errors
    ///
    /// The host has no address, needs a token, or the port is taken.
    pub fn bind(options: Options) -> Result<Server, WebError> {
        let (listener, address) = server::listen(&options)?;
        Ok(Server { listener, address, options })
    }

    /// The address of the page. It ends with the token, if there is one.
    pub fn url(&self) -> String {
        let host = match self.address {
            SocketAddr::V6(_) if self.options.host.contains(':') => {
                format!("[{}]", self.options.host)
            }
            // No browser opens the address that stands for all of them.
            _ if self.address.ip().is_unspecified() => "localhost".to_string(),
            _ => self.options.host.clone(),
        };
        let token =
            self.options.token.as_ref().map_or(String::new(), |token| format!("?token={token}"));
        format!("http://{host}:{}/{token}", self.address.port())
    }

    /// Answers requests until the process ends.
    ///
    /// # Errors
    ///
    /// The runtime cannot start.
    pub fn run(self) -> Result<(), WebError> {
        server::run(self.listener, self.address, self.options)
    }
}
