//! The vectors of an open split.

use std::ops::Range;

use canter_protocol::ByteClass;
use canter_split_format::{FileTable, VECTOR_INDEX_FILE, VECTORS_FILE, VectorField, VectorIndex};
use futures_util::future::join_all;
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

/// Loads all vectors of a field.
///
/// # Errors
/// If they cannot be fetched.
pub(crate) async fn load_all_vectors(
    split: &OpenSplit,
    field: &VectorField,
) -> Result<(), SearchError> {
    let range = in_body(split, &field.range())?;
    split.body.load(range, ByteClass::FastField).await
}

/// Loads clusters, places or exact vectors of a field, all at once and without the bytes around them.
///
/// # Errors
/// If one cannot be fetched, or is damaged.
pub(crate) async fn load_vectors(
    split: &OpenSplit,
    field: &VectorField,
    ranges: impl Iterator<Item = Range<u64>>,
) -> Result<(), SearchError> {
    let ranges = ranges.filter(|range| !range.is_empty());
    let pieces = ranges.map(|range| Ok((in_body(split, &range)?, field.check_of(&range))));
    let pieces = pieces.collect::<Result<Vec<_>, SearchError>>()?;
    let class = ByteClass::FastField;
    let loads = pieces.into_iter();
    let loads = loads.map(|(range, check)| split.body.load_piece(range, check, class));
    join_all(loads).await.into_iter().collect()
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

/// Returns the documents of a field, all of whose vectors are here, that `accepts` takes: ascending, with the places of their
/// vectors.
///
/// # Errors
/// The vectors are damaged.
pub(crate) fn all_places(
    split: &OpenSplit,
    field: &VectorField,
    accepts: impl Fn(u32) -> bool,
) -> Result<Vec<(u32, u32)>, SearchError> {
    let mut found = Vec::new();
    for ord in 0..field.num_clusters() {
        let bytes = vector_bytes(split, &field.cluster_range(ord))?;
        let cluster = field.open_cluster(ord, &bytes);
        let cluster = cluster.map_err(|error| split.error(error))?;
        found.extend(cluster.placed().filter(|(doc, _)| accepts(*doc)));
    }
    canter_sorting::sort(&mut found);
    Ok(found)
}

/// Returns those of these documents that have a vector, with its place. Their blocks of places are here.
///
/// # Errors
/// The places are damaged.
pub(crate) fn places_of(
    split: &OpenSplit,
    field: &VectorField,
    docs: impl Iterator<Item = u32>,
) -> Result<Vec<(u32, u32)>, SearchError> {
    let mut found = Vec::new();
    for doc in docs {
        let bytes = vector_bytes(split, &field.places_range(doc))?;
        let place = field.place_of(doc, &bytes);
        found.extend(
            place
                .map_err(|error| split.error(error))?
                .map(|place| (doc, place)),
        );
    }
    Ok(found)
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
