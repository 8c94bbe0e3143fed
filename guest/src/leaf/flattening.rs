//! Keeps tantivy from its flattened collector of `terms` with one histogram inside, where that would answer
//! wrongly.
//!
//! The collector counts in a grid with a row for each number up to the largest of the `terms` column. Columns
//! hold numbers in an order-preserving form of 64 bits, in which a signed 0 is 2^63; how many rows there are it
//! computes as `usize`. With 32 bits that wraps: 200 documents of the number 200 are found under
//! -9223372036854775608, floating point numbers share a row, and other numbers lie beyond the grid and trap.
//!
//! It is used only where both columns are at hand as such. So the histogram gets its column through a value
//! source that does not show it, and everything goes the general way; on 64-bit machines too, since what is
//! computed must not depend on the host. Small unsigned numbers and text, whose rows are few, stay.

use std::borrow::Cow;
use std::sync::Arc;

use tantivy::aggregation::agg_req::{Aggregation, AggregationVariants, Aggregations};
use tantivy::aggregation::bucket::TermsAggregation;
use tantivy::aggregation::{ValueSource, ValueSourceProvider, ValueSourceRegistry};
use tantivy::columnar::{Cardinality, Column, ColumnType, RowId};
use tantivy::{DocId, SegmentReader};

/// The request as tantivy is to have it for one segment, and the sources that it names.
pub(super) fn without_flattening<'r>(
    request: &'r Aggregations,
    segment: &SegmentReader,
) -> tantivy::Result<(Cow<'r, Aggregations>, Arc<ValueSourceRegistry>)> {
    let mut sources = ValueSourceRegistry::default();
    let mut changed = None;
    // Only outermost aggregations are flattened.
    for (name, aggregation) in request {
        let Some(field) = flattened_histogram(aggregation, segment)? else {
            continue;
        };
        let alias = alias_of(&field);
        let request = changed.get_or_insert_with(|| request.clone());
        if let Some(inner) = request.get_mut(name).and_then(only_inner) {
            match &mut inner.agg {
                AggregationVariants::Histogram(histogram) => histogram.field.clone_from(&alias),
                AggregationVariants::DateHistogram(histogram) => {
                    histogram.field.clone_from(&alias);
                }
                _ => continue,
            }
            sources.register(&alias, Arc::new(Hidden { field }));
        }
    }
    let request = changed.map_or(Cow::Borrowed(request), Cow::Owned);
    Ok((request, Arc::new(sources)))
}

/// A name that no field has.
fn alias_of(field: &str) -> String {
    format!("\0{field}")
}

fn only_inner(aggregation: &mut Aggregation) -> Option<&mut Aggregation> {
    let mut inner = aggregation.sub_aggregation.values_mut();
    inner.next().filter(|_| inner.len() == 0)
}

/// The field of the histogram, if the aggregation would be flattened with a grid of the wrong size.
fn flattened_histogram(
    aggregation: &Aggregation,
    segment: &SegmentReader,
) -> tantivy::Result<Option<String>> {
    let AggregationVariants::Terms(terms) = &aggregation.agg else {
        return Ok(None);
    };
    let mut inner = aggregation.sub_aggregation.values();
    let (Some(histogram), None) = (inner.next(), inner.next()) else {
        return Ok(None);
    };
    let field = match &histogram.agg {
        AggregationVariants::Histogram(histogram) => &histogram.field,
        AggregationVariants::DateHistogram(histogram) => &histogram.field,
        _ => return Ok(None),
    };
    let is_flat = histogram.sub_aggregation.is_empty();
    let is_wrong = is_flat && has_wide_column(terms, segment)?;
    // tantivy makes a column of no values for a field that has none.
    let has_column = is_wrong
        && !segment
            .fast_fields()
            .dynamic_column_handles(field)?
            .is_empty();
    Ok(has_column.then(|| field.clone()))
}

