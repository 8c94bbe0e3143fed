//! Ledger: every added id is found by reading few objects.

use std::collections::{BTreeMap, BTreeSet};

use super::{Ledger, MAX_IDS, MAX_RECENT, SplitNumber, split_number};
use crate::codec::{Reader, Writer};

/// Ledger with the objects written for it.
#[derive(Default)]
struct Kept {
    ledger: Ledger,
    objects: BTreeMap<String, Vec<u8>>,
}

impl Kept {
    fn add(&mut self, id: SplitNumber) {
        self.ledger.recent.insert(id);
        if self.ledger.is_due() {
            let mut merged = BTreeSet::new();
            for object in self.ledger.objects_to_merge() {
                merged.extend(object.open(&self.objects[&object.object()]).unwrap());
            }
            for written in self.ledger.settle(merged) {
                self.objects.insert(written.object.object(), written.bytes);
            }
        }
    }

    fn has(&self, id: SplitNumber) -> (bool, usize) {
        let wanted = BTreeSet::from([id]);
        let objects = self.ledger.objects_for(&wanted);
        let num_objects = objects.len();
        let in_objects = objects.into_iter().any(|object| {
            object
                .open(&self.objects[&object.object()])
                .unwrap()
                .contains(&id)
        });
        (in_objects || self.ledger.recent.contains(&id), num_objects)
    }
}

/// Returns numbers that are as evenly distributed as hashes.
fn number(nth: u64) -> SplitNumber {
    let hash = blake3::hash(&nth.to_le_bytes());
    u128::from_be_bytes(hash.as_bytes()[..16].try_into().unwrap())
}

#[test]
fn every_id_is_found_by_reading_few_objects() {
    let mut kept = Kept::default();
    let num_ids = 9 * MAX_IDS as u64;
    for nth in 0..num_ids {
        kept.add(number(nth));
    }
    assert_eq!(kept.ledger.num_ids(), num_ids);
    for nth in (0..num_ids).step_by(97) {
        let (is_found, num_objects) = kept.has(number(nth));
        assert!(is_found && num_objects <= 8, "{nth}: {num_objects}");
    }
    for nth in num_ids..num_ids + 100 {
        assert!(!kept.has(number(nth)).0);
    }
    assert!(kept.ledger.recent.len() <= MAX_RECENT);
    assert!(kept.ledger.objects.len() < 24);
}

#[test]
fn what_is_written_is_read_again() {
    let mut kept = Kept::default();
    for nth in 0..700 {
        kept.add(number(nth));
    }
    let mut out = Writer::default();
    kept.ledger.write(&mut out).unwrap();
    let bytes = out.into_bytes();
    let mut reader = Reader::new("ledger", &bytes);
    assert_eq!(Ledger::read(&mut reader).unwrap(), kept.ledger);
    reader.finish().unwrap();
}

#[test]
fn other_bytes_are_not_taken_for_an_object() {
    let mut kept = Kept::default();
    for nth in 0..700 {
        kept.add(number(nth));
    }
    let object = &kept.ledger.objects[0];
    let mut bytes = kept.objects[&object.object()].clone();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let problem = object.open(&bytes).unwrap_err().to_string();
    assert!(
        problem.contains("other bytes than its name says"),
        "{problem}"
    );
}

#[test]
fn only_ids_have_numbers() {
    assert_eq!(split_number("0000000000000000000000000000001f"), Some(31));
    for no_id in [
        "1f",
        "0000000000000000000000000000001F",
        "+000000000000000000000000000001f",
    ] {
        assert_eq!(split_number(no_id), None, "{no_id}");
    }
}
