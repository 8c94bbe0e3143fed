//! Records that are not lines: of several lines, in parts, in quotes, in arrays.

use super::{records_of, settings};
use crate::input::source::*;
use canter_formats::Format;
use canter_samples::{LAYOUTS, sample};
use canter_split_format::SourceId;
use proptest::prelude::*;
use std::io::Cursor;
use std::sync::Arc;

/// `(line number, byte offset, text, extent)` of every record.
type Records = Vec<(u64, u64, String, Extent)>;

fn read(bytes: &[u8], settings: &ReadSettings) -> Records {
    let batches = records_of(
        Source::reader("input", Cursor::new(bytes.to_vec())),
        settings,
    );
    let num_bytes: u64 = batches.iter().map(|batch| batch.raw_num_bytes).sum();
    let mark = if bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    };
    assert_eq!(num_bytes + mark, bytes.len() as u64);
    let mut records = Vec::new();
    for batch in &batches {
        for record in batch.iter() {
            let text = String::from_utf8_lossy(record.bytes).into_owned();
            records.push((record.line_num, record.byte_offset, text, record.extent));
        }
    }
    records
}

#[track_caller]
fn check(bytes: &str, settings: &ReadSettings, expect: &[(u64, u64, &str, Extent)]) {
    let expect: Records = expect
        .iter()
        .map(|(line, offset, text, extent)| (*line, *offset, text.to_string(), *extent))
        .collect();
    assert_eq!(read(bytes.as_bytes(), settings), expect);
}

fn multiline(max: usize, on_error: &str, rule: &str) -> ReadSettings {
    let mut settings = settings(max, on_error);
    settings.multiline_start = Some(regex::bytes::Regex::new(rule).unwrap());
    settings
}

#[test]
fn a_stack_trace_is_one_record() {
    let text =
        "tail of before\n2024 ERROR x\n  at a\r\n  at b\n\nCaused by y\n2024 INFO z\n2024 end";
    check(
        text,
        &multiline(1_000, "rejects", "^2024 "),
        &[
            (1, 0, "tail of before", Extent::Whole),
            (
                2,
                15,
                "2024 ERROR x\n  at a\n  at b\n\nCaused by y",
                Extent::Whole,
            ),
            (7, 56, "2024 INFO z", Extent::Whole),
            (8, 68, "2024 end", Extent::Whole),
        ],
    );
}

#[test]
fn a_record_of_too_many_lines_is_shortened_or_in_parts() {
    let text = "S 1\nabcdef\nghijkl\nmn\nS 2\n";
    check(
        text,
        &multiline(12, "rejects", "^S"),
        &[
            (1, 0, "S 1\nabcdef", Extent::Shortened),
            (5, 21, "S 2", Extent::Whole),
        ],
    );
    check(
        text,
        &multiline(12, "keep", "^S"),
        &[
            (1, 0, "S 1\nabcdef", Extent::Part),
            (3, 11, "ghijkl", Extent::Part),
            (4, 18, "mn", Extent::Part),
            (5, 21, "S 2", Extent::Whole),
        ],
    );
}

#[test]
fn a_long_line_that_is_kept_is_kept_whole_in_parts() {
    check(
        "12345678901\n1234567890\n123456789é12\r\nend",
        &settings(10, "keep"),
        &[
            (1, 0, "1234567890", Extent::Part),
            (1, 10, "1", Extent::Part),
            (2, 12, "1234567890", Extent::Whole),
            (3, 23, "123456789", Extent::Part),
            (3, 32, "é12", Extent::Part),
            (4, 38, "end", Extent::Whole),
        ],
    );
}

#[test]
fn a_quote_that_is_never_closed_spoils_its_own_line_only() {
    let text = "a,b\n1,\"x\n2,y\n3,z\n";
    for max in [8, 1_000] {
        check(
            text,
            &settings(max, "rejects"),
            &[
                (2, 4, "1,\"x", Extent::Whole),
                (3, 9, "2,y", Extent::Whole),
                (4, 13, "3,z", Extent::Whole),
            ],
        );
    }
}

