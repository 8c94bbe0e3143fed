//! Limits of `canter serve` on clients that are slow, numerous or large.
//!
//! Nothing here depends on the machine's speed: events that must happen are awaited with [`PATIENCE`], and
//! the absence of others is only checked after an event that happens later.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::serve::{PATIENCE, Server};
use crate::support::{indexed, run};

const LIVEZ: &str = "GET /health/livez HTTP/1.1\r\nhost: localhost\r\n\r\n";

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn send(server: &Server, text: &str) -> TcpStream {
    let mut stream = connect(server);
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

/// Returns everything until the server closes the connection.
fn read_to_end(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        // Closed with unread bytes, which is equivalent.
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
        Err(error) => panic!("the connection is still open after {PATIENCE:?}: {error}"),
    }
    String::from_utf8(bytes).unwrap()
}

/// Returns the answer's header, without waiting for the connection's end.
fn read_header(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        text.push(byte[0]);
    }
    String::from_utf8(text).unwrap()
}

fn is_refused(answer: &str, status: &str, flag: &str) -> bool {
    answer.starts_with(&format!("HTTP/1.1 {status} "))
        && answer.contains("\r\nretry-after: 1\r\n")
        && answer.contains(flag)
}

/// Retries until the condition holds.
fn wait_until(mut is_so: impl FnMut() -> bool, what: &str) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_header_that_does_not_come_ends_the_connection() {
    let folder = indexed();
    let server = Server::start(folder.path(), &["--header-timeout", "300ms"]);
    let half = send(&server, "GET /api/v1/logs/search HTTP/1.1\r\nhost: loc");
    let nothing = connect(&server);
    let mut kept_alive = send(&server, LIVEZ);
    assert!(read_header(&mut kept_alive).starts_with("HTTP/1.1 200 "));
    for stream in [half, nothing, kept_alive] {
        let rest = read_to_end(stream);
        assert!(!rest.contains("HTTP/1.1 200"), "{rest}");
    }
    assert_eq!(server.get("/health/livez").status, 200);
}

#[test]
fn a_body_that_does_not_come_is_answered_408() {
    let folder = indexed();
    let server = Server::start(folder.path(), &["--body-timeout", "300ms"]);
    let head =
        "POST /api/v1/logs/search HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{\"q";
    let answer = read_to_end(send(&server, head));
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("--body-timeout"), "{answer}");
    let chunks = "POST /api/v1/logs/search HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n\
                  1\r\n{\r\n";
    let answer = read_to_end(send(&server, chunks));
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

#[test]
fn a_body_that_is_too_long_is_refused_before_it_comes() {
    let folder = indexed();
    let server = Server::start(folder.path(), &["--max-body-bytes", "10KB"]);
    let announced =
        "POST /api/v1/logs/search HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10001\r\n\r\n";
    let answer = read_to_end(send(&server, announced));
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    let head = "POST /api/v1/logs/search HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = format!("1000\r\n{}\r\n", " ".repeat(0x1000));
    let answer = read_to_end(send(&server, &format!("{head}{chunk}{chunk}{chunk}")));
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("10000 bytes"), "{answer}");
}

#[test]
fn connections_beyond_the_limit_are_refused_until_one_ends() {
    let folder = indexed();
    let server = Server::start(folder.path(), &["--max-connections", "2"]);
    let open: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut stream = send(&server, LIVEZ);
            assert!(read_header(&mut stream).starts_with("HTTP/1.1 200 "));
            stream
        })
        .collect();
    for _ in 0..3 {
        let answer = read_to_end(send(&server, LIVEZ));
        assert!(is_refused(&answer, "503", "--max-connections"), "{answer}");
    }
    drop(open);
    let closing = LIVEZ.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
    let is_answered = || read_to_end(send(&server, &closing)).starts_with("HTTP/1.1 200 ");
    wait_until(is_answered, "no place became free");
}

/// Returns an index whose store accepts requests but never answers: searches of it wait.
fn silent_store() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let uri = format!("logs=http://{}/logs", listener.local_addr().unwrap());
    (listener, uri)
}

/// Returns whether an answer has arrived.
fn has_answer(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let mut byte = [0];
    let is_there = stream.peek(&mut byte).is_ok_and(|len| len > 0);
    stream.set_nonblocking(false).unwrap();
    is_there
}

#[test]
fn requests_beyond_those_that_run_and_wait_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_store, index) = silent_store();
    let limits = [
        "--max-instances",
        "1",
        "--max-waiting",
        "1",
        "--deadline-ms",
        "600000",
    ];
    let server = Server::of(folder.path(), &[&["--index", &index], &limits[..]].concat());
    let search = "GET /api/v1/logs/search HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut clients: Vec<TcpStream> = (0..4).map(|_| send(&server, search)).collect();
    let num_answered =
        |clients: &[TcpStream]| clients.iter().filter(|client| has_answer(client)).count();
    wait_until(|| num_answered(&clients) == 2, "two of four are refused");
    let (refused, waiting): (Vec<_>, Vec<_>) = clients.drain(..).partition(has_answer);
    for mut client in refused {
        let header = read_header(&mut client);
        assert!(header.starts_with("HTTP/1.1 429 "), "{header}");
        assert!(header.contains("\r\nretry-after: 1\r\n"), "{header}");
    }
    // Still the same: nothing else has made room, and the two are still waiting.
    let again = read_header(&mut send(&server, search));
    assert!(again.starts_with("HTTP/1.1 429 "), "{again}");
    assert_eq!(num_answered(&waiting), 0);
    assert_eq!(server.get("/metrics").status, 200);
    // An Elasticsearch client gets the reason in its own form.
    let elastic = server.get("/logs/_search");
    assert_eq!(elastic.status, 429);
    assert_eq!(elastic.header("retry-after"), Some("1"));
    assert_eq!(elastic.header("x-elastic-product"), Some("Elasticsearch"));
    let error = &elastic.json()["error"];
    assert_eq!(error["type"], "es_rejected_execution_exception");
    assert!(
        error["root_cause"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("--max-waiting")
    );
    // The waiting clients are gone, and there is room.
    drop(waiting);
    let is_let_in = || {
        let mut client = send(&server, search);
        client
            .set_read_timeout(Some(Duration::from_secs(1)))
            .unwrap();
        client.read(&mut [0; 12]).is_err()
    };
    wait_until(is_let_in, "no room became free");
}

