//! The vectors of an open split.

use std::ops::Range;

use canter_protocol::ByteClass;
use canter_split_format::{FileTable, VECTOR_INDEX_FILE, VECTORS_FILE, VectorField, VectorIndex};
use tantivy::directory::OwnedBytes;

use super::directory::BodyFile;
use super::open::OpenSplit;
use crate::SearchError;

/// Damage of a split whose index names vectors that it does not have.
const OUTSIDE: &str = "a vector lies outside of its file";

/// Position of a split's vectors.
pub(super) struct VectorFiles {
    index: BodyFile,
    vectors: BodyFile,
}

impl VectorFiles {
    /// Returns `None` if the split has none.
    pub(super) fn of(files: &FileTable) -> Option<Self> {
        Some(Self {
            index: BodyFile::find(files, VECTOR_INDEX_FILE)?,
            vectors: BodyFile::find(files, VECTORS_FILE)?,
        })
    }
}

/// Reads the index of a split's vectors: no request if the head contains it, as heads of our writer mostly do. Returns
/// `None` if the split has none.
///
/// # Errors
/// If it cannot be fetched, or says of other vectors than the split has.
pub(crate) async fn vector_index(split: &OpenSplit) -> Result<Option<VectorIndex>, SearchError> {
    let Some(files) = &split.vector_files else {
        return Ok(None);
    };
    let bytes = files.index.whole(&split.body, ByteClass::FastField).await?;
    let index = VectorIndex::open(&bytes, files.vectors.len());
    let index = index.map_err(|error| split.error(error))?;
    match index.num_docs() == split.metadata.num_docs {
        true => Ok(Some(index)),
        false => Err(split.error("its vectors are of other documents than it has")),
    }
}

/// Loads ranges of the file of vectors, all at once.
///
/// # Errors
/// If one cannot be fetched.
pub(crate) async fn load_vectors(
    split: &OpenSplit,
    ranges: impl Iterator<Item = Range<u64>>,
) -> Result<(), SearchError> {
    let ranges = ranges.filter(|range| !range.is_empty());
    let ranges = ranges.map(|range| Ok((in_body(split, &range)?, ByteClass::FastField)));
    let ranges = ranges.collect::<Result<Vec<_>, SearchError>>()?;
    split.body.load_all(ranges).await
}

/// Returns the bytes of a range of the file of vectors, which was loaded.
///
/// # Errors
/// If it was not.
pub(crate) fn vector_bytes(
    split: &OpenSplit,
    range: &Range<u64>,
) -> Result<OwnedBytes, SearchError> {
    let files = split.vector_files.as_ref();
    let files = files.ok_or_else(|| split.error(OUTSIDE))?;
    files.vectors.loaded(&split.body, range)
}

/// Returns the vectors of a field by its name, if the split has any.
pub(crate) fn vectors_of<'a>(
    split: &OpenSplit,
    index: &'a VectorIndex,
    name: &str,
) -> Option<&'a VectorField> {
    let fields = split.mapper.vector_fields();
    let (field, ..) = fields.into_iter().find(|(_, path, _)| *path == name)?;
    index.field(field.field_id())
}

fn in_body(split: &OpenSplit, range: &Range<u64>) -> Result<Range<u64>, SearchError> {
    let files = split.vector_files.as_ref();
    let in_body = files.and_then(|files| files.vectors.in_body(range));
    in_body.ok_or_else(|| split.error(OUTSIDE))
}
