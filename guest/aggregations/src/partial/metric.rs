//! States of one metric, for all parent buckets.

use datasketches::hll::{Coupon, HllSketch, HllType, HllUnion};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::places::{PlaceBounds, PlaceSum};
use super::top_hits::TopList;
use crate::numbers::{
    ExtendedStats, HdrHistogram, QuantileSketch, Stats, StringStats, WeightedAverage,
};
use crate::request::{MetricOf, RateOf};

/// One metric, for all parent buckets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Metric {
    /// True if values are dates, in milliseconds since 1970.
    pub(crate) is_date: bool,
    pub(crate) states: Metrics,
}

/// States of one metric, for all parent buckets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Metrics {
    Counts(Vec<u64>),
    Stats(Vec<Stats>),
    ExtendedStats(Vec<ExtendedStats>),
    WeightedAverages(Vec<WeightedAverage>),
    Quantiles(Vec<QuantileSketch>),
    Hdr(Vec<HdrHistogram>),
    Cardinalities(Vec<Cardinality>),
    TopLists(Vec<TopList>),
    Strings(Vec<StringStats>),
    PlaceBounds(Vec<PlaceBounds>),
    PlaceSums(Vec<PlaceSum>),
}

/// Applies an expression to the list of any variant.
macro_rules! with_list {
    ($metrics:expr, $list:ident => $do:expr) => {
        match $metrics {
            Metrics::Counts($list) => $do,
            Metrics::Stats($list) => $do,
            Metrics::ExtendedStats($list) => $do,
            Metrics::WeightedAverages($list) => $do,
            Metrics::Quantiles($list) => $do,
            Metrics::Hdr($list) => $do,
            Metrics::Cardinalities($list) => $do,
            Metrics::TopLists($list) => $do,
            Metrics::Strings($list) => $do,
            Metrics::PlaceBounds($list) => $do,
            Metrics::PlaceSums($list) => $do,
        }
    };
}

