//! Fields of documents that no mapping names.

use canter_doc_mapper::DocMapper;
use canter_split_format::ManifestFile;
use tantivy::columnar::ColumnType;

use super::fields::Described;
use crate::SearchError;
use crate::exchange::Exchange;
use crate::leaf::{list_columns, path_of_column};
use crate::limits::TimeFilter;
use crate::plan::newest_in_pages;
use crate::split::{HeadSource, SearchedIndex};

/// Number of the newest splits that are searched for fields.
const MAX_SPLITS: usize = 32;

/// Type of texts, unless they are indexed by words.
const TEXTS: &str = "keyword";

/// Returns the unmapped fields of documents in the newest splits that may pass `time`: inside dynamic objects, and
/// outside of the mapping.
///
/// # Errors
/// If a split cannot be opened, or a page of the manifest cannot be read.
pub(in crate::api::elastic) async fn dynamic_fields(
    file: &mut ManifestFile,
    mapper: &DocMapper,
    time: TimeFilter,
    exchange: &Exchange,
) -> Result<Vec<Described>, SearchError> {
    let newest = file.manifest.splits.iter().rev();
    let newest = newest.filter(|entry| time.may_match(entry.time_range));
    let newest: Vec<_> = newest.take(MAX_SPLITS).cloned().collect();
    let num_older = MAX_SPLITS.saturating_sub(newest.len());
    let older = newest_in_pages(&file.pages, time, num_older, exchange).await?;
    let newest = newest.into_iter().map(|entry| HeadSource {
        index: 0,
        inlined: file.take_head(&entry.id),
        packed: None,
        entry,
    });
    let older = older.into_iter().map(|split| HeadSource {
        index: 0,
        inlined: None,
        packed: split.head,
        entry: split.entry,
    });
    let splits = newest.chain(older).collect();
    let index = SearchedIndex {
        prefix: exchange.prefix().to_owned(),
        config: file.manifest.index_config.clone(),
    };
    let columns = list_columns(index, splits, exchange).await?;
    let fields = columns
        .into_iter()
        .filter_map(|(name, types)| Some((path_of_column(&name)?, types)));
    let mut described = Vec::new();
    for (path, types) in fields {
        let mut kinds: Vec<&str> = types.into_iter().map(kind_of).collect();
        canter_sorting::sort(&mut kinds);
        kinds.dedup();
        described.extend(kinds.iter().flat_map(|kind| match *kind {
            TEXTS => Described::found_text(path.clone(), mapper),
            kind => vec![Described::found(path.clone(), kind)],
        }));
    }
    Ok(described)
}

fn kind_of(column_type: ColumnType) -> &'static str {
    match column_type {
        ColumnType::I64 | ColumnType::U64 => "long",
        // What Elasticsearch maps fractions of documents to.
        ColumnType::F64 => "float",
        ColumnType::Bool => "boolean",
        ColumnType::DateTime => "date",
        ColumnType::Str => TEXTS,
        ColumnType::IpAddr => "ip",
        ColumnType::Bytes => "binary",
    }
}
