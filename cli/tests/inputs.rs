//! Inputs in buckets, on a real S3 server: each record occurs once, known objects are not read again, and errors
//! name the object.
//!
//! `CANTER_INPUT_OBJECTS` (2,000) is the number of objects, `CANTER_INPUT_KILLS` (4) the number of kills of an
//! ingest, and `CANTER_KILL_SEED` (1) determines their moments.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, thread};

use anyhow::{Context, Result, ensure};
use canter_formats::Format;
use canter_runtime::Searcher;
use canter_runtime::engine::NativeEngine;
use canter_runtime::fetch::OpenOptions;
use canter_samples::sample;
use canter_tests::{Fate, S3Server, SECRET_KEY, put_objects, run, with_s3};
use serde_json::{Value, json};

const BUCKET: &str = "canter-inputs";
const INDEX: &str = "s3://canter-index/logs";
const PREFIX: &str = "s3://canter-inputs/logs/";
const FORMATS: [Format; 5] = [
    Format::Ndjson,
    Format::Json,
    Format::Csv,
    Format::AccessLog,
    Format::Logfmt,
];
const DOCS_OF_OBJECT: u64 = 5;

fn number(variable: &str, default: u64) -> Result<u64> {
    env::var(variable).map_or(Ok(default), |text| Ok(text.parse()?))
}

fn compressed(bytes: &[u8], way: u64) -> Result<Vec<u8>> {
    Ok(match way % 3 {
        0 => bytes.to_vec(),
        1 => {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(bytes)?;
            gzip.finish()?
        }
        _ => zstd::encode_all(bytes, 1)?,
    })
}

/// Returns objects in five formats, plain, gzip and zstd, in folders by day.
fn objects(ords: std::ops::Range<u64>) -> Result<Vec<(String, Vec<u8>)>> {
    ords.map(|ord| {
        let format = FORMATS[usize::try_from(ord % 5)?];
        let bytes = sample(format, DOCS_OF_OBJECT, ord).bytes;
        let key = format!("logs/2026/11/{:02}/{ord:06}.log", 1 + ord % 20);
        Ok((key, compressed(&bytes, ord / 5)?))
    })
    .collect()
}

fn make(server: &S3Server) -> Result<tempfile::TempDir> {
    server.make_bucket("canter-index")?;
    server.make_bucket(BUCKET)?;
    Ok(tempfile::tempdir()?)
}

fn command(folder: &Path, input: &str, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_canter"));
    let args = ["index", "ingest", "--preset", "any", "--format", "json"];
    command
        .args(args)
        .args(["--index", INDEX, "--input", input]);
    command.args(more).current_dir(folder).stdin(Stdio::null());
    command
}

