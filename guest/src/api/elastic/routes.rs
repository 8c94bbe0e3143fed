//! From a path to what is asked for.

use canter_protocol::HttpRequest;

use super::body::{Body, Search, checked_names, filter_request, query, read_count, read_search};
use super::call::{ElasticCall, Which};
use super::cluster;
use super::errors::{Stage, elastic_response, elastic_text, error_response};
use super::fields::WantedCaps;
use super::many::read_many;
use super::params::{Common, UrlParams};
use super::scroll::next_page;
use super::table::Table;
use crate::api::params::typed;
use crate::api::settings::ApiSettings;
use crate::limits::TimeFilter;
use crate::request::AskedIndexes;
use crate::{ErrorKind, SearchError};
use canter_names::{MayBeAbsent, listed_names};

/// What a path names.
enum Route<'p> {
    Info,
    ClusterHealth,
    Nodes,
    License,
    Search(&'p str),
    Scroll(Option<&'p str>),
    PointInTime(&'p str),
    EndOfPointInTime,
    ManySearches(Option<&'p str>),
    Count(&'p str),
    Validate(&'p str),
    FieldCaps(&'p str),
    Mapping(&'p str, Option<&'p str>),
    Index(&'p str),
    CatIndices(&'p str),
    CatHealth,
    Stats(&'p str),
    Resolve(&'p str),
}

/// All indexes.
pub(super) const ALL: &str = "_all";

/// What a path under Elasticsearch's API names, and its methods; `None` if it is none of these.
fn route_of<'p>(
    segments: &[&'p str],
    names: &[String],
) -> Option<(Route<'p>, &'static [&'static str])> {
    const GET: &[&str] = &["GET", "HEAD"];
    const BOTH: &[&str] = &["GET", "POST"];
    Some(match segments {
        [] => (Route::Info, GET),
        ["_cluster", "health"] | ["_cluster", "health", _] => (Route::ClusterHealth, GET),
        ["_nodes"] | ["_nodes", "http" | "_all" | "_local"] | ["_nodes", "_all", "http"] => {
            (Route::Nodes, GET)
        }
        ["_license"] | ["_xpack", "license"] => (Route::License, GET),
        ["_search"] => (Route::Search(ALL), BOTH),
        ["_search", "scroll"] => (Route::Scroll(None), &["GET", "POST", "DELETE"]),
        ["_search", "scroll", id] => (Route::Scroll(Some(id)), &["GET", "POST", "DELETE"]),
        ["_pit"] => (Route::EndOfPointInTime, &["DELETE"]),
        [index, "_pit"] => (Route::PointInTime(index), &["POST"]),
        ["_msearch"] => (Route::ManySearches(None), BOTH),
        ["_count"] => (Route::Count(ALL), BOTH),
        ["_validate", "query"] => (Route::Validate(ALL), BOTH),
        ["_field_caps"] => (Route::FieldCaps(ALL), BOTH),
        ["_mapping" | "_mappings"] => (Route::Mapping(ALL, None), GET),
        ["_mapping" | "_mappings", "field", field] => (Route::Mapping(ALL, Some(field)), GET),
        ["_cat", "indices"] => (Route::CatIndices(ALL), GET),
        ["_cat", "indices", index] => (Route::CatIndices(index), GET),
        ["_cat", "health"] => (Route::CatHealth, GET),
        ["_stats"] => (Route::Stats(ALL), GET),
        ["_resolve", "index", index] => (Route::Resolve(index), GET),
        [index, "_search"] => (Route::Search(index), BOTH),
        [index, "_msearch"] => (Route::ManySearches(Some(index)), BOTH),
        [index, "_count"] => (Route::Count(index), BOTH),
        [index, "_validate", "query"] => (Route::Validate(index), BOTH),
        [index, "_field_caps"] => (Route::FieldCaps(index), BOTH),
        [index, "_mapping" | "_mappings"] => (Route::Mapping(index, None), GET),
        [index, "_mapping" | "_mappings", "field", field] => {
            (Route::Mapping(index, Some(field)), GET)
        }
        [index, "_stats"] => (Route::Stats(index), GET),
        // A single word at the root is an index only if there is one of that name.
        [index] if is_known(index, names) => (Route::Index(index), GET),
        _ => return None,
    })
}

fn is_known(index: &str, names: &[String]) -> bool {
    listed_names(index, names, MayBeAbsent::Everything).is_ok_and(|found| !found.is_empty())
}

/// Reads a request; `None` if its path is none of Elasticsearch's.
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
                &serde_json::json!({"error": message}),
            ))
        });
    };
    if !methods.contains(&request.method.as_str()) {
        let allowed = methods.join(", ");
        let message = format!(
            "Incorrect HTTP method for uri [{}] and method [{}], allowed: [{allowed}]",
            request.path, request.method
        );
        let body = serde_json::json!({"error": message, "status": 405});
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
    let common = params.common()?;
    let found = |names: &str| found(names, settings, &common);
    let indexes = |names: &str| -> Result<Which, SearchError> {
        Ok(Which {
            indexes: found(names)?,
            is_pretty: common.is_pretty,
        })
    };
    let call = match route {
        Route::Info => ElasticCall::Answered(elastic_text(200, cluster::info())),
        Route::ClusterHealth => {
            for name in [
                // All of it is as well as it can be.
                "wait_for_active_shards",
                "wait_for_events",
                "wait_for_no_initializing_shards",
                "wait_for_no_relocating_shards",
                "wait_for_nodes",
                "timeout",
                "level",
            ] {
                params.text(name);
            }
            params.choice("wait_for_status", &["green", "yellow", "red"])?;
            ElasticCall::Answered(elastic_text(200, cluster::health(settings.indexes.len())))
        }
        Route::Nodes => {
            params.text("flat_settings");
            ElasticCall::Answered(elastic_text(200, cluster::nodes()))
        }
        Route::License => {
            for name in ["accept_enterprise", "human"] {
                params.text(name);
            }
            ElasticCall::Answered(elastic_text(200, cluster::license()))
        }
        Route::Search(names) => {
            let body = &request.body;
            match read_search_of(names, body, &mut params, &common, settings)? {
                Some((indexes, search)) => ElasticCall::search(indexes, search),
                None => return Ok(ElasticCall::nothing(false)),
            }
        }
        Route::Scroll(id) => {
            params.duration("scroll")?;
            let total_is_number = params.flag("rest_total_hits_as_int")?.unwrap_or(false);
            let of_url = params.text("scroll_id").map(str::to_owned);
            let mut body = Body::parse(&request.body)?;
            body.duration("scroll")?;
            let of_body = body.take("scroll_id");
            body.finish()?;
            if request.method == "DELETE" {
                // The host's cache lets its manifest go.
                let freed = serde_json::json!({"succeeded": true, "num_freed": 1});
                ElasticCall::Answered(elastic_response(200, &freed))
            } else {
                let id = id.map(str::to_owned).or(of_url);
                let id = id.or_else(|| of_body?.as_str().map(str::to_owned));
                let id = id.ok_or_else(|| SearchError::invalid("scroll_id is missing"))?;
                let (indexes, mut search) = next_page(&id, common.is_pretty, settings)?;
                if let Some(shown) = &mut search.question.request.elastic {
                    // As this page is asked for, whatever was said of the first.
                    shown.total_is_number = total_is_number;
                }
                ElasticCall::search(indexes, search)
            }
        }
        Route::PointInTime(names) => {
            let keep_alive = params.duration("keep_alive")?;
            keep_alive.ok_or_else(|| SearchError::invalid("keep_alive is missing"))?;
            if !request.body.is_empty() {
                let mut body = Body::parse(&request.body)?;
                body.refuse("index_filter", "this is not supported for points in time")?;
                body.finish()?;
            }
            if settings.forced_filter.is_some() {
                return Err(SearchError::invalid(
                    "a token with a filter has no points in time, since their hits tell where documents lie: use \
                     search_after without one, or a scroll",
                ));
            }
            let which = indexes(names)?;
            if which.indexes.is_empty() {
                return Err(no_index(names));
            }
            ElasticCall::PointInTime(which)
        }
        Route::EndOfPointInTime => {
            let mut body = Body::parse(&request.body)?;
            body.take("id");
            body.finish()?;
            // The host's cache lets it go.
            let freed = serde_json::json!({"succeeded": true, "num_freed": 1});
            ElasticCall::Answered(elastic_response(200, &freed))
        }
        Route::Count(names) => {
            let indexes = found(names)?;
            if indexes.is_empty() {
                return Ok(ElasticCall::nothing(true));
            }
            let body = Body::parse(&request.body)?;
            let search = read_count(body, &mut params, common.is_pretty, settings)?;
            ElasticCall::search(indexes, search)
        }
        Route::Validate(names) => {
            let indexes = found(names)?;
            if indexes.is_empty() {
                return Err(no_index(names));
            }
            let mut body = Body::parse(&request.body)?;
            params.flag("explain")?;
            params.flag("rewrite")?;
            params.flag("all_shards")?;
            let query = query(&mut body, &mut params)?;
            body.finish()?;
            ElasticCall::Validate {
                indexes,
                request: filter_request(&query, settings).map(Box::new),
            }
        }
        Route::ManySearches(index) => {
            params.count("max_concurrent_searches")?;
            // Each search reads them, too.
            for name in ["rest_total_hits_as_int", "typed_keys"] {
                params.flag(name)?;
            }
            ElasticCall::Many {
                searches: read_many(request, *index, &params, settings)?,
                is_pretty: common.is_pretty,
            }
        }
        Route::FieldCaps(names) => {
            let mut body = Body::parse(&request.body)?;
            let fields = match (params.names("fields"), body.take("fields")) {
                (Some(fields), _) => fields,
                (None, Some(serde_json::Value::String(fields))) => fields
                    .split(',')
                    .map(|name| name.trim().to_owned())
                    .collect(),
                (None, Some(fields)) => typed(&fields)
                    .map_err(|_| SearchError::invalid("fields: this must be a list of names"))?,
                (None, None) => vec!["*".to_owned()],
            };
            checked_names("fields", &fields)?;
            params.flag("include_empty_fields")?;
            let wanted = wanted_caps(&mut params)?;
            let filter = body.take("index_filter");
            let filter = filter.map(|filter| filter_request(&filter, settings));
            let filter = filter.transpose()?.map(Box::new);
            body.finish()?;
            ElasticCall::FieldCaps {
                which: indexes(names)?,
                fields,
                wanted,
                filter,
            }
        }
        Route::Mapping(names, field) => {
            params.flag("include_defaults")?;
            ElasticCall::Mapping {
                which: indexes(names)?,
                field: field.map(str::to_owned),
            }
        }
        Route::Index(names) => {
            for name in ["include_defaults", "flat_settings"] {
                params.flag(name)?;
            }
            params.text("features");
            ElasticCall::Index(indexes(names)?)
        }
        Route::CatIndices(names) => {
            for name in ["time", "pri", "include_unloaded_segments"] {
                params.text(name);
            }
            ElasticCall::CatIndices {
                which: indexes(names)?,
                table: Table::of_indices(&mut params)?,
            }
        }
        Route::CatHealth => {
            for name in ["ts", "time"] {
                params.text(name);
            }
            ElasticCall::Answered(Table::of_health(&mut params)?)
        }
        Route::Stats(names) => {
            for name in ["level", "metric", "fields"] {
                params.text(name);
            }
            ElasticCall::Stats(indexes(names)?)
        }
        Route::Resolve(names) => ElasticCall::Resolve(indexes(names)?),
    };
    params.finish()?;
    Ok(call.filtered(common.filter_path))
}

/// What `_field_caps` is to say, of which Quickwit's API has the times.
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

/// Reads a search of the indexes that `names` stands for, unless its body says itself what it is of; `None` if it is of none.
/// One search and each of many are read here.
///
/// # Errors
/// If there is no such index, or the search is wrong.
pub(super) fn read_search_of(
    names: &str,
    body: &[u8],
    params: &mut UrlParams,
    common: &Common,
    settings: &ApiSettings,
) -> Result<Option<(AskedIndexes, Search)>, SearchError> {
    let body = Body::parse(body)?;
    let indexes = match body.pinned()? {
        None => found(names, settings, common)?,
        Some(pinned) if names == ALL => resolve(&pinned, settings)?,
        Some(_) => {
            return Err(SearchError::invalid(
                "[indices] cannot be used with point in time: leave the index out",
            ));
        }
    };
    if indexes.is_empty() {
        return Ok(None);
    }
    let search = read_search(body, params, common.is_pretty, settings)?;
    Ok(Some((indexes, search)))
}

/// The indexes that are asked for, by what a request says of how they are found.
///
/// # Errors
/// If one is named that there is not, or there must be one and is none.
pub(super) fn found(
    names: &str,
    settings: &ApiSettings,
    common: &Common,
) -> Result<AskedIndexes, SearchError> {
    if !common.expands_patterns && (names == ALL || names.contains('*')) {
        return Err(SearchError::invalid(
            "expand_wildcards: all indexes are open here, so that patterns stand for none: add open, or name the indexes",
        ));
    }
    let ignores_unavailable = common.ignores_unavailable;
    let may_be_absent = match ignores_unavailable {
        true => MayBeAbsent::Everything,
        false => MayBeAbsent::Patterns,
    };
    let listed = listed_names(names, &settings.indexes, may_be_absent).map_err(no_index)?;
    match listed.is_empty() && !common.allows_none {
        true => Err(no_index(names)),
        false => Ok(AskedIndexes::of(
            listed,
            ignores_unavailable,
            common.allows_none,
        )),
    }
}

/// The indexes of these names, all of which must be there.
///
/// # Errors
/// If one is not.
pub(super) fn resolve(names: &str, settings: &ApiSettings) -> Result<AskedIndexes, SearchError> {
    let listed = listed_names(names, &settings.indexes, MayBeAbsent::Patterns);
    let listed = listed.map_err(no_index)?;
    Ok(AskedIndexes::of(listed, false, false))
}

pub(super) fn no_index(name: &str) -> SearchError {
    SearchError::new(ErrorKind::NotFound, format!("no such index [{name}]"))
}
