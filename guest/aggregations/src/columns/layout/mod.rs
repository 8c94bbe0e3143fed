//! Layout of a column's bytes, and validation of its offsets.
//!
//! ```text
//! column of strings:  dictionary │ column │ u32 length of the dictionary
//! column:             index │ values │ u32 length of the index
//! values:             u8 codec │ min, gcd, amplitude/gcd, rows (each a vint) │ data of the codec
//! ```
//!
//! All integers are little-endian. A vint has seven bits in each byte, the lowest first, and the
//! highest bit set in its last byte. tantivy's readers trust these lengths and panic if they are
//! wrong, so everything is validated here before it is passed to them.

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

/// Creates an error about bytes that no writer produces.
pub(crate) fn damaged(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("column is damaged: {what}"),
    )
}
