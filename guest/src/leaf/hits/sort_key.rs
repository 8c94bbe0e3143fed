//! Reading sort values off fast fields.
//!
//! Within a split, values are compared as ranks (integers that sort like the values); only the hits
//! that remain get their real values, which is what compares across splits.

use std::net::Ipv6Addr;

use canter_aggregations::{FullColumn, column_handles};
use tantivy::columnar::{
    BytesColumn, Column, ColumnType, DynamicColumn, MonotonicallyMappableToU64, StrColumn,
};
use tantivy::{DocId, Score, SegmentReader};

use crate::leaf::partial::SortValue;
use crate::request::{SortKeySpec, SortOrder, SortTarget};

/// Sorts the same way as the hit it stands for, smallest first: whether there is a value, then by class of value, then
/// by value.
pub(in crate::leaf) type Rank = (Presence, u8, u64);

/// Where documents without a value stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::leaf) enum Presence {
    MissingFirst,
    Value,
    MissingLast,
}

/// Where a sort key's values come from.
pub(in crate::leaf) enum KeyReader {
    Score,
    /// The columns of a field: several for a path of a JSON field with values of several types.
    Columns(Vec<SortColumn>),
}

pub(in crate::leaf) struct SortColumn {
    values: Column<u64>,
    /// The same, if every document has one.
    full: Option<FullColumn>,
    column_type: ColumnType,
    source: ValueSource,
}

/// How a rank becomes a value again.
enum ValueSource {
    /// The rank is the value.
    Rank,
    Text(StrColumn),
    Bytes(BytesColumn),
    Addresses(Column<Ipv6Addr>),
}

impl KeyReader {
    /// Opens the columns behind a key; they must have been warmed up.
    pub(in crate::leaf) fn open(
        segment: &SegmentReader,
        target: &SortTarget,
    ) -> tantivy::Result<Self> {
        let name = match target {
            SortTarget::Score => return Ok(Self::Score),
            // No key: where it stands an order ends, by the place.
            SortTarget::Doc | SortTarget::SplitDoc => return Ok(Self::Columns(Vec::new())),
            SortTarget::Field(name) => name,
        };
        let mut columns = Vec::new();
        for handle in column_handles(segment, name)? {
            let Some(values) = handle.open_u64_lenient()? else {
                continue;
            };
            let source = match handle.column_type() {
                ColumnType::Str | ColumnType::Bytes | ColumnType::IpAddr => match handle.open()? {
                    DynamicColumn::Str(column) => ValueSource::Text(column),
                    DynamicColumn::Bytes(column) => ValueSource::Bytes(column),
                    DynamicColumn::IpAddr(column) => ValueSource::Addresses(column),
                    _ => continue,
                },
                _ => ValueSource::Rank,
            };
            columns.push(SortColumn {
                values,
                full: FullColumn::open(&handle)?,
                column_type: handle.column_type(),
                source,
            });
        }
        Ok(Self::Columns(columns))
    }

    /// The column that alone has the value of every document, if it is so.
    pub(in crate::leaf) fn full(&self) -> Option<&FullColumn> {
        match self {
            Self::Columns(columns) => match columns.as_slice() {
                [only] => only.full.as_ref(),
                _ => None,
            },
            Self::Score => None,
        }
    }

    /// The rank of a document.
    pub(in crate::leaf) fn rank(&self, doc: DocId, score: Score, key: &SortKeySpec) -> Rank {
        let (class, value) = match self {
            Self::Score => (0, f64::from(score).to_u64()),
            Self::Columns(columns) => {
                match columns
                    .iter()
                    .find_map(|column| Some((column, column.rank(doc)?)))
                {
                    Some((column, value)) => (column.class(), value),
                    None if key.missing_first => return (Presence::MissingFirst, 0, 0),
                    None => return (Presence::MissingLast, 0, 0),
                }
            }
        };
        match key.order {
            SortOrder::Ascending => (Presence::Value, class, value),
            SortOrder::Descending => (Presence::Value, !class, !value),
        }
    }

    /// The real value of a document.
    pub(in crate::leaf) fn value(&self, doc: DocId, score: Score) -> tantivy::Result<SortValue> {
        let columns = match self {
            Self::Score => return Ok(SortValue::Number(f64::from(score))),
            Self::Columns(columns) => columns,
        };
        for column in columns {
            if let Some(rank) = column.rank(doc) {
                return column.value(doc, rank);
            }
        }
        Ok(SortValue::Missing)
    }
}

impl SortColumn {
    /// The first value of a document, as a number within the segment.
    fn rank(&self, doc: DocId) -> Option<u64> {
        match &self.full {
            Some(full) => full.code(doc).ok(),
            None => self.values.first(doc),
        }
    }

    /// Values of different classes in one field: numbers, then booleans, dates, text, addresses, bytes. The
    /// order is that of [`SortValue`].
    fn class(&self) -> u8 {
        match self.column_type {
            ColumnType::Bool => 1,
            ColumnType::DateTime => 2,
            ColumnType::Str => 3,
            ColumnType::IpAddr => 4,
            ColumnType::Bytes => 5,
            _ => 0,
        }
    }

    fn value(&self, doc: DocId, rank: u64) -> tantivy::Result<SortValue> {
        Ok(match (&self.source, self.column_type) {
            (ValueSource::Text(column), _) => {
                let mut text = String::new();
                column.ord_to_str(rank, &mut text)?;
                SortValue::Text(text)
            }
            (ValueSource::Bytes(column), _) => {
                let mut bytes = Vec::new();
                column.ord_to_bytes(rank, &mut bytes)?;
                SortValue::Bytes(bytes)
            }
            // The rank is a number within the segment's own addresses.
            (ValueSource::Addresses(column), _) => {
                column.first(doc).map_or(SortValue::Missing, |address| {
                    SortValue::Address(address.to_bits())
                })
            }
            (ValueSource::Rank, ColumnType::I64) => SortValue::Integer(i64::from_u64(rank).into()),
            (ValueSource::Rank, ColumnType::F64) => SortValue::Number(f64::from_u64(rank)),
            (ValueSource::Rank, ColumnType::Bool) => SortValue::Bool(bool::from_u64(rank)),
            (ValueSource::Rank, ColumnType::DateTime) => SortValue::Date(i64::from_u64(rank)),
            (ValueSource::Rank, _) => SortValue::Integer(rank.into()),
        })
    }
}
