//! Aggregations that the head alone answers: date histograms on the sort field, terms of rolled-up
//! fields, and terms inside such histograms, over all documents of a split.

use canter_split_format::Rollup;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use tantivy::aggregation::agg_req::{Aggregation, AggregationVariants, Aggregations};
use tantivy::aggregation::bucket::{DateHistogramAggregationReq, TermsAggregation};
use tantivy::aggregation::intermediate_agg_result::{
    IntermediateAggregationResult, IntermediateAggregationResults, IntermediateBucketResult,
    IntermediateHistogramBucketEntry, IntermediateKey, IntermediateTermBucketEntry,
    IntermediateTermBucketResult,
};

use crate::split::OpenSplit;

/// The whole answer to `aggregations` for all documents of a split, if its head holds it.
pub(super) fn from_rollup(
    split: &OpenSplit,
    aggregations: &Aggregations,
) -> Option<IntermediateAggregationResults> {
    let rollup = split.rollup.as_ref()?;
    let sort_field = split.metadata.sort_field.as_deref()?;
    let mut results = IntermediateAggregationResults::default();
    for (name, aggregation) in aggregations {
        let bucket = one(rollup, sort_field, aggregation)?;
        results
            .push(name.clone(), IntermediateAggregationResult::Bucket(bucket))
            .ok()?;
    }
    Some(results)
}

fn one(
    rollup: &Rollup,
    sort_field: &str,
    aggregation: &Aggregation,
) -> Option<IntermediateBucketResult> {
    match &aggregation.agg {
        AggregationVariants::DateHistogram(histogram) if histogram.field == sort_field => {
            date_histogram(rollup, histogram, &aggregation.sub_aggregation)
        }
        AggregationVariants::Terms(terms) if aggregation.sub_aggregation.is_empty() => {
            terms_of(rollup, terms, 0..rollup.num_docs().len())
        }
        _ => None,
    }
}

fn date_histogram(
    rollup: &Rollup,
    request: &DateHistogramAggregationReq,
    sub_aggregations: &Aggregations,
) -> Option<IntermediateBucketResult> {
    let plain = request.interval.is_none()
        && request.calendar_interval.is_none()
        && request.format.is_none()
        && request.offset.is_none()
        && request.hard_bounds.is_none();
    let interval_ns = interval_ns(request.fixed_interval.as_deref()?)?;
    if !plain || interval_ns % rollup.width_ns() != 0 {
        return None;
    }
    let step = interval_ns / rollup.width_ns();
    let num_buckets = rollup.num_docs().len();
    let mut buckets = Vec::new();
    let mut slot = 0;
    while slot < num_buckets {
        let wide_bucket = bucket_at(rollup, slot)?.div_euclid(step);
        let next = wide_bucket.checked_add(1)?.checked_mul(step)?;
        let end = usize::try_from(next.checked_sub(rollup.first_bucket())?)
            .ok()?
            .min(num_buckets);
        let doc_count: u64 = rollup
            .num_docs()
            .get(slot..end)?
            .iter()
            .map(|count| u64::from(*count))
            .sum();
        if doc_count > 0 {
            let mut sub_aggregation = IntermediateAggregationResults::default();
            for (name, aggregation) in sub_aggregations {
                let AggregationVariants::Terms(terms) = &aggregation.agg else {
                    return None;
                };
                if !aggregation.sub_aggregation.is_empty() {
                    return None;
                }
                let bucket = terms_of(rollup, terms, slot..end)?;
                sub_aggregation
                    .push(name.clone(), IntermediateAggregationResult::Bucket(bucket))
                    .ok()?;
            }
            buckets.push(IntermediateHistogramBucketEntry {
                key: wide_bucket as f64 * interval_ns as f64,
                doc_count,
                sub_aggregation,
            });
        }
        slot = end;
    }
    Some(IntermediateBucketResult::Histogram {
        is_date_agg: true,
        buckets,
    })
}

fn bucket_at(rollup: &Rollup, slot: usize) -> Option<i64> {
    rollup.first_bucket().checked_add(i64::try_from(slot).ok()?)
}

fn terms_of(
    rollup: &Rollup,
    request: &TermsAggregation,
    buckets: std::ops::Range<usize>,
) -> Option<IntermediateBucketResult> {
    let plain = request.missing.is_none()
        && request.include.is_none()
        && request.exclude.is_none()
        && request.min_doc_count != Some(0);
    if !plain {
        return None;
    }
    let field = rollup.field(&request.field)?;
    if request
        .segment_size
        .is_some_and(|most| field.keys.len() as u64 > u64::from(most))
    {
        return None;
    }
    let entries = field
        .keys
        .iter()
        .zip(field.counts_in(buckets))
        .filter(|(_, doc_count)| *doc_count > 0)
        .map(|(key, doc_count)| {
            let entry = IntermediateTermBucketEntry {
                doc_count,
                sub_aggregation: IntermediateAggregationResults::default(),
            };
            (IntermediateKey::Str(key.clone()), entry)
        })
        .collect();
    Some(IntermediateBucketResult::Terms {
        buckets: term_buckets(entries)?,
    })
}

/// tantivy keeps the fields of its terms result to itself but reads and writes it with serde; this
/// is the same shape.
#[derive(Serialize)]
struct TermBuckets {
    #[serde(serialize_with = "as_map")]
    entries: Vec<(IntermediateKey, IntermediateTermBucketEntry)>,
    sum_other_doc_count: u64,
    doc_count_error_upper_bound: u64,
}

fn as_map<S: Serializer>(
    entries: &[(IntermediateKey, IntermediateTermBucketEntry)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(entries.len()))?;
    for (key, entry) in entries {
        map.serialize_entry(key, entry)?;
    }
    map.end()
}

fn term_buckets(
    entries: Vec<(IntermediateKey, IntermediateTermBucketEntry)>,
) -> Option<IntermediateTermBucketResult> {
    let bytes = postcard::to_allocvec(&TermBuckets {
        entries,
        sum_other_doc_count: 0,
        doc_count_error_upper_bound: 0,
    })
    .ok()?;
    postcard::from_bytes(&bytes).ok()
}

/// Nanoseconds of a fixed interval such as `30s` or `1d`.
fn interval_ns(text: &str) -> Option<i64> {
    let unit_at = text.find(|character: char| !character.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(unit_at)?;
    let unit_ns: i64 = match unit {
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    number
        .parse::<i64>()
        .ok()?
        .checked_mul(unit_ns)
        .filter(|interval| *interval > 0)
}
