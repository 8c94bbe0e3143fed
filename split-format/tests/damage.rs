//! Damage: for any bytes, readers return a value or an error. A flipped bit in a head or in a
//! manifest's JSON is always an error, and contents under a valid checksum never cause a panic.

mod sample;

use canter_split_format::{Head, ManifestFile, WrittenSplit, checksum64, head_len_of};
use proptest::prelude::*;

const TAGS: [&[u8; 4]; 7] = [
    b"META", b"FILE", b"TIME", b"ROLL", b"COOC", b"BLKS", b"HOTC",
];

fn head() -> Vec<u8> {
    head_of(&sample::split())
}

fn head_of(split: &WrittenSplit) -> Vec<u8> {
    split.bytes[..split.head_len as usize].to_vec()
}

/// Puts a prefix with a valid checksum before components, so that only their readers can find
/// errors.
fn sealed(components: &[u8]) -> Vec<u8> {
    let mut head = b"CANTERSP\x01\0\0\0".to_vec();
    head.extend_from_slice(&(28 + components.len() as u64).to_le_bytes());
    head.extend_from_slice(&checksum64(components).to_le_bytes());
    head.extend_from_slice(components);
    head
}

fn component(tag: &[u8], version: u32, payload: &[u8]) -> Vec<u8> {
    let len = payload.len() as u64;
    [tag, &version.to_le_bytes(), &len.to_le_bytes(), payload].concat()
}

/// Returns the sample's components, each with its tag and length.
fn components() -> Vec<Vec<u8>> {
    components_of(&head())
}

fn components_of(head: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut rest = &head[28..];
    while !rest.is_empty() {
        let len = u64::from_le_bytes(rest[8..16].try_into().unwrap());
        let (one, next) = rest.split_at(16 + len as usize);
        found.push(one.to_vec());
        rest = next;
    }
    found
}

/// Opens a head and calls everything on it.
fn open_and_use(bytes: &[u8]) -> bool {
    let _ = head_len_of(bytes);
    let Ok(head) = Head::open(bytes) else {
        return false;
    };
    assert_eq!(Head::open(&head.write().unwrap()).as_ref(), Ok(&head));
    for range in head.hotcache.ranges() {
        assert!(head.hotcache.bytes().get(range.bytes.clone()).is_some());
    }
    let probes = [i64::MIN, -1, 0, 1, sample::START_NS, i64::MAX];
    if let Some(index) = &head.time_index {
        for time in probes {
            assert!(!index.first_doc_at_or_after(time).is_empty());
        }
        for doc in [0, 1, index.num_docs(), u32::MAX] {
            let _ = index.bucket_of(doc);
        }
    }
    for field in head.rollup.iter().flat_map(|rollup| rollup.fields()) {
        for buckets in [0..1, 0..usize::MAX, usize::MAX..usize::MAX] {
            assert_eq!(field.counts_in(buckets).len(), field.keys.len());
        }
    }
    let sums = &head.block_checksums;
    assert_eq!(sums.blocks_of(0..sums.body_len()).end, sums.num_blocks());
    let _ = sums.verify(0, bytes);
    true
}

#[test]
fn every_flip_in_a_head_is_detected() {
    let sound = head();
    assert!(open_and_use(&sound));
    let split = sample::split();
    for at in 0..sound.len() {
        for mask in [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff] {
            let mut bytes = sound.clone();
            bytes[at] ^= mask;
            assert!(!open_and_use(&bytes), "byte {at}, mask {mask:02x}");
            assert_ne!(checksum64(&bytes), split.head_checksum);
        }
        // The same with the body after it, so that a longer head would be available.
        let mut bytes = split.bytes.clone();
        bytes[at] ^= 0x01;
        assert!(!open_and_use(&bytes), "byte {at} of the whole split");
    }
}

#[test]
fn every_truncation_of_a_head_is_detected() {
    let sound = head();
    for len in 0..sound.len() {
        assert!(!open_and_use(&sound[..len]), "{len} bytes");
    }
    let problem = Head::open(&sound[..100]).unwrap_err().to_string();
    assert!(problem.contains("cut short"), "{problem}");
}

#[test]
fn no_flip_or_truncation_under_a_sound_checksum_makes_a_reader_panic() {
    let sound = head();
    let components = &sound[28..];
    for at in 0..components.len() {
        for mask in [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff] {
            let mut damaged = components.to_vec();
            damaged[at] ^= mask;
            open_and_use(&sealed(&damaged));
        }
        open_and_use(&sealed(&components[..at]));
    }
}

