//! Made-up split and manifest that use every part of the format. The files do not come from
//! tantivy, as the format ignores their contents. The golden files are built from this, so **never
//! change it**.

#![allow(dead_code, reason = "each test program uses a part of it")]

use canter_split_format::{
    CoOccurrence, DeletedDocs, DocIdentity, FilterScope, IDENTITIES_FILE, Identities,
    IdentityRange, LedgerRef, Manifest, ManifestFile, Needle, ObjectKind, ObjectName, PageSplit,
    RARE_WORDS_FILE, RARE_WORDS_INDEX_FILE, RareWordsWriter, Rollup, Sentence, SourceId,
    SplitEntry, SplitFilter, SplitMetadata, Summaries, TermPlace, TimeIndex, TimeRange,
    WrittenPage, WrittenRareWords, WrittenSplit, checksum64, write_page, write_split,
};
use serde_json::{Value, json};

pub(crate) const START_NS: i64 = 1_767_225_600_000_000_000;
pub(crate) const NUM_DOCS: usize = 40;
const LEVELS: [&str; 3] = ["error", "info", "warn"];

/// Returns `len` bytes that differ from file to file.
pub(crate) fn file_bytes(seed: u8, len: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (at % 61) as u8 ^ seed ^ (at / 61) as u8)
        .collect()
}

