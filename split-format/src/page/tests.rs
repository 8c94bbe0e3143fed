//! Pages: round trips, reading of single parts, and errors for damage.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::{MAX_PACKED_HEAD, PageSplit, write_page};
use crate::{
    FilterScope, Head, IDENTITIES_FILE, ManifestFile, Needle, PageFilters, Rollup, SplitEntry,
    SplitFilter, SplitMetadata, Summaries, TimeRange, checksum64, write_split,
};

fn entry(number: u128, head: &[u8], time_range: Option<(i64, i64)>) -> SplitEntry {
    SplitEntry {
        id: format!("{number:032x}"),
        len: 1_000 + head.len() as u64,
        head_len: head.len() as u64,
        head_checksum: checksum64(head),
        head_offset: None,
        num_docs: 7,
        raw_num_bytes: 70,
        time_range: time_range.map(|(start_ns, end_ns)| TimeRange { start_ns, end_ns }),
        tags: [("tenant".to_owned(), [format!("t{}", number % 3)].into())].into(),
        num_merge_ops: 0,
        deletes: None,
    }
}

fn split(number: u128, head: Vec<u8>, time_range: Option<(i64, i64)>) -> PageSplit {
    let levels = [("info".to_owned(), 5), ("warn".to_owned(), 2)];
    PageSplit {
        entry: entry(number, &head, time_range),
        totals: [("level".to_owned(), levels.into())].into(),
        head: Some(head),
        filter: None,
    }
}

#[test]
fn a_page_says_what_its_splits_say_together() {
    let splits = vec![
        split(9, vec![1; 30], Some((50, 90))),
        split(5, vec![2; 20], Some((-5, 60))),
    ];
    let written = write_page(splits.clone(), None).unwrap();
    let page = &written.page;
    assert_eq!(page.object(), format!("pages/{}.page", page.id));
    assert_eq!(page.object_len(), written.bytes.len() as u64);
    let time_range = page.time_range.map(|range| (range.start_ns, range.end_ns));
    assert_eq!(time_range, Some((-5, 90)));
    assert_eq!(
        (page.num_splits, page.num_docs, page.raw_num_bytes),
        (2, 14, 140)
    );
    let tenants: Vec<&str> = page.tags["tenant"].iter().map(String::as_str).collect();
    assert_eq!(tenants, ["t0", "t2"]);

    let (start, end) = (page.entries.start as usize, page.entries.end() as usize);
    let entries = page.open_entries(&written.bytes[start..end]).unwrap();
    assert_eq!(entries[0].entry, splits[1].entry, "the older one first");
    let head = entries[1].head.as_ref().unwrap();
    assert_eq!(head.object, page.object());
    let at = head.offset as usize;
    assert_eq!(&written.bytes[at..at + 30], &[1; 30]);
    assert_eq!(entries[1].totals, splits[0].totals);
}

#[test]
fn a_long_head_stays_with_its_split() {
    let long = vec![3; MAX_PACKED_HEAD as usize + 1];
    let written = write_page(vec![split(1, long, None), split(2, vec![4], None)], None).unwrap();
    assert_eq!(written.page.heads_len, 1);
    let (splits, _) = written.page.open(&written.bytes, None).unwrap();
    assert_eq!(splits[0].head, None);
    assert_eq!(splits[1].head, Some(vec![4]));
    assert_eq!(written.page.time_range, None, "any time, if one has none");
}

#[test]
fn deleted_documents_are_counted_and_referred_to() {
    let few = crate::DeletedDocs::of_sorted([1, 5]).write().0;
    let many = crate::DeletedDocs::of_sorted((0..6_000).filter(|doc| doc % 3 != 1))
        .write()
        .0;
    assert_eq!(
        (few.inlined.is_some(), many.inlined.is_some()),
        (true, false)
    );
    let mut one = split(1, vec![3], Some((1, 2)));
    one.entry.num_merge_ops = 3;
    one.entry.deletes = Some(few);
    let mut other = split(2, vec![4], Some((1, 3)));
    other.entry.num_docs = 6_000;
    other.entry.deletes = Some(many);
    let written = write_page(vec![one.clone(), other.clone()], None).unwrap();
    assert_eq!(
        (written.page.num_docs, written.page.num_deleted),
        (6_007, 4_002)
    );
    assert_eq!(
        written.page.open(&written.bytes, None).unwrap().0,
        [one.clone(), other]
    );

    let mut file = ManifestFile::new(crate::Manifest::new(json!({"version": "0.9"})));
    file.pages = vec![written.page];
    file.add_split(one.entry.clone(), Vec::new());
    assert_eq!(file.num_docs(), 2_005 + 5);
    let reread = ManifestFile::from_bytes(&file.to_bytes().unwrap()).unwrap();
    assert_eq!(reread.manifest.splits[0].deletes, one.entry.deletes);

    let mut file = ManifestFile::new(crate::Manifest::new(json!({"version": "0.9"})));
    file.add_split(one.entry, Vec::new());
    let bytes = file.to_bytes().unwrap();
    assert_eq!(
        bytes[8], 2,
        "readers of the first version would count what is deleted"
    );
}

