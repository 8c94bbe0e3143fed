//! Parts of a column: dictionary, index, values.

use std::io;

use tantivy::columnar::{ColumnType, Dictionary, DynamicColumnHandle};
use tantivy::directory::OwnedBytes;
use tantivy_common::HasLen;
use tantivy_common::file_slice::FileSlice;

use super::{Cursor, damaged};

/// Column without its dictionary.
pub(crate) struct Parts {
    pub(crate) index: OwnedBytes,
    pub(crate) values: OwnedBytes,
}

/// Reads index and values, and only the length of a dictionary.
pub(crate) fn read_column(handle: &DynamicColumnHandle) -> io::Result<OwnedBytes> {
    let file = handle.file_slice();
    match handle.column_type() {
        ColumnType::Str | ColumnType::Bytes => read_behind_dictionary(file),
        _ => file.read_bytes(),
    }
}

fn read_behind_dictionary(file: &FileSlice) -> io::Result<OwnedBytes> {
    let (begin, end) = behind_dictionary(file)?;
    file.read_bytes_slice(begin..end)
}

/// Returns the offsets between which index and values are, after the dictionary.
fn behind_dictionary(file: &FileSlice) -> io::Result<(usize, usize)> {
    let end = file
        .len()
        .checked_sub(4)
        .ok_or_else(|| damaged("it ends too early"))?;
    let trailer = file.read_bytes_slice(end..file.len())?;
    let begin = Cursor::new(&trailer).len_from_end()?;
    if begin > end {
        return Err(damaged("its dictionary is longer than the column"));
    }
    Ok((begin, end))
}

/// Opens the dictionary of a column of strings, without its values.
pub(crate) fn open_dictionary(handle: &DynamicColumnHandle) -> io::Result<Dictionary> {
    /// Length of the footer of every dictionary.
    const FOOTER_LEN: usize = 20;
    let file = handle.file_slice();
    let (len, _) = behind_dictionary(file)?;
    if len < FOOTER_LEN {
        return Err(damaged("its dictionary ends too early"));
    }
    Dictionary::from_bytes(file.read_bytes_slice(0..len)?)
}

/// Splits the result of [`read_column`].
pub(crate) fn split_column(bytes: &OwnedBytes) -> io::Result<Parts> {
    let mut cursor = Cursor::new(bytes);
    let index_len = cursor.len_from_end()?;
    let body_len = cursor.len();
    if index_len > body_len {
        return Err(damaged("its index is longer than the column"));
    }
    Ok(Parts {
        index: bytes.slice(0..index_len),
        values: bytes.slice(index_len..body_len),
    })
}
