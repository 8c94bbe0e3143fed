//! Where things lie in the bytes of a column, and that they lie within them.
//!
//! ```text
//! column of strings:  dictionary │ column │ u32 length of the dictionary
//! column:             index │ values │ u32 length of the index
//! values:             u8 codec │ min, gcd, amplitude/gcd, rows (each a vint) │ what the codec stores
//! ```
//!
//! All integers are little-endian. A vint has seven bits a byte, the lowest first, and its last byte has the
//! highest bit set. tantivy's own readers trust these lengths and panic where they are wrong, so everything
//! that is handed to them is looked at here first.

mod address;
mod column;
mod cursor;
mod index;
mod stats;

pub(crate) use address::check_addresses;
pub(crate) use column::{open_dictionary, read_column, split_column};
pub(crate) use cursor::Cursor;
pub(crate) use index::open_index;
pub(crate) use stats::{Codec, Stats, check_linear, check_width, packed_len_bytes};

use std::io;

/// The error for bytes that no writer made.
pub(crate) fn damaged(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("column is damaged: {what}"),
    )
}
