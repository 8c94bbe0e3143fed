//! Columns of one field in one split, and the rows of each document.

use std::collections::BTreeSet;
use std::sync::Arc;

use canter_doc_mapper::DocMapper;
use tantivy::columnar::column_values::CompactSpaceU64Accessor;
use tantivy::columnar::{
    ColumnIndex, ColumnType, Dictionary, DynamicColumnHandle, MonotonicallyMappableToU64,
};
use tantivy::{SegmentReader, TantivyError};

use super::block::{Block, Docs, Groups};
use super::build::{Columns, MemoryColumn};
use crate::columns::{Values, open_dictionary};
use crate::key::Key;
use crate::numbers::Number;
use crate::{Error, Result};

/// Columns of one field. An untyped field may have one for each type of value.
pub(crate) struct Field {
    pub(crate) columns: Vec<Column>,
}

impl Field {
    /// Opens the columns of the accepted types, except empty ones.
    pub(crate) fn open(
        columns: Columns<'_>,
        mapper: &DocMapper,
        field: &str,
        numbers: Numbers,
        is_taken: impl Fn(ColumnType) -> bool,
    ) -> Result<Self> {
        let mut columns = match columns {
            Columns::Segment(segment) => {
                let handles = column_handles(segment, mapper, field)?;
                let taken = handles.iter();
                let taken = taken.filter(|handle| is_taken(handle.column_type()));
                taken
                    .map(|handle| Column::open(handle, numbers))
                    .collect::<Result<Vec<_>>>()?
            }
            Columns::Objects(objects) => {
                let of_column = |column: &str| objects.columns(column);
                let found = first_columns(mapper, field, of_column, |found| found.column_type)?;
                let taken = found.into_iter();
                let taken = taken.filter(|found| is_taken(found.column_type));
                taken
                    .map(|found| Column::in_memory(found, numbers))
                    .collect()
            }
        };
        columns.retain(|column| column.values.num_rows() != 0);
        canter_sorting::sort_by_key(&mut columns, |column| column.column_type);
        Ok(Self { columns })
    }
}

/// Returns the columns that the name of a fast field stands for; none in a segment that was built before
/// the field was mapped as fast.
///
/// # Errors
/// An error of tantivy, such as a read of missing bytes.
pub fn column_handles(
    segment: &SegmentReader,
    mapper: &DocMapper,
    field: &str,
) -> tantivy::Result<Vec<DynamicColumnHandle>> {
    let of_segment = |column: &str| match segment.fast_fields().dynamic_column_handles(column) {
        // The field that replaces it in such a segment is not fast.
        Err(TantivyError::InvalidArgument(_)) => Ok(Vec::new()),
        handles => handles,
    };
    first_columns(mapper, field, of_segment, DynamicColumnHandle::column_type)
}

/// Returns the columns of the first name that a field has columns under.
fn first_columns<C>(
    mapper: &DocMapper,
    field: &str,
    of_column: impl Fn(&str) -> tantivy::Result<Vec<C>>,
    type_of: impl Fn(&C) -> ColumnType,
) -> tantivy::Result<Vec<C>> {
    for column in mapper.columns_of(field) {
        let mut found = of_column(&column.name)?;
        found.retain(|found| !column.is_text || type_of(found) == ColumnType::Str);
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Meaning of a column's codes that are not values themselves.
enum Names {
    None,
    Terms(Dictionary),
    /// Terms, or addresses of 16 bytes, by code.
    InMemory(Arc<Vec<Vec<u8>>>),
}

/// One column: the rows of each document, and the codes of the rows, ordered like their values.
pub(crate) struct Column {
    pub(crate) column_type: ColumnType,
    pub(crate) index: ColumnIndex,
    pub(crate) values: Values,
    names: Names,
    numbers: Numbers,
}

/// Conversion of numbers to keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Keys have the type of the column.
    AsTheyAre,
    /// For untyped fields. One fraction makes all numbers of a split floating-point, while another
    /// split keeps integers; keys must not show the difference.
    WholeWherePossible,
    /// For values from before the field was mapped as floating-point.
    Floats,
}

/// Rows of a column, with their documents and buckets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    pub(crate) docs: Docs<'a>,
    pub(crate) groups: Groups<'a>,
    pub(crate) rows: Docs<'a>,
}

