//! The body and the parameters of a search.
//!
//! See <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-search>.

use canter_aggregations::check_name;
use canter_names::read_json;
use canter_protocol::Budget;
use serde_json::{Map, Value, json};

use super::named::Named;
use super::params::{UrlParams, read_duration};
use super::pit::Pinned;
use super::shown::{highlight, shown};
use super::sort::Sort;
use crate::SearchError;
use crate::api::params::typed;
use crate::api::settings::ApiSettings;
use crate::request::{
    AnswerForm, Counting, ElasticHits, GivenQuery, Question, Scroll, SearchRequest, SortKeySpec,
    SortOrder, SortTarget,
};

/// How many hits there are if a request does not say.
const DEFAULT_SIZE: u64 = 10;

/// Up to so many hits are counted if a request does not say.
const DEFAULT_COUNTED: u64 = 10_000;

/// A search, and what its host is to keep to.
#[derive(Debug)]
pub(crate) struct Search {
    pub(super) question: Question,
    /// What the aggregations are of, where that is more than the hits.
    pub(super) aggregated: Option<Question>,
    pub(super) budget: Budget,
}

/// A body that is read key by key.
pub(super) struct Body {
    map: Map<String, Value>,
}

pub(super) fn wrong(key: &str, what: impl std::fmt::Display) -> SearchError {
    SearchError::invalid(format!("{key}: {what}"))
}

/// A number or a flag that may have been given as text.
fn as_written(value: Value) -> Value {
    let text = value.as_str();
    let read = text.and_then(|text| serde_json::from_str(text).ok());
    read.unwrap_or(value)
}

