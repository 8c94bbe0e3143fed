//! Order of hits according to the documentation: missing values come last in either direction.

use std::cmp::Ordering;

use super::table::{Scalar, Table};

/// Sort key.
#[derive(Clone, Copy, Debug)]
pub(super) struct SortKey {
    pub(super) field: usize,
    pub(super) is_ascending: bool,
}

impl SortKey {
    /// Compares two values in the order of hits.
    fn compare(self, left: &Scalar, right: &Scalar) -> Ordering {
        let order = class(left)
            .cmp(&class(right))
            .then_with(|| left.compare(right).unwrap_or(Ordering::Equal));
        match self.is_ascending {
            true => order,
            false => order.reverse(),
        }
    }
}

impl Table {
    /// Returns the sort values of a document: of several values of a key, the one that places the document first.
    pub(super) fn sort_values(&self, doc: usize, keys: &[SortKey]) -> Vec<Option<Scalar>> {
        keys.iter()
            .map(|key| {
                let values = self.column(doc, key.field).into_iter();
                values.min_by(|left, right| key.compare(left, right))
            })
            .collect()
    }

    /// Compares the sort values of two documents.
    pub(super) fn compare_values(
        left: &[Option<Scalar>],
        right: &[Option<Scalar>],
        keys: &[SortKey],
    ) -> Ordering {
        for ((left, right), key) in left.iter().zip(right).zip(keys) {
            let order = match (left, right) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some(left), Some(right)) => key.compare(left, right),
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }
}

/// Returns the rank of a type: numbers come before booleans, then dates, then texts.
fn class(value: &Scalar) -> u8 {
    match value {
        Scalar::Int(_) | Scalar::Float(_) => 0,
        Scalar::Bool(_) => 1,
        Scalar::Date(_) => 2,
        Scalar::Text(_) | Scalar::Ip(_) | Scalar::Bytes(_) => 3,
    }
}
