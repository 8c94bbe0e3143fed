//! Applies pipelines to finished buckets: adds results to them, and removes some of them.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::lookup::{key, value_of};
use super::series::{self, Row};
use super::sibling;
use super::types::{End, GapPolicy, Pipeline, PipelineOf};
use crate::key::Key;
use crate::numbers::Number;
use crate::request::exact_number;
use crate::respond::{Bucket, BucketList, Level, Outcome, float};

/// Applies the pipelines of an aggregation to its buckets. Returns the number of buckets removed,
/// including nested ones.
pub(crate) fn apply<'r>(pipelines: &'r [Pipeline], outcome: &mut Outcome<'r>) -> u64 {
    let mut num_cut = 0;
    for pipeline in pipelines {
        match outcome {
            Outcome::Buckets(list) if pipeline.what.is_sibling() => {
                let buckets = list.buckets.iter_mut();
                buckets.for_each(|bucket| add_sibling(pipeline, &mut bucket.inside));
            }
            Outcome::Buckets(list) => num_cut += of_row(pipeline, list),
            Outcome::Bucket(bucket) => add_sibling(pipeline, &mut bucket.inside),
            Outcome::Written(_) | Outcome::Metric(_) => {}
        }
    }
    num_cut
}

/// Applies the pipelines of the outermost level.
pub(crate) fn apply_top<'r>(pipelines: &'r [Pipeline], level: &mut Level<'r>) {
    let pipelines = pipelines.iter();
    pipelines.for_each(|pipeline| add_sibling(pipeline, level));
}

fn add_sibling<'r>(pipeline: &'r Pipeline, level: &mut Level<'r>) {
    if pipeline.what.is_sibling() {
        let value = sibling::computed(pipeline, level);
        add(level, pipeline, value);
    }
}

/// Adds a result to a level, which stays sorted by name.
fn add<'r>(level: &mut Level<'r>, pipeline: &'r Pipeline, mut value: Value) {
    if let Some(format) = &pipeline.format {
        format.add_texts(&mut value);
    }
    let name = pipeline.name.as_str();
    let place = level.partition_point(|(other, _)| *other < name);
    level.insert(place, (name, Outcome::Metric(value)));
}

fn of_row<'r>(pipeline: &'r Pipeline, list: &mut BucketList<'r>) -> u64 {
    let values = |bucket: &Bucket<'_>| -> Row {
        let paths = pipeline.inputs.iter();
        paths
            .map(|path| value_of(bucket, path, pipeline.gaps))
            .collect()
    };
    let first = || -> Row {
        let buckets = list.buckets.iter();
        buckets
            .map(|bucket| value_of(bucket, pipeline.inputs.first()?, pipeline.gaps))
            .collect()
    };
    let results = match &pipeline.what {
        PipelineOf::Derivative { unit_ms } => {
            let row = series::derivative(&first());
            return add_derivatives(pipeline, list, &row, *unit_ms);
        }
        PipelineOf::CumulativeSum => series::cumulative_sum(&first()),
        PipelineOf::SerialDiff { lag } => series::serial_diff(&first(), *lag),
        PipelineOf::MovingFn {
            script,
            window,
            shift,
        } => series::moving(&first(), script, *window, *shift),
        PipelineOf::Normalize(method) => series::normalize(&first(), *method),
        PipelineOf::BucketScript(script) => {
            let of_bucket = |bucket| {
                let inputs = script_inputs(&values(bucket), pipeline.gaps)?;
                Some(script.number(&inputs, &[]))
            };
            list.buckets.iter().map(of_bucket).collect()
        }
        PipelineOf::BucketSelector(script) => {
            let is_kept = |bucket: &Bucket<'_>| {
                let inputs = values(bucket).into_iter();
                let inputs: Vec<f64> = inputs.map(|value| value.unwrap_or(f64::NAN)).collect();
                script.truth(&inputs)
            };
            let (kept, cut) = std::mem::take(&mut list.buckets)
                .into_iter()
                .partition(is_kept);
            list.buckets = kept;
            return num_buckets(&cut);
        }
        PipelineOf::BucketSort {
            descending,
            from,
            size,
        } => {
            let buckets = std::mem::take(&mut list.buckets);
            let (kept, cut) = sorted(pipeline, buckets, descending, *from, *size);
            list.buckets = kept;
            return num_buckets(&cut);
        }
        _ => return 0,
    };
    for (bucket, result) in list.buckets.iter_mut().zip(results) {
        if let Some(result) = result {
            add(
                &mut bucket.inside,
                pipeline,
                json!({ "value": float(result) }),
            );
        }
    }
    0
}

/// Returns the inputs of a script, or `None` if one is missing and the bucket is skipped.
fn script_inputs(values: &[Option<f64>], gaps: GapPolicy) -> Option<Vec<f64>> {
    let inputs = values.iter().map(|value| match gaps {
        GapPolicy::InsertZeros => Some(value.unwrap_or(0.0)),
        GapPolicy::Skip | GapPolicy::KeepValues => value.filter(|value| !value.is_nan()),
    });
    inputs.collect()
}