/// Scratch space for the rows of a block.
#[derive(Debug, Default)]
pub(crate) struct RowRoom {
    docs: Vec<u32>,
    groups: Vec<u32>,
    rows: Vec<u32>,
}

impl Column {
    pub(super) fn open(handle: &DynamicColumnHandle, numbers: Numbers) -> Result<Self> {
        let column_type = handle.column_type();
        let (index, values) = Values::open(handle)?;
        let names = match column_type {
            ColumnType::Str if values.num_rows() != 0 => Names::Terms(open_dictionary(handle)?),
            _ => Names::None,
        };
        Ok(Self {
            column_type,
            index,
            values,
            names,
            numbers,
        })
    }

    pub(super) fn in_memory(column: MemoryColumn, numbers: Numbers) -> Self {
        Self {
            column_type: column.column_type,
            index: column.index,
            values: column.values,
            names: Names::InMemory(column.terms),
            numbers,
        }
    }

    /// Returns whether every document has exactly one value.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self.index, ColumnIndex::Full)
    }

    /// Returns whether a document may have several values.
    pub(crate) fn is_multivalued(&self) -> bool {
        matches!(self.index, ColumnIndex::Multivalued(_))
    }

    /// Returns whether the field is a set of values in a document, as texts and addresses are in Elasticsearch, and this
    /// column has them as often as they were written.
    pub(crate) fn repeats_in_sets(&self) -> bool {
        let is_set = matches!(self.column_type, ColumnType::Str | ColumnType::IpAddr);
        is_set && self.is_multivalued()
    }

    /// Returns the rows of the documents of a block. A document with several rows is repeated, in
    /// adjacent positions.
    pub(crate) fn rows<'a>(&'a self, block: Block<'a>, room: &'a mut RowRoom) -> Rows<'a> {
        if self.is_full() {
            return Rows {
                docs: block.docs,
                groups: block.groups,
                rows: block.docs,
            };
        }
        room.docs.clear();
        room.groups.clear();
        room.rows.clear();
        for (doc, group) in block.pairs() {
            for row in self.index.value_row_ids(doc) {
                room.docs.push(doc);
                room.groups.push(group);
                room.rows.push(row);
            }
        }
        Rows {
            docs: Docs::List(&room.docs),
            groups: match block.groups {
                Groups::One(group) => Groups::One(group),
                Groups::Each(_) => Groups::Each(&room.groups),
            },
            rows: Docs::List(&room.rows),
        }
    }

    /// Returns the rows as [`Self::rows`], but without documents: a range in one bucket stays a
    /// range.
    pub(crate) fn rows_alone<'a>(&'a self, block: Block<'a>, room: &'a mut RowRoom) -> Rows<'a> {
        match (block.docs, block.groups) {
            (Docs::Range(first, end), Groups::One(_)) => {
                let rows = self.index.docid_range_to_rowids(first..end);
                let rows = Docs::Range(rows.start, rows.end);
                Rows {
                    docs: rows,
                    groups: block.groups,
                    rows,
                }
            }
            _ => self.rows(block, room),
        }
    }

    /// Reads the codes of rows.
    pub(crate) fn codes(&self, rows: Docs<'_>, codes: &mut Vec<u64>) -> Result<()> {
        match rows {
            Docs::Range(first, end) => self.values.decode(first..end, codes)?,
            Docs::List(rows) => self.values.gather(rows, codes)?,
        }
        Ok(())
    }

    /// Returns the code of a document in a full column.
    pub(crate) fn code_at(&self, doc: u32) -> Result<u64> {
        Ok(self.values.get(doc)?)
    }

    /// Converts a code to a number; dates become milliseconds.
    pub(crate) fn number(&self, code: u64) -> f64 {
        const MILLISECOND_NS: f64 = 1e6;
        match self.column_type {
            ColumnType::F64 => f64::from_u64(code),
            ColumnType::I64 => i64::from_u64(code) as f64,
            ColumnType::DateTime => i64::from_u64(code) as f64 / MILLISECOND_NS,
            _ => code as f64,
        }
    }

    /// Returns one key for each of the ascending codes.
    ///
    /// # Errors
    /// A dictionary cannot be read.
    pub(crate) fn keys(&self, codes: &[u64]) -> Result<Vec<Key>> {
        let keys = match self.column_type {
            ColumnType::Str => return self.terms(codes),
            ColumnType::U64 | ColumnType::I64 if self.numbers == Numbers::Floats => {
                of_each(codes, |code| Key::Number(Number::from(self.number(code))))
            }
            ColumnType::U64 => {
                of_each(codes, |code| Key::Number(Number::Integer(i128::from(code))))
            }
            ColumnType::I64 => of_each(codes, |code| {
                Key::Number(Number::Integer(i128::from(i64::from_u64(code))))
            }),
            ColumnType::F64 if self.numbers == Numbers::WholeWherePossible => {
                of_each(codes, |code| {
                    let number = Number::from(f64::from_u64(code));
                    Key::Number(number.as_whole().map_or(number, Number::Integer))
                })
            }
            ColumnType::F64 => {
                of_each(codes, |code| Key::Number(Number::from(f64::from_u64(code))))
            }
            ColumnType::Bool => of_each(codes, |code| Key::Bool(code != 0)),
            ColumnType::DateTime => of_each(codes, |code| Key::Date(i64::from_u64(code))),
            ColumnType::IpAddr if matches!(self.names, Names::InMemory(_)) => {
                return self.terms(codes);
            }
            ColumnType::IpAddr => {
                let Values::Other(values) = &self.values else {
                    return Err(internal("addresses without their codes"));
                };
                let reader = Arc::clone(values.reader());
                let Ok(accessor) = reader.downcast_arc::<CompactSpaceU64Accessor>() else {
                    return Err(internal("addresses without their codes"));
                };
                of_each(codes, |code| {
                    let code = u32::try_from(code).unwrap_or(u32::MAX);
                    Key::Address(accessor.compact_to_u128(code))
                })
            }
            ColumnType::Bytes => return Err(internal("bytes have no keys")),
        };
        Ok(keys)
    }

    fn terms(&self, codes: &[u64]) -> Result<Vec<Key>> {
        let mut keys = Vec::with_capacity(codes.len());
        let is_complete = match &self.names {
            Names::None => return Err(internal("a column of texts without a dictionary")),
            Names::Terms(dictionary) => dictionary.sorted_ords_to_term_cb(codes, |term| {
                keys.push(Key::Text(String::from_utf8_lossy(term).into_owned()));
            })?,
            Names::InMemory(terms) => {
                let places = codes.iter().map(|code| usize::try_from(*code).ok());
                let found = places.map_while(|place| terms.get(place?));
                keys.extend(
                    found.map(|term| match <[u8; 16]>::try_from(term.as_slice()) {
                        Ok(octets) if self.column_type == ColumnType::IpAddr => {
                            Key::Address(u128::from_be_bytes(octets))
                        }
                        _ => Key::Text(String::from_utf8_lossy(term).into_owned()),
                    }),
                );
                true
            }
        };
        match is_complete && keys.len() == codes.len() {
            true => Ok(keys),
            false => Err(internal("a dictionary lacks a term of its column")),
        }
    }
}

