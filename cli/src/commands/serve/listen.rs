//! Connections: how many there may be, and how long each may keep the server waiting.
//!
//! ```text
//!   accept ─┬─ a place is free ─→ header in time ─→ router ─→ answer is taken in time ─┐
//!           │                        ↑            keep-alive: the next header in time ─┘
//!           └─ none is free ────→ 503, and closed
//! ```

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use super::patient::Patient;
use super::refusal::RETRY_AFTER_SECONDS;

/// What one connection may have in memory of headers that are still coming. A longer target than half of
/// this is no URI for the HTTP library either.
const MAX_HEADER_BYTES: usize = 128 << 10;

/// Clients that are being told that there is no room. Those beyond are only closed.
const MAX_REFUSED_AT_ONCE: usize = 64;

/// How long such a client may take to hear it.
const MAX_REFUSAL_TIME: Duration = Duration::from_secs(2);

/// How long nothing is accepted after the system could not: it has no file left, most likely.
const PAUSE: Duration = Duration::from_millis(200);

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionLimits {
    pub(super) max_connections: usize,
    /// For a whole header, from the moment at which one is waited for.
    pub(super) header_timeout: Duration,
    /// For the next bytes of an answer to be taken.
    pub(super) answer_timeout: Duration,
}

/// Serves until `stop` ends, and then until each connection has had the answer that is under way.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    stop: impl Future<Output = ()>,
) {
    let mut builder = Builder::new(TokioExecutor::new()).http1_only();
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_buf_size(MAX_HEADER_BYTES);
    let places = Arc::new(Semaphore::new(limits.max_connections));
    let refusals = Arc::new(Semaphore::new(MAX_REFUSED_AT_ONCE));
    let (stopping, told) = watch::channel(());
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) if is_of_the_connection(&error) => continue,
            Err(error) => {
                tracing::error!(target: "canter::serve", %error, "cannot accept connections");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        // Answers are written at once, so there is nothing to wait for.
        let _ = stream.set_nodelay(true);
        if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
            let stream = Patient::new(stream, limits.answer_timeout);
            let connection = connection(stream, builder.clone(), router.clone(), told.clone());
            tokio::spawn(async move {
                connection.await;
                drop(place);
            });
        } else if let Ok(turn) = Arc::clone(&refusals).try_acquire_owned() {
            tokio::spawn(async move {
                let _ = tokio::time::timeout(MAX_REFUSAL_TIME, refuse(stream, limits)).await;
                drop(turn);
            });
        }
    }
    drop(listener);
    drop(told);
    let _ = stopping.send(());
    stopping.closed().await;
}

/// Carries one connection until it ends, or until it may not have another request.
async fn connection(
    stream: Patient<TcpStream>,
    builder: Builder<TokioExecutor>,
    router: Router,
    mut told: watch::Receiver<()>,
) {
    let service = TowerToHyperService::new(router);
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    // A client that breaks off or is too slow is no failure of the server's.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = told.changed() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Tells a client that there is no room for it.
async fn refuse(mut stream: TcpStream, limits: ConnectionLimits) -> io::Result<()> {
    let message = format!(
        "{} connections are open already: try again, or raise --max-connections",
        limits.max_connections
    );
    let body = json!({ "message": message }).to_string();
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncache-control: no-store\r\n\
         retry-after: {RETRY_AFTER_SECONDS}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    // Closing with bytes unread would take the answer back from a client that has not read it yet.
    let mut request = [0; 4096];
    while stream.read(&mut request).await? > 0 {}
    Ok(())
}

/// Whether only the connection that was to be accepted has failed.
fn is_of_the_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}
