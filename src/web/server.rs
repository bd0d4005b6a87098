//! The sockets: listens, limits connections, and hands requests to the routes.

use std::future::pending;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_io_timeout::TimeoutStream;

use super::guard::{Guard, IsLocal};
use super::{Options, WebError, routes};

/// Open connections. A browser opens up to six for all its tabs together.
const MAX_CONNECTIONS: usize = 512;
/// A client has this long to send the head of a request. Idle connections end after it too.
const HEAD_TIME: Duration = Duration::from_secs(20);
/// A client that reads nothing for this long loses its connection. Without it such clients would hold
/// all connections for ever.
const WRITE_TIME: Duration = Duration::from_secs(20);
/// Memory for the head of a request.
const HEAD_BYTES: usize = 32 << 10;
/// After an error of the system, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Threads that read files.
const FILE_THREADS: usize = 4;

/// Listens at the address of the options.
pub(super) fn listen(options: &Options) -> Result<(TcpListener, SocketAddr), WebError> {
    let host = &options.host;
    let unknown = |source| WebError::Host { host: host.clone(), source };
    let addresses = (host.as_str(), options.port).to_socket_addrs().map_err(unknown)?;
    let addresses: Vec<_> = addresses.collect();
    let no_address = || unknown(std::io::ErrorKind::NotFound.into());
    let &address = addresses.first().ok_or_else(no_address)?;
    let is_local = addresses.iter().all(|address| address.ip().is_loopback());
    if !is_local && options.token.is_none() {
        return Err(WebError::NoToken { host: host.clone() });
    }
    // A name may have several addresses; the first that works is taken.
    let listener = TcpListener::bind(&addresses[..]);
    let listener = listener.map_err(|source| WebError::Port { address, source })?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Answers requests until the process ends.
pub(super) fn run(
    listener: TcpListener,
    address: SocketAddr,
    options: Options,
) -> Result<(), WebError> {
    let guard = Guard {
        host: options.host.clone(),
        port: address.port(),
        is_loopback: address.ip().is_loopback(),
        public: options.public.clone(),
        token: options.token.clone(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(FILE_THREADS)
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        accept(&listener, &routes::router(options, guard)).await
    })
}

async fn accept(listener: &tokio::net::TcpListener, router: &Router) -> ! {
    let free = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        // The semaphore is never closed.
        let Ok(place) = free.clone().acquire_owned().await else { pending().await };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let router = router.clone().layer(Extension(IsLocal(peer.ip().is_loopback())));
                drop(tokio::spawn(serve(stream, router, place)));
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn serve(stream: TcpStream, router: Router, _place: OwnedSemaphorePermit) {
    // Events are small and must not wait for each other.
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(HEAD_BYTES);
    // A client that goes away is no error of ours.
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_TIME));
    let _ = http.serve_connection(TokioIo::new(Box::pin(stream)), service).await;
}
