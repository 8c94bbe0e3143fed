//! Released values that all later versions must know: magic numbers, version codes, component tags,
//! object names and checksums. They are checked in written bytes, not in the constants.
//!
//! **A failure here is a broken format, not an outdated test.** A new version code gets a new test
//! beside the old one.

mod sample;

use canter_split_format::{
    FILTER_FILE, FilterScope, HEAD_PREFIX_LEN, Head, MANIFEST_OBJECT, ManifestFile, Needle,
    SplitFilter, checksum64, head_len_of, page_object, split_object,
};

/// Hash of the term `needle` in the field `body`.
const GOLDEN_HASH: u128 = 316_532_383_669_635_268_074_009_718_594_100_940_180;

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// Returns tag, version and payload of each component of a head.
fn components(head: &[u8]) -> Vec<(&str, u32, &[u8])> {
    let mut found = Vec::new();
    let mut rest = &head[28..];
    while !rest.is_empty() {
        let (payload, next) = rest[16..].split_at(u64_at(rest, 8) as usize);
        found.push((
            str::from_utf8(&rest[..4]).unwrap(),
            u32_at(rest, 4),
            payload,
        ));
        rest = next;
    }
    found
}

#[test]
fn object_names() {
    assert_eq!(MANIFEST_OBJECT, "manifest.canter");
    assert_eq!(split_object("0a1b"), "splits/0a1b.split");
    assert_eq!(page_object("0a1b"), "pages/0a1b.page");
}

/// A filter that is probed at other bits would hide documents.
#[test]
fn the_bits_of_a_term_in_a_filter() {
    assert_eq!(FILTER_FILE, "filter");
    let scope = FilterScope {
        fields: ["body".to_owned()].into(),
        default_fields: vec!["body".to_owned(), "id".to_owned()],
    };
    let mut filter = SplitFilter::new(scope, 2);
    filter.insert(Needle::of("body", b"needle"));
    let bytes = filter.write();
    assert_eq!(
        &bytes[..20],
        b"\x01\0\0\0\x01\x04body\x02\x04body\x02id\x02"
    );
    let (_, rest) = bytes.split_at(20);
    let (bits, checksum) = rest.split_at(512);
    assert_eq!(checksum, checksum64(&bytes[..20 + 512]).to_le_bytes());

    let key = b"body\0needle";
    let hash = xxhash_rust::xxh3::xxh3_128_with_seed(key, 0x6361_6e74_6572_0001);
    let block = (hash >> 126) as usize;
    let mut expect = vec![0_u8; 512];
    for probe in 0..6 {
        let row = (hash >> (10 * probe)) as usize % 1_024;
        expect[block * 128 + row / 8] |= 1 << (row % 8);
    }
    assert_eq!(bits, expect);
    assert_eq!(hash, GOLDEN_HASH);
}

#[test]
fn a_split_s_name_is_the_blake3_of_its_bytes() {
    let split = sample::split();
    let hash = blake3::hash(&split.bytes).to_hex();
    assert_eq!(split.id, hash[..32]);
}

#[test]
fn checksums_are_xxh3_64_without_a_seed() {
    assert_eq!(checksum64(b""), 0x2d06_8005_38d3_94c2);
    assert_eq!(
        checksum64(b"canter"),
        xxhash_rust::xxh3::xxh3_64_with_seed(b"canter", 0)
    );
}

#[test]
fn the_prefix_of_a_split() {
    let split = sample::split();
    let head_len = split.head_len as usize;
    let head = &split.bytes[..head_len];
    assert_eq!(HEAD_PREFIX_LEN, 28);
    assert_eq!(&head[..8], b"CANTERSP");
    assert_eq!(u32_at(head, 8), 1, "version of the frame");
    assert_eq!(u64_at(head, 12), head_len as u64);
    assert_eq!(u64_at(head, 20), checksum64(&head[28..]));
    assert_eq!(split.head_checksum, checksum64(head));
}

#[test]
fn a_split_with_rare_words_has_the_second_version_of_the_frame() {
    let split = sample::split_with_rare_words();
    let mut head = split.bytes[..split.head_len as usize].to_vec();
    assert_eq!(u32_at(&head, 8), 2);
    for name in [&b"\x04rare"[..], b"\x09rareindex"] {
        assert!(head.windows(name.len()).any(|bytes| bytes == name));
    }
    let opened = Head::open(&head).unwrap();
    assert_eq!(opened.write().unwrap(), head);
    // A reader of the first version would miss words.
    head[8] = 1;
    let problem = Head::open(&head).unwrap_err().to_string();
    assert!(
        problem.contains("only version 2 has both files of rare words"),
        "{problem}"
    );
    let mut without = sample::split().bytes;
    without[8] = 2;
    assert!(Head::open(&without).is_err());
}

