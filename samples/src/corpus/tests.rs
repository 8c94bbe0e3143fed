//! The corpora have the documented shape, and never change.

use super::*;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

fn hdfs_docs(num_docs: u64) -> Vec<Value> {
    HdfsLogs::new(num_docs, 42)
        .lines()
        .map(|line| serde_json::from_str(&line).unwrap())
        .collect()
}

fn share(docs: &[Value], path: &str, value: &Value) -> f64 {
    let num = docs
        .iter()
        .filter(|doc| doc.pointer(path) == Some(value))
        .count();
    num as f64 / docs.len() as f64
}

/// Returns an FNV-1a hash: stable, short, and without a dependency.
fn hash_of(corpus: impl Corpus) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for line in corpus.lines() {
        for byte in line.bytes().chain([b'\n']) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

#[test]
fn severities_have_the_shares_of_the_classic_benchmark() {
    let docs = hdfs_docs(200_000);
    let of = |severity: &str| share(&docs, "/severity_text", &Value::from(severity));
    assert!((0.955..0.965).contains(&of("INFO")), "{}", of("INFO"));
    assert!((0.036..0.040).contains(&of("WARN")), "{}", of("WARN"));
    assert!((0.0016..0.0024).contains(&of("ERROR")), "{}", of("ERROR"));
}

#[test]
fn hdfs_lines_are_about_350_bytes_and_fully_mapped() {
    let mut bytes = Vec::new();
    HdfsLogs::new(20_000, 7).write_to(&mut bytes).unwrap();
    let mean = bytes.len() as f64 / 20_000.0;
    assert!((325.0..375.0).contains(&mean), "{mean}");
    for doc in hdfs_docs(5_000) {
        let keys: Vec<&String> = doc.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            [
                "timestamp",
                "severity_text",
                "body",
                "resource",
                "attributes",
                "tenant_id"
            ]
        );
        let tenant = doc["tenant_id"].as_u64().unwrap();
        assert!((1..=100).contains(&tenant));
        assert!(
            doc["resource"]["service"]
                .as_str()
                .unwrap()
                .contains("node/")
        );
        assert!(doc["attributes"]["class"].is_string());
    }
}

#[test]
fn hdfs_timestamps_cover_the_span_slightly_out_of_order() {
    let docs = hdfs_docs(300_000);
    let times: Vec<u64> = docs
        .iter()
        .map(|doc| doc["timestamp"].as_u64().unwrap())
        .collect();
    let first = *times.iter().min().unwrap();
    let last = *times.iter().max().unwrap();
    assert!(first >= 1_460_505_600 && last <= 1_460_505_600 + 30 * 86_400);
    assert!(last - first > 30 * 86_400 - 300);
    let out_of_order = times.windows(2).filter(|pair| pair[1] < pair[0]).count();
    assert!(out_of_order > 1_000, "{out_of_order}");
    let mut latest = 0;
    for time in times {
        latest = latest.max(time);
        assert!(latest - time <= 60, "more than a minute late");
    }
}

#[test]
fn days_differ_and_errors_come_in_bursts() {
    let docs = hdfs_docs(500_000);
    let (mut by_day, mut by_hour) = (HashMap::new(), HashMap::new());
    let mut errors_by_hour: HashMap<u64, u64> = HashMap::new();
    for doc in &docs {
        let time = doc["timestamp"].as_u64().unwrap();
        *by_day.entry(time / 86_400).or_insert(0_u64) += 1;
        *by_hour.entry(time % 86_400 / 3_600).or_insert(0_u64) += 1;
        *errors_by_hour.entry(time / 3_600).or_default() +=
            u64::from(doc["severity_text"] == "ERROR");
    }
    assert_eq!(by_day.len(), 30);
    assert!(by_day.values().max().unwrap() * 10 > by_day.values().min().unwrap() * 14);
    assert!(by_hour.values().max().unwrap() > &(by_hour.values().min().unwrap() * 3));
    let mut errors: Vec<u64> = errors_by_hour.values().copied().collect();
    errors.sort_unstable();
    let median = errors[errors.len() / 2];
    assert!(
        errors[errors.len() - 5] > median.max(1) * 8,
        "{:?}",
        &errors[errors.len() - 20..]
    );
}

