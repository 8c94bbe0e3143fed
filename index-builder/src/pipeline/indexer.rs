//! Converts the documents of one split into a tantivy segment in memory, and blocks of stored documents.

use canter_doc_mapper::{DocMapper, EncodedDoc};
use tantivy::Index;
use tantivy::directory::RamDirectory;
use tantivy::indexer::SingleSegmentIndexWriter;
use tantivy::schema::Schema;

use super::sorter::SortedDocs;
use crate::error::BuildError;
use crate::packager::{DocumentsBuilder, Sample, StoredDocuments, sampled};

/// tantivy sizes its first hash tables by this; it is not a limit.
const MEMORY_HINT_NUM_BYTES: usize = 256 << 20;
/// Number of encoded bytes between two checks of tantivy's memory. Smaller documents cannot take much, and larger ones
/// have a bound of their own (`TermLimits`).
const NUM_BYTES_BETWEEN_LOOKS: u64 = 1 << 20;

/// Builder of a split's tantivy segments: usually one, several if it would exceed the memory limit.
///
/// tantivy addresses the memory of a segment with 32 bits, and panics when that does not suffice. Documents with many
/// distinct words reach that long before a split has its bytes of input.
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
        let mut places = sampled(docs.len());
        docs.sample(sampled(docs.len()), |doc| {
            bytes.clear();
            doc.write_stored(&mut bytes);
            sample.add(places.next().unwrap_or_default(), &bytes);
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
        let builder = Index::builder()
            .schema(self.schema.clone())
            .settings(self.mapper.index_settings())
            .tokenizers(self.mapper.tokenizers().clone())
            .fast_field_tokenizers(self.mapper.fast_field_tokenizers().clone());
        let directory = RamDirectory::create();
        let mut writer: SingleSegmentIndexWriter<EncodedDoc> =
            builder.single_segment_index_writer(directory.clone(), MEMORY_HINT_NUM_BYTES)?;
        let settings = self.mapper.docstore_settings();
        let mut documents = DocumentsBuilder::new(&self.sample, self.num_left, settings)?;
        let (mut num_docs, mut bytes) = (0, Vec::new());
        // tantivy keeps paths of JSON fields, and does not count them.
        let (mut num_path_bytes, mut num_unseen_bytes) = (0_u64, 0_u64);
        while let Some(doc) = self.docs.next()? {
            num_docs += 1;
            bytes.clear();
            doc.write_stored(&mut bytes);
            documents.add(&bytes)?;
            num_path_bytes = num_path_bytes.saturating_add(doc.num_path_bytes());
            num_unseen_bytes += doc.num_bytes() as u64;
            writer.add_document(doc)?;
            if num_unseen_bytes >= NUM_BYTES_BETWEEN_LOOKS {
                num_unseen_bytes = 0;
                let num_bytes = num_path_bytes.saturating_add(writer.mem_usage() as u64);
                if num_bytes >= self.max_num_bytes {
                    break;
                }
            }
        }
        self.num_left -= num_docs;
        if self.num_left == 0 {
            // They would take memory while the segment is written.
            self.docs.clear();
        }
        writer.finalize()?;
        Ok(Some(BuiltSegment {
            directory,
            documents: documents.finish()?,
            num_docs,
        }))
    }
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
