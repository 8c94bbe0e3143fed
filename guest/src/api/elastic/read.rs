//! Parsing of requests into calls.

use canter_protocol::HttpRequest;
use serde_json::{Value, json};

use super::about::analyze::WantedWords;
use super::about::caps::wanted_caps;
use super::about::cluster;
use super::about::explained::{Form as Rewrite, enumerating, explaining, shown_source};
use super::about::indexes::explanation;
use super::about::table::Table;
use super::call::{ElasticCall, Which};
use super::composed::lookup::Lookups;
use super::documents::{Form, WantedDocuments};
use super::errors::{Stage, elastic_response, elastic_text, error_response};
use super::given::body::{Body, checked_names, query};
use super::given::names::{found, no_index};
use super::given::params::{Common, UrlParams, with_source};
use super::routes::{Route, route_of};
use super::search::many::{know_those_of_each, read_many};
use super::search::of_indexes::read_search_of;
use super::search::pit::given_points;
use super::search::read::{filter_question, read_count};
use super::search::scroll::{given_ids, next_page};
use crate::SearchError;
use crate::api::params::typed;
use crate::api::settings::ApiSettings;
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
            ElasticCall::Answered(elastic_response(
                400,
                &json!({"error": message, "status": 400}),
            ))
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
        Route::ClusterHealth(names) => reader.cluster_health(names)?,
        Route::Fixed(fixed) => {
            reader.ignore(fixed.params);
            answered((fixed.text)())
        }
        Route::Search(names) => match reader.search(names)? {
            Some(call) => call,
            None => {
                let total_is_number = reader.params.flag("rest_total_hits_as_int")?;
                return Ok(ElasticCall::nothing(
                    false,
                    total_is_number.unwrap_or(false),
                ));
            }
        },
        Route::Scroll(id) => reader.scroll(id)?,
        Route::EndOfPointInTime => reader.end_of_point_in_time()?,
        Route::Count(names) => match reader.count(names)? {
            Some(call) => call,
            None => return Ok(ElasticCall::nothing(true, false)),
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
        Route::Document(index, id) => reader.document(index, id, Form::Whole)?,
        Route::Source(index, id) => reader.document(index, id, Form::Source)?,
        Route::ManyDocuments(index) => reader.many_documents(index)?,
        Route::Resolve(names) => ElasticCall::Resolve(reader.which(names)?),
        _ => reader.beyond(route)?,
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
    /// Reads requests beyond the usual searches, and those for tables and statistics.
    fn beyond(&mut self, route: &Route<'_>) -> Result<ElasticCall, SearchError> {
        Ok(match *route {
            Route::PointInTime(names, of_opensearch) => self.point_in_time(names, of_opensearch)?,
            Route::PointsInTime(is_all) => self.points_in_time(is_all)?,
            Route::AsyncSearch(names) => match self.async_search(names)? {
                Some(call) => call,
                None => return Err(no_index(names)),
            },
            Route::KeptSearch(id) => {
                let what = "resource_not_found_exception";
                let cause = [json!({"type": what, "reason": id})];
                let error = json!({"root_cause": cause, "type": what, "reason": id});
                let body = json!({"error": error, "status": 404});
                ElasticCall::Answered(elastic_response(404, &body))
            }
            Route::Analyze(index) => self.analyze(index)?,
            Route::TermsEnum(names) => self.terms_enum(names)?,
            Route::Explain(index, id) => self.explain(index, id)?,
            Route::CatIndices(names) => {
                self.ignore(&["time", "pri", "include_unloaded_segments"]);
                ElasticCall::CatIndices {
                    which: self.which(names)?,
                    table: Table::of_indices(&mut self.params)?,
                }
            }
            Route::CatCount(names) => ElasticCall::CatIndices {
                which: self.which(names)?,
                table: Table::of_count(&mut self.params)?,
            },
            Route::Settings(names) => {
                self.params.flag("include_defaults")?;
                let is_flat = self.params.flag("flat_settings")?.unwrap_or(false);
                let which = self.which(names)?;
                ElasticCall::Settings { which, is_flat }
            }
            Route::CatHealth => {
                self.ignore(&["ts", "time"]);
                ElasticCall::Answered(Table::of_health(&mut self.params)?)
            }
            Route::Stats(names) => {
                self.ignore(&["level", "metric", "fields"]);
                ElasticCall::Stats(self.which(names)?)
            }
            _ => return Err(SearchError::internal("a route that nothing reads")),
        })
    }

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

    fn cluster_health(&mut self, names: Option<&str>) -> Result<ElasticCall, SearchError> {
        let Self {
            settings,
            params,
            common,
            ..
        } = self;
        let answer = cluster::asked_health(names, params, common, settings)?;
        Ok(ElasticCall::Answered(answer))
    }

    /// Parses a search; `None` if it has no index.
    fn search(&mut self, names: &str) -> Result<Option<ElasticCall>, SearchError> {
        let body = &self.request.body;
        let lookups = Lookups::find(names, body, &self.params, &self.common)?;
        // Everything but the values is checked at once.
        let checked = lookups.as_ref().map(Lookups::without_values);
        let body = checked.as_ref().unwrap_or(body);
        let search = read_search_of(names, body, &mut self.params, &self.common, self.settings)?;
        Ok(search.map(|(indexes, search)| match lookups {
            Some(lookups) => ElasticCall::LookedUp(Box::new(lookups)),
            None => ElasticCall::search(indexes, search),
        }))
    }

    fn scroll(&mut self, id: Option<&str>) -> Result<ElasticCall, SearchError> {
        self.params.duration("scroll")?;
        let total_is_number = self.params.flag("rest_total_hits_as_int")?.unwrap_or(false);
        let body = self.body()?;
        let ids = given_ids(id, &mut self.params, body)?;
        if self.request.method == "DELETE" {
            return Ok(ElasticCall::EndOfScrolls(ids));
        }
        let id = ids.into_iter().next();
        let id = id.ok_or_else(|| SearchError::invalid("scroll_id is missing"))?;
        let (indexes, mut search) = next_page(&id, self.common.is_pretty, self.settings)?;
        if let Some(shown) = &mut search.question.elastic {
            // This page's request decides, whatever the first one said.
            shown.total_is_number = total_is_number;
        }
        Ok(ElasticCall::search(indexes, search))
    }

    /// Parses a search that Elasticsearch would run in the background; `None` if it has no index.
    fn async_search(&mut self, names: &str) -> Result<Option<ElasticCall>, SearchError> {
        for name in ["wait_for_completion_timeout", "keep_alive"] {
            self.params.duration(name)?;
        }
        self.params.flag("keep_on_completion")?;
        let call = self.search(names)?;
        Ok(call.map(|call| ElasticCall::Async {
            call: Box::new(call),
            now_ms: self.settings.now_ms.unwrap_or(0),
        }))
    }

    fn analyze(&mut self, index: Option<&str>) -> Result<ElasticCall, SearchError> {
        let wanted = WantedWords::read(self.body()?)?;
        let Some(index) = index else {
            let answer = wanted.answer(None)?;
            return Ok(ElasticCall::Answered(elastic_response(200, &answer)));
        };
        Ok(ElasticCall::Analyze {
            which: self.which(index)?,
            wanted,
        })
    }

    fn terms_enum(&mut self, names: &str) -> Result<ElasticCall, SearchError> {
        let (search, size) = enumerating(self.body()?)?;
        self.rewritten(names, &search, Rewrite::Terms { size })
    }

    fn explain(&mut self, index: &str, id: &str) -> Result<ElasticCall, SearchError> {
        let mut body = self.body()?;
        let query = query(&mut body, &mut self.params)?;
        body.finish()?;
        let source = shown_source(&mut self.params);
        let search = explaining(&query, id, &source);
        let form = Rewrite::Explained {
            index: index.to_owned(),
            id: id.to_owned(),
            shows_source: !source.is_empty(),
        };
        self.rewritten(index, &search, form)
    }

    /// Returns a search whose answer is written in another form.
    fn rewritten(
        &mut self,
        names: &str,
        search: &Value,
        form: Rewrite,
    ) -> Result<ElasticCall, SearchError> {
        let body = search.to_string();
        let body = body.as_bytes();
        // The parameters of the request are in the body by now.
        let mut params = UrlParams::of("")?;
        let search = read_search_of(names, body, &mut params, &self.common, self.settings)?;
        let (indexes, search) = search.ok_or_else(|| no_index(names))?;
        Ok(ElasticCall::Rewritten {
            indexes,
            question: Box::new(search.question),
            form,
        })
    }

    /// Shows or ends points in time as in OpenSearch.
    fn points_in_time(&mut self, is_all: bool) -> Result<ElasticCall, SearchError> {
        let ids = given_points(self.body()?, "pit_id")?;
        let is_end = self.request.method == "DELETE";
        match ids {
            _ if !is_end => Ok(ElasticCall::PointsInTime),
            None if !is_all => Err(SearchError::invalid("pit_id is missing")),
            ids => Ok(ElasticCall::EndOfPointsInTime {
                ids,
                of_opensearch: true,
            }),
        }
    }

    fn point_in_time(
        &mut self,
        names: &str,
        of_opensearch: bool,
    ) -> Result<ElasticCall, SearchError> {
        self.params.flag("allow_partial_pit_creation")?;
        let keep_alive_ms = self.params.duration("keep_alive")?;
        let keep_alive_ms =
            keep_alive_ms.ok_or_else(|| SearchError::invalid("keep_alive is missing"))?;
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
            false => Ok(ElasticCall::PointInTime {
                which,
                keep_alive_ms,
                of_opensearch,
            }),
        }
    }

    fn end_of_point_in_time(&mut self) -> Result<ElasticCall, SearchError> {
        match given_points(self.body()?, "id")? {
            None => Err(SearchError::invalid("id is missing")),
            ids => Ok(ElasticCall::EndOfPointsInTime {
                ids,
                of_opensearch: false,
            }),
        }
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
        let explains = self.params.flag("explain")?.unwrap_or(false);
        for name in ["rewrite", "all_shards"] {
            self.params.flag(name)?;
        }
        let query = query(&mut body, &mut self.params)?;
        let question = match body.map.keys().next() {
            Some(key) => Err(SearchError::invalid(format!(
                "request does not support [{key}]"
            ))),
            None => filter_question(&query, self.settings).map(Box::new),
        };
        Ok(ElasticCall::Validate {
            indexes,
            question,
            explained_as: explains.then(|| explanation(&query)),
        })
    }

    fn many_searches(&mut self, index: Option<&str>) -> Result<ElasticCall, SearchError> {
        self.params.count("max_concurrent_searches")?;
        // Each search reads them, too.
        self.params.flag("typed_keys")?;
        know_those_of_each(&mut self.params);
        let total_is_number = self.params.flag("rest_total_hits_as_int")?.unwrap_or(false);
        Ok(ElasticCall::Many {
            searches: read_many(self.request, index, &self.params, self.settings)?,
            is_pretty: self.common.is_pretty,
            total_is_number,
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
