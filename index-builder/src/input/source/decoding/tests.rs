//! Every storage of logs yields the stored lines; unreadable data has a name.

use std::io::{Cursor, Read, Write};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;

use crate::error::{BuildError, ErrorKind};
use crate::ingest::IngestOptions;
use crate::input::source::{Extent, ReadSettings, RecordReader, Source, take_apart};

// Created by Python: tarfile, zipfile and lzma, packed with gzip except for xz.
const USTAR: &str = "\
    H4sIAAAAAAACA+3XQW6DMBAFUK9zCpQDAGPGIPU2VuwmaamNsKOoqnr3OizppmqLacN/C7DYIBj9Gbv3x1CJZdVJyzzdk/l9WhO3xEwk+fa87V\
    iKQokMLiHqMb1SbFN/q78ehjItVqs/zepPtaROFDXqvzjv7C5e/U7ARvPvjtVvX4y1Q+nMU/DuW/lnVSv65/mfGutP/+Tyn/+21/sHekf+tzz/\
    y9PZGOvW2/818/lPncT8z8Fh9CP/9mWIr3/o/EdpS8DIf5b66xCXPPt9rf7t7PzfMTeofw7xNFqLEbDt/t+f3fOq+Z+tidpGiUJWNh6qQYdwNc\
    j/Pfd/9bn/Y/+fxaO/jGj/AAAAAAAAAPftAy9SGjYAKAAA\
";

const GNU: &str = "\
    H4sIAAAAAAACA+2YQU7DMBBFve4prB4g8SR2LLHiALlERExbCLYVu6oQ4u6kXSA1RaIsbAr5b2GPvP36f8YzuE0oWVrERCPl6Z6Y36eaZENSEl\
    Xy+N5oUTGuWAb2IXYj52yhDEf9O++Lqfg1/WmmPwlSmnEB/ZPjrFnFg1sxsEiKsijvW2c37c4+J/T/F77/9H8l9VkvEELrRjDewv958n+Y9L+9\
    ozfGF7Z/Cs7Cp39Z/x/3/1ooqtH/c/C27tZ39I7+v2T/F9td35tkKfv9/6++mP/rCv7PgcXoD/+bFx9fb2n/o7WS8H8W/bsQU+5+rtO/mesvBe\
    a/LMTtaAxawML/f+l2P9fm/1lNpLRivCpNfCh9F8Khh///c/6ry/zH/J+FR7cfEf8AAAAAAAAsgw8WLQCoACgAAA==\
";

const PAX: &str = "\
    H4sIAAAAAAACA+2YwU6EMBCGe96nIPsAwJRSEpNNPHr0FRpbl1UsDe1m1xjfXZaDiehBDy0b+b8DNFw4/PlmptP1e1+wuJQjUojpPTJ/T2cSko\
    Qg4uLyXTaCs6xmCTj6oIbxl2yddJf8lXP5eFgsf5rlTyWnhmUl8o9Ob80mnPoNA6skL/Li9l6d74zSZojn/w/ef/rP5ddeMPlfsewM/6NDjcyc\
    Cu1uagRdb/fX99DGuNzqJ99b1KkY/T9yfn/u/1VZ1xX6fwretmp7Q+/was3+5+1Ba2OXu/9V8/mfGg7/U2Ax+sN/8+LC6xXtf2gcCQT8T5K/8i\
    Hm7ud3+cvZ/q8RAvNfEkI7GIMWsPL738E+L+r/fP9DsqpZxgsTHgqnvD9p+P+f63/9vf5j/k/CY38cUP4BAAAAAABYBx/Q/9c5ACgAAA==\
";

const ZIP_DEFLATED: &str = "\
    H4sIAAAAAAACAwvwZmYRYQCDgIURDEiAFYhz8tOL9QOgSjjASp5x7xLigvAYeGBKEgsK9ICM0+e9n2ppnn/OxICqx23xixKYnmUwPTn5eemDj0\
    hJTS3Qy0vJKs7PWx3mFbLJaM1TdN/4LdyxHxQ4zMghoJeRmZKSmnf6NIbnQWHJBA1TLpjy1NyCkkpmNJU3jrr9BwURGzSochKLS0DBqn1Sw8sX\
    yRmQuFpffimJEchkhDojPt7X0dk/OEJfL76iKsCbkUmEGXfEwkADSDcsmmFasEc0QosyWrSj60SPboTO8CET+eh+Qo90hJ9UGVGTALpO9PhH6A\
    xhRE4N6PrQUwNCXx0jIm2gRzR6qkDoWsOImkYCvFlBRjOwA6Ey0IHXwUkBAMC4yK8QBAAA\
";

