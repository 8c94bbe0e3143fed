//! Files of the merged segment and its metadata.

use std::path::Path;

use canter_doc_mapper::DocMapper;
use tantivy::directory::{Directory, RamDirectory};
use tantivy::{Index, IndexMeta};

use super::super::input::OpenInput;
use super::super::order::DocOrder;
use super::{columns, field_norms, postings};
use crate::packager::META;

/// Writes the segment in memory, in the form that [`package_split`](crate::package_split) expects.
pub(in crate::maintenance::merge) fn write_segment(
    inputs: &[OpenInput],
    order: &DocOrder,
    mapper: &DocMapper,
) -> tantivy::Result<RamDirectory> {
    let settings = mapper.index_settings();
    let schema = mapper.schema().clone();
    let directory = RamDirectory::create();
    let index = Index::create(directory.clone(), schema.clone(), settings.clone())?;
    let segment = index.new_segment();
    field_norms::write(&segment, inputs, order)?;
    postings::write(&segment, inputs, order)?;
    columns::write(&segment, inputs, order)?;
    let meta = IndexMeta {
        index_settings: settings,
        persisted_custom_extensions: Vec::new(),
        segments: vec![index.new_segment_meta(segment.id(), order.num_docs())],
        schema,
        opstamp: 0,
        payload: None,
    };
    let meta = serde_json::to_vec(&meta).map_err(std::io::Error::from)?;
    index.directory().atomic_write(Path::new(META), &meta)?;
    Ok(directory)
}