#[test]
fn a_block_is_spoken_of_several_times() {
    let docs = hdfs_docs(50_000);
    let mut blocks: HashMap<String, u64> = HashMap::new();
    let mut num_mentions = 0;
    for doc in &docs {
        let body = doc["body"].as_str().unwrap();
        let Some(at) = body.find("blk_") else {
            continue;
        };
        let rest = &body[at + 4..];
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        *blocks.entry(rest[..end].to_string()).or_default() += 1;
        num_mentions += 1;
    }
    let mean = num_mentions as f64 / blocks.len() as f64;
    assert!((6.0..10.0).contains(&mean), "{mean}");
}

#[test]
fn http_requests_follow_zipf_over_thirty_thousand() {
    let mut requests: HashMap<String, u64> = HashMap::new();
    let mut statuses: HashMap<u64, u64> = HashMap::new();
    let mut visitors = HashSet::new();
    let num_docs = 400_000;
    for line in HttpLogs::new(num_docs, 42).lines() {
        let doc: Value = serde_json::from_str(&line).unwrap();
        *requests
            .entry(doc["request"].as_str().unwrap().to_string())
            .or_default() += 1;
        *statuses.entry(doc["status"].as_u64().unwrap()).or_default() += 1;
        let client: std::net::Ipv4Addr = doc["clientip"].as_str().unwrap().parse().unwrap();
        visitors.insert(client);
        assert!(doc["@timestamp"].is_u64() && doc["size"].is_u64());
    }
    assert!(
        (24_000..=30_000).contains(&requests.len()),
        "{}",
        requests.len()
    );
    let mut counts: Vec<u64> = requests.values().copied().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let ratio = counts[0] as f64 / counts[9] as f64;
    assert!((8.0..12.0).contains(&ratio), "rank 1 to rank 10: {ratio}");
    assert_eq!(statuses.len(), 9);
    assert!(statuses[&200] > num_docs * 88 / 100);
    assert!(
        (1_000..100_000).contains(&visitors.len()),
        "{}",
        visitors.len()
    );
}

#[test]
fn the_same_seed_gives_the_same_bytes_for_ever() {
    assert_eq!(
        hash_of(HdfsLogs::new(10_000, 42)),
        4_221_607_046_230_350_117
    );
    assert_eq!(
        hash_of(HttpLogs::new(10_000, 42)),
        4_127_365_251_578_574_138
    );
    assert_ne!(
        hash_of(HdfsLogs::new(100, 1)),
        hash_of(HdfsLogs::new(100, 2))
    );
}

#[test]
fn reader_iterator_and_writer_give_the_same_lines() {
    let mut written = Vec::new();
    let num_bytes = HdfsLogs::new(3_000, 5).write_to(&mut written).unwrap();
    assert_eq!(num_bytes, written.len() as u64);
    let mut read = Vec::new();
    let mut reader = CorpusReader::new(HdfsLogs::new(3_000, 5));
    std::io::Read::read_to_end(&mut reader, &mut read).unwrap();
    assert_eq!(read, written);
    let lines: Vec<String> = HdfsLogs::new(3_000, 5).lines().collect();
    assert_eq!(lines.len(), 3_000);
    assert_eq!(lines.join("\n") + "\n", String::from_utf8(written).unwrap());
}

#[test]
fn a_span_of_one_second_and_an_empty_corpus_are_fine() {
    assert_eq!(HdfsLogs::new(0, 1).lines().count(), 0);
    assert_eq!(HttpLogs::new(0, 1).lines().count(), 0);
    let logs = HdfsLogs::new(100, 1).with_time_range(1_000, 1);
    for line in logs.lines() {
        let doc: Value = serde_json::from_str(&line).unwrap();
        assert!((1_000..=1_001).contains(&doc["timestamp"].as_u64().unwrap()));
    }
}
