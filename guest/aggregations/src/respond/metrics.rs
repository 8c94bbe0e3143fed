//! Metrics in an answer, from their states.

use canter_geo::GeoBox;
use serde_json::{Map, Value, json};

use super::Dialect;
use super::keys::{float, shown};
use super::ranked::top_hits;
use crate::calendar::{DateFormat, Zone};
use crate::key::Key;
use crate::numbers::{
    BOXPLOT, ExtendedStats, HdrHistogram, Number, QuantileSketch, Spread, Stats, StringStats,
};
use crate::partial::{self, Metrics, PlaceSum, TopList};
use crate::request::{Metric, MetricOf, TopHits};

/// Numbers of a metric in one bucket.
pub(crate) struct Shown<'a> {
    request: &'a Metric,
    /// State; `None` without documents.
    states: Option<(&'a Metrics, usize)>,
    is_date: bool,
}

impl<'a> Shown<'a> {
    pub(crate) fn new(request: &'a Metric, found: Option<(&'a partial::Metric, usize)>) -> Self {
        Self {
            request,
            states: found.map(|(metric, place)| (&metric.states, place)),
            is_date: found.is_some_and(|(metric, _)| metric.is_date),
        }
    }

    fn stats(&self) -> Option<&'a Stats> {
        match self.states? {
            (Metrics::Stats(list), place) => list.get(place),
            (Metrics::ExtendedStats(list), place) => list.get(place).map(ExtendedStats::stats),
            _ => None,
        }
    }

    fn extended(&self) -> Option<&'a ExtendedStats> {
        match self.states? {
            (Metrics::ExtendedStats(list), place) => list.get(place),
            _ => None,
        }
    }

    fn sketch(&self) -> Option<&'a QuantileSketch> {
        match self.states? {
            (Metrics::Quantiles(list), place) => list.get(place),
            _ => None,
        }
    }

    fn hdr(&self) -> Option<&'a HdrHistogram> {
        match self.states? {
            (Metrics::Hdr(list), place) => list.get(place),
            _ => None,
        }
    }

    fn percentile(&self, percent: f64, hdr: Option<u8>) -> Option<f64> {
        match hdr {
            Some(digits) => self.hdr()?.percentile(percent, digits),
            None => self.sketch()?.quantile(percent / 100.0),
        }
    }

    fn rank(&self, value: f64, hdr: Option<u8>) -> Option<f64> {
        match hdr {
            Some(digits) => self.hdr()?.rank(value, digits),
            None => self.sketch()?.rank(value),
        }
    }

    /// Returns one of the statistics; the sum of no values is 0.
    fn stat(&self, property: &str) -> Value {
        let stats = self.stats();
        let end = |end: Option<Number>| end.map_or(Value::Null, |end| float(end.to_f64()));
        match property {
            "count" => Value::from(stats.map_or(0, Stats::count)),
            "sum" => float(stats.map_or(0.0, |stats| stats.sum().to_f64())),
            "min" => end(stats.and_then(Stats::min)),
            "max" => end(stats.and_then(Stats::max)),
            "avg" => stats.and_then(Stats::avg).map_or(Value::Null, float),
            _ => Value::Null,
        }
    }

    fn extended_stat(&self, property: &str) -> Value {
        let extended = self.extended();
        let variance = |spread| extended.and_then(|stats| stats.variance(spread));
        let deviation = |spread| extended.and_then(|stats| stats.std_deviation(spread));
        let found = match property {
            "sum_of_squares" => extended
                .filter(|stats| stats.stats().count() > 0)
                .map(|stats| stats.sum_of_squares().to_f64()),
            "variance" | "variance_population" => variance(Spread::Population),
            "variance_sampling" => variance(Spread::Sampling),
            "std_deviation" | "std_deviation_population" => deviation(Spread::Population),
            "std_deviation_sampling" => deviation(Spread::Sampling),
            _ => return self.stat(property),
        };
        found.map_or(Value::Null, float)
    }

    /// Returns the number for an order or a pipeline; an empty property means the only one.
    pub(super) fn property(&self, property: &str) -> Option<f64> {
        let value = match &self.request.what {
            MetricOf::Avg => self.stat("avg"),
            MetricOf::Sum => self.stat("sum"),
            MetricOf::Min => self.stat("min"),
            MetricOf::Max => self.stat("max"),
            MetricOf::Stats => self.stat(property),
            MetricOf::ExtendedStats { .. } => self.extended_stat(property),
            MetricOf::Percentiles { hdr, .. } => {
                return self.percentile(property.parse().ok()?, *hdr);
            }
            MetricOf::PercentileRanks { hdr, .. } => {
                return self.rank(property.parse().ok()?, *hdr);
            }
            MetricOf::StringStats { .. } | MetricOf::Boxplot => self.shown(property),
            _ => self.shown("value"),
        };
        value.as_f64()
    }

    /// Returns a number of the answer, which is the same in all dialects.
    fn shown(&self, property: &str) -> Value {
        let json = self.to_json(Dialect::Quickwit);
        json.get(property).cloned().unwrap_or_default()
    }

    pub(crate) fn to_json(&self, dialect: Dialect) -> Value {
        let usual = dialect.dates();
        match &self.request.what {
            MetricOf::Avg => self.value("avg", usual),
            MetricOf::Sum => self.value("sum", usual),
            MetricOf::Min => self.value("min", usual),
            MetricOf::Max => self.value("max", usual),
            MetricOf::Stats => self.stats_json(&["min", "max", "avg", "sum"], usual),
            MetricOf::ExtendedStats { sigma } => self.extended_json(*sigma, usual),
            MetricOf::ValueCount => match self.states {
                Some((Metrics::Counts(counts), place)) => {
                    json!({ "value": counts.get(place).copied().unwrap_or_default() })
                }
                _ => json!({ "value": 0 }),
            },
            MetricOf::WeightedAvg { .. } => {
                let value = match self.states {
                    Some((Metrics::WeightedAverages(list), place)) => {
                        list.get(place).and_then(|average| average.value())
                    }
                    _ => None,
                };
                json!({ "value": value.map_or(Value::Null, float) })
            }
            MetricOf::MedianAbsoluteDeviation => {
                let value = self
                    .sketch()
                    .and_then(QuantileSketch::median_absolute_deviation);
                json!({ "value": value.map_or(Value::Null, float) })
            }
            MetricOf::Boxplot => self.boxplot(),
            MetricOf::Cardinality => {
                let value = match self.states {
                    Some((Metrics::Cardinalities(list), place)) => {
                        list.get(place).map_or(0, |sketch| sketch.estimate())
                    }
                    _ => 0,
                };
                json!({ "value": value })
            }
            MetricOf::Percentiles {
                percents,
                is_keyed,
                hdr,
            } => self.percentiles(percents, *is_keyed, *hdr, dialect),
            MetricOf::PercentileRanks {
                values,
                is_keyed,
                hdr,
            } => by_number(values, *is_keyed, |value| self.rank(*value, *hdr)),
            MetricOf::TopHits(request) => top_hits(request, self.top_list(), dialect),
            MetricOf::TopMetrics(request) => top_metrics(request, self.top_list(), usual),
            // It depends on the parent bucket.
            MetricOf::Rate(_) => Value::Null,
            MetricOf::StringStats { has_distribution } => self.string_stats(*has_distribution),
            MetricOf::GeoBounds { may_wrap } => {
                let bounds = match self.states {
                    Some((Metrics::PlaceBounds(list), place)) => list.get(place),
                    _ => None,
                };
                geo_bounds(bounds.and_then(|bounds| bounds.bounds(*may_wrap)))
            }
            MetricOf::GeoCentroid => match self.states {
                Some((Metrics::PlaceSums(list), place)) => geo_centroid(list.get(place)),
                _ => geo_centroid(None),
            },
        }
    }

    fn boxplot(&self) -> Value {
        let numbers = self.sketch().and_then(QuantileSketch::boxplot);
        let shown = BOXPLOT.iter().enumerate().map(|(at, name)| {
            let number = numbers.as_ref().and_then(|numbers| numbers.get(at));
            let number = number.map_or(Value::Null, |number| float(*number));
            ((*name).to_owned(), number)
        });
        Value::Object(shown.collect())
    }

    fn percentiles(
        &self,
        percents: &[f64],
        is_keyed: bool,
        hdr: Option<u8>,
        dialect: Dialect,
    ) -> Value {
        let percentile = |percent: &f64| self.percentile(*percent, hdr);
        match self.is_date && dialect == Dialect::Elasticsearch {
            true => self.dates_by_number(percents, is_keyed, percentile, dialect.dates()),
            false => by_number(percents, is_keyed, percentile),
        }
    }

    /// Builds `values` with their texts as dates, by number or as a list.
    fn dates_by_number(
        &self,
        numbers: &[f64],
        is_keyed: bool,
        value_of: impl Fn(&f64) -> Option<f64>,
        usual: &DateFormat,
    ) -> Value {
        let found = numbers.iter().map(|number| {
            let value = value_of(number).map_or(Value::Null, float);
            let text = self.as_text(&value, usual).map_or(Value::Null, Value::from);
            (*number, value, text)
        });
        let values: Value = match is_keyed {
            true => {
                let mut named = Map::new();
                for (number, value, text) in found {
                    named.insert(format!("{number:?}"), value);
                    if !text.is_null() {
                        named.insert(format!("{number:?}_as_string"), text);
                    }
                }
                Value::Object(named)
            }
            false => found
                .map(|(number, value, text)| match text.is_null() {
                    true => json!({ "key": number, "value": value }),
                    false => json!({ "key": number, "value": value, "value_as_string": text }),
                })
                .collect(),
        };
        json!({ "values": values })
    }

    pub(super) fn top_list(&self) -> Option<&'a TopList> {
        match self.states? {
            (Metrics::TopLists(lists), place) => lists.get(place),
            _ => None,
        }
    }

    fn string_stats(&self, has_distribution: bool) -> Value {
        let none = StringStats::default();
        let stats = match self.states {
            Some((Metrics::Strings(list), place)) => list.get(place).unwrap_or(&none),
            _ => &none,
        };
        let lengths = stats.lengths();
        let mut json = json!({
            "count": stats.count(),
            "min_length": lengths.map(|(least, _)| least),
            "max_length": lengths.map(|(_, most)| most),
            "avg_length": stats.avg_length().map_or(Value::Null, float),
            "entropy": float(stats.entropy()),
        });
        if has_distribution && let Value::Object(fields) = &mut json {
            let mut shares: Vec<(char, f64)> = stats.distribution().collect();
            // The most frequent first; ties stay in the order of characters.
            canter_sorting::sort_by(&mut shares, |(_, left), (_, right)| right.total_cmp(left));
            let shares = shares.into_iter();
            let shares = shares.map(|(character, share)| (character.to_string(), float(share)));
            fields.insert("distribution".to_owned(), Value::Object(shares.collect()));
        }
        json
    }

    /// Returns one number, and its text if it is a date; `usual` is the default format.
    fn value(&self, property: &str, usual: &DateFormat) -> Value {
        let value = self.stat(property);
        match (self.as_text(&value, usual), property) {
            (Some(text), "avg" | "min" | "max") => {
                json!({ "value": value, "value_as_string": text })
            }
            _ => json!({ "value": value }),
        }
    }

    fn as_text(&self, value: &Value, usual: &DateFormat) -> Option<String> {
        const MILLISECOND_NS: i64 = 1_000_000;
        let time_ms = value.as_f64().filter(|_| self.is_date)?;
        // Digits below a millisecond would not be reliable, and Elasticsearch shows none.
        #[expect(
            clippy::cast_possible_truncation,
            reason = "saturates, as times at the ends do"
        )]
        let time_ns = (time_ms as i64).saturating_mul(MILLISECOND_NS);
        let utc = Zone::utc();
        let format = self.request.format.as_ref().unwrap_or(usual);
        Some(format.format(time_ns, &utc))
    }

    fn stats_json(&self, properties: &[&str], usual: &DateFormat) -> Value {
        let mut fields = Map::new();
        fields.insert("count".to_owned(), self.stat("count"));
        for property in properties {
            let value = self.extended_stat(property);
            fields.insert((*property).to_owned(), value);
        }
        for property in ["min", "max", "avg"] {
            let value = fields.get(property);
            if let Some(text) = value.and_then(|value| self.as_text(value, usual)) {
                fields.insert(format!("{property}_as_string"), Value::from(text));
            }
        }
        Value::Object(fields)
    }

    fn extended_json(&self, sigma: f64, usual: &DateFormat) -> Value {
        const PROPERTIES: [&str; 11] = [
            "min",
            "max",
            "avg",
            "sum",
            "sum_of_squares",
            "variance",
            "variance_population",
            "variance_sampling",
            "std_deviation",
            "std_deviation_population",
            "std_deviation_sampling",
        ];
        let mut json = self.stats_json(&PROPERTIES, usual);
        let bounds = |spread| {
            let bounds = self
                .extended()
                .and_then(|stats| stats.std_deviation_bounds(sigma, spread));
            let ends = bounds.map(|bounds| (float(bounds.upper), float(bounds.lower)));
            ends.unwrap_or_default()
        };
        let (upper, lower) = bounds(Spread::Population);
        let (upper_sampling, lower_sampling) = bounds(Spread::Sampling);
        if let Value::Object(fields) = &mut json {
            let bounds = json!({
                "upper": upper,
                "lower": lower,
                "upper_population": upper,
                "lower_population": lower,
                "upper_sampling": upper_sampling,
                "lower_sampling": lower_sampling,
            });
            fields.insert("std_deviation_bounds".to_owned(), bounds);
        }
        json
    }
}

