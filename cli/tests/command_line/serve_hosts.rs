//! Hosts that `canter serve` answers for, and locations that it hides.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use reqwest::Method;

use crate::serve::Server;
use crate::support::{canter, indexed, run};

const SEARCH: &str = "/api/v1/logs/search?max_hits=1";

fn status_for(server: &Server, host: &str, path: &str) -> (u16, String) {
    let answer = server.send(Method::GET, path, &[("host", host)], String::new());
    (answer.status, answer.text)
}

/// A page whose name points here makes the browser send the page's name (DNS rebinding).
#[test]
fn a_request_for_a_foreign_host_is_refused_whatever_it_asks_for() {
    let folder = indexed();
    let server = Server::start(folder.path(), &["--allowed-host", "search.example.org"]);
    for path in [
        SEARCH,
        "/api/v1/indexes",
        "/metrics",
        "/health/livez",
        "/nowhere",
    ] {
        let (status, text) = status_for(&server, "evil.example:7280", path);
        assert_eq!(status, 421, "{path}: {text}");
        assert!(text.contains("--allowed-host evil.example"), "{text}");
        assert!(!text.contains("num_hits"), "{text}");
    }
    let port = server.address().rsplit(':').next().unwrap();
    for host in [
        "localhost",
        "127.0.0.1",
        "[::1]",
        "192.0.2.7",
        "search.example.org",
        "SEARCH.example.org.",
    ] {
        for host in [host.to_owned(), format!("{host}:{port}")] {
            let (status, text) = status_for(&server, &host, SEARCH);
            assert_eq!(status, 200, "{host}: {text}");
        }
    }
    // A page's own name in a preflight is refused as well.
    let headers = [("host", "evil.example"), ("origin", "http://evil.example")];
    let preflight = server.send(Method::OPTIONS, SEARCH, &headers, String::new());
    assert_eq!(preflight.status, 421);
}

#[test]
fn every_host_is_answered_if_that_is_allowed_and_no_url_is_taken_for_a_name() {
    let folder = indexed();
    let server = Server::start(folder.path(), &["--allowed-host", "*"]);
    assert_eq!(status_for(&server, "anything.example", SEARCH).0, 200);
    let args = [
        "serve",
        "--index",
        "index",
        "--allowed-host",
        "https://a.example",
    ];
    let (_, stderr) = run(folder.path(), &args, 2);
    assert!(stderr.contains("no scheme, port or path"), "{stderr}");
}

/// The index's URI as given, and the part that may be shown.
const PRESIGNED: &str = "http://zoe42:s3cr3t@127.0.0.1:9/logs?X-Amz-Signature=5ec2e7&k=(5ec2e7)";
const SHOWN: &str = "http://127.0.0.1:9/logs";

fn check_shown(text: &str) {
    for secret in ["s3cr3t", "5ec2e7", "zoe42"] {
        assert!(!text.contains(secret), "{text}");
    }
    assert!(text.contains(SHOWN), "{text}");
}

#[test]
fn a_server_that_starts_shows_no_credentials() {
    let folder = tempfile::tempdir().unwrap();
    let args = [
        "serve",
        "--index",
        PRESIGNED,
        "--listen",
        "127.0.0.1:0",
        "--engine",
        "native",
    ];
    let mut child = canter(folder.path(), &args)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = lines
        .map(Result::unwrap)
        .find(|line| line.contains("/api/v1/logs/search"));
    child.kill().unwrap();
    child.wait().unwrap();
    check_shown(&line.unwrap());
}

#[test]
fn no_message_shows_the_credentials_of_a_url() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let native = ["--engine", "native"];
    for (args, code) in [
        (
            vec![
                "search", "--index", PRESIGNED, "--query", "a", native[0], native[1],
            ],
            1,
        ),
        (
            vec![
                "search", "--index", PRESIGNED, "--query", "a", native[0], native[1], "--log",
                "debug",
            ],
            1,
        ),
        (
            vec![
                "search",
                "--index",
                "i",
                "--query",
                "a",
                "--max-bytes",
                PRESIGNED,
            ],
            2,
        ),
        (vec!["index", "describe", "--index", PRESIGNED], 1),
        (vec!["index", "ingest", "--index", PRESIGNED], 2),
        (
            vec![
                "serve",
                "--index",
                "http://zoe42:s3cr3t@127.0.0.1:9/logs/%20?5ec2e7",
            ],
            2,
        ),
        (vec!["serve", PRESIGNED], 2),
    ] {
        let (_, stderr) = run(folder, &args, code);
        check_shown(&stderr);
    }
    // A report on standard output.
    let (stdout, stderr) = run(folder, &["doctor", PRESIGNED], 1);
    check_shown(&format!("{stdout}{stderr}"));
}