const ZIP_STORED: &str = "\
    H4sIAAAAAAACAwvwZmYRYQCDgIURDEiAFYhz8tOL9QNQlDzj3iXEAWSCMA9MSWJBgR6QkZ+XylVSns+FqsNt8YsSmI5lMB05+Xnpg49ISU0t0M\
    tLySrOz6tWSlSyMqxF84vfwh37mYFMZmTf62VkpqSk5uWhexw5NLlgilNzC0oqUdXdOOr2nw3IZIMGUk5icQkoOEsyilJT0cxcX34piRHIZIQ6\
    ID7e19HZPzhCXy++oirAm5FJhBl3dMJAA0g3LHJRtaBHL0KLMlpko+tEj2aEztAhE+nofkKPboSfFBlRIx9f0HOh6PRjRE0JqPrQ0wJCXxkjIm\
    Wg60JPFQhdixhR00iANyvIaAZ2IFRmYmA4C04KAMxIirsGBAAA\
";

const ZIP_STREAMED: &str = "\
    H4sIAAAAAAACAwvwZmYRYeAAQoaAhREMSIAHiHPy04v1EwsK9ICM0+e9n2ppnn/OxBDgzc7xjHuXEBdQBVAfkI/LjGUwM3Ly89IHH5GSmlqgl5\
    eSVZyftzrMK2ST0ZqnEN+5LX5RQth38BDSy8hMSUnNO30aGjh+C3fsZwVKMuPVzgXTnppbUFLJDNYJEmeCyuPWCVKWk1hcAooW7ZMaXr5QZ984\
    6vYfJMcG1s3IJMKM0I8cYTxIZjUwMqBFNLpO5MBYhqLTZchEL7qfkGMINTSUGFEjFV0ncgxxoehMZESOT3R9yHHDgaJvNiMiNgO8WUEKGFiBcB\
    tQ/CY4dgDg6t9EpQMAAA==\
";

const ZIP_ODD: &str = "\
    H4sIAAAAAAACAwvwZmaxZ2Bi4GMQqa+Kled45SbKwADkMzCwAnGFXk5+OicLK0MsA0MDA4MN05z/QPABKBMA1CcCpDmAWJEhzvJjPAuSvkqQvt\
    VPmIDKGJnsmXFbAAMNjAww60BaRJhxm43QYgGzKcCblY0BrISJIQ1Ix4MVAAADp8Fr2wAAAA==\
";

const XLSX: &str = "\
    H4sIAAAAAAACAwvwZmYRYWBg4GAQqa+K1W5RE2ID8liAWBiIo53z80pS80riQyoLUotj9SpyczavvLCdmSEARVuc5cd4kBYmsAgDQ0WOfiJI7e\
    onTECVjEwizLitgIEGRgbsFqIbgG4ZwgBzJKsDvFlBtgBVMTGUA+lEsBoAIcqa3e4AAAA=\
";

const XZ: &str = "\
    /Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQADYQpiCgBEjiy1raDNrAABHARvLJzBH7bzfQEAAAAABFla\
";

const XZ_TWO: &str = "\
    /Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQADYQpiCgBEjiy1raDNrAABHARvLJzBH7bzfQEAAAAABFla/Td6WFoAAATm1rRGAgAhARYAAAB0L+\
    WjAQABYwoAAAAJpZ4Bt26XfQABGgLcLqV+H7bzfQEAAAAABFla\
";

const XZ_LARGE_DICT: &str = "\
    /Td6WFoAAATm1rRGAgAhASQAAABeH8f5AQABYQoAAAATRz+4k51F1AABGgLcLqV+H7bzfQEAAAAABFla\
";

fn bytes_of(base64: &str) -> Vec<u8> {
    STANDARD.decode(base64).unwrap()
}

