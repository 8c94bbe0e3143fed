//! Validation of a request before any split is opened.

use canter_aggregations::FromHead;
use canter_doc_mapper::{DocMapper, FieldKind, IndexConfig};
use canter_split_format::ManifestFile;

use crate::SearchError;
use crate::leaf::HitOrder;
use crate::query::{QueryShape, build_nested, build_query, is_metadata};
use crate::request::{DateFormat, DistanceKey, Question, Resolved, SortTarget, refuse_ids};

/// Returns the compiled config of the index with this name, as a question sees it: only Elasticsearch's API may ask for
/// fields that there are not.
///
/// # Errors
/// If the config is invalid.
pub(super) fn mapper_of(
    file: &ManifestFile,
    name: &str,
    question: &Question,
) -> Result<DocMapper, SearchError> {
    let invalid = |error: String| SearchError::data(format!("manifest: index config: {error}"));
    let config: IndexConfig = serde_json::from_value(file.manifest.index_config.clone())
        .map_err(|error| invalid(error.to_string()))?;
    let mapper = DocMapper::new(&config).map_err(|error| invalid(error.to_string()))?;
    let mapper = mapper.named(name);
    Ok(match question.elastic {
        Some(_) => mapper,
        None => mapper.without_unmapped(),
    })
}

/// Validates a question for the index with this name.
///
/// # Errors
/// As [`check_question`].
pub(crate) fn check_query(
    file: &ManifestFile,
    name: &str,
    question: &Question,
) -> Result<(), SearchError> {
    let mapper = mapper_of(file, name, question)?;
    let resolved = Resolved::of(question, None);
    check_question(question, &resolved, &mapper).map(|_| ())
}

/// Validates a question; returns the order of its hits, and the shape of its query.
///
/// # Errors
/// If it is invalid for this index.
pub(super) fn check_question(
    question: &Question,
    resolved: &Resolved,
    mapper: &DocMapper,
) -> Result<(HitOrder, QueryShape), SearchError> {
    refuse_ids(&question.query, question.is_filtered())?;
    let timestamp_field = mapper.timestamp_field().map(|(_, name)| name);
    if !resolved.time.is_open() && timestamp_field.is_none() {
        return Err(SearchError::invalid(
            "start_timestamp and end_timestamp need an index with a timestamp_field",
        ));
    }
    check_sort(question, mapper)?;
    if let Some(name) = &question.collapse {
        refuse_places(mapper, name, "collapse")?;
        refuse_metadata(question, mapper, name, "collapse")?;
        require_fast(mapper, name, "collapse")?;
    }
    for name in &question.snippet_fields {
        require_shown_text(mapper, name)?;
    }
    let (fields, limits) = (&question.search_field, &question.limits);
    if let Some(asked) = &question.aggregations {
        for name in asked.parsed().fields(None, &FromHead::default()) {
            refuse_metadata(question, mapper, name, "aggs")?;
        }
        asked.parsed().check(mapper)?;
        for (filter, query) in asked.queries() {
            let checked = match filter
                .of_list
                .and_then(|list| asked.parsed().lists().get(list))
            {
                Some(list) => build_nested(query, &list.path, mapper, limits).map(drop),
                None => build_query(query, mapper, fields, false, limits).map(drop),
            };
            checked.map_err(|error| error.at(&filter.path))?;
        }
    }
    let order = HitOrder::of(question, false, timestamp_field);
    let has_scores = order.is_scored(question);
    let built = build_query(&resolved.query, mapper, fields, has_scores, limits)?;
    Ok((order, built.shape))
}

/// Validates the order of hits.
fn check_sort(question: &Question, mapper: &DocMapper) -> Result<(), SearchError> {
    for (place, key) in question.sort.iter().enumerate() {
        if let SortTarget::Distance(distance) = &key.target {
            require_places(mapper, distance)?;
        }
        if let SortTarget::Field(name) = &key.target {
            refuse_places(mapper, name, "sort")?;
            refuse_metadata(question, mapper, name, "sort")?;
            require_fast(mapper, name, "sort_by")?;
            let shown = question.elastic.as_ref();
            if mapper.is_unmapped(name)
                && shown.is_some_and(|shown| shown.sorted_by_mapped.contains(name))
            {
                return Err(SearchError::invalid(format!(
                    "No mapping found for [{name}] in order to sort on: the field {name:?} does not exist in this index; \
                     set unmapped_type, if that is meant"
                )));
            }
            let format = question
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
    Ok(())
}

/// Requires a fast field of points.
fn require_places(mapper: &DocMapper, distance: &DistanceKey) -> Result<(), SearchError> {
    let name = &distance.field;
    match mapper.kind_of(name) {
        Some(FieldKind::GeoPoint(_)) => require_fast(mapper, name, "sort"),
        None | Some(FieldKind::Json(_)) if distance.ignores_unmapped => Ok(()),
        _ => Err(SearchError::invalid(format!(
            "sort: failed to find mapper for [{name}] for geo distance based sort: map it as geo_point, or set \
             ignore_unmapped"
        ))),
    }
}

/// Refuses points where values with an order are needed.
fn refuse_places(mapper: &DocMapper, name: &str, what: &str) -> Result<(), SearchError> {
    match mapper.kind_of(name) {
        Some(FieldKind::GeoPoint(_)) => Err(SearchError::invalid(format!(
            "{what}: {name} has points, which have no order: sort by _geo_distance"
        ))),
        Some(FieldKind::Vector(_)) => Err(SearchError::invalid(format!(
            "{what}: {name} has vectors, which have no order"
        ))),
        Some(FieldKind::Range(_)) => Err(SearchError::invalid(format!(
            "{what}: {name} has ranges, which have no order"
        ))),
        _ => Ok(()),
    }
}

/// Refuses Elasticsearch's metadata fields where a column is needed.
fn refuse_metadata(
    question: &Question,
    mapper: &DocMapper,
    name: &str,
    what: &str,
) -> Result<(), SearchError> {
    match question.elastic.is_some() && is_metadata(mapper, name) {
        true => Err(SearchError::invalid(format!(
            "{what}: {name} has no column: name a fast field"
        ))),
        false => Ok(()),
    }
}

fn require_fast(mapper: &DocMapper, name: &str, what: &str) -> Result<(), SearchError> {
    let mut fields = mapper.resolve_all(name);
    fields.extend(mapper.whole_values(name));
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

/// Requires a text field that hits show and queries find, as snippets need.
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
