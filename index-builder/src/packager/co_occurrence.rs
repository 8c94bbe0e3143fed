//! Table of the frequent terms of a split that occur together in documents.

use std::cmp::Reverse;
use std::ops::{Bound, Range};

use canter_split_format::{CoOccurrence, TermPlace};
use tantivy::postings::{SegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, HasLen, SegmentReader, TERMINATED};

use super::dictionaries::{CommonTerm, SMALL_DICTIONARY_NUM_BYTES, least_docs_of_common};

/// Maximum number of terms in the table, so that the set of terms of a document fits into one
/// number. The square root of the number of documents is another limit, which keeps the heads of
/// short splits short: a table has a bit for each pair of terms.
const MAX_TERMS: usize = u128::BITS as usize;

/// Minimum number of documents of a split with a table. The lists of shorter splits are short, and
/// their heads are read by the hundred.
const MIN_DOCS: DocId = 1_024;

/// Number of documents that are processed together.
const WINDOW_LEN: DocId = 8_192;

/// Number of sets of terms that are cached, so that a line of a known kind takes no time.
const NUM_KNOWN_SETS: usize = 1_024;

/// Maximum number of frequent terms of a short dictionary that counts as one of kinds (levels,
/// services), which people combine with words. A dictionary with more of them contains numbers or
/// names, each of which occurs together with every word.
const MAX_KINDS: usize = 32;

/// Frequent term with its documents.
struct FrequentTerm {
    place: TermPlace,
    /// Priority if there are too many terms.
    rank: Rank,
    postings: SegmentPostings,
}

/// Priority of a term: kinds and words come before terms that occur together with all of them
/// anyway.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Kind,
    Word,
    Other,
}

/// Computes which pairs of frequent terms in a segment occur together in a document. The candidates
/// are `common` and the terms of dictionaries in the head. Returns `None` if all pairs do.
///
/// # Errors
/// The segment cannot be read.
pub(super) fn co_occurrence_of(
    segment: &SegmentReader,
    common: &[CommonTerm],
) -> tantivy::Result<Option<CoOccurrence>> {
    if segment.max_doc() < MIN_DOCS {
        return Ok(None);
    }
    let mut terms = frequent_terms(segment, common)?;
    let partners = partners_of(&mut terms, segment.max_doc());
    let meets_all = |met: &u128| met.count_ones() as usize == partners.len();
    if partners.iter().all(meets_all) {
        return Ok(None);
    }
    let places = terms.iter().map(|term| term.place).collect();
    Ok(Some(CoOccurrence::of_terms(places, |high, low| {
        partners[high] & (1 << low) != 0
    })))
}

/// Returns the most frequent terms of each rank in the order of their places. Terms that all
/// documents have are left out, because they occur together with everything.
fn frequent_terms(
    segment: &SegmentReader,
    common: &[CommonTerm],
) -> tantivy::Result<Vec<FrequentTerm>> {
    let max_doc = segment.max_doc();
    let frequent: Range<u32> = least_docs_of_common(max_doc)..max_doc;
    let mut terms = Vec::new();
    for (field, entry) in segment.schema().fields() {
        if !entry.is_indexed() {
            continue;
        }
        let inverted_index = segment.inverted_index(field)?;
        let dictionary = inverted_index.terms();
        let first_of_field = terms.len();
        let mut add = |term_ord, rank, info: &TermInfo| -> tantivy::Result<()> {
            let postings =
                inverted_index.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
            if frequent.contains(&postings.doc_freq()) {
                let field = field.field_id();
                terms.push(FrequentTerm {
                    place: TermPlace { field, term_ord },
                    rank,
                    postings,
                });
            }
            Ok(())
        };
        for common in common.iter().filter(|common| common.field == field) {
            if let Some(info) = dictionary.get(&common.term)? {
                add(common.term_ord, Rank::Word, &info)?;
            }
        }
        let whole: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Unbounded, Bound::Unbounded);
        if dictionary.file_slice_for_range(whole, None).len() <= SMALL_DICTIONARY_NUM_BYTES {
            let mut stream = dictionary.stream()?;
            let mut ord = 0;
            while stream.advance() {
                if frequent.contains(&stream.value().doc_freq) {
                    add(ord, Rank::Kind, stream.value())?;
                }
                ord += 1;
            }
        }
        let of_field = terms.get_mut(first_of_field..).unwrap_or_default();
        let kinds = of_field.iter().filter(|term| term.rank == Rank::Kind);
        if kinds.count() > MAX_KINDS {
            let kinds = of_field.iter_mut().filter(|term| term.rank == Rank::Kind);
            kinds.for_each(|term| term.rank = Rank::Other);
        }
    }
    // A dictionary that became small when it was rewritten has its common terms twice.
    terms.sort_by_key(|term| (term.place, term.rank));
    terms.dedup_by_key(|term| term.place);
    terms.sort_by_key(|term| (term.rank, Reverse(term.postings.doc_freq()), term.place));
    terms.truncate(MAX_TERMS.min(max_doc.isqrt() as usize));
    terms.sort_by_key(|term| term.place);
    Ok(terms)
}

