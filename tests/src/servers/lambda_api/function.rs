//! Lambda function: its program as a child process, and the Runtime API that gives it events.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, thread};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::http::{Request, Response, Server};

const VERSION: &str = "/2018-06-01/runtime";
/// Default timeout of an invocation.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout of a start, far longer than one takes.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Time to wait after the deadline at which Lambda ends an invocation, so that an answer at the
/// last moment is seen.
const GRACE: Duration = Duration::from_secs(5);
/// Clock ticks in `/proc/PID/stat`, a fixed number that the kernel shows to programs.
const TICKS_PER_SECOND: u64 = 100;

/// Reply of a program to an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LambdaReply {
    /// Payload as sent.
    Answer(Vec<u8>),
    /// Error object as sent: `{"errorType", "errorMessage"}`.
    Error(Vec<u8>),
}

impl LambdaReply {
    /// Returns the payload as JSON.
    pub fn json(&self) -> Result<Value> {
        match self {
            Self::Answer(bytes) => Ok(serde_json::from_slice(bytes)?),
            Self::Error(bytes) => bail!("the function failed: {}", String::from_utf8_lossy(bytes)),
        }
    }
}

/// Cost of a start: from the process to its first request for an event.
#[derive(Clone, Copy, Debug)]
pub struct LambdaStart {
    /// Wall-clock time.
    pub wall: Duration,
    /// CPU time of the process, in all its threads.
    pub cpu: Duration,
}

/// Running function. Dropping it ends the process.
pub struct LambdaFunction {
    child: Mutex<Child>,
    state: Arc<State>,
    name: String,
    /// Answers the child until the child is gone.
    _server: Server,
}

#[derive(Default)]
struct State {
    turns: Mutex<Turns>,
    changed: Condvar,
}

/// Queue of events and replies.
#[derive(Default)]
struct Turns {
    num_events: u64,
    /// Events that wait for the program: id, payload, deadline in milliseconds since 1970.
    events: VecDeque<(u64, Vec<u8>, u128)>,
    replies: Vec<(u64, LambdaReply)>,
    /// Cost of the start, once the program has asked for its first event.
    start: Option<LambdaStart>,
    /// Error that the program reported for a failed start.
    init_error: Option<Vec<u8>>,
    log: Vec<String>,
    is_stopping: bool,
}

