//! Values of a column as 64-bit codes: the kernels of this crate read packed ones, and tantivy the
//! others.
//!
//! The codes are tantivy's: numbers, dates and Booleans in its order-preserving mapping to `u64`,
//! ordinals for strings and bytes, and compact codes for IP addresses. Values are stored in rows;
//! the column's index maps documents to rows.

mod linear;
mod open;
mod other;
mod packed;
mod raw;
mod select;

pub(crate) use linear::LinearValues;
pub(crate) use other::OtherValues;
pub(crate) use packed::{MAX_COUNTED_WIDTH, PackedValues};

use std::io;
use std::ops::Range;

/// Values of a column, by encoding.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    /// All of one width.
    Packed(PackedValues),
    /// Blocks of 512 rows with their own line and width: sorted and nearly sorted numbers.
    Linear(LinearValues),
    /// Encoding that tantivy reads: IP addresses.
    Other(OtherValues),
}

impl Values {
    /// Returns the number of rows, which are the values of the column.
    pub(crate) fn num_rows(&self) -> u32 {
        match self {
            Self::Packed(packed) => packed.num_rows(),
            Self::Linear(linear) => linear.num_rows(),
            Self::Other(other) => other.num_rows(),
        }
    }

    /// Returns the smallest code according to the column's head. Damaged values may decode to less.
    pub(crate) fn min(&self) -> u64 {
        match self {
            Self::Packed(packed) => packed.min(),
            Self::Linear(linear) => linear.min(),
            Self::Other(other) => other.min(),
        }
    }

    /// Returns the largest code according to the column's head. Damaged values may decode to more,
    /// so indexing by a code needs a bounds check.
    pub(crate) fn max(&self) -> u64 {
        match self {
            Self::Packed(packed) => packed.max(),
            Self::Linear(linear) => linear.max(),
            Self::Other(other) => other.max(),
        }
    }

    /// Returns the code of one row.
    ///
    /// # Errors
    /// `InvalidInput` if the row does not exist.
    #[inline]
    pub(crate) fn get(&self, row: u32) -> io::Result<u64> {
        match self {
            Self::Packed(packed) => packed.get(row),
            Self::Linear(linear) => linear.get(row),
            Self::Other(other) => {
                let mut code = Vec::with_capacity(1);
                other.gather(&[row], &mut code)?;
                Ok(code.first().copied().unwrap_or_default())
            }
        }
    }

    /// Replaces `out` by the codes of a range of rows.
    ///
    /// # Errors
    /// `InvalidInput` if a row does not exist.
    pub(crate) fn decode(&self, rows: Range<u32>, out: &mut Vec<u64>) -> io::Result<()> {
        match self {
            Self::Packed(packed) => packed.decode(rows, out),
            Self::Linear(linear) => linear.decode(rows, out),
            Self::Other(other) => other.decode(rows, out),
        }
    }

    /// Replaces `out` by the codes of listed rows. Ascending lists are fast; any order is correct.
    ///
    /// # Errors
    /// `InvalidInput` if a row does not exist.
    pub(crate) fn gather(&self, rows: &[u32], out: &mut Vec<u64>) -> io::Result<()> {
        match self {
            Self::Packed(packed) => packed.gather(rows, out),
            Self::Linear(linear) => linear.gather(rows, out),
            Self::Other(other) => other.gather(rows, out),
        }
    }
}

/// Returns the number of rows in a range, all of which must exist. A range that ends before its
/// start is empty.
fn count_rows(rows: &Range<u32>, num_rows: u32) -> io::Result<usize> {
    if rows.end > num_rows {
        return Err(no_such_rows(num_rows));
    }
    Ok(index(rows.end.saturating_sub(rows.start)))
}

fn no_such_rows(num_rows: u32) -> io::Error {
    let message = format!("rows are asked for that a column of {num_rows} does not have");
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// Converts a number of rows to a length in memory.
fn index(rows: u32) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
