//! Manifest: order of its splits, selection of heads, and effects of damage.

use proptest::prelude::*;
use serde_json::json;

use super::{INLINE_BUDGET, Manifest, ManifestFile, SplitEntry};
use crate::{TimeRange, checksum64};

/// Returns the id that ends with these digits.
fn id(last: &str) -> String {
    format!("{last:0>32}")
}

fn entry(last: &str, time_range: Option<(i64, i64)>, head: &[u8]) -> SplitEntry {
    SplitEntry {
        id: id(last),
        len: 1_000,
        head_len: head.len() as u64,
        head_checksum: checksum64(head),
        head_offset: None,
        num_docs: 7,
        raw_num_bytes: 70,
        time_range: time_range.map(|(start_ns, end_ns)| TimeRange { start_ns, end_ns }),
        tags: [("tenant".to_owned(), ["a".to_owned()].into())].into(),
        num_merge_ops: 0,
        deletes: None,
    }
}

/// Creates one split for each head, each later than the previous one; their ids end in 0, 1 and so
/// on.
fn with_heads(heads: &[Vec<u8>]) -> ManifestFile {
    let mut file = ManifestFile::new(Manifest::new(json!({"version": "0.9"})));
    for (ord, head) in (0i64..).zip(heads) {
        file.add_split(entry(&ord.to_string(), Some((0, ord)), head), head.clone());
    }
    file
}

fn reread(file: &ManifestFile) -> ManifestFile {
    ManifestFile::from_bytes(&file.to_bytes().unwrap()).unwrap()
}

fn carried(file: &ManifestFile) -> Vec<&str> {
    let ids = file.manifest.splits.iter().map(|split| split.id.as_str());
    let carried = ids.filter(|id| file.head(id).is_some());
    carried.map(|id| &id[31..]).collect()
}

#[test]
fn splits_stand_by_latest_then_earliest_time_then_id() {
    let mut manifest = Manifest::new(json!({}));
    for (id, time_range) in [
        ("f", Some((5, 9))),
        ("e", Some((4, 9))),
        ("d", Some((8, 8))),
        ("c", Some((8, 8))),
        ("b", None),
        ("g", Some((-9, i64::MAX))),
        ("a", None),
        ("h", Some((i64::MIN, i64::MIN))),
    ] {
        manifest.splits.push(entry(id, time_range, b""));
    }
    manifest.sort_splits();
    let ids: String = manifest
        .splits
        .iter()
        .map(|split| &split.id[31..])
        .collect();
    assert_eq!(ids, "abhcdefg");
}

#[test]
fn a_writer_sorts_and_a_reader_keeps_the_order() {
    let mut file = with_heads(&[vec![1; 3], vec![2; 4]]);
    file.manifest.splits.reverse();
    let reread = reread(&file);
    assert_eq!(reread.manifest.splits[0].id, id("0"));
    assert_eq!(reread.head(&id("0")), Some([1u8; 3].as_slice()));
    // The newest split's head comes first.
    assert_eq!(reread.manifest.splits[0].head_offset, Some(4));
    assert_eq!(reread.manifest.splits[1].head_offset, Some(0));
}

#[test]
fn the_newest_heads_are_kept_within_the_budget() {
    let check = |lens: &[u64], expect: &[&str]| {
        let heads: Vec<_> = lens.iter().map(|len| vec![9; *len as usize]).collect();
        assert_eq!(carried(&reread(&with_heads(&heads))), expect, "{lens:?}");
    };
    let half = INLINE_BUDGET / 2;
    check(&[half, half, half], &["1", "2"]);
    check(&[1, half, half], &["1", "2"]);
    check(&[half + 1, half], &["1"]);
    // A shorter head of an older split may still fit.
    check(&[10, half, half + 1, half - 10], &["0", "2", "3"][1..]);
    check(&[9, half, half + 1, half - 10], &["0", "2", "3"]);
    check(&[5, INLINE_BUDGET + 1], &["0"]);
    check(&[INLINE_BUDGET], &["0"]);
}

#[test]
fn a_split_is_added_once_and_its_head_taken_once() {
    let mut file = with_heads(&[vec![1; 3]]);
    file.add_split(entry("0", None, &[]), vec![8; 8]);
    assert_eq!(file.manifest.splits.len(), 1);
    assert_eq!(file.take_head(&id("0")), Some(vec![1; 3]));
    assert_eq!(file.take_head(&id("0")), None);
    assert_eq!(reread(&file).manifest.splits[0].head_offset, None);
}

#[test]
fn heads_found_in_an_old_manifest_are_kept() {
    let mut file = reread(&with_heads(&[vec![1; 3], vec![2; 4]]));
    file.add_split(entry("9", Some((0, 9)), &[7]), vec![7]);
    let file = reread(&file);
    assert_eq!(carried(&file), ["0", "1", "9"]);
    assert_eq!(file.head(&id("1")), Some([2u8; 4].as_slice()));
}

#[test]
fn a_sum_of_documents_saturates() {
    let mut manifest = Manifest::new(json!({}));
    for _ in 0..2 {
        let mut split = entry("x", None, b"");
        split.num_docs = u64::MAX;
        manifest.splits.push(split);
    }
    assert_eq!(manifest.num_docs(), u64::MAX);
}

