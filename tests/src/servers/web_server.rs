//! Small HTTP store on loopback that misbehaves on request, over real sockets.
//!
//! It answers `GET` with or without a range, conditional requests and CORS preflights, and supports
//! enough of S3 for unsigned reads of `/bucket/object`. It records every request, so that a test
//! can also check that requests were not sent.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use bytes::Bytes;

/// Error or omission of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quirk {
    /// Status 200 and the whole object for every range.
    RangeIgnored,
    /// Chunked bodies without a `Content-Length`.
    NoContentLength,
    /// `Content-Range: bytes 0-9/*`.
    UnknownSize,
    /// Announces all bytes, sends half of them, and closes the connection.
    CutBody,
    /// Sends half of the bytes in chunks, with a regular end.
    ShortChunks,
    /// Sends ten bytes more than `Content-Range` says, in chunks.
    LongBody,
    /// Sends another range, declared as such.
    ShiftedRange,
    /// Sends half of the range, declared as such.
    ClippedRange,
    /// Status 206 without `Content-Range`.
    NoContentRange,
    /// Correct headers, but bytes from another place in the object.
    WrongBytes,
    /// `Content-Encoding: gzip`.
    Compressed,
    /// Redirects to another origin.
    RedirectsTo(String),
    /// Redirects to `/moved/…` on this host, which then answers.
    RedirectsOnce,
    /// Redirects to itself.
    RedirectsForever,
    /// Different `ETag` in each answer.
    EtagChanges,
    /// No `ETag`.
    NoEtag,
    /// Sends the object although the client has this version.
    IgnoresIfNoneMatch,
    /// Sends no CORS headers.
    NoCors,
    /// Rejects OPTIONS.
    NoPreflight,
    /// Exposes none of the needed headers to scripts.
    ExposesNothing,
    /// Closes the connection after each answer.
    ClosesConnections,
    /// Status 200 for a range beyond the end.
    WholeBeyondTheEnd,
    /// Status 503.
    Busy,
    /// `Cache-Control: public, max-age=86400`.
    CachedForADay,
}

/// Received request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebRequest {
    /// HTTP method, such as `GET`.
    pub method: String,
    /// Path without its leading slash.
    pub path: String,
    /// Query string after `?`.
    pub query: String,
    /// Headers keyed by their names in lower case.
    pub headers: BTreeMap<String, String>,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Bytes>,
    quirks: Mutex<Vec<Quirk>>,
    /// Additional quirks of objects whose paths have a prefix.
    quirks_under: Mutex<Vec<(String, Quirk)>>,
    /// Index of the first request that the quirks affect, from 0.
    quirks_from: AtomicUsize,
    requests: Mutex<Vec<WebRequest>>,
    num_connections: AtomicUsize,
    num_body_bytes: AtomicUsize,
    is_stopping: AtomicBool,
}

/// Running server, which stops when it is dropped.
pub struct WebServer {
    address: SocketAddr,
    state: Arc<State>,
}

impl WebServer {
    /// Serves `objects`, keyed by path without the leading slash, on a free port of 127.0.0.1.
    pub fn start(objects: BTreeMap<String, Bytes>, quirks: &[Quirk]) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let state = Arc::new(State {
            objects,
            quirks: Mutex::new(quirks.to_vec()),
            ..State::default()
        });
        let shared = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.is_stopping.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(stream), state) = (stream, shared.clone()) else {
                    continue;
                };
                state.num_connections.fetch_add(1, Ordering::SeqCst);
                // A client that disconnects early is not an error.
                thread::spawn(move || drop(serve(&stream, &state)));
            }
        });
        Ok(Self { address, state })
    }

    /// Returns `http://127.0.0.1:port`.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Replaces the quirks, which take effect after `after` further requests.
    pub fn set_quirks(&self, quirks: &[Quirk], after: usize) {
        let num_requests = self.requests().len();
        self.state
            .quirks_from
            .store(num_requests + after, Ordering::SeqCst);
        *locked(&self.state.quirks) = quirks.to_vec();
    }

    /// Adds a quirk for all objects whose path has the prefix, in addition to those of
    /// [`Self::set_quirks`].
    pub fn set_quirk_under(&self, prefix: &str, quirk: Quirk) {
        locked(&self.state.quirks_under).push((prefix.to_owned(), quirk));
    }

    /// Returns the number of requests so far for which `is_counted` holds.
    pub fn count_requests(&self, is_counted: impl Fn(&WebRequest) -> bool) -> usize {
        let requests = locked(&self.state.requests);
        requests
            .iter()
            .filter(|request| is_counted(request))
            .count()
    }

    /// Returns the requests after the first `num`.
    pub fn requests_after(&self, num: usize) -> Vec<WebRequest> {
        let requests = locked(&self.state.requests);
        requests.get(num..).unwrap_or_default().to_vec()
    }

    /// Returns all requests so far.
    pub fn requests(&self) -> Vec<WebRequest> {
        locked(&self.state.requests).clone()
    }

    /// Returns the number of connections that were opened so far.
    pub fn num_connections(&self) -> usize {
        self.state.num_connections.load(Ordering::SeqCst)
    }

    /// Returns the number of body bytes that clients have received so far or that are in the
    /// system's buffers.
    pub fn num_body_bytes(&self) -> usize {
        self.state.num_body_bytes.load(Ordering::SeqCst)
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.state.is_stopping.store(true, Ordering::SeqCst);
        // Wakes the listener, so that it notices the stop flag.
        let _ = TcpStream::connect(self.address);
    }
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(stream: &TcpStream, state: &State) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = read_request(&mut reader)? {
        let quirks = {
            let mut requests = locked(&state.requests);
            requests.push(request.clone());
            let is_on = requests.len() > state.quirks_from.load(Ordering::SeqCst);
            is_on.then(|| locked(&state.quirks).clone())
        };
        let mut quirks = quirks.unwrap_or_default();
        for (prefix, quirk) in &*locked(&state.quirks_under) {
            if request.path.starts_with(&**prefix) {
                quirks.push(quirk.clone());
            }
        }
        let reply = Reply::to(&request, state, &quirks);
        let must_close = reply.send(stream, state)?;
        if must_close || state.is_stopping.load(Ordering::SeqCst) {
            return stream.shutdown(std::net::Shutdown::Both);
        }
    }
    Ok(())
}

