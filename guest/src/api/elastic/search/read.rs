//! The body and the parameters of a search.
//!
//! See <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-search>.

use canter_aggregations::check_name;
use canter_protocol::Budget;
use serde_json::{Value, json};

use super::highlight::highlight;
use super::named::Named;
use super::order::{Order, count, counting, most_counted, order, order_by_itself, window};
use super::pit::{Pinned, read_slice};
use super::shown::{flag, hits_in_buckets, inner_hits, shown, versions};
use crate::SearchError;
use crate::api::elastic::aggs::{ByDocuments, take_forms};
use crate::api::elastic::composed::wanted::Composed;
use crate::api::elastic::given::body::{Body, as_written, query, wrong};
use crate::api::elastic::given::params::UrlParams;
use crate::api::settings::ApiSettings;
use crate::query::{QueryNode, parse_named};
use crate::request::{
    AnswerForm, AskedAggregations, ElasticHits, GivenQuery, Question, Scroll, SortKeySpec,
    SortTarget,
};

/// A search, and the budget of its host.
#[derive(Debug)]
pub(crate) struct Search {
    pub(in crate::api::elastic) question: Question,
    /// The questions of aggregations that cover other documents than the hits.
    pub(in crate::api::elastic) aggregated: Vec<Question>,
    /// The parts that need further searches.
    pub(in crate::api::elastic) composed: Composed,
    pub(in crate::api::elastic) budget: Budget,
}

impl Search {
    /// Adds the searches whose documents are aggregated, if those are others. All run at once, and share the memory.
    fn with(mut self, aggregated: Vec<Question>) -> Self {
        self.aggregated = aggregated;
        let num_questions = self.aggregated.len() as u64 + 1;
        for question in std::iter::once(&mut self.question).chain(&mut self.aggregated) {
            question.limits.max_resident_bytes /= num_questions;
        }
        self
    }
}

/// Checks that the hits of a search have scores: those of its order, or one for all.
fn check_scored(question: &Question, score: Option<f32>) -> Result<(), SearchError> {
    let mut keys = question.sort.iter();
    match score.is_some() || keys.any(|key| key.target == SortTarget::Score) {
        true => Ok(()),
        false => {
            let what = "hits that are sorted by something else have no scores: sort by _score, first or last";
            Err(wrong("track_scores", what))
        }
    }
}

/// Parses a search, and leaves other parameters in `params`.
///
/// # Errors
/// If something is unknown, of another type, or exceeds the limits.
pub(in crate::api::elastic) fn read_search(
    mut body: Body,
    params: &mut UrlParams,
    is_pretty: bool,
    settings: &ApiSettings,
) -> Result<Search, SearchError> {
    let mut question = plain(settings, is_pretty);
    question.scroll = scroll_from_first(&body, params, settings)?;
    let pinned = pinned(&mut body, question.scroll.is_some())?;
    let given = Given::read(&mut body, params)?;
    question.collapse = collapse(&mut body)?;
    question.min_score = min_score(&mut body)?;
    window(&mut body, params, &mut question)?;
    let Order { sort, scroll } = order(
        &mut body,
        params,
        &mut question,
        pinned.is_some(),
        settings.forced_filter.is_some(),
    )?;
    let (source, fields) = shown(&mut body, params)?;
    let tracks_scores = tracks_scores(&mut body, params)?;
    let total_is_number = params.flag("rest_total_hits_as_int")?.unwrap_or(false);
    let is_scroll = question.scroll.is_some() || scroll.is_some();
    let most_counted = most_counted(&mut body, params, total_is_number, is_scroll)?;
    question.track_total_hits = counting(most_counted);
    question.query = given.hits()?.parse(settings.now_ms, &settings.limits)?;
    add_slice(&mut body, &mut question, pinned.is_some() || is_scroll)?;
    let score = question.query.constant_score();
    // The query is within the limits: its clauses are copied.
    let named = given.named(settings)?;
    let shows_sort = sort.is_some();
    let sort = sort.unwrap_or_else(|| order_by_itself(&question, score));
    question.sort = sort.keys;
    if tracks_scores {
        check_scored(&question, score)?;
    }
    apply_min_score(&mut question, given.aggs.is_some(), score)?;
    question.elastic = Some(ElasticHits {
        versions: versions(&mut body, params)?,
        named: named.names(),
        source,
        shows_sort,
        date_formats: sort.formats,
        sorted_by_mapped: sort.mapped,
        score: score.filter(|_| !shows_sort || tracks_scores),
        most_counted,
        total_is_number,
        fields,
        explains: flag(&mut body, params, "explain")?,
        profiles: profiles(&mut body, settings)?,
        inner_hits: inner_hits(&named.nested, settings)?,
        highlight: highlight(&mut body, settings)?,
        has_typed_keys: params.flag("typed_keys")?.unwrap_or(false),
        scroll,
        pit_id: pinned.as_ref().map(|pinned| pinned.id.clone()),
        ..ElasticHits::default()
    });
    question.pinned = pinned.map(|pinned| pinned.manifests).unwrap_or_default();
    let budget = budget(&mut body, params)?;
    refuse_the_rest(&mut body, params)?;
    body.finish()?;
    let aggregated = given.aggregated(&question, settings)?;
    let aggs = given.aggs.filter(|_| aggregated.is_empty());
    let mut search = finish(question, aggs, budget, settings)?;
    search.question.named = parse_named(&named.clauses, settings.now_ms, &settings.limits)?;
    Ok(search.with(aggregated))
}

