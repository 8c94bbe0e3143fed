//! The order of hits: its keys, and their values.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::net::IpAddr;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use canter_aggregations::resolve_date;
use canter_geo::{Metric, Point, Unit};
use serde::{Deserialize, Serialize};

use crate::SearchError;

/// Direction of a sort key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SortOrder {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

impl SortOrder {
    /// Applies the direction to an ascending order.
    pub(crate) fn of(self, ascending: Ordering) -> Ordering {
        match self {
            Self::Ascending => ascending,
            Self::Descending => ascending.reverse(),
        }
    }
}

/// The value that a sort key compares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SortTarget {
    /// Relevance (BM25 over the whole index).
    Score,
    /// The place in the index: by time, then by source and position there. Every other order ends
    /// with it.
    Doc,
    /// The position of a document: the id of its split, and its number there. Unlike the place in the index it
    /// distinguishes hits without a read, but only until the split is merged.
    SplitDoc,
    /// A fast field.
    Field(String),
    /// The distance of a fast field's points from some points.
    Distance(DistanceKey),
}

/// Distances that a sort key compares. Documents without a point are infinitely far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DistanceKey {
    pub(crate) field: String,
    /// At least one.
    pub(crate) points: Vec<Point>,
    pub(crate) unit: Unit,
    pub(crate) metric: Metric,
    /// True if a field that is not mapped has no point, instead of being an error.
    pub(crate) ignores_unmapped: bool,
}

/// Coordinates are never NaN.
impl Eq for DistanceKey {}

impl DistanceKey {
    /// Returns the distances of the points with these codes, from each of the points.
    pub(crate) fn distances(&self, codes: impl Iterator<Item = u64>) -> Vec<f64> {
        let mut distances = Vec::new();
        for code in codes {
            let other = Point::of_code(code);
            let points = self.points.iter();
            distances
                .extend(points.map(|point| self.metric.between(*point, other) / self.unit.meters));
        }
        distances
    }
}

/// The value of a document with several values that a sort key compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SortMode {
    /// The one that places the document first: the least if the order is ascending, otherwise the greatest.
    #[default]
    Nearest,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The sum of numbers.
    Sum,
    /// The arithmetic mean of numbers; of integers and dates rounded, halves up.
    Avg,
    /// The number in the middle, or the mean of the two in the middle.
    Median,
}

/// One sort key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SortKeySpec {
    pub(crate) target: SortTarget,
    pub(crate) order: SortOrder,
    /// True if documents without a value come first instead of last.
    #[serde(default)]
    pub(crate) missing_first: bool,
    /// Number that documents without a value are sorted by, instead of first or last; of dates, milliseconds.
    #[serde(default)]
    pub(crate) in_place: Option<InPlace>,
    #[serde(default)]
    pub(crate) mode: SortMode,
}

/// Number in place of a missing one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum InPlace {
    /// An integer.
    Integer(i64),
    /// The bits of a floating-point number.
    Bits(u64),
}

impl SortKeySpec {
    /// Creates a key under which documents without a value come last, and [`SortMode::Nearest`] is the value.
    pub(crate) const fn new(target: SortTarget, order: SortOrder) -> Self {
        Self {
            target,
            order,
            missing_first: false,
            in_place: None,
            mode: SortMode::Nearest,
        }
    }
}

/// Maximum number of sort keys.
pub(crate) const MAX_SORT_KEYS: usize = 8;
/// Maximum number of sort keys in the notation of Quickwit's API.
const MAX_SORT_BY_KEYS: usize = 3;

/// Reads `field`, `-field`, `field1,-field2`, `_score`. As in Quickwit a bare name or a `+` sorts
/// descending, a `-` ascending.
///
/// # Errors
/// If there are too many keys or a key has no name.
pub(crate) fn parse_sort_by(text: &str) -> Result<Vec<SortKeySpec>, SearchError> {
    #[cfg(test)]
    super::parses::note(super::parses::Parsed::Sort);
    let mut keys = Vec::new();
    for key in text.split(',').map(str::trim).filter(|key| !key.is_empty()) {
        let (name, order) = match key.strip_prefix('-') {
            Some(name) => (name, SortOrder::Ascending),
            None => (key.strip_prefix('+').unwrap_or(key), SortOrder::Descending),
        };
        let target = match name.trim() {
            "" => {
                return Err(SearchError::invalid(format!(
                    "sort_by {text:?}: a sort key names no field"
                )));
            }
            "_score" => SortTarget::Score,
            "_doc" => SortTarget::Doc,
            name => SortTarget::Field(name.to_owned()),
        };
        keys.push(SortKeySpec::new(target, order));
    }
    if keys.len() > MAX_SORT_BY_KEYS {
        return Err(SearchError::invalid(format!(
            "sort_by {text:?}: at most {MAX_SORT_BY_KEYS} sort keys are allowed"
        )));
    }
    Ok(keys)
}