#[test]
fn components_may_be_missing_unknown_doubled_or_of_another_order() {
    let check = |components: &[Vec<u8>], expect: Result<(), &str>| {
        let got = Head::open(&sealed(&components.concat()));
        let problem = got.as_ref().map(|_| ()).map_err(ToString::to_string);
        assert_eq!(problem, expect.map_err(str::to_owned));
        got.ok()
    };
    let sound = components();
    let whole = check(&sound, Ok(()));
    let without = |ord: usize| {
        let mut some = sound.clone();
        some.remove(ord);
        some
    };
    check(&without(0), Err("split metadata: missing"));
    check(&without(1), Err("file table: missing"));
    assert!(check(&without(2), Ok(())).unwrap().time_index.is_none());
    assert!(check(&without(3), Ok(())).unwrap().rollup.is_none());
    check(&without(4), Err("block checksums: missing"));
    check(&without(5), Err("hotcache: missing"));

    let reversed: Vec<_> = sound.iter().rev().cloned().collect();
    assert_eq!(check(&reversed, Ok(())), whole);

    // Each version of the metadata either always has identities, or never.
    let mut other = sound.clone();
    other[0][4] = 2;
    let either = "split metadata: only its second version has identities, and that always";
    check(&other, Err(either));
    other[0][4] = 3;
    let newer = "split metadata: version 3 is not known (this reader knows 1 to 2)";
    check(&other, Err(newer));

    let with = |one: Vec<u8>| [sound.clone(), vec![one]].concat();
    assert_eq!(check(&with(component(b"NEW!", 9, b"later")), Ok(())), whole);
    assert_eq!(
        check(&with(component(b"META", 1, b"the first counts")), Ok(())),
        whole
    );
    check(
        &with(component(b"ROLL", 2, b"")),
        Err("rollup: version 2 is not known (this reader knows 1)"),
    );
    let mut too_long = component(b"NEW!", 1, b"");
    too_long[8..16].fill(0xff);
    assert!(Head::open(&sealed(&with(too_long).concat())).is_err());
}

#[test]
fn counts_must_agree_with_the_metadata() {
    let check = |name: &str, change: &dyn Fn(&mut Head)| {
        let mut head = Head::open(&head()).unwrap();
        change(&mut head);
        let problem = Head::open(&head.write().unwrap()).unwrap_err().to_string();
        assert_eq!(
            problem,
            format!("{name}: it counts other documents than the metadata")
        );
    };
    check("time index", &|head| head.metadata.num_docs += 1);
    check("rollup", &|head| {
        head.metadata.num_docs -= 1;
        head.time_index = None;
    });

    let mut head = Head::open(&head()).unwrap();
    head.block_checksums = canter_split_format::BlockChecksums::of_body(b"another body");
    let problem = Head::open(&head.write().unwrap()).unwrap_err().to_string();
    assert!(
        problem.starts_with("block checksums: they cover another length"),
        "{problem}"
    );
}

#[test]
fn every_flip_in_a_manifest_s_json_is_detected() {
    let sound = sample::manifest().to_bytes().unwrap();
    let json_end = sound.len() - head().len();
    for at in 0..sound.len() {
        for mask in [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff] {
            let mut bytes = sound.clone();
            bytes[at] ^= mask;
            let opened = ManifestFile::from_bytes(&bytes);
            assert_eq!(opened.is_ok(), at >= json_end, "byte {at}, mask {mask:02x}");
        }
    }
}

#[test]
fn a_truncated_manifest_is_refused_or_loses_heads_only() {
    let sound = sample::manifest().to_bytes().unwrap();
    let whole = ManifestFile::from_bytes(&sound).unwrap();
    let json_end = sound.len() - head().len();
    for len in 0..sound.len() {
        match ManifestFile::from_bytes(&sound[..len]) {
            Ok(short) => {
                assert!(len >= json_end);
                assert_eq!(short.manifest, whole.manifest);
                assert!(short.head(&short.manifest.splits[1].id).is_none());
            }
            Err(_) => assert!(len < json_end),
        }
    }
}

#[test]
fn unknown_keys_are_refused() {
    let sound = sample::manifest().to_bytes().unwrap();
    let json_len = sound.len() - head().len() - 28;
    let check = |from: &str, to: &str| {
        let json = str::from_utf8(&sound[28..28 + json_len]).unwrap();
        let json = json.replacen(from, to, 1);
        let mut bytes = b"CANTERMF\x01\0\0\0".to_vec();
        bytes.extend_from_slice(&(json.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&checksum64(json.as_bytes()).to_le_bytes());
        bytes.extend_from_slice(json.as_bytes());
        ManifestFile::from_bytes(&bytes).is_ok()
    };
    assert!(check("", ""));
    assert!(!check(r#"{"index_config""#, r#"{"later":1,"index_config""#));
    assert!(!check(r#"{"id""#, r#"{"later":1,"id""#));
    assert!(!check(r#"{"start_ns""#, r#"{"later":1,"start_ns""#));
    assert!(!check("00ff0000000000a1", "no checksum"));
}

proptest! {
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        open_and_use(&bytes);
        let _ = ManifestFile::from_bytes(&bytes);
    }

    #[test]
    fn any_bytes_behind_a_sound_prefix_are_answered(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        open_and_use(&sealed(&bytes));
        let mut manifest = b"CANTERMF\x01\0\0\0".to_vec();
        manifest.extend_from_slice(&bytes);
        let _ = ManifestFile::from_bytes(&manifest);
    }

    #[test]
    fn any_payload_of_a_component_is_answered(
        ord in 0..TAGS.len(),
        // Small numbers give counts that fit, so that readers get further.
        payload in prop::collection::vec(prop_oneof![any::<u8>(), 0u8..4], 0..120),
    ) {
        let mut all = components_of(&head_of(&sample::split_with_co_occurrence()));
        all[ord] = component(TAGS[ord], 1, &payload);
        open_and_use(&sealed(&all.concat()));
    }

    #[test]
    fn several_faults_under_a_sound_checksum_are_answered(
        faults in prop::collection::vec(any::<(prop::sample::Index, u8)>(), 1..6),
    ) {
        let sound = head_of(&sample::split_with_co_occurrence());
        let mut damaged = sound[28..].to_vec();
        for (at, value) in faults {
            let at = at.index(damaged.len());
            damaged[at] = value;
        }
        open_and_use(&sealed(&damaged));
    }
}
