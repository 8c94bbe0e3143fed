//! File table: locations without gaps, round trips, and invalid input.

use proptest::prelude::*;

use super::FileTable;
use crate::codec::Writer;
use crate::{Form, Piece};

fn encoded(files: &[(&str, u64)]) -> Vec<u8> {
    let mut out = Writer::default();
    out.varint(files.len() as u64);
    for (name, len) in files {
        out.bytes(name.as_bytes());
        out.varint(*len);
    }
    out.into_bytes()
}

#[test]
fn files_stand_one_after_the_other() {
    let table = FileTable::lay_out([("term", 10), ("idx", 0), ("fast", 300)]);
    let places: Vec<_> = table.files().iter().map(|f| (f.offset, f.len)).collect();
    assert_eq!(places, [(0, 10), (10, 0), (10, 300)]);
    assert_eq!(table.body_len(), 310);
    let (file_ord, fast) = table.find("fast").unwrap();
    assert_eq!((file_ord, fast.offset), (2, 10));
    assert!(table.find("pos").is_none());
    assert_eq!(FileTable::default().body_len(), 0);
}

#[test]
fn a_split_of_before_the_first_release_is_known_by_its_files() {
    let is_too_old = |names: &[&str]| {
        let table = FileTable::lay_out(names.iter().map(|name| (*name, 1)));
        table.is_too_old()
    };
    assert!(!is_too_old(&["term", "lists", "ids", "docs", "docindex"]));
    assert!(is_too_old(&["term", "lists", "fast", "ids"]));
    assert!(is_too_old(&["term", "lists", "docs", "docindex"]));
    assert!(is_too_old(&["term", "idx", "ids", "docs", "docindex"]));
}

#[test]
fn a_reader_refuses_what_cannot_be_laid_out() {
    let check = |bytes: &[u8], problem: &str| {
        let error = FileTable::open(bytes, 1).unwrap_err();
        assert!(error.problem.contains(problem), "{error}");
    };
    check(&encoded(&[("idx", 1), ("idx", 2)]), "named twice");
    check(&encoded(&[("idx", u64::MAX), ("pos", 1)]), "64 bits");
    check(&[encoded(&[("idx", 1)]), vec![0]].concat(), "too many");
    check(&[2, 0, 0], "cannot fit");
    check(&[1, 1, 0xff, 0], "UTF-8");
}

/// A file of 4 bytes and a block of presence in 6, behind another file.
const PACKED: &[u8] = b"\x02\x04term\x03\x04fast\x0a\x01\x01\x02\0\x04\x02\x80\x50\x06";

#[test]
fn what_a_packed_file_is_cut_into_is_written_as_the_specification_says() {
    let piece = |form, plain: (u64, u64), packed: (u64, u64)| Piece {
        form,
        plain_start: plain.0,
        plain_len: plain.1,
        packed_start: packed.0,
        packed_len: packed.1,
    };
    let mut table = FileTable::lay_out([("term", 3), ("fast", 10)]);
    assert_eq!(table.version(), 1);
    table.set_pieces(
        1,
        vec![
            piece(Form::Plain, (0, 4), (0, 4)),
            piece(Form::Presence, (4, 10_240), (4, 6)),
        ],
    );
    assert_eq!(table.version(), 2);
    assert_eq!(table.write(), PACKED);
    let opened = FileTable::open(PACKED, 2).unwrap();
    assert_eq!(opened, table);
    assert_eq!(opened.body_len(), 13);
    let (_, fast) = opened.find("fast").unwrap();
    assert_eq!(fast.plain_len(), 10_244);
    let places = |range| {
        let parts = fast.parts(&range);
        parts.into_iter().map(|part| part.body).collect::<Vec<_>>()
    };
    assert_eq!(places(1..3).first(), Some(&(4..6)));
    assert_eq!(places(3..5), [6..7, 7..13]);
    assert_eq!(places(5_000..5_001).first(), Some(&(7..13)));
}

#[test]
fn pieces_that_are_no_file_are_refused() {
    let check = |at: usize, byte: u8, problem: &str| {
        let mut bytes = PACKED.to_vec();
        bytes[at] = byte;
        let error = FileTable::open(&bytes, 2).unwrap_err();
        assert!(error.problem.contains(problem), "{error}");
    };
    check(14, 2, "no file is cut into");
    check(18, 9, "unknown form");
    check(21, 7, "do not make up the file");
    check(13, 0, "no file is packed");
    let long = [&PACKED[..19], &[0x80, 0x80, 0x80, 0x10, 6][..]].concat();
    let error = FileTable::open(&long, 2).unwrap_err();
    assert!(error.problem.contains("too long"), "{error}");
}

proptest! {
    #[test]
    fn round_trip(files in prop::collection::btree_map("[a-z.]{0,12}", 0..u64::MAX >> 8, 0..20)) {
        let table = FileTable::lay_out(files.iter().map(|(name, len)| (name.as_str(), *len)));
        prop_assert_eq!(FileTable::open(&table.write(), 1)?, table.clone());
        prop_assert_eq!(table.body_len(), files.values().sum::<u64>());
        for (name, len) in &files {
            prop_assert_eq!(table.find(name).map(|(_, file)| file.len), Some(*len));
        }
    }
}
