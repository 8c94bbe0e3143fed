//! Converts the documents of one split into a tantivy segment in memory, and blocks of stored documents.

use canter_doc_mapper::DocMapper;
use canter_split_format::VectorFieldParts;
use canter_terms::TermCollector;
use tantivy::Index;
use tantivy::directory::{RamDirectory, TerminatingWrite};
use tantivy::fastfield::FastFieldsWriter;
use tantivy::index::{Segment, SegmentComponent};
use tantivy::schema::Schema;

use super::sorter::SortedDocs;
use crate::error::BuildError;
use crate::packager::{
    DocumentsBuilder, Sample, StoredDocuments, VectorsBuilder, sampled, write_meta,
};

/// Number of encoded bytes between two checks of a segment's memory. Smaller documents cannot take much, and larger ones
/// have a bound of their own (`TermLimits`).
const NUM_BYTES_BETWEEN_LOOKS: u64 = 1 << 20;

/// Builder of a split's tantivy segments: usually one, several if it would exceed the memory limit.
///
/// Columns address the memory of a segment with 32 bits, and tantivy panics when that does not suffice; so do terms, which
/// fail. Documents with many distinct words reach that long before a split has its bytes of input.
pub(super) struct SegmentsBuilder<'m> {
    mapper: &'m DocMapper,
    schema: Schema,
    docs: SortedDocs,
    sample: Sample,
    num_left: usize,
    max_num_bytes: u64,
}

/// One of the segments.
pub(super) struct BuiltSegment {
    pub(super) directory: RamDirectory,
    pub(super) documents: StoredDocuments,
    pub(super) vectors: Vec<VectorFieldParts>,
    pub(super) num_docs: usize,
}

impl<'m> SegmentsBuilder<'m> {
    /// A segment is closed when it has taken `max_num_bytes` of memory, which one document may exceed.
    pub(super) fn new(
        mapper: &'m DocMapper,
        mut docs: SortedDocs,
        max_num_bytes: u64,
    ) -> Result<Self, BuildError> {
        let mut sample = Sample::default();
        let mut bytes = Vec::new();
        docs.sample(sampled(docs.len()), |place, doc| {
            bytes.clear();
            doc.write_stored(&mut bytes);
            sample.add(place, &bytes);
        })?;
        Ok(Self {
            mapper,
            schema: without_stored(mapper.schema())?,
            num_left: docs.len(),
            docs,
            sample,
            max_num_bytes,
        })
    }

    /// Adds documents in order and closes the segment; `None` if there are no more. The same documents give the same
    /// files, except for the segment's random name.
    pub(super) fn next_segment(&mut self) -> Result<Option<BuiltSegment>, BuildError> {
        if self.num_left == 0 {
            return Ok(None);
        }
        let directory = RamDirectory::create();
        let settings = self.mapper.index_settings();
        let index = Index::create(directory.clone(), self.schema.clone(), settings)?;
        let mut terms = TermCollector::new(&self.schema, &self.mapper.tokenizers())?;
        let mut columns = FastFieldsWriter::from_schema_and_tokenizer_manager(
            &self.schema,
            self.mapper.fast_field_tokenizers(),
        )?;
        let settings = self.mapper.docstore_settings();
        let mut documents = DocumentsBuilder::new(&self.sample, self.num_left, settings)?;
        let mut vectors = VectorsBuilder::new(self.mapper);
        let (mut num_docs, mut bytes) = (0, Vec::new());
        let mut num_unseen_bytes = 0_u64;
        while let Some(doc) = self.docs.next()? {
            vectors.add(u32::try_from(num_docs).unwrap_or(u32::MAX), &doc);
            num_docs += 1;
            bytes.clear();
            doc.write_stored(&mut bytes);
            documents.add(&bytes)?;
            num_unseen_bytes += doc.num_bytes() as u64;
            terms.add(&doc)?;
            columns.add_document(&doc)?;
            if num_unseen_bytes >= NUM_BYTES_BETWEEN_LOOKS {
                num_unseen_bytes = 0;
                let num_bytes = terms.num_bytes() + columns.mem_usage() as u64;
                if num_bytes + vectors.num_bytes() >= self.max_num_bytes {
                    break;
                }
            }
        }
        self.num_left -= num_docs;
        if self.num_left == 0 {
            // They would take memory while the segment is written.
            self.docs.clear();
        }
        let segment = index.new_segment();
        write_meta(&index, &segment, terms.num_docs())?;
        terms.write(&segment)?;
        write_columns(columns, &segment)?;
        Ok(Some(BuiltSegment {
            directory,
            documents: documents.finish()?,
            vectors: vectors.finish(),
            num_docs,
        }))
    }
}

fn write_columns(mut columns: FastFieldsWriter, segment: &Segment) -> tantivy::Result<()> {
    let mut out = segment.open_write(SegmentComponent::FastFields)?;
    columns.serialize(&mut out, None)?;
    out.terminate()?;
    Ok(())
}

/// Returns the schema without stored fields: tantivy need not copy what is stored beside its segment.
fn without_stored(schema: &Schema) -> Result<Schema, BuildError> {
    let failed = |error: serde_json::Error| BuildError::internal(format!("the schema: {error}"));
    let mut fields = serde_json::to_value(schema).map_err(failed)?;
    for field in fields.as_array_mut().into_iter().flatten() {
        if let Some(stored) = field.pointer_mut("/options/stored") {
            *stored = false.into();
        }
    }
    serde_json::from_value(fields).map_err(failed)
}
