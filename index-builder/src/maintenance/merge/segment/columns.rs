//! Merging of columns, which tantivy does in any given order.

use std::io::Write;

use tantivy::Segment;
use tantivy::columnar::{
    ColumnType, ColumnarReader, MergeRowOrder, ShuffleMergeOrder, merge_columnar,
};
use tantivy::directory::{OwnedBytes, TerminatingWrite};
use tantivy::fastfield::{AliveBitSet, write_alive_bitset};
use tantivy::index::SegmentComponent;
use tantivy::schema::{Schema, Type};

use super::super::input::OpenInput;
use super::super::order::DocOrder;

pub(super) fn write(
    segment: &Segment,
    inputs: &[OpenInput],
    order: &DocOrder,
) -> tantivy::Result<()> {
    let columnars: Vec<&ColumnarReader> = inputs.iter().map(|input| &input.columnar).collect();
    let alive = inputs.iter().map(alive_docs);
    let alive = alive.collect::<std::io::Result<Vec<Option<AliveBitSet>>>>()?;
    let row_order = ShuffleMergeOrder {
        new_row_id_to_old_row_id: order.old.clone(),
        alive_bitsets: alive
            .iter()
            .map(|alive| alive.as_ref().map(|alive| alive.bitset().clone()))
            .collect(),
    };
    let mut out = segment.open_write(SegmentComponent::FastFields)?;
    merge_columnar(
        &columnars,
        &required_columns(&segment.schema()),
        MergeRowOrder::Shuffled(row_order),
        &mut out,
    )?;
    out.flush()?;
    out.terminate()?;
    Ok(())
}

/// Returns the remaining documents of a split, or `None` for all.
fn alive_docs(input: &OpenInput) -> std::io::Result<Option<AliveBitSet>> {
    let Some(deleted) = &input.deleted else {
        return Ok(None);
    };
    let mut alive = tantivy::BitSet::with_max_value_and_full(input.num_docs());
    for doc in (0..input.num_docs()).filter(|doc| deleted.contains(*doc)) {
        alive.remove(doc);
    }
    let mut bytes = Vec::new();
    write_alive_bitset(&alive, &mut bytes)?;
    Ok(Some(AliveBitSet::open(OwnedBytes::new(bytes))))
}

/// Returns the columns that exist even without values, like in a new split.
fn required_columns(schema: &Schema) -> Vec<(String, ColumnType)> {
    let column_type = |value_type: Type| match value_type {
        Type::Str => Some(ColumnType::Str),
        Type::U64 => Some(ColumnType::U64),
        Type::I64 => Some(ColumnType::I64),
        Type::F64 => Some(ColumnType::F64),
        Type::Bool => Some(ColumnType::Bool),
        Type::Date => Some(ColumnType::DateTime),
        Type::Bytes => Some(ColumnType::Bytes),
        Type::IpAddr => Some(ColumnType::IpAddr),
        _ => None,
    };
    schema
        .fields()
        .filter(|(_, entry)| entry.is_fast())
        .filter_map(|(_, entry)| {
            let column_type = column_type(entry.field_type().value_type())?;
            Some((entry.name().to_owned(), column_type))
        })
        .collect()
}
