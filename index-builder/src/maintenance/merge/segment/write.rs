//! Files of the merged segment and its metadata.

use canter_doc_mapper::DocMapper;
use tantivy::Index;
use tantivy::directory::RamDirectory;

use super::super::input::OpenInput;
use super::super::order::DocOrder;
use super::{columns, field_norms, postings};
use crate::packager::write_meta;

/// Writes the segment in memory, in the form that [`package_split`](crate::package_split) expects.
pub(in crate::maintenance::merge) fn write_segment(
    inputs: &[OpenInput],
    order: &DocOrder,
    mapper: &DocMapper,
) -> tantivy::Result<RamDirectory> {
    let directory = RamDirectory::create();
    let (schema, settings) = (mapper.schema().clone(), mapper.index_settings());
    let index = Index::create(directory.clone(), schema, settings)?;
    let segment = index.new_segment();
    field_norms::write(&segment, inputs, order)?;
    postings::write(&segment, inputs, order, mapper)?;
    columns::write(&segment, inputs, order)?;
    write_meta(&index, &segment, order.num_docs())?;
    Ok(directory)
}
