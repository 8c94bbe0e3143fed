//! Serialization of quantile sketches.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::super::bounded::Bounded;
use super::buckets::{Buckets, LAST_BUCKET, bucket_of};
use super::{Form, MAX_EXACT, Ordered, QuantileSketch};

/// Upper bound for the number of buckets.
const MAX_BUCKETS: usize = 1 << 19;

/// Serialized sketch. Exact values are written as their bits in reverse byte order: short numbers
/// then have trailing zeros, which variable-length integers omit. Buckets are written as the
/// distance from the previous one, minus one.
#[derive(Serialize)]
#[serde(rename = "QuantileSketch")]
enum Written {
    Exact(Vec<(u64, u64)>),
    Bucketed {
        min: f64,
        max: f64,
        first: i32,
        buckets: Vec<(u32, u64)>,
    },
}

#[derive(Deserialize)]
#[serde(rename = "QuantileSketch")]
enum Read {
    Exact(Bounded<(u64, u64), MAX_EXACT>),
    Bucketed {
        min: f64,
        max: f64,
        first: i32,
        buckets: Bounded<(u32, u64), MAX_BUCKETS>,
    },
}

impl Serialize for QuantileSketch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.form {
            Form::Exact(values) => {
                let written = values
                    .iter()
                    .map(|(key, count)| (key.value().to_bits().swap_bytes(), *count));
                Written::Exact(written.collect())
            }
            Form::Bucketed { min, max, buckets } => {
                let pairs = buckets.sorted();
                let first = pairs.first().map_or(0, |pair| pair.0);
                let mut expected = first;
                let steps = pairs.iter().map(|(bucket, count)| {
                    let step = bucket.abs_diff(expected);
                    expected = bucket.saturating_add(1);
                    (step, *count)
                });
                Written::Bucketed {
                    min: *min,
                    max: *max,
                    first,
                    buckets: steps.collect(),
                }
            }
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for QuantileSketch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form = match Read::deserialize(deserializer)? {
            Read::Exact(Bounded(values)) => read_exact(values),
            Read::Bucketed {
                min,
                max,
                first,
                buckets: Bounded(buckets),
            } => read_buckets(min, max, first, buckets),
        };
        let form = form
            .ok_or_else(|| D::Error::custom("a quantile sketch that is not written as they are"))?;
        Ok(Self { form })
    }
}

/// Checks that values are finite, distinct and sorted, with counts above 0.
fn read_exact(written: Vec<(u64, u64)>) -> Option<Form> {
    let mut values: Vec<(Ordered, u64)> = Vec::with_capacity(written.len());
    let mut total = 0_u64;
    for (bits, count) in written {
        let value = f64::from_bits(bits.swap_bytes());
        let key = Ordered::of(value);
        let ascending = values.last().is_none_or(|last| last.0 < key);
        let negative_zero = value == 0.0 && value.is_sign_negative();
        if !value.is_finite() || negative_zero || count == 0 || !ascending {
            return None;
        }
        total = total.checked_add(count)?;
        values.push((key, count));
    }
    Some(Form::Exact(values))
}

/// Checks that buckets are sorted, with counts above 0, contain more values than the exact form,
/// and range from the minimum's bucket to the maximum's.
fn read_buckets(min: f64, max: f64, first: i32, written: Vec<(u32, u64)>) -> Option<Form> {
    let mut pairs = Vec::with_capacity(written.len());
    let mut expected = first;
    let mut total = 0_u64;
    for (step, count) in written {
        let bucket = expected.checked_add_unsigned(step)?;
        if !(-LAST_BUCKET..=LAST_BUCKET).contains(&bucket) || count == 0 {
            return None;
        }
        total = total.checked_add(count)?;
        expected = bucket.checked_add(1)?;
        pairs.push((bucket, count));
    }
    let ends = (pairs.first()?.0, pairs.last()?.0);
    let (min, max) = (min + 0.0, max + 0.0);
    let finite = min.is_finite() && max.is_finite() && min < max;
    let many = total > u64::try_from(MAX_EXACT).ok()?;
    let fits = finite && many && first == ends.0 && ends == (bucket_of(min), bucket_of(max));
    fits.then_some(Form::Bucketed {
        min,
        max,
        buckets: Buckets::Sorted(pairs),
    })
}
