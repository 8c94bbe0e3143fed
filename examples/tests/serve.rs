//! Checks that `canter serve` accepts the command lines in `serve/`, and that systemd accepts the unit.

use std::path::{Path, PathBuf};
use std::process::Command;

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("serve")
        .join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Returns the binary that the workspace's tests are built with, in the same target folder.
fn canter() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().parent().unwrap().join("canter")
}

#[track_caller]
fn check(args: &[&str]) {
    assert_eq!(args.first(), Some(&"serve"));
    // Arguments before `--help` are parsed nevertheless.
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

/// systemd ignores unknown settings with a warning.
#[test]
fn systemd_understands_the_unit() {
    let works = |args: &[&str]| Command::new("systemd-analyze").args(args).output();
    if !works(&["--version"]).is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED systemd_understands_the_unit: there is no systemd-analyze");
        return;
    }
    let program = canter();
    let unit = read("canter.service").replace("/usr/local/bin/canter", program.to_str().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let check = |unit: &str| {
        let path = folder.path().join("canter.service");
        std::fs::write(&path, unit).unwrap();
        let output = works(&["verify", "--man=no", path.to_str().unwrap()]).unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_ours = |line: &&str| line.contains("canter.service");
        let said: Vec<&str> = said.lines().filter(is_ours).collect();
        (output.status.success(), said.join("\n"))
    };
    assert_eq!(check(&unit), (true, String::new()));
    let (_, said) = check(&unit.replace("NoNewPrivileges=", "NoNewPrivilege="));
    assert!(said.contains("NoNewPrivilege"), "{said}");
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
