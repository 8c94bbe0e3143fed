//! Pruning: splits that cannot hold a hit are left out by what the manifest says of them.

use canter_doc_mapper::{DocMapper, FieldKind, IndexConfig};
use canter_split_format::{ManifestFile, SplitEntry};
use tantivy_query_grammar::UserInputAst;

use crate::leaf::HitOrder;
use crate::query::{build_query, parse_query, required_tags};
use crate::request::{Limits, SearchRequest, SortTarget, TimeFilter, parse_sort_by};
use crate::split::HeadSource;
use crate::{ErrorKind, SearchError};

/// A split that must be looked at, with its place among all of the plan, oldest first.
#[derive(Clone, Debug)]
pub(crate) struct PlannedSplit {
    pub(crate) split_ord: u32,
    pub(crate) source: HeadSource,
}

/// Why a split cannot hold a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PruneReason {
    /// It lies outside the time filter.
    Time,
    /// It lacks a tag value that the query requires.
    Tags,
}

/// What a search will look at.
#[derive(Clone, Debug)]
pub(crate) struct SearchPlan {
    pub(crate) splits: Vec<PlannedSplit>,
    /// Live splits of the index.
    pub(crate) num_splits: u64,
    /// Splits that were left out, oldest first.
    pub(crate) pruned: Vec<(SplitEntry, PruneReason)>,
    /// The index config of the manifest, as it stands there.
    pub(crate) index_config: serde_json::Value,
    /// The timestamp field of the index.
    pub(crate) timestamp_field: Option<String>,
    /// Fields without a type whose values are keys in aggregations.
    pub(crate) untyped_keys: Vec<String>,
    /// Whether the splits can be searched apart from each other with no loss.
    pub(crate) divisible: bool,
}

impl SearchPlan {
    /// How many splits were left out for this reason.
    pub(crate) fn num_pruned(&self, reason: PruneReason) -> u64 {
        let pruned = self.pruned.iter().filter(|(_, why)| *why == reason);
        pruned.count() as u64
    }
}

/// Checks the request against the index's doc mapping and prunes splits.
///
/// # Errors
/// If the request is wrong for this index or needs more splits than the limit.
pub(crate) fn plan_search(
    mut file: ManifestFile,
    request: &SearchRequest,
    limits: &Limits,
) -> Result<SearchPlan, SearchError> {
    let config: IndexConfig = serde_json::from_value(file.manifest.index_config.clone())
        .map_err(|error| SearchError::data(format!("manifest: index config: {error}")))?;
    let mapper = DocMapper::new(&config)
        .map_err(|error| SearchError::data(format!("manifest: index config: {error}")))?;
    let ast = request.parsed_query(limits)?;
    let order = check_request(request, &ast, &mapper, limits)?;

    let untyped_keys = match request.aggregations(limits)? {
        Some(aggregations) => aggregations.untyped_keys(&mapper),
        None => Vec::new(),
    };
    let tag_fields: Vec<&str> = mapper.tag_fields().iter().map(String::as_str).collect();
    let required = required_tags(&ast, &tag_fields);
    let filter = request.time_filter();
    let mut plan = SearchPlan {
        splits: Vec::new(),
        num_splits: file.manifest.splits.len() as u64,
        pruned: Vec::new(),
        index_config: std::mem::take(&mut file.manifest.index_config),
        timestamp_field: mapper.timestamp_field().map(|(_, name)| name.to_owned()),
        untyped_keys,
        // Scores need statistics of all splits; hits in time order stop early in one place.
        divisible: !order.needs_scores() && request.aggs.is_some(),
    };
    for entry in std::mem::take(&mut file.manifest.splits) {
        if !time_may_match(&entry, filter) {
            plan.pruned.push((entry, PruneReason::Time));
        } else if !required
            .iter()
            .all(|(field, values)| tags_may_match(&entry, field, values))
        {
            plan.pruned.push((entry, PruneReason::Tags));
        } else {
            let inlined = file.take_head(&entry.id);
            plan.splits.push(PlannedSplit {
                split_ord: u32::try_from(plan.splits.len()).unwrap_or(u32::MAX),
                source: HeadSource { entry, inlined },
            });
        }
    }
    if plan.splits.len() as u64 > limits.max_splits {
        return Err(SearchError::new(
            ErrorKind::Limit,
            format!(
                "the query needs {} splits, more than the limit max_splits of {}: narrow it by \
                 start_timestamp and end_timestamp, or raise the limit",
                plan.splits.len(),
                limits.max_splits
            ),
        ));
    }
    Ok(plan)
}

/// Finds what is wrong with a request before any split is opened.
fn check_request(
    request: &SearchRequest,
    ast: &UserInputAst,
    mapper: &DocMapper,
    limits: &Limits,
) -> Result<HitOrder, SearchError> {
    let timestamp_field = mapper.timestamp_field().map(|(_, name)| name);
    if !request.time_filter().is_open() && timestamp_field.is_none() {
        return Err(SearchError::invalid(
            "start_timestamp and end_timestamp need an index with a timestamp_field",
        ));
    }
    let keys = parse_sort_by(request.sort_by.as_deref().unwrap_or_default())?;
    for key in &keys {
        if let SortTarget::Field(name) = &key.target {
            require_fast(mapper, name, "sort_by")?;
        }
    }
    for name in &request.snippet_fields {
        require_shown_text(mapper, name)?;
    }
    if let Some(aggregations) = request.aggregations(limits)? {
        aggregations.check(mapper)?;
        for filter in aggregations.filters() {
            parse_query(&filter.query, limits)
                .and_then(|ast| build_query(&ast, mapper, &request.search_field, false, limits))
                .map_err(|error| error.at(&filter.path))?;
        }
    }
    let order = HitOrder::of_request(&keys, timestamp_field);
    build_query(
        ast,
        mapper,
        &request.search_field,
        order.needs_scores(),
        limits,
    )?;
    Ok(order)
}

fn require_fast(mapper: &DocMapper, name: &str, what: &str) -> Result<(), SearchError> {
    let fields = mapper.resolve_all(name);
    if fields.is_empty() {
        return Err(SearchError::invalid(format!(
            "{what}: the field {name:?} does not exist in this index"
        )));
    }
    if fields.iter().any(|field| field.is_fast()) {
        return Ok(());
    }
    Err(SearchError::invalid(format!(
        "{what}: the field {name:?} is not fast: set fast: true in its mapping and build the index again"
    )))
}

/// Snippets are passages of text that hits show and queries find.
fn require_shown_text(mapper: &DocMapper, name: &str) -> Result<(), SearchError> {
    let invalid = |what: &str| {
        Err(SearchError::invalid(format!(
            "snippet_fields: the field {name:?} {what}"
        )))
    };
    match mapper.resolve(name) {
        None => invalid("does not exist in this index"),
        Some(field) if !matches!(field.kind, FieldKind::Text(_)) || !field.json_path.is_empty() => {
            invalid("is not a mapped text field")
        }
        Some(field) if !field.indexed || !field.stored => invalid("is not indexed and stored"),
        Some(_) => Ok(()),
    }
}

fn time_may_match(entry: &SplitEntry, filter: TimeFilter) -> bool {
    let Some(range) = entry.time_range else {
        return true;
    };
    filter.start_ns.is_none_or(|start| range.end_ns >= start)
        && filter.end_ns.is_none_or(|end| range.start_ns < end)
}

fn tags_may_match(
    entry: &SplitEntry,
    field: &str,
    values: &std::collections::BTreeSet<String>,
) -> bool {
    entry
        .tags
        .get(field)
        .is_none_or(|present| values.iter().any(|value| present.contains(value)))
}
