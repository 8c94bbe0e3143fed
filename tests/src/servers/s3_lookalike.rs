//! In-memory imitation of S3 on loopback that accepts writes and can be told to ignore their
//! conditions.
//!
//! It supports GET, PUT and DELETE of `/bucket/object` and the deletion of several objects, and
//! does not check signatures. Without flaws it behaves like S3 as far as builders depend on it.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use canter_index_builder::IndexStore;
use canter_stores::{BucketOptions, Settings, open_bucket};

use super::web_server::{bounds_of, locked, read_request};
use crate::WebRequest;

/// Maximum time that a request in step waits for others, which may never arrive.
const PATIENCE: Duration = Duration::from_secs(2);

/// Deviation from the behaviour of S3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Overwrites an existing object despite `If-None-Match`.
    IgnoresIfNoneMatch,
    /// Overwrites a changed object despite `If-Match`.
    IgnoresIfMatch,
    /// Answers every conditional write with status 501.
    RefusesConditions,
    /// Answers every deletion with status 403.
    RefusesDeletion,
}

/// Content of an object and the number of the write that created it.
type Object = (Bytes, u64);

#[derive(Default)]
struct State {
    objects: Mutex<BTreeMap<String, Object>>,
    num_writes: Mutex<u64>,
    num_connections: AtomicUsize,
    flaws: Mutex<Vec<Flaw>>,
    lines: Mutex<Vec<String>>,
    step: Step,
    is_stopping: AtomicBool,
}

/// Makes requests wait for each other, so that concurrent writers collide.
#[derive(Default)]
struct Step {
    state: Mutex<StepState>,
    has_passed: Condvar,
}

#[derive(Default)]
struct StepState {
    num_wanted: usize,
    num_waiting: usize,
    num_passed: u64,
}

/// Running server, which stops when it is dropped.
pub struct S3Lookalike {
    address: SocketAddr,
    state: Arc<State>,
}

impl S3Lookalike {
    /// Listens on a free port of 127.0.0.1, without objects.
    pub fn start(flaws: &[Flaw]) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let state = Arc::new(State {
            flaws: Mutex::new(flaws.to_vec()),
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
                thread::spawn(move || drop(state.serve(&stream)));
            }
        });
        Ok(Self { address, state })
    }

    /// Returns the settings of a client, keyed by the names of environment variables.
    pub fn settings(&self) -> [(&'static str, String); 3] {
        [
            ("AWS_ENDPOINT_URL", format!("http://{}", self.address)),
            ("AWS_SKIP_SIGNATURE", "true".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
        ]
    }

    /// Returns a builder's store at `uri`, with its own client.
    pub fn index_store(&self, uri: &str) -> Result<IndexStore> {
        let settings = self.settings();
        let settings = settings.map(|(name, value)| (name.to_owned(), value));
        let options = BucketOptions {
            retry: Default::default(),
            max_whole_object_bytes: 64 << 20,
            settings: Settings(settings.into()),
        };
        let (store, prefix) = open_bucket(&uri.parse()?, &options)?;
        Ok(IndexStore::new(store, prefix, uri))
    }

    /// Replaces the flaws.
    pub fn set_flaws(&self, flaws: &[Flaw]) {
        *locked(&self.state.flaws) = flaws.to_vec();
    }

    /// From now on, requests for a manifest wait until `num_writers` of them have arrived or a
    /// timeout passes, so that concurrent writers read the same manifest and then write at the same
    /// time. With 1, requests do not wait.
    pub fn set_in_step(&self, num_writers: usize) {
        locked(&self.state.step.state).num_wanted = num_writers;
    }

    /// Returns the object at `bucket/name`.
    pub fn object(&self, path: &str) -> Option<Bytes> {
        locked(&self.state.objects)
            .get(path)
            .map(|(bytes, _)| bytes.clone())
    }

    /// Returns the paths of all objects.
    pub fn paths(&self) -> Vec<String> {
        locked(&self.state.objects).keys().cloned().collect()
    }

    /// Returns the number of connections that clients have opened so far.
    pub fn num_connections(&self) -> usize {
        self.state.num_connections.load(Ordering::SeqCst)
    }

    /// Returns the requests since the last call, as `PUT bucket/name`.
    pub fn take_lines(&self) -> Vec<String> {
        std::mem::take(&mut *locked(&self.state.lines))
    }
}

impl Drop for S3Lookalike {
    fn drop(&mut self) {
        self.state.is_stopping.store(true, Ordering::SeqCst);
        // Wakes the listener, so that it notices the stop flag.
        let _ = TcpStream::connect(self.address);
    }
}

impl Step {
    /// Waits until the wanted number of requests has arrived.
    fn pass(&self) {
        let mut state = locked(&self.state);
        state.num_waiting += 1;
        if state.num_waiting >= state.num_wanted {
            state.num_waiting = 0;
            state.num_passed += 1;
            self.has_passed.notify_all();
            return;
        }
        let before = state.num_passed;
        let waited = self
            .has_passed
            .wait_timeout_while(state, PATIENCE, |state| state.num_passed == before);
        let (mut state, late) = match waited {
            Ok(waited) => waited,
            Err(poisoned) => poisoned.into_inner(),
        };
        if late.timed_out() {
            state.num_waiting = state.num_waiting.saturating_sub(1);
        }
    }
}

/// Answer: status, additional headers, body.
type Reply = (&'static str, Vec<(&'static str, String)>, Bytes);

