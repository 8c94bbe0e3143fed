//! Parsing of requests into calls.

use std::borrow::Cow;

use canter_protocol::HttpRequest;
use serde_json::{Value, json};

use super::about::cluster;
use super::about::fields::WantedCaps;
use super::about::table::Table;
use super::body::{Body, checked_names, query};
use super::call::{ElasticCall, Which};
use super::documents::{Form, WantedDocuments};
use super::errors::{Stage, elastic_response, elastic_text, error_response};
use super::names::{found, no_index};
use super::params::{Common, UrlParams};
use super::routes::{Route, route_of};
use super::search::many::read_many;
use super::search::of_indexes::read_search_of;
use super::search::read::{filter_question, read_count};
use super::search::scroll::next_page;
use crate::SearchError;
use crate::api::params::typed;
use crate::api::settings::ApiSettings;
use crate::limits::TimeFilter;
use crate::request::AskedIndexes;

/// Parses a request; `None` if its path is not one of Elasticsearch's.
pub(in crate::api) fn read_elastic(
    request: &HttpRequest,
    segments: &[&str],
    settings: &ApiSettings,
) -> Option<ElasticCall> {
    let (segments, is_under_prefix) = match segments {
        ["api", "v1", "_elastic", rest @ ..] => (rest, true),
        segments => (segments, false),
    };
    let Some((route, methods)) = route_of(segments, &settings.indexes) else {
        if let [index] = segments
            && !index.starts_with('_')
        {
            let error = no_index(index);
            return Some(ElasticCall::Answered(error_response(
                &error,
                Stage::Reading,
                false,
            )));
        }
        let mut first = segments.iter().take(2);
        let is_elastic = first.any(|name| name.starts_with('_'));
        return (is_under_prefix || is_elastic).then(|| {
            let message = format!(
                "no handler found for uri [{}] and method [{}]",
                request.path, request.method
            );
            ElasticCall::Answered(elastic_response(400, &json!({"error": message})))
        });
    };
    if !methods.contains(&request.method.as_str()) {
        let allowed = methods.join(", ");
        let message = format!(
            "Incorrect HTTP method for uri [{}] and method [{}], allowed: [{allowed}]",
            request.path, request.method
        );
        let body = json!({"error": message, "status": 405});
        let mut response = elastic_response(405, &body);
        response.headers.push(("allow".to_owned(), allowed));
        return Some(ElasticCall::Answered(response));
    }
    let call = read(request, &route, settings);
    Some(call.unwrap_or_else(|error| {
        ElasticCall::Answered(error_response(&error, Stage::Reading, false))
    }))
}

/// Returns the request with the body that a parameter contains, if it has none itself.
fn with_source<'r>(
    request: &'r HttpRequest,
    params: &mut UrlParams,
) -> Result<Cow<'r, HttpRequest>, SearchError> {
    let source = params.take_body()?.filter(|_| request.body.is_empty());
    Ok(match source {
        None => Cow::Borrowed(request),
        Some(source) => Cow::Owned(HttpRequest {
            body: source.into_bytes(),
            ..request.clone()
        }),
    })
}

fn read(
    request: &HttpRequest,
    route: &Route<'_>,
    settings: &ApiSettings,
) -> Result<ElasticCall, SearchError> {
    let mut params = UrlParams::of(&request.query)?;
    let request = &*with_source(request, &mut params)?;
    let common = params.common()?;
    let mut reader = Reader {
        request,
        settings,
        params,
        common,
    };
    let call = match *route {
        Route::Info => answered(cluster::info()),
        Route::ClusterHealth => reader.cluster_health()?,
        Route::Nodes => {
            reader.ignore(&["flat_settings"]);
            answered(cluster::nodes())
        }
        Route::License => {
            reader.ignore(&["accept_enterprise", "human"]);
            answered(cluster::license())
        }
        Route::Search(names) => match reader.search(names)? {
            Some(call) => call,
            None => return Ok(ElasticCall::nothing(false)),
        },
        Route::Scroll(id) => reader.scroll(id)?,
        Route::PointInTime(names) => reader.point_in_time(names)?,
        Route::EndOfPointInTime => reader.end_of_point_in_time()?,
        Route::Count(names) => match reader.count(names)? {
            Some(call) => call,
            None => return Ok(ElasticCall::nothing(true)),
        },
        Route::Validate(names) => reader.validate(names)?,
        Route::ManySearches(index) => reader.many_searches(index)?,
        Route::FieldCaps(names) => reader.field_caps(names)?,
        Route::Mapping(names, field) => {
            reader.params.flag("include_defaults")?;
            ElasticCall::Mapping {
                which: reader.which(names)?,
                field: field.map(str::to_owned),
            }
        }
        Route::Index(names) => reader.index(names)?,
        Route::CatIndices(names) => {
            reader.ignore(&["time", "pri", "include_unloaded_segments"]);
            ElasticCall::CatIndices {
                which: reader.which(names)?,
                table: Table::of_indices(&mut reader.params)?,
            }
        }
        Route::CatHealth => {
            reader.ignore(&["ts", "time"]);
            ElasticCall::Answered(Table::of_health(&mut reader.params)?)
        }
        Route::Stats(names) => {
            reader.ignore(&["level", "metric", "fields"]);
            ElasticCall::Stats(reader.which(names)?)
        }
        Route::Document(index, id) => reader.document(index, id, Form::Whole)?,
        Route::Source(index, id) => reader.document(index, id, Form::Source)?,
        Route::ManyDocuments(index) => reader.many_documents(index)?,
        Route::Resolve(names) => ElasticCall::Resolve(reader.which(names)?),
    };
    reader.params.finish()?;
    Ok(call.filtered(reader.common.filter_path))
}

