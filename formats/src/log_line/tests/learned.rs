//! What the table of families does not say: beginnings without a time, colours, several layouts in one file, lines
//! that are of no record.

use std::sync::Arc;

use serde_json::{Value, json};

use super::families::read;
use crate::{Format, Hints, Layout, recognise};

fn docs(text: &str) -> Vec<Value> {
    let (_, read) = read(text);
    read.into_iter()
        .map(|(_, parsed)| parsed.unwrap())
        .collect()
}

#[test]
fn what_stands_before_the_first_time_has_that_time() {
    let docs = docs(
        "Welcome to Server 1.0\n(c) 2024\n2024-05-01 10:00:00 INFO one\n2024-05-01 10:00:01 INFO two\n\tat x\n2024-05-01 10:00:02 WARN three\n",
    );
    let short: Vec<(&Value, &Value)> = docs
        .iter()
        .map(|doc| (&doc["timestamp"], &doc["message"]))
        .collect();
    assert_eq!(
        json!(short),
        json!([
            ["2024-05-01T10:00:00Z", "Welcome to Server 1.0\n(c) 2024"],
            ["2024-05-01T10:00:00Z", "one"],
            ["2024-05-01T10:00:01Z", "two\n\tat x"],
            ["2024-05-01T10:00:02Z", "three"],
        ])
    );
}

#[test]
fn colours_are_left_out_and_given_back() {
    let line = |n: u32| {
        format!(
            "\u{1b}[2m2024-05-01T10:00:0{n}.5Z\u{1b}[0m \u{1b}[32m INFO\u{1b}[0m \u{1b}[2mmy_crate::net\u{1b}[0m\u{1b}[2m:\u{1b}[0m text {n}"
        )
    };
    let text = format!("{}\n{}\n", line(1), line(2));
    assert_eq!(
        docs(&text)[1],
        json!({
            "timestamp": "2024-05-01T10:00:02.5Z", "level": "INFO", "logger": "my_crate::net", "message": "text 2",
            "original": line(2),
        })
    );
}

#[test]
fn two_layouts_in_one_file_are_both_read() {
    let mut text = String::new();
    for n in 10..30 {
        text.push_str(&format!(
            "2024-05-01 10:00:{n},000 INFO [main] a.B - one {n}\n"
        ));
        text.push_str(&format!("2024/05/01 10:00:{n} [error] 7#8: *9 two {n}\n"));
    }
    let docs = docs(&text);
    assert_eq!(docs.len(), 40);
    assert_eq!(docs[0]["logger"], "a.B", "{}", docs[0]);
    assert_eq!(docs[1]["level"], "ERROR");
    assert_eq!(docs[1]["timestamp"], "2024-05-01T10:00:10Z");
}

#[test]
fn a_word_that_only_some_lines_have_is_of_the_message() {
    let docs = docs(
        "2024-05-01 10:00:00 started\n2024-05-01 10:00:01 ERROR 7: no\n2024-05-01 10:00:02 [cache] miss\n",
    );
    let messages: Vec<&Value> = docs.iter().map(|doc| &doc["message"]).collect();
    assert_eq!(
        json!(messages),
        json!(["started", "ERROR 7: no", "[cache] miss"])
    );
}

#[test]
fn times_without_a_day_are_named_and_none_is_made_up() {
    let check = |text: &str, expect: Option<&str>| {
        let bytes = text.as_bytes();
        let recognised = recognise(bytes, true);
        assert_eq!(recognised.format, Format::Log, "{text}");
        let layout = Layout::of(recognised, bytes, true, Arc::new(Hints::default()));
        assert_eq!(layout.times().as_deref(), expect, "{text}");
    };
    check(
        "10:00:00.123 [main] INFO a\n10:00:01.123 [main] INFO b\n",
        Some("its lines say a time of day, but no day: no timestamp"),
    );
    check(
        "[    0.000000] a\n[    0.000001] b\n",
        Some("its times are seconds since the start, without a day: no timestamp"),
    );
    check(
        "2024-05-01 10:00:00 a\n2024-05-01 10:00:01 b\n",
        Some("its times name no zone: UTC"),
    );
    check(
        "05-01 10:00:00.1 1 1 I a: b\n05-01 10:00:01.1 1 1 I a: b\n",
        Some("its times have no year, and 1970 is none: say --year; its times name no zone: UTC"),
    );
    check("2024-05-01T10:00:00Z a\n2024-05-01T10:00:01Z b\n", None);
}