/// Takes whether hits have scores, too, where something else sorts them.
fn tracks_scores(body: &mut Body, params: &mut UrlParams) -> Result<bool, SearchError> {
    let given = params.flag("track_scores")?.map(Value::Bool);
    match given.or_else(|| body.take("track_scores")).map(as_written) {
        None => Ok(false),
        Some(Value::Bool(tracks)) => Ok(tracks),
        Some(_) => Err(wrong("track_scores", "this must be true or false")),
    }
}

/// Takes the point in time to search, if there is one.
fn pinned(body: &mut Body, is_scroll: bool) -> Result<Option<Pinned>, SearchError> {
    let pinned = body.take("pit").map(|pit| Pinned::of(&pit)).transpose()?;
    match pinned.is_some() && is_scroll {
        true => Err(wrong(
            "scroll",
            "using [point in time] is not allowed in a scroll context",
        )),
        false => Ok(pinned),
    }
}

/// Returns the scroll that a search begins, if it does.
fn scroll_from_first(
    body: &Body,
    params: &mut UrlParams,
    settings: &ApiSettings,
) -> Result<Option<Scroll>, SearchError> {
    Ok(params.duration("scroll")?.map(|_| Scroll {
        after: None,
        pinned: Vec::new(),
        keys: Vec::new(),
        now_ms: settings.now_ms,
        total: None,
        page: 0,
        begun_us: 0,
        query: params.written(),
        body: Value::from(body.map.clone()).to_string(),
    }))
}

/// Takes the field to collapse by. See
/// <https://www.elastic.co/docs/reference/elasticsearch/rest-apis/collapse-search-results>.
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

/// Finds nothing if all hits have one score, and that is too low. Refuses a minimum score where scores are not computed.
fn apply_min_score(
    question: &mut Question,
    has_aggregations: bool,
    score: Option<f32>,
) -> Result<(), SearchError> {
    let Some(least) = question.min_score else {
        return Ok(());
    };
    let is_enough = score.map(|score| f64::from(score) >= least);
    if is_enough == Some(true) {
        question.min_score = None;
        return Ok(());
    }
    if has_aggregations {
        return Err(wrong(
            "min_score",
            "this is not supported beside aggregations",
        ));
    }
    if is_enough == Some(false) {
        question.min_score = None;
        question.query = QueryNode::Nothing;
        return Ok(());
    }
    let by_score = |key: &SortKeySpec| key.target == SortTarget::Score;
    match question.sort.iter().any(by_score) {
        true => Ok(()),
        false => Err(wrong(
            "min_score",
            "there are no scores: leave sort out, or sort by _score",
        )),
    }
}

/// Parses a request to `_count`.
///
/// # Errors
/// As [`read_search`].
pub(in crate::api::elastic) fn read_count(
    mut body: Body,
    params: &mut UrlParams,
    is_pretty: bool,
    settings: &ApiSettings,
) -> Result<Search, SearchError> {
    let mut question = plain(settings, is_pretty);
    let query = GivenQuery::of(&query(&mut body, params)?)?;
    question.query = query.parse(settings.now_ms, &settings.limits)?;
    body.finish()?;
    question.max_hits = 0;
    question.elastic = Some(ElasticHits {
        is_count: true,
        ..ElasticHits::default()
    });
    finish(question, None, Budget::default(), settings)
}

/// Returns a search that finds the indexes that may hold a hit.
///
/// # Errors
/// If the filter is not a valid query.
pub(in crate::api::elastic) fn filter_question(
    filter: &Value,
    settings: &ApiSettings,
) -> Result<Question, SearchError> {
    let query = GivenQuery::of(filter)?;
    Ok(Question {
        query: query.parse(settings.now_ms, &settings.limits)?,
        max_hits: 0,
        ..plain(settings, false)
    })
}

/// Returns a question that matches everything.
fn plain(settings: &ApiSettings, is_pretty: bool) -> Question {
    let forced_filter = settings.forced_filter.clone();
    Question::of_all(forced_filter, settings.limits.clone(), http_form(is_pretty))
}

fn http_form(is_pretty: bool) -> AnswerForm {
    AnswerForm {
        is_pretty,
        ..AnswerForm::default()
    }
}

/// Checks everything that can be checked without an index, and parses the aggregations.
fn finish(
    mut question: Question,
    aggs: Option<Value>,
    budget: Budget,
    settings: &ApiSettings,
) -> Result<Search, SearchError> {
    question.check()?;
    let (now_ms, limits) = (settings.now_ms, &settings.limits);
    let mut aggs = aggs;
    if let Some(aggs) = &mut aggs {
        let score = question.query.constant_score();
        let shown = question.elastic.as_ref();
        let forms = take_forms(aggs, &|body| hits_in_buckets(body, shown, score, settings))?;
        if let Some(shown) = &mut question.elastic {
            shown.in_buckets = forms;
        }
    }
    let aggregations =
        aggs.map(|aggs| AskedAggregations::read(aggs, now_ms, question.is_filtered(), limits));
    question.aggregations = aggregations.transpose()?.flatten();
    Ok(Search {
        question,
        aggregated: Vec::new(),
        composed: Composed::default(),
        budget,
    })
}