#[test]
fn a_tag_field_that_one_split_does_not_list_may_hold_anything() {
    let mut other = split(2, vec![4], None);
    other.entry.tags.clear();
    let page = write_page(vec![split(1, vec![3], None), other], None)
        .unwrap()
        .page;
    assert_eq!(page.tags, BTreeMap::new());
}

#[test]
fn a_page_is_found_again_in_a_manifest() {
    let page = write_page(vec![split(1, vec![3], Some((1, 2)))], None)
        .unwrap()
        .page;
    let older = write_page(vec![split(2, vec![3], Some((0, 1)))], None)
        .unwrap()
        .page;
    let mut file = ManifestFile::new(crate::Manifest::new(json!({"version": "0.9"})));
    file.pages = vec![page.clone(), older.clone()];
    file.ledger.recent.insert(77);
    file.add_split(entry(3, &[8; 9], Some((5, 6))), vec![8; 9]);
    let bytes = file.to_bytes().unwrap();
    let reread = ManifestFile::from_bytes(&bytes).unwrap();
    assert_eq!(reread.pages, [older, page]);
    assert_eq!(reread.ledger, file.ledger);
    assert_eq!(reread.head(&format!("{:032x}", 3)), Some([8; 9].as_slice()));
    assert_eq!((reread.num_splits(), reread.num_docs()), (3, 21));
    assert_eq!(reread.to_bytes().unwrap(), bytes);
}

fn head_with_rollup(times: &[i64], levels: &[usize]) -> (SplitEntry, Vec<u8>, Rollup) {
    let mut rollup = Rollup::over(times).unwrap();
    let keys = vec!["error".to_owned(), "info".to_owned()];
    rollup.add_field("level", keys, levels.iter().map(|level| Some(*level)));
    let metadata = SplitMetadata {
        num_docs: times.len() as u32,
        raw_num_bytes: 1,
        time_range: None,
        sort_field: None,
        identities: None,
        index_config: json!({}),
    };
    let files: [(&str, &[u8]); 1] = [("meta.json", b"{}")];
    assert_ne!(files[0].0, IDENTITIES_FILE);
    let written = write_split(
        metadata,
        files.to_vec(),
        Vec::new(),
        Summaries {
            rollup: Some(rollup.clone()),
            ..Summaries::default()
        },
    )
    .unwrap();
    let head = written.bytes[..written.head_len as usize].to_vec();
    let mut entry = entry(1, &head, None);
    entry.id = written.id;
    (entry, head, rollup)
}

#[test]
fn totals_are_those_of_the_head() {
    let (entry, head, rollup) = head_with_rollup(&[0, 5, 9], &[1, 1, 0]);
    let (split, found) = PageSplit::of_head(entry.clone(), head.clone()).unwrap();
    assert_eq!(found, Some(rollup.clone()));
    assert_eq!(split.totals["level"]["info"], 2);
    assert_eq!(split.totals["level"]["error"], 1);
    let written = write_page(vec![split], Some(&rollup)).unwrap();
    let (splits, summary) = written.page.open(&written.bytes, None).unwrap();
    assert_eq!(summary, Some(rollup));
    assert!(Head::open(splits[0].head.as_deref().unwrap()).is_ok());

    let other = PageSplit::of_head(entry, head[1..].to_vec());
    assert!(other.unwrap_err().to_string().contains("is another"));
}

