//! What aggregations read, and running them over one split.

use tantivy::aggregation::agg_req::{AggregationVariants, Aggregations, get_fast_field_names};
use tantivy::query::QueryParser;

use crate::query::Needs;
use crate::split::OpenSplit;

/// Notes what the aggregations read: columns, and the terms of filters.
pub(super) fn note_needs(split: &OpenSplit, aggregations: &Aggregations, needs: &mut Needs) {
    needs.fast_fields.extend(get_fast_field_names(aggregations));
    note_filters(split, aggregations, needs);
}

fn note_filters(split: &OpenSplit, aggregations: &Aggregations, needs: &mut Needs) {
    for aggregation in aggregations.values() {
        if let AggregationVariants::Filter(filter) = &aggregation.agg
            && let Some(query) = filter_query(split, filter)
        {
            query.query_terms(&mut |term, positions| needs.term(term, positions));
        }
        note_filters(split, &aggregation.sub_aggregation, needs);
    }
}

/// The filter's query as tantivy's collector will parse it.
fn filter_query(
    split: &OpenSplit,
    filter: &tantivy::aggregation::bucket::FilterAggregation,
) -> Option<Box<dyn tantivy::query::Query>> {
    let json = serde_json::to_value(filter).ok()?;
    let parser = QueryParser::new(
        split.segment().schema().clone(),
        Vec::new(),
        split.mapper.tokenizers(),
    );
    parser.parse_query(json.as_str()?).ok()
}
