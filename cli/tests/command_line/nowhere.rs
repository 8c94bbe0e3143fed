//! Commands on a missing index, and on one that cannot be reached.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

use canter_tests::WebServer;

use crate::support::{canter, run, texts};

fn search(index: &str) -> [&str; 8] {
    [
        "search",
        "--index",
        index,
        "--query",
        "*",
        "--engine",
        "native",
        "--no-cache",
    ]
}

#[test]
fn where_no_index_is_the_message_says_how_to_make_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::create_dir(folder.join("empty")).unwrap();
    for index in ["missing", "empty", "file:///no/such/folder"] {
        let describe: &[&str] = &["index", "describe", "--index", index];
        let serve = format!("a={index}");
        let serve: &[&str] = &[
            "serve",
            "--index",
            &serve,
            "--listen",
            "nowhere:1",
            "--engine",
            "native",
        ];
        let mut commands = vec![search(index).to_vec(), describe.to_vec()];
        let mut explain = search(index).to_vec();
        explain.push("--explain");
        commands.push(explain);
        if index != "empty" {
            // A folder without an index may get one later.
            commands.push(serve.to_vec());
        }
        for args in commands {
            let (stdout, stderr) = run(folder, &args, 2);
            let expect = format!("no index at `{index}`");
            assert!(stderr.contains(&expect), "{args:?}: {stderr}");
            let create = format!("canter index create --index {index}");
            assert!(stderr.contains(&create), "{args:?}: {stderr}");
            assert!(!stderr.contains("LocalFileSystem"), "{args:?}: {stderr}");
            assert_eq!(stdout, "");
        }
    }
}

#[test]
fn a_web_server_without_an_index_is_told_from_one_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let server = WebServer::start(BTreeMap::new(), &[]).unwrap();
    let index = format!("{}/logs?sig=5ec2e7", server.origin());
    let describe = ["index", "describe", "--index", &index];
    for args in [&search(&index)[..], &describe] {
        let (_, stderr) = run(folder, args, 2);
        let expect = format!("no index at `{}/logs", server.origin());
        assert!(stderr.contains(&expect), "{stderr}");
        assert!(stderr.contains("manifest.canter"), "{stderr}");
        assert!(stderr.contains("canter index create"), "{stderr}");
        assert!(!stderr.contains("5ec2e7"), "{stderr}");
    }
    let nobody = closed_address();
    let index = format!("http://{nobody}/logs");
    let describe = ["index", "describe", "--index", &index];
    for args in [&search(&index)[..], &describe] {
        let (_, stderr) = run(folder, args, 1);
        assert!(
            stderr.contains(&format!("cannot read the index at `{index}`")),
            "{stderr}"
        );
        assert!(
            stderr.contains("check the address and the network"),
            "{stderr}"
        );
        assert!(!stderr.contains("index create"), "{stderr}");
    }
}

#[test]
fn a_bucket_without_an_index_is_told_from_one_that_refuses_or_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let at = |endpoint: &str, code: i32| -> String {
        let args = search("s3://bucket/logs");
        let output = bucket(folder, endpoint, &args).output().unwrap();
        texts(&args, &output, code).1
    };
    let server = WebServer::start(BTreeMap::new(), &[]).unwrap();
    let stderr = at(&server.origin(), 2);
    assert!(
        stderr.contains("no index at `s3://bucket/logs`"),
        "{stderr}"
    );
    assert!(
        stderr.contains("canter index create --index s3://bucket/logs"),
        "{stderr}"
    );
    let stderr = at(&refusing_server(), 1);
    assert!(
        stderr.contains("cannot read the index at `s3://bucket/logs`"),
        "{stderr}"
    );
    assert!(stderr.contains("check the credentials"), "{stderr}");
    let stderr = at(&format!("http://{}", closed_address()), 1);
    assert!(
        stderr.contains("cannot read the index at `s3://bucket/logs`"),
        "{stderr}"
    );
    assert!(
        stderr.contains("check its address and the network"),
        "{stderr}"
    );
}

fn bucket(folder: &Path, endpoint: &str, args: &[&str]) -> std::process::Command {
    let mut command = canter(folder, args);
    command
        .env("AWS_ENDPOINT_URL", endpoint)
        .env("AWS_SKIP_SIGNATURE", "true")
        .env("AWS_REGION", "us-east-1");
    command
}

/// Returns an address that nothing listens on any more.
fn closed_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// Starts a store that denies everything, for the duration of the test; returns its address.
fn refusing_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 4096]);
            let answer = "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    origin
}