#[test]
fn elements_of_an_array_say_where_they_stand() {
    check(
        "[\n  {\"a\":1},\n  {\"a\":\n2}, {}\n]\n",
        &settings(100, "rejects"),
        &[
            (2, 4, "{\"a\":1}", Extent::Whole),
            (3, 15, "{\"a\":\n2}", Extent::Whole),
            (4, 25, "{}", Extent::Whole),
        ],
    );
    check(
        "[{\"a\":\"0123456789\"},{\"b\":2}]",
        &settings(9, "rejects"),
        &[
            (1, 1, "{\"a\":\"012", Extent::Shortened),
            (1, 20, "{\"b\":2}", Extent::Whole),
        ],
    );
}

#[test]
fn a_byte_order_mark_counts_as_bytes() {
    check(
        "\u{feff}a\nb",
        &settings(9, "rejects"),
        &[(1, 3, "a", Extent::Whole), (2, 5, "b", Extent::Whole)],
    );
}

#[test]
fn a_source_stays_the_same_when_it_grows_and_another_with_the_same_header_is_another() {
    for format in LAYOUTS {
        let id = |bytes: Vec<u8>| {
            let source = Source::reader("input", Cursor::new(bytes));
            records_of(source, &settings(1 << 20, "rejects"))[0].source_id
        };
        let (long, other) = (sample(format, 200, 1).bytes, sample(format, 200, 2).bytes);
        // Such a file ends with a bracket, or grows at the beginning of a line.
        let end = match long
            .iter()
            .take(long.len() / 2)
            .rposition(|byte| *byte == b'\n')
        {
            Some(at) if format.is_of_lines() => at + 1,
            _ => long.len() / 2,
        };
        assert_eq!(id(long.clone()), id(long[..end].to_vec()), "{format}");
        assert_ne!(id(long), id(other), "{format}");
    }
}

/// Lines of documents may have any beginning, and their ids are known before they are read.
#[test]
fn lines_of_documents_are_lines_whatever_they_begin_with() {
    let beginnings: [&[u8]; 8] = [
        b"{\"a\": 1}",
        b"PAR1",
        b"\x1f\x8b",
        b"\x28\xb5\x2f\xfd",
        b"\x53\x2a\x4d\x18",
        b"\xef\xbb\xbf{}",
        b"#Fields: a b",
        &[b'['; 2_000],
    ];
    for on_error in ["rejects", "keep"] {
        let mut settings = multiline(10, on_error, "^S");
        settings.format = Some(Format::Csv);
        for beginning in beginnings {
            let lines = [beginning, b"\na line over the limit\nS\n  at\n"].concat();
            let source = || Source::lines("input", lines.clone()).with_id("id");
            let batches = records_of(source(), &settings);
            let records = batches.iter().flat_map(RecordBatch::iter);
            let records: Vec<(&[u8], Extent)> = records
                .map(|record| (record.bytes, record.extent))
                .collect();
            let expect: [&[u8]; 4] = [beginning, b"a line over the limit", b"S", b"  at"];
            assert_eq!(records, expect.map(|line| (line, Extent::Whole)));

            let origin = source().origin();
            let input = source().open(Arc::default(), &settings).unwrap();
            let reader = RecordReader::new(input, 0, &settings);
            let source_id = SourceId::of(&origin, &reader.unwrap().known_by());
            assert_eq!(source_id, id_of_lines("id", &lines));
        }
    }
}

proptest! {
    /// Nothing is lost where everything is to be kept: the records, in order, are the source
    /// without line endings.
    #[test]
    fn parts_make_up_the_whole(
        lines in prop::collection::vec("[a-zé]{0,30}", 1..20),
        max in 4..40_usize,
        has_rule in any::<bool>(),
    ) {
        let text = lines.join("\n");
        let settings = match has_rule {
            true => multiline(max, "keep", "^[a-m]"),
            false => settings(max, "keep"),
        };
        let read = read(text.as_bytes(), &settings);
        let together: String = read.iter().map(|(_, _, text, _)| text.replace('\n', "")).collect();
        prop_assert_eq!(together, text.replace('\n', ""));
        prop_assert!(read.iter().all(|(_, _, text, _)| text.len() <= max));
        for (_, offset, record, _) in &read {
            let place = usize::try_from(*offset).unwrap();
            prop_assert!(text[place..].starts_with(record.as_str()));
        }
    }
}
