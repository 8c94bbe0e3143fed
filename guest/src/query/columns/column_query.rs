//! The documents with a value within a range, by scanning a column.

use std::fmt::Debug;
use std::ops::{Bound, RangeInclusive};

use canter_aggregations::FullColumn;
use tantivy::columnar::{
    Cardinality, Column, ColumnType, Dictionary, DynamicColumn, DynamicColumnHandle,
    MonotonicallyMappableToU64,
};
use tantivy::query::{
    AllScorer, ConstScorer, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::schema::Field;
use tantivy::{DateTime, DocId, DocSet, Score, SegmentReader, TERMINATED, Term};

use super::ValueRange;
use super::passing::explained;
use super::scan_full::ScanFull;
use crate::limits::TimeFilter;

/// Matches documents that have a value within the range in the columns of a fast field.
#[derive(Clone, Debug)]
pub(in crate::query) struct ColumnQuery {
    column: String,
    range: ValueRange,
    /// Terms that every document with a value within the range has.
    implied: Vec<Term>,
    /// The value, if it is a single text.
    value: Option<WholeValue>,
}

/// A text that is looked for in a column, as if it were a term: passages of hits are marked by the terms of a query.
#[derive(Clone, Debug)]
pub(in crate::query) struct WholeValue(Term);

impl WholeValue {
    /// No field has this number.
    pub(in crate::query) const FIELD: Field = Field::from_field_id(u32::MAX);

    fn new(column: &str, text: &str) -> Self {
        let mut term = Term::from_field_text(Self::FIELD, "");
        term.append_bytes(&Self::start(column));
        term.append_bytes(text.as_bytes());
        Self(term)
    }

    /// Stands before the text in a term.
    pub(in crate::query) fn start(column: &str) -> Vec<u8> {
        [column.as_bytes(), b"\0"].concat()
    }
}

impl ColumnQuery {
    /// `column` is the name of a fast field, as in the warmup.
    pub(in crate::query) fn new(column: String, range: ValueRange) -> Self {
        Self {
            column,
            range,
            implied: Vec::new(),
            value: None,
        }
    }

    /// Creates a query for the documents with a text. `implied` are terms that all of them have.
    pub(in crate::query) fn of_text(column: String, text: &str, implied: Vec<Term>) -> Self {
        let value = WholeValue::new(&column, text);
        let bound = || Bound::Included(text.to_owned());
        Self {
            implied,
            value: Some(value),
            ..Self::new(column, ValueRange::Text(bound(), bound()))
        }
    }

    /// Returns the terms that every document with a value within the range has.
    pub(in crate::query) fn implied(&self) -> &[Term] {
        &self.implied
    }
}

/// Wanted codes, possibly none.
pub(super) type WantedCodes = Option<RangeInclusive<u64>>;

/// The part of a column with one value per document that is within a range.
pub(in crate::query) enum FullRange {
    Nothing,
    Everything,
    /// The documents with codes in this range.
    Codes(FullColumn, RangeInclusive<u64>),
}

impl ColumnQuery {
    /// Returns the wanted times, if the range is one of times.
    pub(in crate::query) fn times(&self) -> Option<TimeFilter> {
        let ValueRange::Mapped(ColumnType::DateTime, range) = &self.range else {
            return None;
        };
        let ns = |code: u64| DateTime::from_u64(code).into_timestamp_nanos();
        Some(TimeFilter {
            start_ns: (*range.start() > 0).then(|| ns(*range.start())),
            end_ns: range.end().checked_add(1).map(ns),
        })
    }

    /// Returns the wanted codes, if the column has one for each document.
    ///
    /// # Errors
    /// Damage; a read that missed.
    pub(in crate::query) fn full_range(
        &self,
        reader: &SegmentReader,
    ) -> tantivy::Result<Option<FullRange>> {
        for handle in reader.fast_fields().dynamic_column_handles(&self.column)? {
            if let Some(range) = self.range.codes(&handle)? {
                let column = FullColumn::open(&handle)?;
                return Ok(column.map(|column| FullRange::new(column, range)));
            }
        }
        Ok(None)
    }
}

impl FullRange {
    fn new(column: FullColumn, range: WantedCodes) -> Self {
        let (min, max) = column.bounds().into_inner();
        let range = range.filter(|range| {
            range.start() <= range.end() && *range.start() <= max && *range.end() >= min
        });
        match range {
            None => Self::Nothing,
            Some(range) if *range.start() <= min && *range.end() >= max => Self::Everything,
            Some(range) => Self::Codes(column, range),
        }
    }
}

impl Query for ColumnQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        if let Some(WholeValue(term)) = &self.value {
            visitor(term, false);
        }
    }
}