/// The value of one sort key of one hit. Values of different kinds sort in this order, except
/// `Missing`, which is first or last as the key says, in either direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum SortValue {
    /// An integer of any type.
    Integer(i128),
    /// A floating point number or a score.
    Number(f64),
    /// A boolean.
    Bool(bool),
    /// Nanoseconds since 1970.
    Date(i64),
    /// Text.
    Text(String),
    /// An IP address; an IPv4 address as its IPv4-mapped IPv6 address.
    Address(u128),
    /// Bytes.
    Bytes(#[serde(with = "serde_bytes")] Vec<u8>),
    /// The document has no value.
    Missing,
}

impl SortValue {
    pub(crate) fn compare(&self, other: &Self, key: &SortKeySpec) -> Ordering {
        let of_missing = |ascending: Ordering| match key.missing_first {
            true => ascending.reverse(),
            false => ascending,
        };
        let ascending = match (self, other) {
            (Self::Missing, Self::Missing) => return Ordering::Equal,
            (Self::Missing, _) => return of_missing(Ordering::Greater),
            (_, Self::Missing) => return of_missing(Ordering::Less),
            (Self::Integer(left), Self::Integer(right)) => left.cmp(right),
            (Self::Number(left), Self::Number(right)) => left.total_cmp(right),
            (Self::Integer(left), Self::Number(right)) => compare_mixed(*left, *right),
            (Self::Number(left), Self::Integer(right)) => compare_mixed(*right, *left).reverse(),
            (Self::Bool(left), Self::Bool(right)) => left.cmp(right),
            (Self::Date(left), Self::Date(right)) => left.cmp(right),
            (Self::Text(left), Self::Text(right)) => left.cmp(right),
            (Self::Address(left), Self::Address(right)) => left.cmp(right),
            (Self::Bytes(left), Self::Bytes(right)) => left.cmp(right),
            (left, right) => left.class().cmp(&right.class()),
        };
        key.order.of(ascending)
    }

    /// Converts a value from a request to the kind of `value`, as it was before it became JSON.
    pub(crate) fn as_kind_of(&self, value: &Self) -> Cow<'_, Self> {
        let kind = match (self, value) {
            // An untyped field, whose dates are shown in milliseconds, or as texts if they are more precise.
            (Self::Integer(ms), Self::Date(_)) => {
                let ns = ms.saturating_mul(1_000_000);
                i64::try_from(ns).ok().map(Self::Date)
            }
            (Self::Text(text), Self::Date(_)) => {
                let ns = resolve_date(text, None, None, 0, false);
                ns.ok().map(Self::Date)
            }
            (Self::Text(text), Self::Address(_)) => {
                text.parse().ok().map(|address| match address {
                    IpAddr::V4(address) => Self::Address(address.to_ipv6_mapped().to_bits()),
                    IpAddr::V6(address) => Self::Address(address.to_bits()),
                })
            }
            (Self::Text(text), Self::Bytes(_)) => {
                BASE64_STANDARD.decode(text).ok().map(Self::Bytes)
            }
            _ => None,
        };
        kind.map_or(Cow::Borrowed(self), Cow::Owned)
    }

    fn class(&self) -> u8 {
        match self {
            Self::Integer(_) | Self::Number(_) => 0,
            Self::Bool(_) => 1,
            Self::Date(_) => 2,
            Self::Text(_) => 3,
            Self::Address(_) => 4,
            Self::Bytes(_) => 5,
            Self::Missing => 6,
        }
    }
}

/// Compares an integer of at most 64 bits with a floating point number without rounding either.
fn compare_mixed(left: i128, right: f64) -> Ordering {
    if right.is_nan() {
        return Ordering::Less;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "saturates far outside the range of 64-bit integers"
    )]
    let whole = right.trunc() as i128;
    left.cmp(&whole)
        .then_with(|| 0.0f64.total_cmp(&(right - right.trunc())))
}
