//! Layout of a segment's files. tantivy trusts the offsets in them and panics on one outside of its
//! file, so they are validated before it opens the files.
//!
//! ```text
//!   several fields     … │ footer: number of fields · { offset from the previous · field · 0 } │ u32 footer's length
//!   columns            … │ dictionary of names │ u64 its length · u32 rows · 8 bytes version
//!   a dictionary       blocks │ index │ u64 offset of the index · u64 terms · u32 version
//! ```

mod column;

use std::io;
use std::ops::Range;

use tantivy_common::file_slice::FileSlice;
use tantivy_common::{HasLen, OwnedBytes};

pub use column::{ColumnKind, check_column};

/// Length of a dictionary's footer in bytes.
const DICTIONARY_FOOTER_LEN: usize = 20;
/// Length of the footer of a file of columns in bytes.
const COLUMNS_FOOTER_LEN: usize = 20;

fn damaged() -> io::Error {
    let what = "a file of its segment says that something lies outside of it";
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Reads the `len` bytes before `end`.
fn tail(file: &FileSlice, end: usize, len: usize) -> io::Result<OwnedBytes> {
    let start = end.checked_sub(len).ok_or_else(damaged)?;
    file.read_bytes_slice(start..end)
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> io::Result<u32> {
    let found = bytes.get(at..).and_then(<[u8]>::first_chunk);
    found.copied().map(u32::from_le_bytes).ok_or_else(damaged)
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> io::Result<u64> {
    let found = bytes.get(at..).and_then(<[u8]>::first_chunk);
    found.copied().map(u64::from_le_bytes).ok_or_else(damaged)
}

/// Reads a varint of tantivy's, whose last byte has the highest bit set.
fn varint(rest: &mut &[u8]) -> io::Result<u64> {
    let mut number = 0_u64;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, behind) = rest.split_first().ok_or_else(damaged)?;
        *rest = behind;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 != 0 {
            return Ok(number);
        }
    }
    Err(damaged())
}

/// Part of a file of several fields.
pub(crate) struct FieldPart {
    pub(crate) field: u32,
    /// Place among the parts of the field.
    pub(crate) ord: u64,
    pub(crate) bytes: Range<usize>,
}

/// Checks that the parts of a file of several fields lie within it.
///
/// # Errors
/// A part lies outside, or the file cannot be read.
pub fn check_fields(file: &FileSlice) -> io::Result<()> {
    parts_of(file).map(drop)
}

/// Returns the parts of a file of several fields, in their order.
///
/// # Errors
/// A part lies outside, or the file cannot be read.
pub(crate) fn parts_of(file: &FileSlice) -> io::Result<Vec<FieldPart>> {
    let footer_len = u32_at(&tail(file, file.len(), 4)?, 0)?;
    let footer_len = usize::try_from(footer_len).map_err(|_| damaged())?;
    let footer_end = file.len() - 4;
    let footer = tail(file, footer_end, footer_len)?;
    let content_len = footer_end - footer_len;
    let mut rest = footer.as_slice();
    let mut offset = 0;
    let mut parts: Vec<FieldPart> = Vec::new();
    for _ in 0..varint(&mut rest)? {
        let more = usize::try_from(varint(&mut rest)?).map_err(|_| damaged())?;
        offset = more.checked_add(offset).ok_or_else(damaged)?;
        let (field, behind) = rest.split_first_chunk::<4>().ok_or_else(damaged)?;
        rest = behind;
        if let Some(last) = parts.last_mut() {
            last.bytes.end = offset;
        }
        parts.push(FieldPart {
            field: u32::from_le_bytes(*field),
            ord: varint(&mut rest)?,
            bytes: offset..content_len,
        });
    }
    match offset <= content_len {
        true => Ok(parts),
        false => Err(damaged()),
    }
}

/// Checks that the parts of a file of columns lie within it, and that it has `num_docs` documents.
///
/// # Errors
/// A check fails, or the file cannot be read.
pub fn check_columns(file: &FileSlice, num_docs: u32) -> io::Result<()> {
    let footer = tail(file, file.len(), COLUMNS_FOOTER_LEN)?;
    if u32_at(&footer, 8)? != num_docs {
        let what = "its columns are of another number of documents than it has";
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    let end = file.len() - COLUMNS_FOOTER_LEN;
    let len = usize::try_from(u64_at(&footer, 0)?).map_err(|_| damaged())?;
    if len > end {
        return Err(damaged());
    }
    check_dictionary(len, &tail(file, end, DICTIONARY_FOOTER_LEN)?)
}

/// Checks that the parts of a dictionary of `len` bytes lie within it; `end` contains its last
/// bytes.
fn check_dictionary(len: usize, end: &[u8]) -> io::Result<()> {
    let footer_start = end.len().checked_sub(DICTIONARY_FOOTER_LEN);
    let footer_start = footer_start.ok_or_else(damaged)?;
    let index_start = u64_at(end, footer_start)?;
    let num_terms = u64_at(end, footer_start + 8)?;
    let before_footer = len.checked_sub(DICTIONARY_FOOTER_LEN).ok_or_else(damaged)?;
    // A merge allocates for each term. Dictionaries are not compressed, so a term takes at least
    // one byte.
    match index_start <= before_footer as u64 && num_terms <= len as u64 {
        true => Ok(()),
        false => Err(damaged()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(bytes: &[u8]) -> FileSlice {
        FileSlice::from(bytes.to_vec())
    }

    /// Builds a file with a field of each length, numbered in order.
    fn fields(lens: &[u8]) -> Vec<u8> {
        let num_bytes: usize = lens.iter().map(|len| usize::from(*len)).sum();
        let mut bytes = vec![7; num_bytes];
        let mut footer = vec![lens.len() as u8 | 0x80];
        let mut before = 0;
        for (field, len) in (0_u32..).zip(lens) {
            footer.push(before | 0x80);
            footer.extend(field.to_le_bytes());
            footer.push(0x80);
            before = *len;
        }
        let len = footer.len() as u32;
        bytes.extend(footer);
        bytes.extend(len.to_le_bytes());
        bytes
    }

    fn columns(index_start: u64, names_len: u64, num_docs: u32) -> Vec<u8> {
        let mut bytes = vec![0; 30];
        bytes.extend(index_start.to_le_bytes());
        bytes.extend([0; 12]);
        bytes.extend(names_len.to_le_bytes());
        bytes.extend(num_docs.to_le_bytes());
        bytes.extend([2, 0, 0, 0, 2, 113, 119, 66]);
        bytes
    }

    #[test]
    fn fields_lie_within_their_file() {
        assert!(check_fields(&file(&fields(&[]))).is_ok());
        assert!(check_fields(&file(&fields(&[3, 0, 9]))).is_ok());
        // The last field begins past the end.
        let mut bytes = fields(&[3, 9]);
        bytes.drain(..10);
        assert!(check_fields(&file(&bytes)).is_err());
        for len in 0..bytes.len() {
            assert!(check_fields(&file(&bytes[..len])).is_err(), "{len}");
        }
    }

    #[test]
    fn a_dictionary_has_no_more_terms_than_bytes() {
        let check = |num_terms: u64| {
            let mut bytes = vec![0; 30];
            bytes.extend(30_u64.to_le_bytes());
            bytes.extend(num_terms.to_le_bytes());
            bytes.extend(3_u32.to_le_bytes());
            check_dictionary(bytes.len(), &bytes).is_ok()
        };
        assert!(check(0));
        assert!(check(50));
        assert!(!check(51));
        assert!(!check(1 << 48));
    }

    #[test]
    fn columns_lie_within_their_file_and_are_of_the_splits_documents() {
        let check = |bytes: &[u8]| check_columns(&file(bytes), 5).is_ok();
        assert!(check(&columns(30, 50, 5)));
        assert!(check(&columns(0, 20, 5)));
        assert!(!check(&columns(30, 50, 6)));
        assert!(!check(&columns(31, 50, 5)));
        assert!(!check(&columns(0, 19, 5)));
        assert!(!check(&columns(0, 51, 5)));
        assert!(!check(&columns(0, u64::MAX, 5)));
        assert!(!check(&[0; 19]));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_file_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = check_fields(&file(&bytes));
            let _ = check_columns(&file(&bytes), 0);
        }
    }
}
