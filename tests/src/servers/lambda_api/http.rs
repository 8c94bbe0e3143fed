//! Minimal HTTP/1.1 server for two clients: reads requests with bodies, and writes answers.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Maximum length of a body: more than Lambda's, so that refusals can be tested.
const MAX_BODY_BYTES: usize = 16 << 20;

/// Request as received.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// Target including the query.
    pub(super) target: String,
    /// Headers, with names in lower case.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Vec<u8>,
}

/// Answer to a request.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
}

impl Response {
    pub(super) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
        }
    }
}

/// Server with threads of its own; dropping it ends it.
pub(super) struct Server {
    address: SocketAddr,
    is_stopping: Arc<AtomicBool>,
}

impl Server {
    /// Serves on a free port of 127.0.0.1. If `answer` returns `None`, the connection is closed.
    pub(super) fn start(
        answer: impl Fn(Request) -> Option<Response> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let is_stopping = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&is_stopping);
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stopping.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(stream), answer) = (stream, Arc::clone(&answer)) else {
                    continue;
                };
                // A client that disconnects is no error here.
                thread::spawn(move || drop(serve(&stream, &*answer)));
            }
        });
        Ok(Self {
            address,
            is_stopping,
        })
    }

    /// Returns the address as `127.0.0.1:port`.
    pub(super) fn address(&self) -> String {
        self.address.to_string()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        // Wakes the accepting thread.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(stream: &TcpStream, answer: &dyn Fn(Request) -> Option<Response>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = io::BufReader::new(stream);
    while let Some(request) = read_request(&mut reader)? {
        let Some(response) = answer(request) else {
            return Ok(());
        };
        let mut bytes = format!("HTTP/1.1 {} -\r\n", response.status).into_bytes();
        for (name, value) in &response.headers {
            write!(bytes, "{name}: {value}\r\n")?;
        }
        write!(bytes, "content-length: {}\r\n\r\n", response.body.len())?;
        bytes.extend(response.body);
        (&*stream).write_all(&bytes)?;
    }
    Ok(())
}

fn read_request(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(wrong("no request line"));
    };
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(wrong("the head is cut short"));
        }
        match line.trim_end().split_once(':') {
            Some((name, value)) => {
                headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
            }
            None => break,
        }
    }
    let is_chunked = headers
        .get("transfer-encoding")
        .is_some_and(|value| value == "chunked");
    let body = match is_chunked {
        true => read_chunks(reader)?,
        false => {
            let len = headers
                .get("content-length")
                .map_or(Ok(0), |len| len.parse());
            read_exactly(
                reader,
                len.map_err(|_| wrong("content-length is no number"))?,
            )?
        }
    };
    Ok(Some(Request {
        method,
        target,
        headers,
        body,
    }))
}

fn read_chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let len = line.trim_end().split(';').next().unwrap_or_default();
        let len = usize::from_str_radix(len, 16).map_err(|_| wrong("no chunk length"))?;
        let chunk = read_exactly(reader, len)?;
        let is_last = chunk.is_empty();
        body.extend(chunk);
        // The end of a chunk; after the last one, it also ends the trailers.
        line.clear();
        while reader.read_line(&mut line)? > 0 && is_last && line != "\r\n" {
            line.clear();
        }
        if is_last {
            return Ok(body);
        }
        if body.len() > MAX_BODY_BYTES {
            return Err(wrong("the body is too long"));
        }
    }
}

fn read_exactly(reader: &mut impl Read, len: usize) -> io::Result<Vec<u8>> {
    if len > MAX_BODY_BYTES {
        return Err(wrong("the body is too long"));
    }
    let mut body = vec![0; len];
    reader.read_exact(&mut body)?;
    Ok(body)
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
