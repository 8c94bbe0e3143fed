//! Every layout is recognised, cut and parsed without loss, whatever pieces the stream arrives in.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::Value;

use crate::recognition::presets::preset_of;
use crate::samples::{LAYOUTS, sample};
use crate::*;

/// The result of each record: a document, or the reason of its failure.
pub(crate) type Read = Vec<Result<Value, &'static str>>;

pub(crate) fn year_2024() -> Arc<Hints> {
    let ended = MonthDay {
        year: 2024,
        month: 6,
        day: 1,
    };
    // The hints of an index that maps these fields as text.
    let kinds = [("code", ValueKind::Text), ("note", ValueKind::Text)];
    Arc::new(Hints {
        ended: Some(ended),
        fields: BTreeMap::from(kinds.map(|(name, kind)| (name.to_string(), kind))),
        ..Hints::default()
    })
}

/// Cuts a stream that arrives in pieces; returns its records.
pub(crate) fn cut_all(bytes: &[u8], recognised: Recognised, piece_len: usize) -> Vec<Vec<u8>> {
    let mut cutter = Cutter::new(recognised.format, recognised.dialect);
    let mut records = Vec::new();
    let mut record = Vec::new();
    let mut given = Vec::new();
    for piece in bytes.chunks(piece_len) {
        let mut rest = piece;
        while !rest.is_empty() {
            match cutter.cut(rest) {
                Cut::More => {
                    record.extend_from_slice(rest);
                    given.extend_from_slice(rest);
                    rest = &[];
                }
                Cut::End(len) => {
                    assert!(len > 0 || !record.is_empty(), "an empty record");
                    record.extend_from_slice(&rest[..len]);
                    given.extend_from_slice(&rest[..len]);
                    records.push(std::mem::take(&mut record));
                    rest = &rest[len..];
                }
                Cut::Drop(len) => {
                    assert!(len > 0);
                    given.extend_from_slice(&rest[..len]);
                    record.clear();
                    rest = &rest[len..];
                }
            }
        }
    }
    assert_eq!(given, bytes);
    if !record.is_empty() {
        records.push(record);
    }
    records
}

pub(crate) fn read(
    bytes: &[u8],
    recognised: Recognised,
    hints: &Arc<Hints>,
    piece_len: usize,
) -> Read {
    let beginning = &bytes[..BEGINNING_LEN.min(bytes.len())];
    let is_whole = beginning.len() == bytes.len();
    let mut layout = Layout::of(recognised, beginning, is_whole, Arc::clone(hints));
    let mut read = Vec::new();
    let mut scratch = Vec::new();
    for record in joined(cut_all(bytes, recognised, piece_len), &layout) {
        let record = record.as_slice();
        if layout.take_directive(record) == Directive::Taken {
            continue;
        }
        layout.parse(record, &mut scratch, &mut |parsed| {
            read.push(match parsed {
                Ok(json) => serde_json::from_slice(json).map_err(|_| "not_json"),
                Err(failure) => Err(failure.reason),
            });
        });
    }
    read
}

/// Returns records without line endings, joined where the layout says that they continue.
pub(crate) fn joined(cut: Vec<Vec<u8>>, layout: &Layout) -> Vec<Vec<u8>> {
    let mut records: Vec<Vec<u8>> = Vec::new();
    for record in cut {
        let record = record.strip_suffix(b"\n").unwrap_or(&record);
        let record = record.strip_suffix(b"\r").unwrap_or(record);
        match records.last_mut() {
            Some(before) if layout.continues(before, record) => {
                before.push(b'\n');
                before.extend_from_slice(record);
            }
            _ => records.push(record.to_vec()),
        }
    }
    records
}

#[test]
fn each_sample_is_recognised_and_every_record_is_the_document_it_means() {
    for format in LAYOUTS {
        for seed in 0..3 {
            let sample = sample(format, 1_000, seed);
            assert_eq!(sample.docs.len(), 1_000);
            let beginning = &sample.bytes[..BEGINNING_LEN.min(sample.bytes.len())];
            let recognised = recognise(beginning, beginning.len() == sample.bytes.len());
            assert_eq!(recognised.format, format, "seed {seed}");
            let read = read(&sample.bytes, recognised, &year_2024(), 8 * 1024);
            assert_eq!(read.len(), 1_000, "{format}");
            for (read, doc) in read.iter().zip(&sample.docs) {
                assert_eq!(read.as_ref(), Ok(doc), "{format}");
            }
        }
    }
}

#[test]
fn each_format_has_a_preset_and_a_name_that_is_read_back() {
    for format in Format::ALL {
        assert!(preset_of(format).is_some(), "{format}");
        assert_eq!(format.name().parse(), Ok(format));
    }
    assert!("nothing".parse::<Format>().unwrap_err().contains("ndjson"));
}

