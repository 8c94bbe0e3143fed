//! Builder of collectors from a request and a split.

mod bit_set;
mod choice;
mod collector;
mod composite;
mod lists;
mod metrics;
mod objects;
mod part;
mod partition;
mod split;
mod terms;

pub use bit_set::BitSet;
pub use collector::Collector;
pub(in crate::collect) use objects::MemoryColumn;
pub(in crate::collect) use objects::ObjectPlaces;
pub use objects::{Objects, ObjectsWriter};
pub use split::{Columns, Origin, Split};

use std::sync::Arc;

use canter_doc_mapper::FieldKind;
use tantivy::columnar::ColumnType;

use super::Collect;
use super::dates::{AutoDates, Ends, Runs, Times, known_runs};
use super::field::{Field, Numbers};
use super::keyed::{Keyed, TermChoice};
use super::mapping::{
    ByDistance, ByFilter, ByMissing, ByObjects, ByPairs, ByPrefix, ByRange, ByValue, Mapping,
    ToCode, check_places, is_histogram_value,
};
use super::metrics::Scores;
use crate::key::Key;
use crate::request::{
    Adjacency, Aggregation, DateHistogram, Filter, Filters, Grid, Histogram, Kind, Range, RangeOf,
    Source, missing_key,
};
use crate::{Error, Result};

fn build(
    aggregation: &Aggregation,
    split: &Split<'_>,
    scores: &Scores,
    is_filtered: bool,
) -> Result<Box<dyn Collect>> {
    let builder = Builder {
        split,
        documents: split,
        list: None,
        scores,
        is_filtered,
    };
    builder.one(aggregation, true)
}

/// Returns buckets that each have what is inside.
fn keyed<M: Mapping + 'static>(mapping: M, inside: Vec<Box<dyn Collect>>) -> Box<dyn Collect> {
    Box::new(Keyed::new(mapping, inside, false, TermChoice::default()))
}

struct Builder<'a> {
    /// Documents, or objects that take their place.
    split: &'a Split<'a>,
    documents: &'a Split<'a>,
    /// List whose objects take the place of documents.
    list: Option<usize>,
    scores: &'a Scores,
    /// True if documents are hidden from the caller. Columns include the values of hidden
    /// documents, so requests are then never refused because of a column's contents.
    is_filtered: bool,
}

