//! Indexer function with a real S3 server: the search function finds the indexed objects.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use canter_samples::HDFS_LOGS_YAML;
use canter_tests::{LambdaFunction, S3Server, SECRET_KEY, hdfs_lines, with_s3};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::shared::{SEARCH, body_of, url_event};

const INDEXER: &str = env!("CARGO_BIN_EXE_canter-lambda-indexer");
const INDEX: &str = "s3://index/hdfs-logs";

/// Starts a function with the server's endpoint and credentials, which this process has.
fn start(name: &str, program: &str, variables: &[(&str, &str)]) -> Result<LambdaFunction> {
    let aws: Vec<(String, String)> = std::env::vars()
        .filter(|(name, _)| name.starts_with("AWS_"))
        .collect();
    let aws = aws
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let variables: Vec<_> = aws.chain(variables.iter().copied()).collect();
    LambdaFunction::start(name, Path::new(program), &variables)
}

fn indexer(more: &[(&str, &str)]) -> Result<LambdaFunction> {
    let usual = [
        ("CANTER_INDEX", INDEX),
        ("CANTER_INDEX_CONFIG", HDFS_LOGS_YAML),
    ];
    start("indexer", INDEXER, &[&usual, more].concat())
}

/// Returns the number of documents that the search function finds.
fn num_found() -> Result<u64> {
    let indexes = format!("hdfs-logs={INDEX}");
    let variables = [
        ("CANTER_INDEXES", indexes.as_str()),
        ("CANTER_CACHE_BYTES", "0"),
    ];
    let function = start("search", SEARCH, &variables)?;
    let body = json!({"query": "*", "max_hits": 0});
    let event = url_event("POST", "/api/v1/hdfs-logs/search", "", Some(&body));
    let answer = body_of(&function.invoke_json(&event)?, 200);
    answer["num_hits"].as_u64().context("num_hits")
}

/// Returns S3's notification of an object, with a form-encoded key.
fn notification(key: &str) -> Value {
    let key: String = form_urlencoded::byte_serialize(key.as_bytes()).collect();
    json!({"Records": [{
        "eventVersion": "2.1",
        "eventSource": "aws:s3",
        "awsRegion": "us-east-1",
        "eventName": "ObjectCreated:Put",
        "s3": {
            "s3SchemaVersion": "1.0",
            "bucket": {"name": "arrivals", "arn": "arn:aws:s3:::arrivals"},
            "object": {"key": key, "size": 1},
        },
    }]})
}

/// Creates the buckets, and returns the folder of the bucket in which objects arrive.
fn buckets(server: &S3Server) -> Result<std::path::PathBuf> {
    server.make_bucket("index")?;
    server.make_bucket("arrivals")
}

fn gzipped(text: &str) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes())?;
    Ok(encoder.finish()?)
}

#[test]
fn what_arrives_is_found_and_an_event_twice_changes_nothing() {
    with_s3(
        "indexer::what_arrives_is_found_and_an_event_twice_changes_nothing",
        SECRET_KEY,
        |server| {
            let folder = buckets(server)?;
            let lines = hdfs_lines(900, 5)?;
            fs::create_dir(folder.join("a b"))?;
            fs::write(folder.join("a b/plain.ndjson"), lines[..300].join("\n"))?;
            fs::write(
                folder.join("some.gz"),
                gzipped(&lines[300..600].join("\n"))?,
            )?;
            let zipped = zstd::encode_all(lines[600..].join("\n").as_bytes(), 1)?;
            fs::write(folder.join("more.zst"), zipped)?;
            let function = indexer(&[])?;
            for (key, total) in [
                ("a b/plain.ndjson", 300),
                ("some.gz", 600),
                ("more.zst", 900),
            ] {
                let answer = function.invoke_json(&notification(key))?;
                let report = &answer["objects"][0];
                assert_eq!(report["status"], "indexed", "{answer}");
                assert_eq!(report["num_ingested_docs"], 300, "{answer}");
                assert_eq!(report["num_published_splits"], 1, "{answer}");
                assert_eq!(num_found()?, total);
            }
            // Lambda delivers at least once, and the second time another instance may get the
            // event.
            for function in [function, indexer(&[])?] {
                let answer = function.invoke_json(&notification("some.gz"))?;
                let report = &answer["objects"][0];
                assert_eq!(report["num_published_splits"], 0, "{answer}");
                assert_eq!(report["num_ingested_docs"], 0, "{answer}");
                assert_eq!(report["num_known_docs"], 300, "{answer}");
            }
            assert_eq!(num_found()?, 900);
            Ok(())
        },
    );
}

#[test]
fn instances_at_once_lose_nothing() {
    with_s3(
        "indexer::instances_at_once_lose_nothing",
        SECRET_KEY,
        |server| {
            let folder = buckets(server)?;
            let lines = hdfs_lines(400, 6)?;
            for (part, lines) in lines.chunks(100).enumerate() {
                fs::write(folder.join(format!("{part}.ndjson")), lines.join("\n"))?;
            }
            // They also create the index concurrently.
            std::thread::scope(|scope| {
                let indexing: Vec<_> = (0..4)
                    .map(|part| {
                        scope.spawn(move || {
                            let function = indexer(&[])?;
                            function.invoke_json(&notification(&format!("{part}.ndjson")))
                        })
                    })
                    .collect();
                for part in indexing {
                    let answer = part.join().expect("no panic")?;
                    assert_eq!(answer["objects"][0]["num_published_splits"], 1, "{answer}");
                }
                anyhow::Ok(())
            })?;
            assert_eq!(num_found()?, 400);
            Ok(())
        },
    );
}