fn of_each(codes: &[u64], key: impl Fn(u64) -> Key) -> Vec<Key> {
    codes.iter().map(|code| key(*code)).collect()
}

fn internal(what: &str) -> Error {
    Error::Columns(tantivy::TantivyError::InternalError(what.to_owned()))
}

/// Collects the documents that have no value in any of these columns.
pub(crate) fn without_value(
    columns: &[Column],
    block: Block<'_>,
    docs: &mut Vec<u32>,
    groups: &mut Vec<u32>,
) {
    docs.clear();
    groups.clear();
    if columns.iter().any(Column::is_full) {
        return;
    }
    for (doc, group) in block.pairs() {
        if !columns.iter().any(|column| column.index.has_value(doc)) {
            docs.push(doc);
            groups.push(group);
        }
    }
}

/// Number of values of a document up to which a further one is compared with each.
const MAX_COMPARED: usize = 32;

/// Removes rows with the code `none`, and those whose code their document has in the same bucket already.
pub(crate) fn keep_once(
    rows: Rows<'_>,
    kept_docs: &mut Vec<u32>,
    kept_groups: &mut Vec<u32>,
    codes: &mut Vec<u64>,
    none: Option<u64>,
) {
    kept_docs.clear();
    kept_groups.clear();
    let mut kept_codes = 0;
    // Position of the first code of the current document in its parent bucket.
    let mut begin = 0;
    let mut last = None;
    let mut many = BTreeSet::new();
    for (place, doc) in rows.docs.into_iter().enumerate() {
        let group = rows.groups.at(place);
        let Some(code) = codes.get(place).copied() else {
            break;
        };
        if last != Some((doc, group)) {
            last = Some((doc, group));
            begin = kept_codes;
            many.clear();
        }
        let known = codes.get(begin..kept_codes).unwrap_or_default();
        // A few are compared sooner than they are looked up.
        let is_known = if known.len() < MAX_COMPARED {
            known.contains(&code)
        } else {
            if many.is_empty() {
                many.extend(known.iter().copied());
            }
            !many.insert(code)
        };
        if is_known || none == Some(code) {
            continue;
        }
        if let Some(slot) = codes.get_mut(kept_codes) {
            *slot = code;
        }
        kept_codes += 1;
        kept_docs.push(doc);
        kept_groups.push(group);
    }
    codes.truncate(kept_codes);
}

