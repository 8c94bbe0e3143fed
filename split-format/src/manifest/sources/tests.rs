//! Ledger of sources: many sources, damage, and the hash of lines.

use std::collections::BTreeMap;

use super::*;

fn progress(num_lines: u64) -> SourceProgress {
    SourceProgress {
        num_lines,
        num_docs: num_lines / 2,
        hash: LinesHash(num_lines * 7),
        at_ms: num_lines * 1_000,
    }
}

fn found(
    sources: &Sources,
    objects: &BTreeMap<String, Vec<u8>>,
    id: u128,
) -> Option<SourceProgress> {
    let mut entries = SourceEntries::new();
    add_sources(&mut entries, sources.recent.clone());
    let covering = sources
        .objects
        .iter()
        .filter(|object| object.first <= id && id <= object.last);
    for object in covering {
        add_sources(&mut entries, object.open(&objects[&object.id]).unwrap());
    }
    entries.get(&id).copied()
}

#[test]
fn the_latest_entry_of_a_source_is_found_however_many_there_are() {
    let mut sources = Sources::default();
    let mut objects: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut wanted: BTreeMap<u128, u64> = BTreeMap::new();
    let mut most_objects = 0;
    for turn in 0..20_000_u64 {
        let id = u128::from(turn.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 9_000) << 64;
        let lines = wanted.entry(id).or_default();
        *lines += 1 + turn % 5;
        add_sources(&mut sources.recent, [(id, progress(*lines))]);
        if sources.is_due() {
            let mut merged = SourceEntries::new();
            for object in sources.objects_to_merge() {
                add_sources(&mut merged, object.open(&objects[&object.id]).unwrap());
            }
            for written in sources.settle(merged) {
                objects.insert(written.object.id.clone(), written.bytes);
            }
        }
        most_objects = most_objects.max(sources.objects.len());
    }
    assert!(
        most_objects <= MAX_YOUNG + 9_000 / MAX_ENTRIES + 1,
        "{most_objects}"
    );
    for (id, lines) in &wanted {
        assert_eq!(found(&sources, &objects, *id), Some(progress(*lines)));
    }
    assert_eq!(found(&sources, &objects, 5), None);

    let mut out = Writer::default();
    sources.write(&mut out).unwrap();
    let bytes = out.into_bytes();
    assert_eq!(
        Sources::read(&mut Reader::new("test", &bytes)).unwrap(),
        sources
    );
    for len in 0..bytes.len().min(2_000) {
        assert!(Sources::read(&mut Reader::new("test", &bytes[..len])).is_err());
    }
}

#[test]
fn damaged_objects_are_told() {
    let mut sources = Sources::default();
    let written = sources.rewrite((0..9).map(|id| (id, progress(3))).collect());
    let [WrittenSources { object, bytes }] = written.as_slice() else {
        panic!("one object");
    };
    assert_eq!(object.open(bytes).unwrap().len(), 9);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(object.open(&damaged).is_err());
        assert!(object.open(&bytes[..at]).is_err());
    }
}

#[test]
fn the_hash_of_lines_tells_their_order_length_and_beginning() {
    let of = |lines: &[&str]| {
        lines.iter().fold(LinesHash::default(), |hash, line| {
            hash.with(line.as_bytes(), line.len() as u64)
        })
    };
    let all = [
        of(&["a", "b"]),
        of(&["b", "a"]),
        of(&["ab"]),
        of(&["a", "b", ""]),
        of(&["a"]),
    ];
    for (place, one) in all.iter().enumerate() {
        assert!(!all[..place].contains(one));
    }
    // Readers may keep only the start of a long line.
    let long = "x".repeat(5_000);
    let kept = LinesHash::default().with(&long.as_bytes()[..HASHED_OF_LINE], 5_000);
    assert_eq!(LinesHash::default().with(long.as_bytes(), 5_000), kept);
}
