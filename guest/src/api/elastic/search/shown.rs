//! Contents of hits: parts of documents, and fields.

use serde_json::{Map, Value, json};

use super::highlight::{highlight, read_highlight};
use super::sort::Sort;
use crate::SearchError;
use crate::api::elastic::given::body::{Body, as_written, wrong};
use crate::api::elastic::given::params::UrlParams;
use crate::api::settings::ApiSettings;
use crate::query::{QueryNode, parse_named};
use crate::request::{
    AS_IN_COLUMN, DateFormat, ElasticHits, HitsInBuckets, InnerHits, NamedField, ShownFrom,
    ShownVersions, SortKeySpec, SortMode, SortOrder, SortTarget, SourceFilter,
};

/// Parses a name or a list of names.
fn names(key: &str, value: &Value) -> Result<Vec<String>, SearchError> {
    let invalid = || wrong(key, "this must be a name or a list of names");
    match value {
        Value::String(name) => Ok(vec![name.clone()]),
        Value::Array(names) => names
            .iter()
            .map(|name| name.as_str().map(str::to_owned).ok_or_else(invalid))
            .collect(),
        _ => Err(invalid()),
    }
}

/// Parses `_source`: a flag, names, or an object with both lists of names.
fn source_of(value: &Value) -> Result<SourceFilter, SearchError> {
    let mut source = SourceFilter::default();
    match value {
        Value::Bool(is_on) => source.is_off = !is_on,
        Value::Object(parts) => {
            for (key, value) in parts {
                match key.as_str() {
                    "includes" | "include" => source.includes = names(key, value)?,
                    "excludes" | "exclude" => source.excludes = names(key, value)?,
                    // No field is a vector.
                    "exclude_vectors" if value.is_boolean() => {}
                    _ => {
                        return Err(wrong(
                            "_source",
                            format!("{key:?} is not known; there are includes and excludes"),
                        ));
                    }
                }
            }
        }
        value => source.includes = names("_source", value)?,
    }
    Ok(source)
}

/// Takes the parts of documents that hits show.
pub(in crate::api::elastic) fn shown(
    body: &mut Body,
    params: &mut UrlParams,
) -> Result<(SourceFilter, Vec<NamedField>), SearchError> {
    let of_url = params.text("_source").map(str::to_owned);
    let of_url = of_url.map(|text| match text.as_str() {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        names => names.split(',').map(str::trim).collect(),
    });
    let given = of_url.or_else(|| body.take("_source"));
    let has_source = given.is_some();
    let mut source = given
        .map(|value| source_of(&value))
        .transpose()?
        .unwrap_or_default();
    if let Some(includes) = params.names("_source_includes") {
        source.includes = includes;
    }
    if let Some(excludes) = params.names("_source_excludes") {
        source.excludes = excludes;
    }
    let mut fields = Vec::new();
    let of_url = params.names("stored_fields").map(Value::from);
    if let Some(value) = of_url.or_else(|| body.take("stored_fields")) {
        let stored = names("stored_fields", &value)?;
        let shows_source = |name: &String| name == "_source" || name == "*";
        if stored.iter().any(|name| name == NONE) {
            if stored.len() > 1 {
                let what = "cannot combine _none_ with other fields";
                return Err(wrong("stored_fields", what));
            }
            source.is_off = true;
            source.hides_id = true;
        } else if !has_source && !stored.iter().any(shows_source) {
            source.is_off = true;
        }
        let stored = stored
            .into_iter()
            .filter(|name| !shows_source(name) && name != NONE);
        fields.extend(stored.map(|name| NamedField {
            name,
            format: None,
            from: ShownFrom::Stored,
        }));
    }
    fields.extend(named_fields("fields", body.take("fields"))?);
    if let Some(wanted) = body.take("docvalue_fields") {
        fields.extend(of_columns(wanted)?);
    }
    if let Some(names) = params.names("docvalue_fields") {
        fields.extend(of_columns(names.into())?);
    }
    Ok((source, fields))
}

/// Parses `docvalue_fields`.
fn of_columns(json: Value) -> Result<Vec<NamedField>, SearchError> {
    let mut fields = named_fields("docvalue_fields", Some(json))?;
    for field in &mut fields {
        field.from = ShownFrom::Column;
        field.format.get_or_insert_with(|| AS_IN_COLUMN.to_owned());
    }
    Ok(fields)
}

