//! `--simulate`, `--timeline` and the demo's pictures, through the real binary with the native engine.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Runs a command in `folder`, checks that it exits with `code`, and returns its stdout and stderr.
fn canter(folder: &Path, args: &[&str], code: i32) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_canter"))
        .args(args)
        .current_dir(folder)
        .env_remove("CANTER_CACHE")
        .env("LANG", "C.UTF-8")
        .env("COLUMNS", "80")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let got = output.status.code();
    assert_eq!(got, Some(code), "{args:?}\n{stdout}\n{stderr}");
    (stdout, stderr)
}

fn demo(folder: &Path, args: &[&str]) -> String {
    let usual = [
        "demo",
        "--dir",
        "index",
        "--engine",
        "native",
        "--simulate-cpu",
        "ignored",
    ];
    canter(folder, &[&usual, args].concat(), 0).0
}

/// Returns a folder with an index in `index`, in four splits.
fn indexed() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    demo(folder.path(), &["--docs", "8000", "--splits", "4"]);
    folder
}

fn search(folder: &Path, args: &[&str]) -> Value {
    let usual = [
        "search",
        "--index",
        "index",
        "--engine",
        "native",
        "--format",
        "json",
        "--query",
        "severity_text:ERROR AND body:DataXceiver",
    ];
    serde_json::from_str(&canter(folder, &[&usual, args].concat(), 0).0).unwrap()
}

#[test]
fn only_the_times_are_simulated() {
    let folder = indexed();
    let folder = folder.path();
    let real = search(folder, &[]);
    assert!(real["num_hits"].as_u64().unwrap() > 0, "{real}");
    let simulated = |spec: &str| {
        let lab = ["--simulate", spec, "--simulate-cpu", "ignored", "--profile"];
        let answer = search(folder, &lab);
        for key in ["hits", "num_hits", "aggregations", "failed_splits"] {
            assert_eq!(answer[key], real[key], "{spec}: {key}");
        }
        answer
    };
    let once = simulated("s3,seed=7");
    assert_eq!(once, simulated("s3,seed=7"));
    assert_eq!(once["profile"]["simulated"], "s3,seed=7");
    assert_eq!(once["profile"]["simulated_cpu"], "ignored");
    let elapsed = |answer: &Value| answer["elapsed_time_micros"].as_u64().unwrap();
    // The model's fastest answer takes 15 ms, and a wave has at least one.
    let num_waves = once["profile"]["num_waves"].as_u64().unwrap();
    assert!(elapsed(&once) >= 15_000 * num_waves, "{once}");
    assert_ne!(elapsed(&once), elapsed(&simulated("s3,seed=8")));
    let constant = simulated("latency=1s,bandwidth=1GB");
    assert_eq!(elapsed(&constant) / 1_000_000, num_waves);
    // Retries bring the same answer too.
    let failing = simulated("s3,seed=4,errors=20%");
    assert!(elapsed(&failing) > 0);
}

#[test]
fn a_table_says_that_its_times_are_simulated() {
    let folder = indexed();
    let args = [
        "search",
        "--index",
        "index",
        "--engine",
        "native",
        "--query",
        "*",
        "--max-hits",
        "1",
        "--format",
        "table",
        "--profile",
    ];
    let (real, _) = canter(folder.path(), &args, 0);
    assert!(!real.contains("simulated"), "{real}");
    let lab = [&args[..], &["--simulate", "r2"]].concat();
    let (simulated, _) = canter(folder.path(), &lab, 0);
    let says = "Times are simulated: r2,seed=1; computing as measured here.";
    assert!(simulated.contains(says), "{simulated}");
    assert!(simulated.contains("until the first byte"), "{simulated}");
}

#[test]
fn a_timeline_is_drawn_of_any_search() {
    let folder = indexed();
    let folder = folder.path();
    for lab in [&[][..], &["--simulate", "s3"]] {
        search(folder, &[&["--timeline", "t.svg"], lab].concat());
        let drawn = std::fs::read_to_string(folder.join("t.svg")).unwrap();
        assert!(drawn.trim_start().starts_with("<svg"), "{drawn}");
        assert!(drawn.contains("severity_text:ERROR AND body:DataXceiver"));
        assert_eq!(drawn.contains("Times are simulated"), !lab.is_empty());
    }
}

