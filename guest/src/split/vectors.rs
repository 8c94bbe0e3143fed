//! The vectors of an open split.

use std::ops::Range;

use canter_protocol::ByteClass;
use canter_split_format::{FileTable, VECTOR_INDEX_FILE, VECTORS_FILE, VectorField, VectorIndex};
use tantivy::directory::OwnedBytes;

use super::open::OpenSplit;
use crate::SearchError;

/// Position of a split's vectors: bytes of the body.
pub(super) struct VectorFiles {
    index_ord: u32,
    index: Range<u64>,
    vectors: Range<u64>,
}

impl VectorFiles {
    /// Returns `None` if the split has none.
    pub(super) fn of(files: &FileTable) -> Option<Self> {
        let (index_ord, index) = files.find(VECTOR_INDEX_FILE)?;
        let (_, vectors) = files.find(VECTORS_FILE)?;
        Some(Self {
            index_ord,
            index: index.offset..index.offset + index.len,
            vectors: vectors.offset..vectors.offset + vectors.len,
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
    let len = files.index.end - files.index.start;
    let bytes = match split.body.hot(files.index_ord, &(0..len)) {
        Some(bytes) => bytes,
        None => {
            let class = ByteClass::FastField;
            split.body.load(files.index.clone(), class).await?;
            resident(split, &files.index)?
        }
    };
    let index = VectorIndex::open(&bytes, files.vectors.end - files.vectors.start);
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
    resident(split, &in_body(split, range)?)
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
    let in_body = files.and_then(|files| {
        let start = files.vectors.start.checked_add(range.start)?;
        let end = files.vectors.start.checked_add(range.end)?;
        (start <= end && end <= files.vectors.end).then_some(start..end)
    });
    in_body.ok_or_else(|| split.error("a vector lies outside of its file"))
}

fn resident(split: &OpenSplit, range: &Range<u64>) -> Result<OwnedBytes, SearchError> {
    let bytes = split.body.resident(range);
    bytes.ok_or_else(|| SearchError::internal("loaded bytes are not resident"))
}