/// Returns the files in body order: five thousand bytes, which make two blocks.
pub(crate) fn files() -> [(&'static str, Vec<u8>); 7] {
    [
        ("meta.json", br#"{"segments":[]}"#.to_vec()),
        ("fieldnorm", file_bytes(1, 100)),
        ("term", file_bytes(2, 700)),
        ("idx", file_bytes(3, 1_200)),
        ("pos", Vec::new()),
        ("fast", file_bytes(5, 985)),
        ("store", file_bytes(6, 2_000)),
    ]
}

/// Returns sorted timestamps with growing distances; two are equal.
pub(crate) fn timestamps() -> Vec<i64> {
    (0..NUM_DOCS as i64)
        .map(|ord| START_NS + ord * (ord / 2) * 7_300_000_000)
        .collect()
}

/// Returns each document's level, as an ordinal into [`LEVELS`]; every fifth has none.
pub(crate) fn levels() -> Vec<Option<usize>> {
    (0..NUM_DOCS)
        .map(|ord| (ord % 5 != 4).then_some((ord * 7 + ord / 4) % 3))
        .collect()
}

pub(crate) fn index_config() -> Value {
    json!({
        "version": "0.9",
        "index_id": "made-up",
        "doc_mapping": {"timestamp_field": "time", "tag_fields": ["tenant"]},
    })
}

pub(crate) fn metadata() -> SplitMetadata {
    let timestamps = timestamps();
    SplitMetadata {
        num_docs: 40,
        raw_num_bytes: 6_543,
        time_range: Some(TimeRange {
            start_ns: START_NS,
            end_ns: timestamps[NUM_DOCS - 1],
        }),
        sort_field: Some("time".to_owned()),
        identities: None,
        index_config: index_config(),
    }
}

/// Returns documents of two sources, in an order that follows neither.
pub(crate) fn identities() -> Vec<DocIdentity> {
    let sources = [b"file:/a", b"file:/b"].map(|origin| SourceId::of(origin, b"{}"));
    (0..NUM_DOCS)
        .map(|ord| DocIdentity {
            source: sources[ord * 3 / 2 % 2],
            position: 100 + (ord as u64 ^ 3) * 5 / 2,
        })
        .collect()
}

/// Returns whole, touching, overlapping, empty and single ranges of several files, unordered.
pub(crate) fn hot_ranges() -> Vec<(u32, u64, Vec<u8>)> {
    let files = files();
    [
        (5, 900, 85),
        (0, 0, 15),
        (2, 40, 30),
        (2, 10, 30),
        (3, 7, 0),
        (3, 100, 50),
        (3, 120, 60),
    ]
    .into_iter()
    .map(|(file_ord, start, len)| {
        let bytes = files[file_ord].1[start..start + len].to_vec();
        (file_ord as u32, start as u64, bytes)
    })
    .collect()
}

/// Returns a split with the first version of the metadata, without identities.
pub(crate) fn split() -> WrittenSplit {
    written(metadata(), &files(), None)
}

/// Returns the same documents with identities.
pub(crate) fn split_v2() -> WrittenSplit {
    let identities = identities();
    let ids = Identities::of_docs(&identities)
        .unwrap()
        .as_bytes()
        .to_vec();
    let metadata = SplitMetadata {
        identities: IdentityRange::of_docs(&identities),
        ..metadata()
    };
    let mut files = files().to_vec();
    files.push((IDENTITIES_FILE, ids));
    written(metadata, &files, None)
}

/// Returns a split with words that are in no dictionary.
#[allow(dead_code, reason = "not all programs that share the samples use it")]
pub(crate) fn split_with_rare_words() -> WrittenSplit {
    let mut writer = RareWordsWriter::new(NUM_DOCS as u32);
    writer.start_field(3, 2).unwrap();
    writer.push(b"b7", &[2]).unwrap();
    writer.push(b"b71", &[1, 4]).unwrap();
    let WrittenRareWords { index, blocks } = writer.finish();
    let mut files = files().to_vec();
    files.push((RARE_WORDS_FILE, blocks));
    files.push((RARE_WORDS_INDEX_FILE, index));
    written(metadata(), &files, None)
}

/// Returns a split of the first version with a table of frequent terms, two of which never meet.
pub(crate) fn split_with_co_occurrence() -> WrittenSplit {
    let place = |field, term_ord| TermPlace { field, term_ord };
    let terms = vec![place(1, 0), place(1, 7), place(4, 300)];
    let table = CoOccurrence::of_terms(terms, |high, low| (high, low) != (1, 0));
    written(metadata(), &files(), Some(table))
}

fn written(
    metadata: SplitMetadata,
    files: &[(&'static str, Vec<u8>)],
    co_occurrence: Option<CoOccurrence>,
) -> WrittenSplit {
    let timestamps = timestamps();
    let files: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(name, bytes)| (*name, &bytes[..]))
        .collect();
    let mut rollup = Rollup::over(&timestamps).unwrap();
    rollup.add_field("level", LEVELS.map(str::to_owned).to_vec(), levels());
    let summaries = Summaries {
        time_index: TimeIndex::of_sorted(&timestamps),
        rollup: Some(rollup),
        co_occurrence,
    };
    write_split(metadata, files, hot_ranges(), summaries).unwrap()
}

/// Returns a manifest with two splits: the sample with its head inlined, and an older one without
/// time, tags or head.
pub(crate) fn manifest() -> ManifestFile {
    let split = split();
    let metadata = metadata();
    let mut file = ManifestFile::new(Manifest::new(index_config()));
    let head = split.bytes[..split.head_len as usize].to_vec();
    let entry = SplitEntry {
        id: split.id,
        len: split.bytes.len() as u64,
        head_len: split.head_len,
        head_checksum: split.head_checksum,
        head_offset: None,
        num_docs: u64::from(metadata.num_docs),
        raw_num_bytes: metadata.raw_num_bytes,
        time_range: metadata.time_range,
        tags: [(
            "tenant".to_owned(),
            ["acme".to_owned(), "übel".to_owned()].into(),
        )]
        .into(),
        num_merge_ops: 0,
        deletes: None,
    };
    file.add_split(entry, head);
    file.manifest.splits.push(SplitEntry {
        id: "0123456789abcdef0123456789abcdef".to_owned(),
        len: 9_007_199_254_740_993,
        head_len: 321,
        head_checksum: 0x00ff_0000_0000_00a1,
        head_offset: None,
        num_docs: 2,
        raw_num_bytes: 20,
        time_range: None,
        tags: [].into(),
        num_merge_ops: 0,
        deletes: None,
    });
    file
}

/// Returns the filter of a split with 300 trace ids.
pub(crate) fn filter(number: u64, log2_num_blocks: u32) -> SplitFilter {
    let scope = FilterScope {
        fields: ["body", "trace_id"].map(str::to_owned).into(),
        default_fields: vec!["body".to_owned()],
    };
    let mut filter = SplitFilter::new(scope, log2_num_blocks);
    for id in 0..300 {
        filter.insert(Needle::of("trace_id", format!("{number}/{id}").as_bytes()));
    }
    filter
}

/// Returns a page with three splits: two with filters of different sizes, and one without.
pub(crate) fn page() -> WrittenPage {
    let splits = (1..=3_u64).map(|number| {
        let head = file_bytes(number as u8, 40);
        PageSplit {
            entry: SplitEntry {
                id: format!("{number:032x}"),
                len: 1_000,
                head_len: 40,
                head_checksum: checksum64(&head),
                head_offset: None,
                num_docs: 300,
                raw_num_bytes: 9_000,
                time_range: Some(TimeRange {
                    start_ns: START_NS,
                    end_ns: START_NS + number as i64,
                }),
                tags: [].into(),
                num_merge_ops: 0,
                deletes: None,
            },
            head: Some(head),
            totals: [].into(),
            filter: [Some(3), None, Some(2)][number as usize - 1]
                .map(|log2_num_blocks| filter(number, log2_num_blocks)),
        }
    });
    write_page(splits.collect(), None).unwrap()
}

/// Returns the other manifest with everything that needs version 2: a page, a ledger, condemned
/// objects, and a split that was merged and has deleted documents.
pub(crate) fn manifest_v2() -> ManifestFile {
    let mut file = manifest();
    file.pages.push(page().page);
    file.ledger.recent = [1, 7, u128::MAX].into();
    file.ledger.objects.push(LedgerRef {
        id: format!("{:032x}", 99),
        is_settled: true,
        num_ids: 4_096,
        first: 5,
        last: u128::MAX - 1,
    });
    let name = |kind, number: u64| ObjectName::new(kind, &format!("{number:032x}"));
    file.condemned = [
        (
            name(ObjectKind::Split, 1),
            Sentence::Condemned { at_ms: 17 },
        ),
        (name(ObjectKind::Filters, 2), Sentence::Doomed),
    ]
    .into();
    let merged = file.manifest.splits.last_mut().unwrap();
    merged.num_merge_ops = 3;
    merged.num_docs = 1_000;
    let mut deleted = DeletedDocs::default();
    deleted.push(3..9);
    deleted.push(900..1_000);
    merged.deletes = Some(deleted.write().0);
    file
}