/// Returns a split whose filter contains these numbers as terms of the field `id`.
fn with_filter(number: u128, log2_num_blocks: u32, fields: &[&str], ids: &[u64]) -> PageSplit {
    let mut filter = SplitFilter::new(
        FilterScope {
            fields: fields.iter().map(|field| (*field).to_owned()).collect(),
            default_fields: Vec::new(),
        },
        log2_num_blocks,
    );
    for id in ids {
        filter.insert(Needle::of("id", &id.to_be_bytes()));
    }
    PageSplit {
        filter: Some(filter),
        ..split(number, vec![9; 5], Some((number as i64, 5_000)))
    }
}

/// Returns for each split whether it may contain the term, according to the object with the page's
/// filters.
fn asked(written: &super::WrittenPage, needle: Needle) -> Vec<Option<bool>> {
    let page = &written.page;
    let (start, end) = (page.entries.start as usize, page.entries.end() as usize);
    let splits = page.open_entries(&written.bytes[start..end]).unwrap();
    let refers = page.filters.as_ref().unwrap();
    let bytes = written.filters.as_ref().unwrap();
    assert_eq!(refers.object_len(), bytes.len() as u64);
    let filters = PageFilters::of(refers, &splits).unwrap();
    let ask = |split: &super::PagedSplit| {
        let place = split.filter.as_ref()?;
        let block = refers.block_of(place.group_ord, needle).unwrap();
        let end = block.start + block.len;
        let bytes = &bytes[block.start as usize..end as usize];
        let block = filters.open_block(&block, bytes).unwrap();
        Some(block.may_hold(place.column, needle))
    };
    splits.iter().map(ask).collect()
}

#[test]
fn a_page_says_which_splits_may_hold_a_term() {
    let mut splits: Vec<PageSplit> = (1..=20)
        .map(|number| with_filter(number, 3, &["id"], &[number as u64, 100]))
        .collect();
    splits.push(split(21, vec![9; 5], Some((21, 5_000))));
    let written = write_page(splits, None).unwrap();
    let object = written.page.filters.as_ref().unwrap().object();
    assert!(
        object.starts_with("filters/") && object.ends_with(".bits"),
        "{object}"
    );
    let of = |id: u64| asked(&written, Needle::of("id", &id.to_be_bytes()));
    let mut expect = vec![Some(false); 20];
    expect.push(None);
    assert_eq!(of(500), expect);
    expect[6] = Some(true);
    assert_eq!(of(7), expect);
    expect[..20].fill(Some(true));
    assert_eq!(of(100), expect);
    let group = &written.page.filters.as_ref().unwrap().groups[0];
    assert!(group.may_cover("id") && (0..9).any(|n| !group.may_cover(&n.to_string())));
}

#[test]
fn filters_of_few_or_small_splits_stand_with_the_next_larger_ones() {
    let of = |log2: &[u32]| {
        let splits = (1..).zip(log2);
        let splits = splits.map(|(number, log2)| with_filter(number, *log2, &["id"], &[1]));
        let written = write_page(splits.collect(), None).unwrap();
        let groups = &written.page.filters.as_ref().unwrap().groups;
        let groups = groups.iter();
        groups
            .map(|group| (group.log2_num_blocks, group.num_splits))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&[3, 4, 4, 5]), [(5, 4)]);
    assert_eq!(of(&[3, 5]), [(3, 1), (5, 1)]);
    assert_eq!(of(&[10, 10, 10, 11]), [(10, 3), (11, 1)]);
}

