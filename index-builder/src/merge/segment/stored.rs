//! The doc store: documents as they were stored, in blocks of the index's size.

use tantivy::index::SegmentComponent;
use tantivy::schema::document::CompactDocValue;
use tantivy::store::{StoreReader, StoreWriter};
use tantivy::{IndexSettings, Segment, TantivyDocument};

use super::super::fields::FieldMap;
use super::super::input::OpenInput;
use super::super::order::{DocOrder, as_index};

/// Blocks of each split that are held: documents are read in their order.
const NUM_CACHED_BLOCKS: usize = 1;

pub(super) fn write(
    segment: &Segment,
    inputs: &[OpenInput],
    order: &DocOrder,
    settings: &IndexSettings,
) -> tantivy::Result<()> {
    let schema = segment.schema();
    let mut writer = StoreWriter::new(
        segment.open_write(SegmentComponent::Store)?,
        settings.docstore_compression,
        settings.docstore_blocksize,
        settings.docstore_compress_dedicated_thread,
    )?;
    let readers = inputs
        .iter()
        .map(|input| {
            let store = input.segment.get_store_reader(NUM_CACHED_BLOCKS)?;
            Ok((store, &input.fields))
        })
        .collect::<std::io::Result<Vec<(StoreReader, &FieldMap)>>>()?;
    for old in &order.old {
        let Some((store, fields)) = readers.get(as_index(old.segment_ord)) else {
            continue;
        };
        if fields.is_renumbered() {
            let document = renumbered(&store.get(old.row_id)?, fields);
            writer.store(&document, &schema)?;
        } else {
            writer.store_bytes(&store.get_document_bytes(old.row_id)?)?;
        }
    }
    writer.close()?;
    Ok(())
}

/// The same values under the index's numbers of their fields.
fn renumbered(document: &TantivyDocument, fields: &FieldMap) -> TantivyDocument {
    let mut renumbered = TantivyDocument::new();
    let values: Vec<(_, CompactDocValue<'_>)> = document.field_values().collect();
    for (field, value) in values {
        if let Some(field) = fields.to_target(field) {
            renumbered.add_field_value(field, value);
        }
    }
    renumbered
}