impl LambdaFunction {
    /// Starts `program` as the function `name` with 512 MB, with `variables` and those of Lambda as
    /// its whole environment. Returns when it has asked for an event.
    ///
    /// # Errors
    /// It ends earlier; the message contains its output.
    pub fn start(name: &str, program: &Path, variables: &[(&str, &str)]) -> Result<Self> {
        let state = Arc::new(State::default());
        let pid = Arc::new(Mutex::new(None));
        let started = Instant::now();
        let (shared, child_pid, function) = (state.clone(), pid.clone(), name.to_owned());
        let server = Server::start(move |request| {
            if lock(&shared.turns).start.is_none() {
                let pid = *lock(&child_pid);
                shared.note_start(started.elapsed(), pid, &request);
            }
            shared.answer(&function, request)
        })?;
        // The lock is held until the id is known, so that the start can be measured.
        let mut known_pid = lock(&pid);
        let mut child = Command::new(program)
            .env_clear()
            .env("AWS_LAMBDA_RUNTIME_API", server.address())
            .env("AWS_LAMBDA_FUNCTION_NAME", name)
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512")
            .env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
            .env("AWS_REGION", "us-east-1")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {}", program.display()))?;
        *known_pid = Some(child.id());
        drop(known_pid);
        if let Some(stderr) = child.stderr.take() {
            let state = state.clone();
            thread::spawn(move || {
                for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                    lock(&state.turns).log.push(line);
                }
            });
        }
        let function = Self {
            child: Mutex::new(child),
            state,
            name: name.to_owned(),
            _server: server,
        };
        function.wait_for(START_TIMEOUT, |turns| turns.start)?;
        Ok(function)
    }

    /// Sends `payload` and returns the reply, within 60 s.
    ///
    /// # Errors
    /// The process ends, or is late.
    pub fn invoke(&self, payload: &[u8]) -> Result<LambdaReply> {
        self.invoke_within(payload, TIMEOUT)
    }

    /// Invokes like [`LambdaFunction::invoke`] with another deadline.
    pub fn invoke_within(&self, payload: &[u8], timeout: Duration) -> Result<LambdaReply> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        let deadline_ms = (now + timeout).as_millis();
        let id = {
            let mut turns = lock(&self.state.turns);
            turns.num_events += 1;
            let id = turns.num_events;
            turns.events.push_back((id, payload.to_vec(), deadline_ms));
            id
        };
        self.state.changed.notify_all();
        self.wait_for(timeout + GRACE, |turns| {
            let place = turns.replies.iter().position(|(of, _)| *of == id)?;
            Some(turns.replies.swap_remove(place).1)
        })
    }

    /// Invokes like [`LambdaFunction::invoke`] with JSON.
    pub fn invoke_json(&self, payload: &Value) -> Result<Value> {
        self.invoke(payload.to_string().as_bytes())?.json()
    }

    /// Returns the cost of the start.
    pub fn start_cost(&self) -> Option<LambdaStart> {
        lock(&self.state.turns).start
    }

    /// Returns the CPU time of the process so far, in steps of 10 ms; Linux only.
    pub fn cpu_time(&self) -> Option<Duration> {
        let pid = lock(&self.child).id();
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in parentheses, may contain spaces; user and system time are fields 14 and 15.
        let (_, fields) = stat.rsplit_once(") ")?;
        let ticks = fields.split(' ').skip(11).take(2).map(str::parse::<u64>);
        let ticks: u64 = ticks.sum::<Result<u64, _>>().ok()?;
        Some(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
    }

    /// Returns the process's output to standard error.
    pub fn log(&self) -> Vec<String> {
        lock(&self.state.turns).log.clone()
    }

    /// Waits until `found` returns something, while the process lives.
    fn wait_for<T>(&self, timeout: Duration, found: impl Fn(&mut Turns) -> Option<T>) -> Result<T> {
        let started = Instant::now();
        let mut turns = lock(&self.state.turns);
        loop {
            if let Some(it) = found(&mut turns) {
                return Ok(it);
            }
            if let Some(error) = &turns.init_error {
                bail!("{}: {}", self.name, String::from_utf8_lossy(error));
            }
            drop(turns);
            let ended = lock(&self.child).try_wait()?;
            if let Some(status) = ended {
                // Its last output may still be on its way.
                thread::sleep(Duration::from_millis(50));
                let log = self.log().join("\n");
                bail!("{} has ended with {status}: {log}", self.name);
            }
            ensure!(started.elapsed() < timeout, "{} is late", self.name);
            turns = lock(&self.state.turns);
            let pause = Duration::from_millis(100);
            let waited = self.state.changed.wait_timeout(turns, pause);
            turns = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for LambdaFunction {
    fn drop(&mut self) {
        lock(&self.state.turns).is_stopping = true;
        self.state.changed.notify_all();
        let mut child = lock(&self.child);
        // It may have ended by itself, and is waited for either way.
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl State {
    fn note_start(&self, wall: Duration, pid: Option<u32>, request: &Request) {
        if !request.target.ends_with("/invocation/next") {
            return;
        }
        let cpu = pid.and_then(cpu_of_threads).unwrap_or_default();
        lock(&self.turns)
            .start
            .get_or_insert(LambdaStart { wall, cpu });
        self.changed.notify_all();
    }

    fn answer(&self, function: &str, request: Request) -> Option<Response> {
        let Some(path) = request.target.strip_prefix(VERSION) else {
            return Some(Response::new(404, "not the Runtime API"));
        };
        let words: Vec<&str> = path.split('/').collect();
        match (request.method.as_str(), words.as_slice()) {
            ("GET", ["", "invocation", "next"]) => self.next_event(function),
            ("POST", ["", "invocation", id, what @ ("response" | "error")]) => {
                let reply = match *what {
                    "response" => LambdaReply::Answer(request.body),
                    _ => LambdaReply::Error(request.body),
                };
                let Ok(id) = id.parse() else {
                    return Some(Response::new(400, "no such invocation"));
                };
                lock(&self.turns).replies.push((id, reply));
                self.changed.notify_all();
                Some(Response::new(202, ""))
            }
            ("POST", ["", "init", "error"]) => {
                lock(&self.turns).init_error = Some(request.body);
                self.changed.notify_all();
                Some(Response::new(202, ""))
            }
            _ => Some(Response::new(404, "not known to the Runtime API")),
        }
    }

    /// Waits for an event without a timeout.
    fn next_event(&self, function: &str) -> Option<Response> {
        let mut turns = lock(&self.turns);
        loop {
            if turns.is_stopping {
                return None;
            }
            if let Some((id, payload, deadline_ms)) = turns.events.pop_front() {
                let arn = format!("arn:aws:lambda:us-east-1:000000000000:function:{function}");
                return Some(Response {
                    status: 200,
                    headers: vec![
                        ("content-type", "application/json".to_owned()),
                        ("lambda-runtime-aws-request-id", id.to_string()),
                        ("lambda-runtime-deadline-ms", deadline_ms.to_string()),
                        ("lambda-runtime-invoked-function-arn", arn),
                    ],
                    body: payload,
                });
            }
            let waited = self.changed.wait(turns);
            turns = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Returns the CPU time of a process's current threads, with a finer resolution than
/// [`LambdaFunction::cpu_time`].
fn cpu_of_threads(pid: u32) -> Option<Duration> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let nanos_of = |path: &Path| {
        let text = fs::read_to_string(path.join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    };
    let nanos = threads
        .flatten()
        .filter_map(|entry| nanos_of(&entry.path()));
    Some(Duration::from_nanos(nanos.sum()))
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
