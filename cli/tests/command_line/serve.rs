//! `canter serve`: the same answers as `canter search`, over HTTP.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{canter, indexed, run, search};

/// Far longer than anything here takes: a server that does not end is a failure, not a hanging test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A server under test. Dropping it kills it.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
    http: reqwest::Client,
    runtime: tokio::runtime::Runtime,
}

impl Server {
    pub(crate) fn start(folder: &Path, more: &[&str]) -> Self {
        Self::of(folder, &[&["--index", "logs=index"], more].concat())
    }

    /// Starts a server with indexes of its own.
    pub(crate) fn of(folder: &Path, more: &[&str]) -> Self {
        Self::that_logs(folder, more, Stdio::null())
    }

    /// Starts a server with a log.
    pub(crate) fn that_logs(folder: &Path, more: &[&str], log: impl Into<Stdio>) -> Self {
        Self::with(folder, more, log, &[])
    }

    /// Starts a server with additional environment variables.
    pub(crate) fn with(
        folder: &Path,
        more: &[&str],
        log: impl Into<Stdio>,
        environment: &[(&str, &str)],
    ) -> Self {
        let mut command = canter(folder, &args(more));
        let command = command.envs(environment.iter().copied()).stderr(log);
        Self::run(command).expect("it listens")
    }