#[test]
fn a_time_and_anything_is_no_syslog_without_a_host_and_a_tag() {
    let check = |text: &str, expect: Format| {
        assert_eq!(recognise(text.as_bytes(), true).format, expect, "{text}");
    };
    check(
        "2024-05-01T10:00:00Z START RequestId: a Version: 1\n2024-05-01T10:00:01Z END RequestId: a\n",
        Format::Log,
    );
    check(
        "2024-05-01T10:00:00Z INFO main: started\n2024-05-01T10:00:01Z WARN main: slow\n",
        Format::Log,
    );
    check(
        "2024-05-01T10:00:00Z stdout F hello\n2024-05-01T10:00:01Z stdout F world\n",
        Format::Container,
    );
    check(
        "2024-05-01T10:00:00Z web-1 sshd[7]: hello\n2024-05-01T10:00:01Z web-1 cron: world\n",
        Format::Syslog,
    );
    check(
        "May  1 10:00:00 web-1 haproxy[7]: 10.0.0.1:33317 [01/May/2024:10:00:00.123] fe be/srv 0/0/1/2/3 200 12\n",
        Format::Syslog,
    );
    check(
        "time=2024-05-01T10:00:00.000Z level=INFO msg=\"a b\"\n",
        Format::Logfmt,
    );
    check(
        "2024-05-01T10:00:00Z level=INFO msg=a n=1\n2024-05-01T10:00:00Z level=INFO msg=b n=1\n",
        Format::Log,
    );
}

#[test]
fn parts_of_lines_are_put_together() {
    let text = "2024-05-01T10:00:00Z stdout P {\"a\":\n2024-05-01T10:00:00Z stdout F 1}\n2024-05-01T10:00:01Z stderr F {\"a\":2,\"stream\":3}\n2024-05-01T10:00:02Z stderr F no json\n";
    let (format, read) = read(text);
    assert_eq!(format, Format::Container);
    let docs: Vec<Value> = read
        .into_iter()
        .map(|(_, parsed)| parsed.unwrap())
        .collect();
    assert_eq!(
        docs,
        [
            json!({"timestamp": "2024-05-01T10:00:00Z", "stream": "stdout", "a": 1, "original": "2024-05-01T10:00:00Z stdout P {\"a\":\n2024-05-01T10:00:00Z stdout F 1}"}),
            json!({"timestamp": "2024-05-01T10:00:01Z", "stream": "stderr", "a": 2, "log_stream": 3, "head": "2024-05-01T10:00:01Z stderr F "}),
            json!({"timestamp": "2024-05-01T10:00:02Z", "stream": "stderr", "message": "no json", "head": "2024-05-01T10:00:02Z stderr F "}),
        ]
    );
}

#[test]
fn the_words_of_a_head_are_those_without_its_time_and_numbers() {
    let words = |text: &str| {
        let hints = Arc::new(Hints {
            fields: [(crate::HEAD_WORDS.to_owned(), crate::ValueKind::Text)].into(),
            ..Hints::default()
        });
        let layout = Layout::of(
            recognise(text.as_bytes(), true),
            text.as_bytes(),
            true,
            hints,
        );
        let line = text.lines().next().unwrap();
        let mut words = Value::Null;
        layout.parse(line.as_bytes(), &mut Vec::new(), &mut |parsed| {
            let doc: Value = serde_json::from_slice(parsed.unwrap()).unwrap();
            words = doc.get(crate::HEAD_WORDS).cloned().unwrap_or_default();
        });
        words
    };
    for (line, expected) in [
        (
            "081109 203615 148 INFO dfs.DataNode$PacketResponder: text one",
            "INFO dfs.DataNode$PacketResponder:",
        ),
        (
            "2024-05-01 10:00:00,123 INFO [pool-1] a.b.Service - text one",
            "INFO [pool-1] a.b.Service -",
        ),
        ("INFO:2024-05-01 10:00:00,123:text one", "INFO:"),
        (
            "2024/05/01 10:00:00 [error] 1234#5678: *9 text one",
            "[error]  #",
        ),
    ] {
        let text = format!("{line}\n").repeat(4);
        let found = words(&text);
        let found = found.as_str().unwrap_or_default();
        assert!(found.starts_with(expected), "{line}: {found:?}");
    }
    // Nothing but the time.
    assert_eq!(words(&"2024-05-01 10:00:00 text\n".repeat(4)), Value::Null);
}