pub(crate) fn read_request(reader: &mut impl BufRead) -> io::Result<Option<WebRequest>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let method = words.next().unwrap_or_default().to_owned();
    let target = words.next().unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = WebRequest {
        method,
        path: path.trim_start_matches('/').to_owned(),
        query: query.to_owned(),
        headers: BTreeMap::new(),
    };
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim_end().is_empty() {
            return Ok(Some(request));
        }
        if let Some((name, value)) = line.split_once(':') {
            let name = name.trim().to_ascii_lowercase();
            request.headers.insert(name, value.trim().to_owned());
        }
    }
}

/// Way in which a body's end is marked.
#[derive(PartialEq, Eq)]
enum Framing {
    Length,
    Chunks,
    /// Announces a length that the body does not reach.
    Cut,
}

struct Reply {
    status: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Bytes,
    framing: Framing,
    must_close: bool,
}

impl Reply {
    fn new(status: &'static str) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Bytes::new(),
            framing: Framing::Length,
            must_close: false,
        }
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn to(request: &WebRequest, state: &State, quirks: &[Quirk]) -> Self {
        let has = |quirk: Quirk| quirks.contains(&quirk);
        let mut reply = match request.method.as_str() {
            "GET" => Self::to_get(request, state, quirks),
            "OPTIONS" if !has(Quirk::NoPreflight) && !has(Quirk::NoCors) => {
                Self::new("204 No Content")
                    .with("Access-Control-Allow-Methods", "GET")
                    .with("Access-Control-Allow-Headers", "range, if-none-match")
            }
            _ => Self::new("405 Method Not Allowed"),
        };
        if request.headers.contains_key("origin") && !has(Quirk::NoCors) {
            reply = reply.with("Access-Control-Allow-Origin", "*");
            if !has(Quirk::ExposesNothing) {
                reply = reply.with("Access-Control-Expose-Headers", "Content-Range, ETag");
            }
        }
        reply.must_close |= has(Quirk::ClosesConnections);
        reply
    }

    fn to_get(request: &WebRequest, state: &State, quirks: &[Quirk]) -> Self {
        let has = |quirk: Quirk| quirks.contains(&quirk);
        if has(Quirk::Busy) {
            return Self::new("503 Service Unavailable");
        }
        for quirk in quirks {
            let target = match quirk {
                Quirk::RedirectsTo(origin) => format!("{origin}/{}", request.path),
                Quirk::RedirectsForever => format!("/{}", request.path),
                Quirk::RedirectsOnce if !request.path.starts_with("moved/") => {
                    format!("/moved/{}", request.path)
                }
                _ => continue,
            };
            return Self::new("307 Temporary Redirect").with("Location", target);
        }
        let name = request.path.trim_start_matches("moved/");
        let Some(object) = state.objects.get(name) else {
            return Self::new("404 Not Found");
        };
        let etag = match has(Quirk::EtagChanges) {
            true => format!("\"v{}\"", locked(&state.requests).len()),
            false => format!("\"v{}\"", object.len()),
        };
        if request.headers.get("if-none-match") == Some(&etag) && !has(Quirk::IgnoresIfNoneMatch) {
            return Self::new("304 Not Modified").with("ETag", etag);
        }
        let range = request.headers.get("range").map(String::as_str);
        let mut reply = Self::with_range(object, range, quirks);
        if !has(Quirk::NoEtag) {
            reply = reply.with("ETag", etag);
        }
        if has(Quirk::CachedForADay) {
            reply = reply.with("Cache-Control", "public, max-age=86400");
        }
        if has(Quirk::Compressed) {
            reply = reply.with("Content-Encoding", "gzip");
        }
        reply
    }

