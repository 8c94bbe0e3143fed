//! What is wrong with a request, found before any split is opened.

use canter_aggregations::FromHead;
use canter_doc_mapper::{DocMapper, FieldKind, IndexConfig};
use canter_split_format::ManifestFile;

use crate::SearchError;
use crate::leaf::HitOrder;
use crate::limits::Limits;
use crate::query::{QueryNode, QueryShape, build_query, is_metadata};
use crate::request::{DateFormat, SearchRequest, SortTarget};

/// The config of an index that goes by this name, compiled.
///
/// # Errors
/// If it is none.
pub(super) fn mapper_of(file: &ManifestFile, name: &str) -> Result<DocMapper, SearchError> {
    let invalid = |error: String| SearchError::data(format!("manifest: index config: {error}"));
    let config: IndexConfig = serde_json::from_value(file.manifest.index_config.clone())
        .map_err(|error| invalid(error.to_string()))?;
    let mapper = DocMapper::new(&config).map_err(|error| invalid(error.to_string()))?;
    Ok(mapper.named(name))
}

/// Finds what is wrong with a request for an index that goes by this name.
///
/// # Errors
/// As [`check_request`].
pub(crate) fn check_query(
    file: &ManifestFile,
    name: &str,
    request: &SearchRequest,
    limits: &Limits,
) -> Result<(), SearchError> {
    let mapper = mapper_of(file, name)?;
    let query = request.parsed_query(limits)?;
    check_request(request, &query, &mapper, limits).map(|_| ())
}

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
    let refuse_metadata =
        |name: &str, what: &str| match request.elastic.is_some() && is_metadata(mapper, name) {
            true => Err(SearchError::invalid(format!(
                "{what}: {name} has no column: name a fast field"
            ))),
            false => Ok(()),
        };
    for (place, key) in keys.iter().enumerate() {
        if let SortTarget::Field(name) = &key.target {
            refuse_metadata(name, "sort")?;
            require_fast(mapper, name, "sort_by")?;
            let format = request
                .elastic
                .as_ref()
                .and_then(|shown| shown.date_formats.get(place));
            let has_dates = matches!(
                mapper.kind_of(name),
                None | Some(FieldKind::Date(_) | FieldKind::Json(_))
            );
            if !has_dates && format.is_some_and(|format| *format != DateFormat::Usual) {
                return Err(SearchError::invalid(format!(
                    "sort: {name} is no date, so that it takes neither format nor numeric_type"
                )));
            }
        }
    }
    if let Some(name) = &request.collapse {
        refuse_metadata(name, "collapse")?;
        require_fast(mapper, name, "collapse")?;
    }
    for name in &request.snippet_fields {
        require_shown_text(mapper, name)?;
    }
    if let Some(aggregations) = request.aggregations(limits)? {
        for name in aggregations.fields(None, &FromHead::default()) {
            refuse_metadata(name, "aggs")?;
        }
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
