//! The simulated store as a web server on loopback: real sockets, real time, the same model.
//!
//! It only answers `GET` with one range or none, over HTTP/1.1 with persistent connections. It is for
//! tests of what a simulation cannot show: a client's reaction to a reset, a body that ends early, a
//! slow server.

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

/// Maximum length of a request's head, in bytes.
const MAX_HEAD_BYTES: usize = 16 << 10;
/// Maximum number of open sockets, busy or not; more wait to be accepted.
const MAX_SOCKETS: usize = 1024;
/// Time after which a socket without a request is closed.
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

    /// Returns the URL of the objects' folder.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Switches to the latencies and failures of another seed.
    pub fn reseed(&self, seed: u64) {
        self.server.network.reseed(seed);
    }

    /// Returns the traffic so far.
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
            // Possibly out of file descriptors: others may be closed soon.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

/// Answers the requests of one connection, one after another.
async fn serve(mut stream: TcpStream, server: &Server) {
    // Answers are written whole; waiting for more would only add time that is not in the model.
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
            // The client has gone: abandon the request.
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

/// Returns the next request up to its blank line; the rest stays in `received`. `None` if the
/// client has finished, or sends an invalid request.
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

/// Waits until the client closes the connection. Data that it sends meanwhile is kept for later.
async fn gone(reader: &mut ReadHalf<'_>, received: &mut Vec<u8>) {
    while received.len() < MAX_HEAD_BYTES {
        match reader.read_buf(received).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
    // No client of ours pipelines this much, but the current answer is finished.
    std::future::pending().await
}