/// Returns an answer that is known already.
fn answered(text: String) -> ElasticCall {
    ElasticCall::Answered(elastic_text(200, text))
}

/// Parser of one request.
struct Reader<'r> {
    request: &'r HttpRequest,
    settings: &'r ApiSettings,
    params: UrlParams,
    common: Common,
}

impl Reader<'_> {
    /// Takes parameters that have no effect here.
    fn ignore(&mut self, names: &[&'static str]) {
        for name in names {
            self.params.text(name);
        }
    }

    /// Returns the indexes with these names.
    fn found(&self, names: &str) -> Result<AskedIndexes, SearchError> {
        found(names, self.settings, &self.common)
    }

    fn which(&self, names: &str) -> Result<Which, SearchError> {
        Ok(Which {
            indexes: self.found(names)?,
            is_pretty: self.common.is_pretty,
        })
    }

    fn body(&self) -> Result<Body, SearchError> {
        Body::parse(&self.request.body)
    }

    /// Reads a request for one document by its id.
    fn document(&mut self, index: &str, id: &str, form: Form) -> Result<ElasticCall, SearchError> {
        // Documents are found once they are published, as by searches.
        self.params.flag("realtime")?;
        self.params.flag("refresh")?;
        let Self {
            settings,
            params,
            common,
            ..
        } = self;
        let wanted = WantedDocuments::one(index, id, form, params, common, settings)?;
        Ok(ElasticCall::Documents(Box::new(wanted)))
    }

    fn many_documents(&mut self, index: Option<&str>) -> Result<ElasticCall, SearchError> {
        self.params.flag("realtime")?;
        self.params.flag("refresh")?;
        let body = self.body()?;
        let Self {
            settings,
            params,
            common,
            ..
        } = self;
        let wanted = WantedDocuments::many(index, body, params, common, settings)?;
        Ok(ElasticCall::Documents(Box::new(wanted)))
    }

    fn index(&mut self, names: &str) -> Result<ElasticCall, SearchError> {
        for name in ["include_defaults", "flat_settings"] {
            self.params.flag(name)?;
        }
        self.ignore(&["features"]);
        Ok(ElasticCall::Index(self.which(names)?))
    }

    fn cluster_health(&mut self) -> Result<ElasticCall, SearchError> {
        // The health is always the best possible.
        self.ignore(&[
            "wait_for_active_shards",
            "wait_for_events",
            "wait_for_no_initializing_shards",
            "wait_for_no_relocating_shards",
            "wait_for_nodes",
            "timeout",
            "level",
        ]);
        let colours = ["green", "yellow", "red"];
        self.params.choice("wait_for_status", &colours)?;
        Ok(answered(cluster::health(self.settings.indexes.len())))
    }

    /// Parses a search; `None` if it has no index.
    fn search(&mut self, names: &str) -> Result<Option<ElasticCall>, SearchError> {
        let body = &self.request.body;
        let search = read_search_of(names, body, &mut self.params, &self.common, self.settings)?;
        Ok(search.map(|(indexes, search)| ElasticCall::search(indexes, search)))
    }

    fn scroll(&mut self, id: Option<&str>) -> Result<ElasticCall, SearchError> {
        self.params.duration("scroll")?;
        let total_is_number = self.params.flag("rest_total_hits_as_int")?.unwrap_or(false);
        let of_url = self.params.text("scroll_id").map(str::to_owned);
        let mut body = self.body()?;
        body.duration("scroll")?;
        let of_body = body.take("scroll_id");
        body.finish()?;
        if self.request.method == "DELETE" {
            // The host's cache evicts its manifest.
            return Ok(freed());
        }
        let id = id.map(str::to_owned).or(of_url);
        let id = id.or_else(|| of_body?.as_str().map(str::to_owned));
        let id = id.ok_or_else(|| SearchError::invalid("scroll_id is missing"))?;
        let (indexes, mut search) = next_page(&id, self.common.is_pretty, self.settings)?;
        if let Some(shown) = &mut search.question.elastic {
            // This page's request decides, whatever the first one said.
            shown.total_is_number = total_is_number;
        }
        Ok(ElasticCall::search(indexes, search))
    }

    fn point_in_time(&mut self, names: &str) -> Result<ElasticCall, SearchError> {
        let keep_alive = self.params.duration("keep_alive")?;
        keep_alive.ok_or_else(|| SearchError::invalid("keep_alive is missing"))?;
        if !self.request.body.is_empty() {
            let mut body = self.body()?;
            body.refuse("index_filter", "this is not supported for points in time")?;
            body.finish()?;
        }
        if self.settings.forced_filter.is_some() {
            return Err(SearchError::invalid(
                "a token with a filter has no points in time, since their hits tell where documents lie: use \
                 search_after without one, or a scroll",
            ));
        }
        let which = self.which(names)?;
        match which.indexes.is_empty() {
            true => Err(no_index(names)),
            false => Ok(ElasticCall::PointInTime(which)),
        }
    }

    fn end_of_point_in_time(&mut self) -> Result<ElasticCall, SearchError> {
        let mut body = self.body()?;
        body.take("id");
        body.finish()?;
        // The host's cache evicts it.
        Ok(freed())
    }

    /// Parses a count; `None` if it has no index.
    fn count(&mut self, names: &str) -> Result<Option<ElasticCall>, SearchError> {
        let indexes = self.found(names)?;
        if indexes.is_empty() {
            return Ok(None);
        }
        let body = self.body()?;
        let is_pretty = self.common.is_pretty;
        let search = read_count(body, &mut self.params, is_pretty, self.settings)?;
        Ok(Some(ElasticCall::search(indexes, search)))
    }

    fn validate(&mut self, names: &str) -> Result<ElasticCall, SearchError> {
        let indexes = self.found(names)?;
        if indexes.is_empty() {
            return Err(no_index(names));
        }
        let mut body = self.body()?;
        for name in ["explain", "rewrite", "all_shards"] {
            self.params.flag(name)?;
        }
        let query = query(&mut body, &mut self.params)?;
        body.finish()?;
        Ok(ElasticCall::Validate {
            indexes,
            question: filter_question(&query, self.settings).map(Box::new),
        })
    }

    fn many_searches(&mut self, index: Option<&str>) -> Result<ElasticCall, SearchError> {
        self.params.count("max_concurrent_searches")?;
        // Each search reads them, too.
        for name in ["rest_total_hits_as_int", "typed_keys"] {
            self.params.flag(name)?;
        }
        Ok(ElasticCall::Many {
            searches: read_many(self.request, index, &self.params, self.settings)?,
            is_pretty: self.common.is_pretty,
        })
    }

    fn field_caps(&mut self, names: &str) -> Result<ElasticCall, SearchError> {
        let mut body = self.body()?;
        let fields = match (self.params.names("fields"), body.take("fields")) {
            (Some(fields), _) => fields,
            (None, Some(Value::String(fields))) => fields
                .split(',')
                .map(|name| name.trim().to_owned())
                .collect(),
            (None, Some(fields)) => typed(&fields)
                .map_err(|_| SearchError::invalid("fields: this must be a list of names"))?,
            (None, None) => vec!["*".to_owned()],
        };
        checked_names("fields", &fields)?;
        self.params.flag("include_empty_fields")?;
        let wanted = wanted_caps(&mut self.params)?;
        let filter = body.take("index_filter");
        let filter = filter.map(|filter| filter_question(&filter, self.settings));
        let filter = filter.transpose()?.map(Box::new);
        body.finish()?;
        Ok(ElasticCall::FieldCaps {
            which: self.which(names)?,
            fields,
            wanted,
            filter,
        })
    }
}