fn unpacked(base64: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let packed = bytes_of(base64);
    flate2::read::GzDecoder::new(packed.as_slice())
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

fn settings(options: &IngestOptions) -> ReadSettings {
    let yaml = "{version: 0.8, index_id: test, doc_mapping: {mode: dynamic}}";
    let config = canter_doc_mapper::IndexConfig::from_yaml(yaml, |_| None).unwrap();
    ReadSettings::new(options, &config).unwrap()
}

/// Returns the records of a source, and the failure that broke it off.
fn read_with(
    source: Source,
    options: &IngestOptions,
) -> Result<(Vec<String>, Option<String>), BuildError> {
    let settings = settings(options);
    let input = source.open(Arc::default(), &settings)?;
    let mut reader = RecordReader::new(input, 0, &settings)?;
    let (mut lines, mut failure) = (Vec::new(), None);
    while let Some(batch) = reader.next_batch()? {
        for record in batch.iter() {
            match record.extent {
                Extent::BrokenOff => failure.clone_from(&batch.failure),
                _ => lines.push(String::from_utf8_lossy(record.bytes).into_owned()),
            }
        }
    }
    Ok((lines, failure))
}

fn read(bytes: &[u8]) -> Result<(Vec<String>, Option<String>), BuildError> {
    let source = Source::reader("input", Cursor::new(bytes.to_vec()));
    read_with(source, &IngestOptions::default())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 1).unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to_bytes).collect()
}

#[test]
fn whatever_lines_are_stored_in_they_are_read() {
    let text = "2024-05-01 10:00:00 INFO größer\n2024-05-01 10:00:01 INFO 😀 smile\n";
    let ascii = "2024-05-01 10:00:00 INFO one\r\n2024-05-01 10:00:01 INFO two\r\n";
    let plain = text.as_bytes();
    for (name, bytes, text) in [
        ("plain", plain.to_vec(), text),
        ("gzip", gzip(plain), text),
        ("zstd", zstd(plain), text),
        ("bzip2", bzip2(plain), text),
        (
            "two of bzip2",
            [bzip2(&plain[..40]), bzip2(&plain[40..])].concat(),
            text,
        ),
        ("gzip in gzip", gzip(&gzip(plain)), text),
        ("gzip in bzip2 in zstd", zstd(&bzip2(&gzip(plain))), text),
        (
            "UTF-16LE",
            utf16(&format!("\u{feff}{text}"), u16::to_le_bytes),
            text,
        ),
        (
            "UTF-16BE",
            utf16(&format!("\u{feff}{text}"), u16::to_be_bytes),
            text,
        ),
        (
            "UTF-16LE without a mark",
            utf16(ascii, u16::to_le_bytes),
            ascii,
        ),
        (
            "UTF-16BE without a mark",
            utf16(ascii, u16::to_be_bytes),
            ascii,
        ),
        (
            "UTF-16 in gzip",
            gzip(&utf16(&format!("\u{feff}{text}"), u16::to_le_bytes)),
            text,
        ),
        (
            "behind NULs",
            [vec![0; 200_000], plain.to_vec()].concat(),
            text,
        ),
        (
            "behind NULs in gzip",
            gzip(&[vec![0; 200_000], plain.to_vec()].concat()),
            text,
        ),
        (
            "behind a mark of UTF-8",
            ["\u{feff}".as_bytes(), plain].concat(),
            text,
        ),
    ] {
        let expected: Vec<&str> = text.lines().collect();
        assert_eq!(
            read(&bytes).unwrap(),
            (
                expected.iter().map(|line| (*line).to_owned()).collect(),
                None
            ),
            "{name}"
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, &bytes).unwrap();
        let of_file = read_with(Source::file(&path), &IngestOptions::default()).unwrap();
        assert_eq!(of_file.0, expected, "{name}");
    }
    for (xz, lines) in [(XZ, vec!["a", "b"]), (XZ_TWO, vec!["a", "b", "c"])] {
        let (found, failure) = read(&bytes_of(xz)).unwrap();
        assert_eq!(
            (found, failure),
            (lines.iter().map(|line| (*line).to_owned()).collect(), None)
        );
    }
}

#[test]
fn halves_of_pairs_and_of_code_units_are_told_by_a_replacement() {
    let mut bytes = utf16("\u{feff}a", u16::to_le_bytes);
    bytes.extend_from_slice(&0xd83d_u16.to_le_bytes());
    bytes.extend(utf16("b\nc", u16::to_le_bytes));
    bytes.push(b'x');
    assert_eq!(read(&bytes).unwrap().0, ["a\u{fffd}b", "c\u{fffd}"]);
}

