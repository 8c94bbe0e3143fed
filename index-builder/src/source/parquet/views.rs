//! Texts and bytes as views: a dictionary's value that stands in 1,024 rows is in memory once, and not as often.

use std::io;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::PageIndexPolicy;

use super::invalid;

/// What is known of a file, to be read with views.
pub(super) fn with_views(metadata: &ArrowReaderMetadata) -> io::Result<ArrowReaderMetadata> {
    let schema = metadata.schema();
    let viewed = Schema::new_with_metadata(viewed_all(schema.fields()), schema.metadata().clone());
    let options = ArrowReaderOptions::new()
        .with_schema(Arc::new(viewed))
        // Pages are found by their headers, which say how long they are.
        .with_page_index_policy(PageIndexPolicy::Skip);
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).map_err(invalid)
}

fn viewed_all(fields: &Fields) -> Fields {
    fields.iter().map(viewed).collect()
}

fn viewed(field: &FieldRef) -> FieldRef {
    let kind = match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        DataType::Struct(fields) => DataType::Struct(viewed_all(fields)),
        DataType::List(element) => DataType::List(viewed(element)),
        DataType::Map(entries, is_sorted) => DataType::Map(viewed(entries), *is_sorted),
        _ => return Arc::clone(field),
    };
    Arc::new(Field::clone(field).with_data_type(kind))
}