/// Returns whether a column contains numbers.
pub(crate) fn is_number(column_type: ColumnType) -> bool {
    matches!(
        column_type,
        ColumnType::U64 | ColumnType::I64 | ColumnType::F64
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Lists of any length: up to a few values are compared, more are looked up.
        #[test]
        fn a_value_of_a_document_is_kept_once_in_each_bucket(
            lists in prop::collection::vec((0_u32..3, prop::collection::vec(0_u64..90, 0..200)), 0..8),
            none in prop::option::of(0_u64..90),
        ) {
            let (mut docs, mut groups, mut codes) = (Vec::new(), Vec::new(), Vec::new());
            let mut expected = Vec::new();
            for (doc, (group, values)) in (0_u32..).zip(&lists) {
                let mut seen = BTreeSet::new();
                for &code in values {
                    docs.push(doc);
                    groups.push(*group);
                    codes.push(code);
                    if none != Some(code) && seen.insert(code) {
                        expected.push((doc, *group, code));
                    }
                }
            }
            let rows = Rows {
                docs: Docs::List(&docs),
                groups: Groups::Each(&groups),
                rows: Docs::List(&docs),
            };
            let (mut kept_docs, mut kept_groups) = (Vec::new(), Vec::new());
            keep_once(rows, &mut kept_docs, &mut kept_groups, &mut codes, none);
            let kept = kept_docs.into_iter().zip(kept_groups).zip(codes);
            let kept: Vec<_> = kept.map(|((doc, group), code)| (doc, group, code)).collect();
            prop_assert_eq!(kept, expected);
        }
    }
}
