//! Parsed and validated aggregations: one type for each kind.
//!
//! Names and defaults are Elasticsearch's. Types name pages below `https://www.elastic.co/docs/reference/aggregations/`.

use canter_geo::{self as geo, Point};
use serde_json::Value;

mod categories;
mod hits;
mod lists;
mod own_formats;
mod prefix;
mod rate;
mod reads;

pub(crate) use categories::{Categories, column_of_patterns};
pub(crate) use hits::{TopBy, TopHits, TopKey, TopMode};
pub use lists::{ListOf, ObjectList, WORDS};
pub(crate) use own_formats::{in_formats, own_formats};
pub(crate) use prefix::IpPrefix;
pub(crate) use rate::{Rate, RateOf};

use crate::calendar::{DateFormat, Rounding, Zone};
use crate::key::Key;
use crate::pipeline::{Format, Pipeline};

/// One aggregation of a request.
#[derive(Clone, Debug)]
pub(crate) struct Aggregation {
    pub(crate) name: String,
    /// Location in the request, for error messages.
    pub(crate) path: String,
    pub(crate) kind: Kind,
    /// Sub-aggregations, sorted by name.
    pub(crate) inside: Vec<Aggregation>,
    /// Pipelines over its finished buckets, in the order of computation.
    pub(crate) pipelines: Vec<Pipeline>,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Terms(Terms),
    MultiTerms(MultiTerms),
    RareTerms(RareTerms),
    Significant(Significant),
    Categories(Categories),
    Histogram(Histogram),
    DateHistogram(DateHistogram),
    AutoDateHistogram(AutoDateHistogram),
    Range(Range),
    IpPrefix(IpPrefix),
    Grid(Grid),
    Filter(Filter),
    Filters(Filters),
    Adjacency(Adjacency),
    Missing(Missing),
    Nested(Nested),
    ReverseNested(ReverseNested),
    Composite(Composite),
    Metric(Metric),
}

/// Field, and the substitute for missing values.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) field: String,
    pub(crate) missing: Option<Key>,
}

/// Sort criterion of terms. Ties are broken by key, ascending.
#[derive(Clone, Debug)]
pub(crate) struct TermsOrder {
    pub(crate) by: OrderBy,
    pub(crate) is_descending: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum OrderBy {
    Count,
    Key,
    /// Metric in a bucket: the indices of the aggregations on the way to it, and the property of
    /// the last one.
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
    /// Format of dates.
    pub(crate) format: Option<DateFormat>,
}

/// Selection of values.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    /// Values that match the whole regular expression.
    Pattern(String),
    /// Listed values: numbers are compared by value, and all others as text.
    Values(Vec<Key>),
    /// Values whose hash is in one of several parts.
    Partition { partition: u32, num_partitions: u32 },
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

/// `search-aggregations-bucket-significantterms-aggregation` and
/// `search-aggregations-bucket-significanttext-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct Significant {
    pub(crate) source: Source,
    pub(crate) size: usize,
    pub(crate) min_doc_count: u64,
    pub(crate) heuristic: Heuristic,
    /// Query of the documents that are compared with; `None` for all.
    pub(crate) background: Option<Value>,
    pub(crate) include: Option<Choice>,
    pub(crate) exclude: Option<Choice>,
    /// Number of the list of words that stand for the terms of a field without a column.
    pub(crate) words: Option<usize>,
}

/// Measure of how much more frequent a term is in some documents than in others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heuristic {
    Jlh,
    ChiSquare(Comparison),
    MutualInformation(Comparison),
    /// Google normalized distance.
    Gnd {
        is_superset: bool,
    },
    Percentage,
}

/// Meaning of the documents that are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// True if they include those that are looked at.
    pub(crate) is_superset: bool,
    /// True if terms that are less frequent than in other documents are shown, too.
    pub(crate) has_negatives: bool,
}

/// Order of a histogram's buckets.
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
    pub(crate) format: Option<Format>,
    pub(crate) row: Row<f64>,
}

/// Parameters of all histograms about their rows of buckets.
#[derive(Clone, Debug)]
pub(crate) struct Row<T> {
    pub(crate) min_doc_count: u64,
    /// First and last value that counts.
    pub(crate) hard_bounds: Option<(T, T)>,
    /// First and last value whose bucket is always shown.
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
    /// Row of buckets; its bounds are nanoseconds since 1970.
    pub(crate) row: Row<i64>,
}

/// `search-aggregations-bucket-autodatehistogram-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct AutoDateHistogram {
    pub(crate) source: Source,
    /// Maximum number of buckets shown.
    pub(crate) most: usize,
    /// Units to try, the smallest first.
    pub(crate) rungs: Vec<Rung>,
    pub(crate) format: Option<DateFormat>,
    pub(crate) zone: Zone,
}

/// Unit of time, several of which may make a bucket.
#[derive(Clone, Debug)]
pub(crate) struct Rung {
    pub(crate) rounding: Rounding,
    /// Letter of the unit in intervals.
    pub(crate) letter: char,
    /// Multiples of the unit that may make a bucket, ascending.
    pub(crate) steps: &'static [usize],
    /// Upper bound for the length of a unit.
    pub(crate) longest_ns: i64,
}