#[test]
fn what_is_no_log_is_refused_by_its_name() {
    let padded = |bytes: &[u8]| [bytes, &[7; 300]].concat();
    let mut random = vec![0_u8; 4_096];
    let mut state = 1_u32;
    for byte in &mut random {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = (state >> 24) as u8;
    }
    let cases: [(&[u8], &str); 25] = [
        (b"\x04\x22\x4d\x18", "lz4"),
        (b"\xff\x06\x00\x00sNaPpY", "snappy"),
        (b"\x1f\x9d\x90", "compress"),
        (b"\x5d\x00\x00\x80\x00", "LZMA"),
        (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
        (b"Rar!\x1a\x07\x01\x00", "RAR"),
        (b"PAR1", "Parquet"),
        (b"ARROW1\x00\x00", "Arrow"),
        (b"ORC\x1e\x00\x00\x0a", "ORC"),
        (b"Obj\x01", "Avro"),
        (b"SQLite format 3\x00", "SQLite"),
        (b"LPKSHHRH", "journalctl"),
        (b"ElfFile\x00", "evtx"),
        (b"\xd4\xc3\xb2\xa1", "pcap"),
        (
            b"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x4d\x3c\x2b\x1a",
            "pcapng",
        ),
        (b"%PDF-1.7\n", "PDF"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"\xff\xd8\xff\xe0", "JPEG"),
        (b"GIF89a", "GIF"),
        (b"\x7fELF\x02", "ELF"),
        (b"\xca\xfe\xba\xbe", "Java"),
        (b"\xff\xfe\x00\x00a\x00\x00\x00", "UTF-32"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Office"),
        (b"bplist00", "property list"),
        (b"\x01\x02\x03", "binary data"),
    ];
    let random = (random.as_slice(), "binary data");
    for (bytes, name) in cases.into_iter().chain([random]) {
        for (bytes, stored) in [(padded(bytes), ""), (gzip(&padded(bytes)), " in gzip")] {
            let refused = read(&bytes).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Invalid);
            let message = refused.to_string();
            assert!(message.contains(name), "{name}{stored}: {message}");
            assert!(message.contains("`input`"), "{message}");
        }
    }
    let deep = (0..5).fold(b"a\n".to_vec(), |bytes, _| gzip(&bytes));
    let message = read(&deep).unwrap_err().to_string();
    assert!(
        message.contains("compressed more than 4 times"),
        "{message}"
    );
    // The caller declares it to be text.
    let forced = IngestOptions {
        format: Some(canter_formats::Format::Plain),
        ..IngestOptions::default()
    };
    let source = Source::reader("input", Cursor::new(b"\x01\x02\x03\n".repeat(50)));
    assert_eq!(read_with(source, &forced).unwrap().0.len(), 50);
}

#[test]
fn text_that_begins_like_something_else_is_text() {
    for text in [
        "BZh is how bzip2 begins\n",
        "PK is no archive\n",
        "ORC of Mordor\n",
        "MZ\n",
        "MMORPG\n",
        "REDIS01 up\n",
        "070701 10:00:00 an old day\n",
        "\x1b[31mred\x1b[0m\n\x1b[31mred\x1b[0m\n",
        "a\x01b\x01c\n",
        "",
        "\n",
        "x",
    ] {
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(read(text.as_bytes()).unwrap().0, lines, "{text:?}");
    }
}

#[test]
fn windows_that_do_not_fit_into_memory_say_so() {
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(28).unwrap();
    encoder.write_all(b"a\n").unwrap();
    let large = encoder.finish().unwrap();
    let message = read(&large).unwrap_err().to_string();
    assert!(
        message.contains("window") && message.contains("268435456") && message.contains("--long"),
        "{message}"
    );
    // In a frame after the first one.
    let (lines, failure) = read(&[zstd(b"b\n"), large].concat()).unwrap();
    assert_eq!(lines, ["b"]);
    assert!(
        failure
            .as_ref()
            .is_some_and(|failure| failure.contains("window")),
        "{failure:?}"
    );
    let (lines, failure) = read(&bytes_of(XZ_LARGE_DICT)).unwrap();
    assert!(lines.is_empty());
    assert!(
        failure
            .as_ref()
            .is_some_and(|failure| failure.contains("dictionary")),
        "{failure:?}"
    );
}

#[test]
fn what_becomes_too_long_for_what_it_was_breaks_off() {
    let count = Arc::new(std::sync::atomic::AtomicU64::new(1_000));
    // As if the first bytes had been read.
    let mut expanding = super::expansion::Expanding::new(std::io::repeat(b'x'), count, 10_000_000);
    let mut some = vec![0; 1 << 20];
    assert_eq!(expanding.read(&mut some).unwrap(), some.len());
    let count = Arc::new(std::sync::atomic::AtomicU64::new(1_000));
    let mut bomb = super::expansion::Expanding::new(std::io::repeat(0), count, 2_000);
    let error = std::io::copy(&mut bomb, &mut std::io::sink()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::QuotaExceeded);
    assert!(error.to_string().contains("--max-expansion"), "{error}");
}

/// Returns the members of an archive in a file with this name, with their lines.
fn members(name: &str, bytes: &[u8]) -> (Vec<(String, Vec<String>)>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let taken = take_apart(vec![Source::file(&path)], 2_000).unwrap();
    let start = path.display().to_string().len() + 1;
    let members = taken.sources.into_iter().map(|source| {
        let name = source.name()[start..].to_owned();
        let (lines, failure) = read_with(source, &IngestOptions::default()).unwrap();
        assert_eq!(failure, None, "{name}");
        (name, lines)
    });
    (members.collect(), taken.notes)
}

#[test]
fn members_of_archives_are_sources() {
    let deep = format!("logs/{}deep.ndjson", "long/".repeat(30));
    let in_all = [
        ("logs/app.log", vec!["one", "two"]),
        (&deep, vec![r#"{"a":1}"#]),
        ("last.log", vec!["three"]),
    ];
    let of_tar = [in_all.as_slice(), &[("last.log#2", vec!["four"])]].concat();
    let expected = |members: &[(&str, Vec<&str>)]| -> Vec<(String, Vec<String>)> {
        let owned = |lines: &Vec<&str>| lines.iter().map(|line| (*line).to_owned()).collect();
        members
            .iter()
            .map(|(name, lines)| ((*name).to_owned(), owned(lines)))
            .collect()
    };
    for archive in [USTAR, GNU, PAX].map(unpacked) {
        for stored in [
            archive.clone(),
            gzip(&archive),
            zstd(&archive),
            bzip2(&archive),
            gzip(&gzip(&archive)),
        ] {
            let (found, notes) = members("any-name", &stored);
            assert_eq!(found, expected(&of_tar));
            // A folder, a link, a hidden and an empty file.
            assert!(
                notes.len() == 1 && notes[0].contains("4 members are left out"),
                "{notes:?}"
            );
        }
    }
    for archive in [ZIP_DEFLATED, ZIP_STORED, ZIP_STREAMED].map(unpacked) {
        let (found, _) = members("any-name", &archive);
        let found: Vec<_> = found
            .into_iter()
            .filter(|(name, _)| name != "logs/empty")
            .collect();
        assert_eq!(found, expected(&in_all));
    }
}

#[test]
fn members_are_read_in_any_order_and_more_than_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.tar");
    std::fs::write(&path, unpacked(GNU)).unwrap();
    let taken = take_apart(vec![Source::file(&path)], 2_000).unwrap();
    let read = |ord: usize| {
        let source = taken.sources[ord].again().unwrap();
        read_with(source, &IngestOptions::default()).unwrap().0
    };
    assert_eq!(
        [read(3), read(0), read(0), read(2)].concat(),
        ["four", "one", "two", "one", "two", "three"]
    );
    // One that is not read to its end.
    let source = taken.sources[0].again().unwrap();
    drop(
        source
            .open(Arc::default(), &settings(&IngestOptions::default()))
            .unwrap(),
    );
    assert_eq!(read(3), ["four"]);
    let origins: Vec<_> = taken.sources.iter().map(Source::origin).collect();
    assert!(
        origins
            .iter()
            .all(|origin| origins.iter().filter(|other| *other == origin).count() == 1)
    );
    assert!(taken.sources.iter().all(Source::is_kept));
}

#[test]
fn archives_that_cannot_be_read_say_why() {
    let (found, notes) = members("odd.zip", &unpacked(ZIP_ODD));
    assert_eq!(found, [("y.log".to_owned(), vec!["y".to_owned()])]);
    assert!(
        notes[0].contains("x.log") && notes[0].contains("method 14"),
        "{notes:?}"
    );
    // Flags mark the first member as encrypted.
    let mut encrypted = unpacked(ZIP_DEFLATED);
    encrypted[6] |= 1;
    let (found, notes) = members("encrypted.zip", &encrypted);
    assert!(found.len() >= 3, "{found:?}");
    assert!(notes[0].contains("encrypted"), "{notes:?}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.xlsx");
    std::fs::write(&path, unpacked(XLSX)).unwrap();
    let message = take_apart(vec![Source::file(&path)], 2_000)
        .unwrap_err()
        .to_string();
    assert!(message.contains("Microsoft Office"), "{message}");
    for stream in [unpacked(PAX), gzip(&unpacked(PAX)), unpacked(ZIP_STORED)] {
        let message = read(&stream).unwrap_err().to_string();
        assert!(
            message.contains("archive") && message.contains("write it to a file"),
            "{message}"
        );
    }
    // An archive in an archive.
    let mut builder = Vec::new();
    let inner = unpacked(ZIP_STORED);
    let mut zip = b"PK\x03\x04\x0a\x00\x00\x00\x00\x00\x00\x00\x21\x58".to_vec();
    let mut crc = flate2::Crc::new();
    crc.update(&inner);
    zip.extend_from_slice(&crc.sum().to_le_bytes());
    zip.extend_from_slice(&u32::try_from(inner.len()).unwrap().to_le_bytes().repeat(2));
    zip.extend_from_slice(&[5, 0, 0, 0]);
    zip.extend_from_slice(b"a.zip");
    zip.extend_from_slice(&inner);
    zip.extend_from_slice(b"PK\x05\x06");
    builder.extend_from_slice(&zip);
    let path = folder.path().join("outer.zip");
    std::fs::write(&path, &builder).unwrap();
    let taken = take_apart(vec![Source::file(&path)], 2_000).unwrap();
    let inner = taken.sources.into_iter().next().unwrap();
    let message = read_with(inner, &IngestOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("outer.zip!a.zip") && message.contains("in an archive"),
        "{message}"
    );
}

/// Runs every detection on the bytes of a file, which must not hang or crash.
fn read_all(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some");
    std::fs::write(&path, bytes).unwrap();
    let Ok(taken) = take_apart(vec![Source::file(&path)], 2_000) else {
        return;
    };
    for source in taken.sources.into_iter().take(20) {
        let _ = read_with(source, &IngestOptions::default());
    }
}

#[test]
fn what_is_cut_short_is_read_as_far_as_it_goes() {
    let archives = [USTAR, ZIP_DEFLATED, ZIP_STREAMED].map(unpacked);
    let others = [bytes_of(XZ), bzip2(b"a\nb\n"), gzip(&gzip(b"a\nb\n"))];
    for bytes in archives.iter().chain(&others) {
        let step = (bytes.len() / 60).max(1);
        for len in (0..bytes.len()).step_by(step) {
            read_all(&bytes[..len]);
        }
    }
    let whole = unpacked(PAX);
    // In the header of the third member.
    let cut = &whole[..3 * 512 + 100];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.tar");
    std::fs::write(&path, cut).unwrap();
    let taken = take_apart(vec![Source::file(&path)], 2_000).unwrap();
    assert!(
        taken.notes.iter().any(|note| note.contains("damaged")),
        "{:?}",
        taken.notes
    );
    assert!(!taken.sources.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn damaged_bytes_do_no_harm(
        which in 0..8_usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = match which {
            0 => unpacked(USTAR),
            1 => unpacked(PAX),
            2 => unpacked(ZIP_DEFLATED),
            3 => unpacked(ZIP_STREAMED),
            4 => unpacked(ZIP_STORED),
            5 => bytes_of(XZ_TWO),
            6 => bzip2(b"a\nb\n"),
            _ => utf16("\u{feff}a\nb\n", u16::to_le_bytes),
        };
        for (place, byte) in edits {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        read_all(&bytes);
    }
}
