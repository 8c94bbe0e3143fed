//! Texts and bytes as views: a dictionary's value in 1,024 rows is in memory only once.

use std::io;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::PageIndexPolicy;

use super::intervals::with_bytes;
use super::invalid;

/// Returns metadata for reading with views, corrected where the library would read wrongly.
pub(super) fn with_views(metadata: &ArrowReaderMetadata) -> io::Result<ArrowReaderMetadata> {
    let as_bytes = match with_bytes(metadata.metadata())? {
        Some(metadata) => {
            let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
            Some(ArrowReaderMetadata::try_new(metadata, options).map_err(invalid)?)
        }
        None => None,
    };
    let metadata = as_bytes.as_ref().unwrap_or(metadata);
    let schema = metadata.schema();
    let viewed = viewed_all(schema.fields());
    let viewed = Schema::new_with_metadata(viewed, schema.metadata().clone());
    let options = ArrowReaderOptions::new()
        .with_schema(Arc::new(viewed))
        // Pages are found by their headers, which contain their lengths.
        .with_page_index_policy(PageIndexPolicy::Skip);
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).map_err(invalid)
}

fn viewed_all(fields: &Fields) -> Fields {
    fields.iter().map(viewed).collect()
}

fn viewed(field: &FieldRef) -> FieldRef {
    let kind = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(viewed_all(fields)),
        DataType::List(element) => DataType::List(viewed(element)),
        DataType::Map(entries, is_sorted) => DataType::Map(viewed(entries), *is_sorted),
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        _ => return Arc::clone(field),
    };
    Arc::new(Field::clone(field).with_data_type(kind))
}
