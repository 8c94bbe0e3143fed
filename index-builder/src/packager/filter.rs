//! Filter of a split: a set of terms of the fields for which it is worth its bytes. Table of the ids that clients gave to its
//! documents.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use canter_doc_mapper::DocMapper;
use canter_split_format::{FilterScope, Key, KeyHash, Needle, SplitFilter, write_keys};
use tantivy::schema::{Field, FieldEntry, IndexRecordOption, Type};
use tantivy::{DocSet, SegmentReader, TERMINATED};

use super::dictionaries::FieldWords;
use crate::BuildError;

/// Maximum length of a split whose filter includes all of its fields, if there is room.
const SMALL_SPLIT_NUM_BYTES: u64 = 1 << 20;
/// Maximum share of the filter in such a split, in thousandths.
const MOST_OF_SMALL_SPLIT: u64 = 30;
/// Maximum length of a split with only a few documents. Most of it are heads and names, and a query
/// without hits in it saves the whole head.
const TINY_SPLIT_NUM_BYTES: u64 = 64 << 10;
/// Maximum share of the filter in such a split, in thousandths.
const MOST_OF_TINY_SPLIT: u64 = 80;
/// Maximum share of the filter in a larger split, in thousandths. Its page has the filter once
/// more, transposed. The number of blocks is a power of two: a split of which most terms are of one
/// document has 12 bits per term only if this leaves room for them, and with 8 a lookup among a
/// thousand splits reads a dozen of them for nothing.
const MOST_OF_SPLIT: u64 = 20;
/// Maximum number of documents per term of a field in the filter of a larger split.
const MAX_DOCS_PER_TERM: u64 = 8;
/// Minimum number of terms of a field. The dictionaries of fields with fewer terms cost nothing.
const MIN_TERMS: u64 = 17;
/// Preferred number of bits per term.
const BITS_PER_TERM: u64 = 12;
/// Minimum number of bits per term: with fewer bits, one in twenty lookups is a false positive.
const MIN_BITS_PER_TERM: u64 = 8;

/// Field that can be in the filter.
struct Candidate {
    field: Field,
    name: String,
    num_terms: u64,
    is_marked: bool,
}

/// Returns the filter and the table of ids of a segment whose split has `num_bytes` bytes without them, as far as there are any.
pub(super) fn lookups_of(
    segment: &SegmentReader,
    rare: &[FieldWords],
    mapper: &DocMapper,
    num_bytes: u64,
) -> Result<(Option<SplitFilter>, Option<Vec<u8>>), BuildError> {
    let filter = filter_of(segment, rare, mapper, num_bytes)?;
    Ok((filter, keys_of(segment, mapper)?))
}

/// Returns the filter of a segment whose split has `num_bytes` bytes without it. Returns `None` if
/// there is nothing to filter by, or too little room.
fn filter_of(
    segment: &SegmentReader,
    rare: &[FieldWords],
    mapper: &DocMapper,
    num_bytes: u64,
) -> Result<Option<SplitFilter>, BuildError> {
    let mut chosen = candidates(segment, rare, mapper, num_bytes)?;
    // Fields that the config selects come first, then those with the fewest terms.
    chosen.sort_by_key(|candidate| (Reverse(candidate.is_marked), candidate.num_terms));
    let share = if num_bytes <= TINY_SPLIT_NUM_BYTES {
        MOST_OF_TINY_SPLIT
    } else if num_bytes <= SMALL_SPLIT_NUM_BYTES {
        MOST_OF_SMALL_SPLIT
    } else {
        MOST_OF_SPLIT
    };
    let most = num_bytes.saturating_mul(share) / 1_000;
    let log2_num_blocks = loop {
        if chosen.is_empty() {
            return Ok(None);
        }
        let num_terms = chosen.iter().map(|candidate| candidate.num_terms).sum();
        match log2_num_blocks(num_terms, most) {
            Some(log2) => break log2,
            None => drop(chosen.pop()),
        }
    };
    let scope = FilterScope {
        fields: chosen
            .iter()
            .map(|candidate| candidate.name.clone())
            .collect::<BTreeSet<_>>(),
        default_fields: mapper.default_search_fields().to_vec(),
    };
    let mut filter = SplitFilter::new(scope, log2_num_blocks);
    for candidate in &chosen {
        let inverted_index = segment.inverted_index(candidate.field)?;
        let mut stream = inverted_index
            .terms()
            .stream()
            .map_err(tantivy::TantivyError::from)?;
        while stream.advance() {
            filter.insert(Needle::of(&candidate.name, stream.key()));
        }
        for words in rare.iter().filter(|rare| rare.field == candidate.field) {
            for word in words.iter() {
                filter.insert(Needle::of(&candidate.name, word));
            }
        }
    }
    Ok(Some(filter))
}

