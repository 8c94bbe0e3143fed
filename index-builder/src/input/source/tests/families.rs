//! The families of logs in real files: with a byte order mark, compressed, with Windows line endings.

use std::io::{Cursor, Write as _};

use canter_samples::{Family, families};
use serde_json::{Map, Value};

use super::*;

/// Converts a log's text to the bytes of a file.
type Wrap = fn(&str) -> Vec<u8>;

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

const WRAPS: [(&str, Wrap); 6] = [
    ("plain", |text| text.into()),
    ("BOM", |text| format!("\u{feff}{text}").into()),
    ("gzip", gzip),
    ("gzip with BOM", |text| gzip(&format!("\u{feff}{text}"))),
    ("CRLF", |text| text.replace('\n', "\r\n").into()),
    ("BOM and CRLF", |text| {
        format!("\u{feff}{}", text.replace('\n', "\r\n")).into()
    }),
];

fn docs_of(bytes: Vec<u8>) -> Vec<Value> {
    let settings = settings(1 << 20, "rejects");
    let mut docs = Vec::new();
    for batch in records_of(Source::reader("log", Cursor::new(bytes)), &settings) {
        for record in batch.iter() {
            batch
                .layout
                .parse(record.bytes, &mut Vec::new(), &mut |json| {
                    docs.push(serde_json::from_slice(json.unwrap()).unwrap());
                });
        }
    }
    docs
}

/// Returns the problem of a family in a form, if there is one.
fn wrong(family: &Family, wrap: Wrap) -> Option<String> {
    let records = family.records(60, 7);
    let text: String = records
        .iter()
        .map(|record| format!("{}\n", record.text))
        .collect();
    let docs = docs_of(wrap(&text));
    if docs.len() != records.len() {
        return Some(format!("{} of {} records", docs.len(), records.len()));
    }
    // Without a file's last modification the year is unknown.
    let is_wanted = |name: &str, fields: &Map<String, Value>| {
        name != "timestamp"
            || fields
                .get(name)
                .is_some_and(|_| family.template.contains("{Y}"))
    };
    let mut pairs = docs.iter().zip(&records);
    pairs.find_map(|(doc, record)| {
        let mut fields = record.fields.iter();
        let (name, value) = fields.find(|(name, value)| {
            is_wanted(name, &record.fields) && doc.get(name.as_str()) != Some(value)
        })?;
        Some(format!(
            "{name} should be {value} of {:?}\n{doc}",
            record.text
        ))
    })
}

#[test]
fn every_family_is_read_right_in_every_form_of_a_file() {
    let mut failures = Vec::new();
    for family in families() {
        for (form, wrap) in WRAPS {
            if let Some(what) = wrong(family, wrap) {
                failures.push(format!("{}, {form}: {what}", family.name));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
