//! Reading sort values off fast fields.
//!
//! Within a split, values are compared as ranks (integers that sort like the values); only the
//! remaining hits get their real values, which compare across splits.

use std::net::Ipv6Addr;

use canter_aggregations::{FullColumn, column_handles};
use canter_doc_mapper::{DocMapper, FieldKind};
use tantivy::columnar::{
    BytesColumn, Column, ColumnType, DynamicColumn, MonotonicallyMappableToU64, StrColumn,
};
use tantivy::{DocId, Score, SegmentReader};

use crate::request::{
    DistanceKey, InPlace, SortKeySpec, SortMode, SortOrder, SortTarget, SortValue,
};

/// Sorts like the hit it stands for, smallest first: by presence of a value, then by class of value, then by value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::leaf) struct Rank {
    /// The class of a value, offset by [`Self::OF_VALUES`]; before or after these for a missing value.
    kind: u16,
    value: u64,
}

impl Rank {
    const OF_VALUES: u16 = 0x100;
    const MISSING_FIRST: Self = Self { kind: 0, value: 0 };
    const MISSING_LAST: Self = Self {
        kind: 0x200,
        value: 0,
    };

    #[inline(always)]
    fn of_value(class: u8, value: u64, order: SortOrder) -> Self {
        let (class, value) = match order {
            SortOrder::Ascending => (class, value),
            SortOrder::Descending => (!class, !value),
        };
        Self {
            kind: Self::OF_VALUES | u16::from(class),
            value,
        }
    }

    /// Returns the value, in the order of the hits.
    pub(in crate::leaf) fn value(self) -> u64 {
        self.value
    }

    /// Converts the rank to a key type that an existing set uses.
    pub(in crate::leaf) fn as_key(self) -> (i64, i64, usize) {
        (self.value.cast_signed(), i64::from(self.kind), 0)
    }
}

/// Source of a sort key's values.
pub(in crate::leaf) enum KeyReader {
    Score,
    /// The columns of a field: several for a path of a JSON field with values of several types.
    /// The type is the mapped one, for splits without a column.
    Columns(Vec<SortColumn>, Option<ColumnType>),
}

pub(in crate::leaf) struct SortColumn {
    values: Column<u64>,
    /// The column, if every document has a value.
    full: Option<FullColumn>,
    /// Whether a document may have several values.
    is_multivalued: bool,
    column_type: ColumnType,
    source: ValueSource,
}

/// Conversion of a rank back to a value.
enum ValueSource {
    /// The rank is the value.
    Rank,
    Text(StrColumn),
    Bytes(BytesColumn),
    Addresses(Column<Ipv6Addr>),
    /// The column has codes of points, and the rank is the distance of one.
    Distances(DistanceKey),
}

impl KeyReader {
    /// Opens the columns behind a key; they must have been warmed up.
    pub(in crate::leaf) fn open(
        segment: &SegmentReader,
        mapper: &DocMapper,
        target: &SortTarget,
        mode: SortMode,
    ) -> tantivy::Result<Self> {
        let name = match target {
            SortTarget::Score => return Ok(Self::Score),
            // No key: an order ends here, with the place.
            SortTarget::Doc | SortTarget::SplitDoc => return Ok(Self::Columns(Vec::new(), None)),
            SortTarget::Distance(distance) => return Self::distances(segment, mapper, distance),
            SortTarget::Field(name) => name,
        };
        let mut columns = Vec::new();
        for handle in column_handles(segment, mapper, name)? {
            let Some(values) = handle.open_u64_lenient()? else {
                continue;
            };
            let column_type = handle.column_type();
            if mode.is_for_numbers()
                && column_type.numerical_type().is_none()
                && column_type != ColumnType::DateTime
            {
                let message = format!(
                    "sort: {name}.mode: sum, avg and median are for numbers and dates, and the field has other values"
                );
                return Err(tantivy::TantivyError::InvalidArgument(message));
            }
            let source = match column_type {
                ColumnType::Str | ColumnType::Bytes | ColumnType::IpAddr => match handle.open()? {
                    DynamicColumn::Str(column) => ValueSource::Text(column),
                    DynamicColumn::Bytes(column) => ValueSource::Bytes(column),
                    DynamicColumn::IpAddr(column) => ValueSource::Addresses(column),
                    _ => continue,
                },
                _ => ValueSource::Rank,
            };
            columns.push(SortColumn {
                is_multivalued: values.get_cardinality().is_multivalue(),
                values,
                full: FullColumn::open(&handle)?,
                column_type,
                source,
            });
        }
        let mapped = mapper.resolve(name).and_then(|field| match field.kind {
            FieldKind::Date(_) => Some(ColumnType::DateTime),
            FieldKind::F64(_) => Some(ColumnType::F64),
            FieldKind::Bool => Some(ColumnType::Bool),
            _ => None,
        });
        Ok(Self::Columns(columns, mapped))
    }