/// Returns the answer to a request that ends a scroll or a point in time.
fn freed() -> ElasticCall {
    let freed = json!({"succeeded": true, "num_freed": 1});
    ElasticCall::Answered(elastic_response(200, &freed))
}

/// Returns the contents of `_field_caps`, with the time filter of Quickwit's API.
fn wanted_caps(params: &mut UrlParams) -> Result<WantedCaps, SearchError> {
    if let Some(filters) = params.names("filters")
        && let Some(other) = filters
            .iter()
            .find(|name| !matches!(name.as_str(), "-metadata" | "-nested" | "-parent"))
    {
        return Err(SearchError::invalid(format!(
            "filters: {other:?} is not supported; there are -metadata, -nested and -parent"
        )));
    }
    let mut seconds = |name: &'static str| match params.text(name).map(str::parse::<i64>) {
        None => Ok(None),
        Some(Ok(seconds)) => Ok(Some(seconds)),
        Some(Err(_)) => Err(SearchError::invalid(format!(
            "{name}: this must be a whole number of seconds"
        ))),
    };
    let time = TimeFilter::of_seconds(seconds("start_timestamp")?, seconds("end_timestamp")?);
    Ok(WantedCaps {
        types: params.names("types").unwrap_or_default(),
        has_unmapped: params.flag("include_unmapped")?.unwrap_or(false),
        time,
    })
}
