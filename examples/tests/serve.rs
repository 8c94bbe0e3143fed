//! The command lines of `serve/` are such as `canter serve` takes.

use std::path::{Path, PathBuf};
use std::process::Command;

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("serve")
        .join(name);
    std::fs::read_to_string(path).unwrap()
}

/// The binary that the workspace's tests are built with, which stands beside them.
fn canter() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().parent().unwrap().join("canter")
}

#[track_caller]
fn check(args: &[&str]) {
    assert_eq!(args.first(), Some(&"serve"));
    // What comes before `--help` is read all the same.
    let output = Command::new(canter())
        .args(args)
        .arg("--help")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {stderr}");
    let wrong = Command::new(canter())
        .args(args)
        .args(["--wrong", "--help"])
        .output();
    assert!(!wrong.unwrap().status.success());
}

#[test]
fn the_unit_starts_what_there_is() {
    let unit = read("canter.service").replace("\\\n", " ");
    let line = unit
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/canter "));
    check(&line.unwrap().split_whitespace().collect::<Vec<_>>());
}

#[test]
fn the_pods_start_what_there_is() {
    let manifest = read("kubernetes.yaml");
    let args = manifest
        .lines()
        .skip_while(|line| line.trim() != "args:")
        .skip(1);
    let args = args.map_while(|line| line.trim().strip_prefix("- "));
    check(&args.collect::<Vec<_>>());
}
