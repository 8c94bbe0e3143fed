//! Builder of collectors from a request and a split.

mod choice;
mod collector;
mod part;
mod split;

pub use collector::Collector;
pub use split::{BitSet, Split};

use canter_doc_mapper::FieldKind;
use tantivy::columnar::ColumnType;

use self::choice::key_filter;
use super::Collect;
use super::budget::Taken;
use super::dates::{AutoDates, Ends, Runs, Times, known_runs};
use super::field::{Field, Numbers, is_number};
use super::keyed::{Counted, Keyed, TermChoice};
use super::mapping::{
    ByDistance, ByFilter, ByMissing, ByRange, ByValue, Mapping, ToCode, check_places,
    is_histogram_value,
};
use super::metrics::{Distinct, Nothing, OfField, OfPlaces, Strings, Top, TopOf, Weighted};
use super::tuples::{Page, Tuples};
use crate::key::Key;
use crate::numbers::{ExtendedStats, QuantileSketch, Stats};
use crate::partial::{PlaceBounds, PlaceSum};
use crate::request::{
    Aggregation, Composite, CompositeBy, DateHistogram, Filters, Grid, Histogram, Kind, Metric,
    MetricOf, Range, RangeOf, RateOf, Source, TopHits, after_key, missing_key,
};
use crate::respond::tuple_order;
use crate::{Error, Result};

fn build(
    aggregation: &Aggregation,
    split: &Split<'_>,
    is_filtered: bool,
) -> Result<Box<dyn Collect>> {
    Builder { split, is_filtered }.one(aggregation, true)
}

/// Returns buckets that each have what is inside.
fn keyed<M: Mapping + 'static>(mapping: M, inside: Vec<Box<dyn Collect>>) -> Box<dyn Collect> {
    Box::new(Keyed::new(mapping, inside, false, TermChoice::default()))
}

