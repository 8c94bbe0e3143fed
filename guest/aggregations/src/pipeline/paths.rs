//! `buckets_path`: resolves paths among the aggregations of a request.

use super::types::{BucketStep, BucketsPath, End, Pipeline, PipelineOf};
use crate::numbers::BOXPLOT;
use crate::request::{Aggregation, Kind, Metric, MetricOf};
use crate::{Error, Result};

/// Aggregations and pipelines of one level.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) aggregations: &'a [Aggregation],
    pub(super) pipelines: &'a [Pipeline],
}

impl<'a> Scope<'a> {
    fn inside(aggregation: &'a Aggregation) -> Self {
        Self {
            aggregations: &aggregation.inside,
            pipelines: &aggregation.pipelines,
        }
    }

    fn aggregation(self, name: &str) -> Option<&'a Aggregation> {
        self.aggregations
            .iter()
            .find(|aggregation| aggregation.name == name)
    }

    fn pipeline(self, name: &str) -> Option<&'a Pipeline> {
        self.pipelines.iter().find(|pipeline| pipeline.name == name)
    }
}

/// Path as written, with its location in the request.
pub(super) struct Written<'a> {
    pub(super) place: &'a str,
    pub(super) text: &'a str,
}

/// Returns whether an aggregation has a single bucket.
pub(crate) fn has_one_bucket(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Filter(_) | Kind::Missing(_) | Kind::Nested(_) | Kind::ReverseNested(_)
    )
}

pub(super) fn has_buckets(kind: &Kind) -> bool {
    !has_one_bucket(kind) && !matches!(kind, Kind::Metric(_))
}

/// Returns whether the keys of buckets are numbers.
pub(super) fn has_numbers_as_keys(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Histogram(_) | Kind::DateHistogram(_) | Kind::AutoDateHistogram(_)
    )
}

/// Returns the step into the only bucket of an aggregation.
fn into(name: &str) -> BucketStep {
    BucketStep {
        name: name.to_owned(),
        key: None,
    }
}

/// Returns the aggregation and the bucket that `kinds['hat']` names.
fn one_of_several<'a>(text: &str, scope: Scope<'a>) -> Option<(&'a Aggregation, BucketStep)> {
    let (name, key) = text.strip_suffix(']')?.split_once('[')?;
    let key = ['\'', '"']
        .iter()
        .find_map(|quote| key.strip_prefix(*quote)?.strip_suffix(*quote))?;
    let found = scope.aggregation(name)?;
    has_buckets(&found.kind).then(|| {
        let step = BucketStep {
            name: name.to_owned(),
            key: Some(key.to_owned()),
        };
        (found, step)
    })
}