#[test]
fn what_cannot_be_indexed_is_said_and_leaves_the_index_as_it_was() {
    with_s3(
        "indexer::what_cannot_be_indexed_is_said_and_leaves_the_index_as_it_was",
        SECRET_KEY,
        |server| {
            let folder = buckets(server)?;
            let lines = hdfs_lines(200, 7)?;
            let function = indexer(&[("CANTER_MAX_REJECTS", "5")])?;
            // Rejects are counted and shown.
            let mixed = format!("{}\nno json\n{{\"a\": 1}}\n", lines[..100].join("\n"));
            fs::write(folder.join("mixed.ndjson"), mixed)?;
            let answer = function.invoke_json(&notification("mixed.ndjson"))?;
            let report = &answer["objects"][0];
            let counts = (&report["num_ingested_docs"], &report["num_rejected_docs"]);
            assert_eq!(counts, (&json!(100), &json!(2)), "{answer}");
            let shown = report["first_rejects"]
                .as_array()
                .context("first_rejects")?;
            assert_eq!(shown.len(), 2, "{answer}");
            assert_eq!(shown[0]["document"], "no json", "{answer}");
            // The complete part of a truncated object is indexed, and the report mentions the
            // truncation.
            let whole = gzipped(&lines[100..].join("\n"))?;
            fs::write(folder.join("cut.gz"), &whole[..whole.len() / 2])?;
            let answer = function.invoke_json(&notification("cut.gz"))?;
            let report = &answer["objects"][0];
            assert_eq!(
                report["rejects_by_reason"],
                json!({"broken_off": 1}),
                "{answer}"
            );
            assert_eq!(report["warnings"][0]["name"], "broken_off", "{answer}");
            let num_before_cut = report["num_ingested_docs"].as_u64().context("a count")?;
            assert!((10..100).contains(&num_before_cut), "{answer}");
            // An object with too many rejects is not indexed.
            fs::write(folder.join("noise.txt"), "no json\n".repeat(10))?;
            let error = function
                .invoke_json(&notification("noise.txt"))
                .unwrap_err()
                .to_string();
            assert!(error.contains("Canter.NotIndexed"), "{error}");
            assert!(
                error.contains("noise.txt") && error.contains('5'),
                "{error}"
            );
            // Objects that are gone, replaced, or written by the function itself.
            let mut replaced = notification("mixed.ndjson");
            replaced["Records"][0]["s3"]["object"]["eTag"] =
                "00000000000000000000000000000000".into();
            let mut own = notification("hdfs-logs/manifest.canter");
            own["Records"][0]["s3"]["bucket"]["name"] = "index".into();
            for (event, expect) in [
                (notification("gone.ndjson"), "is gone"),
                (replaced, "has been replaced since"),
                (own, "a part of the index itself"),
                (
                    json!({"objects": ["s3://index/hdfs-logs/x"]}),
                    "a part of the index itself",
                ),
            ] {
                let answer = function.invoke_json(&event)?;
                let report = &answer["objects"][0];
                assert_eq!(report["status"], "skipped", "{answer}");
                assert!(
                    report["reason"].as_str().unwrap().contains(expect),
                    "{answer}"
                );
            }
            assert_eq!(num_found()?, 100 + num_before_cut);
            Ok(())
        },
    );
}

#[test]
fn a_config_may_be_an_object_and_another_one_is_refused() {
    with_s3(
        "indexer::a_config_may_be_an_object_and_another_one_is_refused",
        SECRET_KEY,
        |server| {
            let folder = buckets(server)?;
            let config = server.make_bucket("configs")?;
            fs::write(config.join("hdfs.yaml"), HDFS_LOGS_YAML)?;
            fs::write(folder.join("a.ndjson"), hdfs_lines(50, 8)?.join("\n"))?;
            let by_uri = [("CANTER_INDEX_CONFIG", "s3://configs/hdfs.yaml")];
            let function = indexer(&by_uri)?;
            function.invoke_json(&json!({"objects": ["s3://arrivals/a.ndjson"]}))?;
            assert_eq!(num_found()?, 50);
            let other = HDFS_LOGS_YAML.replace("index_id: hdfs-logs", "index_id: other");
            assert_ne!(other, HDFS_LOGS_YAML);
            let function = indexer(&[("CANTER_INDEX_CONFIG", &other)])?;
            let error = function.invoke_json(&notification("a.ndjson")).unwrap_err();
            let error = error.to_string();
            assert!(error.contains("has another config"), "{error}");
            Ok(())
        },
    );
}

#[test]
fn a_start_that_cannot_work_says_why() {
    for (variables, expect) in [
        (&[][..], "CANTER_INDEX is not set"),
        (
            &[("CANTER_INDEX", INDEX), ("CANTER_INDEX_CONFIG", "a: [")],
            "CANTER_INDEX_CONFIG cannot",
        ),
    ] {
        let started = LambdaFunction::start("indexer", Path::new(INDEXER), variables);
        let error = started.err().unwrap().to_string();
        assert!(error.contains(expect), "{error}");
    }
}