/// Returns the set of terms that occur together with each term, including the term itself if it
/// occurs at all.
fn partners_of(terms: &mut [FrequentTerm], max_doc: DocId) -> Vec<u128> {
    let mut partners = vec![0u128; terms.len()];
    let mut known = vec![0u128; NUM_KNOWN_SETS];
    let mut window = vec![0u128; WINDOW_LEN as usize];
    let mut first = 0;
    while first < max_doc {
        let end = first.saturating_add(WINDOW_LEN).min(max_doc);
        window.fill(0);
        for (nth, term) in terms.iter_mut().enumerate() {
            let mut doc = term.postings.doc();
            while doc < end {
                window[(doc - first) as usize] |= 1 << nth;
                doc = term.postings.advance();
            }
            debug_assert!(doc == TERMINATED || doc >= end);
        }
        for set in window.iter().copied() {
            let low = (set ^ (set >> 64)) as u64;
            let place = low.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - NUM_KNOWN_SETS.ilog2());
            let known = &mut known[place as usize];
            if *known == set {
                continue;
            }
            *known = set;
            let mut left = set;
            while left != 0 {
                partners[left.trailing_zeros() as usize] |= set;
                left &= left - 1;
            }
        }
        first = end;
    }
    partners
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tantivy::directory::RamDirectory;
    use tantivy::schema::{Field, INDEXED, STRING, Schema, TEXT};
    use tantivy::{Index, TantivyDocument, Term};

    use super::*;

    /// Returns a segment of documents with a word of their kind, one that every second document
    /// has, and one that all have.
    fn segment(num_docs: u32) -> SegmentReader {
        let mut schema = Schema::builder();
        let body = schema.add_text_field("body", TEXT);
        let level = schema.add_text_field("level", STRING);
        let mut writer = Index::builder()
            .schema(schema.build())
            .single_segment_index_writer::<TantivyDocument>(RamDirectory::create(), 50_000_000)
            .unwrap();
        for nth in 0..num_docs {
            let mut document = TantivyDocument::default();
            let second = if nth % 2 == 0 { "even" } else { "odd" };
            document.add_text(body, format!("line kind{} {second}", nth % 6));
            document.add_text(level, if nth % 3 == 0 { "ERROR" } else { "INFO" });
            writer.add_document(document).unwrap();
        }
        let index = writer.finalize().unwrap();
        let reader = index.reader().unwrap();
        reader.searcher().segment_reader(0).clone()
    }

    #[test]
    fn two_terms_meet_if_a_document_has_both() {
        // This is more than one window of documents.
        let segment = segment(20_000);
        let found = co_occurrence_of(&segment, &[]).unwrap().unwrap();
        let place = |field: u32, term: &str| {
            let inverted_index = segment.inverted_index(Field::from_field_id(field)).unwrap();
            let term_ord = inverted_index.terms().term_ord(term).unwrap().unwrap();
            TermPlace { field, term_ord }
        };
        let body: Vec<TermPlace> = (0..6)
            .map(|kind| place(0, &format!("kind{kind}")))
            .collect();
        let (even, odd) = (place(0, "even"), place(0, "odd"));
        let (error, info) = (place(1, "ERROR"), place(1, "INFO"));
        for (kind, one) in body.iter().enumerate() {
            for other in body.iter().filter(|other| *other != one) {
                assert!(found.never_meet(*one, *other));
            }
            assert_eq!(found.never_meet(*one, even), kind % 2 != 0);
            assert_eq!(found.never_meet(*one, odd), kind % 2 == 0);
            assert_eq!(found.never_meet(*one, error), kind % 3 != 0);
            assert_eq!(found.never_meet(*one, info), kind % 3 == 0);
        }
        assert!(found.never_meet(even, odd));
        assert!(!found.never_meet(even, error));
        // The term that all documents have is not in the table.
        let all = place(0, "line").term_ord;
        let terms: BTreeSet<u64> = found.terms_of(0).collect();
        assert!(terms.len() == 8 && !terms.contains(&all));
    }

    #[test]
    fn a_common_term_of_a_dictionary_that_became_small_is_there_once() {
        let segment = segment(20_000);
        let field = Field::from_field_id(0);
        let inverted_index = segment.inverted_index(field).unwrap();
        let term_ord = inverted_index.terms().term_ord("kind3").unwrap().unwrap();
        let common = CommonTerm {
            field,
            term_ord,
            term: b"kind3".to_vec(),
        };
        let found = co_occurrence_of(&segment, &[common]).unwrap();
        assert_eq!(found, co_occurrence_of(&segment, &[]).unwrap());
    }

    /// Each of a hundred tenants has one in a hundred lines and occurs together with every word.
    /// Less frequent words say more.
    #[test]
    fn many_values_of_a_field_do_not_displace_words_and_levels() {
        let mut schema = Schema::builder();
        let body = schema.add_text_field("body", TEXT);
        let level = schema.add_text_field("level", STRING);
        let tenant = schema.add_u64_field("tenant", INDEXED);
        let mut writer = Index::builder()
            .schema(schema.build())
            .single_segment_index_writer::<TantivyDocument>(RamDirectory::create(), 50_000_000)
            .unwrap();
        // There are enough different words for a long dictionary.
        for nth in 0..40_000_u64 {
            let mut document = TantivyDocument::default();
            let word = match nth % 200 {
                0 => "exception",
                1 => "terminating",
                _ => "block",
            };
            document.add_text(body, format!("{word} id{}", nth.wrapping_mul(0x9e37_79b9)));
            document.add_text(level, if nth % 400 == 1 { "ERROR" } else { "INFO" });
            document.add_u64(tenant, nth / 7 % 150);
            writer.add_document(document).unwrap();
        }
        let index = writer.finalize().unwrap();
        let reader = index.reader().unwrap();
        let segment = reader.searcher().segment_reader(0).clone();
        let place = |field: Field, term: &Term| {
            let inverted_index = segment.inverted_index(field).unwrap();
            let term_ord = inverted_index
                .terms()
                .term_ord(term.serialized_value_bytes());
            (field.field_id(), term_ord.unwrap().unwrap())
        };
        let word = |text: &str| {
            let (field, term_ord) = place(body, &Term::from_field_text(body, text));
            TermPlace { field, term_ord }
        };
        let common: Vec<CommonTerm> = ["block", "exception", "terminating"]
            .map(|text| CommonTerm {
                field: body,
                term_ord: word(text).term_ord,
                term: text.as_bytes().to_vec(),
            })
            .into();
        let found = co_occurrence_of(&segment, &common).unwrap().unwrap();
        assert!(found.never_meet(word("exception"), word("block")));
        assert!(found.never_meet(word("exception"), word("terminating")));
        let (field, term_ord) = place(level, &Term::from_field_text(level, "ERROR"));
        let error = TermPlace { field, term_ord };
        assert!(found.never_meet(error, word("exception")));
        assert!(!found.never_meet(error, word("terminating")));
        assert_eq!(found.terms_of(tenant.field_id()).count(), MAX_TERMS - 5);
    }

    #[test]
    fn nothing_is_said_where_all_meet_or_nothing_is_frequent() {
        assert!(co_occurrence_of(&segment(1), &[]).unwrap().is_none());
        let short = segment(MIN_DOCS - 1);
        assert!(co_occurrence_of(&short, &[]).unwrap().is_none());
        assert!(co_occurrence_of(&segment(0), &[]).unwrap().is_none());
    }
}