impl Weight for ColumnQuery {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        // A path of a JSON field may have columns of several types, but at most one of each kind: tantivy
        // gives all numbers of a segment one type.
        for handle in reader.fast_fields().dynamic_column_handles(&self.column)? {
            if let Some(scorer) = self.range.scorer(&handle, boost)? {
                return Ok(scorer);
            }
        }
        Ok(Box::new(EmptyScorer))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        explained(self.scorer(reader, 1.0)?, doc, "a value within the range")
    }
}

impl ValueRange {
    /// Returns a scorer of a column; `None` if the column is of another kind.
    fn scorer(
        &self,
        handle: &DynamicColumnHandle,
        boost: Score,
    ) -> tantivy::Result<Option<Box<dyn Scorer>>> {
        if let (Self::Addresses(range), ColumnType::IpAddr) = (self, handle.column_type()) {
            return Ok(match handle.open()? {
                DynamicColumn::IpAddr(column) => Some(scorer(column, Some(range.clone()), boost)),
                _ => None,
            });
        }
        let Some(range) = self.codes(handle)? else {
            return Ok(None);
        };
        if let Some(column) = FullColumn::open(handle)? {
            return full_scorer(column, range, boost).map(Some);
        }
        Ok(handle
            .open_u64_lenient()?
            .map(|column| scorer(column, range, boost)))
    }

    /// Returns the codes of a column that are within the range, possibly none; `None` if the column is of another
    /// kind, or has addresses.
    fn codes(&self, handle: &DynamicColumnHandle) -> tantivy::Result<Option<WantedCodes>> {
        let column_type = handle.column_type();
        Ok(match (self, column_type) {
            (Self::Numbers(range), ColumnType::I64 | ColumnType::U64 | ColumnType::F64) => {
                Some(range.for_type(column_type))
            }
            (Self::Mapped(wanted, range), _) if *wanted == column_type => Some(Some(range.clone())),
            (Self::Text(lower, upper), ColumnType::Str) => Some(match handle.open()? {
                DynamicColumn::Str(column) => ordinals(column.dictionary(), lower, upper)?,
                _ => None,
            }),
            (Self::Bytes(lower, upper), ColumnType::Bytes) => Some(match handle.open()? {
                DynamicColumn::Bytes(column) => ordinals(column.dictionary(), lower, upper)?,
                _ => None,
            }),
            _ => None,
        })
    }
}

/// Returns a scorer of a column with one value per document.
pub(super) fn full_scorer(
    column: FullColumn,
    range: WantedCodes,
    boost: Score,
) -> tantivy::Result<Box<dyn Scorer>> {
    let num_docs = column.num_docs();
    Ok(match FullRange::new(column, range) {
        FullRange::Nothing => Box::new(EmptyScorer),
        FullRange::Everything => Box::new(ConstScorer::new(AllScorer::new(num_docs), boost)),
        FullRange::Codes(column, range) => Box::new(ScanFull::open(column, range, boost)?),
    })
}

