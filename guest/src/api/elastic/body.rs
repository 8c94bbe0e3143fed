//! The body and the parameters of a search.
//!
//! See <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-search>.

use canter_aggregations::check_name;
use serde_json::{Map, Value, json};

use super::params::UrlParams;
use super::sort::Sort;
use crate::SearchError;
use crate::api::params::typed;
use crate::api::settings::ApiSettings;
use crate::request::{
    AnswerForm, Counting, ElasticHits, GivenQuery, Highlight, NamedField, Question, Scroll,
    SearchRequest, SortKeySpec, SortOrder, SortTarget, SourceFilter,
};
use crate::session::protocol::Budget;

/// How many hits there are if a request does not say.
const DEFAULT_SIZE: u64 = 10;

/// Up to so many hits are counted if a request does not say.
const DEFAULT_COUNTED: u64 = 10_000;

/// Longest passage of `highlight` if a request does not say, in characters.
const DEFAULT_FRAGMENT: u64 = 100;

/// A search, and what its host is to keep to.
pub(super) type Search = (Question, Budget);

/// A body that is read key by key.
pub(super) struct Body {
    map: Map<String, Value>,
}

fn wrong(key: &str, what: impl std::fmt::Display) -> SearchError {
    SearchError::invalid(format!("{key}: {what}"))
}

impl Body {
    /// Reads a body; an empty one gives nothing.
    ///
    /// # Errors
    /// If it is no JSON object.
    pub(super) fn parse(body: &[u8]) -> Result<Self, SearchError> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self { map: Map::new() });
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(map)) => Ok(Self { map }),
            Ok(_) => Err(SearchError::invalid("the body must be a JSON object")),
            Err(error) => Err(SearchError::invalid(format!(
                "the body is not JSON: {error}"
            ))),
        }
    }

    /// A key; null is as good as none.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.map.shift_remove(key).filter(|value| !value.is_null())
    }

    fn count(&mut self, key: &str) -> Result<Option<u64>, SearchError> {
        match self.take(key) {
            None => Ok(None),
            Some(value) => value
                .as_u64()
                .map(Some)
                .ok_or_else(|| wrong(key, "this must be a whole number, 0 or more")),
        }
    }

    /// Refuses a key unless it says what is so in any case.
    fn only(&mut self, key: &str, allowed: &[Value], why: &str) -> Result<(), SearchError> {
        match self.take(key) {
            None => Ok(()),
            Some(value) if allowed.contains(&value) => Ok(()),
            Some(_) => Err(wrong(key, why)),
        }
    }

    /// Refuses what nobody asked for.
    pub(super) fn finish(self) -> Result<(), SearchError> {
        match self.map.keys().next() {
            None => Ok(()),
            Some(key) => Err(SearchError::invalid(format!(
                "the key {key:?} of the body is not known or not supported"
            ))),
        }
    }
}

