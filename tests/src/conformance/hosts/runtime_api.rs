//! The Lambda Runtime API on loopback: what a function asks for its next event, and tells its answer.
//!
//! ```text
//!   function ── GET  /2018-06-01/runtime/invocation/next ────────▶ waits until there is an event
//!            ── POST /2018-06-01/runtime/invocation/ID/response ─▶ its answer
//!            ── POST …/ID/error, …/init/error ───────────────────▶ its failure
//! ```

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

/// What the function is told that it may take.
const DEADLINE: Duration = Duration::from_secs(60);
/// A function that has said nothing after this is given up.
const PATIENCE: Duration = Duration::from_secs(90);
/// As on Lambda.
const MAX_ANSWER_BYTES: usize = 6 << 20;
const PATH: &str = "/2018-06-01/runtime/";

/// A running server; dropping it ends it.
pub(super) struct RuntimeApi {
    address: String,
    events: Sender<String>,
    answers: Receiver<Result<Vec<u8>, String>>,
    is_stopping: Arc<AtomicBool>,
}

struct Shared {
    /// Held by the connection that waits for an event.
    events: Mutex<Receiver<String>>,
    answers: Sender<Result<Vec<u8>, String>>,
    is_stopping: Arc<AtomicBool>,
}

impl RuntimeApi {
    /// Listens on a free port of 127.0.0.1.
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let (events, events_out) = channel();
        let (answers_in, answers) = channel();
        let is_stopping = Arc::new(AtomicBool::new(false));
        let shared = Arc::new(Shared {
            events: Mutex::new(events_out),
            answers: answers_in,
            is_stopping: Arc::clone(&is_stopping),
        });
        thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.is_stopping.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(stream), shared) = (stream, Arc::clone(&shared)) else {
                    continue;
                };
                // A function that goes away shows in the answer that does not come.
                thread::spawn(move || drop(shared.serve(&stream)));
            }
        });
        Ok(Self {
            address,
            events,
            answers,
            is_stopping,
        })
    }

    /// What a function has in `AWS_LAMBDA_RUNTIME_API`.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Gives the function an event and waits for the answer.
    pub(super) fn invoke(&self, event: &str) -> Result<Vec<u8>> {
        self.events.send(event.to_owned()).context("it is ended")?;
        match self.answers.recv_timeout(PATIENCE) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(failure)) => bail!("the function failed: {failure}"),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                bail!("the function does not answer")
            }
        }
    }
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        // Wakes the listener, so that it sees that it is to end.
        let _ = TcpStream::connect(&self.address);
    }
}

impl Shared {
    fn serve(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        while let Some((line, body)) = read_request(&mut reader)? {
            let mut words = line.split_whitespace();
            let (method, path) = (words.next(), words.next().unwrap_or_default());
            let path = path.strip_prefix(PATH).unwrap_or_default();
            match (method, path.rsplit('/').next()) {
                (Some("GET"), Some("next")) => match self.next_event() {
                    Some(event) => send_event(stream, &event)?,
                    None => return Ok(()),
                },
                (Some("POST"), Some("response")) => self.answer(stream, Ok(body))?,
                (Some("POST"), Some("error")) => {
                    let failure = String::from_utf8_lossy(&body).into_owned();
                    self.answer(stream, Err(failure))?;
                }
                _ => send(stream, "404 Not Found", "", b"{}")?,
            }
        }
        Ok(())
    }

    /// Waits for an event; `None` at the end.
    fn next_event(&self) -> Option<String> {
        let events = self.events.lock();
        let events = events.unwrap_or_else(PoisonError::into_inner);
        events.recv().ok()
    }

    fn answer(&self, stream: &TcpStream, answer: Result<Vec<u8>, String>) -> io::Result<()> {
        let _ = self.answers.send(answer);
        send(stream, "202 Accepted", "", br#"{"status":"OK"}"#)
    }
}

fn send_event(stream: &TcpStream, event: &str) -> io::Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let deadline = now.unwrap_or_default() + DEADLINE;
    let headers = format!(
        "Lambda-Runtime-Aws-Request-Id: 8476a536-e9f4-11e8-9739-2dfe598c3fcd\r\n\
         Lambda-Runtime-Deadline-Ms: {}\r\n\
         Lambda-Runtime-Invoked-Function-Arn: arn:aws:lambda:us-east-1:123456789012:function:canter-search\r\n\
         Lambda-Runtime-Trace-Id: Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Sampled=0\r\n",
        deadline.as_millis()
    );
    send(stream, "200 OK", &headers, event.as_bytes())
}

fn send(mut stream: &TcpStream, status: &str, headers: &str, body: &[u8]) -> io::Result<()> {
    let len = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Type: application/json\r\nContent-Length: {len}\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), body].concat())
}

/// The first line and the body of a request; `None` when the connection ends.
fn read_request(reader: &mut impl BufRead) -> io::Result<Option<(String, Vec<u8>)>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let (mut len, mut is_chunked) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => len = value.trim().parse().map_err(io::Error::other)?,
            "transfer-encoding" => is_chunked = value.trim().eq_ignore_ascii_case("chunked"),
            _ => {}
        }
    }
    let body = match is_chunked {
        true => read_chunks(reader)?,
        false => read_exactly(reader, len)?,
    };
    Ok(Some((first, body)))
}

/// As long as it may be, and no longer.
fn read_exactly(reader: &mut impl BufRead, len: usize) -> io::Result<Vec<u8>> {
    if len > MAX_ANSWER_BYTES {
        return Err(io::Error::other("an answer of more than 6 MB"));
    }
    let mut body = vec![0; len];
    reader.read_exact(&mut body)?;
    Ok(body)
}

fn read_chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let len = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
        body.extend(read_exactly(reader, len)?);
        // The end of a chunk's line, or of the trailers, which functions send none of.
        reader.read_line(&mut line)?;
        if len == 0 || body.len() > MAX_ANSWER_BYTES {
            return Ok(body);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_gets_events_and_gives_answers() {
        let api = RuntimeApi::start().unwrap();
        let address = api.address().to_owned();
        let function = thread::spawn(move || {
            let stream = TcpStream::connect(address).unwrap();
            let mut reader = BufReader::new(&stream);
            let mut events = Vec::new();
            for answer in [
                "POST /2018-06-01/runtime/invocation/x/response HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
                "POST /2018-06-01/runtime/invocation/x/response HTTP/1.1\r\n\
                 Transfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n",
                "POST /2018-06-01/runtime/invocation/x/error HTTP/1.1\r\nContent-Length: 4\r\n\r\nlost",
            ] {
                let next = "GET /2018-06-01/runtime/invocation/next HTTP/1.1\r\n\r\n";
                (&stream).write_all(next.as_bytes()).unwrap();
                events.push(read_request(&mut reader).unwrap().unwrap());
                (&stream).write_all(answer.as_bytes()).unwrap();
                let (line, _) = read_request(&mut reader).unwrap().unwrap();
                assert!(line.starts_with("HTTP/1.1 202"), "{line}");
            }
            events
        });
        assert_eq!(api.invoke("one").unwrap(), b"abc");
        assert_eq!(api.invoke("two").unwrap(), b"def");
        assert!(format!("{:#}", api.invoke("three").unwrap_err()).contains("lost"));
        let events = function.join().unwrap();
        let bodies: Vec<&[u8]> = events.iter().map(|(_, body)| body.as_slice()).collect();
        assert_eq!(bodies, [&b"one"[..], b"two", b"three"]);
    }
}