/// Whether a column of the field may have more rows than 32 bits can count.
fn has_wide_column(terms: &TermsAggregation, segment: &SegmentReader) -> tantivy::Result<bool> {
    for handle in segment.fast_fields().dynamic_column_handles(&terms.field)? {
        let is_wide = match handle.column_type() {
            ColumnType::I64 | ColumnType::F64 | ColumnType::DateTime => true,
            ColumnType::U64 => {
                let column = handle.open_u64_lenient()?;
                let max = column.map_or(0, |column| column.max_value());
                // The value for documents that have none counts among the rows.
                terms.missing.is_some() || max >= u64::from(u32::MAX)
            }
            ColumnType::Bool | ColumnType::Str | ColumnType::Bytes | ColumnType::IpAddr => false,
        };
        if is_wide {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Gives the first column of a field that fits, as tantivy itself would take it.
struct Hidden {
    field: String,
}

impl ValueSourceProvider for Hidden {
    fn for_segment(
        &self,
        segment: &SegmentReader,
        allowed: Option<&[ColumnType]>,
    ) -> tantivy::Result<Option<Box<dyn ValueSource>>> {
        let fits = |column_type| allowed.is_none_or(|allowed| allowed.contains(&column_type));
        for handle in segment.fast_fields().dynamic_column_handles(&self.field)? {
            if fits(handle.column_type())
                && let Some(column) = handle.open_u64_lenient()?
            {
                return Ok(Some(Box::new(HiddenColumn(column, handle.column_type()))));
            }
        }
        let column_type = allowed.and_then(<[_]>::first).copied();
        let column = Column::build_empty_column(segment.max_doc());
        Ok(Some(Box::new(HiddenColumn(
            column,
            column_type.unwrap_or(ColumnType::U64),
        ))))
    }
}

/// A column that does not show itself as one.
#[derive(Debug)]
struct HiddenColumn(Column<u64>, ColumnType);

impl ValueSource for HiddenColumn {
    fn column_type(&self) -> ColumnType {
        self.1
    }

    fn load_block(
        &mut self,
        docs: &[DocId],
        values: &mut Vec<u64>,
        docids: &mut Vec<DocId>,
        row_ids: &mut Vec<RowId>,
    ) -> Cardinality {
        (&self.0, self.1).load_block(docs, values, docids, row_ids)
    }

    fn to_f64(self: Box<Self>) -> Box<dyn ValueSource> {
        Box::new((self.0, self.1)).to_f64()
    }

    fn bounds(&self) -> Option<(u64, u64)> {
        Some((self.0.min_value(), self.0.max_value()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tantivy::aggregation::{
        AggContextParams, AggregationLimitsGuard, AggregationSegmentCollector,
    };
    use tantivy::collector::SegmentCollector;
    use tantivy::schema::{FAST, Schema};
    use tantivy::{Index, TantivyDocument};

    use super::*;

    const INTEGERS: [i64; 6] = [200, -3, 1 << 31, i64::MIN, 200, 404];
    const FLOATS: [f64; 6] = [0.5, -2.25, 1e300, 0.5, -0.0, 7.0];
    const LARGE: [u64; 6] = [1 << 32, (1 << 32) + 1, u64::MAX, 5, 5, 1 << 32];
    const SMALL: [u64; 6] = [1, 2, 3, 1, 2, 3];

    /// Six documents with a value in every column, at the days 0 to 5 of 1970.
    fn segment() -> SegmentReader {
        let mut schema = Schema::builder();
        let integer = schema.add_i64_field("integer", FAST);
        let float = schema.add_f64_field("float", FAST);
        let large = schema.add_u64_field("large", FAST);
        let small = schema.add_u64_field("small", FAST);
        let word = schema.add_text_field("word", FAST);
        let time = schema.add_date_field("time", FAST);
        let mut writer = Index::builder()
            .schema(schema.build())
            .single_segment_index_writer::<TantivyDocument>(
                tantivy::directory::RamDirectory::create(),
                20_000_000,
            )
            .unwrap();
        for ord in 0..6 {
            let mut document = TantivyDocument::new();
            document.add_i64(integer, INTEGERS[ord]);
            document.add_f64(float, FLOATS[ord]);
            document.add_u64(large, LARGE[ord]);
            document.add_u64(small, SMALL[ord]);
            document.add_text(word, if ord < 3 { "a" } else { "b" });
            let day = tantivy::DateTime::from_timestamp_secs(ord as i64 * 86_400);
            document.add_date(time, day);
            writer.add_document(document).unwrap();
        }
        let index = writer.finalize().unwrap();
        let searcher = index.reader().unwrap().searcher();
        searcher.segment_reader(0).clone()
    }

    fn by_day(field: &str) -> Aggregations {
        serde_json::from_value(json!({"a": {
            "terms": {"field": field},
            "aggs": {"days": {"date_histogram": {"field": "time", "fixed_interval": "3d"}}},
        }}))
        .unwrap()
    }

    fn answer(
        request: &Aggregations,
        sources: Arc<ValueSourceRegistry>,
        original: &Aggregations,
    ) -> Value {
        let segment = segment();
        let limits = AggregationLimitsGuard::default();
        let context = AggContextParams::new(limits.clone(), Default::default());
        let mut collector = AggregationSegmentCollector::from_agg_req_and_reader(
            request,
            &segment,
            0,
            &context.with_value_sources(sources),
        )
        .unwrap();
        collector.collect_block(&[0, 1, 2, 3, 4, 5]);
        let partial = collector.harvest().unwrap();
        let whole = partial.into_final_result(original.clone(), limits).unwrap();
        serde_json::to_value(whole).unwrap()
    }

    #[test]
    fn numbers_of_more_than_32_bits_are_not_flattened_and_others_are() {
        let segment = segment();
        for (field, is_hidden) in [
            ("integer", true),
            ("float", true),
            ("large", true),
            ("time", true),
            ("small", false),
            ("word", false),
        ] {
            let request = by_day(field);
            let (changed, _) = without_flattening(&request, &segment).unwrap();
            assert_eq!(matches!(changed, Cow::Owned(_)), is_hidden, "{field}");
            let text = serde_json::to_string(&changed).unwrap();
            assert_eq!(text.contains("\\u0000time"), is_hidden, "{field}: {text}");
        }
        // What tantivy asks for before it flattens.
        let source = Hidden {
            field: "time".to_owned(),
        };
        let source = source.for_segment(&segment, None).unwrap().unwrap();
        assert!(source.as_physical_column().is_none());
    }

    #[test]
    fn only_what_is_flattened_is_changed() {
        let segment = segment();
        for request in [
            json!({"a": {"terms": {"field": "integer"}}}),
            json!({"a": {"terms": {"field": "integer"}, "aggs": {
                "h": {"histogram": {"field": "float", "interval": 1}}, "m": {"max": {"field": "float"}}}}}),
            json!({"a": {"terms": {"field": "integer"}, "aggs": {
                "h": {"histogram": {"field": "small", "interval": 1}, "aggs": {"m": {"max": {"field": "float"}}}}}}}),
            json!({"a": {"histogram": {"field": "small", "interval": 1}, "aggs": {
                "t": {"terms": {"field": "integer"}}}}}),
            json!({"a": {"terms": {"field": "absent"}, "aggs": {
                "h": {"histogram": {"field": "absent", "interval": 1}}}}}),
        ] {
            let request: Aggregations = serde_json::from_value(request).unwrap();
            let (changed, _) = without_flattening(&request, &segment).unwrap();
            assert!(matches!(changed, Cow::Borrowed(_)), "{request:?}");
        }
    }

    /// Keys with the counts of the two spans of three days, by a plain scan.
    #[test]
    fn terms_by_day_are_those_of_a_plain_scan() {
        let scan = |keys: &[Value]| {
            let mut buckets: Vec<(Value, [u64; 2])> = Vec::new();
            for (ord, key) in keys.iter().enumerate() {
                if !buckets.iter().any(|(other, _)| other == key) {
                    buckets.push((key.clone(), [0, 0]));
                }
                let bucket = buckets.iter_mut().find(|(other, _)| other == key);
                bucket.unwrap().1[ord / 3] += 1;
            }
            buckets.sort_by(|(a, _), (b, _)| a.as_f64().unwrap().total_cmp(&b.as_f64().unwrap()));
            buckets
        };
        for (field, keys) in [
            ("integer", INTEGERS.map(Value::from)),
            ("float", FLOATS.map(Value::from)),
            ("large", LARGE.map(Value::from)),
            ("small", SMALL.map(Value::from)),
        ] {
            let request = by_day(field);
            let (changed, sources) = without_flattening(&request, &segment()).unwrap();
            let answer = answer(&changed, sources, &request);
            let found = answer["a"]["buckets"]
                .as_array()
                .unwrap()
                .iter()
                .map(|bucket| {
                    let mut counts = [0, 0];
                    for day in bucket["days"]["buckets"].as_array().unwrap() {
                        let third = day["key"].as_f64().unwrap() / 86_400_000.0 / 3.0;
                        counts[third as usize] = day["doc_count"].as_u64().unwrap();
                    }
                    (bucket["key"].clone(), counts)
                });
            let mut found: Vec<_> = found.collect();
            found.sort_by(|(a, _), (b, _)| a.as_f64().unwrap().total_cmp(&b.as_f64().unwrap()));
            let expected = scan(&keys);
            assert_eq!(found.len(), expected.len(), "{field}: {answer}");
            for ((found, counts), (key, expected)) in found.iter().zip(&expected) {
                assert_eq!(found.as_f64(), key.as_f64(), "{field}: {answer}");
                assert_eq!(counts, expected, "{field}: {answer}");
            }
        }
    }
}