fn candidates(
    segment: &SegmentReader,
    rare: &[FieldWords],
    mapper: &DocMapper,
    num_bytes: u64,
) -> Result<Vec<Candidate>, BuildError> {
    let marked = mapper.needle_fields();
    let mut candidates = Vec::new();
    for (field, entry) in segment.schema().fields() {
        if !entry.is_indexed() {
            continue;
        }
        let rare = rare.iter().filter(|rare| rare.field == field);
        let num_terms = segment.inverted_index(field)?.terms().num_terms() as u64
            + rare.map(FieldWords::len).sum::<u64>();
        let is_marked = marked.contains(&entry.name());
        let is_rich = num_bytes <= SMALL_SPLIT_NUM_BYTES
            || num_terms.saturating_mul(MAX_DOCS_PER_TERM) >= u64::from(segment.max_doc());
        if is_marked || (is_rich && num_terms >= MIN_TERMS && is_looked_up(entry)) {
            candidates.push(Candidate {
                field,
                name: entry.name().to_owned(),
                num_terms,
                is_marked,
            });
        }
    }
    Ok(candidates)
}

/// Returns whether searches look up single values of such a field, rather than ranges.
fn is_looked_up(entry: &FieldEntry) -> bool {
    matches!(
        entry.field_type().value_type(),
        Type::Str | Type::U64 | Type::I64 | Type::IpAddr | Type::Bytes | Type::Json
    )
}

/// Returns the logarithm of the smallest number of blocks that has the preferred bits per term and
/// fits into `most_num_bytes`, else of the largest number that fits, if it has the minimum bits per
/// term.
fn log2_num_blocks(num_terms: u64, most_num_bytes: u64) -> Option<u32> {
    let bits_of = |log2: u32| SplitFilter::num_bytes_of(log2).saturating_mul(8);
    let fits = |log2: &u32| SplitFilter::num_bytes_of(*log2) <= most_num_bytes;
    let has = |log2: u32, bits: u64| bits_of(log2) >= num_terms.saturating_mul(bits);
    let sizes = 0..=SplitFilter::MAX_LOG2_NUM_BLOCKS;
    let good = sizes
        .clone()
        .find(|log2| has(*log2, BITS_PER_TERM))
        .filter(fits);
    good.or_else(|| {
        sizes
            .rev()
            .find(fits)
            .filter(|log2| has(*log2, MIN_BITS_PER_TERM))
    })
}

/// Name of the column with the number of versions of a document's id; documents without it are the first version.
const VERSION: &str = "_version";
/// Name of the column with their sequence numbers.
const SEQ_NO: &str = "_seq_no";

/// Returns the table of the ids that clients gave to the documents of a segment. Returns `None` if there are none.
fn keys_of(segment: &SegmentReader, mapper: &DocMapper) -> Result<Option<Vec<u8>>, BuildError> {
    let Some(name) = mapper.id_field() else {
        return Ok(None);
    };
    let inverted_index = segment.inverted_index(segment.schema().get_field(name)?)?;
    let versions = segment.fast_fields().column_opt::<u64>(VERSION)?;
    let seq_nos = segment.fast_fields().column_opt::<u64>(SEQ_NO)?;
    let mut keys = Vec::new();
    let mut stream = inverted_index
        .terms()
        .stream()
        .map_err(tantivy::TantivyError::from)?;
    while stream.advance() {
        let id = std::str::from_utf8(stream.key())
            .map_err(|error| BuildError::internal(format!("an id of a document: {error}")))?;
        let hash = KeyHash::of(id);
        let mut docs = inverted_index
            .read_postings_from_terminfo(stream.value(), IndexRecordOption::Basic)
            .map_err(tantivy::TantivyError::from)?;
        let mut doc = docs.doc();
        while doc != TERMINATED {
            let version = versions.as_ref().and_then(|column| column.first(doc));
            keys.push(Key {
                hash,
                doc,
                version: version.unwrap_or(1),
                seq_no: seq_nos.as_ref().and_then(|column| column.first(doc)),
            });
            doc = docs.advance();
        }
    }
    Ok((!keys.is_empty()).then(|| write_keys(keys)))
}
