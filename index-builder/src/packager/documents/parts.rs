//! A stored document as a block's writer takes it.

use canter_doc_mapper::{StoredContent, stored_values};
use canter_split_format::Part;

/// The parts of a document; none if its bytes are none.
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
    // Numbers that are longer than they need be would come back shorter.
    match num_bytes == document.len() {
        true => parts,
        false => Vec::new(),
    }
}