    /// Starts a server that can write only to `folder`, to test that it deletes nothing elsewhere. Returns `None`, and
    /// prints the test's name, if no mount namespace can be created, which takes Linux and root.
    pub(crate) fn shut_in(folder: &Path, more: &[&str], test: &str) -> Option<Self> {
        const SHUT_IN: &str = r#"
            mount --bind "$0" "$0" || exit 77
            while read -r _ at _; do
                case "$at" in
                    "$0" | /proc | /proc/* | /sys | /sys/* | /dev | /dev/*) ;;
                    *) mount -o remount,bind,ro "$at" || exit 77 ;;
                esac
            done < /proc/self/mounts
            cd "$0" && exec "$@"
        "#;
        let canter = canter(folder, &args(more));
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "--propagation", "private", "sh", "-c", SHUT_IN])
            .arg(folder.canonicalize().unwrap())
            .arg(canter.get_program())
            .args(canter.get_args())
            .current_dir(folder)
            .stderr(Stdio::null());
        let server = Self::run(&mut command);
        if server.is_none() {
            eprintln!("{test} is skipped: no mount namespace can be made here");
        }
        server
    }

    /// Returns `None` if the program cannot be run, or ends.
    fn run(command: &mut Command) -> Option<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn().ok()?;
        let mut line = String::new();
        let stdout = child.stdout.take()?;
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let Some(url) = line.strip_prefix("listening on ") else {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        };
        let url = url.trim().to_owned();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        Some(Self {
            child,
            url,
            http: canter_stores::http_client().build().unwrap(),
            runtime,
        })
    }

    /// Returns `address:port`.
    pub(crate) fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap()
    }

    /// Returns the peak memory of the server in bytes.
    #[cfg(target_os = "linux")]
    pub(crate) fn peak_bytes(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap();
        let mut lines = status.lines();
        let peak = lines.find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let peak = peak.trim().strip_suffix(" kB").unwrap();
        peak.parse::<u64>().unwrap() << 10
    }

    /// Tells it to stop repeatedly until it has, as an impatient person does.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            self.tell_to_stop();
            for _ in 0..20 {
                if let Some(ended) = self.child.try_wait().unwrap() {
                    return ended;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        panic!("it was told to stop for {PATIENCE:?} and goes on");
    }

    fn tell_to_stop(&self) {
        let id = self.child.id().to_string();
        let mut kill = std::process::Command::new("kill");
        assert!(kill.args(["-TERM", &id]).status().unwrap().success());
    }

    pub(crate) fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Answer {
        self.send_bytes(method, path, headers, body.into_bytes())
    }

    pub(crate) fn send_bytes(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Answer {
        let answer = self.try_send(method, path, headers, body);
        answer.expect("the server answers")
    }

    /// Sends a request to a server that may be gone; returns `None` if it does not answer.
    pub(crate) fn try_send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<reqwest::Body>,
    ) -> Option<Answer> {
        let request = self.http.request(method, format!("{}{path}", self.url));
        let request = headers.iter().fold(request, |request, (name, value)| {
            request.header(*name, *value)
        });
        self.runtime.block_on(async {
            let response = request.body(body).send().await.ok()?;
            Some(Answer {
                status: response.status().as_u16(),
                headers: response.headers().clone(),
                text: response.text().await.ok()?,
            })
        })
    }

    /// Returns the number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], String::new())
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, &[], body.to_string())
    }

    pub(crate) fn post_json(&self, path: &str, body: &Value) -> Answer {
        let headers = [("content-type", "application/json")];
        self.send(Method::POST, path, &headers, body.to_string())
    }
}

/// Returns the arguments of a server on any port.
fn args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let engine: &[&str] = match more.contains(&"--engine") {
        true => &[],
        false => &["--engine", "native"],
    };
    [&["serve", "--listen", "127.0.0.1:0"], engine, more].concat()
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: reqwest::header::HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    /// Returns the whole answer: the headers and the body.
    pub(crate) fn whole(&self) -> String {
        format!("{:?} {}", self.headers, self.text)
    }

    pub(crate) fn header_values(&self, name: &str) -> Vec<&str> {
        let values = self.headers.get_all(name).iter();
        values.map(|value| value.to_str().unwrap()).collect()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

#[test]
fn it_answers_as_the_command_line_does() {
    let folder = indexed();
    let server = Server::start(folder.path(), &[]);
    let from_shell = search(
        folder.path(),
        &["--query", "severity_text:INFO", "--max-hits", "3"],
    );
    let get = server.get("/api/v1/logs/search?query=severity_text:INFO&max_hits=3");
    let post = json!({"query": "severity_text:INFO", "max_hits": 3});
    let post = server.post("/api/v1/logs/search", &post);
    let timeless = |mut json: Value| {
        json["elapsed_time_micros"] = Value::Null;
        json
    };
    let keys =
        |json: &Value| -> Vec<String> { json.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(keys(&get.json()), keys(&from_shell));
    assert_eq!(timeless(get.json()), timeless(from_shell));
    assert_eq!(timeless(get.json()), timeless(post.json()));
    assert_eq!(get.header("content-type"), Some("application/json"));
    assert!(
        get.header("server-timing")
            .unwrap()
            .starts_with("total;dur=")
    );
    let requests: u64 = get.header("x-canter-requests").unwrap().parse().unwrap();
    assert!(requests >= 1);
}

#[test]
fn wrong_requests_are_refused_with_a_message() {
    let folder = indexed();
    let server = Server::start(folder.path(), &["--max-body-bytes", "2000"]);
    for (path, status, part) in [
        ("/api/v1/other/search", 404, "logs"),
        ("/api/v1/logs/search?max_hit=1", 400, "max_hit"),
        ("/nothing/here", 404, "there is nothing at"),
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, status, "{path}");
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(part), "{message}");
    }
    let long = json!({"query": "a ".repeat(2_000)});
    let answer = server.post("/api/v1/logs/search", &long);
    assert_eq!(answer.status, 413);
    assert!(answer.text.contains("--max-body-bytes"), "{}", answer.text);
    let path = "/api/v1/logs/search";
    let put = server.send(Method::PUT, path, &[], String::new());
    assert_eq!((put.status, put.header("allow")), (405, Some("GET, POST")));
}

#[test]
fn pages_of_allowed_origins_may_search_and_no_others() {
    let folder = indexed();
    let server = Server::start(folder.path(), &["--cors-origin", "https://example.org"]);
    let preflight = |origin: &str| {
        let headers = [
            ("origin", origin),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "content-type"),
        ];
        let path = "/api/v1/logs/search";
        let answer = server.send(Method::OPTIONS, path, &headers, String::new());
        answer
            .header("access-control-allow-origin")
            .map(str::to_owned)
    };
    let allowed = Some("https://example.org".to_owned());
    assert_eq!(preflight("https://example.org"), allowed);
    assert_eq!(preflight("https://example.com"), None);
    let closed = Server::start(folder.path(), &[]);
    let headers = [("origin", "https://example.org")];
    let answer = closed.send(Method::GET, "/health/livez", &headers, String::new());
    assert_eq!(answer.header("access-control-allow-origin"), None);
    let args = ["serve", "--index", "index", "--cors-origin", "example.org"];
    let (_, stderr) = run(folder.path(), &args, 2);
    assert!(stderr.contains("is no origin"), "{stderr}");
}

#[test]
fn it_counts_what_it_does_and_ends_when_it_is_told_to() {
    let folder = indexed();
    let mut server = Server::start(folder.path(), &["--cache", "cache"]);
    for _ in 0..2 {
        assert_eq!(server.get("/api/v1/logs/search").status, 200);
    }
    let metrics = server.get("/metrics").text;
    let line = "canter_queries_total{kind=\"http\",outcome=\"ok\"} 2";
    assert!(metrics.contains(line), "{metrics}");
    assert!(server.stop().success());
    // The next search finds the data that it fetched.
    let (stats, _) = run(
        folder.path(),
        &["cache", "stats", "cache", "--format", "json"],
        0,
    );
    assert!(stats.contains("doc_store"), "{stats}");
}

#[test]
fn a_client_that_stops_halfway_does_not_keep_it() {
    let folder = indexed();
    let mut server = Server::start(folder.path(), &[]);
    let mut client = TcpStream::connect(server.address()).unwrap();
    let half =
        b"POST /api/v1/logs/search HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{";
    client.write_all(half).unwrap();
    // Afterwards, the other one has been accepted too.
    assert_eq!(server.get("/health/livez").status, 200);
    assert!(server.stop().success());
    drop(client);
}

#[test]
fn an_address_in_use_and_names_given_twice_are_wrong_use() {
    let folder = indexed();
    let server = Server::start(folder.path(), &[]);
    let args = [
        "serve",
        "--index",
        "index",
        "--listen",
        server.address(),
        "--engine",
        "native",
    ];
    let (_, stderr) = run(folder.path(), &args, 2);
    assert!(stderr.contains("choose another address"), "{stderr}");
    let args = [
        "serve", "--index", "index", "--index", "./index", "--engine", "native",
    ];
    let (_, stderr) = run(folder.path(), &args, 2);
    assert!(stderr.contains("two indexes"), "{stderr}");
}
