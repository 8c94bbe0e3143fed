//! Batches of a leaf search: the splits to open together, to search together, and to search next.

use std::ops::Range;

use canter_split_format::SplitEntry;
use futures_util::future::{join, join_all};
use tantivy::Term;

use super::candidate::Candidate;
use super::reads::{all_terms, column_len, load_blocks};
use crate::SearchError;
use crate::request::SortOrder;
use crate::split::{HeadSource, OpenSplit, guard, guarded};

/// Splits with their numbers of hits, best first.
pub(super) type Counted<'c> = Vec<(&'c Candidate, u64)>;

/// Cuts `waiting` into the splits to search next and the rest. While fewer than `window` hits are
/// `found`, the batch holds enough splits for the missing hits; then the splits that may still have
/// a hit before `worst`, the time of the last hit found; none once the hits are certain.
pub(super) fn next_batch<'c>(
    waiting: Counted<'c>,
    window: usize,
    found: usize,
    worst: Option<i64>,
    direction: SortOrder,
) -> (Counted<'c>, Counted<'c>) {
    let mut missing = window.saturating_sub(found) as u64;
    waiting.into_iter().partition(|(candidate, count)| {
        if *count == 0 || window == 0 {
            false
        } else if missing > 0 {
            missing = missing.saturating_sub(*count);
            true
        } else {
            found >= window && candidate.may_beat(worst, direction)
        }
    })
}

/// Size of an open split besides its head: tantivy's readers of its fields.
const OPEN_SPLIT_BYTES: u64 = 24 << 10;

/// Cuts splits into groups whose heads are open together, within two fifths of `max_bytes`.
pub(super) fn groups_to_open<'s>(
    splits: &[&'s (u32, HeadSource)],
    max_bytes: u64,
) -> Vec<Vec<&'s (u32, HeadSource)>> {
    // The head is held twice: as it was read, and decoded.
    let bytes_of = |entry: &SplitEntry| entry.head_len.saturating_mul(2) + OPEN_SPLIT_BYTES;
    let sizes = splits.iter().map(|(_, source)| bytes_of(&source.entry));
    cut(sizes.collect(), max_bytes / 5 * 2)
        .into_iter()
        .filter_map(|range| splits.get(range).map(<[_]>::to_vec))
        .collect()
}

/// Cuts splits into batches whose needed bytes fit into three fifths of `max_bytes` together; a split that needs more
/// is a batch of its own.
pub(super) async fn batches_by_size<'b, 'c>(
    candidates: &'b [&'c Candidate],
    max_bytes: u64,
) -> Vec<&'b [&'c Candidate]> {
    let max_bytes = max_bytes / 5 * 3;
    let bodies = candidates
        .iter()
        .map(|candidate| body_len(&candidate.split.entry));
    if bodies.fold(0, u64::saturating_add) <= max_bytes {
        return vec![candidates];
    }
    join_all(
        candidates
            .iter()
            .map(|candidate| guarded(&candidate.split.entry.id, read_dictionary(candidate))),
    )
    .await;
    let sizes = candidates.iter().map(|candidate| {
        let size = guard(&candidate.split.entry.id, || Ok(needed_bytes(candidate)));
        // The search itself reports errors.
        size.unwrap_or_default()
    });
    cut(sizes.collect(), max_bytes)
        .into_iter()
        .filter_map(|range| candidates.get(range))
        .collect()
}

/// Returns whether the bodies of splits fit into three fifths of `max_bytes` together.
pub(super) fn are_few_bytes<'e>(
    entries: impl Iterator<Item = &'e SplitEntry>,
    max_bytes: u64,
) -> bool {
    entries.map(body_len).fold(0, u64::saturating_add) <= max_bytes / 5 * 3
}

/// Returns ranges of items whose sizes sum to at most `most`; a larger item is a range of its own.
fn cut(sizes: Vec<u64>, most: u64) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut sum = 0u64;
    for (ord, size) in sizes.into_iter().enumerate() {
        sum = sum.saturating_add(size);
        match ranges.last_mut() {
            Some(last) if sum <= most => last.end = ord + 1,
            _ => {
                ranges.push(ord..ord + 1);
                sum = size;
            }
        }
    }
    ranges
}

