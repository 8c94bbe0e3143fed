//! Pipeline aggregations as they were read: one variant for each kind.
//!
//! Names and defaults are those of Elasticsearch; each variant names the page that documents it, below
//! `https://www.elastic.co/docs/reference/aggregations/search-aggregations-pipeline-`. Gaps and paths are on
//! `https://www.elastic.co/docs/reference/aggregations/pipeline`.

use super::format::Format;
use super::script::Script;

/// One pipeline aggregation of a request.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline {
    pub(crate) name: String,
    /// Where it stands in the request, for messages.
    pub(crate) path: String,
    pub(crate) what: PipelineOf,
    /// The numbers that it takes from each bucket.
    pub(crate) inputs: Vec<BucketsPath>,
    pub(crate) gaps: GapPolicy,
    /// How its numbers are shown as texts beside them.
    pub(crate) format: Option<Format>,
}

#[derive(Clone, Debug)]
pub(crate) enum PipelineOf {
    /// `derivative-aggregation`.
    Derivative {
        /// The length that `normalized_value` is for, in milliseconds.
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
        /// For each input, whether it descends.
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

/// How `normalize` rescales a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Rescale01,
    Rescale0100,
    PercentOfSum,
    Mean,
    ZScore,
    Softmax,
}

/// What stands for a number that a bucket does not have; a bucket without documents has none but its count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum GapPolicy {
    /// Nothing.
    #[default]
    Skip,
    /// 0.
    InsertZeros,
    /// Nothing; but a number that is there is taken from a bucket without documents too.
    KeepValues,
}

/// The way from a bucket, or from a level, to a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BucketsPath {
    /// Of a sibling pipeline: the names on the way to the aggregation whose buckets are taken.
    pub(crate) over: Vec<String>,
    /// The names of the single buckets on the way from each bucket.
    pub(crate) steps: Vec<String>,
    pub(crate) end: End,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The documents of the bucket that the steps lead to.
    Count,
    /// The key of the bucket.
    Key,
    /// How many buckets an aggregation has.
    BucketCount { name: String },
    /// A number of a metric or another pipeline; no property is the only one.
    Number { name: String, property: String },
}

impl PipelineOf {
    /// Whether it stands beside the aggregation that it is of, not inside of it.
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

    /// Whether it is of a row of buckets in which each follows the one before it.
    pub(crate) fn is_of_row(&self) -> bool {
        matches!(
            self,
            Self::Derivative { .. }
                | Self::CumulativeSum
                | Self::SerialDiff { .. }
                | Self::MovingFn { .. }
        )
    }

    /// When it is its turn: those that cut buckets come last.
    pub(crate) fn turn(&self) -> u8 {
        match self {
            Self::BucketSelector(_) => 1,
            Self::BucketSort { .. } => 2,
            _ => 0,
        }
    }
}
