//! Time within splits: which documents a time filter lets through, and when a hit happened.
//!
//! Documents are sorted by time, and the head's time index says which document starts each time
//! bucket. Only what that leaves open is read from the timestamp column.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use canter_split_format::TimeRange;
use futures_util::future::join_all;

use super::partial::{PartialHit, SortValue};
use super::warmup::warm_up;
use crate::SearchError;
use crate::query::Needs;
use crate::request::{SortOrder, TimeFilter};
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
async fn timestamps(
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

/// The hits of one split that get their times.
pub(super) struct TimedHits<'a> {
    pub(super) split: &'a OpenSplit,
    pub(super) hits: &'a mut Vec<PartialHit>,
}

/// Gives the hits of several splits their times as sort keys, and drops hits that cannot be among
/// the first `window` of them. `elsewhere` are the time ranges of splits whose hits are not here.
///
/// The start of a hit's time bucket stands for its time wherever no hit of another split can lie in
/// that bucket: then it compares like the time itself. Only the other splits read their timestamp
/// column; an error belongs to the split at that place.
pub(super) async fn settle_times(
    batch: &mut [TimedHits<'_>],
    direction: SortOrder,
    window: usize,
    elsewhere: &[TimeRange],
) -> BTreeMap<usize, SearchError> {
    drop_late_hits(batch, direction, window);
    let unsure = unsure_splits(batch, elsewhere);
    let mut failures = BTreeMap::new();
    let columns = join_all((0..).zip(batch.iter()).map(|(place, timed): (usize, _)| {
        let unsure = &unsure;
        async move {
            match unsure.contains(&place) {
                true => timestamps(timed.split).await.map(Some),
                false => Ok(None),
            }
        }
    }))
    .await;
    for ((place, timed), column) in (0..).zip(batch).zip(columns) {
        let column = column.unwrap_or_else(|error| {
            failures.insert(place, error);
            None
        });
        for hit in timed.hits.iter_mut() {
            let time_ns = match &column {
                Some(times) => times
                    .first(hit.doc)
                    .map(tantivy::DateTime::into_timestamp_nanos),
                None => Some(bucket_of(timed.split, hit.doc).start),
            };
            hit.keys = vec![time_ns.map_or(SortValue::Missing, SortValue::Date)];
        }
    }
    failures
}

/// The time bucket of a document; all of time if the split has no time index.
fn bucket_of(split: &OpenSplit, doc: u32) -> Range<i64> {
    match &split.time_index {
        Some(index) => index.bucket_of(doc),
        None => i64::MIN..i64::MAX,
    }
}

/// Drops hits that at least `window` others certainly come before.
fn drop_late_hits(batch: &mut [TimedHits<'_>], direction: SortOrder, window: usize) {
    let mut sure_times: Vec<i64> = batch
        .iter()
        .flat_map(|timed| timed.hits.iter().map(|hit| bucket_of(timed.split, hit.doc)))
        .map(|bucket| match direction {
            SortOrder::Descending => !bucket.start,
            SortOrder::Ascending => bucket.end,
        })
        .collect();
    sure_times.sort_unstable();
    let Some(last) = window
        .checked_sub(1)
        .and_then(|place| sure_times.get(place))
    else {
        return;
    };
    for timed in batch {
        let split = timed.split;
        timed.hits.retain(|hit| {
            let bucket = bucket_of(split, hit.doc);
            match direction {
                SortOrder::Descending => bucket.end > !*last,
                SortOrder::Ascending => bucket.start < *last,
            }
        });
    }
}

/// The places of splits with a hit in a bucket that a hit of another split may share.
fn unsure_splits(batch: &[TimedHits<'_>], elsewhere: &[TimeRange]) -> BTreeSet<usize> {
    let buckets: BTreeSet<(i64, i64, usize)> = (0..)
        .zip(batch)
        .flat_map(|(place, timed)| {
            timed.hits.iter().map(move |hit| {
                let bucket = bucket_of(timed.split, hit.doc);
                (bucket.start, bucket.end, place)
            })
        })
        .collect();
    let mut unsure = BTreeSet::new();
    for (start, end, place) in &buckets {
        let shared = elsewhere
            .iter()
            .any(|range| range.start_ns < *end && range.end_ns >= *start);
        if shared || *start == i64::MIN {
            unsure.insert(*place);
        }
        // A range must not run backwards, as it would at the end of time.
        let following = (*start, *end, *place)..(*end, i64::MIN, 0);
        if following.start > following.end {
            unsure.insert(*place);
            continue;
        }
        for (_, _, other) in buckets.range(following) {
            if other != place {
                unsure.extend([*place, *other]);
            }
        }
    }
    unsure
}
