//! Arbitrary bytes as the head of a split: no panic, and decoding and encoding are inverse.
//!
//! The prefix is generated with a valid checksum, since otherwise hardly any input would reach the
//! readers of components. The bytes are also used unchanged.

use canter_split_format::{Head, checksum64, head_len_of};

/// Runs the check on one input.
pub fn head(bytes: &[u8]) {
    check(bytes);
    // A whole head as input (such as a golden file) is sealed again; other input is used as
    // components.
    let components = match bytes.split_at_checked(28) {
        Some((prefix, rest)) if prefix.starts_with(b"CANTERSP") => match head_len_of(prefix) {
            Ok(len) => rest.get(..len as usize - 28).unwrap_or(rest),
            Err(_) => rest,
        },
        _ => bytes,
    };
    let mut sealed = b"CANTERSP\x01\0\0\0".to_vec();
    sealed.extend_from_slice(&(28 + components.len() as u64).to_le_bytes());
    sealed.extend_from_slice(&checksum64(components).to_le_bytes());
    sealed.extend_from_slice(components);
    check(&sealed);
}

fn check(bytes: &[u8]) {
    let Ok(head) = Head::open(bytes) else {
        return;
    };
    let again = head.write().expect("what was read can be written");
    assert_eq!(Head::open(&again).as_ref(), Ok(&head));

    if let Some(index) = &head.time_index {
        for time in [i64::MIN, -1, 0, 1_767_225_600_000_000_000, i64::MAX] {
            assert!(!index.first_doc_at_or_after(time).is_empty());
        }
        for doc in [0, index.num_docs(), u32::MAX] {
            let _ = index.bucket_of(doc);
        }
    }
    for field in head.rollup.iter().flat_map(|rollup| rollup.fields()) {
        assert_eq!(field.counts_in(0..usize::MAX).len(), field.keys.len());
    }
    for range in head.hotcache.ranges() {
        assert!(head.hotcache.bytes().get(range.bytes.clone()).is_some());
    }
    let _ = head.block_checksums.verify(0, bytes);
}
