//! Time within splits: which documents a time filter lets through, and when a document happened.
//!
//! Documents are sorted by time, and the head's time index says which document starts each time
//! bucket. Only what that leaves open is read from the timestamp column.

use std::ops::Range;

use super::warmup::warm_up;
use crate::SearchError;
use crate::query::Needs;
use crate::request::TimeFilter;
use crate::split::OpenSplit;

/// The documents that a time filter lets through: documents are sorted by time.
pub(super) async fn docs_within(
    split: &OpenSplit,
    filter: TimeFilter,
) -> Result<Range<u32>, SearchError> {
    let num_docs = split.segment().max_doc();
    let mut docs = 0..num_docs;
    let Some(range) = split.metadata.time_range else {
        return Ok(docs);
    };
    if let Some(start) = filter.start_ns.filter(|start| *start > range.start_ns) {
        docs.start = first_doc_at_or_after(split, start).await?;
    }
    if let Some(end) = filter.end_ns.filter(|end| *end <= range.end_ns) {
        docs.end = first_doc_at_or_after(split, end).await?;
    }
    if docs.is_empty() {
        docs = 0..0;
    }
    Ok(docs)
}

async fn first_doc_at_or_after(split: &OpenSplit, time_ns: i64) -> Result<u32, SearchError> {
    let mut docs = match &split.time_index {
        Some(index) => index.first_doc_at_or_after(time_ns),
        None => 0..split.segment().max_doc() + 1,
    };
    if docs.len() == 1 {
        return Ok(docs.start);
    }
    // The bucket's border is not the filter's: the column tells.
    let times = timestamps(split).await?;
    let is_before = |doc: u32| {
        times
            .first(doc)
            .is_some_and(|time| time.into_timestamp_nanos() < time_ns)
    };
    docs.end -= 1;
    while docs.start < docs.end {
        let middle = docs.start + (docs.end - docs.start) / 2;
        if is_before(middle) {
            docs.start = middle + 1;
        } else {
            docs.end = middle;
        }
    }
    Ok(docs.start)
}

/// The timestamp column, brought here if it is not.
pub(super) async fn timestamps(
    split: &OpenSplit,
) -> Result<tantivy::columnar::Column<tantivy::DateTime>, SearchError> {
    let name = split.metadata.sort_field.as_deref().unwrap_or_default();
    let needs = Needs {
        fast_fields: [name.to_owned()].into(),
        ..Needs::default()
    };
    warm_up(split.segment(), &needs)
        .await
        .map_err(|error| split.error(error))?;
    split
        .segment()
        .fast_fields()
        .date(name)
        .map_err(|error| split.error(error))
}

/// The time bucket of a document, as nanoseconds from (included) and to (excluded); all of time if the
/// split has no time index.
pub(super) fn bucket_of(split: &OpenSplit, doc: u32) -> Range<i64> {
    match &split.time_index {
        Some(index) => index.bucket_of(doc),
        None => i64::MIN..i64::MAX,
    }
}
