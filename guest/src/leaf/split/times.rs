//! Time within splits: the documents that pass a time filter, and the time of a document.
//!
//! Documents are sorted by time, and the head's time index gives the first document of each time
//! bucket. Only what that leaves open is read from the timestamp column.

use std::ops::Range;

use canter_split_format::TimeRange;
use tantivy::DateTime;
use tantivy::columnar::Column;

use crate::SearchError;
use crate::leaf::reads::warm_up;
use crate::limits::TimeFilter;
use crate::query::Needs;
use crate::split::OpenSplit;

/// The documents that pass a time filter, as far as the time index tells. They are sorted by time.
#[derive(Clone, Debug)]
pub(in crate::leaf) struct Within {
    start: Border,
    end: Border,
}

/// A time in the sequence of documents.
#[derive(Clone, Debug)]
struct Border {
    time_ns: i64,
    /// All documents before this range precede the time, and none after it does. The column decides within the range.
    open: Range<u32>,
}

impl Border {
    /// Creates the border before a document, whatever its time.
    fn before(doc: u32) -> Self {
        Self {
            time_ns: 0,
            open: doc..doc,
        }
    }

    fn of(split: &OpenSplit, time_ns: i64) -> Self {
        let open = match &split.time_index {
            Some(index) => {
                let first = index.first_doc_at_or_after(time_ns);
                first.start..first.end.saturating_sub(1).max(first.start)
            }
            None => 0..split.segment().max_doc(),
        };
        Self { time_ns, open }
    }

    /// Returns the first document that is not before the time.
    fn find(&self, times: &Column<DateTime>) -> u32 {
        let Range { mut start, mut end } = self.open;
        while start < end {
            let middle = start + (end - start) / 2;
            let time = times.first(middle);
            match time.is_some_and(|time| time.into_timestamp_nanos() < self.time_ns) {
                true => start = middle + 1,
                false => end = middle,
            }
        }
        start
    }
}

impl Within {
    pub(in crate::leaf) fn of(split: &OpenSplit, filter: TimeFilter) -> Self {
        let range = split.metadata.time_range;
        let starts = filter.start_ns.zip(range);
        let starts = starts.filter(|(start_ns, range)| *start_ns > range.start_ns);
        let ends = filter.end_ns.zip(range);
        let ends = ends.filter(|(end_ns, range)| *end_ns <= range.end_ns);
        let border_or = |border: Option<(i64, TimeRange)>, doc| match border {
            Some((time_ns, _)) => Border::of(split, time_ns),
            None => Border::before(doc),
        };
        Self {
            start: border_or(starts, 0),
            end: border_or(ends, split.segment().max_doc()),
        }
    }

    /// Returns the largest range that may pass.
    pub(in crate::leaf) fn most(&self) -> Range<u32> {
        let start = self.start.open.start;
        start..self.end.open.end.max(start)
    }

    /// Returns the range that certainly passes.
    pub(in crate::leaf) fn least(&self) -> Range<u32> {
        let start = self.start.open.end;
        start..self.end.open.start.max(start)
    }

    /// Returns whether the time index decides everything.
    pub(in crate::leaf) fn is_exact(&self) -> bool {
        self.start.open.is_empty() && self.end.open.is_empty()
    }

    /// Returns the exact range. Loads the timestamp column if the index leaves an end open and it is not resident.
    ///
    /// # Errors
    /// If the column cannot be read.
    pub(in crate::leaf) async fn docs(&self, split: &OpenSplit) -> Result<Range<u32>, SearchError> {
        let docs = match self.is_exact() {
            true => self.most(),
            false => {
                let times = timestamps(split).await?;
                self.start.find(&times)..self.end.find(&times)
            }
        };
        Ok(match docs.is_empty() {
            true => 0..0,
            false => docs,
        })
    }
}

/// Returns the timestamp column, and loads it if it is not resident.
pub(in crate::leaf) async fn timestamps(
    split: &OpenSplit,
) -> Result<Column<DateTime>, SearchError> {
    let name = split.metadata.sort_field.as_deref().unwrap_or_default();
    let needs = Needs {
        fast_fields: [name.to_owned()].into(),
        ..Needs::default()
    };
    warm_up(split, &needs)
        .await
        .map_err(|error| split.error(error))?;
    split
        .segment()
        .fast_fields()
        .date(name)
        .map_err(|error| split.error(error))
}

/// Returns the time bucket of a document, as nanoseconds from (included) and to (excluded); all of
/// time if the split has no time index.
pub(in crate::leaf) fn bucket_of(split: &OpenSplit, doc: u32) -> Range<i64> {
    match &split.time_index {
        Some(index) => index.bucket_of(doc),
        None => i64::MIN..i64::MAX,
    }
}