/// Rounds a time by several rungs in turn. If clocks change within an hour, two steps may differ
/// from the second one alone, so all steps are always taken.
pub(crate) fn start_through(rungs: &[Rung], steps: std::ops::Range<usize>, time_ns: i64) -> i64 {
    let rungs = rungs.get(steps).unwrap_or_default().iter();
    rungs.fold(time_ns, |time_ns, rung| rung.rounding.start_of(time_ns))
}

impl AutoDateHistogram {
    /// Returns the maximum number of a rung's units for which the buckets made of them are not too
    /// many.
    pub(crate) fn most_units(&self, rung: &Rung) -> usize {
        let widest = rung.steps.last().copied().unwrap_or(1);
        self.most.saturating_mul(widest)
    }
}

/// `search-aggregations-bucket-range-aggregation`, `search-aggregations-bucket-daterange-aggregation`,
/// `search-aggregations-bucket-iprange-aggregation` and `search-aggregations-bucket-geodistance-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    pub(crate) source: Source,
    pub(crate) what: RangeOf,
    pub(crate) ranges: Vec<OneRange>,
    pub(crate) is_keyed: bool,
    pub(crate) format: Option<DateFormat>,
    pub(crate) zone: Zone,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RangeOf {
    Numbers,
    Dates,
    Addresses,
    /// Distances from a place.
    Distances(Origin),
}

/// Place from which distances are measured, and their unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin {
    pub(crate) point: Point,
    pub(crate) metric: geo::Metric,
    pub(crate) unit: geo::Unit,
}

impl Origin {
    /// Returns the distance to the place with a code, in the unit.
    pub(crate) fn to(&self, code: u64) -> f64 {
        self.metric.between(self.point, Point::of_code(code)) / self.unit.meters
    }
}

/// `search-aggregations-bucket-geohashgrid-aggregation` and
/// `search-aggregations-bucket-geotilegrid-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    pub(crate) field: String,
    pub(crate) cells: geo::Grid,
    /// Box that the cells meet.
    pub(crate) bounds: Option<geo::GeoBox>,
    pub(crate) size: usize,
}

/// Range from an inclusive end to an exclusive one.
#[derive(Clone, Debug)]
pub(crate) struct OneRange {
    pub(crate) key: Option<String>,
    pub(crate) from: Option<Key>,
    pub(crate) to: Option<Key>,
    /// Address mask of the range, as given.
    pub(crate) mask: Option<String>,
}

/// `search-aggregations-bucket-filter-aggregation`: a query in any supported form.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    /// Index among all filters of the request.
    pub(crate) slot: usize,
    /// Number of documents of a split that count, the first of them, in each bucket.
    pub(crate) most: Option<u32>,
}

/// `search-aggregations-bucket-filters-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct Filters {
    pub(crate) filters: Vec<Filter>,
    /// Names of the filters; `None` for a list without names.
    pub(crate) names: Option<Vec<String>>,
    /// Name of the bucket for documents that match no filter.
    pub(crate) other: Option<String>,
}

/// `search-aggregations-bucket-adjacency-matrix-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct Adjacency {
    /// Filters in the order of their names.
    pub(crate) filters: Vec<Filter>,
    pub(crate) names: Vec<String>,
    /// Text between the two names of an intersection.
    pub(crate) separator: String,
    /// True if only intersections of two filters are shown.
    pub(crate) only_pairs: bool,
}

impl Adjacency {
    /// Returns the buckets in their order: each filter alone, and with each of those after it.
    pub(crate) fn cells(&self) -> Vec<(usize, Option<usize>)> {
        let len = self.filters.len();
        let cells = (0..len).flat_map(|first| {
            let pairs = (first.saturating_add(1)..len).map(move |second| (first, Some(second)));
            std::iter::once((first, None)).chain(pairs)
        });
        cells.collect()
    }
}

/// `search-aggregations-bucket-missing-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    pub(crate) field: String,
    /// True if another value stands for a missing one, so that none is missing.
    pub(crate) has_substitute: bool,
}

/// `search-aggregations-bucket-nested-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct Nested {
    /// Number of its list of objects.
    pub(crate) slot: usize,
}

/// `search-aggregations-bucket-reverse-nested-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct ReverseNested {
    /// Number of the list of objects to which it returns; `None` for documents.
    pub(crate) to: Option<usize>,
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
    /// True if documents without a value come first: by default in ascending order only.
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

/// Aggregation without buckets.
#[derive(Clone, Debug)]
pub(crate) struct Metric {
    pub(crate) source: Source,
    pub(crate) what: MetricOf,
    /// Format of dates.
    pub(crate) format: Option<DateFormat>,
}

/// Metrics; the pages are below `search-aggregations-metrics-`.
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
        /// Significant digits of a histogram with a high dynamic range, instead of a sketch.
        hdr: Option<u8>,
    },
    PercentileRanks {
        values: Vec<f64>,
        is_keyed: bool,
        /// As of percentiles.
        hdr: Option<u8>,
    },
    MedianAbsoluteDeviation,
    /// `boxplot-aggregation`.
    Boxplot,
    Cardinality,
    TopHits(TopHits),
    /// `top-metrics`: the fields are the metrics.
    TopMetrics(TopHits),
    Rate(Rate),
    /// `geobounds-aggregation`.
    GeoBounds {
        /// True if the box may cross the date line.
        may_wrap: bool,
    },
    /// `geocentroid-aggregation`.
    GeoCentroid,
    /// `string-stats-aggregation`.
    StringStats {
        has_distribution: bool,
    },
}