/// Adds derivatives and, with a unit, those by time: the keys of buckets are milliseconds.
fn add_derivatives<'r>(
    pipeline: &'r Pipeline,
    list: &mut BucketList<'r>,
    row: &[Option<f64>],
    unit_ms: Option<f64>,
) -> u64 {
    let mut before = None;
    for (bucket, result) in list.buckets.iter_mut().zip(row) {
        let now = key(bucket).and_then(Value::as_f64);
        let units = unit_ms.and_then(|unit_ms| Some((now? - before?) / unit_ms));
        before = now;
        let Some(result) = result else {
            continue;
        };
        let value = match units {
            None => json!({ "value": float(*result) }),
            Some(units) => {
                json!({ "value": float(*result), "normalized_value": float(result / units) })
            }
        };
        add(&mut bucket.inside, pipeline, value);
    }
    0
}

/// Sort value of a bucket. Missing values come last in either direction.
enum SortValue {
    Nothing,
    Key(Key),
    Number(Number),
    Text(String),
}

impl SortValue {
    fn compare(&self, other: &Self, is_descending: bool) -> Ordering {
        let directed = |order: Ordering| {
            if is_descending {
                order.reverse()
            } else {
                order
            }
        };
        match (self, other) {
            (Self::Nothing, Self::Nothing) => Ordering::Equal,
            (Self::Nothing, _) => Ordering::Greater,
            (_, Self::Nothing) => Ordering::Less,
            (Self::Key(left), Self::Key(right)) => directed(left.cmp(right)),
            // Either all buckets of an aggregation have a key, or none has.
            (Self::Key(_), _) => directed(Ordering::Less),
            (_, Self::Key(_)) => directed(Ordering::Greater),
            (Self::Number(left), Self::Number(right)) => directed(left.cmp(right)),
            (Self::Text(left), Self::Text(right)) => directed(left.cmp(right)),
            (Self::Number(_), Self::Text(_)) => directed(Ordering::Less),
            (Self::Text(_), Self::Number(_)) => directed(Ordering::Greater),
        }
    }
}

/// Splits buckets into those shown and the rest. Ties keep their order; buckets without any sort
/// value are removed.
fn sorted<'r>(
    pipeline: &Pipeline,
    buckets: Vec<Bucket<'r>>,
    descending: &[bool],
    from: usize,
    size: Option<usize>,
) -> (Vec<Bucket<'r>>, Vec<Bucket<'r>>) {
    let with_values = buckets.into_iter().map(|bucket| {
        let paths = pipeline.inputs.iter();
        let values: Vec<SortValue> = paths
            .map(|path| match path.end {
                End::Key => sort_key(&bucket),
                _ => match value_of(&bucket, path, pipeline.gaps) {
                    Some(value) if !value.is_nan() => SortValue::Number(Number::from(value)),
                    _ => SortValue::Nothing,
                },
            })
            .collect();
        (values, bucket)
    });
    let is_sortable = |(values, _): &(Vec<SortValue>, Bucket<'_>)| {
        let is_nothing = |value: &SortValue| matches!(value, SortValue::Nothing);
        values.is_empty() || !values.iter().all(is_nothing)
    };
    let (mut sortable, others): (Vec<_>, Vec<_>) = with_values.partition(is_sortable);
    canter_sorting::sort_by(&mut sortable, |(left, _), (right, _)| {
        let pairs = left.iter().zip(right).zip(descending);
        let mut orders =
            pairs.map(|((left, right), is_descending)| left.compare(right, *is_descending));
        orders
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    });
    let end = size.map_or(usize::MAX, |size| from.saturating_add(size));
    let mut kept = Vec::new();
    let mut cut: Vec<Bucket<'r>> = others.into_iter().map(|(_, bucket)| bucket).collect();
    for (place, (_, bucket)) in sortable.into_iter().enumerate() {
        match (from..end).contains(&place) {
            true => kept.push(bucket),
            false => cut.push(bucket),
        }
    }
    (kept, cut)
}

fn sort_key(bucket: &Bucket<'_>) -> SortValue {
    if let Some(key) = &bucket.key {
        return SortValue::Key(key.clone());
    }
    match (key(bucket), &bucket.name) {
        (Some(Value::String(text)), _) | (None, Some(text)) => SortValue::Text(text.clone()),
        (Some(key), _) => exact_number(key).map_or(SortValue::Nothing, SortValue::Number),
        (None, None) => SortValue::Nothing,
    }
}

/// Returns the number of buckets, including nested ones.
fn num_buckets(buckets: &[Bucket<'_>]) -> u64 {
    let of_outcome = |outcome: &Outcome<'_>| match outcome {
        Outcome::Buckets(list) => num_buckets(&list.buckets),
        Outcome::Bucket(bucket) => num_buckets(std::slice::from_ref(bucket)),
        Outcome::Written(_) | Outcome::Metric(_) => 0,
    };
    let of_bucket = |bucket: &Bucket<'_>| {
        let inside = bucket.inside.iter();
        1 + inside.map(|(_, outcome)| of_outcome(outcome)).sum::<u64>()
    };
    buckets.iter().map(of_bucket).sum()
}
