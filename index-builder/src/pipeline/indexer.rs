//! The documents of one split into one tantivy segment in memory, and into blocks of stored documents.

use canter_doc_mapper::{DocMapper, EncodedDoc};
use tantivy::Index;
use tantivy::directory::RamDirectory;
use tantivy::indexer::SingleSegmentIndexWriter;
use tantivy::schema::Schema;

use super::sorter::SortedDocs;
use crate::error::BuildError;
use crate::packager::{DocumentsBuilder, Sample, StoredDocuments, sampled};

/// tantivy sizes its first hash tables by this; it is no limit.
const MEMORY_HINT_NUM_BYTES: usize = 256 << 20;

/// Adds `docs` in their order and closes the segment. The same documents give the same files, but
/// for the segment's random name.
pub(super) fn build_segment(
    mapper: &DocMapper,
    mut docs: SortedDocs,
) -> Result<(RamDirectory, StoredDocuments), BuildError> {
    let builder = Index::builder()
        .schema(without_stored(mapper.schema())?)
        .settings(mapper.index_settings())
        .tokenizers(mapper.tokenizers().clone())
        .fast_field_tokenizers(mapper.fast_field_tokenizers().clone());
    let directory = RamDirectory::create();
    let mut writer: SingleSegmentIndexWriter<EncodedDoc> =
        builder.single_segment_index_writer(directory.clone(), MEMORY_HINT_NUM_BYTES)?;
    let mut sample = Sample::default();
    let mut bytes = Vec::new();
    docs.sample(sampled(docs.len()), |doc| {
        bytes.clear();
        doc.write_stored(&mut bytes);
        sample.add(&bytes);
    })?;
    let mut documents = DocumentsBuilder::new(&sample, docs.len(), mapper.docstore_settings())?;
    while let Some(doc) = docs.next()? {
        bytes.clear();
        doc.write_stored(&mut bytes);
        documents.add(&bytes)?;
        writer.add_document(doc)?;
    }
    drop(docs);
    writer.finalize()?;
    Ok((directory, documents.finish()?))
}

/// The same fields, of which tantivy stores none: it need not copy what is stored beside its segment.
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
