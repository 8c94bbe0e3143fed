//! Traces of the real binary, as a collector on the loopback interface receives them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;

use canter_samples::{Corpus, HDFS_LOGS_YAML, HdfsLogs};

/// Answers requests until one with traces has arrived; returns its request line and body.
fn receive(listener: &TcpListener) -> (String, Vec<u8>) {
    let (stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(&stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let header = header.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    answer(&stream);
    (line, body)
}

fn answer(mut stream: &TcpStream) {
    stream
        .write_all(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\
              Connection: close\r\n\r\n",
        )
        .unwrap();
}

#[test]
fn a_collector_receives_the_spans_of_a_search() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("logs.yaml"), HDFS_LOGS_YAML).unwrap();
    let mut lines = Vec::new();
    HdfsLogs::new(200, 7).write_to(&mut lines).unwrap();
    std::fs::write(folder.path().join("logs.ndjson"), lines).unwrap();
    let canter = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_canter"));
        command
            .args(args)
            .current_dir(folder.path())
            .stdin(Stdio::null());
        command
    };
    let index = ["--index", "index", "--index-config", "logs.yaml"];
    let ingest = [&["index", "ingest", "--input", "logs.ndjson"], &index[..]].concat();
    assert!(canter(&ingest).output().unwrap().status.success());

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let collector = thread::spawn(move || receive(&listener));
    let query = ["--query", "body:s3cr3tword", "--engine", "native"];
    let search = [&["search", "--index", "index"], &query[..]].concat();
    let output = canter(&search)
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let (line, body) = collector.join().unwrap();
    assert!(line.starts_with("POST /v1/traces "), "{line}");
    // Protobuf contains strings unchanged.
    let has = |text: &str| body.windows(text.len()).any(|part| part == text.as_bytes());
    for name in [
        "canter",
        "query",
        "session",
        "wave",
        "request",
        "num_requests",
    ] {
        assert!(has(name), "no {name}");
    }
    assert!(!has("s3cr3tword"));
}
