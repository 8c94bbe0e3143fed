//! File table: locations without gaps, round trips, and invalid input.

use proptest::prelude::*;

use super::FileTable;
use crate::codec::Writer;

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