#[test]
fn no_damage_of_a_block_goes_unseen() {
    let splits = [1, 2].map(|number| with_filter(number, 1, &["id"], &[number as u64]));
    let written = write_page(splits.to_vec(), None).unwrap();
    let page = &written.page;
    let (start, end) = (page.entries.start as usize, page.entries.end() as usize);
    let entries = page.open_entries(&written.bytes[start..end]).unwrap();
    let refers = page.filters.as_ref().unwrap();
    let filters = PageFilters::of(refers, &entries).unwrap();
    let bytes = written.filters.as_ref().unwrap();
    let places: Vec<_> = (0..40_u64)
        .map(|id| {
            refers
                .block_of(0, Needle::of("id", &id.to_be_bytes()))
                .unwrap()
        })
        .collect();
    let cut = |place: &crate::BlockPlace| {
        bytes[place.start as usize..(place.start + place.len) as usize].to_vec()
    };
    for place in &places {
        let sound = cut(place);
        filters.open_block(place, &sound).unwrap();
        for at in (0..sound.len()).step_by(7) {
            let mut damaged = sound.clone();
            damaged[at] ^= 4;
            assert!(filters.open_block(place, &damaged).is_err());
            assert!(filters.open_block(place, &sound[..at]).is_err());
        }
        for other in places.iter().filter(|other| *other != place) {
            assert!(
                filters.open_block(place, &cut(other)).is_err(),
                "another block"
            );
        }
    }
    // The same filters for other splits.
    let others = [3, 4].map(|number| with_filter(number, 1, &["id"], &[number as u64 - 2]));
    let others = write_page(others.to_vec(), None).unwrap().page;
    let mut moved = entries.clone();
    moved
        .iter_mut()
        .for_each(|split| split.entry.id = format!("{:032x}", 99));
    let moved = PageFilters::of(refers, &moved).unwrap();
    assert!(moved.open_block(&places[0], &cut(&places[0])).is_err());
    assert_ne!(others.filters.unwrap().id, refers.id);
    assert!(PageFilters::of(refers, &entries[..1]).is_none());

    // Reading all filters omits a damaged one, and nothing else.
    let mut damaged = bytes.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let (found, _) = page.open(&written.bytes, Some(&damaged)).unwrap();
    assert!(found.iter().all(|split| split.filter.is_none()));
    let (found, _) = page.open(&written.bytes, Some(bytes)).unwrap();
    assert_eq!(found, splits);
}

