//! What a search asks for: the request as JSON (Quickwit's names), and its limits.

mod asked_indexes;
mod bounds;
mod counting;
mod elastic;
mod filter;
mod given_query;
mod scroll;
mod sort;
mod sort_value;

pub(crate) use asked_indexes::AskedIndexes;
pub(crate) use counting::Counting;
pub(crate) use elastic::{DateFormat, ElasticHits, Highlight, Marks, NamedField, SourceFilter};
pub(crate) use filter::{parse_filter, read_filters};
pub(crate) use given_query::GivenQuery;
pub(crate) use scroll::{Scroll, SealedPlace};
pub(crate) use sort::{MAX_SORT_KEYS, SortKeySpec, SortOrder, SortTarget};
pub(crate) use sort_value::SortValue;

use sort::parse_sort_by;

use canter_aggregations::{Aggregations, Bounds, check_name, resolve_now};
use canter_names::read_json;
use serde::{Deserialize, Serialize};

use self::bounds::MAX_FIELDS;
use crate::SearchError;
use crate::limits::{Limits, TimeFilter};
use crate::query::{Factor, QueryNode, parse_named, without_time};

/// The name of an index, and the hash of its manifest.
pub(crate) type PinnedManifest = (String, String);

/// A search as it comes in. Unknown keys are refused by name.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchRequest {
    /// The query string (`*` matches everything), or a query of Elasticsearch's query DSL.
    #[serde(default)]
    pub(crate) query: GivenQuery,
    /// Fields for words that name none; the index config's default search fields if absent.
    #[serde(default, alias = "search_fields", deserialize_with = "one_or_many")]
    pub(crate) search_field: Vec<String>,
    /// Elasticsearch aggregations.
    #[serde(default, alias = "aggregations")]
    pub(crate) aggs: Option<serde_json::Value>,
    /// How many hits to return.
    #[serde(default = "default_max_hits")]
    pub(crate) max_hits: u64,
    /// How many hits to skip before those.
    #[serde(default)]
    pub(crate) start_offset: u64,
    /// Fields, `_score` or `_doc`, comma-separated; `-` in front means ascending.
    #[serde(default, alias = "sort_by_field")]
    pub(crate) sort_by: Option<String>,
    /// The same as keys. The API does not know it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sort: Vec<SortKeySpec>,
    /// The sort values behind which hits are wanted, one for each key. The API does not know it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) search_after: Vec<SortValue>,
    /// All hits page by page. The API does not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scroll: Option<Scroll>,
    /// What an answer in Elasticsearch's form shows of hits. The API does not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) elastic: Option<ElasticHits>,
    /// Seconds since 1970, included.
    #[serde(default)]
    pub(crate) start_timestamp: Option<i64>,
    /// Seconds since 1970, excluded.
    #[serde(default)]
    pub(crate) end_timestamp: Option<i64>,
    /// How many hits are counted.
    #[serde(default, alias = "count_all", skip_serializing_if = "Counting::is_all")]
    pub(crate) track_total_hits: Counting,
    /// Fields of which hits show the passages that match, besides the documents themselves.
    #[serde(default, deserialize_with = "one_or_many")]
    pub(crate) snippet_fields: Vec<String>,
    /// Queries that every hit must match besides, whatever the other asks for: what a caller may see. One stands for itself,
    /// and several in a list.
    #[serde(default, deserialize_with = "read_filters")]
    pub(crate) forced_filter: Option<Vec<String>>,
    /// Only says what the search would look at, and why.
    #[serde(default)]
    pub(crate) explain: bool,
    /// Lists the ids of all documents that match, split by split: what a deletion goes by. The API does not know it.
    #[serde(default)]
    pub(crate) list_documents: bool,
    /// By which name the index goes, where its host knows it by none. The API does not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) index_name: Option<String>,
    /// The time filter that clauses of the query are, which are none of the query then. The API does not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) time_bounds: Option<TimeBounds>,
    /// Of hits with the same value in this field only the first is wanted. The API does not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) collapse: Option<String>,
    /// Hits with a lower score are none. The API does not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) min_score: Option<f64>,
    /// The manifests that are searched instead of the newest. The API does not know it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) pinned: Vec<PinnedManifest>,
    /// Hits of several indexes, whose times are different fields or none, are compared by their values alone. The API
    /// does not know it.
    #[serde(default)]
    pub(crate) mixes_times: bool,
    /// What `now` is in dates: milliseconds since 1970. A host gives its clock's time where the request has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) now_ms: Option<i64>,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AnswerForm {
    /// As an HTTP response; otherwise as the bare JSON object.
    pub(crate) is_http: bool,
    /// With the guest's account of its own work.
    pub(crate) has_profile: bool,
    /// With line breaks and indentation.
    pub(crate) is_pretty: bool,
}

impl AnswerForm {
    /// For a host that takes the answer apart.
    pub(crate) const BARE: Self = Self {
        is_http: false,
        has_profile: true,
        is_pretty: false,
    };
}

