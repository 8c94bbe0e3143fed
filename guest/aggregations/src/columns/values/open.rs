//! Opening of columns.

use std::io;

use tantivy::columnar::column_values::{load_u64_based_column_values, open_u128_as_compact_u64};
use tantivy::columnar::{ColumnIndex, ColumnType, DynamicColumnHandle};
use tantivy::directory::OwnedBytes;

use super::{LinearValues, OtherValues, PackedValues, Values};
use crate::columns::layout::{
    Codec, Cursor, Stats, check_addresses, check_linear, open_index, read_column, split_column,
};

impl Values {
    /// Reads a column without its dictionary, and opens its index and values.
    ///
    /// # Errors
    /// A read error, or `InvalidData` for bytes that are not in tantivy's current format (version
    /// 2).
    pub(crate) fn open(handle: &DynamicColumnHandle) -> io::Result<(ColumnIndex, Self)> {
        Self::open_bytes(handle.column_type(), &read_column(handle)?)
    }

    /// Opens index and values of a column without a dictionary. For strings and bytes, `column` is
    /// the part between the dictionary and its length.
    ///
    /// # Errors
    /// `InvalidData` for bytes that are not in tantivy's current format (version 2).
    pub(crate) fn open_bytes(
        column_type: ColumnType,
        column: &OwnedBytes,
    ) -> io::Result<(ColumnIndex, Self)> {
        let parts = split_column(column)?;
        let values = match column_type {
            ColumnType::IpAddr => Self::open_addresses(parts.values)?,
            _ => Self::open_values(parts.values)?,
        };
        let index = open_index(parts.index, values.num_rows())?;
        Ok((index, values))
    }

    /// Opens the values of a column without an index. IP addresses are excluded.
    ///
    /// # Errors
    /// `InvalidData` for bytes that tantivy does not write.
    pub(crate) fn open_values(bytes: OwnedBytes) -> io::Result<Self> {
        let mut cursor = Cursor::new(&bytes);
        let codec = Codec::read(&mut cursor)?;
        let stats = Stats::read(&mut cursor)?;
        let data = bytes.slice(bytes.len().saturating_sub(cursor.len())..bytes.len());
        match codec {
            Codec::Packed => Ok(Self::Packed(PackedValues::open(stats, data)?)),
            Codec::BlockwiseLinear => Ok(Self::Linear(LinearValues::open(stats, &data)?)),
            Codec::Linear => {
                check_linear(cursor, stats.num_rows)?;
                Ok(Self::Other(OtherValues::new(load_u64_based_column_values(
                    bytes,
                )?)))
            }
        }
    }

    fn open_addresses(bytes: OwnedBytes) -> io::Result<Self> {
        check_addresses(&bytes)?;
        Ok(Self::Other(OtherValues::new(open_u128_as_compact_u64(
            bytes,
        )?)))
    }
}