#[test]
fn bodies_share_the_bytes_that_may_be_held() {
    let folder = indexed();
    // A stalling client stays connected until the other one was refused, however busy the machine is.
    let limits = [
        "--max-body-bytes",
        "100KB",
        "--max-held-bytes",
        "100KB",
        "--body-timeout",
        "10m",
    ];
    let server = Server::start(folder.path(), &limits);
    let head = "POST /api/v1/logs/search HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n";
    let stalled = format!("{head}content-length: 100000\r\n\r\n{}", " ".repeat(90_000));
    let whole = format!(
        "{head}content-length: 50000\r\n\r\n{{\"query\":\"*\"{}}}",
        " ".repeat(49_987)
    );
    // Either of the two may come first, in which case the other is refused: then the first is sent again, too.
    let mut stalling = None;
    let is_refused_now = || {
        stalling = Some(send(&server, &stalled));
        is_refused(
            &read_to_end(send(&server, &whole)),
            "429",
            "--max-held-bytes",
        )
    };
    wait_until(
        is_refused_now,
        "two bodies of more than fits were held at once",
    );
    drop(stalling);
    let is_answered = || read_to_end(send(&server, &whole)).starts_with("HTTP/1.1 200 ");
    wait_until(
        is_answered,
        "what a client held that has gone did not become free",
    );
}

#[test]
fn limits_that_no_request_could_keep_to_are_wrong_use() {
    let folder = indexed();
    let serve = |more: &[&str]| {
        let args = [&["serve", "--index", "index", "--engine", "native"], more].concat();
        run(folder.path(), &args, 2).1
    };
    let stderr = serve(&["--max-body-bytes", "2MiB", "--max-held-bytes", "1MiB"]);
    assert!(
        stderr.contains("raise the one or lower the other"),
        "{stderr}"
    );
    for wrong in [
        ["--max-connections", "0"],
        ["--max-instances", "0"],
        ["--header-timeout", "0s"],
        ["--body-timeout", "30"],
        ["--max-held-bytes", "much"],
    ] {
        assert!(serve(&wrong).contains(wrong[0]), "{wrong:?}");
    }
}

/// A few kilobytes of gzip that take a core for a second, in a server whose requests have one thread.
#[test]
fn a_server_says_that_it_lives_while_it_reads_half_a_million_actions() {
    let folder = indexed();
    let one_thread = [("TOKIO_WORKER_THREADS", "1")];
    let server = Server::with(
        folder.path(),
        &["--index", "logs=index", "--writable", "--no-upkeep"],
        std::process::Stdio::null(),
        &one_thread,
    );
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for _ in 0..500_000 {
        gzip.write_all(b"{\"delete\":{}}\n").unwrap();
    }
    let body = gzip.finish().unwrap();
    let head = format!(
        "POST /logs/_bulk HTTP/1.1\r\nhost: localhost\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let is_answered_meanwhile = || {
        let mut bulk = send(&server, &head);
        bulk.write_all(&body).unwrap();
        let mut livez = send(&server, LIVEZ);
        assert!(read_header(&mut livez).starts_with("HTTP/1.1 200 "));
        let was_first = !has_answer(&bulk);
        assert!(read_header(&mut bulk).starts_with("HTTP/1.1 200 "));
        was_first
    };
    // On a busy machine, this test may ask too late.
    assert!((0..5).any(|_| is_answered_meanwhile()));
}

#[test]
fn more_actions_or_documents_than_may_be_are_refused_by_name() {
    let folder = indexed();
    let limited = [
        "--writable",
        "--no-upkeep",
        "--max-write-items",
        "3",
        "--otel-index",
        "logs",
    ];
    let server = Server::start(folder.path(), &limited);
    let record = "{\"body\":{\"stringValue\":\"x\"}}";
    let logs = |num: usize| {
        let records = vec![record; num].join(",");
        format!("{{\"resourceLogs\":[{{\"scopeLogs\":[{{\"logRecords\":[{records}]}}]}}]}}")
    };
    for (path, kind, three, four) in [
        (
            "/logs/_bulk",
            "x-ndjson",
            "{\"delete\":{}}\n".repeat(3),
            "{\"delete\":{}}\n".repeat(4),
        ),
        (
            "/api/v1/logs/ingest",
            "x-ndjson",
            "{}\n\n".repeat(3),
            "{}\n\n".repeat(4),
        ),
        ("/v1/logs", "json", logs(3), logs(4)),
    ] {
        let kind = format!("application/{kind}");
        let headers = [("content-type", kind.as_str())];
        let taken = server.send(reqwest::Method::POST, path, &headers, three);
        assert_eq!(taken.status, 200, "{path}: {}", taken.text);
        let refused = server.send(reqwest::Method::POST, path, &headers, four);
        assert_eq!(refused.status, 413, "{path}: {}", refused.text);
        assert!(
            refused.text.contains("--max-write-items"),
            "{path}: {}",
            refused.text
        );
    }
}