impl Body {
    /// Reads a body; an empty one gives nothing.
    ///
    /// # Errors
    /// If it is no JSON object, or has a key twice.
    pub(super) fn parse(body: &[u8]) -> Result<Self, SearchError> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self { map: Map::new() });
        }
        match read_json(body) {
            Ok(Value::Object(map)) => Ok(Self { map }),
            Ok(_) => Err(SearchError::invalid("the body must be a JSON object")),
            Err(error) => Err(SearchError::invalid(error.of("the body"))),
        }
    }

    /// A key; null is as good as none.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.map.shift_remove(key).filter(|value| !value.is_null())
    }

    fn count(&mut self, key: &str) -> Result<Option<u64>, SearchError> {
        match self.take(key) {
            None => Ok(None),
            Some(value) => as_written(value)
                .as_u64()
                .map(Some)
                .ok_or_else(|| wrong(key, "this must be a whole number, 0 or more")),
        }
    }

    /// A time such as `10s`, in milliseconds.
    pub(super) fn duration(&mut self, key: &str) -> Result<Option<u64>, SearchError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => read_duration(key, &text).map(Some),
            Some(other) => read_duration(key, &other.to_string()).map(Some),
        }
    }

    /// The names of the indexes of the point in time that is to be searched, with commas between them, if it is one.
    ///
    /// # Errors
    /// If it is none.
    pub(super) fn pinned(&self) -> Result<Option<String>, SearchError> {
        let Some(pit) = self.map.get("pit").filter(|pit| !pit.is_null()) else {
            return Ok(None);
        };
        let manifests = Pinned::of(pit)?.manifests.into_iter();
        let names: Vec<String> = manifests.map(|(name, _)| name).collect();
        Ok(Some(names.join(",")))
    }

    /// Refuses a key.
    pub(super) fn refuse(&mut self, key: &str, why: &str) -> Result<(), SearchError> {
        self.only(key, &[], why)
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

/// Reads a search. `params` are left with what is not of a search.
///
/// # Errors
/// If something is unknown, of another type, or asks for what the limits do not allow.
pub(super) fn read_search(
    mut body: Body,
    params: &mut UrlParams,
    is_pretty: bool,
    settings: &ApiSettings,
) -> Result<Search, SearchError> {
    let mut request = plain(settings)?;
    if params.duration("scroll")?.is_some() {
        request.scroll = Some(Scroll {
            after: None,
            pinned: Vec::new(),
            keys: Vec::new(),
            now_ms: request.now_ms,
            total: None,
            query: params.written(),
            body: Value::from(body.map.clone()).to_string(),
        });
    }
    let pinned = body.take("pit").map(|pit| Pinned::of(&pit)).transpose()?;
    if pinned.is_some() && request.scroll.is_some() {
        return Err(wrong(
            "scroll",
            "using [point in time] is not allowed in a scroll context",
        ));
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
    // A filter for hits and not for aggregations is one for both where there are none.
    let post_filter = body.take("post_filter");
    let unfiltered = (post_filter.is_some() && aggs.is_some()).then_some(&query);
    request.query = match &post_filter {
        None => GivenQuery::of(&query)?,
        Some(filter) => GivenQuery::of(&json!({"bool": {"must": [query], "filter": [*filter]}}))?,
    };
    request.aggs = aggs;
    request.collapse = collapse(&mut body)?;
    request.min_score = min_score(&mut body)?;
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
    let is_hidden = settings.forced_filter.is_some();
    // By itself, `_doc` is the order in which hits are found.
    let is_stored = |sort: &Sort| {
        let is_doc = |key: &SortKeySpec| key.target == SortTarget::Doc;
        let mut keys = sort.keys.iter();
        keys.all(|key| is_doc(key) && key.order == SortOrder::Ascending)
    };
    let mut scroll = None;
    if !is_hidden && sort.as_ref().is_some_and(|sort| !is_stored(sort)) {
        scroll = request.scroll.take();
    }
    let sort = match (sort, &pinned) {
        // Where a document lies tells how many lie before it.
        (sort, _) if is_hidden => sort,
        (Some(sort), pinned) => Some(sort.told_apart(pinned.is_some() || scroll.is_some())),
        (None, Some(_)) => Some(Sort::default().told_apart(true)),
        (None, None) => None,
    };
    if let Some(after) = body.take("search_after") {
        let sort = sort.as_ref();
        let sort = sort.ok_or_else(|| wrong("search_after", "there must be a sort, too"))?;
        if request.start_offset > 0 {
            return Err(wrong("search_after", "from must be 0 or absent"));
        }
        request.search_after = sort.after(&after)?;
    }
    let is_scroll = request.scroll.is_some() || scroll.is_some();
    if is_scroll && (request.start_offset > 0 || !request.search_after.is_empty()) {
        return Err(wrong(
            "scroll",
            "this goes through all hits from the first: leave out from and search_after",
        ));
    }
    if request.scroll.is_some() && sort.as_ref().is_some_and(|sort| !is_stored(sort)) {
        return Err(wrong(
            "scroll",
            "for a token with a filter, this goes through hits as they lie in the index: sort by _doc",
        ));
    }
    if request.collapse.is_some() && (is_scroll || !request.search_after.is_empty()) {
        return Err(wrong(
            "collapse",
            "this goes with neither scroll nor search_after: use from",
        ));
    }
    let (source, fields) = shown(&mut body, params)?;
    let total_is_number = params.flag("rest_total_hits_as_int")?.unwrap_or(false);
    let track = match params.text("track_total_hits").map(str::to_owned) {
        Some(text) => Some(Value::from(text)),
        None => body.take("track_total_hits"),
    };
    let most_counted = match track.map(as_written) {
        None if total_is_number || is_scroll => Some(u64::MAX),
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
    // Of a query within the limits: the clauses are copied.
    let mut named = Named::default();
    for clause in std::iter::once(&query).chain(&post_filter) {
        named.find(clause, &settings.limits)?;
    }
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
            // Places are no values to choose by.
            Some(_) if request.collapse.is_none() => Vec::new(),
            _ => vec![SortKeySpec {
                target: SortTarget::Score,
                order: SortOrder::Descending,
                missing_first: false,
            }],
        },
        formats: Vec::new(),
    });
    request.sort = sort.keys;
    check_min_score(&request, score)?;
    request.elastic = Some(ElasticHits {
        named: named.clauses,
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
        scroll,
        pit_id: pinned.as_ref().map(|pinned| pinned.id.clone()),
    });
    request.pinned = pinned.map(|pinned| pinned.manifests).unwrap_or_default();
    let budget = budget(&mut body, params)?;
    refuse_the_rest(&mut body, params)?;
    body.finish()?;
    let aggregated = match unfiltered {
        None => None,
        Some(query) => {
            let mut aggregated = request.clone();
            aggregated.query = GivenQuery::of(query)?;
            aggregated.max_hits = 0;
            aggregated.start_offset = 0;
            aggregated.search_after.clear();
            request.aggs = None;
            Some(aggregated)
        }
    };
    let mut search = finish(request, budget, is_pretty, settings)?;
    if let Some(aggregated) = aggregated {
        // Both are carried out at once, and share the memory.
        let mut aggregated = finish(aggregated, budget, false, settings)?.question;
        for question in [&mut search.question, &mut aggregated] {
            question.limits.max_resident_bytes /= 2;
        }
        search.aggregated = Some(aggregated);
    }
    Ok(search)
}