proptest! {
    #[test]
    fn what_goes_in_comes_out(
        lens in prop::collection::vec((0_usize..40, prop::option::of((any::<i64>(), any::<i64>()))), 0..12),
    ) {
        let numbered = lens.into_iter().zip(1..);
        let splits: Vec<PageSplit> = numbered.map(|((len, times), number)| {
            let times = times.map(|(one, other)| (one.min(other), one.max(other)));
            split(number, vec![7; len], times)
        }).collect();
        let written = write_page(splits.clone(), None).unwrap();
        let (mut found, summary) = written.page.open(&written.bytes, None).unwrap();
        found.sort_by(|left, right| left.entry.id.cmp(&right.entry.id));
        prop_assert_eq!(found, splits);
        prop_assert_eq!(summary, None);
    }

    /// A page's filters give the same answers as the splits' filters, and round trips are exact.
    #[test]
    fn transposing_changes_no_filter(
        filters in prop::collection::vec(prop::option::of((0_u32..5, any::<bool>(), prop::collection::vec(0_u64..60, 0..40))), 1..24),
    ) {
        let numbered = (1..).zip(&filters);
        let splits: Vec<PageSplit> = numbered.map(|(number, filter)| match filter {
            None => split(number, vec![9; 5], Some((number as i64, 5_000))),
            Some((log2, is_wide, ids)) => {
                let fields: &[&str] = if *is_wide { &["id", "body"] } else { &["id"] };
                with_filter(number, *log2, fields, ids)
            }
        }).collect();
        let written = write_page(splits.clone(), None).unwrap();
        prop_assert_eq!(written.filters.is_some(), filters.iter().any(Option::is_some));
        let (found, _) = written.page.open(&written.bytes, written.filters.as_deref()).unwrap();
        if written.filters.is_some() {
            for id in 0..60_u64 {
                let needle = Needle::of("id", &id.to_be_bytes());
                let said = asked(&written, needle);
                for ((said, split), ids) in said.iter().zip(&splits).zip(&filters) {
                    let alone = split.filter.as_ref().map(|filter| filter.may_hold(needle));
                    prop_assert_eq!(*said, alone);
                    let is_there = ids.as_ref().is_some_and(|(_, _, ids)| ids.contains(&id));
                    prop_assert!(!is_there || *said == Some(true));
                }
            }
        }
        for (found, split) in found.iter().zip(&splits) {
            let scope = |split: &PageSplit| split.filter.as_ref().map(|filter| filter.scope().clone());
            prop_assert_eq!(scope(found), scope(split));
        }
        let again = write_page(found, None).unwrap();
        prop_assert!(again.filters == written.filters, "rewriting a page changes its filters");
    }

    /// Covers invalid contents under valid checksums.
    #[test]
    fn any_bytes_are_a_reference_and_entries_or_an_error(
        reference in prop::collection::vec(any::<u8>(), 0..80),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        needle in any::<u64>(),
    ) {
        let needle = Needle::of("id", &needle.to_be_bytes());
        let splits = [1, 2, 3].map(|number| with_filter(number, number as u32, &["id"], &[7]));
        let written = write_page(splits.to_vec(), None).unwrap();
        let page = &written.page;
        let mut out = crate::codec::Writer::default();
        page.write(&mut out).unwrap();
        let mut sound = out.into_bytes();
        let mut entries = written.bytes[page.entries.start as usize..page.entries.end() as usize].to_vec();
        for (at, byte) in &flips {
            let (at_reference, at_entry) = (at.index(sound.len()), at.index(entries.len()));
            sound[at_reference] = *byte;
            entries[at_entry] = *byte;
        }
        for bytes in [sound, reference] {
            let read = crate::PageRef::read(&mut crate::codec::Reader::new("test", &bytes));
            let Ok(read) = read else { continue };
            let opened = super::entries::open(&entries, &read);
            let Some(filters) = &read.filters else { continue };
            prop_assert!(filters.object_len() > 0);
            for group_ord in 0..20 {
                let _ = filters.block_of(group_ord, needle);
            }
            let Ok(splits) = opened else { continue };
            if let Some(all) = PageFilters::of(filters, &splits)
                && let Some(block) = filters.block_of(0, needle)
            {
                let _ = all.open_block(&block, &entries);
                let found = all.open_all(&splits, written.filters.as_ref().unwrap());
                prop_assert_eq!(found.len(), splits.len());
            }
        }
    }

    /// A changed or missing byte of a page is always an error, except that a damaged head is found
    /// by its own checksum.
    #[test]
    fn damage_is_an_error_or_costs_a_head(at in any::<prop::sample::Index>(), flip in 1_u8.., cut in any::<bool>()) {
        let splits = vec![split(1, vec![3; 50], Some((1, 2))), split(2, vec![4; 50], None)];
        let written = write_page(splits, None).unwrap();
        let (whole, _) = written.page.open(&written.bytes, None).unwrap();
        let mut bytes = written.bytes.clone();
        let at = at.index(bytes.len());
        match cut {
            true => bytes.truncate(at),
            false => bytes[at] ^= flip,
        }
        if let Ok((found, _)) = written.page.open(&bytes, None) {
            prop_assert!(at as u64 >= written.page.entries.end());
            for (found, whole) in found.iter().zip(&whole) {
                prop_assert_eq!(&found.entry, &whole.entry);
                prop_assert!(found.head.is_none() || found.head == whole.head);
            }
            prop_assert!(found.iter().any(|split| split.head.is_none()));
        }
    }

    #[test]
    fn a_sum_of_rollups_counts_what_they_count(
        parts in prop::collection::vec(
            (0_i64..4_000_000, 1_i64..2_000_000, prop::collection::vec((0_i64..1_000, 0_usize..2), 1..40)),
            1..6,
        ),
    ) {
        let mut all: Vec<(i64, usize)> = Vec::new();
        let mut rollups = Vec::new();
        for (start_s, step_ms, docs) in parts {
            let mut docs: Vec<(i64, usize)> = docs
                .into_iter()
                .map(|(nth, level)| ((start_s * 1_000 + nth * step_ms) * 1_000_000, level))
                .collect();
            docs.sort_unstable();
            let (times, levels): (Vec<i64>, Vec<usize>) = docs.iter().copied().unzip();
            rollups.push(head_with_rollup(&times, &levels).2);
            all.extend(docs);
        }
        let sum = Rollup::sum(&rollups).unwrap();
        let field = sum.field("level").unwrap();
        for (slot, num_docs) in sum.num_docs().iter().enumerate() {
            let bucket = sum.first_bucket() + slot as i64;
            let inside = |(time, _): &&(i64, usize)| time.div_euclid(sum.width_ns()) == bucket;
            prop_assert_eq!(all.iter().filter(inside).count() as u32, *num_docs);
            let errors = all.iter().filter(inside).filter(|(_, level)| *level == 0).count();
            prop_assert_eq!(field.counts_in(slot..slot + 1)[0], errors as u64);
        }
        let num_docs: u32 = sum.num_docs().iter().sum();
        prop_assert_eq!(num_docs as usize, all.len());
        prop_assert!(sum.num_docs().len() <= 1_024);
    }
}
