//! Config under which a split from before the index's newest fields can be merged.
//!
//! Documents may have had values of such a field before it was mapped. These values are stored as
//! unmapped ones, where searches look for them as long as the split lacks the field, so a merge
//! must not add the field. Such splits are merged under the config that the index had before it got
//! the first such field.

use canter_doc_mapper::mapper::DYNAMIC_FIELD;
use canter_doc_mapper::{IndexConfig, Mode, ReadOnlyDirectory};
use canter_split_format::SplitEntry;
use tantivy::Index;
use tantivy::columnar::ColumnarReader;
use tantivy::directory::Directory;
use tantivy::index::SegmentComponent;
use tantivy::{SegmentReader, TantivyError};

use super::directory::SplitFiles;
use super::fields::has_values;
use super::local_copy::open_stored;
use crate::BuildError;
use crate::index::storage::IndexStore;

/// Returns how many of the fields that were added to the index can be added to a split.
///
/// # Errors
/// `Data` with the name of the split if it is damaged or missing, `Unavailable` if storage does not
/// answer.
pub(crate) fn num_fields_it_may_get(
    store: &IndexStore,
    config: &IndexConfig,
    entry: &SplitEntry,
) -> Result<usize, BuildError> {
    let added = &config.doc_mapping.added_fields;
    if added.is_empty() || config.doc_mapping.mode != Mode::Dynamic {
        return Ok(added.len());
    }
    let (head, body) = open_stored(store, entry)?;
    let own = head
        .metadata
        .index_config
        .pointer("/doc_mapping/added_fields");
    let own: Vec<&str> = own
        .and_then(|own| own.as_array())
        .into_iter()
        .flatten()
        .filter_map(|path| path.as_str())
        .collect();
    if own == *added {
        return Ok(added.len());
    }
    let found = first_with_values(SplitFiles::new(body, head.files), added);
    let found = found.map_err(|error| {
        BuildError::data(format!(
            "split {}: {error}: restore the object or build the split again",
            entry.id
        ))
    });
    Ok(found?.unwrap_or(added.len()))
}

/// Returns the position of the first field that the segment lacks although its documents have
/// values of it.
fn first_with_values(
    directory: SplitFiles,
    added: &[String],
) -> Result<Option<usize>, TantivyError> {
    let index = Index::open(ReadOnlyDirectory(directory))?;
    let schema = index.schema();
    let dynamic = schema.get_field(DYNAMIC_FIELD)?;
    let segments = index.searchable_segments()?;
    let [segment] = segments.as_slice() else {
        return Err(TantivyError::SchemaError(
            "it holds no segment, or several".to_owned(),
        ));
    };
    let path = segment.relative_path(SegmentComponent::FastFields);
    let columnar = ColumnarReader::open(index.directory().open_read(&path)?)?;
    let segment = SegmentReader::open(segment)?;
    for (ord, name) in added.iter().enumerate() {
        let is_lacking = schema.get_field(name).is_err();
        if is_lacking && has_values(&segment, &columnar, dynamic, name)? {
            return Ok(Some(ord));
        }
    }
    Ok(None)
}