    fn with_range(object: &Bytes, range: Option<&str>, quirks: &[Quirk]) -> Self {
        let has = |quirk: Quirk| quirks.contains(&quirk);
        let whole = || Self {
            body: object.clone(),
            ..Self::new("200 OK")
        };
        let len = object.len();
        let mut reply = match range {
            None => whole(),
            Some(_) if has(Quirk::RangeIgnored) => whole(),
            Some(range) => match bounds_of(range, len) {
                None if has(Quirk::WholeBeyondTheEnd) => whole(),
                None => Self::new("416 Range Not Satisfiable")
                    .with("Content-Range", format!("bytes */{len}")),
                Some(range) => Self::part(object, range, quirks),
            },
        };
        if has(Quirk::NoContentLength) {
            reply.framing = Framing::Chunks;
        }
        let half = reply.body.len() / 2;
        if has(Quirk::CutBody) && half > 0 {
            reply.framing = Framing::Cut;
        }
        if has(Quirk::ShortChunks) {
            reply.body.truncate(half);
            reply.framing = Framing::Chunks;
        }
        if has(Quirk::LongBody) {
            reply.body = [&reply.body[..], b"0123456789"].concat().into();
            reply.framing = Framing::Chunks;
        }
        reply
    }

    fn part(object: &Bytes, mut range: Range<usize>, quirks: &[Quirk]) -> Self {
        let has = |quirk: Quirk| quirks.contains(&quirk);
        let len = object.len();
        if has(Quirk::ShiftedRange) {
            range = match range.end < len {
                true => range.start + 1..range.end + 1,
                false => range.start.saturating_sub(1)..range.end.max(2) - 1,
            };
        }
        if has(Quirk::ClippedRange) {
            range.end = range.start + range.len().div_ceil(2);
        }
        let mut reply = Self::new("206 Partial Content");
        if !has(Quirk::NoContentRange) {
            let size = match has(Quirk::UnknownSize) {
                true => "*".to_owned(),
                false => len.to_string(),
            };
            let (first, last) = (range.start, range.end - 1);
            reply = reply.with("Content-Range", format!("bytes {first}-{last}/{size}"));
        }
        let elsewhere = (range.start + range.len()) % len;
        reply.body = match has(Quirk::WrongBytes) {
            true => object
                .iter()
                .cycle()
                .skip(elsewhere)
                .take(range.len())
                .copied()
                .collect(),
            false => object.slice(range),
        };
        reply
    }

    /// Sends the reply; returns whether the connection must be closed.
    fn send(&self, mut stream: &TcpStream, state: &State) -> io::Result<bool> {
        let mut head = format!("HTTP/1.1 {}\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let is_empty = self.status.starts_with("204") || self.status.starts_with("304");
        match self.framing {
            _ if is_empty => {}
            Framing::Chunks => head.push_str("Transfer-Encoding: chunked\r\n"),
            Framing::Length | Framing::Cut => {
                head.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
            }
        }
        if self.must_close {
            head.push_str("Connection: close\r\n");
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes())?;
        let body = match self.framing {
            Framing::Cut => &self.body[..self.body.len() / 2],
            _ => &self.body[..],
        };
        for part in body.chunks(16 << 10) {
            if self.framing == Framing::Chunks {
                write!(stream, "{:x}\r\n", part.len())?;
            }
            stream.write_all(part)?;
            state.num_body_bytes.fetch_add(part.len(), Ordering::SeqCst);
            if self.framing == Framing::Chunks {
                stream.write_all(b"\r\n")?;
            }
        }
        if self.framing == Framing::Chunks && !is_empty {
            stream.write_all(b"0\r\n\r\n")?;
        }
        Ok(self.must_close || self.framing == Framing::Cut)
    }
}

/// Returns the bounds of a single byte range in an object of `len` bytes, or `None` if the range
/// lies outside of it.
pub(crate) fn bounds_of(range: &str, len: usize) -> Option<Range<usize>> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let bounds = match (first, last) {
        ("", last) => len.saturating_sub(last.parse().ok()?)..len,
        (first, "") => first.parse().ok()?..len,
        (first, last) => {
            first.parse().ok()?..last.parse::<usize>().ok()?.saturating_add(1).min(len)
        }
    };
    (bounds.start < bounds.end).then_some(bounds)
}
