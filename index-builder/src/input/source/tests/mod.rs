//! Every line of every kind of input arrives, and damage is named.

mod families;
mod fit;
mod records;

use super::*;
use crate::error::ErrorKind;
use std::io::{Cursor, Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// `(line number, text, is too long)` of every line, and the failure if there was one.
type Lines = (Vec<(u64, Vec<u8>, bool)>, Option<String>);

fn settings(max_line_num_bytes: usize, on_error: &str) -> ReadSettings {
    let yaml = format!(
        "{{version: 0.8, index_id: test, doc_mapping: {{}}, ingest_settings: {{on_error: {on_error}}}}}"
    );
    let config = canter_doc_mapper::IndexConfig::from_yaml(&yaml, |_| None).unwrap();
    let options = crate::ingest::IngestOptions {
        max_line_num_bytes,
        ..Default::default()
    };
    ReadSettings::new(&options, &config).unwrap()
}

fn records_of(source: Source, settings: &ReadSettings) -> Vec<RecordBatch> {
    let input = source.open(Arc::new(AtomicU64::new(0)), settings).unwrap();
    let mut reader = RecordReader::new(input, 0, settings).unwrap();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch().unwrap() {
        batches.push(batch);
    }
    batches
}

fn read_source(source: Source, max_line_num_bytes: usize) -> Lines {
    let (mut lines, mut failure) = (Vec::new(), None);
    for batch in records_of(source, &settings(max_line_num_bytes, "rejects")) {
        for record in batch.iter() {
            match record.extent {
                Extent::BrokenOff => failure.clone_from(&batch.failure),
                extent => lines.push((
                    record.line_num,
                    record.bytes.to_vec(),
                    extent == Extent::Shortened,
                )),
            }
        }
    }
    (lines, failure)
}

fn read_bytes(bytes: &[u8]) -> Lines {
    read_source(
        Source::reader("input", Cursor::new(bytes.to_vec())),
        1 << 20,
    )
}

#[track_caller]
fn check(bytes: &[u8], expect: &[&str]) {
    let (lines, failure) = read_bytes(bytes);
    assert!(failure.is_none(), "{failure:?}");
    let texts: Vec<_> = lines
        .iter()
        .map(|(_, text, _)| String::from_utf8_lossy(text))
        .collect();
    assert_eq!(texts, expect);
    assert!(
        lines
            .iter()
            .map(|(num, ..)| *num)
            .eq(1..=expect.len() as u64)
    );
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 3).unwrap()
}

/// Hard to compress, so that truncating the compressed form loses lines and not only the trailer.
fn many_lines() -> Vec<u8> {
    let mut bytes = Vec::new();
    canter_samples::Corpus::write_to(&mut canter_samples::HdfsLogs::new(5_000, 1), &mut bytes)
        .unwrap();
    bytes
}

