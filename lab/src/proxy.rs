//! The simulated store as a web server on loopback: real sockets, real time, the same model.
//!
//! It answers `GET` with one range or none, over HTTP/1.1 with connections that stay open, and
//! nothing else. It is for tests of what a simulation cannot show: how a client meets a reset, a body
//! that ends early, a server that takes its time.

mod head;
mod respond;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::tcp::ReadHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};

use self::head::RequestHead;
use self::respond::{After, respond};
use super::model::LatencyModel;
use super::network::{Network, Traffic};
use canter_runtime::clock::SystemClock;
use canter_runtime::fetch::RangeFetcher;

/// Longest head of a request.
const MAX_HEAD_BYTES: usize = 16 << 10;
/// Sockets that are open at once, busy or not; more wait to be accepted.
const MAX_SOCKETS: usize = 1024;
/// A socket without a request for this long is closed.
const MAX_IDLE: Duration = Duration::from_secs(60);

/// A running server. Dropping it closes every connection.
pub struct Proxy {
    address: SocketAddr,
    server: Arc<Server>,
    accepting: JoinHandle<()>,
}

struct Server {
    inner: Arc<dyn RangeFetcher>,
    network: Network,
}

impl Proxy {
    /// Serves the objects of `inner` on a free port of 127.0.0.1. Needs a tokio runtime.
    pub async fn start(inner: Arc<dyn RangeFetcher>, model: LatencyModel) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let network = Network::new(model, Arc::new(SystemClock::new()), false);
        let server = Arc::new(Server { inner, network });
        let accepting = tokio::spawn(accept(listener, server.clone()));
        Ok(Self {
            address,
            server,
            accepting,
        })
    }

    /// The URL below which the objects are.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// From now on, latencies and failures are those of another seed.
    pub fn reseed(&self, seed: u64) {
        self.server.network.reseed(seed);
    }

    /// What went over the network so far.
    pub fn traffic(&self) -> Traffic {
        self.server.network.traffic()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // The connections are in a set that belongs to this task.
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, server: Arc<Server>) {
    let sockets = Arc::new(Semaphore::new(MAX_SOCKETS));
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let Ok(permit) = sockets.clone().acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let server = server.clone();
                connections.spawn(async move {
                    serve(stream, &server).await;
                    drop(permit);
                });
            }
            // Out of file descriptors, perhaps: others may be closed soon.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

/// Answers the requests of one connection, one after the other.
async fn serve(mut stream: TcpStream, server: &Server) {
    // Answers are written whole; waiting for more would only add time that the model does not know.
    let _ = stream.set_nodelay(true);
    let mut received = Vec::new();
    loop {
        let (mut reader, mut writer) = stream.split();
        let head = tokio::time::timeout(MAX_IDLE, next_head(&mut reader, &mut received)).await;
        let Ok(Some(head)) = head else {
            return;
        };
        let request = RequestHead::parse(&head);
        let after = tokio::select! {
            after = respond(server, &request, &mut writer) => after,
            // The client has gone: give the request up.
            () = gone(&mut reader, &mut received) => return,
        };
        match after {
            After::KeepOpen => {}
            After::Close => return,
            After::Reset => {
                // Closing without lingering sends RST instead of FIN.
                let _ = stream.set_zero_linger();
                return;
            }
        }
    }
}

/// The next request up to its blank line; what follows stays in `received`. `None` if the client is
/// through, or sends what is no request.
async fn next_head(reader: &mut ReadHalf<'_>, received: &mut Vec<u8>) -> Option<Vec<u8>> {
    loop {
        if let Some(end) = received.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let rest = received.split_off(end + 4);
            return Some(std::mem::replace(received, rest));
        }
        if received.len() >= MAX_HEAD_BYTES || reader.read_buf(received).await.ok()? == 0 {
            return None;
        }
    }
}

/// Waits until the client closes the connection. What it sends meanwhile is kept for later.
async fn gone(reader: &mut ReadHalf<'_>, received: &mut Vec<u8>) {
    while received.len() < MAX_HEAD_BYTES {
        match reader.read_buf(received).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
    // So much in advance is no client of ours, but the answer on its way is finished.
    std::future::pending().await
}
