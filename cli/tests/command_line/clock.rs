//! A clock before 1970: nothing panics, commands that need the date report it, and the rest works.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::serve::PATIENCE;
use crate::support::{NUM_DOCS, canter, indexed, texts};

/// Overrides the C library's clock: a day before 1970, whatever the system's time.
const CLOCK: &str = r"
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *now) {
  int failed = (int) syscall(SYS_clock_gettime, id, now);
  if (!failed && id == CLOCK_REALTIME) now->tv_sec = -86400;
  return failed;
}
";

/// Compiles the clock, with the compiler that the program itself needs.
fn clock(folder: &Path) -> PathBuf {
    std::fs::write(folder.join("clock.c"), CLOCK).unwrap();
    let library = folder.join("clock.so");
    let mut compiler = Command::new("cc");
    let compiler = compiler
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library);
    let compiled = compiler.arg(folder.join("clock.c")).status().unwrap();
    assert!(compiled.success());
    library
}

fn wrong(folder: &Path, args: &[&str], clock: &Path) -> Command {
    let mut command = canter(folder, args);
    command
        .env("LD_PRELOAD", clock)
        .env("AWS_ACCESS_KEY_ID", "none")
        .env("AWS_SECRET_ACCESS_KEY", "none")
        .env("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        .env("AWS_REGION", "nowhere")
        .stdin(Stdio::null());
    command
}

#[test]
fn commands_that_need_no_date_go_on_and_others_say_what_to_do() {
    let folder = indexed();
    let folder = folder.path();
    let clock = clock(folder);
    let run = |args: &[&str], code: i32| {
        let output = wrong(folder, args, &clock).output().unwrap();
        let (stdout, stderr) = texts(args, &output, code);
        assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
        (stdout, stderr)
    };
    let native = ["--engine", "native", "--query", "*"];
    let (stdout, _) = run(&[&["search", "--index", "index"], &native[..]].concat(), 0);
    let answer: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(answer["num_hits"], NUM_DOCS);
    run(
        &[
            "index",
            "ingest",
            "--index",
            "index",
            "--input",
            "logs.ndjson",
        ],
        0,
    );
    run(&["key", "add", "--file", "keys.toml", "--id", "a"], 0);
    for (args, code) in [
        (vec!["index", "gc", "--index", "index"], 1),
        (vec!["index", "describe", "--index", "s3://bucket/logs"], 1),
        (
            [&["search", "--index", "s3://bucket/logs"], &native[..]].concat(),
            1,
        ),
        (
            [
                &["search", "--index", "https://127.0.0.1:9/logs"],
                &native[..],
            ]
            .concat(),
            1,
        ),
    ] {
        let output = wrong(folder, &args, &clock).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            stderr.contains("the clock of this machine is wrong"),
            "{args:?}: {stderr}"
        );
        assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
        let found = output.status.code();
        // A bucket that cannot be opened counts as wrong use.
        assert!(
            found == Some(code) || found == Some(2),
            "{args:?}: {found:?} {stderr}"
        );
    }
}

#[test]
fn connections_are_answered_and_none_panics() {
    let folder = indexed();
    let folder = folder.path();
    let clock = clock(folder);
    let args = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--engine",
        "native",
        "--index",
        "logs=index",
    ];
    let mut server = wrong(folder, &args, &clock)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(server.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap();
    let mut answers = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request = "GET /logs/_count HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answers.push(answer);
    }
    server.kill().unwrap();
    server.wait().unwrap();
    let mut stderr = String::new();
    let mut log = server.stderr.take().unwrap();
    log.read_to_string(&mut stderr).unwrap();
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert!(
        stderr.contains("warning: the clock of this machine is wrong"),
        "{stderr}"
    );
    for answer in answers {
        assert!(answer.starts_with("HTTP/1.1 503 "), "{answer:?} {stderr}");
        assert!(
            answer.contains("the clock of this machine is wrong"),
            "{answer}"
        );
    }
}