/// Reads a search of these indexes. `params` are left with what is not of a search.
///
/// # Errors
/// If something is unknown, of another type, or asks for what the limits do not allow.
pub(super) fn read_search(
    indexes: &[String],
    mut body: Body,
    params: &mut UrlParams,
    is_pretty: bool,
    settings: &ApiSettings,
) -> Result<Search, SearchError> {
    let mut request = plain(settings)?;
    if params.text("scroll").is_some() {
        request.scroll = Some(Scroll {
            after: None,
            query: params.written(),
            body: Value::from(body.map.clone()).to_string(),
        });
    }
    let query = query(&mut body, params)?;
    let aggs = match (body.take("aggs"), body.take("aggregations")) {
        (Some(_), Some(_)) => {
            return Err(wrong(
                "aggs",
                "aggs and aggregations are the same: give one",
            ));
        }
        (aggs, others) => aggs.or(others),
    };
    request.query = with_post_filter(query, &mut body, aggs.is_some())?;
    request.aggs = aggs;
    request.max_hits = match params.count("size")? {
        Some(size) => size,
        None => body.count("size")?.unwrap_or(DEFAULT_SIZE),
    };
    request.start_offset = match params.count("from")? {
        Some(from) => from,
        None => body.count("from")?.unwrap_or(0),
    };
    let sort = match params.text("sort").map(str::to_owned) {
        Some(text) => Some(Sort::of_url(&text)?),
        None => body.take("sort").map(|json| Sort::of(&json)).transpose()?,
    };
    let sort = sort.filter(|sort| !sort.keys.is_empty());
    if let Some(after) = body.take("search_after") {
        let sort = sort.as_ref();
        let sort = sort.ok_or_else(|| wrong("search_after", "there must be a sort, too"))?;
        if request.start_offset > 0 {
            return Err(wrong("search_after", "from must be 0 or absent"));
        }
        request.search_after = sort.after(&after)?;
    }
    if request.scroll.is_some() {
        let is_stored =
            |key: &SortKeySpec| key.target == SortTarget::Doc && key.order == SortOrder::Ascending;
        let is_other = sort
            .as_ref()
            .is_some_and(|sort| !sort.keys.iter().all(is_stored));
        if is_other || request.start_offset > 0 || !request.search_after.is_empty() {
            return Err(wrong(
                "scroll",
                "a scroll goes through hits as they lie in the index: sort by _doc and leave out from; use \
                 search_after for another order",
            ));
        }
    }
    let (source, fields) = shown(&mut body, params)?;
    let total_is_number = params.flag("rest_total_hits_as_int")?.unwrap_or(false);
    let track = match params.text("track_total_hits").map(str::to_owned) {
        Some(text) => Some(serde_json::from_str(&text).unwrap_or(Value::from(text))),
        None => body.take("track_total_hits"),
    };
    let most_counted = match track {
        None if total_is_number => Some(u64::MAX),
        None => Some(DEFAULT_COUNTED),
        Some(Value::Bool(true)) => Some(u64::MAX),
        Some(Value::Bool(false)) => None,
        Some(count) => match count.as_u64() {
            Some(count) => Some(count),
            // Elasticsearch's other way to say true.
            None if count == -1 => Some(u64::MAX),
            None => {
                return Err(wrong(
                    "track_total_hits",
                    "this must be true, false or a whole number",
                ));
            }
        },
    };
    request.track_total_hits = match most_counted {
        Some(u64::MAX) => Counting::All,
        most => Counting::UpTo(most.unwrap_or(0)),
    };
    let node = request.query.parse(request.now_ms, &settings.limits)?;
    let score = node.constant_score();
    let shows_sort = sort.is_some();
    let sort = sort.unwrap_or_else(|| Sort {
        // The best first, unless all are equally good: then as in the index's own order.
        keys: match score {
            // As it lies in the index: a scroll goes on from split to split in that order.
            _ if request.scroll.is_some() => vec![SortKeySpec {
                target: SortTarget::Doc,
                order: SortOrder::Ascending,
                missing_first: false,
            }],
            Some(_) => Vec::new(),
            None => vec![SortKeySpec {
                target: SortTarget::Score,
                order: SortOrder::Descending,
                missing_first: false,
            }],
        },
        formats: Vec::new(),
    });
    request.sort = sort.keys;
    request.elastic = Some(ElasticHits {
        names: indexes.join(","),
        source,
        shows_sort,
        date_formats: sort.formats,
        score: score.filter(|_| !shows_sort),
        most_counted,
        total_is_number,
        is_count: false,
        fields,
        highlight: highlight(&mut body)?,
        has_typed_keys: params.flag("typed_keys")?.unwrap_or(false),
        filter_path: None,
    });
    let budget = budget(&mut body, params)?;
    refuse_the_rest(&mut body, params)?;
    body.finish()?;
    finish(request, budget, is_pretty, settings)
}

/// Reads what `_count` takes.
///
/// # Errors
/// As [`read_search`].
pub(super) fn read_count(
    mut body: Body,
    params: &mut UrlParams,
    is_pretty: bool,
    settings: &ApiSettings,
) -> Result<Search, SearchError> {
    let mut request = plain(settings)?;
    request.query = GivenQuery::of(&query(&mut body, params)?)?;
    request.query.parse(request.now_ms, &settings.limits)?;
    body.finish()?;
    request.max_hits = 0;
    request.elastic = Some(ElasticHits {
        is_count: true,
        ..ElasticHits::default()
    });
    finish(request, Budget::default(), is_pretty, settings)
}

/// A request that asks for everything.
fn plain(settings: &ApiSettings) -> Result<SearchRequest, SearchError> {
    let mut request: SearchRequest = typed(&json!({}))?;
    request.forced_filter.clone_from(&settings.forced_filter);
    request.now_ms = settings.now_ms;
    Ok(request)
}

fn finish(
    mut request: SearchRequest,
    budget: Budget,
    is_pretty: bool,
    settings: &ApiSettings,
) -> Result<Search, SearchError> {
    request.resolve_now()?;
    request.check(&settings.limits)?;
    let question = Question {
        request,
        limits: settings.limits.clone(),
        form: AnswerForm {
            is_http: true,
            has_profile: false,
            is_pretty,
        },
    };
    Ok((question, budget))
}