/// Builds `values`, by number or as a list.
pub(crate) fn by_number(
    numbers: &[f64],
    is_keyed: bool,
    value_of: impl Fn(&f64) -> Option<f64>,
) -> Value {
    let value = |number: &f64| value_of(number).map_or(Value::Null, float);
    let values: Value = match is_keyed {
        true => {
            let named = numbers
                .iter()
                .map(|number| (format!("{number:?}"), value(number)));
            Value::Object(named.collect())
        }
        false => numbers
            .iter()
            .map(|number| json!({ "key": number, "value": value(number) }))
            .collect(),
    };
    json!({ "values": values })
}

/// Builds the answer of `top_metrics`, with one value for each field, as in Elasticsearch.
fn top_metrics(request: &TopHits, list: Option<&TopList>, usual: &DateFormat) -> Value {
    let hits = list.map_or(&[][..], |list| &list.hits);
    let top = hits.iter().map(|hit| {
        let one = |key: Option<&Key>| key.map_or(Value::Null, |key| shown(key, usual));
        let sort: Vec<Value> = hit.sort.iter().map(|key| one(key.as_ref())).collect();
        let metrics = request.fields.iter().zip(&hit.fields);
        let metrics = metrics.map(|(name, values)| (name.clone(), one(values.first())));
        json!({ "sort": sort, "metrics": Value::Object(metrics.collect()) })
    });
    json!({ "top": top.collect::<Vec<Value>>() })
}

/// Returns a box around places.
fn geo_bounds(bounds: Option<GeoBox>) -> Value {
    match bounds {
        None => json!({}),
        Some(own) => json!({"bounds": {
            "top_left": {"lat": own.top, "lon": own.left},
            "bottom_right": {"lat": own.bottom, "lon": own.right},
        }}),
    }
}

/// Returns the center of places.
fn geo_centroid(sum: Option<&PlaceSum>) -> Value {
    match sum.and_then(PlaceSum::center) {
        None => json!({"count": 0}),
        Some(center) => json!({
            "location": {"lat": center.lat, "lon": center.lon},
            "count": sum.map_or(0, |sum| sum.count),
        }),
    }
}
