//! The documents with a point in a region: by the terms of the codes in it, or by the column.
//!
//! The dictionary of a field's terms is its column in the order of codes, in blocks of which each says its
//! least code. A region is a few ranges of codes, so that of a dictionary only those blocks are read that may
//! have its points. The code is the whole point: no other read decides.

use std::fmt;
use std::ops::{Bound, RangeInclusive};
use std::sync::Arc;

use canter_doc_mapper::{DocMapper, FieldKind};
use canter_geo::{Region, cover};
use tantivy::columnar::ColumnType;
use tantivy::query::{
    BitSetDocSet, ConstScorer, EmptyQuery, EmptyScorer, EnableScoring, Explanation, Query, Scorer,
    Weight,
};
use tantivy::schema::Field;
use tantivy::{DocId, Score, SegmentReader, Term};
use tantivy_common::BitSet;

use super::passing::{Passing, explained, with_terms};
use crate::SearchError;
use crate::query::needs::{Needs, TermRange};

/// Share of all codes from which on the column is less to read than the dictionary.
const MAX_SHARE: f64 = 0.25;

/// Returns a query for the documents with a point in a region, and what it reads.
///
/// # Errors
/// The field is not mapped as `geo_point`, or cannot be searched.
pub(in crate::query) fn within(
    mapper: &DocMapper,
    name: &str,
    region: &Region,
    ignores_unmapped: bool,
) -> Result<(Box<dyn Query>, Needs), SearchError> {
    let mut needs = Needs::default();
    let nothing = || Ok((Box::new(EmptyQuery) as Box<dyn Query>, Needs::default()));
    let is_mapped = matches!(mapper.kind_of(name), Some(FieldKind::GeoPoint(_)));
    let field = mapper.resolve(name);
    let field = match field {
        Some(field) if is_mapped && matches!(field.kind, FieldKind::GeoPoint(_)) => field,
        // The split is from before the field was mapped.
        _ if is_mapped || ignores_unmapped => return nothing(),
        Some(field) if !field.is_dynamic => {
            return Err(SearchError::invalid(format!(
                "the field {name:?} has type {}, and this query needs a geo_point",
                field.kind.type_name()
            )));
        }
        _ => {
            return Err(SearchError::invalid(format!(
                "failed to find geo field [{name}]: map it as geo_point, or set ignore_unmapped"
            )));
        }
    };
    if field.is_absent {
        return nothing();
    }
    let ranges = cover(&region.boxes());
    let source = match (field.indexed, field.is_fast()) {
        (false, false) => {
            return Err(SearchError::invalid(format!(
                "the field {name:?} is neither indexed nor fast, so that it cannot be searched: set indexed: true in \
                 its mapping"
            )));
        }
        (true, is_fast) if !is_fast || share_of(&ranges) <= MAX_SHARE => {
            for range in &ranges {
                needs.term_ranges.push(TermRange {
                    field: field.field,
                    lower: Bound::Included(Term::from_field_u64(field.field, *range.start())),
                    upper: Bound::Included(Term::from_field_u64(field.field, *range.end())),
                    positions: false,
                });
            }
            Source::Terms(field.field, ranges)
        }
        _ => {
            let column = field.fast_field_name();
            needs.fast_fields.insert(column.clone());
            Source::Column(column)
        }
    };
    let query = PlaceQuery {
        test: PlaceTest::new(region),
        source,
    };
    Ok((Box::new(query), needs))
}

#[expect(clippy::cast_precision_loss, reason = "a share is a guess")]
fn share_of(ranges: &[RangeInclusive<u64>]) -> f64 {
    let lens = ranges
        .iter()
        .map(|range| range.end().saturating_sub(*range.start()));
    lens.fold(0.0, |sum, len| sum + len as f64) / u64::MAX as f64
}

/// Test for the code of a point.
type IsIn = Arc<dyn Fn(u64) -> bool + Send + Sync>;

/// Test for points in a region.
#[derive(Clone)]
pub(in crate::query) struct PlaceTest {
    region: Region,
    is_in: IsIn,
}

impl PlaceTest {
    pub(in crate::query) fn new(region: &Region) -> Self {
        Self {
            region: region.clone(),
            is_in: Arc::new(region.test()),
        }
    }

    /// Returns whether the point with a code is in the region.
    pub(in crate::query) fn takes(&self, code: u64) -> bool {
        (self.is_in)(code)
    }
}

impl fmt::Debug for PlaceTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.region.fmt(f)
    }
}

#[derive(Clone, Debug)]
struct PlaceQuery {
    test: PlaceTest,
    source: Source,
}

/// Where codes are read.
#[derive(Clone, Debug)]
enum Source {
    /// In the dictionary of a field, within these ranges.
    Terms(Field, Vec<RangeInclusive<u64>>),
    /// In a column.
    Column(String),
}

impl Query for PlaceQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for PlaceQuery {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        match &self.source {
            Source::Terms(field, ranges) => {
                let docs = self.by_terms(reader, *field, ranges)?;
                let docs = BitSetDocSet::from(docs);
                Ok(Box::new(ConstScorer::new(docs, boost)))
            }
            Source::Column(name) => {
                for handle in reader.fast_fields().dynamic_column_handles(name)? {
                    if handle.column_type() == ColumnType::U64
                        && let Some(column) = handle.open_u64_lenient()?
                    {
                        let is_in = Arc::clone(&self.test.is_in);
                        let docs = Passing::new(column, move |code| is_in(code));
                        return Ok(Box::new(ConstScorer::new(docs, boost)));
                    }
                }
                Ok(Box::new(EmptyScorer))
            }
        }
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        explained(self.scorer(reader, 1.0)?, doc, "a point in the region")
    }
}

impl PlaceQuery {
    fn by_terms(
        &self,
        reader: &SegmentReader,
        field: Field,
        ranges: &[RangeInclusive<u64>],
    ) -> tantivy::Result<BitSet> {
        let mut found = BitSet::with_max_value(reader.max_doc());
        for range in ranges {
            let (first, last) = (range.start().to_be_bytes(), range.end().to_be_bytes());
            let mut takes = |term: &[u8]| {
                let code = <[u8; 8]>::try_from(term).map(u64::from_be_bytes);
                code.is_ok_and(|code| self.test.takes(code))
            };
            with_terms(reader, field, (&first, Some(&last)), &mut takes, &mut found)?;
        }
        Ok(found)
    }
}
