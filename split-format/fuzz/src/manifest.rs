//! Arbitrary bytes as a manifest: no panic, and decoding and encoding are inverse.
//!
//! The prefix is generated with a valid checksum: the first two bytes are the length of the JSON,
//! the rest is JSON and inlined heads. The bytes are also used unchanged.

use std::collections::BTreeSet;

use canter_split_format::{Manifest, ManifestFile, checksum64};

/// Runs the check on one input.
pub fn manifest(bytes: &[u8]) {
    check(bytes);
    // A whole manifest as input (such as a golden file) is sealed again with its own length.
    let (json, heads) = match bytes {
        [b'C', b'A', b'N', b'T', b'E', b'R', b'M', b'F', ..] => {
            let rest = bytes.get(28..).unwrap_or_default();
            let len = bytes
                .get(12..14)
                .map_or(0, |len| usize::from(len[0]) | usize::from(len[1]) << 8);
            rest.split_at(len.min(rest.len()))
        }
        [low, high, rest @ ..] => {
            let len = usize::from(*low) | usize::from(*high) << 8;
            rest.split_at(len.min(rest.len()))
        }
        _ => return,
    };
    let mut sealed = b"CANTERMF\x01\0\0\0".to_vec();
    sealed.extend_from_slice(&(json.len() as u64).to_le_bytes());
    sealed.extend_from_slice(&checksum64(json).to_le_bytes());
    sealed.extend_from_slice(json);
    sealed.extend_from_slice(heads);
    check(&sealed);
}

fn check(bytes: &[u8]) {
    let Ok(file) = ManifestFile::from_bytes(bytes) else {
        return;
    };
    let _ = file.manifest.num_docs();
    // Writers never name a split twice. In such a manifest, heads by id are ambiguous.
    let ids: BTreeSet<&str> = file
        .manifest
        .splits
        .iter()
        .map(|split| split.id.as_str())
        .collect();
    if ids.len() < file.manifest.splits.len() {
        return;
    }
    let again = file.to_bytes().expect("what was read can be written");
    let reread = ManifestFile::from_bytes(&again).expect("what was written can be read");
    for split in &reread.manifest.splits {
        // The input may name more heads than the budget allows; those that are carried must be
        // equal.
        if let Some(head) = reread.head(&split.id) {
            assert_eq!(Some(head), file.head(&split.id));
        }
    }
    assert_eq!(
        written_order(&reread.manifest),
        written_order(&file.manifest)
    );
    assert_eq!(reread.to_bytes().as_ref(), Ok(&again));
}

/// Returns the splits in the writer's order, without head offsets, which the writer chooses.
fn written_order(manifest: &Manifest) -> Manifest {
    let mut manifest = manifest.clone();
    manifest.sort_splits();
    for split in &mut manifest.splits {
        split.head_offset = None;
    }
    manifest
}
