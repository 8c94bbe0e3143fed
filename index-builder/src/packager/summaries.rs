//! Summaries of a split's documents: time range, time index, rollups, tags.

use std::collections::{BTreeMap, BTreeSet};

use canter_doc_mapper::DocMapper;
use canter_split_format::{Rollup, TimeIndex, TimeRange};
use tantivy::SegmentReader;
use tantivy::columnar::{Cardinality, StrColumn};
use tantivy::schema::{Field, FieldType, Schema, Type};

use crate::BuildError;

/// Maximum number of values of a fast text field with a rollup.
const MAX_ROLLUP_KEYS: usize = 16;
/// Maximum number of values of a tag field in the manifest. A field with more values in a split is
/// left out.
const MAX_TAG_VALUES: usize = 1_000;

/// Returns the timestamps of all documents in nanoseconds, in document order.
pub(super) fn read_timestamps(segment: &SegmentReader, name: &str) -> Result<Vec<i64>, BuildError> {
    let column = segment.fast_fields().date(name)?;
    (0..segment.max_doc())
        .map(|doc| {
            column
                .first(doc)
                .map(|time| time.into_timestamp_nanos())
                .ok_or_else(|| {
                    BuildError::internal(format!("document {doc} has no value for {name:?}"))
                })
        })
        .collect()
}

pub(super) fn time_range_of(timestamps: &[i64]) -> Option<TimeRange> {
    Some(TimeRange {
        start_ns: *timestamps.first()?,
        end_ns: *timestamps.last()?,
    })
}

pub(super) fn time_index_of(timestamps: &[i64]) -> Result<TimeIndex, BuildError> {
    TimeIndex::of_sorted(timestamps)
        .ok_or_else(|| BuildError::internal("documents of a split must be sorted by time"))
}

/// Rolls up every fast text field that has one value per document and few values in total.
pub(super) fn rollup_of(
    timestamps: &[i64],
    segment: &SegmentReader,
) -> Result<Option<Rollup>, BuildError> {
    let Some(mut rollup) = Rollup::over(timestamps) else {
        return Ok(None);
    };
    for (_, entry) in segment.schema().fields() {
        if !matches!(entry.field_type(), FieldType::Str(_)) || !entry.is_fast() {
            continue;
        }
        let column = segment.fast_fields().str(entry.name())?;
        let Some(column) = column else {
            continue;
        };
        if column.num_terms() <= MAX_ROLLUP_KEYS
            && column.ords().get_cardinality() != Cardinality::Multivalued
        {
            let keys = all_terms(&column)
                .map_err(|error| BuildError::internal(format!("{}: {error}", entry.name())))?;
            let ords = (0..segment.max_doc()).map(|doc| {
                column
                    .ords()
                    .first(doc)
                    .and_then(|ord| usize::try_from(ord).ok())
            });
            rollup.add_field(entry.name(), keys, ords);
        }
    }
    Ok(Some(rollup))
}

fn all_terms(column: &StrColumn) -> std::io::Result<Vec<String>> {
    (0..column.num_terms() as u64)
        .map(|ord| {
            let mut term = String::new();
            column.ord_to_str(ord, &mut term)?;
            Ok(term)
        })
        .collect()
}

/// Returns all values of each tag field that does not have too many. All documents are included, so
/// a tag filter without a matching value here cannot match in this split.
pub(super) fn tags_of(
    segment: &SegmentReader,
    mapper: &DocMapper,
) -> Result<BTreeMap<String, BTreeSet<String>>, BuildError> {
    let schema = segment.schema();
    let mut tags = BTreeMap::new();
    for name in mapper.tag_fields() {
        let Ok(field) = schema.get_field(name) else {
            continue;
        };
        if let Some(values) = distinct_values(segment, schema, field)? {
            tags.insert(name.to_owned(), values);
        }
    }
    Ok(tags)
}

fn distinct_values(
    segment: &SegmentReader,
    schema: &Schema,
    field: Field,
) -> tantivy::Result<Option<BTreeSet<String>>> {
    let value_type = schema.get_field_entry(field).field_type().value_type();
    let inverted_index = segment.inverted_index(field)?;
    let mut stream = inverted_index.terms().stream()?;
    let mut values = BTreeSet::new();
    while stream.advance() {
        let Some(value) = tag_text(value_type, stream.key()) else {
            return Ok(None);
        };
        values.insert(value);
        if values.len() > MAX_TAG_VALUES {
            return Ok(None);
        }
    }
    Ok(Some(values))
}

/// Returns a term of a tag field in the form in which queries refer to it, or `None` for a type
/// that tags do not support.
fn tag_text(value_type: Type, term: &[u8]) -> Option<String> {
    let number = || Some(u64::from_be_bytes(term.try_into().ok()?));
    match value_type {
        Type::Str => String::from_utf8(term.to_vec()).ok(),
        Type::U64 => Some(number()?.to_string()),
        Type::I64 => Some(tantivy::u64_to_i64(number()?).to_string()),
        Type::Bool => Some((number()? != 0).to_string()),
        _ => None,
    }
}