impl Builder<'_> {
    fn inside(&self, aggregations: &[Aggregation]) -> Result<Vec<Box<dyn Collect>>> {
        aggregations
            .iter()
            .map(|aggregation| self.one(aggregation, false))
            .collect()
    }

    fn one(&self, aggregation: &Aggregation, is_top: bool) -> Result<Box<dyn Collect>> {
        let path = &aggregation.path;
        let inside = || self.inside(&aggregation.inside);
        Ok(match &aggregation.kind {
            Kind::Terms(terms) => self.terms(terms, inside)?,
            Kind::Significant(terms) => self.significant(terms, inside)?,
            Kind::Categories(categories) => self.categories(categories, inside()?)?,
            Kind::RareTerms(terms) => self.rare_terms(terms, inside()?)?,
            Kind::MultiTerms(terms) => self.multi_terms(terms, inside()?)?,
            Kind::Histogram(histogram) => keyed(self.by_interval(path, histogram)?, inside()?),
            Kind::AutoDateHistogram(histogram) => {
                let field = self.open(&histogram.source.field, |column_type| {
                    column_type == ColumnType::DateTime
                })?;
                let mapped = self.split.mapper.resolve(&histogram.source.field);
                let may_have_several =
                    self.is_filtered && mapped.is_none_or(|field| field.multi_valued);
                Box::new(AutoDates::new(
                    path,
                    histogram,
                    field,
                    may_have_several,
                    inside()?,
                )?)
            }
            Kind::DateHistogram(histogram) => self.date_histogram(histogram, inside()?)?,
            Kind::Range(range) => self.ranges(path, range, inside()?)?,
            Kind::Grid(grid) => keyed(self.by_cell(grid)?, inside()?),
            Kind::Filter(filter) => {
                let filters = self.split.filters.get(filter.slot).cloned();
                let mapping = ByFilter {
                    filters: filters.into_iter().collect(),
                    has_other: false,
                    most: filter.most,
                    taken: Vec::new(),
                };
                keyed(mapping, inside()?)
            }
            Kind::Filters(filters) => keyed(self.by_filters(filters), inside()?),
            Kind::Nested(nested) => {
                let places = Arc::clone(&self.objects(nested.slot)?.places);
                let inside = self.inside_list(Some(nested.slot), &aggregation.inside)?;
                keyed(ByObjects(places), inside)
            }
            Kind::ReverseNested(reverse) => {
                let inside = self.inside_list(reverse.to, &aggregation.inside)?;
                keyed(self.way_to(reverse.to)?, inside)
            }
            Kind::Adjacency(matrix) => keyed(self.by_pairs(matrix), inside()?),
            Kind::IpPrefix(prefix) => {
                let field = self.open(&prefix.field, |column_type| {
                    column_type == ColumnType::IpAddr
                })?;
                keyed(ByPrefix::new(field, prefix), inside()?)
            }
            Kind::Missing(missing) => {
                let field = self.open(&missing.field, |_| true)?;
                let is_any = !missing.has_substitute;
                keyed(ByMissing { field, is_any }, inside()?)
            }
            Kind::Composite(composite) => Box::new(self.composite(path, composite, inside()?)?),
            Kind::Metric(metric) => self.metric(path, metric, is_top)?,
        })
    }

    fn ranges(
        &self,
        path: &str,
        range: &Range,
        inside: Vec<Box<dyn Collect>>,
    ) -> Result<Box<dyn Collect>> {
        let RangeOf::Distances(origin) = &range.what else {
            return Ok(keyed(self.by_range(path, range)?, inside));
        };
        let ranges = range.ranges.iter();
        let ends = ranges.map(|range| (range.from.clone(), range.to.clone()));
        let field = self.places(&range.source.field)?;
        Ok(keyed(ByDistance::new(field, origin, ends), inside))
    }

    fn by_cell(&self, grid: &Grid) -> Result<ByValue> {
        let to_code = ToCode::Cell {
            grid: grid.cells,
            bounds: grid.bounds.as_ref().map(|own| grid.cells.bounds(own)),
        };
        Ok(ByValue::new(self.places(&grid.field)?, to_code, None))
    }

    fn open(&self, field: &str, is_taken: impl Fn(ColumnType) -> bool) -> Result<Field> {
        let mapper = self.split.mapper;
        let stands_in = mapper.resolve(field);
        let is_untyped = stands_in.is_some_and(|field| matches!(field.kind, FieldKind::Json(_)));
        // Values from before the field was mapped were untyped; now its numbers have a type.
        let keys = match (is_untyped, mapper.kind_of(field)) {
            (true, Some(FieldKind::F64(_))) => Numbers::Floats,
            (true, _) => Numbers::WholeWherePossible,
            (false, _) => Numbers::AsTheyAre,
        };
        Field::open(self.split.columns, mapper, field, keys, is_taken)
    }

    /// Opens the column of places. A split from before the field was mapped has none.
    fn places(&self, name: &str) -> Result<Field> {
        let field = self.split.mapper.resolve(name);
        let is_of_places = field.is_some_and(|field| matches!(field.kind, FieldKind::GeoPoint(_)));
        self.open(name, |column_type| {
            is_of_places && column_type == ColumnType::U64
        })
    }

    fn is_date(&self, field: &str) -> bool {
        let kind = self.split.mapper.kind_of(field);
        matches!(kind, Some(FieldKind::Date(_)))
    }

    fn by_value(&self, source: &Source) -> Result<ByValue> {
        let field = self.open(&source.field, |column_type| {
            column_type != ColumnType::Bytes
        })?;
        let missing = self.missing(source).map(Some);
        Ok(ByValue::new(field, ToCode::Value, missing))
    }

    /// Returns the substitute for a missing value.
    fn missing(&self, source: &Source) -> Option<Key> {
        // The check has made sure that the field can have this value.
        missing_key(self.split.mapper, &source.field, source.missing.as_ref()?)
    }

    fn by_interval(&self, path: &str, histogram: &Histogram) -> Result<ByValue> {
        let Histogram {
            source,
            interval,
            offset,
            row,
            format: _,
        } = histogram;
        let is_date = self.is_date(&source.field);
        let field = self.numbers(path, &source.field, is_date)?;
        self.check_places(path, &field, *interval)?;
        // A substitute is treated like a value.
        let is_in = |value: f64| {
            let bounds = row.hard_bounds;
            bounds.is_none_or(|(first, last)| first <= value && value <= last)
        };
        let missing = source.missing.as_ref().and_then(|missing| match missing {
            Key::Number(number) if is_in(number.to_f64()) => {
                let place = super::mapping::place_of(number.to_f64(), *interval, *offset);
                Some(Some(Key::Interval(place)))
            }
            _ => None,
        });
        let to_code = ToCode::Interval {
            interval: *interval,
            offset: *offset,
            bounds: row.hard_bounds,
        };
        Ok(ByValue::new(field, to_code, missing))
    }

    fn check_places(&self, path: &str, field: &Field, interval: f64) -> Result<()> {
        match self.is_filtered {
            // Buckets that floating-point numbers cannot distinguish are merged.
            true => Ok(()),
            false => check_places(path, field, interval),
        }
    }

    /// Opens columns of numbers and dates for figures. Of a field without a type, dates count as what its numbers then are:
    /// milliseconds, as in Elasticsearch, which maps such a field as dates.
    fn measured(&self, path: &str, name: &str) -> Result<Field> {
        let kind = self.split.mapper.kind_of(name);
        let is_untyped = kind.is_none_or(|kind| matches!(kind, FieldKind::Json(_)));
        if !is_untyped || self.is_filtered {
            return self.numbers(path, name, self.is_date(name));
        }
        let field = self.open(name, |column_type| {
            column_type == ColumnType::DateTime || is_histogram_value(column_type, false)
        })?;
        // Whole values of texts that no mapping names, such as `level.keyword`.
        let is_of_texts = || -> Result<bool> {
            let texts = self.open(name, |column_type| column_type == ColumnType::Str)?;
            Ok(self.split.mapper.whole_values(name).is_some() && !texts.columns.is_empty())
        };
        match field.columns.is_empty() && is_of_texts()? {
            true => Err(Error::invalid(
                path,
                &format!("field [{name}] of type [keyword] is not supported for this aggregation"),
            )),
            false => Ok(field),
        }
    }

    /// Opens columns of numbers, or of dates if the field is mapped as dates. Unmapped dates would
    /// count as milliseconds in one split and be missing in the next.
    fn numbers(&self, path: &str, name: &str, is_date: bool) -> Result<Field> {
        // A field that is mapped as a number may contain dates from before.
        let kind = self.split.mapper.kind_of(name);
        let is_untyped = kind.is_none_or(|kind| matches!(kind, FieldKind::Json(_)));
        let field = self.open(name, |column_type| {
            let may_be_date = is_untyped && !self.is_filtered;
            is_histogram_value(column_type, is_date)
                || (may_be_date && column_type == ColumnType::DateTime)
        })?;
        let has_dates = field
            .columns
            .iter()
            .any(|column| column.column_type == ColumnType::DateTime);
        match has_dates && !is_date {
            true => Err(Error::invalid(
                path,
                &format!(
                    "the field {name:?} has dates and is not mapped as such: map it with type datetime, or use \
                     date_histogram"
                ),
            )),
            false => Ok(field),
        }
    }

    fn date_histogram(
        &self,
        histogram: &DateHistogram,
        inside: Vec<Box<dyn Collect>>,
    ) -> Result<Box<dyn Collect>> {
        let DateHistogram {
            source,
            rounding,
            row,
            ..
        } = histogram;
        let is_sorted = self.split.sort_field == Some(source.field.as_str());
        if is_sorted
            && let Some(index) = self.split.time_index
            && let Some(runs) = known_runs(histogram, index)
        {
            return Ok(Box::new(Runs::new(Ends::Known(runs), inside)));
        }
        let mut field = self.open(&source.field, |column_type| {
            column_type == ColumnType::DateTime
        })?;
        if is_sorted
            && field.columns.len() == 1
            && let Some(column) = field.columns.pop_if(|column| column.is_full())
        {
            let times = Times {
                column,
                rounding: rounding.clone(),
                bounds: row.hard_bounds,
                index: self.split.time_index.cloned(),
            };
            return Ok(Box::new(Runs::new(Ends::InColumn(Box::new(times)), inside)));
        }
        let is_in = |time_ns: i64| {
            let bounds = row.hard_bounds;
            bounds.is_none_or(|(first, last)| first <= time_ns && time_ns <= last)
        };
        let missing = source.missing.as_ref().and_then(|missing| match missing {
            Key::Date(time_ns) if is_in(*time_ns) => {
                Some(Some(Key::Date(rounding.start_of(*time_ns))))
            }
            _ => None,
        });
        let to_code = ToCode::Date {
            rounding: rounding.clone(),
            bounds: row.hard_bounds,
        };
        let mapping = ByValue::new(field, to_code, missing);
        Ok(keyed(mapping, inside))
    }

    fn by_range(&self, path: &str, range: &Range) -> Result<ByRange> {
        let name = &range.source.field;
        let field = match &range.what {
            RangeOf::Distances(_) => self.places(name)?,
            RangeOf::Numbers => self.numbers(path, name, false)?,
            RangeOf::Dates => self.open(name, |column_type| column_type == ColumnType::DateTime)?,
            RangeOf::Addresses => {
                self.open(name, |column_type| column_type == ColumnType::IpAddr)?
            }
        };
        let ends = range
            .ranges
            .iter()
            .map(|range| (range.from.clone(), range.to.clone()));
        let ends: Vec<(Option<Key>, Option<Key>)> = ends.collect();
        ByRange::new(field, &ends, range.source.missing.as_ref())
    }

    fn by_pairs(&self, matrix: &Adjacency) -> ByPairs {
        let set = |filter: &Filter| self.split.filters.get(filter.slot).cloned();
        let filters = matrix
            .filters
            .iter()
            .map(|filter| set(filter).unwrap_or_default());
        let cells = matrix.cells().into_iter();
        let cells = cells.map(|cell| (!matrix.only_pairs || cell.1.is_some()).then_some(cell));
        ByPairs {
            filters: filters.collect(),
            cells: cells.collect(),
        }
    }

    fn by_filters(&self, filters: &Filters) -> ByFilter {
        let sets = filters.filters.iter().map(|filter| {
            self.split
                .filters
                .get(filter.slot)
                .cloned()
                .unwrap_or_default()
        });
        ByFilter {
            filters: sets.collect(),
            has_other: filters.other.is_some(),
            most: None,
            taken: Vec::new(),
        }
    }
}