/// Parses `["a", {"field": "b", "format": "epoch_millis"}]`.
fn named_fields(key: &str, json: Option<Value>) -> Result<Vec<NamedField>, SearchError> {
    let fields = match json {
        None => return Ok(Vec::new()),
        Some(Value::Array(fields)) => fields,
        Some(field) => vec![field],
    };
    let invalid = || {
        wrong(
            key,
            "this must be a list of names, or of objects with the keys field and format",
        )
    };
    let named = |name, format| NamedField {
        name,
        format,
        from: ShownFrom::Source,
    };
    let fields = fields.into_iter().map(|field| match field {
        Value::String(name) => Ok(named(name, None)),
        Value::Object(mut field) => {
            let name = field.shift_remove("field");
            let format = field.shift_remove("format");
            // Unmapped fields are dynamic ones, which are shown as they are.
            let unmapped = field.shift_remove("include_unmapped").map(as_written);
            if !unmapped.is_none_or(|unmapped| unmapped.is_boolean()) {
                return Err(wrong(key, "include_unmapped must be true or false"));
            }
            match (name, format, field.is_empty()) {
                (Some(Value::String(name)), None, true) => Ok(named(name, None)),
                (Some(Value::String(name)), Some(Value::String(format)), true) => {
                    let format = Some(format).filter(|format| format != AS_IN_COLUMN);
                    Ok(named(name, format))
                }
                _ => Err(invalid()),
            }
        }
        _ => Err(invalid()),
    });
    fields.collect()
}

/// Value of `stored_fields` for hits without ids and sources.
const NONE: &str = "_none_";

/// Number of objects that `inner_hits` shows by default.
const DEFAULT_INNER_HITS: usize = 3;

/// Maximum of `from` and `size` together in `inner_hits`, and number of these in a search.
const MAX_INNER_HITS: usize = 100;

/// Parses `inner_hits` of nested clauses, given by their parameters.
pub(super) fn inner_hits(
    nested: &[Map<String, Value>],
    settings: &ApiSettings,
) -> Result<Vec<InnerHits>, SearchError> {
    let mut found: Vec<InnerHits> = Vec::new();
    for params in nested {
        let text = |name: &str| params.get(name).and_then(Value::as_str);
        let path = text("path").unwrap_or_default();
        let wrong = |what: &str| wrong("inner_hits", format!("of [{path}]: {what}"));
        let Some(Value::Object(options)) = params.get("inner_hits") else {
            return Err(wrong("this must be an object"));
        };
        let query = params.get("query").cloned().unwrap_or_default();
        let named = [(path.to_owned(), query)];
        let query = parse_named(&named, settings.now_ms, &settings.limits)?.pop();
        let mut inner = InnerHits {
            name: path.to_owned(),
            path: path.to_owned(),
            query: query.unwrap_or(QueryNode::Nothing),
            from: 0,
            size: DEFAULT_INNER_HITS,
            source: SourceFilter::default(),
            versions: ShownVersions::default(),
            fields: Vec::new(),
            highlight: None,
            sort: Vec::new(),
        };
        for (key, value) in options {
            let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
            match (key.as_str(), value, count) {
                ("name", Value::String(name), _) => inner.name.clone_from(name),
                ("from", _, Some(from)) => inner.from = from,
                ("size", _, Some(size)) => inner.size = size,
                ("_source", value, _) => inner.source = source_of(value)?,
                ("version", Value::Bool(flag), _) => inner.versions.version = *flag,
                ("seq_no_primary_term", Value::Bool(flag), _) => inner.versions.seq_no = *flag,
                ("fields", value, _) => {
                    inner.fields.extend(named_fields(key, Some(value.clone()))?)
                }
                ("docvalue_fields", value, _) => inner.fields.extend(of_columns(value.clone())?),
                ("highlight", value, _) => {
                    inner.highlight = Some(read_highlight(value.clone(), settings)?);
                }
                ("sort", value, _) => inner.sort = Sort::of(value)?.keys,
                // All objects of a hit have the same score.
                ("ignore_unmapped", Value::Bool(_), _) => {}
                _ => {
                    return Err(wrong(&format!(
                        "{key:?} is not known here or has a wrong value; there are _source, docvalue_fields, fields, \
                         from, highlight, name, seq_no_primary_term, size, sort, version"
                    )));
                }
            }
        }
        if inner.from.saturating_add(inner.size) > MAX_INNER_HITS {
            return Err(wrong(&format!("from + size is at most {MAX_INNER_HITS}")));
        }
        if found.iter().any(|other| other.name == inner.name) {
            return Err(wrong("another has the same name: give it a name"));
        }
        found.push(inner);
    }
    match found.len() > MAX_INNER_HITS {
        true => Err(wrong("inner_hits", "a search has at most 100 of these")),
        false => Ok(found),
    }
}