#[test]
fn beginnings_are_told_apart() {
    let check = |text: &str, expect: Format| {
        assert_eq!(recognise(text.as_bytes(), true).format, expect, "{text:?}");
    };
    check("", Format::Ndjson);
    check("{\"a\":1}\n{\"a\":2}\n", Format::Ndjson);
    check("{\"a\":\n{\"a\":2}\n", Format::Ndjson);
    check("{\"a\":1}{\"a\":2}", Format::Json);
    check("{\"a\":1} {\"a\":2}", Format::Json);
    check("{\n  \"a\": 1\n}\n", Format::Json);
    check("{\"a\":1}\n{\n  \"a\": 1\n}\n", Format::Json);
    check("{\"a\": 1}\n{\n", Format::Ndjson);
    check("{\"a\":1}\0{\"a\":2}\0", Format::Json);
    check("\u{1e}{\"a\":1}\n\u{1e}{\"a\":2}\n", Format::Json);
    check("[{\"a\":1},\n{\"a\":2}]", Format::JsonArray);
    check("[]", Format::JsonArray);
    // What is wrong with an array behind its first elements is theirs alone.
    check("[\n{\"a\":1},\n{\"a\":2},\n]\n", Format::JsonArray);
    check("[\n{\"a\":1},\n{\"a\":,\n]\n", Format::JsonArray);
    check("[{\"a\":1} text]\n[{\"a\":2} text]\n", Format::Plain);
    check("[2024-05-01 10:00:00] a line\n", Format::Log);
    check("[1]\n", Format::Plain);
    check("{\"Records\":[]}", Format::CloudTrail);
    check("{ \"resourceLogs\" : [ ] }", Format::OtlpJson);
    check("not json\n{\"a\":1}\n", Format::Ndjson);
    check("id,name\n1,a\n2,b\n", Format::Csv);
    check("id;name\n1;a\n2;b,c\n", Format::Csv);
    check("id\tname\n1\ta\n", Format::Tsv);
    check("Dear all,\nthis is, as you see, a letter,\n", Format::Plain);
    check(
        "2024-05-01 10:00:00,123 INFO one\n2024-05-01 10:00:00,124 INFO two\n",
        Format::Log,
    );
    check("level=info msg=\"a b\"\nlevel=warn msg=c\n", Format::Logfmt);
    check("a text with x=1 in it\n", Format::Plain);
    check(
        "<34>1 2003-10-11T22:14:15.003Z host su - ID47 - msg\n",
        Format::Syslog,
    );
    check("Oct 11 22:14:15 host su[1]: msg\n", Format::Syslog);
    check(
        "2024-05-01T10:00:00.123456+02:00 host kernel: msg\n",
        Format::Syslog,
    );
    check(
        "::1 - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" 200 -\n",
        Format::AccessLog,
    );
    check("\u{0}\u{1}\u{2}", Format::Plain);
    check("\u{0}\u{0}{\"a\":1}\n{\"a\":2}\n", Format::Ndjson);
    check("sep=;\nid;name\n1;a\n", Format::Csv);
    check("# by hand\nid,name\n1,a\n", Format::Csv);
    check("#fields\tts\tuid\n1714557600.5\tC1\n", Format::Zeek);
    check("#separator |\n", Format::Zeek);
    check("a|b|c\n1|2|3\n", Format::Csv);
    check(
        "2015-05-13T23:39:43.945958Z my-elb 192.168.131.39:2817 10.0.0.1:80 0.1 0.2 0.3 200 200 0 29 \"GET / HTTP/1.1\"\n",
        Format::Log,
    );
    check("#!/bin/sh\n# a script\necho a, b\n", Format::Plain);
    check(
        "# Title\n\nProse, with commas.\nMore, of it.\n",
        Format::Plain,
    );
    check(
        "www.example.com:80 192.0.2.1 - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"x\"\n",
        Format::AccessLog,
    );
}

