//! Aggregations as they were read and checked: one type for each kind.
//!
//! Names and defaults are those of Elasticsearch; each type names the page that documents it, below
//! `https://www.elastic.co/docs/reference/aggregations/`.

use crate::calendar::{CalendarUnit, DateFormat, Rounding, Zone};
use crate::key::Key;
use crate::pipeline::Pipeline;

/// One aggregation of a request.
#[derive(Clone, Debug)]
pub(crate) struct Aggregation {
    pub(crate) name: String,
    /// Where it stands in the request, for messages.
    pub(crate) path: String,
    pub(crate) kind: Kind,
    /// What each of its buckets is asked for, in the order of their names.
    pub(crate) inside: Vec<Aggregation>,
    /// What is computed from its buckets when they are made, in the order of computing.
    pub(crate) pipelines: Vec<Pipeline>,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Terms(Terms),
    MultiTerms(MultiTerms),
    RareTerms(RareTerms),
    Histogram(Histogram),
    DateHistogram(DateHistogram),
    AutoDateHistogram(AutoDateHistogram),
    Range(Range),
    Filter(Filter),
    Filters(Filters),
    Missing(Missing),
    Composite(Composite),
    Metric(Metric),
}

/// A field, and what stands in for a value where a document has none.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) field: String,
    pub(crate) missing: Option<Key>,
}

/// What terms are ordered by; ties are broken by key, ascending.
#[derive(Clone, Debug)]
pub(crate) struct TermsOrder {
    pub(crate) by: OrderBy,
    pub(crate) is_descending: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum OrderBy {
    Count,
    Key,
    /// A metric inside: the places of the aggregations on the way to it, and the property of the last one.
    Metric {
        path: Vec<usize>,
        property: String,
    },
}

/// `search-aggregations-bucket-terms-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) source: Source,
    pub(crate) size: usize,
    pub(crate) order: Vec<TermsOrder>,
    pub(crate) min_doc_count: u64,
    pub(crate) include: Option<Choice>,
    pub(crate) exclude: Option<Choice>,
}

/// Which values are taken.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    /// Those that the whole of a regular expression matches.
    Pattern(String),
    /// These: numbers by what they are worth, all others as text.
    Values(Vec<Key>),
}

/// `search-aggregations-bucket-multi-terms-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct MultiTerms {
    pub(crate) sources: Vec<Source>,
    pub(crate) size: usize,
    pub(crate) order: Vec<TermsOrder>,
    pub(crate) min_doc_count: u64,
}

/// `search-aggregations-bucket-rare-terms-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct RareTerms {
    pub(crate) source: Source,
    pub(crate) max_doc_count: u64,
    pub(crate) include: Option<Choice>,
    pub(crate) exclude: Option<Choice>,
}

/// The order of a histogram's buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HistogramOrder {
    Key { is_descending: bool },
    Count { is_descending: bool },
}

/// `search-aggregations-bucket-histogram-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    pub(crate) source: Source,
    pub(crate) interval: f64,
    /// From 0 to the interval.
    pub(crate) offset: f64,
    pub(crate) row: Row<f64>,
}

/// What every histogram says of its row of buckets.
#[derive(Clone, Debug)]
pub(crate) struct Row<T> {
    pub(crate) min_doc_count: u64,
    /// First and last value that is looked at.
    pub(crate) hard_bounds: Option<(T, T)>,
    /// First and last value whose bucket is there in any case.
    pub(crate) extended_bounds: Option<(T, T)>,
    pub(crate) is_keyed: bool,
    pub(crate) order: HistogramOrder,
}

/// `search-aggregations-bucket-datehistogram-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct DateHistogram {
    pub(crate) source: Source,
    pub(crate) rounding: Rounding,
    pub(crate) format: Option<DateFormat>,
    pub(crate) zone: Zone,
    /// Bounds in nanoseconds since 1970.
    pub(crate) row: Row<i64>,
}

/// `search-aggregations-bucket-autodatehistogram-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct AutoDateHistogram {
    pub(crate) source: Source,
    /// Most buckets that are shown.
    pub(crate) most: usize,
    /// The units that are tried, the shortest first.
    pub(crate) rungs: Vec<Rung>,
    pub(crate) format: Option<DateFormat>,
    pub(crate) zone: Zone,
}

/// A unit of time of which several may make a bucket.
#[derive(Clone, Debug)]
pub(crate) struct Rung {
    pub(crate) rounding: Rounding,
    /// What an interval of it ends with.
    pub(crate) letter: char,
    /// How many of it may make a bucket, ascending.
    pub(crate) steps: &'static [usize],
    /// None is longer.
    pub(crate) longest_ns: i64,
}

