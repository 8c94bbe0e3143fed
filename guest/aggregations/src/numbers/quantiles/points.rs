//! Sorted values with their counts, from which quantiles are read.

use std::borrow::Cow;

/// Sorted values with their counts.
pub(super) struct Points<'a> {
    pub(super) pairs: Cow<'a, [(f64, u64)]>,
    pub(super) total: u64,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Points<'_> {
    pub(super) fn quantile(&self, q: f64) -> Option<f64> {
        let last = self.total.checked_sub(1)?;
        if !(0.0..=1.0).contains(&q) {
            return None;
        }
        let rank = q * last as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "neither negative nor beyond `last`"
        )]
        let whole = (rank as u64).min(last);
        let value = |rank: u64| match rank {
            0 => self.min,
            rank if rank >= last => self.max,
            rank => self.at(rank),
        };
        Some(match value(whole) {
            at_rank if whole == last => at_rank,
            below => between(below, value(whole + 1), rank - whole as f64),
        })
    }

    /// Returns the value at a rank, counted from 0.
    fn at(&self, rank: u64) -> f64 {
        let mut up_to = 0_u64;
        for (value, count) in self.pairs.iter() {
            up_to = up_to.saturating_add(*count);
            if rank < up_to {
                return *value;
            }
        }
        self.max
    }

    /// Returns the number of leading values that satisfy a predicate.
    pub(super) fn up_to(&self, fulfils: impl Fn(f64) -> bool) -> u64 {
        let first = self.pairs.iter().take_while(|pair| fulfils(pair.0));
        first.fold(0, |sum, pair| sum.saturating_add(pair.1))
    }
}

/// Interpolates between `low` and `high` by the fraction `part`, from the nearer of the two, and
/// never beyond them.
fn between(low: f64, high: f64, part: f64) -> f64 {
    let width = high - low;
    let value = if width.is_infinite() {
        low * (1.0 - part) + high * part
    } else if part < 0.5 {
        low + width * part
    } else {
        high - width * (1.0 - part)
    };
    value.max(low).min(high)
}