    /// Opens the column of points, if the split has one.
    fn distances(
        segment: &SegmentReader,
        mapper: &DocMapper,
        distance: &DistanceKey,
    ) -> tantivy::Result<Self> {
        let field = mapper.resolve(&distance.field);
        let is_of_points = field.is_some_and(|field| matches!(field.kind, FieldKind::GeoPoint(_)));
        let mut columns = Vec::new();
        if is_of_points {
            for handle in column_handles(segment, mapper, &distance.field)? {
                if let Some(values) = handle.open_u64_lenient()? {
                    columns.push(SortColumn {
                        is_multivalued: true,
                        values,
                        full: None,
                        column_type: ColumnType::F64,
                        source: ValueSource::Distances(distance.clone()),
                    });
                }
            }
        }
        Ok(Self::Columns(columns, None))
    }

    /// Returns the column that has the value of every document, if a single one has.
    pub(in crate::leaf) fn full(&self) -> Option<&FullColumn> {
        match self {
            Self::Columns(columns, _) => match columns.as_slice() {
                [only] => only.full.as_ref(),
                _ => None,
            },
            Self::Score => None,
        }
    }

    /// Returns the rank of a document.
    #[inline(always)]
    pub(in crate::leaf) fn rank(&self, doc: DocId, score: Score, key: &SortKeySpec) -> Rank {
        match self {
            Self::Score => Rank::of_value(0, f64::from(score).to_u64(), key.order),
            Self::Columns(columns, mapped) => rank_in(columns, *mapped, doc, key),
        }
    }

    /// Returns the real value of a document.
    pub(in crate::leaf) fn value(
        &self,
        doc: DocId,
        score: Score,
        key: &SortKeySpec,
    ) -> tantivy::Result<SortValue> {
        let (columns, mapped) = match self {
            Self::Score => return Ok(SortValue::Number(f64::from(score))),
            Self::Columns(columns, mapped) => (columns, *mapped),
        };
        match compared(columns, doc, key) {
            Some((column, value)) => column.value(doc, value, key),
            None if key.in_place.is_some() => Ok(in_place(columns, mapped, key).1),
            None if key.is_distance() => Ok(SortValue::Number(f64::INFINITY)),
            None => Ok(SortValue::Missing),
        }
    }
}

#[inline(never)]
fn rank_in(
    columns: &[SortColumn],
    mapped: Option<ColumnType>,
    doc: DocId,
    key: &SortKeySpec,
) -> Rank {
    if let Some((column, value)) = compared(columns, doc, key) {
        return column.in_order(value, key);
    }
    if key.is_distance() {
        return Rank::of_value(0, f64::INFINITY.to_u64(), key.order);
    }
    if key.in_place.is_some() {
        return in_place(columns, mapped, key).0;
    }
    match key.missing_first {
        true => Rank::MISSING_FIRST,
        false => Rank::MISSING_LAST,
    }
}

