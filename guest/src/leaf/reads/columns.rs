//! The columns of splits, mapped or not, and their sizes.

use std::collections::BTreeMap;

use canter_doc_mapper::DYNAMIC_FIELD;
use tantivy::SegmentReader;
use tantivy::columnar::{ColumnType, ColumnarReader};
use tantivy::index::SegmentComponent;

use super::each_split::of_each_split;
use super::rerun::rerun_on_gaps;
use crate::SearchError;
use crate::exchange::{Exchange, Interrupt};
use crate::split::{HeadSource, OpenSplit, SearchedIndex};

/// Returns the size in bytes of the columns of a field; `None` if their position is not known without a read.
pub(in crate::leaf) fn column_len(segment: &SegmentReader, field: &str) -> Option<u64> {
    let handles = segment.fast_fields().dynamic_column_handles(field).ok()?;
    let lens = handles.iter().map(|handle| handle.num_bytes().get_bytes());
    Some(lens.fold(0, u64::saturating_add))
}

/// Returns the names of all columns of these splits, which belong to one index, with the types of each column. A
/// character 1 separates the parts of a name. The heads hold this, so it takes one wave.
///
/// # Errors
/// If a split cannot be opened.
pub(crate) async fn list_columns(
    index: SearchedIndex,
    splits: Vec<HeadSource>,
    exchange: &Exchange,
) -> Result<BTreeMap<String, Vec<ColumnType>>, SearchError> {
    let interrupt = &exchange.interrupt();
    let lists = of_each_split(index, splits, exchange, |split| async move {
        rerun_on_gaps(&split, interrupt, || Ok(columns_of(&split)?)).await
    });
    let mut columns: BTreeMap<String, Vec<ColumnType>> = BTreeMap::new();
    for (name, column_type) in lists.await?.into_iter().flatten() {
        let types = columns.entry(name).or_default();
        if !types.contains(&column_type) {
            types.push(column_type);
        }
    }
    Ok(columns)
}

/// Returns the paths inside JSON fields in which documents of a split have values, as queries name them. The head holds
/// them.
///
/// # Errors
/// If the list of columns cannot be read.
pub(in crate::leaf) async fn found_paths(
    split: &OpenSplit,
    interrupt: &Interrupt,
) -> Result<Vec<String>, SearchError> {
    let columns = rerun_on_gaps(split, interrupt, || Ok(columns_of(split)?)).await?;
    let paths = columns.iter().filter_map(|(name, _)| path_of_column(name));
    Ok(canter_sorting::set_of(paths).into_iter().collect())
}

/// Returns the path of a column inside a JSON field, as queries name it; `None` for other columns.
pub(crate) fn path_of_column(name: &str) -> Option<String> {
    /// Separator between the parts of a column's name.
    const SEPARATOR: char = '\u{1}';
    let (field, path) = name.split_once(SEPARATOR)?;
    let path = path.replace('.', "\\.").replace(SEPARATOR, ".");
    Some(match field {
        DYNAMIC_FIELD => path,
        field => format!("{field}.{path}"),
    })
}

fn columns_of(split: &OpenSplit) -> tantivy::Result<Vec<(String, ColumnType)>> {
    let segments = split.searcher.index().searchable_segments()?;
    let mut found = Vec::new();
    for segment in segments {
        let columns = ColumnarReader::open(segment.open_read(SegmentComponent::FastFields)?)?;
        let columns = columns.list_columns()?.into_iter();
        found.extend(columns.map(|(name, column)| (name, column.column_type())));
    }
    Ok(found)
}
