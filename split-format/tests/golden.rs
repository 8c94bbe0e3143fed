//! Golden files: bytes written by each released format version.
//!
//! The current writer must still produce the bytes of its version, and the current reader must read
//! those of every version as the values below. These are written by hand where the writer's own
//! output would prove nothing.
//!
//! A **new** format version gets a new folder, created with
//!
//! ```text
//! cargo test -p canter-split-format --test golden -- --ignored write_golden_files
//! ```
//!
//! after `VERSION` below is raised; the folders of older versions and the tests that read them stay
//! unchanged.

mod sample;

use canter_split_format::{
    Head, IDENTITIES_FILE, Identities, ManifestFile, Needle, Sentence, SplitFilter, TimeRange,
    checksum64, object_id,
};

/// Version that the current writer produces for splits; the manifest's is still v1.
const VERSION: &str = "v2";

const SPLIT_V1: &[u8] = include_bytes!("golden/v1/sample.split");
const MANIFEST_V1: &[u8] = include_bytes!("golden/v1/manifest.canter");

const SPLIT_V2: &[u8] = include_bytes!("golden/v2/sample.split");

/// Manifest with pages, ledger, condemned objects, merges and deletes.
const MANIFEST_V2: &[u8] = include_bytes!("golden/manifest-v2/manifest.canter");

/// Page of three splits and its filters, as first written.
const PAGE_V1: &[u8] = include_bytes!("golden/page-v1/sample.page");
const FILTERS_V1: &[u8] = include_bytes!("golden/page-v1/sample.bits");
const FILTER_V1: &[u8] = include_bytes!("golden/page-v1/sample.filter");

const SPLIT_ID: &str = "2d51a582deb88c6f35a9cabff5c4169b";
const HEAD_LEN: usize = 1_657;

#[test]
#[ignore = "writes the golden files: for a new format version only"]
#[expect(
    clippy::disallowed_methods,
    reason = "a tool in the shape of a test: it writes files"
)]
fn write_golden_files() {
    let folder = format!("{}/tests/golden/{VERSION}", env!("CARGO_MANIFEST_DIR"));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(format!("{folder}/sample.split"), sample::split_v2().bytes).unwrap();
}

#[test]
#[ignore = "writes the golden files: for a new format version only"]
#[expect(
    clippy::disallowed_methods,
    reason = "a tool in the shape of a test: it writes files"
)]
fn write_golden_pages() {
    let folder = format!("{}/tests/golden/page-v1", env!("CARGO_MANIFEST_DIR"));
    std::fs::create_dir_all(&folder).unwrap();
    let page = sample::page();
    std::fs::write(format!("{folder}/sample.page"), page.bytes).unwrap();
    std::fs::write(format!("{folder}/sample.bits"), page.filters.unwrap()).unwrap();
    let filter = sample::filter(1, 3).write();
    std::fs::write(format!("{folder}/sample.filter"), filter).unwrap();
}

#[test]
#[ignore = "writes the golden files: for a new format version only"]
#[expect(
    clippy::disallowed_methods,
    reason = "a tool in the shape of a test: it writes files"
)]
fn write_golden_manifest() {
    let folder = format!("{}/tests/golden/manifest-v2", env!("CARGO_MANIFEST_DIR"));
    std::fs::create_dir_all(&folder).unwrap();
    let bytes = sample::manifest_v2().to_bytes().unwrap();
    std::fs::write(format!("{folder}/manifest.canter"), bytes).unwrap();
}

#[test]
fn a_manifest_of_v2_is_written_as_ever_and_says_what_it_refers_to() {
    let written = sample::manifest_v2().to_bytes().unwrap();
    assert!(written == MANIFEST_V2, "the bytes of a manifest changed");
    let file = ManifestFile::from_bytes(MANIFEST_V2).unwrap();
    assert_eq!(file.to_bytes().unwrap(), MANIFEST_V2);
    let [page] = &file.pages[..] else {
        panic!("one page");
    };
    assert_eq!(page.id, object_id(PAGE_V1));
    assert_eq!((page.num_splits, page.num_docs), (3, 900));
    assert_eq!(page.object_len(), PAGE_V1.len() as u64);
    let filters = page.filters.as_ref().unwrap();
    assert_eq!(filters.id, object_id(FILTERS_V1));
    let groups = filters.groups.iter();
    let groups: Vec<_> = groups
        .map(|group| (group.log2_num_blocks, group.num_splits))
        .collect();
    assert_eq!(groups, [(3, 2)]);
    assert_eq!(file.num_splits(), 5);

    assert_eq!(file.ledger.recent, [1, 7, u128::MAX].into());
    let [object] = &file.ledger.objects[..] else {
        panic!("one object");
    };
    assert_eq!(
        object.object(),
        "ledger/00000000000000000000000000000063.ids"
    );
    assert_eq!((object.is_settled, object.num_ids), (true, 4_096));
    assert_eq!((object.first, object.last), (5, u128::MAX - 1));
    let condemned: Vec<_> = file.condemned.iter().collect();
    assert_eq!(condemned.len(), 2);
    assert_eq!(
        condemned[0].0.object(),
        "splits/00000000000000000000000000000001.split"
    );
    assert_eq!(*condemned[0].1, Sentence::Condemned { at_ms: 17 });
    assert_eq!(
        condemned[1].0.object(),
        "filters/00000000000000000000000000000002.bits"
    );
    assert_eq!(*condemned[1].1, Sentence::Doomed);

    let merged = &file.manifest.splits[0];
    assert_eq!((merged.num_merge_ops, merged.num_docs), (3, 1_000));
    let deletes = merged.deletes.as_ref().unwrap();
    let deleted = deletes
        .open(deletes.inlined.as_ref().unwrap(), 1_000)
        .unwrap();
    assert_eq!(deleted.ranges(), [3..9, 900..1_000]);
    assert_eq!(merged.num_live_docs(), 894);
}

