//! The value of a document with several values that a sort key compares.

use tantivy::columnar::{ColumnType, MonotonicallyMappableToU64};

use crate::request::{SortKeySpec, SortMode, SortOrder, SortTarget};

impl SortMode {
    /// Returns whether the mode computes with values.
    pub(super) fn is_for_numbers(self) -> bool {
        matches!(self, Self::Sum | Self::Avg | Self::Median)
    }
}

impl SortKeySpec {
    /// Returns whether the greatest of several values is compared, instead of the least.
    pub(super) fn is_greatest(&self) -> bool {
        match self.mode {
            SortMode::Nearest => self.order == SortOrder::Descending,
            mode => mode == SortMode::Max,
        }
    }

    /// Returns whether distances are compared, of which every document has one.
    pub(super) fn is_distance(&self) -> bool {
        matches!(self.target, SortTarget::Distance(_))
    }

    /// Returns the least or the greatest value, as the mode and the order say.
    pub(super) fn extreme_of<T: Ord>(&self, values: impl Iterator<Item = T>) -> Option<T> {
        match self.is_greatest() {
            true => values.max(),
            false => values.min(),
        }
    }

    /// Returns the compared value of a document whose values of a column are `values`, in the order-preserving form of
    /// columns, or `None` if it has none.
    #[inline(never)]
    pub(super) fn of_several(
        &self,
        values: impl Iterator<Item = u64>,
        column_type: ColumnType,
    ) -> Option<u64> {
        if !self.mode.is_for_numbers() {
            return self.extreme_of(values);
        }
        let mut values: Vec<u64> = values.collect();
        values.sort_unstable();
        let integers = |of: fn(u64) -> i128| values.iter().map(move |value| of(*value));
        Some(match column_type {
            ColumnType::F64 => {
                let values = values.iter().map(|value| f64::from_u64(*value));
                number(self.mode, &values.collect::<Vec<_>>())?.to_u64()
            }
            ColumnType::U64 => {
                let value = integer(self.mode, &integers(i128::from).collect::<Vec<_>>())?;
                u64::try_from(value).unwrap_or(u64::MAX)
            }
            _ => {
                let of = |value| i128::from(i64::from_u64(value));
                let value = integer(self.mode, &integers(of).collect::<Vec<_>>())?;
                let bounds = (i128::from(i64::MIN), i128::from(i64::MAX));
                let value = value.clamp(bounds.0, bounds.1);
                i64::try_from(value).unwrap_or_default().to_u64()
            }
        })
    }
}

/// Computes with ascending integers.
fn integer(mode: SortMode, values: &[i128]) -> Option<i128> {
    if values.is_empty() {
        return None;
    }
    let rounded = |sum: i128, count: i128| (2 * sum + count).div_euclid(2 * count);
    let sum = || values.iter().sum::<i128>();
    Some(match mode {
        SortMode::Sum => sum(),
        SortMode::Avg => rounded(sum(), i128::try_from(values.len()).ok()?),
        _ => {
            let (lower, upper) = middle(values)?;
            rounded(lower + upper, 2)
        }
    })
}

/// Computes with ascending numbers.
fn number(mode: SortMode, values: &[f64]) -> Option<f64> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a document has far fewer values"
    )]
    let count = values.len() as f64;
    let sum = || values.iter().sum::<f64>();
    Some(match mode {
        SortMode::Sum => sum(),
        SortMode::Avg => sum() / count,
        _ => {
            let (lower, upper) = middle(values)?;
            if lower.total_cmp(&upper).is_eq() {
                lower
            } else {
                lower / 2.0 + upper / 2.0
            }
        }
    })
    .filter(|_| !values.is_empty())
}

/// Returns the two values in the middle; one twice if their number is odd.
fn middle<T: Copy>(values: &[T]) -> Option<(T, T)> {
    let last = values.len().checked_sub(1)?;
    Some((*values.get(last / 2)?, *values.get(last.div_ceil(2))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mode: SortMode, order: SortOrder, values: &[i64]) -> Option<i64> {
        let key = SortKeySpec {
            mode,
            ..SortKeySpec::new(SortTarget::Score, order)
        };
        let values = values.iter().map(|value| value.to_u64());
        key.of_several(values, ColumnType::I64).map(i64::from_u64)
    }

    #[test]
    fn a_document_with_several_values_is_sorted_by_the_one_that_the_mode_says() {
        let values = [7, -3, 2, 2];
        for (mode, ascending, descending) in [
            (SortMode::Nearest, -3, 7),
            (SortMode::Min, -3, -3),
            (SortMode::Max, 7, 7),
            (SortMode::Sum, 8, 8),
            (SortMode::Avg, 2, 2),
            (SortMode::Median, 2, 2),
        ] {
            assert_eq!(
                of(mode, SortOrder::Ascending, &values),
                Some(ascending),
                "{mode:?}"
            );
            assert_eq!(
                of(mode, SortOrder::Descending, &values),
                Some(descending),
                "{mode:?}"
            );
            assert_eq!(of(mode, SortOrder::Ascending, &[]), None);
            assert_eq!(of(mode, SortOrder::Descending, &[5]), Some(5));
        }
    }

    #[test]
    fn means_of_integers_round_halves_up_and_sums_stay_in_the_range() {
        let ascending = |mode, values: &[i64]| of(mode, SortOrder::Ascending, values);
        assert_eq!(ascending(SortMode::Avg, &[1, 2]), Some(2));
        assert_eq!(ascending(SortMode::Avg, &[-1, -2]), Some(-1));
        assert_eq!(ascending(SortMode::Median, &[1, 4, 5, 9]), Some(5));
        assert_eq!(ascending(SortMode::Median, &[-4, -1]), Some(-2));
        assert_eq!(
            ascending(SortMode::Sum, &[i64::MAX, i64::MAX]),
            Some(i64::MAX)
        );
        assert_eq!(
            ascending(SortMode::Avg, &[i64::MAX, i64::MAX]),
            Some(i64::MAX)
        );
    }

    #[test]
    fn floating_point_numbers_are_not_rounded() {
        let of = |mode, values: &[f64]| {
            let key = SortKeySpec {
                mode,
                ..SortKeySpec::new(SortTarget::Score, SortOrder::Ascending)
            };
            let values = values.iter().map(|value| value.to_u64());
            key.of_several(values, ColumnType::F64).map(f64::from_u64)
        };
        assert_eq!(of(SortMode::Avg, &[1.0, 2.0]), Some(1.5));
        assert_eq!(of(SortMode::Median, &[4.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(of(SortMode::Median, &[f64::MAX, f64::MAX]), Some(f64::MAX));
        assert_eq!(of(SortMode::Sum, &[]), None);
    }
}
