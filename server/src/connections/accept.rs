//! Accepts connections, and carries each.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use canter_index_builder::{WRONG_CLOCK, checked_unix_time};
use tokio_rustls::TlsAcceptor;

use super::activity::Activity;
use super::dated::while_dated;
use super::first_bytes::begun;
use super::patient::Patient;
use super::tls::{HTTP2, Identity};
use crate::http::RETRY_AFTER_SECONDS;

/// Maximum memory of one connection for incomplete headers, in bytes. The HTTP library rejects a target
/// longer than half of this as well.
const MAX_HEADER_BYTES: usize = 128 << 10;

/// Maximum number of clients that are being refused with an answer. Further ones are only closed.
const MAX_REFUSED_AT_ONCE: usize = 64;

/// Maximum duration of such a refusal.
const MAX_REFUSAL_TIME: Duration = Duration::from_secs(2);

/// Pause after a failure to accept, most likely for lack of file descriptors.
const PAUSE: Duration = Duration::from_millis(200);

/// Limits on connections.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Maximum number of connections; further ones are refused.
    pub max_connections: usize,
    /// Time limit for a whole header, from the moment the server waits for it.
    pub header_timeout: Duration,
    /// Time limit for the client to accept the next bytes of an answer.
    pub answer_timeout: Duration,
}

/// Maximum number of concurrent requests of one HTTP/2 client. Another limit applies to running requests.
const MAX_STREAMS: u32 = 128;

/// Number of body bytes that an HTTP/2 client may send before they are read. They do not count towards the limit
/// on all bodies.
const WINDOW_BYTES: u32 = 64 << 10;

/// Serves until `stop` completes, and then until the running requests of each connection are answered. With an
/// `identity` it only uses TLS.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    identity: Option<Arc<Identity>>,
    stop: impl Future<Output = ()>,
) -> Result<(), rustls::Error> {
    let tls = identity.as_ref().map(Identity::acceptor).transpose()?;
    let following = identity.map(|identity| tokio::spawn(identity.follow()));
    let (stopping, told) = watch::channel(());
    let server = Server {
        http: builders(limits),
        router,
        limits,
        tls,
        told,
    };
    let places = Arc::new(Semaphore::new(limits.max_connections));
    let refusals = Arc::new(Semaphore::new(MAX_REFUSED_AT_ONCE));
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
        let is_dated = checked_unix_time().is_some();
        if is_dated && let Ok(place) = Arc::clone(&places).try_acquire_owned() {
            let server = server.clone();
            tokio::spawn(async move {
                server.connection(stream).await;
                drop(place);
            });
        } else if server.tls.is_some() {
            // A refusal would need a handshake, for which there is no capacity.
        } else if let Ok(turn) = Arc::clone(&refusals).try_acquire_owned() {
            tokio::spawn(async move {
                let message = match is_dated {
                    true => no_room(limits),
                    false => WRONG_CLOCK.to_owned(),
                };
                let _ = tokio::time::timeout(MAX_REFUSAL_TIME, refuse(stream, &message)).await;
                drop(turn);
            });
        }
    }
    drop(listener);
    drop(server);
    let _ = stopping.send(());
    stopping.closed().await;
    if let Some(following) = following {
        following.abort();
    }
    Ok(())
}

/// Settings of every connection.
#[derive(Clone)]
struct Server {
    http: (Builder<TokioExecutor>, Builder<TokioExecutor>),
    router: Router,
    limits: ConnectionLimits,
    tls: Option<TlsAcceptor>,
    told: watch::Receiver<()>,
}

/// Returns the builders for HTTP/1 and HTTP/2.
fn builders(limits: ConnectionLimits) -> (Builder<TokioExecutor>, Builder<TokioExecutor>) {
    let mut first = Builder::new(TokioExecutor::new()).http1_only();
    first
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_buf_size(MAX_HEADER_BYTES);
    let mut second = Builder::new(TokioExecutor::new()).http2_only();
    second
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_HEADER_BYTES as u32)
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .keep_alive_interval(limits.answer_timeout)
        .keep_alive_timeout(limits.answer_timeout);
    (first, second)
}

impl Server {
    /// Detects a client's protocol, and serves it. A client that disconnects or is too slow is not an error of the
    /// server.
    async fn connection(self, stream: TcpStream) {
        let in_time = self.limits.header_timeout;
        let stream = Patient::new(stream, self.limits.answer_timeout);
        let Some(tls) = &self.tls else {
            let begun = tokio::time::timeout(in_time, begun(stream)).await;
            if let Ok(Ok((stream, is_http2))) = begun {
                self.carry(stream, is_http2).await;
            }
            return;
        };
        let stream = tokio::time::timeout(in_time, tls.accept(stream)).await;
        if let Ok(Ok(stream)) = stream {
            let is_http2 = stream.get_ref().1.alpn_protocol() == Some(HTTP2);
            self.carry(stream, is_http2).await;
        }
    }

    async fn carry<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
        self,
        stream: S,
        is_http2: bool,
    ) {
        match is_http2 {
            false => self.first(stream).await,
            true => self.second(stream).await,
        }
    }

    /// Serves an HTTP/1 connection until it ends, or until it may not have another request.
    async fn first<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(mut self, stream: S) {
        let service = TowerToHyperService::new(self.router);
        let connection = self.http.0.serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            _ = while_dated(connection.as_mut()) => return,
            _ = self.told.changed() => connection.as_mut().graceful_shutdown(),
        }
        while_dated(connection.as_mut()).await;
    }

    /// Serves an HTTP/2 connection, also until it has been idle for too long.
    async fn second<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(mut self, stream: S) {
        let activity = Activity::new();
        let watched = activity.clone();
        let router = TowerToHyperService::new(self.router);
        let service = service_fn(move |request: Request<Incoming>| {
            watched.clone().watch(router.call(request))
        });
        let connection = self.http.1.serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            _ = while_dated(connection.as_mut()) => return,
            _ = self.told.changed() => {}
            () = activity.idle(self.limits) => {}
        }
        connection.as_mut().graceful_shutdown();
        // If a client stops reading, the rest of its answer is dropped from memory.
        tokio::select! {
            _ = while_dated(connection.as_mut()) => {}
            () = activity.idle(self.limits) => {}
        }
    }
}

fn no_room(limits: ConnectionLimits) -> String {
    format!(
        "{} connections are open already: try again, or raise --max-connections",
        limits.max_connections
    )
}

/// Tells a client why it cannot be answered now.
async fn refuse(mut stream: TcpStream, message: &str) -> io::Result<()> {
    // The request has not been read, so the answer has a form that suits any path.
    let body = json!({ "message": message }).to_string();
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncache-control: no-store\r\n\
         retry-after: {RETRY_AFTER_SECONDS}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    // Closing with unread bytes would discard the answer before the client has read it.
    let mut request = [0; 4096];
    while stream.read(&mut request).await? > 0 {}
    Ok(())
}

/// Returns whether only the accepted connection has failed.
fn is_of_the_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}
