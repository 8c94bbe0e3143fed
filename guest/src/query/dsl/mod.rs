//! Elasticsearch's query DSL → a query's tree.
//!
//! See <https://www.elastic.co/docs/reference/query-languages/querydsl>. An unknown clause or parameter is refused
//! by name, with its place in the request; the builder resolves fields and checks whether they support the clause.

mod compound;
mod params;
mod places;
mod query_string;
mod regexp;
mod scored;
mod settings;
mod simple_string;
mod term_level;
mod words;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

pub(crate) use self::params::NAME;
use self::params::{Params, wrong};
pub(crate) use self::regexp::lucene_expression;
pub(crate) use self::settings::edits_of;
use super::grammar::{check_len, too_many_clauses};
use super::tree::{Leaf, QueryNode};
use crate::limits::Limits;
use crate::{ErrorKind, SearchError};

/// All clauses, for the error about an unknown one.
const CLAUSES: &str = "bool, boosting, combined_fields, constant_score, dis_max, distance_feature, exists, function_score, fuzzy, \
                       geo_bounding_box, geo_distance, geo_polygon, ids, intervals, knn, kql, match, match_all, match_bool_prefix, \
                       match_none, match_phrase, match_phrase_prefix, more_like_this, multi_match, nested, prefix, query_string, \
                       range, regexp, rrf, simple_query_string, span_containing, span_first, span_multi, \
                       span_near, span_not, span_or, span_term, span_within, term, terms, terms_set, wildcard, \
                       wrapper";

/// The only clause on spans whose name begins otherwise.
const FIELD_MASKING_SPAN: &str = "field_masking_span";

/// Elasticsearch's and OpenSearch's clauses that are refused, and why.
const REFUSED: [(&str, &str); 21] = [
    ("geo_shape", ONLY_POINTS),
    ("has_child", NO_JOINS),
    ("has_parent", NO_JOINS),
    ("hybrid", NO_MODELS),
    ("neural", NO_MODELS),
    ("neural_sparse", NO_MODELS),
    ("parent_id", NO_JOINS),
    (
        "percolate",
        "documents are searched with queries, not queries with documents",
    ),
    (
        "pinned",
        "list the documents' ids in a bool's should, with a boost",
    ),
    ("rank_feature", "use function_score with field_value_factor"),
    ("rule", NO_RULES),
    ("rule_query", NO_RULES),
    ("script", NO_SCRIPTS),
    ("script_score", NO_SCRIPTS),
    ("semantic", NO_MODELS),
    ("shape", ONLY_POINTS),
    ("sparse_vector", NO_MODELS),
    ("template", "fill in the template before the query is sent"),
    ("text_expansion", NO_MODELS),
    ("weighted_tokens", NO_MODELS),
    ("xy_shape", ONLY_POINTS),
];

const NO_JOINS: &str =
    "documents have no parents: put what belongs together into one document, and ask with nested";
const NO_RULES: &str = "there are no rules of queries here";
const NO_SCRIPTS: &str = "scripts are not supported: use function_score, or compute the value when documents are written";
const NO_MODELS: &str = "there are no models here: look for the nearest vectors with knn";
const ONLY_POINTS: &str =
    "there are points only: use geo_bounding_box, geo_distance or geo_polygon";

/// Parses a query of the DSL. `now_ms` is the time that `now` stands for in dates.
///
/// # Errors
/// The problem, preceded by its place in the query; or that the query is longer, deeper or has more clauses than
/// the limits allow.
pub(crate) fn parse_dsl(
    query: &Map<String, Value>,
    now_ms: Option<i64>,
    limits: &Limits,
) -> Result<QueryNode, SearchError> {
    let num_bytes = serde_json::to_string(query).map_or(0, |text| text.len());
    check_len(num_bytes, limits)?;
    let mut reader = Reader::new(now_ms, limits);
    let mut node = reader.only_clause("query", query)?;
    node.mark_metadata();
    Ok(node)
}

/// Parses named clauses of a query. Together they have at most as many clauses as a query may have: nested ones are
/// both searched for.
///
/// # Errors
/// As [`parse_dsl`].
pub(crate) fn parse_named(
    named: &[(String, Value)],
    now_ms: Option<i64>,
    limits: &Limits,
) -> Result<Vec<QueryNode>, SearchError> {
    let mut reader = Reader::new(now_ms, limits);
    let mut nodes = Vec::with_capacity(named.len());
    for (_, clause) in named {
        let node = reader.clause("query", clause);
        let mut node = node.map_err(|error| error.at(NAME))?;
        node.mark_metadata();
        nodes.push(node);
    }
    Ok(nodes)
}

/// Parser of clauses.
struct Reader<'l> {
    now_ms: Option<i64>,
    limits: &'l Limits,
    depth: usize,
    num_clauses: usize,
}

impl<'l> Reader<'l> {
    fn new(now_ms: Option<i64>, limits: &'l Limits) -> Self {
        Self {
            now_ms,
            limits,
            depth: 0,
            num_clauses: 0,
        }
    }

