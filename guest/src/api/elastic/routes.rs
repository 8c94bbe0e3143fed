//! Paths of Elasticsearch's API.

use canter_names::{MayBeAbsent, listed_names};

use super::about::cluster::{self, Fixed};
use super::given::names::ALL;

/// The target of a path.
pub(super) enum Route<'p> {
    /// The health of indexes; of all if absent.
    ClusterHealth(Option<&'p str>),
    /// An answer that is the same for all.
    Fixed(&'static Fixed),
    /// Settings of indexes.
    Settings(&'p str),
    CatCount(&'p str),
    Search(&'p str),
    Scroll(Option<&'p str>),
    /// A point in time, and whether it is asked for as in OpenSearch.
    PointInTime(&'p str, bool),
    /// Points in time as in OpenSearch, and whether all.
    PointsInTime(bool),
    /// A search that is answered at once.
    AsyncSearch(&'p str),
    /// The answer of an earlier search.
    KeptSearch(&'p str),
    Analyze(Option<&'p str>),
    TermsEnum(&'p str),
    /// Whether a document of an index, by its id, matches.
    Explain(&'p str, &'p str),
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
    /// A document by its index and id.
    Document(&'p str, &'p str),
    /// The same without what stands around it.
    Source(&'p str, &'p str),
    /// Several documents by their ids.
    ManyDocuments(Option<&'p str>),
    Resolve(&'p str),
}

/// Returns the target of a path under Elasticsearch's API, and its methods; `None` for other paths.
pub(super) fn route_of<'p>(
    segments: &[&'p str],
    names: &[String],
) -> Option<(Route<'p>, &'static [&'static str])> {
    const GET: &[&str] = &["GET", "HEAD"];
    const BOTH: &[&str] = &["GET", "POST"];
    Some(match segments {
        [] => (Route::Fixed(&cluster::INFO), GET),
        ["_cluster", "settings"] => (Route::Fixed(&cluster::SETTINGS), GET),
        ["_settings"] | ["_settings", _] => (Route::Settings(ALL), GET),
        ["_cat", "count"] => (Route::CatCount(ALL), GET),
        ["_cat", "count", index] => (Route::CatCount(index), GET),
        [index, "_settings"] | [index, "_settings", _] => (Route::Settings(index), GET),
        ["_cluster", "health"] => (Route::ClusterHealth(None), GET),
        ["_cluster", "health", names] => (Route::ClusterHealth(Some(names)), GET),
        ["_nodes"] | ["_nodes", "http" | "_all" | "_local"] | ["_nodes", "_all", "http"] => {
            (Route::Fixed(&cluster::NODES), GET)
        }
        ["_license"] | ["_xpack", "license"] => (Route::Fixed(&cluster::LICENSE), GET),
        ["_search"] => (Route::Search(ALL), BOTH),
        ["_search", "scroll"] => (Route::Scroll(None), &["GET", "POST", "DELETE"]),
        ["_search", "scroll", id] => (Route::Scroll(Some(id)), &["GET", "POST", "DELETE"]),
        ["_pit"] => (Route::EndOfPointInTime, &["DELETE"]),
        [index, "_pit"] => (Route::PointInTime(index, false), &["POST"]),
        [index, "_search", "point_in_time"] => (Route::PointInTime(index, true), &["POST"]),
        ["_search", "point_in_time"] => (Route::PointsInTime(false), &["DELETE"]),
        ["_search", "point_in_time", "_all"] => (Route::PointsInTime(true), &["GET", "DELETE"]),
        ["_async_search"] => (Route::AsyncSearch(ALL), &["POST"]),
        ["_async_search", id] | ["_async_search", "status", id] => {
            (Route::KeptSearch(id), &["GET", "DELETE"])
        }
        [index, "_async_search"] => (Route::AsyncSearch(index), &["POST"]),
        ["_analyze"] => (Route::Analyze(None), BOTH),
        [index, "_analyze"] => (Route::Analyze(Some(index)), BOTH),
        [index, "_terms_enum"] => (Route::TermsEnum(index), BOTH),
        [index, "_explain", id] => (Route::Explain(index, id), BOTH),
        ["_msearch"] => (Route::ManySearches(None), BOTH),
        ["_count"] => (Route::Count(ALL), BOTH),
        ["_validate", "query"] => (Route::Validate(ALL), BOTH),
        ["_field_caps"] => (Route::FieldCaps(ALL), BOTH),
        ["_mapping" | "_mappings"] => (Route::Mapping(ALL, None), GET),
        ["_mapping" | "_mappings", "field", field] => (Route::Mapping(ALL, Some(field)), GET),
        ["_cat", "indices"] => (Route::CatIndices(ALL), GET),
        ["_cat", "indices", index] => (Route::CatIndices(index), GET),
        ["_cat", "health"] => (Route::CatHealth, GET),
        ["_stats"] | ["_stats", _] => (Route::Stats(ALL), GET),
        ["_resolve", "index", index] => (Route::Resolve(index), GET),
        ["_mget"] => (Route::ManyDocuments(None), BOTH),
        [index, "_mget"] => (Route::ManyDocuments(Some(index)), BOTH),
        [index, "_doc", id] => (Route::Document(index, id), GET),
        [index, "_source", id] => (Route::Source(index, id), GET),
        [index, "_search"] => (Route::Search(index), BOTH),
        [index, "_msearch"] => (Route::ManySearches(Some(index)), BOTH),
        [index, "_count"] => (Route::Count(index), BOTH),
        [index, "_validate", "query"] => (Route::Validate(index), BOTH),
        [index, "_field_caps"] => (Route::FieldCaps(index), BOTH),
        [index, "_mapping" | "_mappings"] => (Route::Mapping(index, None), GET),
        [index, "_mapping" | "_mappings", "field", field] => {
            (Route::Mapping(index, Some(field)), GET)
        }
        [index, "_stats"] | [index, "_stats", _] => (Route::Stats(index), GET),
        // A single word at the root is an index only if an index has that name.
        [index] if is_known(index, names) => (Route::Index(index), GET),
        _ => return None,
    })
}

fn is_known(index: &str, names: &[String]) -> bool {
    listed_names(index, names, MayBeAbsent::Everything).is_ok_and(|found| !found.is_empty())
}