impl Written<'_> {
    fn invalid(&self, what: &str) -> Error {
        Error::invalid(self.place, &format!("{:?}: {what}", self.text))
    }

    fn unknown(&self, name: &str, scope: Scope<'_>) -> Error {
        let aggregations = scope.aggregations.iter().map(|found| found.name.as_str());
        let pipelines = scope.pipelines.iter().map(|found| found.name.as_str());
        let known: Vec<&str> = aggregations.chain(pipelines).collect();
        let hint = match name.contains('[') {
            true => "; a bucket is named by its key in quotes, as in kinds['hat']>sales",
            false => "",
        };
        self.invalid(&format!(
            "there is no {name:?} where this leads; there are _count, {}{hint}",
            known.join(", ")
        ))
    }

    /// Resolves a path from a level to the buckets of an aggregation, and into each of them.
    pub(super) fn of_level(&self, scope: Scope<'_>) -> Result<BucketsPath> {
        let mut over = Vec::new();
        let (mut scope, mut rest) = (scope, self.text);
        loop {
            // `histogram._count` means `histogram>_count`.
            let (name, next) = match rest.split_once('>') {
                Some((name, next)) => (name.trim(), next.trim()),
                // `histogram.metric` means `histogram>metric`; a name may contain dots.
                None if scope.aggregation(rest.trim()).is_some() => (rest.trim(), ""),
                None => {
                    let mut splits = rest.match_indices('.').filter_map(|(at, _)| {
                        let (name, next) = rest.split_at_checked(at)?;
                        Some((name.trim(), next.trim_start_matches('.').trim()))
                    });
                    let known = splits.find(|(name, _)| scope.aggregation(name).is_some());
                    known.unwrap_or((rest.trim(), ""))
                }
            };
            let Some(found) = scope.aggregation(name) else {
                return Err(match scope.pipeline(name) {
                    Some(_) => self.invalid("a path begins with an aggregation that has buckets"),
                    None => self.unknown(name, scope),
                });
            };
            over.push(name.to_owned());
            let inside = Scope::inside(found);
            if has_one_bucket(&found.kind) && !next.is_empty() {
                (scope, rest) = (inside, next);
                continue;
            }
            if !has_buckets(&found.kind) {
                return Err(self.invalid("a path begins with an aggregation that has buckets"));
            }
            if next.is_empty() {
                let what = "what is taken of each bucket is missing: add such as >_count or a metric inside";
                return Err(self.invalid(what));
            }
            let path = self.of_bucket(next, inside)?;
            if path.end == End::Key && !has_numbers_as_keys(&found.kind) {
                return Err(self.invalid("keys are numbers in histograms alone"));
            }
            return Ok(BucketsPath { over, ..path });
        }
    }

    /// Resolves a path from a bucket to a number.
    pub(super) fn of_bucket(&self, text: &str, scope: Scope<'_>) -> Result<BucketsPath> {
        let mut steps = Vec::new();
        let (mut scope, mut rest) = (scope, text.trim());
        let to = |steps: Vec<BucketStep>, end: End| {
            let over = Vec::new();
            Ok(BucketsPath { over, steps, end })
        };
        while let Some((name, next)) = rest.split_once('>') {
            let (name, next) = (name.trim(), next.trim());
            if let Some((found, step)) = one_of_several(name, scope) {
                steps.push(step);
                (scope, rest) = (Scope::inside(found), next);
                continue;
            }
            let Some(found) = scope.aggregation(name) else {
                return Err(self.unknown(name, scope));
            };
            if has_buckets(&found.kind) {
                return match next {
                    "_bucket_count" => {
                        let name = name.to_owned();
                        to(steps, End::BucketCount { name })
                    }
                    _ => Err(self.several(name, "Object[]")),
                };
            }
            steps.push(into(name));
            (scope, rest) = (Scope::inside(found), next);
        }
        if let Some(name) = rest.strip_suffix("._count")
            && let Some((_, step)) = one_of_several(name, scope)
        {
            steps.push(step);
            return to(steps, End::Count);
        }
        match rest {
            "_count" => return to(steps, End::Count),
            "_key" if steps.is_empty() => return to(steps, End::Key),
            _ => {}
        }
        let (name, property) = self.last(rest, scope)?;
        if let Some(found) = scope.aggregation(name) {
            if has_one_bucket(&found.kind) && property == "_count" {
                steps.push(into(name));
                return to(steps, End::Count);
            }
            if has_buckets(&found.kind) && property == "_bucket_count" {
                let name = name.to_owned();
                return to(steps, End::BucketCount { name });
            }
        }
        self.check_number(scope, name, property)?;
        let end = End::Number {
            name: name.to_owned(),
            property: property.to_owned(),
        };
        to(steps, end)
    }

    /// Returns the error of a path that leads to several buckets, which a client knows as `found`.
    fn several(&self, name: &str, found: &str) -> Error {
        self.invalid(&format!(
            "buckets_path must reference either a number value or a single value numeric metric aggregation, got: \
             [{found}] at aggregation [{name}]: it has several buckets, so take its _bucket_count, or a sibling \
             pipeline over it"
        ))
    }

    /// Splits the last element of a path into name and property. Names may contain dots.
    fn last<'t>(&self, text: &'t str, scope: Scope<'_>) -> Result<(&'t str, &'t str)> {
        let is_known =
            |name: &str| scope.aggregation(name).is_some() || scope.pipeline(name).is_some();
        if is_known(text) {
            return Ok((text, ""));
        }
        // `metric[property]` means `metric.property`.
        let in_brackets = text.strip_suffix(']');
        if let Some((name, property)) = in_brackets.and_then(|text| text.split_once('['))
            && is_known(name)
        {
            return Ok((name, property.trim_matches(['\'', '"'])));
        }
        let mut splits = text.match_indices('.').map(|(at, _)| {
            let (name, property) = text.split_at_checked(at).unwrap_or_default();
            (name, property.trim_start_matches('.'))
        });
        let found = splits.find(|(name, _)| is_known(name));
        found.ok_or_else(|| self.unknown(text, scope))
    }

    fn check_number(&self, scope: Scope<'_>, name: &str, property: &str) -> Result<()> {
        let known = match (scope.aggregation(name), scope.pipeline(name)) {
            (Some(found), _) => match &found.kind {
                Kind::Metric(metric) => of_metric(metric),
                kind if has_buckets(kind) => return Err(self.several(name, "buckets")),
                _ => vec!["_count".to_owned()],
            },
            (None, Some(pipeline)) => of_pipeline(&pipeline.what),
            (None, None) => Vec::new(),
        };
        let is_percent = property.parse::<f64>().is_ok_and(|percent| {
            let known = known.iter().filter_map(|known| known.parse::<f64>().ok());
            known
                .into_iter()
                .any(|known| known.total_cmp(&percent).is_eq())
        });
        let is_only = property.is_empty() && known.first().is_some_and(|first| first == "value");
        if is_only || is_percent || known.iter().any(|known| known == property) {
            return Ok(());
        }
        Err(match known.is_empty() {
            true => self.invalid(&format!("{name:?} is no number")),
            false if property.is_empty() => self.invalid(&format!(
                "buckets_path must reference either a number value or a single value numeric metric aggregation, but \
                 [{name}] contains multiple values. Please specify which to use. There are {}",
                known.join(", ")
            )),
            false => self.invalid(&format!(
                "a number of {name:?} is one of {}",
                known.join(", ")
            )),
        })
    }
}

