//! Pages of a manifest, references to them, and filters, all with valid checksums, so that the
//! readers behind these must find the errors.

use canter_split_format::{
    ManifestFile, Needle, PageFilters, PagePart, PageRef, PageSplit, SplitFilter, checksum64,
    write_page,
};

use super::edits;

/// Manifest with a page, the page, and the filters of its splits: the format's golden files.
const MANIFEST: &[u8] =
    include_bytes!("../../../split-format/tests/golden/manifest-v2/manifest.canter");
const PAGE: &[u8] = include_bytes!("../../../split-format/tests/golden/page-v1/sample.page");
const FILTERS: &[u8] = include_bytes!("../../../split-format/tests/golden/page-v1/sample.bits");
const FILTER: &[u8] = include_bytes!("../../../split-format/tests/golden/page-v1/sample.filter");

/// Offsets of the JSON's length in a manifest, and of the JSON.
const JSON_LEN: usize = 12;
const JSON: usize = 28;

fn manifest() -> ManifestFile {
    ManifestFile::from_bytes(MANIFEST).expect("a golden file")
}

fn page() -> PageRef {
    manifest().pages.remove(0)
}

/// Checks changes to a page, and to the manifest's reference to it.
pub fn manifest_pages(bytes: &[u8]) {
    // The first byte is the expected number of splits.
    let (num_splits, edits) = bytes.split_first().unwrap_or((&3, &[]));
    let mut page = page();
    let entries = PAGE.get(page.entries.start as usize..page.entries.end() as usize);
    let mut entries = entries.expect("a golden file").to_vec();
    edits::apply(&mut entries, edits);
    open_entries(&mut page, u64::from(*num_splits), &entries);
    open_entries(&mut page, u64::from(*num_splits), edits);

    let json_len = MANIFEST.get(JSON_LEN..JSON_LEN + 8).expect("a length");
    let json_len = u64::from_le_bytes(json_len.try_into().expect("eight bytes")) as usize;
    let (before, rest) = MANIFEST.split_at(JSON + json_len);
    let (lens, rest) = rest.split_at(16);
    let table_len = u64::from_le_bytes(lens[..8].try_into().expect("eight bytes")) as usize;
    let (table, heads) = rest.split_at(table_len);
    let mut table = table.to_vec();
    edits::apply(&mut table, bytes);
    for table in [&table[..], bytes] {
        let sealed = [
            before,
            &(table.len() as u64).to_le_bytes(),
            &checksum64(table).to_le_bytes(),
            table,
            heads,
        ];
        let Ok(file) = ManifestFile::from_bytes(&sealed.concat()) else {
            continue;
        };
        let _ = (file.num_docs(), file.num_splits());
        let again = file.to_bytes().expect("what was read can be written");
        let reread = ManifestFile::from_bytes(&again).expect("what was written can be read");
        assert_eq!(reread.to_bytes().as_ref(), Ok(&again));
        for page in &file.pages {
            let _ = page.open(PAGE, Some(FILTERS));
            let filters = page.filters.iter();
            let blocks = filters.flat_map(|filters| {
                let needle = Needle::of("trace_id", b"1/0");
                (0..3).map(move |group_ord| filters.block_of(group_ord, needle))
            });
            assert!(blocks.count() < 4);
        }
    }
}

/// Opens bytes as the entries of a page, and writes the result again.
fn open_entries(page: &mut PageRef, num_splits: u64, entries: &[u8]) {
    page.num_splits = num_splits;
    page.entries = PagePart {
        len: entries.len() as u64,
        checksum: checksum64(entries),
        ..page.entries
    };
    let Ok(splits) = page.open_entries(entries) else {
        return;
    };
    let filters = page.filters.as_ref();
    let _ = filters.and_then(|filters| PageFilters::of(filters, &splits));
    let before = PAGE
        .get(..page.entries.start as usize)
        .expect("a golden file");
    let _ = page.open(&[before, entries].concat(), Some(FILTERS));
    let splits = splits.into_iter().map(|split| PageSplit {
        entry: split.entry,
        head: None,
        totals: split.totals,
        filter: None,
    });
    let splits: Vec<PageSplit> = splits.collect();
    let written = write_page(splits.clone(), None).expect("what was read can be written");
    let (again, _) = written.page.open(&written.bytes, None).expect("and read");
    assert_eq!(again.len(), splits.len());
}

/// Checks changes to the filter of a split, and to the transposed ones of a page.
pub fn filters(bytes: &[u8]) {
    let content = FILTER.get(..FILTER.len() - 8).expect("a golden file");
    let mut changed = content.to_vec();
    edits::apply(&mut changed, bytes);
    for content in [&changed[..], bytes] {
        let sealed = [content, &checksum64(content).to_le_bytes()].concat();
        let Ok(filter) = SplitFilter::open(&sealed) else {
            continue;
        };
        let needle = Needle::of("trace_id", bytes);
        let _ = filter.may_hold(needle);
        let written = filter.write();
        assert_eq!(SplitFilter::open(&written).as_ref(), Ok(&filter));
        let mut filter = filter;
        filter.insert(needle);
        assert!(filter.may_hold(needle));
    }
    // Damage to a page's filters costs filters, but hides nothing.
    let mut changed = FILTERS.to_vec();
    edits::apply(&mut changed, bytes);
    let page = page();
    let (splits, _) = page.open(PAGE, Some(&changed)).expect("a sound page");
    for filter in splits.iter().filter_map(|split| split.filter.as_ref()) {
        let all = (1..=3).any(|number| {
            (0..300).all(|id| {
                let value = format!("{number}/{id}");
                filter.may_hold(Needle::of("trace_id", value.as_bytes()))
            })
        });
        assert!(all, "a filter that is read holds what it held");
    }
}
