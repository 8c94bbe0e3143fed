//! Columns in the head: their locations, and the bytes of tiny ones.
//!
//! A search that sorts or aggregates by a field looks its column up in the directory of columns,
//! which is sorted by name and divided into blocks. Parts of the directory that are in the head
//! cost no read. Documents that use values as keys produce very many columns (50,000 keys, 50,000
//! columns), and every search reads the head. Therefore it has the whole directory of an ordinary
//! split, but otherwise only the blocks with the fields of the doc mapping and the longest columns.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::Range;

use tantivy::columnar::{ColumnarReader, DynamicColumnHandle};
use tantivy::index::SegmentComponent;
use tantivy::schema::Schema;
use tantivy::{Index, SegmentReader, TantivyError};

use super::super::recording_directory::Recorder;

/// Maximum number of columns whose locations are in the head.
const MAX_HEAD_COLUMNS: usize = 1_000;
/// Maximum total length of the blocks of the column directory that contain them.
const DIRECTORY_BUDGET_BYTES: usize = 64 * 1024;
/// Maximum length of a column that is kept in the head.
const TINY_COLUMN_BYTES: u64 = 256;
/// Maximum total length of these columns.
const TINY_COLUMNS_BUDGET_BYTES: u64 = 64 * 1024;

/// Reads the parts of columns that belong in the head through a recording directory. Returns the
/// number of columns whose locations are not in the head.
pub(crate) fn touch_columns(
    index: &Index,
    segment: &SegmentReader,
    directory: &Recorder,
) -> tantivy::Result<u64> {
    let columnar = columnar_of(index)?;
    let (listed, reads) = directory.observe(|| columnar.list_columns());
    let listed = listed?;
    let directory_len: usize = reads.iter().map(|(_, range)| range.len()).sum();
    if listed.len() <= MAX_HEAD_COLUMNS && directory_len <= DIRECTORY_BUDGET_BYTES {
        touch_tiny(all_columns(segment)?)?;
        return Ok(0);
    }
    let num_columns = listed.len();
    let chosen = choose(&columnar, segment.schema(), listed, directory)?;
    let num_outside = num_columns - chosen.len();
    touch_tiny(chosen)?;
    Ok(num_outside as u64)
}

/// Opens the columns once more with their names, which tantivy's own reader of fast fields does not
/// provide.
pub(crate) fn columnar_of(index: &Index) -> tantivy::Result<ColumnarReader> {
    let segments = index.searchable_segments()?;
    let [segment] = segments.as_slice() else {
        return Err(TantivyError::InternalError(
            "a packaged split must hold one segment".to_owned(),
        ));
    };
    let file = segment.open_read(SegmentComponent::FastFields)?;
    Ok(ColumnarReader::open(file)?)
}

/// Returns all columns. Finds them like searches do, which reads the whole directory.
fn all_columns(segment: &SegmentReader) -> tantivy::Result<Vec<DynamicColumnHandle>> {
    let columns = segment.fast_fields();
    let mut all = Vec::new();
    for (_, entry) in segment.schema().fields() {
        if !entry.is_fast() {
            continue;
        }
        all.extend(columns.dynamic_column_handles(entry.name())?);
        if entry.field_type().is_json() {
            all.extend(columns.dynamic_subpath_column_handles(entry.name())?);
        }
    }
    Ok(all)
}

/// Selects the columns whose locations are in the head: those of mapped fields first, then the
/// longest ones, which most documents have. Reads their blocks of the directory.
fn choose(
    columnar: &ColumnarReader,
    schema: &Schema,
    mut listed: Vec<(String, DynamicColumnHandle)>,
    directory: &Recorder,
) -> tantivy::Result<Vec<DynamicColumnHandle>> {
    let is_mapped = |name: &str| schema.get_field(name).is_ok();
    // Ties are resolved by name, since the list is sorted by name.
    listed.sort_by_key(|(name, column)| {
        let num_bytes = column.num_bytes().get_bytes();
        (!is_mapped(name), Reverse(num_bytes))
    });
    let mut blocks: HashSet<(u32, Range<usize>)> = HashSet::new();
    let mut budget = DIRECTORY_BUDGET_BYTES;
    let mut chosen = Vec::new();
    for (name, column) in listed.into_iter().take(MAX_HEAD_COLUMNS) {
        let (found, reads) = directory.observe(|| columnar.read_columns(&name));
        found?;
        let fresh: Vec<_> = reads
            .into_iter()
            .filter(|read| !blocks.contains(read))
            .collect();
        let num_bytes: usize = fresh.iter().map(|(_, range)| range.len()).sum();
        let Some(rest) = budget.checked_sub(num_bytes) else {
            continue;
        };
        if !fresh.is_empty() {
            budget = rest;
            // Reads them again to record the reads.
            columnar.read_columns(&name)?;
            blocks.extend(fresh);
        }
        chosen.push(column);
    }
    Ok(chosen)
}

/// Reads tiny columns, shortest first.
fn touch_tiny(mut columns: Vec<DynamicColumnHandle>) -> tantivy::Result<()> {
    columns.sort_by_key(|column| column.num_bytes().get_bytes());
    let mut budget = TINY_COLUMNS_BUDGET_BYTES;
    for column in columns {
        let num_bytes = column.num_bytes().get_bytes();
        let Some(rest) = budget.checked_sub(num_bytes) else {
            break;
        };
        if num_bytes > TINY_COLUMN_BYTES {
            break;
        }
        budget = rest;
        column.file_slice().read_bytes()?;
    }
    Ok(())
}
