//! Field norms: a byte for each document and text field.

use tantivy::fieldnorm::{FieldNormReader, FieldNormsSerializer};
use tantivy::index::SegmentComponent;
use tantivy::{Segment, SegmentReader};

use super::super::input::OpenInput;
use super::super::order::{DocOrder, as_index};

pub(super) fn write(
    segment: &Segment,
    inputs: &[OpenInput],
    order: &DocOrder,
) -> tantivy::Result<()> {
    let mut serializer =
        FieldNormsSerializer::from_write(segment.open_write(SegmentComponent::FieldNorms)?)?;
    let mut norms = Vec::with_capacity(order.old.len());
    for (field, entry) in segment.schema().fields() {
        if !entry.is_indexed() || !entry.has_fieldnorms() {
            continue;
        }
        let readers = inputs
            .iter()
            .map(|input| match input.fields.of_target(field) {
                Some(field) => reader_of(&input.segment, field),
                None => Ok(None),
            })
            .collect::<tantivy::Result<Vec<Option<FieldNormReader>>>>()?;
        norms.clear();
        norms.extend(order.old.iter().map(|old| {
            let reader = readers.get(as_index(old.segment_ord));
            // A document without the field has no tokens of it, for which the byte is 0.
            reader
                .and_then(Option::as_ref)
                .map_or(0, |reader| reader.fieldnorm_id(old.row_id))
        }));
        serializer.serialize_field(field, &norms)?;
    }
    serializer.close()?;
    Ok(())
}

fn reader_of(
    segment: &SegmentReader,
    field: tantivy::schema::Field,
) -> tantivy::Result<Option<FieldNormReader>> {
    let reader = segment.fieldnorms_readers().get_field(field)?;
    match &reader {
        Some(reader) if reader.num_docs() != segment.max_doc() => {
            let what = "field norms are of another number of documents than the split has";
            Err(std::io::Error::new(std::io::ErrorKind::InvalidData, what).into())
        }
        _ => Ok(reader),
    }
}