#[test]
fn lines_end_with_lf_or_crlf_or_the_end() {
    check(b"", &[]);
    check(b"a", &["a"]);
    check(b"a\n", &["a"]);
    check(b"a\r\nb\r\n", &["a", "b"]);
    check(b"a\n\n\nb", &["a", "", "", "b"]);
    check(b"\r\n\r", &["", ""]);
    check(b"a\rb\n", &["a\rb"]);
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    check(b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", &["a", "\u{feff}b"]);
}

#[test]
fn compression_is_recognised_by_its_first_bytes() {
    check(&gzip(b"a\nb\n"), &["a", "b"]);
    check(&zstd(b"a\nb\n"), &["a", "b"]);
    let skippable = [b"\x53\x2a\x4d\x18\x02\0\0\0xy".to_vec(), zstd(b"a\n")].concat();
    check(&skippable, &["a"]);
    check(
        &[gzip(b"a\nb"), gzip(b"c\n"), gzip(b""), gzip(b"d")].concat(),
        &["a", "bc", "d"],
    );
    check(&[zstd(b"a\nb"), zstd(b"c\n")].concat(), &["a", "bc"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plain-name.json");
    std::fs::write(&path, gzip(b"a\nb\n")).unwrap();
    assert_eq!(read_source(Source::file(&path), 100).0.len(), 2);
}

#[test]
fn a_reader_that_gives_one_byte_at_a_time_is_fine() {
    struct Slow(Cursor<Vec<u8>>);
    impl Read for Slow {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let len = out.len().min(1);
            self.0.read(&mut out[..len])
        }
    }
    for bytes in [gzip(b"ab\r\ncd"), zstd(b"ab\r\ncd"), b"ab\r\ncd".to_vec()] {
        let (lines, _) = read_source(Source::reader("slow", Slow(Cursor::new(bytes))), 100);
        let texts: Vec<_> = lines.into_iter().map(|(_, text, _)| text).collect();
        assert_eq!(texts, [b"ab", b"cd"]);
    }
}

#[test]
fn a_line_of_the_limit_passes_and_one_byte_more_does_not() {
    for ending in ["", "\n", "\r\n"] {
        for (len, is_too_long) in [(9, false), (10, false), (11, true), (12, true), (13, true)] {
            let text = format!("{}{ending}", "x".repeat(len));
            let (lines, _) = read_source(Source::reader("input", Cursor::new(text)), 10);
            assert_eq!(lines.len(), 1);
            assert_eq!(lines[0].2, is_too_long, "{len} {ending:?}");
            assert_eq!(lines[0].1.len(), len.min(10));
        }
    }
}

#[test]
fn an_endless_line_is_never_held_and_the_next_one_is_read() {
    let endless = std::io::repeat(b'x')
        .take(300 << 20)
        .chain(Cursor::new(b"\nnext\n".to_vec()));
    let (lines, _) = read_source(Source::reader("endless", endless), 4096);
    assert_eq!(lines.len(), 2);
    assert!(lines[0].2 && lines[0].1.len() == 1024);
    assert_eq!(lines[1], (2, b"next".to_vec(), false));
}

#[test]
fn a_batch_never_cuts_a_line() {
    let bytes = many_lines();
    let expect: Vec<String> = String::from_utf8_lossy(&bytes)
        .lines()
        .map(String::from)
        .collect();
    let expect: Vec<&str> = expect.iter().map(String::as_str).collect();
    check(&bytes, &expect);
    check(&gzip(&bytes), &expect);
    check(&zstd(&bytes), &expect);
}

#[test]
fn of_a_compressed_file_that_is_cut_short_everything_before_is_read_and_the_end_is_named() {
    let bytes = many_lines();
    for (format, mut packed) in [("gzip", gzip(&bytes)), ("zstd", zstd(&bytes))] {
        packed.truncate(packed.len() / 2);
        let (lines, failure) = read_bytes(&packed);
        let message = failure.expect(format);
        assert!(
            message.contains(&format!("not a whole {format} file")),
            "{message}"
        );
        assert!(
            message.contains(&format!("after line {} (", lines.len())),
            "{message}"
        );
        assert!(!lines.is_empty() || format == "zstd");
        let whole = bytes.split(|byte| *byte == b'\n');
        assert!(
            lines
                .iter()
                .map(|(_, line, _)| line.as_slice())
                .eq(whole.take(lines.len()))
        );
    }
}

#[test]
fn a_flipped_byte_in_a_compressed_file_is_named() {
    let mut packed = gzip(&many_lines());
    let middle = packed.len() / 2;
    packed[middle] ^= 0x55;
    let (_, failure) = read_bytes(&packed);
    assert!(failure.unwrap().contains("not a whole gzip file"));
}

#[test]
fn what_cannot_be_read_fails_the_whole() {
    struct Failing(Cursor<Vec<u8>>);
    impl Read for Failing {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(out)? {
                0 => Err(std::io::Error::from_raw_os_error(5)),
                len => Ok(len),
            }
        }
    }
    for len in [3, 300_000] {
        let bytes = b"a\n".repeat(len);
        let source = Source::reader("failing", Failing(Cursor::new(bytes)));
        let settings = settings(100, "rejects");
        let input = source.open(Arc::new(AtomicU64::new(0)), &settings).unwrap();
        let mut reader = RecordReader::new(input, 0, &settings).unwrap();
        let mut num = 0;
        let failure = loop {
            match reader.next_batch() {
                Ok(Some(batch)) => num += batch.len(),
                Ok(None) => panic!("it did not fail"),
                Err(failure) => break failure,
            }
        };
        assert_eq!((num, failure.kind()), (len, ErrorKind::Unavailable));
        assert!(reader.next_batch().unwrap().is_none());
    }
}

#[test]
fn a_file_that_is_not_there_says_so() {
    let error = Source::file("/nowhere/logs.json").check().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(
        error
            .to_string()
            .contains("no input file `/nowhere/logs.json`")
    );
    let folder = tempfile::tempdir().unwrap();
    let error = Source::file(folder.path()).check().unwrap_err();
    assert!(error.to_string().contains("is a folder"), "{error}");
}