impl Metrics {
    /// Creates states for no buckets.
    pub(crate) fn empty(what: &MetricOf) -> Self {
        match what {
            MetricOf::ValueCount => Self::Counts(Vec::new()),
            MetricOf::Rate(rate) => match rate.of {
                RateOf::Sum => Self::Stats(Vec::new()),
                RateOf::Documents | RateOf::Values => Self::Counts(Vec::new()),
            },
            MetricOf::Avg | MetricOf::Sum | MetricOf::Min | MetricOf::Max | MetricOf::Stats => {
                Self::Stats(Vec::new())
            }
            MetricOf::ExtendedStats { .. } => Self::ExtendedStats(Vec::new()),
            MetricOf::WeightedAvg { .. } => Self::WeightedAverages(Vec::new()),
            MetricOf::Percentiles { hdr: Some(_), .. }
            | MetricOf::PercentileRanks { hdr: Some(_), .. } => Self::Hdr(Vec::new()),
            MetricOf::Percentiles { .. }
            | MetricOf::PercentileRanks { .. }
            | MetricOf::Boxplot
            | MetricOf::MedianAbsoluteDeviation => Self::Quantiles(Vec::new()),
            MetricOf::Cardinality => Self::Cardinalities(Vec::new()),
            MetricOf::TopHits(_) | MetricOf::TopMetrics(_) => Self::TopLists(Vec::new()),
            MetricOf::StringStats { .. } => Self::Strings(Vec::new()),
            MetricOf::GeoBounds { .. } => Self::PlaceBounds(Vec::new()),
            MetricOf::GeoCentroid => Self::PlaceSums(Vec::new()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        with_list!(self, list => list.len())
    }

    /// Merges states bucket by bucket. Each pair gives the indices on both sides of a new bucket.
    /// Returns `None` for different metrics.
    pub(super) fn merge(self, other: Self, pairs: &[(Option<u32>, Option<u32>)]) -> Option<Self> {
        Some(match (self, other) {
            (Self::Counts(a), Self::Counts(b)) => Self::Counts(zip(a, b, pairs)),
            (Self::Stats(a), Self::Stats(b)) => Self::Stats(zip(a, b, pairs)),
            (Self::ExtendedStats(a), Self::ExtendedStats(b)) => {
                Self::ExtendedStats(zip(a, b, pairs))
            }
            (Self::WeightedAverages(a), Self::WeightedAverages(b)) => {
                Self::WeightedAverages(zip(a, b, pairs))
            }
            (Self::Quantiles(a), Self::Quantiles(b)) => Self::Quantiles(zip(a, b, pairs)),
            (Self::Hdr(a), Self::Hdr(b)) => Self::Hdr(zip(a, b, pairs)),
            (Self::Cardinalities(a), Self::Cardinalities(b)) => {
                Self::Cardinalities(zip(a, b, pairs))
            }
            (Self::TopLists(a), Self::TopLists(b)) => Self::TopLists(zip(a, b, pairs)),
            (Self::Strings(a), Self::Strings(b)) => Self::Strings(zip(a, b, pairs)),
            (Self::PlaceBounds(a), Self::PlaceBounds(b)) => Self::PlaceBounds(zip(a, b, pairs)),
            (Self::PlaceSums(a), Self::PlaceSums(b)) => Self::PlaceSums(zip(a, b, pairs)),
            _ => return None,
        })
    }
}

macro_rules! fold_list {
    ($metrics:expr, $map:expr, $len:expr, $($variant:ident)*) => {
        match $metrics {
            $(Metrics::$variant(list) => Metrics::$variant(fold(list, $map, $len)),)*
        }
    };
}

impl Metrics {
    /// Merges states of buckets: `map` gives the new index below `len` of each bucket, if any.
    pub(super) fn fold(&self, map: &[Option<u32>], len: usize) -> Self {
        fold_list!(
            self, map, len,
            Counts Stats ExtendedStats WeightedAverages Quantiles Hdr Cardinalities TopLists Strings
            PlaceBounds PlaceSums
        )
    }
}

fn fold<T: Merge + Clone>(list: &[T], map: &[Option<u32>], len: usize) -> Vec<T> {
    let mut folded: Vec<T> = std::iter::repeat_with(T::default).take(len).collect();
    for (state, place) in list.iter().zip(map) {
        if let Some(into) = place.and_then(|place| folded.get_mut(place as usize)) {
            into.merge(state.clone());
        }
    }
    folded
}

/// State that can be merged.
pub(crate) trait Merge: Default {
    fn merge(&mut self, other: Self);
}

impl Merge for u64 {
    fn merge(&mut self, other: Self) {
        *self = self.saturating_add(other);
    }
}

impl Merge for Stats {
    fn merge(&mut self, other: Self) {
        Self::merge(self, &other);
    }
}

impl Merge for ExtendedStats {
    fn merge(&mut self, other: Self) {
        Self::merge(self, &other);
    }
}

impl Merge for WeightedAverage {
    fn merge(&mut self, other: Self) {
        Self::merge(self, &other);
    }
}

impl Merge for QuantileSketch {
    fn merge(&mut self, other: Self) {
        Self::merge(self, &other);
    }
}

impl Merge for HdrHistogram {
    fn merge(&mut self, other: Self) {
        Self::merge(self, &other);
    }
}

impl Merge for StringStats {
    fn merge(&mut self, other: Self) {
        Self::merge(self, &other);
    }
}

impl Merge for PlaceBounds {
    fn merge(&mut self, other: Self) {
        Self::merge(self, &other);
    }
}

impl Merge for PlaceSum {
    fn merge(&mut self, other: Self) {
        Self::merge(self, &other);
    }
}

impl Merge for TopList {
    fn merge(&mut self, other: Self) {
        Self::merge(self, other);
    }
}

fn zip<T: Merge>(
    mut left: Vec<T>,
    mut right: Vec<T>,
    pairs: &[(Option<u32>, Option<u32>)],
) -> Vec<T> {
    let take = |list: &mut Vec<T>, place: Option<u32>| -> Option<T> {
        list.get_mut(place? as usize).map(std::mem::take)
    };
    let merged = pairs
        .iter()
        .map(|(a, b)| match (take(&mut left, *a), take(&mut right, *b)) {
            (Some(mut a), Some(b)) => {
                a.merge(b);
                a
            }
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => T::default(),
        });
    merged.collect()
}

/// Base-2 logarithm of the number of registers: 2,048 registers have a standard error of 2.3 %.
/// Small sets are counted exactly.
const LG_K: u8 = 11;

/// Number of distinct values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cardinality(Option<Box<HllSketch>>);

impl Cardinality {
    pub(crate) fn add(&mut self, coupon: Coupon) {
        if self.0.is_none() {
            self.0 = HllSketch::new(LG_K, HllType::Hll8).ok().map(Box::new);
        }
        if let Some(sketch) = &mut self.0 {
            sketch.update_with_coupon(coupon);
        }
    }

    /// Returns the estimate, rounded to an integer.
    pub(crate) fn estimate(&self) -> u64 {
        let estimate = self.0.as_ref().map_or(0.0, |sketch| sketch.estimate());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an estimate is never negative, and far from the largest number"
        )]
        let rounded = estimate.round() as u64;
        rounded
    }

    fn bytes(&self) -> Vec<u8> {
        self.0
            .as_ref()
            .map_or_else(Vec::new, |sketch| sketch.serialize())
    }
}

impl Merge for Cardinality {
    fn merge(&mut self, other: Self) {
        match (&mut self.0, other.0) {
            (_, None) => {}
            (mine @ None, theirs) => *mine = theirs,
            (Some(mine), Some(theirs)) => {
                if let Ok(mut union) = HllUnion::new(LG_K) {
                    union.update(mine);
                    union.update(&theirs);
                    **mine = union.to_sketch(HllType::Hll8);
                }
            }
        }
    }
}

impl Serialize for Cardinality {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_bytes::serialize(&self.bytes(), serializer)
    }
}

impl<'de> Deserialize<'de> for Cardinality {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes: Vec<u8> = serde_bytes::deserialize(deserializer)?;
        if bytes.is_empty() {
            return Ok(Self(None));
        }
        match HllSketch::deserialize(&bytes) {
            Ok(sketch) => Ok(Self(Some(Box::new(sketch)))),
            Err(_) => Err(D::Error::custom("a sketch that is none")),
        }
    }
}