struct Builder<'a> {
    split: &'a Split<'a>,
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
            Kind::Terms(terms) => {
                let mapping = self.by_value(&terms.source)?;
                let choice = TermChoice {
                    is_taken: key_filter(terms.include.as_ref(), terms.exclude.as_ref())?,
                    has_empty: terms.min_doc_count == 0,
                };
                match aggregation.inside.is_empty() && Counted::fits(&mapping) {
                    true => Box::new(Counted::new(mapping, choice)),
                    false => Box::new(Keyed::new(mapping, inside()?, true, choice)),
                }
            }
            Kind::RareTerms(terms) => {
                let choice = TermChoice {
                    is_taken: key_filter(terms.include.as_ref(), terms.exclude.as_ref())?,
                    has_empty: false,
                };
                // A term that is rare in this split may be frequent in others, so none can be
                // dropped. A term that is frequent here is rare nowhere.
                let mapping = self.by_value(&terms.source)?;
                let keyed = Keyed::new(mapping, inside()?, false, choice);
                Box::new(keyed.looking_into_rare(terms.max_doc_count))
            }
            Kind::MultiTerms(terms) => {
                let mappings = terms.sources.iter().map(|source| self.by_value(source));
                let mappings = mappings.collect::<Result<_>>()?;
                Box::new(Tuples::new(mappings, inside()?, None)?)
            }
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
                };
                keyed(mapping, inside()?)
            }
            Kind::Filters(filters) => keyed(self.by_filters(filters), inside()?),
            Kind::Missing(missing) => {
                let field = self.open(&missing.field, |_| true)?;
                keyed(ByMissing { field }, inside()?)
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
        Field::open(self.split.segment, mapper, field, keys, is_taken)
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
        }
    }

    fn composite(
        &self,
        path: &str,
        composite: &Composite,
        inside: Vec<Box<dyn Collect>>,
    ) -> Result<Tuples> {
        let mut mappings = Vec::with_capacity(composite.sources.len());
        for source in &composite.sources {
            let missing = source.missing_bucket.then_some(None);
            let (field, to_code) = match &source.by {
                CompositeBy::Terms => {
                    let field = self.open(&source.field, |column_type| {
                        column_type != ColumnType::Bytes
                    })?;
                    (field, ToCode::Value)
                }
                CompositeBy::Histogram { interval } => {
                    let field = self.numbers(path, &source.field, self.is_date(&source.field))?;
                    self.check_places(path, &field, *interval)?;
                    let to_code = ToCode::Interval {
                        interval: *interval,
                        offset: 0.0,
                        bounds: None,
                    };
                    (field, to_code)
                }
                CompositeBy::Dates { rounding, .. } => {
                    let field = self.open(&source.field, |column_type| {
                        column_type == ColumnType::DateTime
                    })?;
                    let to_code = ToCode::Date {
                        rounding: rounding.clone(),
                        bounds: None,
                    };
                    (field, to_code)
                }
            };
            mappings.push(ByValue::new(field, to_code, missing));
        }
        let page = Page {
            size: composite.size,
            after: self.after(composite),
            order: tuple_order(composite),
        };
        Tuples::new(mappings, inside, Some(page))
    }

    /// Returns the `after` key of the page in the form in columns.
    fn after(&self, composite: &Composite) -> Option<Vec<Option<Key>>> {
        let keys = composite.sources.iter().zip(composite.after.as_ref()?);
        let keys = keys.map(|(source, key)| match (&source.by, key) {
            // The check has made sure that the field can have this value.
            (CompositeBy::Terms, Some(key)) => after_key(self.split.mapper, &source.field, key),
            (_, key) => key.clone(),
        });
        Some(keys.collect())
    }

    fn metric(&self, path: &str, metric: &Metric, is_top: bool) -> Result<Box<dyn Collect>> {
        let Source { field, missing } = &metric.source;
        let numbers = || self.numbers(path, field, self.is_date(field));
        let values = || self.open(field, |column_type| column_type != ColumnType::Bytes);
        let missing = missing.clone();
        Ok(match &metric.what {
            MetricOf::ValueCount => Box::new(OfField::<u64>::new(values()?, missing)),
            MetricOf::Avg | MetricOf::Sum | MetricOf::Min | MetricOf::Max | MetricOf::Stats => {
                Box::new(OfField::<Stats>::new(numbers()?, missing))
            }
            MetricOf::ExtendedStats { .. } => {
                Box::new(OfField::<ExtendedStats>::new(numbers()?, missing))
            }
            MetricOf::Percentiles { .. }
            | MetricOf::PercentileRanks { .. }
            | MetricOf::MedianAbsoluteDeviation => {
                Box::new(OfField::<QuantileSketch>::new(numbers()?, missing))
            }
            MetricOf::WeightedAvg { weight } => Box::new(Weighted {
                value: (numbers()?, missing),
                weight: (
                    self.numbers(path, &weight.field, false)?,
                    weight.missing.clone(),
                ),
                states: Vec::new(),
                taken: Taken::default(),
            }),
            MetricOf::Cardinality => {
                let missing = self.missing(&metric.source);
                Box::new(Distinct::new(values()?, missing, is_top)?)
            }
            MetricOf::Rate(rate) => match rate.of {
                RateOf::Documents => Box::new(Nothing),
                RateOf::Sum => Box::new(OfField::<Stats>::new(numbers()?, missing)),
                RateOf::Values => Box::new(OfField::<u64>::new(values()?, missing)),
            },
            MetricOf::TopHits(hits) => Box::new(self.top(hits, TopOf::Hits)?),
            MetricOf::TopMetrics(hits) => Box::new(self.top(hits, TopOf::Metrics)?),
            MetricOf::GeoBounds { .. } => {
                Box::new(OfPlaces::<PlaceBounds>::new(self.places(field)?))
            }
            MetricOf::GeoCentroid => Box::new(OfPlaces::<PlaceSum>::new(self.places(field)?)),
            MetricOf::StringStats { .. } => {
                let texts = self.open(field, |column_type| column_type == ColumnType::Str)?;
                Box::new(Strings::new(texts, missing))
            }
        })
    }

    fn top(&self, hits: &TopHits, of: TopOf) -> Result<Top> {
        let is_sortable =
            |column_type| is_number(column_type) || column_type == ColumnType::DateTime;
        let sort = hits
            .sort
            .iter()
            .map(|(field, is_descending)| Ok((self.open(field, is_sortable)?, *is_descending)));
        let sort = sort.collect::<Result<_>>()?;
        let fields = hits
            .fields
            .iter()
            .map(|field| self.open(field, |column_type| column_type != ColumnType::Bytes));
        let size = hits.size.saturating_add(hits.from);
        Ok(Top::new(sort, fields.collect::<Result<_>>()?, size, of))
    }
}