/// See <https://www.elastic.co/docs/reference/elasticsearch/rest-apis/collapse-search-results>.
fn collapse(body: &mut Body) -> Result<Option<String>, SearchError> {
    let Some(collapse) = body.take("collapse") else {
        return Ok(None);
    };
    let keys = collapse.as_object().map(|keys| (keys.get("field"), keys));
    let Some((Some(Value::String(field)), keys)) = keys else {
        return Err(wrong("collapse", "this must be an object with a field"));
    };
    let is_known = |key: &str| matches!(key, "field" | "max_concurrent_group_searches");
    if let Some(key) = keys.keys().find(|key| !is_known(key)) {
        return Err(wrong(
            "collapse",
            format!("{key:?} is not known or not supported; there is field"),
        ));
    }
    check_name("collapse", field)?;
    Ok(Some(field.clone()))
}

fn min_score(body: &mut Body) -> Result<Option<f64>, SearchError> {
    let given = body.take("min_score");
    let score = given.map(|score| {
        let score = score.as_f64();
        score.ok_or_else(|| wrong("min_score", "this must be a number"))
    });
    score.transpose()
}

/// Refuses a least score where none is computed, unless all hits have a sufficient one anyway.
fn check_min_score(request: &SearchRequest, score: Option<f32>) -> Result<(), SearchError> {
    let Some(least) = request.min_score else {
        return Ok(());
    };
    let by_score = |key: &SortKeySpec| key.target == SortTarget::Score;
    if request.aggs.is_some() {
        return Err(wrong(
            "min_score",
            "this is not supported beside aggregations",
        ));
    }
    match request.sort.iter().any(by_score) || score.is_some_and(|score| f64::from(score) >= least)
    {
        true => Ok(()),
        false => Err(wrong(
            "min_score",
            "there are no scores: leave sort out, or sort by _score",
        )),
    }
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

/// A search that says which indexes may hold a hit.
///
/// # Errors
/// If the filter is no query.
pub(super) fn filter_request(
    filter: &Value,
    settings: &ApiSettings,
) -> Result<SearchRequest, SearchError> {
    let mut request = plain(settings)?;
    request.query = GivenQuery::of(filter)?;
    request.query.parse(request.now_ms, &settings.limits)?;
    request.max_hits = 0;
    Ok(request)
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
    Ok(Search {
        question,
        aggregated: None,
        budget,
    })
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

/// `timeout: 10s`
fn budget(body: &mut Body, params: &mut UrlParams) -> Result<Budget, SearchError> {
    let ms = match params.duration("timeout")? {
        Some(ms) => Some(ms),
        None => body.duration("timeout")?,
    };
    let Some(ms) = ms else {
        return Ok(Budget::default());
    };
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
    body.only("profile", &off, "use the explanation of the command line")?;
    body.only(
        "terminate_after",
        &[json!(0)],
        "use track_total_hits instead",
    )?;
    body.only("stats", &nothing, "searches have no groups")?;
    for (key, why) in [
        ("version", "documents have no versions"),
        ("seq_no_primary_term", "documents have no versions"),
        ("track_scores", "sort by _score to have scores"),
        ("explain", "scores are not explained"),
    ] {
        body.only(key, &off, why)?;
        if params.flag(key)? == Some(true) {
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
