//! Costs of each way of indexing a field, as a table over two sets of real data. Every answer is
//! compared with a plain scan of the documents.
//!
//! `cargo test --workspace --exclude canter-guest-component --test splits field_strategies -- --ignored --nocapture`

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use canter_index_builder::{IngestOptions, Source};
use canter_tests::TestIndex;
use serde_json::{Value, json};

/// Set of documents with the text field that is searched.
struct Data {
    file: &'static str,
    field: &'static str,
    /// Mappings of the other fields.
    others: &'static [(&'static str, &'static str)],
}

const DATA: [Data; 2] = [
    Data {
        file: "apache_access.ndjson",
        field: "request",
        others: &[("clientip", "ip"), ("status", "u64"), ("agent", "text")],
    },
    Data {
        file: "geonames_cities.ndjson.gz",
        field: "name",
        others: &[("country", "text"), ("population", "u64")],
    },
];

fn path(file: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("../../shared/data").join(file)
}

/// Returns the texts of the field, one for each document.
fn texts(data: &Data) -> Vec<String> {
    let bytes = std::fs::read(path(data.file)).unwrap();
    let mut text = String::new();
    match data.file.ends_with(".gz") {
        true => drop(
            flate2::read::GzDecoder::new(&bytes[..])
                .read_to_string(&mut text)
                .unwrap(),
        ),
        false => text = String::from_utf8(bytes).unwrap(),
    }
    let values = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    values
        .map(|value| value[data.field].as_str().unwrap_or_default().to_owned())
        .collect()
}

fn words(text: &str) -> Vec<String> {
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words
        .map(|word| word.chars().flat_map(char::to_lowercase).collect())
        .collect()
}

/// Returns a rare and a frequent value, with the numbers of their documents.
fn extremes(all: impl Iterator<Item = Vec<String>>) -> [(String, usize); 2] {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for mut one in all {
        one.sort();
        one.dedup();
        one.into_iter()
            .for_each(|word| *counts.entry(word).or_default() += 1);
    }
    let rare = counts
        .iter()
        .find(|(word, num)| **num == 2 && word.len() > 4)
        .unwrap();
    let frequent = counts.iter().max_by_key(|(_, num)| **num).unwrap();
    [rare, frequent].map(|(word, num)| (word.clone(), *num))
}

fn build(data: &Data, strategy: &Value) -> (TestIndex, f64) {
    let mut fields = vec![json!({ "name": data.field, "type": "text", "strategy": strategy })];
    let others = data.others.iter();
    fields.extend(others.map(|(name, kind)| json!({ "name": name, "type": kind, "fast": true })));
    let config = json!({ "version": "0.9", "index_id": "strategies",
        "doc_mapping": { "mode": "lenient", "field_mappings": fields } });
    let options = IngestOptions {
        split_num_docs_target: Some(50_000),
        ..IngestOptions::default()
    };
    let started = Instant::now();
    let sources = vec![Source::file(path(data.file))];
    let index = TestIndex::of_sources(&config.to_string(), sources, &options).unwrap();
    (index, started.elapsed().as_secs_f64())
}

#[test]
#[ignore = "a table for people; takes a minute, and data that lies beside the repository"]
fn strategies_in_a_table() {
    println!(
        "| data | strategy | MB | documents/s | query | hits | waves | requests | KB | looked at |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for data in &DATA {
        let texts = texts(data);
        let by_word = extremes(texts.iter().map(|text| words(text)));
        let by_value = extremes(texts.iter().map(|text| vec![text.clone()]));
        let field = data.field;
        for strategy in [
            json!("none"),
            json!("term"),
            json!("fulltext"),
            json!(["fulltext", "term"]),
        ] {
            let (index, seconds) = build(data, &strategy);
            let num_bytes: u64 = index.report.num_split_bytes;
            let mut queries: Vec<(&str, String, usize)> = Vec::new();
            for (name, (word, num)) in ["sparse word", "dense word"].iter().zip(&by_word) {
                if strategy != "term" {
                    queries.push((name, format!("{field}:{word}"), *num));
                }
            }
            for (name, (value, num)) in ["sparse value", "dense value"].iter().zip(&by_value) {
                let place = match strategy.is_array() {
                    true => format!("{field}.term"),
                    false => field.to_owned(),
                };
                if strategy == "term" || strategy.is_array() {
                    queries.push((name, format!("{place}:{}", json!(value)), *num));
                }
            }
            for (name, query, num) in queries {
                let request = json!({ "query": query, "max_hits": 10, "profile": true });
                let answer = index.search(&request).unwrap();
                assert_eq!(answer.json["num_hits"], num, "{query} {strategy}");
                let scanned = &answer.json["profile"]["docs_scanned"];
                println!(
                    "| {field} of {} | {strategy} | {:.2} | {:.0} | {name} | {num} | {} | {} | {:.0} | {} |",
                    data.file,
                    num_bytes as f64 / 1e6,
                    texts.len() as f64 / seconds,
                    answer.profile.num_waves,
                    answer.profile.num_requests,
                    answer.profile.num_bytes as f64 / 1e3,
                    scanned.as_u64().unwrap_or(0),
                );
            }
        }
    }
}