#[test]
fn a_page_and_its_filters_are_written_as_ever() {
    let page = sample::page();
    assert!(page.bytes == PAGE_V1, "the bytes of a page changed");
    assert!(
        page.filters.as_deref() == Some(FILTERS_V1),
        "the bytes of its filters changed"
    );
    assert!(
        sample::filter(1, 3).write() == FILTER_V1,
        "the bytes of a filter changed"
    );
}

#[test]
fn filters_that_were_written_are_read() {
    let filter = SplitFilter::open(FILTER_V1).unwrap();
    assert_eq!(
        (filter.log2_num_blocks(), filter.scope().fields.len()),
        (3, 2)
    );
    let page = sample::page().page;
    let (splits, _) = page.open(PAGE_V1, Some(FILTERS_V1)).unwrap();
    let found: Vec<Option<u32>> = splits
        .iter()
        .map(|split| split.filter.as_ref().map(SplitFilter::log2_num_blocks))
        .collect();
    assert_eq!(found, [Some(3), None, Some(2)]);
    for number in 0..300_u64 {
        let needle = Needle::of("trace_id", format!("1/{number}").as_bytes());
        assert!(filter.may_hold(needle));
        assert!(splits[0].filter.as_ref().unwrap().may_hold(needle));
    }
    assert!(!filter.may_hold(Needle::of("trace_id", b"3/0")));
}

#[test]
fn the_writer_gives_the_same_bytes() {
    let split = sample::split();
    assert!(split.bytes == SPLIT_V1, "the bytes of a split changed");
    assert_eq!(split.id, SPLIT_ID);
    let split = sample::split_v2();
    assert!(split.bytes == SPLIT_V2, "the bytes of a split changed");
    assert_eq!(split.id, "9197cd3a7f2839028313be68cc532d8f");
    let manifest = sample::manifest().to_bytes().unwrap();
    assert!(manifest == MANIFEST_V1, "the bytes of a manifest changed");
}

#[test]
fn what_was_read_is_written_as_it_stood() {
    let head = Head::open(SPLIT_V1).unwrap();
    assert_eq!(head.write().unwrap(), SPLIT_V1[..HEAD_LEN]);
    let head = Head::open(SPLIT_V2).unwrap().write().unwrap();
    assert_eq!(head, SPLIT_V2[..head.len()]);
    let manifest = ManifestFile::from_bytes(MANIFEST_V1).unwrap();
    assert_eq!(manifest.to_bytes().unwrap(), MANIFEST_V1);
}

#[test]
fn a_split_of_v2_knows_who_its_documents_are() {
    let head = Head::open(SPLIT_V2).unwrap();
    let head_len = head.write().unwrap().len();
    let (_, file) = head.files.find(IDENTITIES_FILE).unwrap();
    let from = head_len + file.offset as usize;
    let read = Identities::open(&SPLIT_V2[from..from + file.len as usize]).unwrap();
    for (ord, doc) in (0..).zip(sample::identities()) {
        assert_eq!(read.get(ord).unwrap(), doc);
    }
    let range = head.metadata.identities.unwrap();
    assert_eq!(range.num_sources, 2);
    assert_eq!(
        range.first.source.to_string(),
        "36894b25320e3eb68a9f3965766efe99"
    );
    assert_eq!((range.first.position, range.last.position), (102, 197));
}