fn only(status: &'static str) -> Reply {
    (status, Vec::new(), Bytes::new())
}

impl State {
    fn serve(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        while let Some(request) = read_request(&mut reader)? {
            let len = request.headers.get("content-length");
            let len: usize = len.and_then(|len| len.parse().ok()).unwrap_or(0);
            let mut body = vec![0; len];
            reader.read_exact(&mut body)?;
            locked(&self.lines).push(format!("{} {}", request.method, request.path));
            if request.path.ends_with("/manifest.canter") {
                self.step.pass();
            }
            let (status, headers, answer) = self.reply(&request, body.into());
            let mut head = format!("HTTP/1.1 {status}\r\n");
            for (name, value) in &headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            head.push_str(&format!("Content-Length: {}\r\n\r\n", answer.len()));
            let mut stream = stream;
            stream.write_all(head.as_bytes())?;
            stream.write_all(&answer)?;
        }
        Ok(())
    }

    fn has(&self, flaw: Flaw) -> bool {
        locked(&self.flaws).contains(&flaw)
    }

    fn reply(&self, request: &WebRequest, body: Bytes) -> Reply {
        match (request.method.as_str(), request.query.as_str()) {
            ("GET", "") => self.get(request),
            ("PUT", "") => self.put(request, body),
            ("DELETE", "") | ("POST", "delete") if self.has(Flaw::RefusesDeletion) => {
                only("403 Forbidden")
            }
            ("DELETE", "") => {
                locked(&self.objects).remove(&request.path);
                only("204 No Content")
            }
            ("POST", "delete") => self.delete_all(&request.path, &body),
            _ => only("405 Method Not Allowed"),
        }
    }

    fn get(&self, request: &WebRequest) -> Reply {
        let found = locked(&self.objects).get(&request.path).cloned();
        let Some((bytes, version)) = found else {
            return only("404 Not Found");
        };
        let mut headers = vec![
            ("ETag", format!("\"v{version}\"")),
            ("Last-Modified", "Tue, 03 Mar 2026 10:00:00 GMT".to_owned()),
        ];
        let len = bytes.len();
        match request.headers.get("range") {
            None => ("200 OK", headers, bytes),
            Some(range) => match bounds_of(range, len) {
                None => {
                    headers.push(("Content-Range", format!("bytes */{len}")));
                    ("416 Range Not Satisfiable", headers, Bytes::new())
                }
                Some(range) => {
                    let (first, last) = (range.start, range.end - 1);
                    headers.push(("Content-Range", format!("bytes {first}-{last}/{len}")));
                    ("206 Partial Content", headers, bytes.slice(range))
                }
            },
        }
    }

    fn put(&self, request: &WebRequest, body: Bytes) -> Reply {
        let none_match = request.headers.contains_key("if-none-match");
        let matched = request.headers.get("if-match");
        if (none_match || matched.is_some()) && self.has(Flaw::RefusesConditions) {
            return only("501 Not Implemented");
        }
        let mut objects = locked(&self.objects);
        let version = objects.get(&request.path).map(|(_, version)| *version);
        if none_match && version.is_some() && !self.has(Flaw::IgnoresIfNoneMatch) {
            return only("412 Precondition Failed");
        }
        let is_same = |etag: &String| version.is_some_and(|it| *etag == format!("\"v{it}\""));
        if matched.is_some_and(|etag| !is_same(etag)) && !self.has(Flaw::IgnoresIfMatch) {
            return only("412 Precondition Failed");
        }
        let mut num_writes = locked(&self.num_writes);
        *num_writes += 1;
        let version = *num_writes;
        objects.insert(request.path.clone(), (body, version));
        let headers = vec![("ETag", format!("\"v{version}\""))];
        ("200 OK", headers, Bytes::new())
    }

    /// Handles `<Delete><Object><Key>a</Key></Object>…</Delete>`.
    fn delete_all(&self, bucket: &str, body: &[u8]) -> Reply {
        let text = String::from_utf8_lossy(body);
        let bucket = bucket.trim_end_matches('/');
        let mut deleted = String::new();
        for part in text.split("<Key>").skip(1) {
            let key = part.split("</Key>").next().unwrap_or_default();
            locked(&self.objects).remove(&format!("{bucket}/{key}"));
            deleted.push_str(&format!("<Deleted><Key>{key}</Key></Deleted>"));
        }
        let answer = format!("<DeleteResult>{deleted}</DeleteResult>");
        ("200 OK", Vec::new(), answer.into())
    }
}