#[test]
fn the_components_of_a_head() {
    let split = sample::split();
    let head = &split.bytes[..split.head_len as usize];
    let found: Vec<_> = components(head)
        .into_iter()
        .map(|(tag, version, _)| (tag, version))
        .collect();
    let expect = [
        ("META", 1),
        ("FILE", 1),
        ("TIME", 1),
        ("ROLL", 1),
        ("BLKS", 1),
        ("HOTC", 1),
    ];
    assert_eq!(found, expect);

    // The second version of the metadata has identities, and the body a file of them.
    let split = sample::split_v2();
    let head = &split.bytes[..split.head_len as usize];
    let (tag, version, metadata) = components(head)[0];
    assert_eq!((tag, version), ("META", 2));
    let metadata = str::from_utf8(metadata).unwrap();
    let identities = r#","sort_field":"time","identities":{"first":{"source":"36894b25320e3eb68a9f3965766efe99","position":102},"last":{"source":""#;
    assert!(metadata.contains(identities), "{metadata}");
    assert!(metadata.contains(r#"},"num_sources":2},"index_config":{"#));
    assert!(head.windows(4).any(|bytes| bytes == b"\x03ids"));

    // The co-occurrence of terms is between the rollup and the checksums.
    let split = sample::split_with_co_occurrence();
    let head = &split.bytes[..split.head_len as usize];
    let table: (&str, u32, &[u8]) = ("COOC", 1, &[2, 1, 2, 0, 6, 4, 1, 0xac, 0x02, 0b110]);
    assert_eq!(components(head)[4], table);
}

#[test]
fn the_order_of_the_metadata_s_keys() {
    let split = sample::split();
    let (_, _, metadata) = components(&split.bytes[..split.head_len as usize])[0];
    let metadata = str::from_utf8(metadata).unwrap();
    assert!(
        metadata.starts_with(
            r#"{"num_docs":40,"raw_num_bytes":6543,"time_range":{"start_ns":1767225600000000000,"end_ns":"#
        ),
        "{metadata}"
    );
    assert!(metadata.contains(r#"},"sort_field":"time","index_config":{"version":"#));
}

#[test]
fn the_frame_of_a_manifest() {
    let bytes = sample::manifest().to_bytes().unwrap();
    assert_eq!(&bytes[..8], b"CANTERMF");
    assert_eq!(u32_at(&bytes, 8), 1, "version of the frame");
    let (json, heads) = bytes[28..].split_at(u64_at(&bytes, 12) as usize);
    assert_eq!(u64_at(&bytes, 20), checksum64(json));
    assert_eq!(heads, &sample::split().bytes[..heads.len()]);

    let json = str::from_utf8(json).unwrap();
    assert!(json.starts_with(r#"{"index_config":{"#), "{json}");
    let older = concat!(
        r#""splits":[{"id":"0123456789abcdef0123456789abcdef","len":9007199254740993,"head_len":321,"#,
        r#""head_checksum":"00ff0000000000a1","num_docs":2,"raw_num_bytes":20},"#,
    );
    assert!(json.contains(older), "{json}");
    let newer = concat!(
        r#""head_offset":0,"num_docs":40,"raw_num_bytes":6543,"time_range":{"start_ns":"#,
        r#"1767225600000000000,"end_ns":1767231009300000000},"tags":{"tenant":["acme","übel"]}}]}"#,
    );
    assert!(json.ends_with(newer), "{json}");
}

#[test]
fn an_unknown_version_is_named_and_refused() {
    let split = sample::split();
    let mut head = split.bytes[..split.head_len as usize].to_vec();
    head[8] = 3;
    let problem = head_len_of(&head).unwrap_err().to_string();
    assert!(
        problem.contains("version 3 is not known (this reader knows 1 to 2)"),
        "{problem}"
    );
    assert_eq!(Head::open(&head).unwrap_err().to_string(), problem);

    let mut manifest = sample::manifest().to_bytes().unwrap();
    manifest[8] = 4;
    let problem = ManifestFile::from_bytes(&manifest).unwrap_err().to_string();
    assert!(
        problem.contains("version 4 is not known (this reader knows 1 to 3)"),
        "{problem}"
    );
}