#[test]
fn a_split_of_v1_has_its_files_and_metadata() {
    let head = Head::open(SPLIT_V1).unwrap();
    assert_eq!(head.metadata, sample::metadata());
    let body = &SPLIT_V1[HEAD_LEN..];
    assert_eq!(head.files.body_len(), body.len() as u64);
    for (name, wanted) in sample::files() {
        let (_, file) = head.files.find(name).unwrap();
        let (from, to) = (file.offset as usize, (file.offset + file.len) as usize);
        assert_eq!(body[from..to], wanted, "{name}");
    }
    let places: Vec<_> = head
        .files
        .files()
        .iter()
        .map(|file| (&*file.name, file.offset))
        .collect();
    assert_eq!(
        places,
        [
            ("meta.json", 0),
            ("fieldnorm", 15),
            ("term", 115),
            ("idx", 815),
            ("pos", 2_015),
            ("fast", 2_015),
            ("store", 3_000),
        ]
    );
}

#[test]
fn a_split_of_v1_has_its_hot_ranges() {
    let head = Head::open(SPLIT_V1).unwrap();
    let files = sample::files();
    let ranges = head.hotcache.ranges();
    let places: Vec<_> = ranges
        .iter()
        .map(|r| (r.file_ord, r.start, r.bytes.clone()))
        .collect();
    assert_eq!(
        places,
        [
            (0, 0, 0..15),
            (2, 10, 15..75),
            (3, 100, 75..155),
            (5, 900, 155..240)
        ]
    );
    for range in ranges {
        let start = range.start as usize;
        assert_eq!(
            head.hotcache.bytes()[range.bytes.clone()],
            files[range.file_ord as usize].1[start..start + range.bytes.len()]
        );
    }
}

#[test]
fn a_split_of_v1_has_its_time_index_and_rollup() {
    let head = Head::open(SPLIT_V1).unwrap();
    let index = head.time_index.unwrap();
    assert_eq!((index.width_ns(), index.num_docs()), (10_000_000_000, 40));
    assert_eq!(index.first_doc_at_or_after(sample::START_NS), 0..1);
    assert_eq!(
        index.bucket_of(39),
        1_767_231_000_000_000_000..1_767_231_010_000_000_000
    );
    for (ord, time) in (0..).zip(sample::timestamps()) {
        assert!(index.bucket_of(ord).contains(&time));
    }

    let rollup = head.rollup.unwrap();
    assert_eq!(
        (rollup.width_ns(), rollup.first_bucket()),
        (60_000_000_000, 29_453_760)
    );
    assert_eq!(rollup.num_docs().len(), 91);
    assert_eq!(rollup.num_docs()[..4], [5, 1, 2, 1]);
    let level = rollup.field("level").unwrap();
    assert_eq!(level.keys, ["error", "info", "warn"]);
    assert_eq!(level.counts_in(0..usize::MAX), [10, 13, 9]);
    assert_eq!(level.counts_in(0..1), [2, 1, 1]);
}

#[test]
fn a_split_of_v1_has_its_block_checksums() {
    let sums = Head::open(SPLIT_V1).unwrap().block_checksums;
    assert_eq!(
        (sums.block_len(), sums.num_blocks(), sums.body_len()),
        (4_096, 2, 5_000)
    );
    assert_eq!(sums.verify(0, &SPLIT_V1[HEAD_LEN..]), Ok(()));
    assert_eq!(sums.verify(1, &SPLIT_V1[HEAD_LEN + 4_096..]), Ok(()));
}

#[test]
fn a_manifest_of_v1_has_its_splits_and_heads() {
    let file = ManifestFile::from_bytes(MANIFEST_V1).unwrap();
    assert_eq!(file.manifest.index_config, sample::index_config());
    let [older, newer] = &file.manifest.splits[..] else {
        panic!("two splits");
    };
    assert_eq!(older.id, "0123456789abcdef0123456789abcdef");
    assert_eq!((older.len, older.head_len), (9_007_199_254_740_993, 321));
    assert_eq!(older.head_checksum, 0x00ff_0000_0000_00a1);
    assert_eq!((older.num_docs, older.raw_num_bytes), (2, 20));
    assert_eq!((older.time_range, older.head_offset), (None, None));
    assert!(older.tags.is_empty() && file.head(&older.id).is_none());

    assert_eq!(
        (newer.id.as_str(), newer.len),
        (SPLIT_ID, SPLIT_V1.len() as u64)
    );
    assert_eq!(newer.head_checksum, checksum64(&SPLIT_V1[..HEAD_LEN]));
    assert_eq!(
        newer.time_range,
        Some(TimeRange {
            start_ns: 1_767_225_600_000_000_000,
            end_ns: 1_767_231_009_300_000_000,
        })
    );
    let tenants: Vec<&str> = newer.tags["tenant"].iter().map(String::as_str).collect();
    assert_eq!(tenants, ["acme", "übel"]);
    assert_eq!(newer.head_offset, Some(0));
    assert_eq!(file.head(&newer.id), Some(&SPLIT_V1[..HEAD_LEN]));
    assert_eq!(file.manifest.num_docs(), 42);
}