const STATS: [&str; 5] = ["count", "min", "max", "avg", "sum"];
const EXTENDED: [&str; 18] = [
    "count",
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
    "std_upper",
    "std_lower",
    "std_upper_population",
    "std_lower_population",
    "std_upper_sampling",
    "std_lower_sampling",
];

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn numbers(numbers: &[f64]) -> Vec<String> {
    numbers.iter().map(|number| format!("{number:?}")).collect()
}

/// Returns the names of a metric's numbers; a metric with a single number calls it `value`.
fn of_metric(metric: &Metric) -> Vec<String> {
    match &metric.what {
        MetricOf::Stats => owned(&STATS),
        MetricOf::ExtendedStats { .. } => owned(&EXTENDED),
        MetricOf::Percentiles { percents, .. } => numbers(percents),
        MetricOf::PercentileRanks { values, .. } => numbers(values),
        MetricOf::StringStats { .. } => {
            owned(&["count", "min_length", "max_length", "avg_length", "entropy"])
        }
        MetricOf::Boxplot => owned(&BOXPLOT),
        MetricOf::TopHits(_)
        | MetricOf::TopMetrics(_)
        | MetricOf::GeoBounds { .. }
        | MetricOf::GeoCentroid => Vec::new(),
        _ => owned(&["value"]),
    }
}

fn of_pipeline(pipeline: &PipelineOf) -> Vec<String> {
    match pipeline {
        PipelineOf::BucketSelector(_) | PipelineOf::BucketSort { .. } => Vec::new(),
        PipelineOf::Derivative { unit_ms: Some(_) } => owned(&["value", "normalized_value"]),
        PipelineOf::StatsBucket => owned(&STATS),
        PipelineOf::ExtendedStatsBucket { .. } => owned(&EXTENDED),
        PipelineOf::PercentilesBucket { percents, .. } => numbers(percents),
        _ => owned(&["value"]),
    }
}