/// The query: of the body, or as a query string in the URL.
pub(super) fn query(body: &mut Body, params: &mut UrlParams) -> Result<Value, SearchError> {
    let of_body = body.take("query");
    let text = params.text("q").map(str::to_owned);
    let mut query_string = Map::new();
    for (name, key) in [
        ("df", "default_field"),
        ("default_operator", "default_operator"),
        ("analyze_wildcard", "analyze_wildcard"),
        ("lenient", "lenient"),
    ] {
        if let Some(value) = params.text(name) {
            query_string.insert(key.to_owned(), value.into());
        }
    }
    let query = match (of_body, text) {
        (Some(_), Some(_)) => {
            return Err(wrong(
                "q",
                "there is a query in the body: leave one of them out",
            ));
        }
        (_, None) if !query_string.is_empty() => {
            return Err(wrong(
                "q",
                "this is missing, and other parameters are about it",
            ));
        }
        (Some(query), None) => query,
        (None, Some(text)) => {
            query_string.insert("query".to_owned(), text.into());
            json!({"query_string": query_string})
        }
        (None, None) => json!({"match_all": {}}),
    };
    match query {
        Value::Object(_) => Ok(query),
        _ => Err(wrong("query", "this must be a JSON object")),
    }
}

/// A filter for hits and not for aggregations is one for both where there are none.
fn with_post_filter(
    query: Value,
    body: &mut Body,
    has_aggregations: bool,
) -> Result<GivenQuery, SearchError> {
    let query = match body.take("post_filter") {
        None => query,
        Some(_) if has_aggregations => {
            return Err(wrong(
                "post_filter",
                "this is not supported beside aggregations: put it into the query and the aggregations that are to \
                 see more into a global search of their own",
            ));
        }
        Some(filter) => json!({"bool": {"must": [query], "filter": [filter]}}),
    };
    GivenQuery::of(&query)
}

