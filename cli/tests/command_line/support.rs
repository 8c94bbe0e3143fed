//! Shared parts of the tests: running the binary, and an index to run it on.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use canter_samples::{Corpus, HDFS_LOGS_YAML, HdfsLogs};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) const NUM_DOCS: u64 = 2_000;
const BAD_LINES: &str = "not json\n{\"timestamp\":\"never\"}\n{\"body\":\"no timestamp\"}\n\n";
pub(crate) const NUM_BAD_LINES: u64 = 3;

pub(crate) fn canter(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_canter"));
    command
        .args(args)
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .env_remove("CANTER_CACHE")
        .env("LANG", "C.UTF-8")
        .env("COLUMNS", "100");
    command
}

/// Runs a command and checks its exit code.
pub(crate) fn run(folder: &Path, args: &[&str], code: i32) -> (String, String) {
    let output = canter(folder, args).stdin(Stdio::null()).output().unwrap();
    texts(args, &output, code)
}

pub(crate) fn texts(args: &[&str], output: &Output, code: i32) -> (String, String) {
    let stdout = String::from_utf8(output.stdout.clone()).unwrap();
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(
        output.status.code(),
        Some(code),
        "{args:?}\n{stdout}\n{stderr}"
    );
    (stdout, stderr)
}

pub(crate) fn search(folder: &Path, args: &[&str]) -> Value {
    let args = [&["search", "--index", "index", "--engine", "native"], args].concat();
    let (stdout, _) = run(folder, &args, 0);
    serde_json::from_str(&stdout).unwrap()
}

/// Returns a folder with an index of a small corpus in `index`, in two splits, and some invalid lines.
pub(crate) fn indexed() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("logs.yaml"), HDFS_LOGS_YAML).unwrap();
    let mut lines = Vec::new();
    HdfsLogs::new(NUM_DOCS, 7).write_to(&mut lines).unwrap();
    lines.extend_from_slice(BAD_LINES.as_bytes());
    std::fs::write(folder.path().join("logs.ndjson"), lines).unwrap();
    let create = [
        "index",
        "create",
        "--index",
        "index",
        "--index-config",
        "logs.yaml",
    ];
    let (stdout, _) = run(folder.path(), &create, 0);
    assert!(stdout.contains("created index `hdfs-logs`"), "{stdout}");
    let ingest = [
        "index",
        "ingest",
        "--index",
        "index",
        "--input",
        "logs.ndjson",
        "--split-num-docs",
        "1000",
    ];
    let (stdout, _) = run(folder.path(), &ingest, 0);
    let sum = "ingested + blank + rejected = lines read: 2000 + 1 + 3 = 2004";
    assert!(stdout.starts_with(sum), "{stdout}");
    assert!(stdout.contains("see canter.rejects.ndjson"), "{stdout}");
    folder
}

pub(crate) fn splits_of(folder: &Path) -> Vec<PathBuf> {
    let files = folder.join("index/splits").read_dir().unwrap();
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths
}

/// An archive of tar with one member.
pub(crate) fn tar(name: &str, text: &str) -> Vec<u8> {
    let mut header = [0_u8; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[124..135].copy_from_slice(format!("{:011o}", text.len()).as_bytes());
    header[156] = b'0';
    header[257..262].copy_from_slice(b"ustar");
    header[148..156].copy_from_slice(b"        ");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let mut tar = [&header[..], text.as_bytes()].concat();
    tar.resize(1_024 + text.len().next_multiple_of(512) + 512, 0);
    tar
}
