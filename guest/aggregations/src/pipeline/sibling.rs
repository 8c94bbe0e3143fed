//! Sibling pipelines: one result from the buckets of an aggregation of the same level.

use serde_json::{Value, json};

use super::lookup::{find, key, value_of};
use super::types::{BucketsPath, Pipeline, PipelineOf};
use crate::numbers::ExtendedStats;
use crate::partial::Metrics;
use crate::request::{Metric, MetricOf, Source};
use crate::respond::{BucketList, Dialect, Level, Outcome, Shown, by_number, float};

/// Computes the result of a sibling pipeline in a level.
pub(super) fn computed(pipeline: &Pipeline, level: &Level<'_>) -> Value {
    let path = pipeline.inputs.first();
    let list = path.and_then(|path| list_of(level, path));
    let buckets = list.map_or(&[][..], |list| &list.buckets);
    let values: Vec<(usize, f64)> = buckets
        .iter()
        .enumerate()
        .filter_map(|(place, bucket)| {
            let value = value_of(bucket, path?, pipeline.gaps)?;
            (!value.is_nan()).then_some((place, value))
        })
        .collect();
    let numbers = || values.iter().map(|(_, value)| *value);
    let best = |best: Option<f64>| {
        let keys = values.iter().filter(|(_, value)| Some(*value) == best);
        let keys = keys.filter_map(|(place, _)| list.map(|list| key_text(list, *place)));
        let keys: Vec<Value> = keys.map(Value::from).collect();
        json!({ "value": best.map_or(Value::Null, float), "keys": keys })
    };
    let stats = |what: MetricOf| {
        let mut stats = ExtendedStats::default();
        numbers().for_each(|value| stats.add_repeated(value, 1));
        shown(what, stats)
    };
    match &pipeline.what {
        PipelineOf::MaxBucket => best(numbers().reduce(super::script::larger)),
        PipelineOf::MinBucket => best(numbers().reduce(super::script::smaller)),
        PipelineOf::AvgBucket => stats(MetricOf::Avg),
        PipelineOf::SumBucket => stats(MetricOf::Sum),
        PipelineOf::StatsBucket => stats(MetricOf::Stats),
        PipelineOf::ExtendedStatsBucket { sigma } => {
            stats(MetricOf::ExtendedStats { sigma: *sigma })
        }
        PipelineOf::PercentilesBucket { percents, is_keyed } => {
            let mut sorted: Vec<f64> = numbers().collect();
            canter_sorting::sort_by(&mut sorted, f64::total_cmp);
            by_number(percents, *is_keyed, |percent| nearest(&sorted, *percent))
        }
        _ => Value::Null,
    }
}

/// Returns the number at the rank nearest to a percentile, ties rounded up, without interpolation.
pub(super) fn nearest(sorted: &[f64], percent: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let rank = libm::floor(percent / 100.0 * last as f64 + 0.5);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to the last place"
    )]
    let place = (rank as usize).min(last);
    sorted.get(place).copied()
}

fn list_of<'l, 'r>(level: &'l Level<'r>, path: &BucketsPath) -> Option<&'l BucketList<'r>> {
    let mut level = level;
    for name in &path.over {
        match find(level, name)? {
            Outcome::Bucket(bucket) => level = &bucket.inside,
            Outcome::Buckets(list) => return Some(list),
            Outcome::Written(_) | Outcome::Metric(_) => return None,
        }
    }
    None
}

/// Formats statistics like a metric of documents; none of them is a date.
fn shown(what: MetricOf, stats: ExtendedStats) -> Value {
    let states = Metrics::ExtendedStats(vec![stats]);
    let found = crate::partial::Metric {
        is_date: false,
        states,
    };
    let source = Source {
        field: String::new(),
        missing: None,
    };
    let metric = Metric {
        source,
        what,
        format: None,
    };
    Shown::new(&metric, Some((&found, 0))).to_json(Dialect::Quickwit)
}

/// Returns the name of a bucket, its key, or else its index.
fn key_text(list: &BucketList<'_>, place: usize) -> String {
    let Some(bucket) = list.buckets.get(place) else {
        return String::new();
    };
    if let Some(name) = &bucket.name {
        return name.clone();
    }
    let mut fields = bucket.fields.iter();
    let text = fields.find(|(name, _)| *name == "key_as_string");
    match text.map(|(_, text)| text).or_else(|| key(bucket)) {
        Some(Value::String(text)) => text.clone(),
        Some(key) => key.to_string(),
        None => place.to_string(),
    }
}