/// Returns the ordinals of the terms within the bounds.
fn ordinals<T: AsRef<[u8]>>(
    dictionary: &Dictionary,
    lower: &Bound<T>,
    upper: &Bound<T>,
) -> tantivy::Result<Option<RangeInclusive<u64>>> {
    let bytes = |bound: &Bound<T>| bound.as_ref().map(|term| term.as_ref().to_vec());
    let (lower, upper) = dictionary.term_bounds_to_ord(bytes(lower), bytes(upper))?;
    let first = match lower {
        Bound::Included(ord) => Some(ord),
        Bound::Excluded(ord) => ord.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let last = match upper {
        Bound::Included(ord) => Some(ord),
        Bound::Excluded(ord) => ord.checked_sub(1),
        Bound::Unbounded => Some(u64::MAX),
    };
    Ok(first.zip(last).map(|(first, last)| first..=last))
}

pub(super) fn scorer<T>(
    column: Column<T>,
    range: Option<RangeInclusive<T>>,
    boost: Score,
) -> Box<dyn Scorer>
where
    T: PartialOrd + Copy + Debug + Send + Sync + 'static,
{
    let (min, max) = (column.min_value(), column.max_value());
    let Some(range) = range.filter(|range| {
        range.start() <= range.end() && *range.start() <= max && *range.end() >= min
    }) else {
        return Box::new(EmptyScorer);
    };
    let is_full = column.get_cardinality() == Cardinality::Full;
    if is_full && *range.start() <= min && *range.end() >= max {
        return Box::new(ConstScorer::new(AllScorer::new(column.num_docs()), boost));
    }
    Box::new(ConstScorer::new(Matching::new(column, range), boost))
}

/// Initial number of documents per step, also after each seek.
const FIRST_STEP: u32 = 128;
/// Maximum number of documents per step; steps double up to it.
const MAX_STEP: u32 = 1 << 16;

/// The documents of a column with a value within a range.
struct Matching<T> {
    column: Column<T>,
    range: RangeInclusive<T>,
    /// Found matches, ascending, and the current position in them.
    found: Vec<DocId>,
    place: usize,
    /// The first document that was not tested.
    next: DocId,
    step: u32,
}

impl<T: PartialOrd + Copy + Debug + Send + Sync + 'static> Matching<T> {
    fn new(column: Column<T>, range: RangeInclusive<T>) -> Self {
        let mut matching = Self {
            column,
            range,
            found: Vec::new(),
            place: 0,
            next: 0,
            step: FIRST_STEP,
        };
        matching.look_on();
        matching
    }

    /// Tests the next documents until some match.
    fn look_on(&mut self) {
        self.found.clear();
        self.place = 0;
        let num_docs = self.column.num_docs();
        while self.found.is_empty() && self.next < num_docs {
            let end = self.next.saturating_add(self.step).min(num_docs);
            let range = self.range.clone();
            self.column
                .get_docids_for_value_range(range, self.next..end, &mut self.found);
            self.next = end;
            self.step = (self.step * 2).min(MAX_STEP);
        }
    }
}

impl<T: PartialOrd + Copy + Debug + Send + Sync + 'static> DocSet for Matching<T> {
    fn advance(&mut self) -> DocId {
        self.place += 1;
        if self.place >= self.found.len() {
            self.look_on();
        }
        self.doc()
    }

    fn doc(&self) -> DocId {
        self.found.get(self.place).copied().unwrap_or(TERMINATED)
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.found.last().is_none_or(|last| *last < target) {
            self.next = self.next.max(target);
            self.step = FIRST_STEP;
            self.look_on();
        } else {
            let ahead = self.found.get(self.place..).unwrap_or_default();
            self.place += ahead.partition_point(|doc| *doc < target);
        }
        self.doc()
    }

    fn size_hint(&self) -> u32 {
        // The number of matches is unknown before the documents are tested.
        self.column.num_docs() / 10
    }

    fn cost(&self) -> u64 {
        // The scan tests nearly all documents, a little faster than postings are decoded.
        u64::from(self.column.num_docs()) * 4 / 5
    }
}
