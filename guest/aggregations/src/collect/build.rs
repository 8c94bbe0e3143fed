//! A request and a split → collectors.

use canter_doc_mapper::{DocMapper, FieldKind};
use tantivy::SegmentReader;
use tantivy::columnar::ColumnType;

use super::Collect;
use super::budget::Taken;
use super::counted::Counted;
use super::distinct::Distinct;
use super::field::{Field, is_number};
use super::keyed::{KeyFilter, Keyed};
use super::mapping::{
    ByFilter, ByMissing, ByRange, ByValue, ToCode, check_places, is_histogram_value,
};
use super::metrics::{OfField, Weighted};
use super::runs::Runs;
use super::top::Top;
use super::tuples::{Page, Tuples};
use crate::key::Key;
use crate::numbers::{ExtendedStats, Number, QuantileSketch, Stats};
use crate::request::{
    Aggregation, Choice, Composite, CompositeBy, CompositeSource, DateHistogram, Filters,
    Histogram, Kind, Metric, MetricOf, Range, RangeOf, Source, TopHits, address,
};
use crate::respond::{choice_text, tuple_order};
use crate::{Error, Result};

/// A split whose documents are aggregated.
#[derive(Clone, Copy)]
pub struct Split<'a> {
    /// Its columns; those that the request names have been warmed up.
    pub segment: &'a SegmentReader,
    /// What its fields are.
    pub mapper: &'a DocMapper,
    /// The field of dates by which its documents are sorted, ascending.
    pub sort_field: Option<&'a str>,
    /// What each filter of the request matches, by slot.
    pub filters: &'a [BitSet],
}

/// Some of a split's documents.
#[derive(Clone, Debug, Default)]
pub struct BitSet(Vec<u64>);

impl BitSet {
    /// None of so many documents.
    pub fn new(num_docs: u32) -> Self {
        Self(vec![0; (num_docs as usize).div_ceil(64)])
    }

    /// Adds a document.
    pub fn insert(&mut self, doc: u32) {
        if let Some(word) = self.0.get_mut((doc / 64) as usize) {
            *word |= 1 << (doc % 64);
        }
    }

    /// Whether a document is in it.
    pub fn contains(&self, doc: u32) -> bool {
        let word = self.0.get((doc / 64) as usize).copied().unwrap_or_default();
        word & (1 << (doc % 64)) != 0
    }
}

pub(super) fn build_all(
    aggregations: &[Aggregation],
    split: &Split<'_>,
) -> Result<Vec<Box<dyn Collect>>> {
    Builder { split }.all(aggregations, true)
}

struct Builder<'a> {
    split: &'a Split<'a>,
}