#[test]
fn what_cannot_be_drawn_or_simulated_says_what_can() {
    let folder = tempfile::tempdir().unwrap();
    let check = |args: &[&str], says: &[&str]| {
        let usual = ["search", "--index", "index", "--query", "*"];
        let (_, stderr) = canter(folder.path(), &[&usual, args].concat(), 2);
        for part in says {
            assert!(stderr.contains(part), "{args:?}: {stderr}");
        }
    };
    check(&["--timeline", "t.html"], &["end the name in .svg"]);
    check(&["--simulate", "floppy"], &["s3-express", "slow-tail"]);
    check(&["--simulate", "s3,speed=1"], &["bandwidth", "tail-factor"]);
    check(&["--simulate", "s3,errors=200%"], &["a share, such as 5%"]);
    check(&["--simulate-cpu", "ignored"], &["--simulate <SPEC>"]);
    check(
        &["--simulate", "s3", "--simulate-cpu", "half"],
        &["measured", "ignored"],
    );
}

#[test]
fn the_demo_draws_the_same_picture_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let shown = demo(folder, &["--docs", "8000", "--splits", "4"]);
    assert!(shown.contains("index/timeline.svg"), "{shown}");
    let read = || std::fs::read_to_string(folder.join("index/timeline.svg")).unwrap();
    let first = read();
    std::fs::remove_file(folder.join("index/timeline.svg")).unwrap();
    demo(folder, &["--keep"]);
    assert_eq!(first, read());
    demo(folder, &["--keep", "--simulate", "s3,seed=2"]);
    assert_ne!(first, read());
}

#[test]
fn a_simulated_search_uses_a_cache_in_a_folder() {
    let folder = indexed();
    let args = [
        "--cache",
        "cache",
        "--simulate",
        "latency=40ms,bandwidth=1GB",
        "--simulate-cpu",
        "ignored",
        "--profile",
    ];
    let (cold, warm) = (search(folder.path(), &args), search(folder.path(), &args));
    assert_eq!(cold["hits"], warm["hits"]);
    let num = |answer: &Value, key: &str| answer["profile"][key].as_u64().unwrap();
    assert!(num(&cold, "num_waves") > 1, "{cold}");
    assert_eq!(num(&warm, "num_waves"), 1, "{warm}");
    assert_eq!(num(&warm, "num_bytes"), 0);
    // One revalidation of the manifest; the time of the cache's folder is not simulated.
    assert_eq!(warm["elapsed_time_micros"], 40_000);
    assert_eq!(warm["timed_out"], false);
}

#[test]
fn a_manifest_that_is_asked_for_behind_the_answer_holds_nobody_up() {
    let folder = indexed();
    let args = [
        "--cache",
        "cache",
        "--stale-while-revalidate",
        "1h",
        "--simulate",
        "latency=1ms",
        "--simulate-cpu",
        "ignored",
        "--profile",
    ];
    search(folder.path(), &args);
    let warm = search(folder.path(), &args);
    assert_eq!(warm["elapsed_time_micros"], 0, "{warm}");
    assert_eq!(warm["profile"]["num_requests"], 0);
}

/// Returns charts, bars and their classes, in order: the contents of a picture apart from times and sizes.
fn structure_of(picture: &str) -> Vec<String> {
    let classes = |line: &str| {
        let (_, rest) = line.split_once("class=\"")?;
        let (classes, rest) = rest.split_once('"')?;
        let text = rest.split(['>', '<']).nth(1).unwrap_or_default();
        match classes {
            "title" => Some(text.to_owned()),
            _ if line.contains("<rect") => Some(classes.to_owned()),
            _ => None,
        }
    };
    picture.lines().filter_map(classes).collect()
}

#[test]
fn the_picture_in_the_readme_is_what_the_demo_draws() {
    let folder = tempfile::tempdir().unwrap();
    // Fewer documents than in the README, to save time: the requests are the same, and with this number
    // so is their luck (none is so slow that it is hedged), which depends on the names of splits.
    demo(folder.path(), &["--docs", "120000"]);
    let drawn = std::fs::read_to_string(folder.path().join("index/timeline.svg")).unwrap();
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/timeline.svg");
    let committed = std::fs::read_to_string(committed).unwrap();
    let structure = structure_of(&committed);
    assert!(structure.len() > 20, "{structure:?}");
    assert_eq!(
        structure,
        structure_of(&drawn),
        "draw docs/timeline.svg anew with the command that the README names"
    );
}
