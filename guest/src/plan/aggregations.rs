//! Checks aggregations against the doc mapping, before any split is opened.

use canter_doc_mapper::{DocMapper, FieldKind, ResolvedField};
use tantivy::aggregation::agg_req::{AggregationVariants, Aggregations};
use tantivy::aggregation::bucket::{CompositeAggregationSource, RangeAggregation};

use crate::SearchError;
use crate::leaf::filter_text;
use crate::query::{build_query, parse_query};
use crate::request::Limits;

/// What an aggregation takes.
#[derive(Clone, Copy, PartialEq)]
enum Takes {
    /// Numbers and dates.
    NumbersAndDates,
    Numbers,
    Dates,
    /// All that has an order and a name: everything but bytes.
    Terms,
}

impl Takes {
    fn takes(self, kind: &FieldKind) -> bool {
        match kind {
            // Its values tell: the leaf looks at them.
            FieldKind::Json(_) => true,
            FieldKind::Object(_) | FieldKind::Bytes(_) => false,
            FieldKind::U64(_) | FieldKind::I64(_) | FieldKind::F64(_) => self != Self::Dates,
            FieldKind::Date(_) => self != Self::Numbers,
            FieldKind::Text(_) | FieldKind::Bool | FieldKind::Ip => self == Self::Terms,
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::NumbersAndDates => "numbers and dates",
            Self::Numbers => "numbers",
            Self::Dates => "dates",
            Self::Terms => "fields with terms",
        }
    }
}

/// Checks that each aggregation is of fields that it can be of.
pub(super) struct AggregationCheck<'a> {
    pub(super) mapper: &'a DocMapper,
    pub(super) search_fields: &'a [String],
    pub(super) limits: &'a Limits,
}

impl AggregationCheck<'_> {
    /// # Errors
    /// What is wrong, with its place in the request in front.
    pub(super) fn all(&self, path: &str, aggregations: &Aggregations) -> Result<(), SearchError> {
        for (name, aggregation) in aggregations {
            let path = format!("{path}.{name}");
            self.one(&path, &aggregation.agg)?;
            self.all(&format!("{path}.aggs"), &aggregation.sub_aggregation)?;
        }
        Ok(())
    }

    fn one(&self, path: &str, aggregation: &AggregationVariants) -> Result<(), SearchError> {
        let takes = match aggregation {
            AggregationVariants::Histogram(_)
            | AggregationVariants::Average(_)
            | AggregationVariants::Sum(_)
            | AggregationVariants::Min(_)
            | AggregationVariants::Max(_)
            | AggregationVariants::Stats(_)
            | AggregationVariants::ExtendedStats(_)
            | AggregationVariants::Percentiles(_) => Takes::NumbersAndDates,
            AggregationVariants::DateHistogram(_) => Takes::Dates,
            AggregationVariants::Range(range) => return self.range(path, range),
            AggregationVariants::Terms(_)
            | AggregationVariants::MultiTerms(_)
            | AggregationVariants::Cardinality(_)
            | AggregationVariants::Count(_) => Takes::Terms,
            AggregationVariants::Composite(composite) => {
                return composite.sources.iter().try_for_each(|source| {
                    let (field, takes) = match source {
                        CompositeAggregationSource::Terms(source) => (&source.field, Takes::Terms),
                        CompositeAggregationSource::Histogram(source) => {
                            (&source.field, Takes::Numbers)
                        }
                        CompositeAggregationSource::DateHistogram(source) => {
                            (&source.field, Takes::Dates)
                        }
                    };
                    self.field(path, field, takes).map(drop)
                });
            }
            AggregationVariants::TopHits(top_hits) => {
                let shown = top_hits.value_field_names();
                for field in top_hits.field_names() {
                    // Those to sort by come first; one that is shown too is checked as such there.
                    let takes = match shown.contains(&field) {
                        true => Takes::Terms,
                        false => Takes::NumbersAndDates,
                    };
                    self.field(path, field, takes)?;
                }
                return self.sorted_by_numbers(path, &top_hits.field_names(), shown.len());
            }
            AggregationVariants::Filter(filter) => return self.filter(path, &filter_text(filter)),
        };
        for field in aggregation.get_fast_field_names() {
            self.field(path, field, takes)?;
        }
        Ok(())
    }

    /// `names` are the fields to sort by, and then those that are shown.
    fn sorted_by_numbers(
        &self,
        path: &str,
        names: &[&str],
        num_shown: usize,
    ) -> Result<(), SearchError> {
        let num_keys = names.len().saturating_sub(num_shown);
        names
            .iter()
            .take(num_keys)
            .try_for_each(|field| self.field(path, field, Takes::NumbersAndDates).map(drop))
    }

    fn range(&self, path: &str, range: &RangeAggregation) -> Result<(), SearchError> {
        self.field(path, &range.field, Takes::Numbers).map(drop)
    }

    fn filter(&self, path: &str, query: &str) -> Result<(), SearchError> {
        let built = parse_query(query, self.limits)
            .and_then(|ast| build_query(&ast, self.mapper, self.search_fields, false, self.limits));
        built.map(drop).map_err(|mut error| {
            error.message = format!("{path}.filter: {}", error.message);
            error
        })
    }

    fn field(
        &self,
        path: &str,
        name: &str,
        takes: Takes,
    ) -> Result<ResolvedField<'_>, SearchError> {
        let invalid =
            |what: &str| SearchError::invalid(format!("{path}: the field {name:?} {what}"));
        let Some(field) = self.mapper.resolve(name) else {
            return Err(match self.mapper.resolve_all(name).is_empty() {
                true => invalid("does not exist in this index"),
                false => invalid("is an object: name a field inside it"),
            });
        };
        if !field.is_fast() {
            return Err(invalid(
                "is not fast: set fast: true in its mapping and build the index again",
            ));
        }
        if !takes.takes(field.kind) {
            let takes = takes.in_words();
            let kind = field.kind.type_name();
            return Err(invalid(&format!("has type {kind}; this takes {takes}")));
        }
        Ok(field)
    }
}