/// Ingests; returns the report.
fn ingest(folder: &Path, input: &str, more: &[&str]) -> Result<Value> {
    let output = command(folder, input, more).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{said}");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Ingests an invalid input; returns the error.
fn refused(folder: &Path, input: &str) -> Result<String> {
    let Output { status, stderr, .. } = command(folder, input, &[]).output()?;
    let said = String::from_utf8_lossy(&stderr).into_owned();
    ensure!(!status.success(), "it went well: {said}");
    Ok(said)
}

fn num_docs() -> Result<u64> {
    let searcher = Searcher::builder()
        .engine(Arc::new(NativeEngine::new()))
        .uri(INDEX, &OpenOptions::default())?
        .build()?;
    let answer = run(&searcher, &json!({"query": "*", "max_hits": 0}))?.json;
    ensure!(answer["failed_splits"] == json!([]), "{answer}");
    answer["num_hits"].as_u64().context("num_hits")
}

/// Returns the requests to the bucket of inputs since the last call: lists, and the keys that were read.
fn requests(server: &S3Server) -> (usize, Vec<String>) {
    let lines = server.forwarder().take_lines();
    let of_inputs = lines
        .iter()
        .filter_map(|line| line.strip_prefix(&format!("GET /{BUCKET}")));
    let (lists, reads): (Vec<&str>, Vec<&str>) =
        of_inputs.partition(|rest| rest.contains("list-type=2"));
    let keys = reads.iter().map(|rest| {
        let path = rest.split([' ', '?']).next().unwrap_or_default();
        path.trim_start_matches('/').to_owned()
    });
    (lists.len(), keys.collect())
}

#[test]
fn a_prefix_of_many_formats_is_read_once_and_then_only_what_is_new() {
    let name = "a_prefix_of_many_formats_is_read_once_and_then_only_what_is_new";
    with_s3(name, SECRET_KEY, |server| {
        let folder = make(server)?;
        let folder = folder.path();
        let num = number("CANTER_INPUT_OBJECTS", 2_000)?;
        let mut all = objects(0..num)?;
        all.push(("logs/2026/11/01/.hidden".into(), b"{}".to_vec()));
        all.push(("logs/2026/11/01/empty".into(), Vec::new()));
        put_objects(PREFIX, all)?;
        requests(server);

        let report = ingest(folder, PREFIX, &[])?;
        ensure!(
            report["num_ingested_docs"] == num * DOCS_OF_OBJECT,
            "{report}"
        );
        ensure!(report["num_rejected_docs"] == 0, "{report}");
        let left_out = &report["left_out_inputs"];
        ensure!(
            left_out["num_hidden"] == 1 && left_out["num_empty"] == 1,
            "{left_out}"
        );
        let inputs = report["inputs"].as_array().context("inputs")?;
        for format in FORMATS {
            let of_format = inputs
                .iter()
                .filter(|input| input["format"] == format.name());
            let num_of_format = of_format.count() as u64;
            ensure!(num_of_format == num / 5, "{format}: {num_of_format}");
        }
        let (num_lists, keys) = requests(server);
        ensure!(
            num_lists as u64 == (num + 2).div_ceil(1_000),
            "{num_lists} lists"
        );
        let distinct: BTreeSet<&String> = keys.iter().collect();
        ensure!(
            (distinct.len(), keys.len() as u64) == (keys.len(), num),
            "{}",
            keys.len()
        );
        ensure!(num_docs()? == num * DOCS_OF_OBJECT);

        // Only the list the second time.
        server.forwarder().take_lines();
        let report = ingest(folder, PREFIX, &[])?;
        ensure!(
            report["num_known_inputs"] == num && report["num_lines"] == 0,
            "{report}"
        );
        let (num_lists, keys) = requests(server);
        ensure!(
            num_lists > 0 && keys.is_empty(),
            "{num_lists} lists, {keys:?}"
        );

        // New objects, and the rest of grown ones.
        let mut new = objects(num..num + 50)?;
        let grown = sample(Format::Ndjson, DOCS_OF_OBJECT + 3, 0).bytes;
        new.push(("logs/2026/11/01/000000.log".into(), grown));
        put_objects(PREFIX, new)?;
        requests(server);
        let report = ingest(folder, PREFIX, &[])?;
        ensure!(
            report["num_ingested_docs"] == 50 * DOCS_OF_OBJECT + 3,
            "{report}"
        );
        ensure!(report["num_known_docs"] == DOCS_OF_OBJECT, "{report}");
        let (_, keys) = requests(server);
        // A grown object is read once more: its beginning must be unchanged.
        ensure!(keys.len() == 52, "{keys:?}");
        ensure!(num_docs()? == (num + 50) * DOCS_OF_OBJECT + 3);

        // The same bytes written again are read once more, without duplicates.
        put_objects(PREFIX, objects(7..8)?)?;
        requests(server);
        let again = ingest(folder, PREFIX, &[])?;
        ensure!(again["num_known_inputs"] == num + 50, "{again}");
        ensure!(again["num_ingested_docs"] == 0);

        // By day, according to the paths, without reading anything.
        let more = ["--since", "2026-11-20", "--until", "2026-11-21"];
        let report = ingest(folder, "s3://canter-inputs/logs/**/*.log", &more)?;
        let left_out = &report["left_out_inputs"];
        let of_day = (0..num + 50).filter(|ord| ord % 20 == 19).count() as u64;
        ensure!(left_out["num_too_old"] == num + 50 - of_day, "{left_out}");
        ensure!(report["num_known_inputs"] == of_day, "{report}");
        Ok(())
    });
}

#[test]
fn an_ingest_of_a_prefix_that_is_killed_and_run_again_has_each_record_once() {
    let name = "an_ingest_of_a_prefix_that_is_killed_and_run_again_has_each_record_once";
    with_s3(name, SECRET_KEY, |server| {
        let folder = make(server)?;
        let folder = folder.path();
        let (num_kills, mut seed) = (
            number("CANTER_INPUT_KILLS", 4)?,
            number("CANTER_KILL_SEED", 1)?,
        );
        let mut below = |end: u64| {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (seed >> 33) % end.max(1)
        };
        let (mut num, mut num_requests, mut num_killed) = (0, 60, 0);
        for round in 0..4 * num_kills {
            if num_killed == num_kills {
                break;
            }
            put_objects(PREFIX, objects(num..num + 20)?)?;
            num += 20;
            let (at, is_before) = (below(num_requests), below(2) == 0);
            let child: Arc<Mutex<Option<Child>>> = Arc::default();
            let (victim, mut ord) = (Arc::clone(&child), 0);
            server.forwarder().decide(move |_| {
                ord += 1;
                if ord != at + 1 {
                    return Fate::Pass;
                }
                let victim = Arc::clone(&victim);
                let kill = move || {
                    if let Some(child) = locked(&victim).as_mut() {
                        let _ = child.kill();
                    }
                };
                if is_before {
                    kill();
                    return Fate::Refuse;
                }
                Fate::LoseAnswer(Box::new(kill))
            });
            {
                // A request waits until there is something to kill.
                let mut slot = locked(&child);
                let mut command = command(folder, PREFIX, &["--split-num-docs", "30"]);
                command.stdout(Stdio::null()).stderr(Stdio::null());
                *slot = Some(command.spawn()?);
            }
            let status = loop {
                let ended = locked(&child).as_mut().map(Child::try_wait);
                if let Some(status) = ended.transpose()?.flatten() {
                    break status;
                }
                thread::sleep(std::time::Duration::from_millis(2));
            };
            num_killed += u64::from(!status.success());
            server.forwarder().decide(|_| Fate::Pass);
            server.forwarder().take_lines();
            ingest(folder, PREFIX, &["--split-num-docs", "30"])?;
            num_requests = server.forwarder().take_lines().len() as u64;
            let found = num_docs()?;
            let wanted = num * DOCS_OF_OBJECT;
            ensure!(
                found == wanted,
                "round {round}, killed at {at}: {found}, not {wanted}"
            );
        }
        println!("killed {num_killed} times");
        ensure!(num_killed == num_kills, "it ended before it was killed");
        Ok(())
    });
}

#[test]
fn an_object_that_is_gone_changed_cut_off_or_denied_is_named() {
    let name = "an_object_that_is_gone_changed_cut_off_or_denied_is_named";
    with_s3(name, SECRET_KEY, |server| {
        let folder = make(server)?;
        let folder = folder.path();
        let bucket = server.make_bucket(BUCKET)?;
        // Larger than what is sent at once, and compressed, so that a break could be mistaken for damage.
        let large = sample(Format::Ndjson, 40_000, 9).bytes;
        let large = compressed(&large, 1)?;
        let len = large.len() as u64;
        let key = |name: &str| bucket.join("logs").join(name);
        let all = [("a", 1), ("b", 2), ("other", 3)];
        let small = all.map(|(name, seed)| {
            let bytes = sample(Format::Ndjson, 4, seed).bytes;
            (format!("logs/{name}"), bytes)
        });
        put_objects(PREFIX, small.to_vec())?;
        put_objects(PREFIX, vec![("logs/large".into(), large)])?;

        // Deleted after it was listed: the others are ingested, and it is named.
        let gone = key("a");
        server.forwarder().decide(move |line| {
            if line.starts_with("GET /canter-inputs/logs/a ") {
                let _ = fs::remove_file(&gone);
            }
            Fate::Pass
        });
        let report = ingest(folder, "s3://canter-inputs/logs/[ab]", &[])?;
        ensure!(report["num_ingested_docs"] == 4, "{report}");
        ensure!(report["num_gone_inputs"] == 1, "{report}");
        let warning = report["warnings"].to_string();
        ensure!(warning.contains("s3://canter-inputs/logs/a"), "{warning}");

        // Denied.
        server.forwarder().decide(|line| {
            match line.starts_with("GET /canter-inputs/logs/other ") {
                true => denied(),
                false => Fate::Pass,
            }
        });
        let said = refused(folder, PREFIX)?;
        ensure!(said.contains("`s3://canter-inputs/logs/other`"), "{said}");
        ensure!(
            said.contains("access denied") && said.contains("s3:GetObject"),
            "{said}"
        );

        server
            .forwarder()
            .decide(|line| match line.contains("list-type=2&prefix=logs") {
                true => denied(),
                false => Fate::Pass,
            });
        let said = refused(folder, PREFIX)?;
        ensure!(
            said.contains("cannot list `s3://canter-inputs/logs/`"),
            "{said}"
        );
        ensure!(
            said.contains("AccessDenied") && said.contains("s3:ListBucket"),
            "{said}"
        );
        ensure!(!said.contains("<Error>"), "{said}");

        // Cut off at a byte, and resumed there.
        let (cut, mut num_cuts) = (len / 2, 0);
        server.forwarder().decide(move |line| {
            let is_cut = line.starts_with("GET /canter-inputs/logs/large ") && num_cuts < 2;
            num_cuts += u64::from(is_cut);
            match is_cut {
                true => Fate::CutAnswer(cut / num_cuts),
                false => Fate::Pass,
            }
        });
        server.forwarder().take_heads();
        let report = ingest(folder, "s3://canter-inputs/logs/large", &[])?;
        ensure!(report["num_ingested_docs"] == 40_000, "{report}");
        ensure!(report["warnings"] == json!([]), "{report}");
        let heads = server.forwarder().take_heads();
        let reads: Vec<String> = heads
            .iter()
            .filter(|head| head.starts_with("GET /canter-inputs/logs/large "))
            .map(|head| head.to_lowercase())
            .collect();
        ensure!(reads.len() == 3, "{} reads", reads.len());
        ensure!(!reads[0].contains("\nrange:"), "{}", reads[0]);
        for read in &reads[1..] {
            ensure!(
                read.contains("\nrange: bytes=") && !read.contains("bytes=0-"),
                "{read}"
            );
            ensure!(read.contains("\nif-match:"), "{read}");
        }

        // Another object in its place while it is read.
        let grown = compressed(&sample(Format::Ndjson, 41_000, 9).bytes, 1)?;
        put_objects(PREFIX, vec![("logs/large".into(), grown)])?;
        let (from, to) = (key("other"), key("large"));
        server.forwarder().decide(move |line| {
            if !line.starts_with("GET /canter-inputs/logs/large ") || !from.exists() {
                return Fate::Pass;
            }
            let _ = fs::rename(&from, &to);
            Fate::CutAnswer(cut)
        });
        let beside = sample(Format::Ndjson, 6, 55).bytes;
        put_objects(PREFIX, vec![("logs/lay".into(), beside)])?;
        // It costs itself and no other input, ...
        let report = ingest(folder, "s3://canter-inputs/logs/la*", &[])?;
        ensure!(report["num_ingested_docs"] == 6, "{report}");
        let warnings = report["warnings"].to_string();
        ensure!(
            warnings.contains("`s3://canter-inputs/logs/large` has changed"),
            "{warnings}"
        );
        // ... and is read as it is now by the next run, as a new source.
        let report = ingest(folder, "s3://canter-inputs/logs/la*", &[])?;
        ensure!(report["num_ingested_docs"] == 4, "{report}");
        let note = report["inputs"][0]["note"].to_string();
        ensure!(note.contains("its content differs"), "{note}");
        server.forwarder().decide(|_| Fate::Pass);

        // Connections that break while a split is written: it is written again.
        put_objects(
            PREFIX,
            vec![("logs/late".into(), sample(Format::Ndjson, 5, 77).bytes)],
        )?;
        let mut faults = vec![Fate::LoseAnswer(Box::new(|| ())), Fate::Refuse];
        server.forwarder().decide(move |line| {
            match line.starts_with("PUT /canter-index/logs/splits/") {
                true => faults.pop().unwrap_or(Fate::Pass),
                false => Fate::Pass,
            }
        });
        server.forwarder().take_lines();
        let report = ingest(folder, "s3://canter-inputs/logs/late", &[])?;
        ensure!(report["num_ingested_docs"] == 5, "{report}");
        let lines = server.forwarder().take_lines();
        let puts = lines
            .iter()
            .filter(|line| line.starts_with("PUT /canter-index/logs/splits/"));
        ensure!(puts.count() == 3, "{lines:?}");

        // Missing names.
        let said = refused(folder, "s3://canter-inputs/nothing/")?;
        ensure!(said.contains("nothing matches"), "{said}");
        let said = refused(folder, "s3://canter-inputs/logs")?;
        ensure!(
            said.contains("no object") && said.contains("logs/`"),
            "{said}"
        );
        let said = refused(folder, "s3://canter-no-bucket/logs/")?;
        ensure!(said.contains("s3://canter-no-bucket/logs/"), "{said}");
        Ok(())
    });
}

/// Returns the answer of a store that denies access.
fn denied() -> Fate {
    let body = "<Error><Code>AccessDenied</Code><Message>no</Message></Error>";
    let head = "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length:";
    Fate::Answer(format!("{head} {}\r\n\r\n{body}", body.len()))
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
