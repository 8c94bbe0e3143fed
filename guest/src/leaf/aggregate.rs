//! What aggregations read, and their filters as queries of ours.

use serde::{Serialize, Serializer};
use tantivy::aggregation::agg_req::{AggregationVariants, Aggregations, get_fast_field_names};
use tantivy::aggregation::bucket::{FilterAggregation, QueryBuilder};
use tantivy::query::Query;
use tantivy::schema::Schema;
use tantivy::tokenizer::TokenizerManager;

use crate::SearchError;
use crate::query::{Needs, build_query, parse_query};
use crate::request::Limits;
use crate::split::OpenSplit;

/// The aggregations as one split runs them: each filter is a query that was built for this split. Notes what they
/// read: columns, and what the filters look at.
///
/// # Errors
/// If a filter cannot be built for this split.
pub(super) fn prepare_aggregations(
    split: &OpenSplit,
    aggregations: &Aggregations,
    search_fields: &[String],
    limits: &Limits,
    needs: &mut Needs,
) -> Result<Aggregations, SearchError> {
    needs.fast_fields.extend(get_fast_field_names(aggregations));
    let mut prepared = aggregations.clone();
    build_filters(split, &mut prepared, search_fields, limits, needs)?;
    Ok(prepared)
}

fn build_filters(
    split: &OpenSplit,
    aggregations: &mut Aggregations,
    search_fields: &[String],
    limits: &Limits,
    needs: &mut Needs,
) -> Result<(), SearchError> {
    for aggregation in aggregations.values_mut() {
        if let AggregationVariants::Filter(filter) = &mut aggregation.agg {
            let ast = parse_query(&filter_text(filter), limits)?;
            let built = build_query(&ast, &split.mapper, search_fields, false, limits)?;
            needs.add(built.needs);
            *filter = FilterAggregation::new_with_builder(Box::new(BuiltFilter(built.query)));
        }
        let inside = &mut aggregation.sub_aggregation;
        build_filters(split, inside, search_fields, limits, needs)?;
    }
    Ok(())
}

/// The query of a filter as it stands in the request. tantivy shows it only in this way.
pub(crate) fn filter_text(filter: &FilterAggregation) -> String {
    let json = serde_json::to_value(filter).unwrap_or_default();
    json.as_str().unwrap_or_default().to_owned()
}

/// A filter that tantivy is not to parse: its query language is another one.
#[derive(Debug)]
struct BuiltFilter(Box<dyn Query>);

/// It lives as long as the search of one split, and is never written anywhere.
impl Serialize for BuiltFilter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl QueryBuilder for BuiltFilter {
    fn build_query(&self, _: &Schema, _: &TokenizerManager) -> tantivy::Result<Box<dyn Query>> {
        Ok(self.0.box_clone())
    }

    fn box_clone(&self) -> Box<dyn QueryBuilder> {
        Box::new(Self(self.0.box_clone()))
    }

    fn typetag_name(&self) -> &'static str {
        "canter"
    }

    fn typetag_deserialize(&self) {}
}