/// Parses the contents of hits in buckets, and returns what is left of their aggregation. `query` is what hits of the
/// whole search show, and `score` the score of all, where none is computed.
///
/// # Errors
/// If something is unknown, of another type, or not supported.
pub(in crate::api::elastic) fn hits_in_buckets(
    map: Map<String, Value>,
    query: Option<&ElasticHits>,
    score: Option<f32>,
    settings: &ApiSettings,
) -> Result<(HitsInBuckets, Map<String, Value>), SearchError> {
    let mut body = Body { map };
    let mut params = UrlParams::of("")?;
    let mut rest = Map::new();
    for key in ["size", "from"] {
        rest.extend(body.take(key).map(|value| (key.to_owned(), value)));
    }
    let sort = body.take("sort").map(|sort| Sort::of(&sort)).transpose()?;
    let sort = sort.filter(|sort| !sort.keys.is_empty());
    let shows_sort = sort.is_some();
    let sort = sort.unwrap_or_else(|| by_score(score));
    let (source, fields) = shown(&mut body, &mut params)?;
    let versions = versions(&mut body, &mut params)?;
    let tracks_scores = flag(&mut body, &mut params, "track_scores")?;
    let elastic = ElasticHits {
        source,
        fields,
        versions,
        shows_sort,
        score: score.filter(|_| !shows_sort || tracks_scores),
        explains: flag(&mut body, &mut params, "explain")?,
        highlight: highlight(&mut body, settings)?,
        inner_hits: query.map_or_else(Vec::new, |shown| shown.inner_hits.clone()),
        date_formats: sort.formats,
        ..ElasticHits::default()
    };
    body.only("script_fields", &[json!({})], "scripts are not supported")?;
    body.finish()?;
    // Documents with equal values come in the order of the index.
    let is_doc = |key: &SortKeySpec| matches!(key.target, SortTarget::Doc | SortTarget::SplitDoc);
    let keys: Vec<SortKeySpec> = sort
        .keys
        .into_iter()
        .take_while(|key| !is_doc(key))
        .collect();
    let written = keys.iter().map(written).collect::<Result<_, _>>()?;
    rest.insert("sort".to_owned(), Value::Array(written));
    let form = HitsInBuckets {
        sort: keys,
        shown: elastic,
    };
    Ok((form, rest))
}

/// Returns the order of hits for which none is given.
fn by_score(score: Option<f32>) -> Sort {
    let mut sort = Sort::default();
    if score.is_none() {
        sort.keys
            .push(SortKeySpec::new(SortTarget::Score, SortOrder::Descending));
        sort.formats.push(DateFormat::Usual);
    }
    sort
}

/// Takes what hits show of versions.
pub(in crate::api::elastic) fn versions(
    body: &mut Body,
    params: &mut UrlParams,
) -> Result<ShownVersions, SearchError> {
    Ok(ShownVersions {
        version: flag(body, params, "version")?,
        seq_no: flag(body, params, "seq_no_primary_term")?,
    })
}

/// Takes a flag from the URL, or else from the body.
pub(in crate::api::elastic) fn flag(
    body: &mut Body,
    params: &mut UrlParams,
    key: &'static str,
) -> Result<bool, SearchError> {
    match (params.flag(key)?, body.take(key).map(as_written)) {
        (Some(flag), _) | (None, Some(Value::Bool(flag))) => Ok(flag),
        (None, None) => Ok(false),
        (None, Some(_)) => Err(wrong(key, "this must be true or false")),
    }
}

/// Returns a key of an order in the form that aggregations take.
fn written(key: &SortKeySpec) -> Result<Value, SearchError> {
    let name = match &key.target {
        SortTarget::Score => "_score",
        SortTarget::Field(name) => name,
        SortTarget::Distance(_) => {
            return Err(wrong("sort", "_geo_distance is not supported in buckets"));
        }
        SortTarget::Doc | SortTarget::SplitDoc => "_doc",
    };
    let mut how = Map::new();
    let order = match key.order {
        SortOrder::Ascending => "asc",
        SortOrder::Descending => "desc",
    };
    how.insert("order".to_owned(), order.into());
    if key.in_place.is_some() {
        let what = "a value in place of a missing one is not supported here: write _first or _last";
        return Err(wrong("sort", what));
    }
    if key.missing_first {
        how.insert("missing".to_owned(), "_first".into());
    }
    let mode = match key.mode {
        SortMode::Nearest => None,
        SortMode::Min => Some("min"),
        SortMode::Max => Some("max"),
        SortMode::Sum => Some("sum"),
        SortMode::Avg => Some("avg"),
        SortMode::Median => Some("median"),
    };
    how.extend(mode.map(|mode| ("mode".to_owned(), mode.into())));
    Ok(json!({ name: how }))
}
