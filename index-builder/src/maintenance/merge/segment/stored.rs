//! Stored documents of all inputs, in the order of the merged split.

use std::io;

use canter_doc_mapper::{DocMapper, read_stored_as, write_stored};

use super::super::documents::StoredReader;
use super::super::input::OpenInput;
use super::super::order::{DocOrder, as_index};
use crate::BuildError;
use crate::packager::{DocumentsBuilder, Sample, StoredDocuments, sampled};

pub(in crate::maintenance::merge) fn write_documents(
    inputs: &[OpenInput],
    order: &DocOrder,
    mapper: &DocMapper,
) -> Result<StoredDocuments, BuildError> {
    let mut readers = Readers::open(inputs, mapper)?;
    let num_docs = order.old.len();
    let mut sample = Sample::default();
    let mut bytes = Vec::new();
    for place in sampled(num_docs) {
        let Some(old) = order.old.get(place) else {
            break;
        };
        bytes.clear();
        readers.read(as_index(old.segment_ord), old.row_id, &mut bytes)?;
        sample.add(place, &bytes);
    }
    let mut builder = DocumentsBuilder::new(&sample, num_docs, mapper.docstore_settings())?;
    for old in &order.old {
        bytes.clear();
        readers.read(as_index(old.segment_ord), old.row_id, &mut bytes)?;
        builder.add(&bytes)?;
    }
    builder.finish()
}

/// Stored documents of the inputs, converted to the field numbers of the index.
struct Readers<'a> {
    inputs: &'a [OpenInput],
    readers: Vec<StoredReader>,
    mapper: &'a DocMapper,
}

impl<'a> Readers<'a> {
    fn open(inputs: &'a [OpenInput], mapper: &'a DocMapper) -> Result<Self, BuildError> {
        let open = |input: &OpenInput| input.documents().map_err(|error| input.damaged(error));
        let readers = inputs.iter().map(open).collect::<Result<_, _>>()?;
        Ok(Self {
            inputs,
            readers,
            mapper,
        })
    }

    /// Appends a document of an input.
    fn read(&mut self, input: usize, doc: u32, out: &mut Vec<u8>) -> Result<(), BuildError> {
        let (Some(reader), Some(input)) = (self.readers.get_mut(input), self.inputs.get(input))
        else {
            return Err(BuildError::internal("a merged document is of no split"));
        };
        let failed = |error: io::Error| input.damaged(format!("document {doc}: {error}"));
        let bytes = reader.get(doc).map_err(failed)?;
        if !input.fields.is_renumbered() {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        let document = read_stored_as(bytes, |field| input.fields.to_target(field))
            .map_err(|error| failed(io::Error::other(error)))?;
        write_stored(&document, self.mapper.schema(), out)
            .map_err(|error| failed(io::Error::other(error)))
    }
}
