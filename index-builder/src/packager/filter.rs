//! The split's filter: which terms it may hold, for the fields where that is worth its bytes.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use canter_doc_mapper::DocMapper;
use canter_split_format::{FilterScope, Needle, SplitFilter};
use tantivy::SegmentReader;
use tantivy::schema::{Field, FieldEntry, Type};

use crate::BuildError;

/// A split of at most so many bytes has all of its fields in its filter, if there is room.
const SMALL_SPLIT_NUM_BYTES: u64 = 1 << 20;
/// In thousandths: what a filter takes of such a split at most.
const MOST_OF_SMALL_SPLIT: u64 = 30;
/// A split of at most so many bytes holds a handful of documents: most of it are heads and names, and what a query that
/// finds nothing in it saves is its whole head.
const TINY_SPLIT_NUM_BYTES: u64 = 64 << 10;
/// What a filter takes of such a split at most.
const MOST_OF_TINY_SPLIT: u64 = 80;
/// The same of a larger one. Its page has the filter once more, transposed.
const MOST_OF_SPLIT: u64 = 16;
/// In a larger one, a field has so many documents for each of its terms at most.
const MAX_DOCS_PER_TERM: u64 = 8;
/// Fields with fewer terms have dictionaries that cost nothing.
const MIN_TERMS: u64 = 17;
/// How many bits a term should have …
const BITS_PER_TERM: u64 = 12;
/// … and must have: with fewer, one value in twenty is found where it is not.
const MIN_BITS_PER_TERM: u64 = 8;

/// A field that may be in the filter.
struct Candidate {
    field: Field,
    name: String,
    num_terms: u64,
    is_marked: bool,
}

/// The filter of a segment whose split has so many bytes without it; none if there is nothing to filter by,
/// or too little room.
pub(super) fn filter_of(
    segment: &SegmentReader,
    mapper: &DocMapper,
    num_bytes: u64,
) -> Result<Option<SplitFilter>, BuildError> {
    let mut chosen = candidates(segment, mapper, num_bytes)?;
    // What the config asks for comes first, then what takes the least.
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
    }
    Ok(Some(filter))
}

fn candidates(
    segment: &SegmentReader,
    mapper: &DocMapper,
    num_bytes: u64,
) -> Result<Vec<Candidate>, BuildError> {
    let marked = mapper.needle_fields();
    let mut candidates = Vec::new();
    for (field, entry) in segment.schema().fields() {
        if !entry.is_indexed() {
            continue;
        }
        let num_terms = segment.inverted_index(field)?.terms().num_terms() as u64;
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

/// Whether single values of such a field are looked for, and not ranges of them.
fn is_looked_up(entry: &FieldEntry) -> bool {
    matches!(
        entry.field_type().value_type(),
        Type::Str | Type::U64 | Type::I64 | Type::IpAddr | Type::Bytes | Type::Json
    )
}

/// The least number of blocks that gives terms the bits that they should have, or at least must have, in at most
/// so many bytes.
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