#[test]
fn a_truncated_pack_costs_only_the_heads_behind_the_cut() {
    let file = with_heads(&[vec![1; 30], vec![2; 40], vec![3; 50]]);
    let bytes = file.to_bytes().unwrap();
    let pack = bytes.len() - 120;
    for len in pack..=bytes.len() {
        let short = ManifestFile::from_bytes(&bytes[..len]).unwrap();
        assert_eq!(short.manifest.splits.len(), 3);
        let expect: &[&str] = match len - pack {
            0..50 => &[],
            50..90 => &["2"],
            90..120 => &["1", "2"],
            _ => &["0", "1", "2"],
        };
        assert_eq!(carried(&short), expect);
    }
}

#[test]
fn a_damaged_pack_costs_only_the_head_that_it_hits() {
    let file = with_heads(&[vec![1; 30], vec![2; 40]]);
    let bytes = file.to_bytes().unwrap();
    for at in bytes.len() - 70..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x10;
        let damaged = ManifestFile::from_bytes(&bytes).unwrap();
        let sound = |split: &&SplitEntry| {
            checksum64(damaged.head(&split.id).unwrap()) == split.head_checksum
        };
        assert_eq!(damaged.manifest.splits.iter().filter(sound).count(), 1);
    }
}

#[test]
fn an_offset_past_64_bits_is_no_head() {
    let check = |head_offset: u64, head_len: u64| {
        let mut file = ManifestFile::new(Manifest::new(json!({})));
        let mut split = entry("a", None, b"");
        (split.head_offset, split.head_len) = (Some(head_offset), head_len);
        file.manifest.splits.push(split);
        // Writers never produce such an offset, so the JSON is sealed by hand.
        let json = serde_json::to_vec(&file.manifest).unwrap();
        let mut bytes = b"CANTERMF\x01\0\0\0".to_vec();
        bytes.extend_from_slice(&(json.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&checksum64(&json).to_le_bytes());
        bytes.extend_from_slice(&json);
        bytes.extend_from_slice(b"a short pack");
        assert!(
            ManifestFile::from_bytes(&bytes)
                .unwrap()
                .head(&id("a"))
                .is_none()
        );
    };
    check(u64::MAX, u64::MAX);
    check(u64::MAX, 1);
    check(1, u64::MAX);
    check(13, 0);
}

fn splits() -> impl Strategy<Value = Vec<(SplitEntry, Vec<u8>)>> {
    let tags = prop::collection::btree_map(
        "[a-z]{1,4}",
        prop::collection::btree_set("\\PC{0,5}", 0..4),
        0..3,
    );
    let split = (
        "[0-9a-f]{32}",
        any::<(u64, u64, u64)>(),
        any::<Option<(i64, i64)>>(),
        tags,
        prop::collection::vec(any::<u8>(), 0..100),
    );
    let split = split.prop_map(
        |(id, (len, num_docs, raw_num_bytes), time_range, tags, head)| {
            let mut split = entry("0", time_range, &head);
            split.id = id;
            (split.len, split.num_docs, split.raw_num_bytes) = (len, num_docs, raw_num_bytes);
            split.tags = tags;
            (split, head)
        },
    );
    prop::collection::vec(split, 0..8)
}

proptest! {
    #[test]
    fn round_trip(splits in splits()) {
        let mut file = ManifestFile::new(Manifest::new(json!({"a": [1.5, null, "x"]})));
        for (split, head) in &splits {
            file.add_split(split.clone(), head.clone());
        }
        let reread = reread(&file);
        let mut wanted = file.manifest.clone();
        wanted.sort_splits();
        let mut got = reread.manifest.clone();
        for split in &mut got.splits {
            prop_assert_eq!(reread.head(&split.id), file.head(&split.id));
            split.head_offset = None;
        }
        prop_assert_eq!(got, wanted);
        prop_assert_eq!(reread.to_bytes()?, file.to_bytes()?, "the same bytes again");
    }
}

#[test]
fn a_split_named_twice_is_refused() {
    let mut manifest = Manifest::new(json!({}));
    manifest.splits.push(entry("a", None, b"head"));
    manifest.splits.push(entry("a", None, b"head"));
    let bytes = ManifestFile::new(manifest).to_bytes().unwrap();
    let error = ManifestFile::from_bytes(&bytes).unwrap_err();
    let expect = format!("manifest: the split {} is named twice", id("a"));
    assert_eq!(error.to_string(), expect);
}

#[test]
fn an_id_that_could_lead_elsewhere_is_refused() {
    let read = |id: &str| {
        let mut split = entry("a", None, b"");
        split.id = id.to_owned();
        let mut manifest = Manifest::new(json!({}));
        manifest.splits.push(split);
        ManifestFile::from_bytes(&ManifestFile::new(manifest).to_bytes().unwrap())
    };
    let good = "0123456789abcdef0123456789abcdef";
    assert_eq!(read(good).unwrap().manifest.splits[0].id, good);
    for bad in [
        "",
        "a",
        "../../../other/splits/0123456789abcdef",
        "..%2f..%2f..%2f..%2f..%2f..%2f..",
        "0123456789ABCDEF0123456789ABCDEF",
        "0123456789abcdef0123456789abcde",
        "0123456789abcdef0123456789abcdef0",
        "0123456789abcdef/../../../abcdef",
        "0123456789abcdef\\..\\..\\..abcdef",
        "0123456789abcdef0123456789abcde\n",
        // 32 bytes, and 32 characters, that are not hexadecimal digits.
        "０１２３４５６７８９01",
        "０１２３４５６７８９０１２３４５６７８９０１２３４５６７８９０１",
    ] {
        let error = read(bad).unwrap_err().to_string();
        assert!(
            error.contains("32 lower-case hexadecimal digits"),
            "{error}"
        );
    }
    // The input must not determine the length of the message.
    assert!(read(&"x".repeat(100_000)).unwrap_err().to_string().len() < 400);
}
