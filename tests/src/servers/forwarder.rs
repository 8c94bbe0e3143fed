//! TCP forwarder on loopback that records request lines and can break a chosen connection.
//!
//! The server behind it answers one request on each connection, so a connection is a request. A
//! function decides the fate of each; bytes are passed on unchanged.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Maximum length of a head whose first line is read.
const MAX_HEAD_BYTES: usize = 16 << 10;
/// Timeout of a silent peer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Fate of a request.
pub enum Fate {
    /// The request and its answer are passed on.
    Pass,
    /// The connection is closed before the server sees it.
    Refuse,
    /// The request reaches the server; when the answer begins, this function is called and the
    /// connection closed.
    LoseAnswer(Box<dyn FnOnce() + Send>),
    /// The connection is closed after this number of bytes of the answer.
    CutAnswer(u64),
    /// This text is the answer; the server sees nothing.
    Answer(String),
}

/// Decision by the request line, such as `GET /bucket/a HTTP/1.1`.
type Decide = Box<dyn FnMut(&str) -> Fate + Send>;

/// Running forwarder. Dropping it closes its port.
pub struct Forwarder {
    shared: Arc<Shared>,
}

struct Shared {
    address: SocketAddr,
    target: Mutex<Option<SocketAddr>>,
    lines: Mutex<Vec<String>>,
    heads: Mutex<Vec<String>>,
    decide: Mutex<Decide>,
    is_closed: AtomicBool,
}

impl Forwarder {
    /// Listens on `port` of 127.0.0.1 (0 for any). It forwards once it has a target.
    pub fn start(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let shared = Arc::new(Shared {
            address: listener.local_addr()?,
            target: Mutex::default(),
            lines: Mutex::default(),
            heads: Mutex::default(),
            decide: Mutex::new(Box::new(|_| Fate::Pass)),
            is_closed: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming() {
                if accepting.is_closed.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&accepting);
                // Broken connections are intended, so errors are ignored.
                thread::spawn(move || client.and_then(|client| shared.serve(client)));
            }
        });
        Ok(Self { shared })
    }

    /// Returns the address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.shared.address
    }

    /// Sets the target of requests; without one, connections are closed.
    pub fn set_target(&self, target: Option<SocketAddr>) {
        *lock(&self.shared.target) = target;
    }

    /// Sets the function that decides about later requests by their request line.
    pub fn decide(&self, decide: impl FnMut(&str) -> Fate + Send + 'static) {
        *lock(&self.shared.decide) = Box::new(decide);
    }

    /// Returns the request lines since the last call.
    pub fn take_lines(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.shared.lines))
    }

    /// Returns the heads of requests since the last call.
    pub fn take_heads(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.shared.heads))
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.shared.is_closed.store(true, Ordering::SeqCst);
        // Wakes the accepting thread, so that it sees the flag.
        let _ = TcpStream::connect(self.shared.address);
    }
}

impl Shared {
    fn serve(&self, mut client: TcpStream) -> io::Result<()> {
        client.set_read_timeout(Some(PATIENCE))?;
        let head = read_head(&mut client)?;
        let line = String::from_utf8_lossy(head.split(|byte| *byte == b'\r').next().unwrap_or(&[]));
        let fate = (lock(&self.decide))(&line);
        lock(&self.lines).push(line.into_owned());
        lock(&self.heads).push(String::from_utf8_lossy(&head).into_owned());
        if let Fate::Answer(answer) = &fate {
            client.write_all(answer.as_bytes())?;
            return client.shutdown(Shutdown::Both);
        }
        let target = *lock(&self.target);
        let (Some(target), Fate::Pass | Fate::LoseAnswer(_) | Fate::CutAnswer(_)) = (target, &fate)
        else {
            return client.shutdown(Shutdown::Both);
        };
        let mut server = TcpStream::connect(target)?;
        server.set_read_timeout(Some(PATIENCE))?;
        server.write_all(&head)?;
        let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
        thread::spawn(move || io::copy(&mut from_client, &mut to_server));
        let passed = match fate {
            Fate::LoseAnswer(then) => {
                let first = server.read(&mut [0]);
                then();
                first.map(|_| ())
            }
            Fate::CutAnswer(len) => io::copy(&mut (&server).take(len), &mut client).map(|_| ()),
            _ => io::copy(&mut server, &mut client).map(|_| ()),
        };
        // The other direction holds both sockets, so dropping them would close nothing.
        let _ = server.shutdown(Shutdown::Both);
        client.shutdown(Shutdown::Both).and(passed)
    }
}

/// Reads up to the end of a request's head, and possibly more.
fn read_head(client: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut part = [0; 4096];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match client.read(&mut part)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            len if head.len() + len > MAX_HEAD_BYTES => {
                return Err(io::ErrorKind::InvalidData.into());
            }
            len => head.extend_from_slice(&part[..len]),
        }
    }
    Ok(head)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
