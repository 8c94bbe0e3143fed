//! Parsed pipeline aggregations: one variant for each kind.
//!
//! Names and defaults are those of Elasticsearch. Each variant names its page of the documentation
//! below `https://www.elastic.co/docs/reference/aggregations/search-aggregations-pipeline-`. Gaps
//! and paths are described at `https://www.elastic.co/docs/reference/aggregations/pipeline`.

use super::format::Format;
use super::script::Script;

/// All kinds, for error messages.
pub(crate) const KINDS: [&str; 15] = [
    "derivative",
    "cumulative_sum",
    "serial_diff",
    "moving_fn",
    "normalize",
    "bucket_script",
    "bucket_selector",
    "bucket_sort",
    "max_bucket",
    "min_bucket",
    "avg_bucket",
    "sum_bucket",
    "stats_bucket",
    "extended_stats_bucket",
    "percentiles_bucket",
];

pub(crate) fn is_kind(kind: &str) -> bool {
    KINDS.contains(&kind)
}

/// One pipeline aggregation of a request.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline {
    pub(crate) name: String,
    /// Location in the request, for error messages.
    pub(crate) path: String,
    pub(crate) what: PipelineOf,
    /// Numbers that are read from each bucket.
    pub(crate) inputs: Vec<BucketsPath>,
    pub(crate) gaps: GapPolicy,
    /// Format of the texts beside numbers.
    pub(crate) format: Option<Format>,
}

#[derive(Clone, Debug)]
pub(crate) enum PipelineOf {
    /// `derivative-aggregation`.
    Derivative {
        /// Unit of `normalized_value` in milliseconds.
        unit_ms: Option<f64>,
    },
    /// `cumulative-sum-aggregation`.
    CumulativeSum,
    /// `serialdiff-aggregation`.
    SerialDiff { lag: usize },
    /// `movfn-aggregation`.
    MovingFn {
        script: Script,
        window: usize,
        shift: i64,
    },
    /// `normalize-aggregation`.
    Normalize(Method),
    /// `bucket-script-aggregation`.
    BucketScript(Script),
    /// `bucket-selector-aggregation`.
    BucketSelector(Script),
    /// `bucket-sort-aggregation`.
    BucketSort {
        /// For each input, whether the order descends.
        descending: Vec<bool>,
        from: usize,
        size: Option<usize>,
    },
    /// `max-bucket-aggregation`.
    MaxBucket,
    /// `min-bucket-aggregation`.
    MinBucket,
    /// `avg-bucket-aggregation`.
    AvgBucket,
    /// `sum-bucket-aggregation`.
    SumBucket,
    /// `stats-bucket-aggregation`.
    StatsBucket,
    /// `extended-stats-bucket-aggregation`.
    ExtendedStatsBucket { sigma: f64 },
    /// `percentiles-bucket-aggregation`.
    PercentilesBucket { percents: Vec<f64>, is_keyed: bool },
}

/// Method by which `normalize` rescales a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Rescale01,
    Rescale0100,
    PercentOfSum,
    Mean,
    ZScore,
    Softmax,
}

/// Replacement for a number that a bucket lacks. A bucket without documents lacks all but its
/// count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum GapPolicy {
    /// Skips the bucket.
    #[default]
    Skip,
    /// Uses 0.
    InsertZeros,
    /// Skips the bucket, but uses numbers that exist in a bucket without documents.
    KeepValues,
}

/// Path from a bucket, or from a level, to a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BucketsPath {
    /// For a sibling pipeline: names on the way to the aggregation whose buckets are used.
    pub(crate) over: Vec<String>,
    /// The way from each bucket, through single buckets.
    pub(crate) steps: Vec<BucketStep>,
    pub(crate) end: End,
}

/// Step into a bucket inside of a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BucketStep {
    /// Name of the aggregation.
    pub(crate) name: String,
    /// Key of the bucket as text, if the aggregation has several.
    pub(crate) key: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Document count of the bucket at the end of the steps.
    Count,
    /// Key of the bucket.
    Key,
    /// Number of buckets of an aggregation.
    BucketCount { name: String },
    /// Number of a metric or another pipeline; an empty property means its only number.
    Number { name: String, property: String },
}

impl PipelineOf {
    /// Returns whether the pipeline is a sibling of its aggregation rather than nested in it.
    pub(crate) fn is_sibling(&self) -> bool {
        matches!(
            self,
            Self::MaxBucket
                | Self::MinBucket
                | Self::AvgBucket
                | Self::SumBucket
                | Self::StatsBucket
                | Self::ExtendedStatsBucket { .. }
                | Self::PercentilesBucket { .. }
        )
    }

    /// Returns whether the pipeline needs a row of consecutive buckets.
    pub(crate) fn is_of_row(&self) -> bool {
        matches!(
            self,
            Self::Derivative { .. }
                | Self::CumulativeSum
                | Self::SerialDiff { .. }
                | Self::MovingFn { .. }
        )
    }

    /// Returns the rank in the order of computation: pipelines that remove buckets come last.
    pub(crate) fn turn(&self) -> u8 {
        match self {
            Self::BucketSelector(_) => 1,
            Self::BucketSort { .. } => 2,
            _ => 0,
        }
    }
}