    /// Parses a clause: an object with one key, the clause's name.
    fn clause(&mut self, path: &str, value: &Value) -> Result<QueryNode, SearchError> {
        let Value::Object(map) = value else {
            return Err(wrong(path, "a query must be a JSON object"));
        };
        self.only_clause(path, map)
    }

    fn only_clause(
        &mut self,
        path: &str,
        map: &Map<String, Value>,
    ) -> Result<QueryNode, SearchError> {
        let mut keys = map.iter();
        let (name, body) = match (keys.next(), keys.next()) {
            (Some(only), None) => only,
            (None, _) => {
                return Err(wrong(
                    path,
                    "this query is empty: write {\"match_all\": {}}",
                ));
            }
            (Some((first, _)), Some((second, _))) => {
                return Err(wrong(
                    path,
                    format!(
                        "a query has one clause, and there are {first:?} and {second:?}: put them into a bool"
                    ),
                ));
            }
        };
        self.count(1)?;
        self.deeper(|reader| reader.of_name(&format!("{path}.{name}"), name, path, body))
    }

    /// Parses a clause inside of another one.
    ///
    /// # Errors
    /// As `read`, or it is too deep.
    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, SearchError>,
    ) -> Result<T, SearchError> {
        if self.depth >= self.limits.max_query_depth {
            return Err(SearchError::new(
                ErrorKind::Limit,
                format!(
                    "the query nests deeper than the limit of {}",
                    self.limits.max_query_depth
                ),
            ));
        }
        self.depth += 1;
        let part = read(self);
        self.depth -= 1;
        part
    }

    fn count(&mut self, num_clauses: usize) -> Result<(), SearchError> {
        self.num_clauses = self.num_clauses.saturating_add(num_clauses);
        match self.num_clauses <= self.limits.max_query_clauses {
            true => Ok(()),
            false => Err(SearchError::new(
                ErrorKind::Limit,
                too_many_clauses(self.limits.max_query_clauses),
            )),
        }
    }

    fn of_name(
        &mut self,
        path: &str,
        name: &str,
        place: &str,
        body: &Value,
    ) -> Result<QueryNode, SearchError> {
        let mut params = Params::of(path, body)?;
        Ok(match name {
            "match_all" => {
                let boost = params.boost()?;
                params.finish()?;
                QueryNode::All.boosted(boost)
            }
            "match_none" => {
                params.boost()?;
                params.finish()?;
                QueryNode::Nothing
            }
            "bool" => self.bool(params)?,
            "boosting" => self.boosting(params)?,
            "constant_score" => self.constant_score(params)?,
            "dis_max" => self.dis_max(params)?,
            "nested" => self.nested(params)?,
            "match" => Self::match_words(params)?,
            "match_phrase" => Self::match_phrase(params)?,
            "match_phrase_prefix" => Self::match_phrase_prefix(params)?,
            "match_bool_prefix" => Self::match_bool_prefix(params)?,
            "multi_match" => Self::multi_match(params)?,
            "query_string" => self.query_string(params)?,
            "simple_query_string" => self.simple_query_string(params)?,
            "term" => Self::term(params)?,
            "terms" => Self::terms(params)?,
            "range" => self.range(params)?,
            "exists" => Self::exists(params)?,
            "ids" => Self::ids(params)?,
            "prefix" => Self::prefix(params)?,
            "wildcard" => Self::wildcard(params)?,
            "regexp" => Self::regexp(params)?,
            "fuzzy" => Self::fuzzy(params)?,
            "knn" => self.knn(params)?,
            "rrf" => self.rrf(params)?,
            "kql" => self.kql(params)?,
            "function_score" => self.function_score(params)?,
            "distance_feature" => self.distance_feature(params)?,
            "terms_set" => self.terms_set(params)?,
            "wrapper" => self.wrapper(params)?,
            "combined_fields" => Self::combined_fields(params)?,
            "geo_bounding_box" => places::bounding_box(params)?,
            "geo_distance" => places::distance(params)?,
            "geo_polygon" => places::polygon(params)?,
            "more_like_this" => self.more_like_this(params)?,
            "intervals" => self.intervals(params)?,
            name if name.starts_with("span_") || name == FIELD_MASKING_SPAN => {
                self.span_clause(name, place, body)?
            }
            _ => {
                let refused = REFUSED.iter().find(|(known, _)| *known == name);
                let what = match refused {
                    Some((_, why)) => format!("the query clause {name:?} is not supported: {why}"),
                    None => {
                        format!("the query clause {name:?} is not known; there are {CLAUSES}")
                    }
                };
                return Err(wrong(place, what));
            }
        })
    }
}

/// Returns a leaf with a factor for its scores.
fn leaf(leaf: Leaf, boost: f32) -> QueryNode {
    QueryNode::Leaf(leaf).boosted(boost)
}