/// A search, what it may use, and how its answer is written.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) request: SearchRequest,
    pub(crate) limits: Limits,
    pub(crate) form: AnswerForm,
}

fn default_max_hits() -> u64 {
    20
}

/// `"a,b"`, `["a", "b"]` or nothing.
fn one_or_many<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let texts = match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::String(fields) => {
            let fields = fields.split(',').map(str::trim);
            return Ok(fields
                .filter(|field| !field.is_empty())
                .map(str::to_owned)
                .collect());
        }
        json => texts(json),
    };
    texts.ok_or_else(|| {
        serde::de::Error::custom(
            "fields must be a text with commas between them, or a list of texts",
        )
    })
}

/// The texts of a list; nothing is an empty one.
fn texts(json: serde_json::Value) -> Option<Vec<String>> {
    use serde_json::Value;
    match json {
        Value::Null => Some(Vec::new()),
        Value::Array(list) => {
            let texts = list.into_iter().map(|text| match text {
                Value::String(text) => Some(text),
                _ => None,
            });
            texts.collect()
        }
        _ => None,
    }
}

impl SearchRequest {
    /// Reads a request and checks it against the limits.
    ///
    /// # Errors
    /// If it is no request, has a key twice, or asks for more than the limits allow.
    pub(crate) fn parse(json: &str, limits: &Limits) -> Result<Self, SearchError> {
        const WHAT: &str = "search request";
        // What is read by types has each key once already, but for what may be any JSON in it.
        read_json(json.as_bytes()).map_err(|error| SearchError::invalid(error.of(WHAT)))?;
        let mut request: Self = serde_json::from_str(json)
            .map_err(|error| SearchError::invalid(format!("{WHAT}: {error}")))?;
        request.resolve_now()?;
        request.check(limits)?;
        Ok(request)
    }

    /// Replaces `now` by the time it stands for, if that is known.
    ///
    /// # Errors
    /// If what follows a `now` is no date arithmetic.
    pub(crate) fn resolve_now(&mut self) -> Result<(), SearchError> {
        if let (Some(now_ms), Some(aggregations)) = (self.now_ms, &mut self.aggs) {
            resolve_now(aggregations, now_ms)?;
        }
        Ok(())
    }

    /// The scroll of which this asks for a page.
    pub(crate) fn scroll(&self) -> Option<&Scroll> {
        let shown = self.elastic.as_ref();
        let other = shown.and_then(|shown| shown.scroll.as_ref());
        self.scroll.as_ref().or(other)
    }

    /// Says of which manifests the pages of the scroll are that begins with this one.
    pub(crate) fn pin_scroll(&mut self, pinned: Vec<PinnedManifest>) {
        let shown = self.elastic.as_mut();
        let other = shown.and_then(|shown| shown.scroll.as_mut());
        if let Some(scroll) = self.scroll.as_mut().or(other) {
            scroll.pinned = pinned;
        }
    }

    /// Checks what can be checked without looking at an index.
    ///
    /// # Errors
    /// If it asks for more than the limits allow, or contradicts itself.
    pub(crate) fn check(&self, limits: &Limits) -> Result<(), SearchError> {
        let request = self;
        let window = request.start_offset.saturating_add(request.max_hits);
        if window > limits.max_hits {
            let what = match &request.elastic {
                Some(_) => "from + size",
                None => "start_offset + max_hits",
            };
            return Err(SearchError::new(
                crate::ErrorKind::Limit,
                format!(
                    "{what} is {window}, more than the limit of {}: ask for less, \
                     narrow the query by time, or raise the limit max_hits",
                    limits.max_hits
                ),
            ));
        }
        if let (Some(start), Some(end)) = (request.start_timestamp, request.end_timestamp)
            && start > end
        {
            return Err(SearchError::invalid(format!(
                "start_timestamp {start} is later than end_timestamp {end}"
            )));
        }
        for (what, names) in [
            ("search_field", &self.search_field),
            ("snippet_fields", &self.snippet_fields),
        ] {
            if names.len() > MAX_FIELDS {
                return Err(SearchError::new(
                    crate::ErrorKind::Limit,
                    format!("{what}: at most {MAX_FIELDS} fields are allowed"),
                ));
            }
            for name in names {
                check_name(what, name)?;
            }
        }
        for key in self.sort_keys()? {
            if let SortTarget::Field(name) = &key.target {
                check_name("sort_by", name)?;
            }
        }
        if self.explain && self.forced_filter.is_some() {
            return Err(SearchError::invalid(
                "explain is not allowed with a forced_filter: it would tell of documents that may not be \
                 searched",
            ));
        }
        let wants_more = self.window() > 0 || self.given_aggregations().is_some() || self.explain;
        if self.list_documents && wants_more {
            return Err(SearchError::invalid(
                "list_documents goes with neither hits, aggregations nor explain: set max_hits to 0 and leave the \
                 others out",
            ));
        }
        self.named_clauses(limits)?;
        if let Some(aggregations) = self.aggregations(limits)? {
            for filter in aggregations.filters() {
                self.parsed_filter(&filter.query, limits)
                    .map_err(|error| error.at(&filter.path))?;
            }
        }
        Ok(())
    }