/// Generates any bytes, with significant ones more often than by chance.
pub(crate) fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let word = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        "\"",
        ",",
        ":",
        "\\",
        "\n",
        "\r\n",
        " ",
        "\t",
        "=",
        "a",
        "1",
        "-",
        "<34>1 ",
        "#Fields: ",
        "{\"Records\":[",
        "{\"resourceLogs\":[",
        "{\"Rec",
        "é",
        "\u{0}",
        "\"\"",
        "http ",
        "Oct 11 22:14:15 ",
        "[17/May/2015:10:05:03 +0000]",
        "{\"a\":1}",
        "\"a b\"",
        "\u{feff}",
        "2024-05-01 10:00:00,123 INFO [main] a.B - ",
        "2024-05-01T10:00:00.123Z stdout P ",
        "2024-05-01T10:00:00.123Z stderr F ",
        "{\"log\":\"a\\n\",\"stream\":\"stdout\",\"time\":\"2024-05-01T10:00:00Z\"}",
        "I0501 10:00:00.123456 7 a.go:1] ",
        "\u{1b}[2m",
        "1714557600.123 ",
        "May  1 10:00:00 ",
        "#",
        "#fields\t",
        "#types\ttime",
        "sep=;",
        "|",
        "\\\"",
    ]);
    let word = prop_oneof![
        9 => word.prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop::collection::vec(word, 0..60).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn any_bytes_are_cut_the_same_in_any_pieces_and_give_json_or_a_reason(
        bytes in any_bytes(),
        piece_len in 1..40_usize,
    ) {
        let _ = (recognise(&bytes, true), recognise(&bytes, false));
        for format in Format::ALL {
            let recognised = Recognised::forced(format, &bytes, true);
            let whole = cut_all(&bytes, recognised, usize::MAX);
            prop_assert_eq!(&cut_all(&bytes, recognised, piece_len), &whole, "{}", format);
            // There are at most white space, commas and brackets between records.
            let num_kept: usize = whole.iter().map(Vec::len).sum();
            if format.is_of_lines() || matches!(format, Format::Csv | Format::Tsv | Format::PostgresCsv) {
                prop_assert_eq!(num_kept, bytes.len());
            }
            for parsed in read(&bytes, recognised, &year_2024(), usize::MAX) {
                let is_right = match parsed {
                    Ok(value) => value.is_object() || format.is_json(),
                    // A record of JSON goes to the doc mapper unchanged, which reports its errors.
                    Err(reason) => reason != "not_json" || format.is_json()
                        || matches!(format, Format::CloudFrontJson | Format::OtlpJson),
                };
                prop_assert!(is_right, "{}", format);
            }
        }
    }

    #[test]
    fn json_values_are_found_whatever_stands_between_them(
        values in prop::collection::vec("[a-z{}\\[\\],:\\\\\" é]{0,12}", 1..20),
        between in prop::sample::select(vec!["", " ", "\n", ",", " ,\n", "\r\n", "\u{1e}"]),
        piece_len in 1..20_usize,
    ) {
        let docs: Vec<Value> = values
            .iter()
            .map(|text| serde_json::json!({"a": {"b": [text, {"c": text}]}, "d": 1}))
            .collect();
        let pretty = |doc: &Value| serde_json::to_string_pretty(doc).unwrap();
        for text in [Value::to_string as fn(&Value) -> String, pretty] {
            let texts: Vec<String> = docs.iter().map(text).collect();
            let of = |format| Recognised { format, dialect: b','.into() };
            let expect: Read = docs.iter().cloned().map(Ok).collect();
            let hints = Arc::new(Hints::default());
            let bare = texts.join(between);
            prop_assert_eq!(&read(bare.as_bytes(), of(Format::Json), &hints, piece_len), &expect);
            let array = format!("[{}]", texts.join(","));
            prop_assert_eq!(&read(array.as_bytes(), of(Format::JsonArray), &hints, piece_len), &expect);
            let within = format!("{{ \"Records\" :[{}]}}\n", texts.join(","));
            prop_assert_eq!(&read(within.as_bytes(), of(Format::CloudTrail), &hints, piece_len), &expect);
            let twice = [within.as_bytes(), within.as_bytes()].concat();
            prop_assert_eq!(
                read(&twice, of(Format::CloudTrail), &hints, piece_len).len(), 2 * expect.len()
            );
        }
    }
}

#[test]
fn the_table_of_the_documentation_is_that_of_the_code() {
    const DOCS: &str = include_str!("../../docs/formats.md");
    const BEGIN: &str = "<!-- Made from the code: `cargo test -p canter-formats the_table` says how it should be. -->\n\n";
    let mut table = "| name | what it is | what one document is |\n|---|---|---|\n".to_string();
    for format in Format::ALL {
        let (what, doc) = format.about();
        assert!(preset_of(format).is_some(), "{format} has no preset");
        table += &format!("| `{format}` | {what} | {doc} |\n");
    }
    let shown = DOCS.split_once(BEGIN).map_or("", |(_, rest)| rest);
    let shown = shown.split("\n\n").next().unwrap_or_default();
    assert_eq!(
        shown.trim_end(),
        table.trim_end(),
        "docs/formats.md should have:\n{table}"
    );
}