/// The queries of a request, unparsed.
struct Given {
    query: Value,
    /// A filter for hits but not for aggregations.
    post_filter: Option<Value>,
    aggs: Option<Value>,
    /// The documents that `global` covers, if not all: a host says so of an alias with a filter.
    global: Option<Value>,
}

impl Given {
    fn read(body: &mut Body, params: &mut UrlParams) -> Result<Self, SearchError> {
        let query = query(body, params)?;
        let aggs = match (body.take("aggs"), body.take("aggregations")) {
            (Some(_), Some(_)) => {
                return Err(wrong(
                    "aggs",
                    "aggs and aggregations are the same: give one",
                ));
            }
            (aggs, others) => aggs.or(others),
        };
        Ok(Self {
            query,
            post_filter: body.take("post_filter"),
            aggs,
            global: body.take("_global_query"),
        })
    }

    /// Returns the query that hits match.
    fn hits(&self) -> Result<GivenQuery, SearchError> {
        match &self.post_filter {
            None => GivenQuery::of(&self.query),
            Some(filter) => {
                let query = &self.query;
                GivenQuery::of(&json!({"bool": {"must": [query], "filter": [filter]}}))
            }
        }
    }

    /// Returns the named clauses.
    fn named(&self, settings: &ApiSettings) -> Result<Named, SearchError> {
        let mut named = Named::default();
        for clause in std::iter::once(&self.query).chain(&self.post_filter) {
            named.find(clause, &settings.limits)?;
        }
        Ok(named)
    }

    /// Returns the questions of aggregations that cover other documents than the hits: a filter is for the hits alone, or
    /// some cover all documents.
    fn aggregated(
        &self,
        question: &Question,
        settings: &ApiSettings,
    ) -> Result<Vec<Question>, SearchError> {
        let Some(aggs) = &self.aggs else {
            return Ok(Vec::new());
        };
        let ByDocuments { of_query, global } = ByDocuments::of(aggs);
        if self.post_filter.is_none() && global.is_empty() {
            return Ok(Vec::new());
        }
        let all = json!({"match_all": {}});
        let everything = self.global.as_ref().unwrap_or(&all);
        let parts = [(&self.query, of_query), (everything, global)];
        let parts = parts.into_iter().filter(|(_, aggs)| !aggs.is_empty());
        let questions = parts.map(|(query, aggs)| {
            let query = GivenQuery::of(query)?;
            let mut aggregated = Question {
                query: query.parse(settings.now_ms, &settings.limits)?,
                max_hits: 0,
                start_offset: 0,
                search_after: Vec::new(),
                form: http_form(false),
                ..question.clone()
            };
            if let Some(shown) = &mut aggregated.elastic {
                shown.profiles = false;
            }
            let aggs = Value::Object(aggs);
            let search = finish(aggregated, Some(aggs), Budget::default(), settings)?;
            Ok(search.question)
        });
        questions.collect()
    }
}

/// Takes the slice of the hits that is wanted, if the documents are fixed.
fn add_slice(body: &mut Body, question: &mut Question, is_fixed: bool) -> Result<(), SearchError> {
    if let Some(slice) = body.take("slice") {
        let slice = read_slice(&slice, is_fixed)?;
        let query = std::mem::replace(&mut question.query, QueryNode::All);
        question.query = query.and_filter(slice);
    }
    Ok(())
}

/// Takes whether the answer tells how the search was carried out.
fn profiles(body: &mut Body, settings: &ApiSettings) -> Result<bool, SearchError> {
    match body.take("profile").map(as_written) {
        None | Some(Value::Bool(false)) => Ok(false),
        Some(Value::Bool(true)) if settings.forced_filter.is_none() => Ok(true),
        Some(Value::Bool(true)) => Err(wrong(
            "profile",
            "a token with a filter may not have this: it would tell of documents that may not be searched",
        )),
        Some(_) => Err(wrong("profile", "this must be true or false")),
    }
}

/// Takes the time limit: `timeout: 10s`.
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

/// Refuses unsupported keys unless their value has no effect.
fn refuse_the_rest(body: &mut Body, params: &mut UrlParams) -> Result<(), SearchError> {
    let nothing = [json!({}), json!([])];
    body.only("script_fields", &nothing, "scripts are not supported")?;
    body.only(
        "runtime_mappings",
        &nothing,
        "fields at search time are not supported",
    )?;
    // A search that ends later counts more hits, and finds the same.
    count(body, params, "terminate_after")?;
    // Names of groups whose searches are counted together change no answer.
    match body.take("stats") {
        None | Some(Value::String(_) | Value::Null | Value::Array(_)) => Ok(()),
        Some(_) => Err(wrong("stats", "this must be a list of names")),
    }
}
