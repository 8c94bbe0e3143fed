//! The documents of one split into one tantivy segment in memory.

use super::parser::PendingDoc;
use crate::error::BuildError;
use canter_doc_mapper::DocMapper;
use tantivy::directory::RamDirectory;
use tantivy::indexer::SingleSegmentIndexWriter;
use tantivy::{Index, TantivyDocument};

/// tantivy sizes its first hash tables by this; it is no limit.
const MEMORY_HINT_NUM_BYTES: usize = 256 << 20;

/// Adds `docs` in their order and closes the segment. The same documents give the same files, but
/// for the segment's random name.
pub(super) fn build_segment(
    mapper: &DocMapper,
    docs: Vec<PendingDoc>,
) -> Result<RamDirectory, BuildError> {
    let builder = Index::builder()
        .schema(mapper.schema().clone())
        .settings(mapper.index_settings())
        .tokenizers(mapper.tokenizers().clone())
        .fast_field_tokenizers(mapper.fast_field_tokenizers().clone());
    let directory = RamDirectory::create();
    let mut writer: SingleSegmentIndexWriter<TantivyDocument> =
        builder.single_segment_index_writer(directory.clone(), MEMORY_HINT_NUM_BYTES)?;
    for doc in docs {
        writer.add_document(doc.document)?;
    }
    writer.finalize()?;
    Ok(directory)
}
