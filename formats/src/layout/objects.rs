//! JSON records of programs that do not stand for themselves: a hit of Elasticsearch's has its document inside, and
//! log4j2 and systemd write time and level in parts that belong together.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::log_line::{level_of_letter, level_of_syslog};

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
    /// The body of a bulk request of Elasticsearch's: a line that says what to do, then the document
    /// (`https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-bulk`).
    Bulk,
    /// MongoDB's log, whose level is a letter (`https://www.mongodb.com/docs/manual/reference/log-messages/`).
    Mongo,
    /// Objects with times as .NET wrote them before it wrote ISO 8601: `"/Date(1714557607123+0200)/"`.
    MsDates,
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

/// What a bulk request says of the document behind it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
#[allow(dead_code, reason = "only their names count")]
enum Action {
    Index(Target),
    Create(Target),
    Update(Target),
    Delete(Target),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "only their names count")]
struct Target {
    _index: Option<IgnoredAny>,
    _id: Option<IgnoredAny>,
    _type: Option<IgnoredAny>,
    routing: Option<IgnoredAny>,
    pipeline: Option<IgnoredAny>,
    require_alias: Option<IgnoredAny>,
    retry_on_conflict: Option<IgnoredAny>,
    if_seq_no: Option<IgnoredAny>,
    if_primary_term: Option<IgnoredAny>,
    version: Option<IgnoredAny>,
    version_type: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct MongoEntry<'r> {
    #[serde(rename = "t")]
    _time: IgnoredAny,
    #[serde(rename = "c")]
    _component: IgnoredAny,
    #[serde(rename = "ctx")]
    _context: IgnoredAny,
    s: &'r str,
    level: Option<IgnoredAny>,
}

impl Objects {
    /// Returns the kind of a source with this beginning.
    pub(super) fn of(beginning: &[u8]) -> Objects {
        let has = |name: &[u8]| memchr::memmem::find(beginning, name).is_some();
        match () {
            () if has(b"\"__REALTIME_TIMESTAMP\"") && has(b"\"PRIORITY\"") => Objects::Journal,
            () if has(b"\"_index\"") && has(b"\"_source\"") => Objects::Hits,
            () if begins_with_action(beginning) => Objects::Bulk,
            () if has(b"\"t\"") && has(b"\"$date\"") && has(b"\"ctx\"") => Objects::Mongo,
            () if has(b"/Date(") => Objects::MsDates,
            () if has(b"\"instant\"") && has(b"\"epochSecond\"") => Objects::Log4j,
            () => Objects::Documents,
        }
    }

    /// Returns whether a record says what to do with the next one.
    #[inline]
    pub(super) fn is_action(self, record: &[u8]) -> bool {
        self == Objects::Bulk && is_action(record)
    }

