//! What is wrong with a request, found before any split is opened.

use canter_doc_mapper::{DocMapper, FieldKind};

use crate::SearchError;
use crate::leaf::HitOrder;
use crate::query::{QueryNode, QueryShape, build_query};
use crate::request::{Limits, SearchRequest, SortTarget};

/// Finds what is wrong with a request; returns how its hits are ordered, and what kind of query it is.
///
/// # Errors
/// If it is wrong for this index.
pub(super) fn check_request(
    request: &SearchRequest,
    ast: &QueryNode,
    mapper: &DocMapper,
    limits: &Limits,
) -> Result<(HitOrder, QueryShape), SearchError> {
    let timestamp_field = mapper.timestamp_field().map(|(_, name)| name);
    if !request.time_filter().is_open() && timestamp_field.is_none() {
        return Err(SearchError::invalid(
            "start_timestamp and end_timestamp need an index with a timestamp_field",
        ));
    }
    let keys = request.sort_keys()?;
    for key in &keys {
        if let SortTarget::Field(name) = &key.target {
            require_fast(mapper, name, "sort_by")?;
        }
    }
    if let Some(name) = &request.collapse {
        require_fast(mapper, name, "collapse")?;
    }
    for name in &request.snippet_fields {
        require_shown_text(mapper, name)?;
    }
    if let Some(aggregations) = request.aggregations(limits)? {
        aggregations.check(mapper)?;
        for filter in aggregations.filters() {
            request
                .parsed_filter(&filter.query, limits)
                .and_then(|ast| build_query(&ast, mapper, &request.search_field, false, limits))
                .map_err(|error| error.at(&filter.path))?;
        }
    }
    let order = HitOrder::of_request(request, timestamp_field);
    let built = build_query(
        ast,
        mapper,
        &request.search_field,
        order.needs_scores(),
        limits,
    )?;
    Ok((order, built.shape))
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