fn body_len(entry: &SplitEntry) -> u64 {
    entry.len.saturating_sub(entry.head_len)
}

/// Reads the entries of the query's terms in the dictionary. The warmup would read them first too, in a wave of its
/// own.
async fn read_dictionary(candidate: &Candidate) -> Result<(), SearchError> {
    let needs = &candidate.built.needs;
    if needs.has_patterns() {
        // For these clauses the warmup reads other parts of the dictionary; another wave would be one too many.
        return Ok(());
    }
    let reads = needs.terms.keys().map(async |term| {
        if let Ok(inverted_index) = candidate.split.segment().inverted_index(term.field()) {
            // A failed read fails again in the warmup, which reports it.
            let _ = inverted_index.doc_freq_async(term).await;
        }
    });
    let values = needs.automata.iter().map(async |(field, _, _)| {
        let _ = load_blocks(&candidate.split, &all_terms(*field)).await;
    });
    join(join_all(reads), join_all(values)).await;
    Ok(())
}

/// Maximum size per document of a posting list whose dictionary entry is not resident; and of its positions.
const POSTING_BYTES: u64 = 2;
const POSITIONS_BYTES: u64 = 6;

/// Estimates the number of bytes that the query reads from a split, from what is resident.
fn needed_bytes(candidate: &Candidate) -> u64 {
    let split = candidate.split.as_ref();
    let segment = split.segment();
    let needs = &candidate.built.needs;
    let num_docs = u64::from(segment.max_doc());
    let unknown = |positions: bool| match positions {
        true => num_docs.saturating_mul(POSITIONS_BYTES),
        false => num_docs.saturating_mul(POSTING_BYTES),
    };
    let terms = needs.terms.iter();
    let terms = terms.map(|(term, positions)| {
        postings_len(split, term, *positions).unwrap_or_else(|| unknown(*positions))
    });
    let ranges = needs
        .term_ranges
        .iter()
        .map(|range| unknown(range.positions));
    let automata = needs.automata.iter();
    let automata = automata.map(|(_, _, positions)| unknown(*positions));
    let columns = needs.fast_fields.iter();
    let columns = columns.map(|field| column_len(segment, field).unwrap_or_else(|| unknown(true)));
    let norms = needs.fieldnorms.iter().map(|_| num_docs);
    let all = terms
        .chain(ranges)
        .chain(automata)
        .chain(columns)
        .chain(norms);
    let num_bytes = all.fold(0, u64::saturating_add);
    // Misses here need no read: the warmup reads these ranges.
    split.body.take_wanted();
    num_bytes.min(body_len(&split.entry))
}

/// Returns `None` if the dictionary is not resident.
fn postings_len(split: &OpenSplit, term: &Term, positions: bool) -> Option<u64> {
    let info = split.terms.get(split.segment(), term).ok()?;
    let len = |range: Range<usize>| range.len() as u64;
    Some(info.map_or(0, |info| {
        let of_positions = match positions {
            true => len(info.positions_range),
            false => 0,
        };
        len(info.postings_range).saturating_add(of_positions)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_together_is_done_together() {
        // Number of splits in each batch.
        let check = |sizes: &[u64], most: u64, expected: &[usize]| {
            let batches = cut(sizes.to_vec(), most);
            assert!(batches.iter().map(|batch| batch.start).is_sorted());
            let lens: Vec<usize> = batches.iter().map(ExactSizeIterator::len).collect();
            assert_eq!(lens, expected);
        };
        check(&[], 5, &[]);
        check(&[1, 2, 3], 6, &[3]);
        check(&[1, 2, 3, 4], 6, &[3, 1]);
        check(&[9, 1, 9, 9], 6, &[1, 1, 1, 1]);
        check(&[0, 0, 7, 0], 6, &[2, 1, 1]);
        check(&[u64::MAX, u64::MAX], 6, &[1, 1]);
        check(&[3, 3, 3, 3], 0, &[1, 1, 1, 1]);
    }
}