/// What is left of a time by some of the rungs, one after the other. Two steps may come to something else
/// than the second of them alone where clocks were changed within an hour, so that all of them are always
/// made.
pub(crate) fn start_through(rungs: &[Rung], steps: std::ops::Range<usize>, time_ns: i64) -> i64 {
    let rungs = rungs.get(steps).unwrap_or_default().iter();
    rungs.fold(time_ns, |time_ns, rung| rung.rounding.start_of(time_ns))
}

impl AutoDateHistogram {
    /// The largest number of a rung's units that may be there, so that the buckets made of them are not too
    /// many.
    pub(crate) fn most_units(&self, rung: &Rung) -> usize {
        let widest = rung.steps.last().copied().unwrap_or(1);
        self.most.saturating_mul(widest)
    }
}

/// `search-aggregations-bucket-range-aggregation`, `search-aggregations-bucket-daterange-aggregation` and
/// `search-aggregations-bucket-iprange-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    pub(crate) source: Source,
    pub(crate) what: RangeOf,
    pub(crate) ranges: Vec<OneRange>,
    pub(crate) is_keyed: bool,
    pub(crate) format: Option<DateFormat>,
    pub(crate) zone: Zone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RangeOf {
    Numbers,
    Dates,
    Addresses,
}

/// From an end that is included to one that is not.
#[derive(Clone, Debug)]
pub(crate) struct OneRange {
    pub(crate) key: Option<String>,
    pub(crate) from: Option<Key>,
    pub(crate) to: Option<Key>,
    /// The range of an address mask, as it was given.
    pub(crate) mask: Option<String>,
}

/// `search-aggregations-bucket-filter-aggregation`: a query, in the language of all queries.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    /// Its place among all filters of the request.
    pub(crate) slot: usize,
}

/// `search-aggregations-bucket-filters-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct Filters {
    pub(crate) filters: Vec<Filter>,
    /// Their names; none if they are a list.
    pub(crate) names: Option<Vec<String>>,
    /// The name of the bucket for documents that none of them matches.
    pub(crate) other: Option<String>,
}

/// `search-aggregations-bucket-missing-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    pub(crate) field: String,
}

/// `search-aggregations-bucket-composite-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct Composite {
    pub(crate) sources: Vec<CompositeSource>,
    pub(crate) size: usize,
    pub(crate) after: Option<Vec<Option<Key>>>,
}

#[derive(Clone, Debug)]
pub(crate) struct CompositeSource {
    pub(crate) name: String,
    pub(crate) field: String,
    pub(crate) by: CompositeBy,
    pub(crate) is_descending: bool,
    pub(crate) missing_bucket: bool,
    /// Where documents without a value stand: by default first where ascending, last where descending.
    pub(crate) missing_first: Option<bool>,
}

#[derive(Clone, Debug)]
pub(crate) enum CompositeBy {
    Terms,
    Histogram {
        interval: f64,
    },
    Dates {
        rounding: Rounding,
        format: Option<DateFormat>,
        zone: Zone,
    },
}

/// What has no buckets.
#[derive(Clone, Debug)]
pub(crate) struct Metric {
    pub(crate) source: Source,
    pub(crate) what: MetricOf,
    /// How dates are shown.
    pub(crate) format: Option<DateFormat>,
}

/// Pages below `search-aggregations-metrics-`.
#[derive(Clone, Debug)]
pub(crate) enum MetricOf {
    Avg,
    Sum,
    Min,
    Max,
    ValueCount,
    Stats,
    ExtendedStats {
        sigma: f64,
    },
    WeightedAvg {
        weight: Source,
    },
    Percentiles {
        percents: Vec<f64>,
        is_keyed: bool,
    },
    PercentileRanks {
        values: Vec<f64>,
        is_keyed: bool,
    },
    MedianAbsoluteDeviation,
    Cardinality,
    TopHits(TopHits),
    /// `top-metrics`: the fields are the metrics.
    TopMetrics(TopHits),
    Rate(Rate),
    /// `string-stats-aggregation`.
    StringStats {
        has_distribution: bool,
    },
}

/// `search-aggregations-metrics-rate-aggregation`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    pub(crate) of: RateOf,
    /// What it is in; without one, the bucket around.
    pub(crate) unit: Option<CalendarUnit>,
}

/// What a rate is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RateOf {
    Documents,
    /// The sum of a field's values.
    Sum,
    /// How many values a field has.
    Values,
}

/// `search-aggregations-metrics-top-hits-aggregation`, with `docvalue_fields` alone.
#[derive(Clone, Debug)]
pub(crate) struct TopHits {
    pub(crate) size: usize,
    pub(crate) from: usize,
    /// Fields, and whether they descend.
    pub(crate) sort: Vec<(String, bool)>,
    pub(crate) fields: Vec<String>,
}
