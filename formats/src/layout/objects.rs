//! JSON records of programs that do not stand for themselves: a hit of Elasticsearch's has its document inside, and
//! log4j2 and systemd write time and level in parts that belong together.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::log_line::level_of_syslog;

/// Kind of the objects in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Objects {
    /// Each is a document.
    Documents,
    /// Hits of Elasticsearch's and OpenSearch's answers, and lines of elasticdump: `_source` is the document.
    Hits,
    /// Events of log4j2's JsonLayout, whose time is in two numbers
    /// (`https://logging.apache.org/log4j/2.x/manual/json-layout.html`).
    Log4j,
    /// Entries of `journalctl -o json`, whose level is a number
    /// (`https://www.freedesktop.org/software/systemd/man/latest/systemd.journal-fields.html`).
    Journal,
}

#[derive(Deserialize)]
struct Hit<'r> {
    #[serde(rename = "_index")]
    _index: IgnoredAny,
    #[serde(rename = "_source", borrow)]
    source: &'r RawValue,
}

#[derive(Deserialize)]
struct Event {
    instant: Instant,
    timestamp: Option<IgnoredAny>,
    #[serde(rename = "@timestamp")]
    at_timestamp: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Instant {
    epoch_second: i64,
    nano_of_second: i32,
}

#[derive(Deserialize)]
struct Entry<'r> {
    #[serde(rename = "__REALTIME_TIMESTAMP")]
    _time: IgnoredAny,
    #[serde(rename = "PRIORITY", borrow)]
    priority: &'r RawValue,
    level: Option<IgnoredAny>,
}

impl Objects {
    /// Returns the kind of a source with this beginning.
    pub(super) fn of(beginning: &[u8]) -> Objects {
        let has = |name: &[u8]| memchr::memmem::find(beginning, name).is_some();
        match () {
            () if has(b"\"__REALTIME_TIMESTAMP\"") && has(b"\"PRIORITY\"") => Objects::Journal,
            () if has(b"\"_index\"") && has(b"\"_source\"") => Objects::Hits,
            () if has(b"\"instant\"") && has(b"\"epochSecond\"") => Objects::Log4j,
            () => Objects::Documents,
        }
    }

    /// Writes the document of a record. Returns false, and has written nothing, if the record is its own document.
    pub(super) fn write(self, record: &[u8], out: &mut Vec<u8>) -> bool {
        let written = match self {
            Objects::Documents => None,
            Objects::Hits => source(record, out),
            Objects::Log4j => instant(record, out),
            Objects::Journal => priority(record, out),
        };
        written.is_some()
    }
}

fn source(record: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let hit: Hit<'_> = serde_json::from_slice(record).ok()?;
    let source = hit.source.get();
    source.starts_with('{').then_some(())?;
    out.extend_from_slice(source.as_bytes());
    Some(())
}

fn instant(record: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let event: Event = serde_json::from_slice(record).ok()?;
    (event.timestamp.is_none() && event.at_timestamp.is_none()).then_some(())?;
    let instant = event.instant;
    let time = jiff::Timestamp::new(instant.epoch_second, instant.nano_of_second).ok()?;
    with_member(record, "timestamp", &time.to_string(), out)
}

fn priority(record: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let entry: Entry<'_> = serde_json::from_slice(record).ok()?;
    entry.level.is_none().then_some(())?;
    let number = entry.priority.get().trim_matches('"').parse().ok()?;
    with_member(record, "level", level_of_syslog(number)?, out)
}

/// Writes an object with one more member, whose text needs no escapes.
fn with_member(object: &[u8], name: &str, value: &str, out: &mut Vec<u8>) -> Option<()> {
    let inside = object.trim_ascii_end().strip_suffix(b"}")?;
    out.extend_from_slice(inside.trim_ascii_end());
    // The object has a member, of which its kind was told.
    out.extend_from_slice(format!(",\"{name}\":\"{value}\"}}").as_bytes());
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(record: &Value, expect: Option<&Value>) {
        for text in [
            record.to_string(),
            serde_json::to_string_pretty(record).unwrap(),
        ] {
            let mut out = Vec::new();
            let is_written = Objects::of(text.as_bytes()).write(text.as_bytes(), &mut out);
            let written = is_written.then(|| serde_json::from_slice::<Value>(&out).unwrap());
            assert_eq!(written.as_ref(), expect, "{text}");
            assert!(is_written || out.is_empty());
        }
    }

    #[test]
    fn a_hit_is_its_source() {
        let source = json!({"message": "a \"b\" {", "_index": 1, "n": [1.50]});
        check(
            &json!({"_index": "a", "_id": "1", "_score": 1.0, "_source": source}),
            Some(&source),
        );
        check(&json!({"_index": "a", "_id": "1", "_source": null}), None);
        check(&json!({"_source": source}), Some(&source).filter(|_| false));
        check(&json!({"message": "x"}), None);
    }

    #[test]
    fn an_event_of_log4j_has_its_whole_time() {
        let mut event = json!({"instant": {"epochSecond": 1_684_749_512, "nanoOfSecond": 123_456_789}, "level": "INFO"});
        let mut expect = event.clone();
        expect["timestamp"] = json!("2023-05-22T09:58:32.123456789Z");
        check(&event, Some(&expect));
        event["@timestamp"] = json!("2023-05-22T09:58:32.123Z");
        check(&event, None);
        check(
            &json!({"instant": {"epochSecond": "x", "nanoOfSecond": 1}}),
            None,
        );
        check(
            &json!({"instant": {"epochSecond": i64::MAX, "nanoOfSecond": 1}}),
            None,
        );
    }

    #[test]
    fn an_entry_of_the_journal_has_a_level() {
        for (priority, level) in [
            (json!("3"), "ERROR"),
            (json!("6"), "INFO"),
            (json!(4), "WARN"),
        ] {
            let entry = json!({"__REALTIME_TIMESTAMP": "1714258618858613", "PRIORITY": priority, "MESSAGE": "x"});
            let mut expect = entry.clone();
            expect["level"] = json!(level);
            check(&entry, Some(&expect));
        }
        check(&json!({"__REALTIME_TIMESTAMP": "1", "PRIORITY": "9"}), None);
        check(
            &json!({"__REALTIME_TIMESTAMP": "1", "PRIORITY": "3", "level": "mine"}),
            None,
        );
        check(
            &json!({"__REALTIME_TIMESTAMP": "1", "MESSAGE": "PRIORITY"}),
            None,
        );
    }
}