    /// Writes the document of a record. Returns false, and has written nothing, if the record is its own document.
    pub(super) fn write(self, record: &[u8], out: &mut Vec<u8>) -> bool {
        let written = match self {
            Objects::Documents | Objects::Bulk => None,
            Objects::Hits => source(record, out),
            Objects::Log4j => instant(record, out),
            Objects::Journal => priority(record, out),
            Objects::Mongo => letter(record, out),
            Objects::MsDates => ms_date(record, out),
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

fn is_action(record: &[u8]) -> bool {
    /// Longer ones are documents.
    const MAX_LEN: usize = 2048;
    record.len() <= MAX_LEN && serde_json::from_slice::<Action>(record).is_ok()
}

/// Returns whether a source begins with an action and a document, or another action if that deletes.
fn begins_with_action(beginning: &[u8]) -> bool {
    let mut lines = beginning
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty());
    let is_it = lines.next().is_some_and(is_action);
    is_it && lines.next().is_some_and(|line| line.starts_with(b"{"))
}

fn letter(record: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let entry: MongoEntry<'_> = serde_json::from_slice(record).ok()?;
    entry.level.is_none().then_some(())?;
    // `D1` to `D5` are for debugging.
    let level = level_of_letter(*entry.s.as_bytes().first()?)?;
    (entry.s.len() <= 2).then_some(())?;
    with_member(record, "level", level, out)
}

/// Adds the first time as `timestamp`.
fn ms_date(record: &[u8], out: &mut Vec<u8>) -> Option<()> {
    const OPENING: &[u8] = b"/Date(";
    let has = |name: &[u8]| memchr::memmem::find(record, name).is_some();
    (!has(b"\"timestamp\"") && !has(b"\"@timestamp\"")).then_some(())?;
    let start = memchr::memmem::find(record, OPENING)? + OPENING.len();
    let text = std::str::from_utf8(record.get(start..)?).ok()?;
    let (inside, after) = text.split_once(')')?;
    // The offset tells where it was written: the number is in UTC.
    let digits = inside.get(1..).and_then(|rest| rest.find(['+', '-']));
    let digits = inside.get(..digits.map_or(inside.len(), |len| len + 1))?;
    let time = jiff::Timestamp::from_millisecond(digits.parse().ok()?).ok()?;
    let closes = ["/\"", "\\/\""].iter().any(|end| after.starts_with(end));
    let is_object = || {
        let value = serde_json::from_slice::<std::collections::HashMap<String, IgnoredAny>>(record);
        value.is_ok()
    };
    (closes && is_object()).then_some(())?;
    with_member(record, "timestamp", &time.to_string(), out)
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

    #[test]
    fn an_entry_of_mongodb_has_a_level() {
        for (letter, level) in [
            ("I", "INFO"),
            ("W", "WARN"),
            ("E", "ERROR"),
            ("D2", "DEBUG"),
        ] {
            let entry = json!({"t": {"$date": "2024-05-01T10:00:00.123+02:00"}, "s": letter, "c": "NETWORK", "ctx": "x", "msg": "m"});
            let mut expect = entry.clone();
            expect["level"] = json!(level);
            check(&entry, Some(&expect));
        }
        check(
            &json!({"t": {"$date": "x"}, "s": "small", "c": 1, "ctx": "y"}),
            None,
        );
        check(&json!({"t": {"$date": "x"}, "s": "I", "ctx": "y"}), None);
    }

    #[test]
    fn a_date_of_dotnet_is_a_time() {
        for (date, time) in [
            ("/Date(1714557607123)/", "2024-05-01T10:00:07.123Z"),
            ("/Date(1714557607123+0200)/", "2024-05-01T10:00:07.123Z"),
            ("/Date(-1000-0700)/", "1969-12-31T23:59:59Z"),
        ] {
            let record = json!({"Created": date, "n": 1});
            let mut expect = record.clone();
            expect["timestamp"] = json!(time);
            check(&record, Some(&expect));
        }
        let escaped = r#"{"Created":"\/Date(1714557607123)\/"}"#;
        let mut out = Vec::new();
        assert!(Objects::MsDates.write(escaped.as_bytes(), &mut out));
        assert!(out.ends_with(br#","timestamp":"2024-05-01T10:00:07.123Z"}"#));
        check(
            &json!({"Created": "/Date(1714557607123)/", "timestamp": 1}),
            None,
        );
        check(&json!({"Created": "the path /Date(x)/"}), None);
        check(&json!({"Created": "/Date(1714557607123) it was"}), None);
    }

    #[test]
    fn the_actions_of_a_bulk_request_are_no_documents() {
        let body = b"{\"index\":{\"_index\":\"a\",\"_id\":\"1\"}}\n{\"message\":\"x\"}\n{\"create\":{}}\n{\"index\":{\"size\":1}}\n";
        let objects = Objects::of(body);
        assert_eq!(objects, Objects::Bulk);
        let are: Vec<bool> = body
            .split(|byte| *byte == b'\n')
            .map(|line| objects.is_action(line))
            .collect();
        assert_eq!(are, [true, false, true, false, false]);
        assert_eq!(
            Objects::of(b"{\"index\":{\"size\":1}}\n{}\n"),
            Objects::Documents
        );
        assert!(!Objects::Documents.is_action(b"{\"create\":{}}"));
    }
}
