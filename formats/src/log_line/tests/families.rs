//! The families, and that every record of each is read right, in plain files, with Windows' ends of lines, in
//! containers, and with stack traces between.

use std::sync::Arc;

use serde_json::Value;

use crate::samples::{Family, families};
use crate::tests::{cut_all, joined};
use crate::{Format, Hints, Layout, MonthDay, Recognised, recognise};

pub(super) fn hints() -> Arc<Hints> {
    Arc::new(Hints {
        ended: Some(MonthDay {
            year: 2024,
            month: 7,
            day: 1,
        }),
        ..Hints::default()
    })
}

/// The text of a record, and what becomes of it.
pub(in crate::log_line) type ReadRecord = (String, Result<Value, String>);

/// What records of a text become.
pub(in crate::log_line) fn read(text: &str) -> (Format, Vec<ReadRecord>) {
    let bytes = text.as_bytes();
    let beginning = &bytes[..crate::BEGINNING_LEN.min(bytes.len())];
    let is_whole = beginning.len() == bytes.len();
    let recognised = recognise(beginning, is_whole);
    let layout = Layout::of(recognised, beginning, is_whole, hints());
    let cut = cut_all(
        bytes,
        Recognised::forced(recognised.format, bytes, true),
        usize::MAX,
    );
    let mut read = Vec::new();
    for record in joined(cut, &layout) {
        let text = String::from_utf8(record).unwrap();
        layout.parse(text.as_bytes(), &mut Vec::new(), &mut |parsed| {
            let parsed = match parsed {
                Ok(json) => Ok(serde_json::from_slice(json).unwrap()),
                Err(failure) => Err(failure.to_string()),
            };
            read.push((text.clone(), parsed));
        });
    }
    (recognised.format, read)
}

const TRACE: &str = "java.lang.IllegalStateException: closed\n\tat c.e.net.Client.read(Client.java:42)\nCaused by: java.io.IOException\n\t... 3 more";

/// What is wrong with a family, if anything is.
fn wrong(family: &Family, variant: &str, seed: u64) -> Result<(), String> {
    let mut records = family.records(200, seed);
    if variant == "traces" {
        for record in records.iter_mut().step_by(2) {
            record.text = format!("{}\n{TRACE}", record.text);
            let message = record.fields["message"].as_str().unwrap();
            record.fields["message"] = format!("{message}\n{TRACE}").into();
        }
    }
    let wraps: &[fn(&str, usize) -> String] = match variant {
        "crlf" => &[|line, _| format!("{line}\r\n")],
        "containers" => &[cri, json_file],
        _ => &[|line, _| format!("{line}\n")],
    };
    for wrap in wraps {
        let lines = records.iter().enumerate();
        let lines =
            lines.flat_map(|(n, record)| record.text.split('\n').map(move |line| wrap(line, n)));
        let (format, read) = read(&lines.collect::<String>());
        let is_contained = variant == "containers";
        let expect = if is_contained {
            Format::Container
        } else {
            Format::Log
        };
        if format != expect || read.len() != records.len() {
            return Err(format!(
                "{format}, {} of {} records",
                read.len(),
                records.len()
            ));
        }
        for (place, ((text, parsed), record)) in read.iter().zip(&records).enumerate() {
            let doc = parsed.as_ref().map_err(Clone::clone)?;
            for (name, value) in &record.fields {
                let expect = match name.as_str() {
                    "timestamp" if is_contained => envelope_time(place).into(),
                    "time_of_day" | "uptime_seconds" if is_contained => continue,
                    _ => value.clone(),
                };
                if doc.get(name) != Some(&expect) {
                    return Err(format!(
                        "{name} should be {expect} of {:?}\n{doc:#}",
                        record.text
                    ));
                }
            }
            if doc.get("level").is_some() != record.fields.contains_key("level") {
                return Err(format!("a level of {:?}\n{doc:#}", record.text));
            }
            let message = doc["message"].as_str().unwrap();
            let part = |name: &str| doc.get(name).and_then(Value::as_str).unwrap_or("");
            let whole = match part("original") {
                "" => format!("{}{message}{}", part("head"), part("tail")),
                original => original.to_owned(),
            };
            if !is_contained && (whole != *text || *text != record.text) {
                return Err(format!("{whole:?} is not {:?}", record.text));
            }
        }
    }
    Ok(())
}

#[test]
fn every_record_of_every_family_is_read_right() {
    assert!(families().count() >= 60);
    let mut failures = Vec::new();
    for family in families() {
        assert!(!family.documented.is_empty());
        for (variant, seed) in [
            ("plain", 1),
            ("plain", 2),
            ("crlf", 3),
            ("traces", 4),
            ("containers", 5),
        ] {
            if let Err(what) = wrong(family, variant, seed) {
                failures.push(format!("{}, {variant}: {what}", family.name));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn envelope_time(n: usize) -> String {
    format!("2024-06-01T10:{:02}:{:02}.123456789Z", n / 60, n % 60)
}

fn cri(line: &str, n: usize) -> String {
    format!("{} stdout F {line}\n", envelope_time(n))
}

fn json_file(line: &str, n: usize) -> String {
    let log = serde_json::Value::from(format!("{line}\n"));
    format!(
        "{{\"log\":{log},\"stream\":\"stdout\",\"time\":\"{}\"}}\n",
        envelope_time(n)
    )
}
