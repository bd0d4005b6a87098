//! The sockets: listens, limits connections, and hands requests to the routes.

use std::future::pending;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::pin::pin;
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
/// A connection takes no new request when it is so old. Browsers open another one.
const AGE: Duration = Duration::from_secs(600);
/// The last answer of an old connection has this long: longer than any search, and not for ever for
/// a client that reads a byte now and then.
const LAST_ANSWER: Duration = Duration::from_secs(900);
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
                drop(tokio::spawn(serve(stream, router, (AGE, LAST_ANSWER), place)));
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn serve(
    stream: TcpStream,
    router: Router,
    (age, last_answer): (Duration, Duration),
    _place: OwnedSemaphorePermit,
) {
    // Events are small and must not wait for each other.
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(HEAD_BYTES);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_TIME));
    let mut connection = pin!(http.serve_connection(TokioIo::new(Box::pin(stream)), service));
    // A client that goes away is no error of ours.
    if tokio::time::timeout(age, connection.as_mut()).await.is_err() {
        connection.as_mut().graceful_shutdown();
        let _ = tokio::time::timeout(last_answer, connection).await;
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use axum::routing::get;

    use super::*;

    /// What a client of a server with these times reads until its connection ends.
    fn answer(age: u64, last_answer: u64) -> String {
        let times = (Duration::from_millis(age), Duration::from_millis(last_answer));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let client = std::thread::spawn(move || {
            let mut stream = std::net::TcpStream::connect(address).expect("a connection");
            stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").expect("written");
            let mut text = String::new();
            // The server may end it by a reset.
            let _ = stream.read_to_string(&mut text);
            text
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            listener.set_nonblocking(true).expect("a socket");
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            let (stream, _) = listener.accept().await.expect("a client");
            let slow = || async {
                tokio::time::sleep(Duration::from_millis(300)).await;
                "late"
            };
            let router = Router::new().route("/", get(slow));
            let place = Arc::new(Semaphore::new(1)).acquire_owned().await.expect("a place");
            serve(stream, router, times, place).await;
        });
        client.join().expect("a client")
    }

    #[test]
    fn an_old_connection_finishes_its_answer_and_ends() {
        // Without its age it would wait for the next request until `HEAD_TIME`.
        assert!(answer(50, 60_000).ends_with("late"));
    }

    #[test]
    fn an_answer_that_takes_too_long_is_cut_off() {
        assert_eq!(answer(10, 20), "");
    }
}
