//! Texts and bytes as views: a dictionary's value in 1,024 rows is in memory only once.

use std::io;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, TimeUnit};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::Type as PhysicalType;
use parquet::file::metadata::PageIndexPolicy;

use super::intervals::with_bytes;
use super::invalid;

/// Returns metadata for reading with views, corrected where the library would read wrongly.
pub(super) fn with_views(metadata: &ArrowReaderMetadata) -> io::Result<ArrowReaderMetadata> {
    let without_intervals = match with_bytes(metadata.metadata())? {
        Some(metadata) => {
            let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
            Some(ArrowReaderMetadata::try_new(metadata, options).map_err(invalid)?)
        }
        None => None,
    };
    let metadata = without_intervals.as_ref().unwrap_or(metadata);
    let schema = metadata.schema();
    let columns = metadata.metadata().file_metadata().schema_descr().columns();
    let mut kinds = columns.iter().map(|column| column.physical_type());
    let viewed = viewed_all(schema.fields(), &mut kinds);
    let viewed = Schema::new_with_metadata(viewed, schema.metadata().clone());
    let options = ArrowReaderOptions::new()
        .with_schema(Arc::new(viewed))
        // Pages are found by their headers, which contain their lengths.
        .with_page_index_policy(PageIndexPolicy::Skip);
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).map_err(invalid)
}

/// The physical types of the remaining columns, in order.
type Kinds<'k> = dyn Iterator<Item = PhysicalType> + 'k;

fn viewed_all(fields: &Fields, kinds: &mut Kinds<'_>) -> Fields {
    fields.iter().map(|field| viewed(field, kinds)).collect()
}

fn viewed(field: &FieldRef, kinds: &mut Kinds<'_>) -> FieldRef {
    let kind = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(viewed_all(fields, kinds)),
        DataType::List(element) => DataType::List(viewed(element, kinds)),
        DataType::Map(entries, is_sorted) => DataType::Map(viewed(entries, kinds), *is_sorted),
        leaf => match (leaf, kinds.next()) {
            (DataType::Utf8 | DataType::LargeUtf8, _) => DataType::Utf8View,
            (DataType::Binary | DataType::LargeBinary, _) => DataType::BinaryView,
            // A day of 32 bits and a time of day. In nanoseconds, the library's default, the year 9999 becomes 1816;
            // the programs that write such a year write no nanoseconds.
            (DataType::Timestamp(TimeUnit::Nanosecond, None), Some(PhysicalType::INT96)) => {
                DataType::Timestamp(TimeUnit::Microsecond, None)
            }
            _ => return Arc::clone(field),
        },
    };
    Arc::new(Field::clone(field).with_data_type(kind))
}