    /// The aggregations as they stand in the request, if there are any.
    fn given_aggregations(&self) -> Option<&serde_json::Value> {
        self.aggs.as_ref().filter(|json| {
            let is_empty = json.as_object().is_some_and(serde_json::Map::is_empty);
            !is_empty && !json.is_null()
        })
    }

    /// The query, with the forced filter if there is one.
    ///
    /// # Errors
    /// If either is too long or not in the query language, or if the filter does not name its fields.
    pub(crate) fn parsed_query(&self, limits: &Limits) -> Result<QueryNode, SearchError> {
        let query = self.checked(self.query.parse(self.now_ms, limits)?)?;
        let query = match &self.time_bounds {
            Some(bounds) => without_time(query, &bounds.field),
            None => query,
        };
        let Some(filters) = &self.forced_filter else {
            return Ok(query);
        };
        let mut all = Vec::with_capacity(filters.len() + 1);
        for filter in filters {
            // Each is read by itself: as one text, one could end the other. It decides what may be found, and not what is
            // relevant.
            let filter = parse_filter(filter, limits)?;
            all.push(QueryNode::Constant(Box::new(filter), Factor(0.0)));
        }
        all.push(query);
        Ok(QueryNode::all_of(all))
    }

    /// The clauses of which hits say whether they match.
    ///
    /// # Errors
    /// As [`Self::parsed_query`].
    pub(crate) fn named_clauses(&self, limits: &Limits) -> Result<Vec<QueryNode>, SearchError> {
        let shown = self.elastic.as_ref();
        let named = shown.map(|shown| shown.named.as_slice());
        parse_named(named.unwrap_or_default(), self.now_ms, limits)
    }

    /// A query that an aggregation is of.
    ///
    /// # Errors
    /// As [`Self::parsed_query`].
    pub(crate) fn parsed_filter(
        &self,
        filter: &serde_json::Value,
        limits: &Limits,
    ) -> Result<QueryNode, SearchError> {
        self.checked(GivenQuery::of(filter)?.parse(self.now_ms, limits)?)
    }

    /// A query, unless a caller who may see some documents only would learn by it where these lie among the others.
    fn checked(&self, query: QueryNode) -> Result<QueryNode, SearchError> {
        match self.forced_filter.is_some() && query.asks_for_ids() {
            true => Err(SearchError::invalid(
                "a token with a filter cannot search by _id: search by a field of the documents",
            )),
            false => Ok(query),
        }
    }

    /// The order in which hits are wanted; nothing stands for the order that the index has by itself.
    ///
    /// # Errors
    /// If there are too many keys or a key has no name.
    pub(crate) fn sort_keys(&self) -> Result<Vec<SortKeySpec>, SearchError> {
        match self.sort.is_empty() {
            true => parse_sort_by(self.sort_by.as_deref().unwrap_or_default()),
            false => Ok(self.sort.clone()),
        }
    }

    /// The number of hits that is enough, if the search may stop there: where it wants the first hits and nothing else.
    pub(crate) fn enough_hits(&self) -> Option<u64> {
        match self.track_total_hits {
            Counting::UpTo(most) if self.window() > 0 && self.given_aggregations().is_none() => {
                Some(most)
            }
            _ => None,
        }
    }

    /// How many hits each split must give: those returned and those skipped.
    pub(crate) fn window(&self) -> usize {
        usize::try_from(self.start_offset.saturating_add(self.max_hits)).unwrap_or(usize::MAX)
    }

    /// The aggregations, if any.
    ///
    /// # Errors
    /// If they are not Elasticsearch aggregations that the engine knows.
    pub(crate) fn aggregations(
        &self,
        limits: &Limits,
    ) -> Result<Option<Aggregations>, SearchError> {
        let bounds = Bounds {
            max_buckets: limits.max_buckets,
            max_bytes: limits.max_aggregation_bytes,
            is_filtered: self.forced_filter.is_some(),
        };
        let parsed = self
            .given_aggregations()
            .map(|json| Aggregations::parse(json, bounds));
        Ok(parsed.transpose()?)
    }

    /// The time filter in nanoseconds: start included, end excluded.
    pub(crate) fn time_filter(&self) -> TimeFilter {
        let of_seconds = TimeFilter::of_seconds(self.start_timestamp, self.end_timestamp);
        let bounds = self.time_bounds.as_ref();
        of_seconds.and(bounds.map(|bounds| bounds.filter).unwrap_or_default())
    }
}

/// A time filter that clauses of a query over a field are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TimeBounds {
    /// The timestamp field.
    pub(crate) field: String,
    pub(crate) filter: TimeFilter,
}