/// Which parts of documents hits show.
fn shown(
    body: &mut Body,
    params: &mut UrlParams,
) -> Result<(SourceFilter, Vec<NamedField>), SearchError> {
    let mut source = SourceFilter::default();
    let of_url = params.text("_source").map(str::to_owned);
    let of_url = of_url.map(|text| match text.as_str() {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        names => names.split(',').map(str::trim).collect(),
    });
    let names = |key: &str, value: &Value| -> Result<Vec<String>, SearchError> {
        let invalid = || wrong(key, "this must be a name or a list of names");
        match value {
            Value::String(name) => Ok(vec![name.clone()]),
            Value::Array(names) => names
                .iter()
                .map(|name| name.as_str().map(str::to_owned).ok_or_else(invalid))
                .collect(),
            _ => Err(invalid()),
        }
    };
    match of_url.or_else(|| body.take("_source")) {
        None | Some(Value::Bool(true)) => {}
        Some(Value::Bool(false)) => source.is_off = true,
        Some(Value::Object(parts)) => {
            for (key, value) in &parts {
                match key.as_str() {
                    "includes" | "include" => source.includes = names(key, value)?,
                    "excludes" | "exclude" => source.excludes = names(key, value)?,
                    // No field has any.
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
        Some(value) => source.includes = names("_source", &value)?,
    }
    if let Some(includes) = params.names("_source_includes") {
        source.includes = includes;
    }
    if let Some(excludes) = params.names("_source_excludes") {
        source.excludes = excludes;
    }
    match body.take("stored_fields") {
        None => {}
        Some(value) => match names("stored_fields", &value)?.as_slice() {
            [none] if none == "_none_" => source.is_off = true,
            [all] if all == "*" || all == "_source" => {}
            [] => source.is_off = true,
            _ => {
                return Err(wrong(
                    "stored_fields",
                    "fields are not stored one by one: use _source or fields",
                ));
            }
        },
    }
    let mut fields = Vec::new();
    for key in ["fields", "docvalue_fields"] {
        fields.extend(named_fields(key, body.take(key))?);
    }
    if let Some(names) = params.names("docvalue_fields") {
        fields.extend(names.into_iter().map(|name| (name, None)));
    }
    Ok((source, fields))
}

/// `["a", {"field": "b", "format": "epoch_millis"}]`
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
    let fields = fields.into_iter().map(|field| match field {
        Value::String(name) => Ok((name, None)),
        Value::Object(mut field) => {
            let name = field.shift_remove("field");
            let format = field.shift_remove("format");
            match (name, format, field.is_empty()) {
                (Some(Value::String(name)), None, true) => Ok((name, None)),
                (Some(Value::String(name)), Some(Value::String(format)), true) => Ok((
                    name,
                    Some(format).filter(|format| format != "use_field_mapping"),
                )),
                _ => Err(invalid()),
            }
        }
        _ => Err(invalid()),
    });
    fields.collect()
}

/// See <https://www.elastic.co/docs/reference/elasticsearch/rest-apis/highlighting>.
fn highlight(body: &mut Body) -> Result<Option<Highlight>, SearchError> {
    let Some(json) = body.take("highlight") else {
        return Ok(None);
    };
    let Value::Object(mut json) = json else {
        return Err(wrong("highlight", "this must be a JSON object"));
    };
    let fields = match json.shift_remove("fields") {
        Some(Value::Object(fields)) if fields.values().all(is_empty_object) => {
            fields.into_iter().map(|(name, _)| name).collect()
        }
        _ => {
            return Err(wrong(
                "highlight.fields",
                "this must be an object whose keys are names of fields, with {} behind each",
            ));
        }
    };
    let mut tag = |key: &str, usual: &str| match json.shift_remove(key) {
        None => Ok(usual.to_owned()),
        Some(Value::Array(tags)) if matches!(tags.as_slice(), [Value::String(_), ..]) => {
            let tag = tags.first().and_then(Value::as_str);
            Ok(tag.unwrap_or_default().to_owned())
        }
        Some(_) => Err(wrong(
            &format!("highlight.{key}"),
            "this must be a list of texts",
        )),
    };
    let tags = (tag("pre_tags", "<em>")?, tag("post_tags", "</em>")?);
    let mut count = |key: &str| match json.shift_remove(key) {
        None => Ok(None),
        Some(value) => value
            .as_u64()
            .map(Some)
            .ok_or_else(|| wrong(&format!("highlight.{key}"), "this must be a whole number")),
    };
    let fragment = count("fragment_size")?.unwrap_or(DEFAULT_FRAGMENT);
    let whole = count("number_of_fragments")? == Some(0);
    if let Some(key) = json.keys().next() {
        return Err(wrong(
            "highlight",
            format!(
                "{key:?} is not known or not supported; there are fields, fragment_size, number_of_fragments, \
                 post_tags, pre_tags"
            ),
        ));
    }
    let max_chars = match whole {
        true => u64::from(u32::MAX),
        false => fragment.min(u64::from(u32::MAX)),
    };
    Ok(Some(Highlight {
        fields,
        tags,
        max_chars: usize::try_from(max_chars).unwrap_or(usize::MAX),
    }))
}

fn is_empty_object(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

/// `timeout: 10s`
fn budget(body: &mut Body, params: &mut UrlParams) -> Result<Budget, SearchError> {
    let text = match params.text("timeout").map(str::to_owned) {
        Some(text) => Some(Value::from(text)),
        None => body.take("timeout"),
    };
    let Some(text) = text else {
        return Ok(Budget::default());
    };
    let ms = text.as_str().and_then(|text| {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at_checked(digits)?;
        let unit_ms = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return None,
        };
        number.parse::<u64>().ok()?.checked_mul(unit_ms)
    });
    let ms = ms.ok_or_else(|| wrong("timeout", "this must be a time such as 10s or 500ms"))?;
    Ok(Budget {
        deadline_ms: Some(ms),
        ..Budget::default()
    })
}

/// What is refused unless it says what is so in any case.
fn refuse_the_rest(body: &mut Body, params: &mut UrlParams) -> Result<(), SearchError> {
    let off = [Value::Bool(false)];
    let nothing = [json!({}), json!([])];
    body.only("script_fields", &nothing, "scripts are not supported")?;
    body.only(
        "runtime_mappings",
        &nothing,
        "fields at search time are not supported",
    )?;
    body.only("explain", &off, "scores are not explained")?;
    body.only("profile", &off, "use the explanation of the command line")?;
    body.only("track_scores", &off, "sort by _score to have scores")?;
    body.only(
        "terminate_after",
        &[json!(0)],
        "use track_total_hits instead",
    )?;
    body.only("stats", &nothing, "searches have no groups")?;
    // Documents have neither.
    for key in ["version", "seq_no_primary_term"] {
        body.only(key, &off, "documents have no versions")?;
        if params.flag(match key {
            "version" => "version",
            _ => "seq_no_primary_term",
        })? == Some(true)
        {
            return Err(wrong(key, "documents have no versions"));
        }
    }
    for (key, why) in [
        ("track_scores", "sort by _score to have scores"),
        ("explain", "scores are not explained"),
    ] {
        let given = match key {
            "track_scores" => params.flag("track_scores")?,
            _ => params.flag("explain")?,
        };
        if given == Some(true) {
            return Err(wrong(key, why));
        }
    }
    Ok(())
}

/// Checks the name of a field in a list.
pub(super) fn checked_names(key: &str, names: &[String]) -> Result<(), SearchError> {
    names
        .iter()
        .try_for_each(|name| Ok(check_name(key, &name.replace('*', "x"))?))
}
