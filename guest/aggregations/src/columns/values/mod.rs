//! The values of a column as codes of 64 bits: where they are packed, read by the kernels of this crate,
//! and by tantivy elsewhere.
//!
//! The codes are tantivy's: numbers, dates and Booleans in its order-preserving mapping to `u64`, ordinals
//! for strings and bytes, and for IP addresses their compact codes. They lie in rows; which rows a document
//! has, the column's index tells.

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

/// The values of a column, as they are stored.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    /// All of one width.
    Packed(PackedValues),
    /// In blocks of 512 rows with a line and a width each: sorted and nearly sorted numbers.
    Linear(LinearValues),
    /// In a way that tantivy reads: IP addresses.
    Other(OtherValues),
}

impl Values {
    /// Rows of the column, which are its values: 0 for a column without any.
    pub(crate) fn num_rows(&self) -> u32 {
        match self {
            Self::Packed(packed) => packed.num_rows(),
            Self::Linear(linear) => linear.num_rows(),
            Self::Other(other) => other.num_rows(),
        }
    }

    /// The least code, as the column's head has it. What damaged values decode to may be less.
    pub(crate) fn min(&self) -> u64 {
        match self {
            Self::Packed(packed) => packed.min(),
            Self::Linear(linear) => linear.min(),
            Self::Other(other) => other.min(),
        }
    }

    /// The greatest code, as the column's head has it. What damaged values decode to may be greater, so a
    /// code is no index without a look at the length.
    pub(crate) fn max(&self) -> u64 {
        match self {
            Self::Packed(packed) => packed.max(),
            Self::Linear(linear) => linear.max(),
            Self::Other(other) => other.max(),
        }
    }

    /// The code of one row.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such row.
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
    /// `InvalidInput` if rows of the range do not exist.
    pub(crate) fn decode(&self, rows: Range<u32>, out: &mut Vec<u64>) -> io::Result<()> {
        match self {
            Self::Packed(packed) => packed.decode(rows, out),
            Self::Linear(linear) => linear.decode(rows, out),
            Self::Other(other) => other.decode(rows, out),
        }
    }

    /// Replaces `out` by the codes of listed rows. Ascending lists are fast; any list is right.
    ///
    /// # Errors
    /// `InvalidInput` if rows of the list do not exist.
    pub(crate) fn gather(&self, rows: &[u32], out: &mut Vec<u64>) -> io::Result<()> {
        match self {
            Self::Packed(packed) => packed.gather(rows, out),
            Self::Linear(linear) => linear.gather(rows, out),
            Self::Other(other) => other.gather(rows, out),
        }
    }
}

/// How many rows a range has, if all exist. A range that ends before it begins is empty.
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

/// A number of rows as a length in memory.
fn index(rows: u32) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
