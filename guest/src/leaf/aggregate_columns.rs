//! The columns of one split behind its aggregations: what cannot be answered with them is refused, and what
//! tantivy would take the wrong column for is given the right one, under a name of its own.
//!
//! Where a split has no value of a field, tantivy takes an empty column of unsigned integers: buckets of dates
//! then get keys of other units, and ranges get keys of their own, than in the other splits.

use std::fmt;
use std::sync::Arc;

use canter_doc_mapper::FieldKind;
use tantivy::aggregation::agg_req::{Aggregation, AggregationVariants, Aggregations};
use tantivy::aggregation::bucket::{CompositeAggregation, CompositeAggregationSource};
use tantivy::aggregation::metric::TopHitsAggregationReq;
use tantivy::aggregation::{
    AggContextParams, Key, ValueSource, ValueSourceProvider, ValueSourceRegistry,
};
use tantivy::columnar::{
    Cardinality, Column, ColumnType, ColumnValues, DynamicColumnHandle, MonotonicallyMappableToU64,
    RowId,
};
use tantivy::{DocId, SegmentReader, TantivyError};

use crate::request::{Limits, MAX_BUCKET_PLACE};
use crate::split::OpenSplit;

const MILLISECOND_NS: f64 = 1e6;
const YEAR_NS: i64 = 366 * 86_400 * 1_000_000_000;

/// Most combinations of columns that one `multi_terms` is run over: a field that is not mapped has a column for
/// each type of value.
const MAX_COMBINATIONS: usize = 64;

const NUMBERS: [ColumnType; 3] = [ColumnType::F64, ColumnType::U64, ColumnType::I64];

/// Aggregations ready to be run over one split.
pub(super) struct SplitAggregations {
    pub(super) request: Aggregations,
    pub(super) context: AggContextParams,
}

impl SplitAggregations {
    /// Looks at the columns, which must have been warmed up.
    ///
    /// # Errors
    /// What cannot be answered, as `InvalidArgument`; a read that missed.
    pub(super) fn open(
        request: &Aggregations,
        split: &OpenSplit,
        limits: &Limits,
    ) -> tantivy::Result<Self> {
        let mut columns = Columns {
            split,
            sources: ValueSourceRegistry::default(),
            num_sources: 0,
        };
        let mut request = request.clone();
        columns.all(&mut request, "aggs", &Inside::Nothing)?;
        let context = limits.aggregation_context(split.mapper.tokenizers());
        Ok(Self {
            request,
            context: context.with_value_sources(Arc::new(columns.sources)),
        })
    }
}

/// Where an aggregation stands.
enum Inside {
    /// By itself.
    Nothing,
    /// In a `terms` that stands by itself, over values that are no texts.
    TermsOfValues,
    /// Elsewhere.
    Other,
}

struct Columns<'a> {
    split: &'a OpenSplit,
    sources: ValueSourceRegistry,
    num_sources: usize,
}

fn refused<T>(path: &str, what: &str) -> tantivy::Result<T> {
    Err(TantivyError::InvalidArgument(format!("{path}: {what}")))
}