impl Builder<'_> {
    fn all(&self, aggregations: &[Aggregation], is_top: bool) -> Result<Vec<Box<dyn Collect>>> {
        aggregations
            .iter()
            .map(|aggregation| self.one(aggregation, is_top))
            .collect()
    }

    fn one(&self, aggregation: &Aggregation, is_top: bool) -> Result<Box<dyn Collect>> {
        let path = &aggregation.path;
        let inside = || self.all(&aggregation.inside, false);
        Ok(match &aggregation.kind {
            Kind::Terms(terms) => {
                let mapping = self.by_value(&terms.source)?;
                let is_taken = key_filter(terms.include.as_ref(), terms.exclude.as_ref())?;
                match aggregation.inside.is_empty() && Counted::fits(&mapping) {
                    true => Box::new(Counted::new(mapping, is_taken)),
                    false => Box::new(Keyed::new(mapping, inside()?, true, is_taken)),
                }
            }
            Kind::RareTerms(terms) => {
                let is_taken = key_filter(terms.include.as_ref(), terms.exclude.as_ref())?;
                // What is rare here may not be elsewhere: none can be left out.
                Box::new(Keyed::new(
                    self.by_value(&terms.source)?,
                    inside()?,
                    false,
                    is_taken,
                ))
            }
            Kind::MultiTerms(terms) => {
                let mappings = terms.sources.iter().map(|source| self.by_value(source));
                Box::new(Tuples::new(
                    mappings.collect::<Result<_>>()?,
                    inside()?,
                    None,
                ))
            }
            Kind::Histogram(histogram) => Box::new(Keyed::new(
                self.by_interval(path, histogram)?,
                inside()?,
                false,
                None,
            )),
            Kind::DateHistogram(histogram) => self.date_histogram(histogram, inside()?)?,
            Kind::Range(range) => Box::new(Keyed::new(
                self.by_range(path, range)?,
                inside()?,
                false,
                None,
            )),
            Kind::Filter(filter) => {
                let filters = self.split.filters.get(filter.slot).cloned();
                let mapping = ByFilter {
                    filters: filters.into_iter().collect(),
                    has_other: false,
                };
                Box::new(Keyed::new(mapping, inside()?, false, None))
            }
            Kind::Filters(filters) => {
                Box::new(Keyed::new(self.by_filters(filters), inside()?, false, None))
            }
            Kind::Missing(missing) => {
                let field = self.open(&missing.field, |_| true)?;
                Box::new(Keyed::new(ByMissing { field }, inside()?, false, None))
            }
            Kind::Composite(composite) => Box::new(self.composite(path, composite, inside()?)?),
            Kind::Metric(metric) => self.metric(path, metric, is_top)?,
        })
    }

    fn open(&self, field: &str, is_taken: impl Fn(ColumnType) -> bool) -> Result<Field> {
        let resolved = self.split.mapper.resolve(field);
        let is_untyped = resolved.is_some_and(|field| matches!(field.kind, FieldKind::Json(_)));
        Field::open(self.split.segment, field, is_untyped, is_taken)
    }

    fn is_date(&self, field: &str) -> bool {
        let resolved = self.split.mapper.resolve(field);
        resolved.is_some_and(|field| matches!(field.kind, FieldKind::Date(_)))
    }

    fn by_value(&self, source: &Source) -> Result<ByValue> {
        let field = self.open(&source.field, |column_type| {
            column_type != ColumnType::Bytes
        })?;
        // As a value of the field would be: whichever of two splits comes first, the key is the same.
        let resolved = self.split.mapper.resolve(&source.field);
        let is_float = resolved.is_some_and(|field| matches!(field.kind, FieldKind::F64(_)));
        let missing = source.missing.clone().map(|missing| match missing {
            Key::Number(number) if is_float => Some(Key::Number(Number::from(number.to_f64()))),
            missing => Some(missing),
        });
        Ok(ByValue::new(field, ToCode::Value, missing))
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
        check_places(path, &field, *interval)?;
        // What stands in for a value is looked at as one.
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

    /// Columns of numbers, or of dates where the field is mapped as such: what dates that are not mapped count would
    /// be milliseconds in one split and nothing in the next.
    fn numbers(&self, path: &str, name: &str, is_date: bool) -> Result<Field> {
        let field = self.open(name, |column_type| {
            is_histogram_value(column_type, is_date) || column_type == ColumnType::DateTime
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
        let mut field = self.open(&source.field, |column_type| {
            column_type == ColumnType::DateTime
        })?;
        let is_sorted = self.split.sort_field == Some(source.field.as_str());
        if is_sorted
            && field.columns.len() == 1
            && let Some(column) = field.columns.pop_if(|column| column.is_full())
        {
            let runs = Runs::new(column, rounding.clone(), row.hard_bounds, inside);
            return Ok(Box::new(runs));
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
        Ok(Box::new(Keyed::new(mapping, inside, false, None)))
    }

    fn by_range(&self, path: &str, range: &Range) -> Result<ByRange> {
        let name = &range.source.field;
        let field = match range.what {
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
                    check_places(path, &field, *interval)?;
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
        Ok(Tuples::new(mappings, inside, Some(page)))
    }

    /// The key that a page comes after. An answer shows addresses as texts and dates as milliseconds.
    fn after(&self, composite: &Composite) -> Option<Vec<Option<Key>>> {
        let of_source = |(key, source): (&Option<Key>, &CompositeSource)| {
            let resolved = self.split.mapper.resolve(&source.field);
            match (key, resolved.map(|field| field.kind)) {
                (Some(Key::Text(text)), Some(FieldKind::Ip)) => {
                    Some(address(text).map_or(Key::Text(text.clone()), Key::Address))
                }
                (Some(Key::Number(Number::Integer(ms))), Some(FieldKind::Date(_))) => {
                    const MILLISECOND_NS: i128 = 1_000_000;
                    let time_ns = i64::try_from(ms.saturating_mul(MILLISECOND_NS));
                    Some(Key::Date(time_ns.unwrap_or(i64::MAX)))
                }
                (key, _) => key.clone(),
            }
        };
        let after = composite.after.as_ref()?;
        Some(
            after
                .iter()
                .zip(&composite.sources)
                .map(of_source)
                .collect(),
        )
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
            MetricOf::Cardinality => Box::new(Distinct::new(values()?, missing, is_top)?),
            MetricOf::TopHits(hits) => Box::new(self.top(hits)?),
        })
    }

    fn top(&self, hits: &TopHits) -> Result<Top> {
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
        Ok(Top::new(sort, fields.collect::<Result<_>>()?, size))
    }
}

/// Whether a choice has a key, which comes with its text.
type Chooses = Box<dyn Fn(&Key, &str) -> bool>;

/// What `include` and `exclude` leave.
fn key_filter(include: Option<&Choice>, exclude: Option<&Choice>) -> Result<Option<KeyFilter>> {
    let matcher = |choice: Option<&Choice>| -> Result<Option<Chooses>> {
        Ok(match choice {
            None => None,
            Some(Choice::Values(values)) => {
                let values = values.clone();
                Some(Box::new(move |key, text| {
                    let is_it = |value: &Key| match value {
                        Key::Text(value) => value == text,
                        value => value == key,
                    };
                    values.iter().any(is_it)
                }))
            }
            Some(Choice::Pattern(pattern)) => {
                let regex = tantivy_fst::Regex::new(pattern).map_err(|error| {
                    Error::Invalid(format!("the pattern {pattern:?} is none: {error}"))
                })?;
                Some(Box::new(move |_, text| is_match(&regex, text)))
            }
        })
    };
    let (include, exclude) = (matcher(include)?, matcher(exclude)?);
    if include.is_none() && exclude.is_none() {
        return Ok(None);
    }
    Ok(Some(Box::new(move |key| {
        let text = choice_text(key);
        include.as_ref().is_none_or(|include| include(key, &text))
            && !exclude.as_ref().is_some_and(|exclude| exclude(key, &text))
    })))
}

/// Whether an expression matches the whole of a text.
fn is_match(regex: &tantivy_fst::Regex, text: &str) -> bool {
    use tantivy_fst::Automaton;
    let mut state = regex.start();
    for byte in text.bytes() {
        if !regex.can_match(&state) {
            return false;
        }
        state = regex.accept(&state, byte);
    }
    regex.is_match(&state)
}
