//! Values that tantivy reads.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use tantivy::columnar::ColumnValues;

use super::{count_rows, no_such_rows};

/// Values that tantivy reads.
#[derive(Clone)]
pub(crate) struct OtherValues(Arc<dyn ColumnValues<u64>>);

impl OtherValues {
    pub(super) fn new(values: Arc<dyn ColumnValues<u64>>) -> Self {
        Self(values)
    }

    /// Returns tantivy's reader; for IP addresses, it is also a `CompactSpaceU64Accessor`. It may
    /// panic on rows that do not exist.
    pub(crate) fn reader(&self) -> &Arc<dyn ColumnValues<u64>> {
        &self.0
    }

    /// See [`Values::num_rows`](super::Values::num_rows).
    pub(crate) fn num_rows(&self) -> u32 {
        self.0.num_vals()
    }

    /// See [`Values::min`](super::Values::min); 0 without rows.
    pub(crate) fn min(&self) -> u64 {
        if self.num_rows() == 0 {
            0
        } else {
            self.0.min_value()
        }
    }

    /// See [`Values::max`](super::Values::max); 0 without rows.
    pub(crate) fn max(&self) -> u64 {
        if self.num_rows() == 0 {
            0
        } else {
            self.0.max_value()
        }
    }

    /// See [`Values::decode`](super::Values::decode).
    ///
    /// # Errors
    /// `InvalidInput` if a row does not exist.
    pub(crate) fn decode(&self, rows: Range<u32>, out: &mut Vec<u64>) -> io::Result<()> {
        out.resize(count_rows(&rows, self.num_rows())?, 0);
        if !out.is_empty() {
            self.0.get_range(u64::from(rows.start), out);
        }
        Ok(())
    }

    /// See [`Values::gather`](super::Values::gather).
    ///
    /// # Errors
    /// `InvalidInput` if a row does not exist.
    pub(crate) fn gather(&self, rows: &[u32], out: &mut Vec<u64>) -> io::Result<()> {
        if rows.iter().any(|row| *row >= self.num_rows()) {
            return Err(no_such_rows(self.num_rows()));
        }
        out.resize(rows.len(), 0);
        self.0.get_vals(rows, out);
        Ok(())
    }
}

impl fmt::Debug for OtherValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "OtherValues({} rows)", self.num_rows())
    }
}