impl Columns<'_> {
    fn segment(&self) -> &SegmentReader {
        self.split.segment()
    }

    fn all(
        &mut self,
        aggregations: &mut Aggregations,
        path: &str,
        inside: &Inside,
    ) -> tantivy::Result<()> {
        for (name, aggregation) in aggregations.iter_mut() {
            let path = format!("{path}.{name}");
            let is_top = matches!(inside, Inside::Nothing);
            let children_are = match is_top && self.hides_histogram(aggregation)? {
                true => Inside::TermsOfValues,
                false => Inside::Other,
            };
            let is_hidden = matches!(inside, Inside::TermsOfValues);
            self.one(&mut aggregation.agg, &path, is_hidden)?;
            self.all(&mut aggregation.sub_aggregation, &path, &children_are)?;
        }
        Ok(())
    }

    /// Whether tantivy would count these terms and the histogram inside of them in a table with a row for each
    /// number up to the largest, of which there may be more than an address of 32 bits can count. Signed and
    /// floating point numbers stand in columns in an order-preserving form of 64 bits, so that even 0 is far up.
    /// Text and small unsigned numbers keep the table.
    fn hides_histogram(&self, aggregation: &Aggregation) -> tantivy::Result<bool> {
        let AggregationVariants::Terms(terms) = &aggregation.agg else {
            return Ok(false);
        };
        for handle in self.handles(&terms.field)? {
            let is_wide = match handle.column_type() {
                ColumnType::I64 | ColumnType::F64 | ColumnType::DateTime => true,
                ColumnType::U64 => {
                    let max = handle
                        .open_u64_lenient()?
                        .map_or(0, |column| column.max_value());
                    // The value for documents that have none counts among the rows.
                    terms.missing.is_some() || max >= u64::from(u32::MAX)
                }
                ColumnType::Bool | ColumnType::Str | ColumnType::Bytes | ColumnType::IpAddr => {
                    false
                }
            };
            if is_wide {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn one(
        &mut self,
        aggregation: &mut AggregationVariants,
        path: &str,
        is_hidden: bool,
    ) -> tantivy::Result<()> {
        match aggregation {
            AggregationVariants::Histogram(histogram) => {
                let found = self.number_or_date(path, &histogram.field)?;
                let is_date = matches!(&found, Some((_, ColumnType::DateTime)))
                    || found.is_none() && self.is_date(&histogram.field);
                let unit = if is_date { MILLISECOND_NS } else { 1.0 };
                check_places(path, found.as_ref(), histogram.interval * unit)?;
                let empty = if is_date {
                    ColumnType::DateTime
                } else {
                    ColumnType::U64
                };
                histogram.field = self.source(found, empty, is_hidden);
            }
            AggregationVariants::DateHistogram(histogram) => {
                let found = self.column(&histogram.field, &[ColumnType::DateTime])?;
                histogram.field = self.source(found, ColumnType::DateTime, is_hidden);
            }
            AggregationVariants::Range(range) => {
                let found = self.number_or_date(path, &range.field)?;
                range.field = self.as_floats(found);
            }
            AggregationVariants::Terms(terms) => {
                self.check_missing(path, &terms.field, terms.missing.as_ref())?;
            }
            AggregationVariants::MultiTerms(terms) => {
                let mut combinations = 1usize;
                for field in &terms.terms {
                    self.check_missing(path, &field.field, field.missing.as_ref())?;
                    let num_columns = self.handles(&field.field)?.len().max(1);
                    combinations = combinations.saturating_mul(num_columns);
                }
                if combinations > MAX_COMBINATIONS {
                    return refused(path, "these fields have values of too many types together");
                }
            }
            AggregationVariants::Cardinality(cardinality) => {
                self.check_missing(path, &cardinality.field, cardinality.missing.as_ref())?;
            }
            AggregationVariants::Composite(composite) => self.composite(path, composite)?,
            AggregationVariants::TopHits(top_hits) => self.top_hits(top_hits)?,
            AggregationVariants::Average(_)
            | AggregationVariants::Sum(_)
            | AggregationVariants::Min(_)
            | AggregationVariants::Max(_)
            | AggregationVariants::Stats(_)
            | AggregationVariants::ExtendedStats(_)
            | AggregationVariants::Percentiles(_) => {
                for field in aggregation.get_fast_field_names() {
                    self.number_or_date(path, field)?;
                }
            }
            AggregationVariants::Count(_) | AggregationVariants::Filter(_) => {}
        }
        Ok(())
    }

    fn handles(&self, field: &str) -> tantivy::Result<Vec<DynamicColumnHandle>> {
        self.segment().fast_fields().dynamic_column_handles(field)
    }

    /// The column of one of these types, as tantivy would choose it; one without values is none.
    fn column(
        &self,
        field: &str,
        types: &[ColumnType],
    ) -> tantivy::Result<Option<(Column<u64>, ColumnType)>> {
        for handle in self.handles(field)? {
            if types.contains(&handle.column_type())
                && let Some(column) = handle.open_u64_lenient()?
                && column.values.num_vals() > 0
            {
                return Ok(Some((column, handle.column_type())));
            }
        }
        Ok(None)
    }

    /// The column of numbers, or of dates where the field is mapped as such: what dates that are not mapped count
    /// would be nanoseconds in one split and nothing in the next.
    fn number_or_date(
        &self,
        path: &str,
        field: &str,
    ) -> tantivy::Result<Option<(Column<u64>, ColumnType)>> {
        if self.is_date(field) {
            return self.column(field, &[ColumnType::DateTime]);
        }
        if self.column(field, &[ColumnType::DateTime])?.is_some() {
            return refused(
                path,
                &format!(
                    "the field {field:?} has dates and is not mapped as such: map it with type datetime, or use \
                     date_histogram"
                ),
            );
        }
        self.column(field, &NUMBERS)
    }

    fn is_date(&self, field: &str) -> bool {
        let resolved = self.split.mapper.resolve(field);
        resolved.is_some_and(|field| matches!(field.kind, FieldKind::Date(_)))
    }

    /// What stands in for a missing number must be one that the column can have.
    fn check_missing(&self, path: &str, field: &str, missing: Option<&Key>) -> tantivy::Result<()> {
        let number = match missing {
            None | Some(Key::Str(_)) => return Ok(()),
            Some(Key::F64(number)) => *number,
            Some(Key::I64(number)) => *number as f64,
            Some(Key::U64(number)) => *number as f64,
        };
        let fits = match self.column(field, &NUMBERS)? {
            Some((_, ColumnType::F64)) | None => true,
            Some((_, column_type)) => {
                let is_signed = column_type == ColumnType::I64;
                let is_whole = number.fract() == 0.0 && number.abs() <= MAX_BUCKET_PLACE;
                is_whole && (is_signed || number >= 0.0)
            }
        };
        match fits {
            true => Ok(()),
            false => refused(
                path,
                &format!(
                    "missing: the values of the field {field:?} are of a type that {number} is not of"
                ),
            ),
        }
    }

    /// Registers a column under a name of its own, which this returns. The name is none that a field can have.
    fn source(
        &mut self,
        found: Option<(Column<u64>, ColumnType)>,
        empty: ColumnType,
        is_hidden: bool,
    ) -> String {
        let num_docs = self.segment().max_doc();
        let (column, column_type) =
            found.unwrap_or_else(|| (Column::build_empty_column(num_docs), empty));
        self.register(Source {
            column,
            column_type,
            use_as: if is_hidden {
                UseAs::Hidden
            } else {
                UseAs::Column
            },
        })
    }

    /// Registers a column whose values are compared as floating point numbers, whatever their type.
    fn as_floats(&mut self, found: Option<(Column<u64>, ColumnType)>) -> String {
        let num_docs = self.segment().max_doc();
        let empty = || (Column::build_empty_column(num_docs), ColumnType::F64);
        let (column, column_type) = found.unwrap_or_else(empty);
        self.register(Source {
            column,
            column_type,
            use_as: UseAs::Floats,
        })
    }

    fn register(&mut self, source: Source) -> String {
        self.num_sources += 1;
        let name = format!("\0{}", self.num_sources);
        self.sources.register(&name, Arc::new(source));
        name
    }

    fn composite(&self, path: &str, composite: &CompositeAggregation) -> tantivy::Result<()> {
        for source in &composite.sources {
            match source {
                CompositeAggregationSource::Terms(_) => {}
                CompositeAggregationSource::Histogram(source) => {
                    let found = self.number_or_date(path, &source.field)?;
                    check_places(path, found.as_ref(), source.interval)?;
                }
                CompositeAggregationSource::DateHistogram(source) => {
                    let found = self.column(&source.field, &[ColumnType::DateTime])?;
                    let Some((column, _)) = found else {
                        continue;
                    };
                    let first_ns = i64::from_u64(column.min_value());
                    let is_fixed = source.fixed_interval.is_some();
                    // Fixed intervals are counted from 1970 towards it, on both sides.
                    let is_wrong = is_fixed && first_ns < 0 || first_ns < i64::MIN + YEAR_NS;
                    if is_wrong {
                        return refused(
                            path,
                            &format!(
                                "the field {:?} has dates before 1970, which composite puts into wrong buckets: \
                                 use date_histogram",
                                source.field
                            ),
                        );
                    }
                }
            }
        }
        Ok(())
    }

    /// Leaves out the fields that no document of the split has: tantivy panics at them.
    fn top_hits(&self, top_hits: &mut TopHitsAggregationReq) -> tantivy::Result<()> {
        let mut fields = Vec::new();
        for field in top_hits.value_field_names() {
            if !self.handles(field)?.is_empty() {
                fields.push(field.to_owned());
            }
        }
        let internal = |error: serde_json::Error| TantivyError::InternalError(error.to_string());
        let mut json = serde_json::to_value(&*top_hits).map_err(internal)?;
        if let Some(json) = json.as_object_mut() {
            json.insert("docvalue_fields".to_owned(), fields.into());
        }
        *top_hits = serde_json::from_value(json).map_err(internal)?;
        Ok(())
    }
}

/// Checks that floating point numbers tell the buckets of a histogram over these values apart.
fn check_places(
    path: &str,
    column: Option<&(Column<u64>, ColumnType)>,
    interval: f64,
) -> tantivy::Result<()> {
    let Some((column, column_type)) = column else {
        return Ok(());
    };
    let place = |value: u64| match column_type {
        ColumnType::I64 | ColumnType::DateTime => i64::from_u64(value) as f64 / interval,
        ColumnType::F64 => f64::from_u64(value) / interval,
        _ => value as f64 / interval,
    };
    let (first, last) = (place(column.min_value()), place(column.max_value()));
    match first.abs().max(last.abs()) > MAX_BUCKET_PLACE {
        true => refused(
            path,
            "interval: this is too small for the values that the field has",
        ),
        false => Ok(()),
    }
}

/// A column that is registered for one aggregation.
#[derive(Clone)]
struct Source {
    column: Column<u64>,
    column_type: ColumnType,
    use_as: UseAs,
}

#[derive(Clone, Copy)]
enum UseAs {
    /// What it is.
    Column,
    /// Something that has values, and of which no more is known.
    Hidden,
    /// Floating point numbers.
    Floats,
}

impl ValueSourceProvider for Source {
    fn for_segment(
        &self,
        _: &SegmentReader,
        _: Option<&[ColumnType]>,
    ) -> tantivy::Result<Option<Box<dyn ValueSource>>> {
        let column = (self.column.clone(), self.column_type);
        Ok(Some(match self.use_as {
            UseAs::Column => Box::new(column),
            UseAs::Hidden => Box::new(Hidden(column)),
            UseAs::Floats => Box::new(column).to_f64(),
        }))
    }
}

/// A column that does not say that it is one.
struct Hidden((Column<u64>, ColumnType));

impl fmt::Debug for Hidden {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Hidden")
    }
}

impl ValueSource for Hidden {
    fn column_type(&self) -> ColumnType {
        self.0.1
    }

    fn load_block(
        &mut self,
        docs: &[DocId],
        values: &mut Vec<u64>,
        doc_ids: &mut Vec<DocId>,
        row_ids: &mut Vec<RowId>,
    ) -> Cardinality {
        self.0.load_block(docs, values, doc_ids, row_ids)
    }

    fn to_f64(self: Box<Self>) -> Box<dyn ValueSource> {
        Box::new(self.0).to_f64()
    }
}
