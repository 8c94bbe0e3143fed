//! Conversion of a stored document to the input of a block's writer.

use canter_doc_mapper::{StoredContent, stored_values};
use canter_split_format::Part;

/// Returns the parts of a document, or none if the bytes are not a valid document.
pub(super) fn parts_of(document: &[u8]) -> Vec<Part<'_>> {
    let mut parts = Vec::with_capacity(16);
    let mut num_bytes = 0;
    for value in stored_values(document) {
        let Ok(value) = value else {
            return Vec::new();
        };
        parts.push(Part::Literal(value.begin));
        num_bytes += value.begin.len();
        let part = match value.content {
            StoredContent::Number(number) => Part::Number(number),
            StoredContent::Fixed(bytes) => Part::Fixed(bytes),
            StoredContent::Counted(bytes) => Part::Text(bytes),
        };
        num_bytes += part.num_bytes();
        parts.push(part);
    }
    // Numbers that are not in their shortest encoding could not be restored exactly.
    match num_bytes == document.len() {
        true => parts,
        false => Vec::new(),
    }
}
