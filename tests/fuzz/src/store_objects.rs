//! Objects of a store besides splits, manifests and pages: the lists of indexes and templates,
//! ledgers, checkpoints, receipts, and spooled documents. Arbitrary bytes are read as each of them.

use canter_index_builder::fuzzing::{self, Read};
use canter_split_format::{LedgerRef, SourcesRef, object_id};

/// Maximum size of the lines of a spooled object: a few bytes may claim any number of lines.
const MAX_LINES_NUM_BYTES: usize = 1 << 20;

type Reader = fn(&[u8]) -> Option<Read>;
type IsName = fn(&str) -> bool;

/// Checks that accepted objects survive a round trip, and that no name derived from them leads
/// elsewhere.
pub fn store_objects(bytes: &[u8]) {
    let readers: [(Reader, IsName); 4] = [
        (fuzzing::catalog, is_folder),
        (fuzzing::templates, is_folder),
        (fuzzing::checkpoint, is_split),
        (fuzzing::receipt, is_split),
    ];
    for (read, is_name) in readers {
        check(bytes, read, is_name);
    }
    if let Some(lines) = fuzzing::spooled(bytes, MAX_LINES_NUM_BYTES) {
        assert!(lines.len() <= MAX_LINES_NUM_BYTES);
    }
    ledgers(bytes);
}

fn check(bytes: &[u8], read: Reader, is_name: IsName) {
    let Some(found) = read(bytes) else {
        return;
    };
    for name in &found.names {
        assert!(is_name(name), "{name:?}");
    }
    let again = read(&found.written);
    assert_eq!(again, Some(found), "what was read can be written");
}

/// Checks a plain name and 32 digits, independently of the tested code.
fn is_folder(folder: &str) -> bool {
    let Some((name, id)) = folder.split_once('/') else {
        return false;
    };
    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9');
    name.bytes().next().is_some_and(is_plain)
        && name
            .bytes()
            .all(|byte| is_plain(byte) || matches!(byte, b'-' | b'_' | b'.'))
        && is_hash(id)
}

fn is_split(object: &str) -> bool {
    let id = object.strip_prefix("splits/");
    id.and_then(|file| file.strip_suffix(".split"))
        .is_some_and(is_hash)
}

fn is_hash(id: &str) -> bool {
    id.len() == 32
        && id
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Checks objects of both ledgers, which the manifest references by hash.
fn ledgers(bytes: &[u8]) {
    let ledger = LedgerRef {
        id: object_id(bytes),
        is_settled: false,
        num_ids: 0,
        first: 0,
        last: u128::MAX,
    };
    if let Ok(ids) = ledger.open(bytes) {
        assert!(ids.len() <= bytes.len() / 16);
    }
    let sources = SourcesRef {
        id: object_id(bytes),
        is_settled: false,
        num_entries: 0,
        first: 0,
        last: u128::MAX,
    };
    if let Ok(entries) = sources.open(bytes) {
        assert!(entries.len() <= bytes.len() / 16);
    }
}