/// Returns the rank and the value of the number in place of a missing one: that of the column's type, so that ranks compare.
/// In a split without the field, all documents have it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "as in Elasticsearch, a number is taken as one of the field's type"
)]
fn in_place(
    columns: &[SortColumn],
    mapped: Option<ColumnType>,
    key: &SortKeySpec,
) -> (Rank, SortValue) {
    const MILLISECOND_NS: i64 = 1_000_000;
    let (integer, float) = match key.in_place {
        Some(InPlace::Integer(integer)) => (integer, integer as f64),
        Some(InPlace::Bits(bits)) => {
            let float = f64::from_bits(bits);
            (float as i64, float)
        }
        None => return (Rank::MISSING_LAST, SortValue::Missing),
    };
    let column_type = columns.first().map(|column| column.column_type);
    let column_type = column_type.or(mapped);
    let (code, value) = match column_type {
        Some(ColumnType::U64) => {
            let number = u64::try_from(integer).unwrap_or_default();
            (number, SortValue::Integer(number.into()))
        }
        Some(ColumnType::F64) => (float.to_u64(), SortValue::Number(float)),
        Some(ColumnType::DateTime) => {
            let ns = integer.saturating_mul(MILLISECOND_NS);
            (ns.to_u64(), SortValue::Date(ns))
        }
        Some(ColumnType::Bool) => (u64::from(integer != 0), SortValue::Bool(integer != 0)),
        None if key.in_place != Some(InPlace::Integer(integer)) => {
            (float.to_u64(), SortValue::Number(float))
        }
        _ => (integer.to_u64(), SortValue::Integer(integer.into())),
    };
    let class = match column_type {
        Some(ColumnType::Bool) => class_of(ColumnType::Bool),
        Some(ColumnType::DateTime) => class_of(ColumnType::DateTime),
        _ => 0,
    };
    (Rank::of_value(class, code, key.order), value)
}

/// Returns the value of a document that the key compares, and its column.
#[inline(always)]
fn compared<'c>(
    columns: &'c [SortColumn],
    doc: DocId,
    key: &SortKeySpec,
) -> Option<(&'c SortColumn, u64)> {
    let valued = |column: &'c SortColumn| Some((column, column.rank(doc, key)?));
    match columns {
        [only] => valued(only),
        several => {
            let valued = several.iter().filter_map(valued);
            let class = |(column, _): &(&SortColumn, u64)| column.class();
            match key.is_greatest() {
                true => valued.max_by_key(class),
                false => valued.min_by_key(class),
            }
        }
    }
}

/// Returns the class of a column's values. Those of different classes in one field are numbers, then booleans, dates, text,
/// addresses, bytes. The order is that of [`SortValue`].
fn class_of(column_type: ColumnType) -> u8 {
    match column_type {
        ColumnType::Bool => 1,
        ColumnType::DateTime => 2,
        ColumnType::Str => 3,
        ColumnType::IpAddr => 4,
        ColumnType::Bytes => 5,
        _ => 0,
    }
}

impl SortColumn {
    /// Returns the rank of a value.
    #[inline(always)]
    fn in_order(&self, value: u64, key: &SortKeySpec) -> Rank {
        Rank::of_value(self.class(), value, key.order)
    }

    /// Returns the value of a document that the key compares, as a number within the segment.
    fn rank(&self, doc: DocId, key: &SortKeySpec) -> Option<u64> {
        if let ValueSource::Distances(distance) = &self.source {
            let distances = distance.distances(self.values.values_for_doc(doc));
            let distances = distances.into_iter().map(|distance| distance.to_u64());
            return key.of_several(distances, ColumnType::F64);
        }
        match &self.full {
            Some(full) => full.code(doc).ok(),
            None if !self.is_multivalued => self.values.first(doc),
            None => key.of_several(self.values.values_for_doc(doc), self.column_type),
        }
    }

    fn class(&self) -> u8 {
        class_of(self.column_type)
    }

    fn value(&self, doc: DocId, rank: u64, key: &SortKeySpec) -> tantivy::Result<SortValue> {
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
                let addresses = column.values_for_doc(doc);
                key.extreme_of(addresses)
                    .map_or(SortValue::Missing, |address| {
                        SortValue::Address(address.to_bits())
                    })
            }
            (ValueSource::Distances(_), _) => SortValue::Number(f64::from_u64(rank)),
            (ValueSource::Rank, ColumnType::I64) => SortValue::Integer(i64::from_u64(rank).into()),
            (ValueSource::Rank, ColumnType::F64) => SortValue::Number(f64::from_u64(rank)),
            (ValueSource::Rank, ColumnType::Bool) => SortValue::Bool(bool::from_u64(rank)),
            (ValueSource::Rank, ColumnType::DateTime) => SortValue::Date(i64::from_u64(rank)),
            (ValueSource::Rank, _) => SortValue::Integer(rank.into()),
        })
    }
}
