//! `canter doctor` as a program: its output, in each format, and its exit codes.

use std::collections::BTreeMap;
use std::process::Command;

use bytes::Bytes;
use canter_tests::{Quirk, WebServer};
use serde_json::Value;

fn serve(quirks: &[Quirk]) -> WebServer {
    let body = Bytes::from(vec![b'x'; 100_000]);
    let name = "bucket/index/manifest.canter".to_owned();
    WebServer::start(BTreeMap::from([(name, body)]), quirks).unwrap()
}

/// Runs it with S3's endpoint at `server`, and checks its exit code.
fn doctor(server: &WebServer, args: &[&str], code: i32) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_canter"))
        .arg("doctor")
        .args(args)
        .env("AWS_ENDPOINT_URL", server.origin())
        .env("AWS_SKIP_SIGNATURE", "true")
        .env("AWS_REGION", "us-east-1")
        .env("LANG", "C.UTF-8")
        .env("COLUMNS", "80")
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        output.status.code(),
        Some(code),
        "{args:?}\n{stdout}\n{stderr}"
    );
    (stdout, stderr)
}

fn index(server: &WebServer) -> String {
    format!("{}/bucket/index", server.origin())
}

#[test]
fn a_sound_server_is_fit() {
    let server = serve(&[]);
    let (stdout, stderr) = doctor(&server, &[&index(&server), "--format", "table"], 0);
    assert!(
        stdout.contains("/bucket/index/manifest.canter, 100 KB"),
        "{stdout}"
    );
    assert!(stdout.contains("✓  range_middle"), "{stdout}");
    assert!(stdout.contains("Fit to search from."), "{stdout}");
    assert!(!stdout.contains("What to change"), "{stdout}");
    assert!(
        stdout.lines().all(|line| line.chars().count() <= 80),
        "{stdout}"
    );
    assert_eq!(stderr, "");
}

#[test]
fn what_ails_a_server_is_said_with_what_to_change() {
    let server = serve(&[Quirk::RangeIgnored, Quirk::NoCors]);
    let (stdout, stderr) = doctor(&server, &[&index(&server), "--format", "table"], 1);
    assert!(stdout.contains("✗  range_first"), "{stdout}");
    assert!(
        stdout.contains("✗ range_first, range_middle, range_open_ended:"),
        "{stdout}"
    );
    assert!(
        stdout.contains("serve the index from something"),
        "{stdout}"
    );
    assert!(
        stdout.contains("\"ExposeHeaders\": [\"Content-Range\", \"ETag\"]"),
        "{stdout}"
    );
    assert!(stdout.contains("Not fit to search from."), "{stdout}");
    assert!(
        stderr.starts_with("error: not fit to search from: range_first"),
        "{stderr}"
    );
}

#[test]
fn programs_get_json() {
    let server = serve(&[Quirk::NoCors]);
    let (stdout, _) = doctor(&server, &[&index(&server), "--ranges", "3"], 0);
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(report["is_fit"], true);
    assert_eq!(report["object_len"], 100_000);
    assert_eq!(report["timing"]["num_ranges"], 3);
    assert_eq!(report["num_requests"], server.requests().len());
    let checks = report["checks"].as_array().unwrap();
    let cors = checks
        .iter()
        .find(|check| check["name"] == "cors_allow_origin");
    assert_eq!(cors.unwrap()["status"], "warning");
    let (_, stderr) = doctor(&server, &[&index(&server), "--browser"], 1);
    assert!(
        stderr.contains("cors_allow_origin, cors_preflight"),
        "{stderr}"
    );
}

#[test]
fn a_bucket_is_found_by_the_environment() {
    let server = serve(&[Quirk::NoContentLength]);
    let (stdout, _) = doctor(&server, &["s3://bucket/index"], 0);
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(report["url"], "s3://bucket/index/manifest.canter");
    assert_eq!(report["object_len"], 100_000);
    doctor(&server, &["s3://bucket/elsewhere"], 1);
}

#[test]
fn wrong_use_is_told_from_a_bad_server() {
    let server = serve(&[]);
    let (_, stderr) = doctor(&server, &["ftp://host/x"], 2);
    assert!(stderr.contains("s3://"), "{stderr}");
    let (_, stderr) = doctor(&server, &["https://", "--format", "json"], 2);
    assert!(stderr.contains("not a web address"), "{stderr}");
    let (_, stderr) = doctor(&server, &[&index(&server), "--origin", "here"], 2);
    assert!(stderr.contains("not an origin"), "{stderr}");
    doctor(&server, &["http://127.0.0.1:1/x"], 1);
}
