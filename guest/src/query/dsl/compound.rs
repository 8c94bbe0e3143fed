//! Clauses that contain other clauses.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use canter_aggregations::check_name;
use serde_json::Value;

use super::Reader;
use super::params::{Params, wrong};
use super::settings::{effective, min_should};
use crate::SearchError;
use crate::query::tree::{BoolNode, Factor, Fused, Leaf, Nearest, QueryNode, Role};

/// Maximum number of candidates, as in Elasticsearch.
const MAX_CANDIDATES: u32 = 10_000;

/// Maximum number of queries whose rankings become one.
const MAX_FUSED: usize = 16;

/// Checks the numbers of vectors that are wanted, and of those to consider.
fn check_candidates(
    path: &str,
    k: Option<u32>,
    num_candidates: Option<u32>,
) -> Result<(), SearchError> {
    let refused = |what: &str| Err(wrong(path, what));
    match (k, num_candidates) {
        (Some(0), _) => refused("[k] must be greater than 0"),
        (_, Some(0)) => refused("[num_candidates] must be greater than 0"),
        (_, Some(num)) if num > MAX_CANDIDATES => refused("[num_candidates] cannot exceed [10000]"),
        (Some(k), _) if k > MAX_CANDIDATES => refused("[k] cannot exceed [10000]"),
        (Some(k), Some(num)) if num < k => refused("[num_candidates] cannot be less than [k]"),
        _ => Ok(()),
    }
}

impl Reader<'_> {
    /// Parses `bool`, see <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-bool-query>.
    pub(super) fn bool(&mut self, mut params: Params<'_>) -> Result<QueryNode, SearchError> {
        let mut clauses = Vec::new();
        for (name, role) in [
            ("must", Role::Must),
            ("filter", Role::Filter),
            ("should", Role::Should),
            ("must_not", Role::MustNot),
        ] {
            if let Some(value) = params.get(name) {
                let path = format!("{}.{name}", params.path);
                let nodes = self.one_or_many(&path, value)?;
                clauses.extend(nodes.into_iter().map(|node| (role, node)));
            }
        }
        let min_should = min_should(&mut params)?;
        if params.flag("adjust_pure_negative")? == Some(false) {
            return Err(wrong(
                &params.path,
                "adjust_pure_negative: false, with which nothing matches, is not supported",
            ));
        }
        let boost = params.boost()?;
        params.finish()?;
        Ok(QueryNode::Bool(BoolNode {
            min_should: effective(min_should, &clauses),
            clauses,
        })
        .boosted(boost))
    }

    /// Parses `knn`, see <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-knn-query>.
    pub(super) fn knn(&mut self, mut params: Params<'_>) -> Result<QueryNode, SearchError> {
        let path = params.path.clone();
        if params.get("field").is_none() && params.get("query_vector").is_none() {
            // OpenSearch's form.
            let (field, given) = params.only_other()?;
            return self.nearest(Params::of(&path, given)?, field.clone(), "vector");
        }
        let field = params.text("field")?;
        let field = field.ok_or_else(|| wrong(&path, "field is missing"))?;
        self.nearest(params, field, "query_vector")
    }

    /// Parses the rest of `knn`, with its vector under a name.
    fn nearest(
        &mut self,
        mut params: Params<'_>,
        field: String,
        vector: &'static str,
    ) -> Result<QueryNode, SearchError> {
        let path = params.path.clone();
        for (name, why) in [
            (
                "query_vector_builder",
                "there are no models here: send a query_vector",
            ),
            ("inner_hits", "vectors are those of whole documents"),
        ] {
            if params.get(name).is_some() {
                return Err(wrong(&path, format!("{name} is not supported: {why}")));
            }
        }
        check_name(&path, &field)?;
        let given = params.get(vector);
        let vector = given.ok_or_else(|| wrong(&path, format!("{vector} is missing")))?;
        let (k, num_candidates) = (params.count("k")?, params.count("num_candidates")?);
        check_candidates(&path, k, num_candidates)?;
        let filter = self.filter_of_knn(&mut params)?;
        let similarity = params.get("similarity").map(|given| {
            let given = given.as_f64().filter(|given| given.is_finite());
            #[expect(
                clippy::cast_possible_truncation,
                reason = "similarities are 32 bits wide"
            )]
            let given = given.map(|given| Factor(given as f32));
            given.ok_or_else(|| wrong(&format!("{path}.similarity"), "this must be a number"))
        });
        // More candidates are compared exactly than are wanted, in any case.
        params.ignore(&["rescore_vector", "rescore", "method_parameters"]);
        let boost = params.boost()?;
        params.finish()?;
        let nearest = Nearest {
            field,
            vector: vector.to_string(),
            k,
            num_candidates,
            filter,
            similarity: similarity.transpose()?,
        };
        Ok(QueryNode::Leaf(Leaf::Nearest(Box::new(nearest))).boosted(boost))
    }

    /// Parses `rrf`, to which retrievers come down: the rankings of several queries as one.
    pub(super) fn rrf(&mut self, mut params: Params<'_>) -> Result<QueryNode, SearchError> {
        let path = params.path.clone();
        let queries = params.get("queries");
        let queries = queries.ok_or_else(|| wrong(&path, "queries is missing"))?;
        let queries = self.one_or_many(&format!("{path}.queries"), queries)?;
        if queries.iter().any(QueryNode::has_alike) {
            return Err(wrong(&path, "more_like_this cannot be ranked with others"));
        }
        if !(2..=MAX_FUSED).contains(&queries.len()) {
            let what = format!("this takes 2 to {MAX_FUSED} queries");
            return Err(wrong(&path, what));
        }
        let constant = params.count("rank_constant")?.unwrap_or(60);
        let window = params.count("rank_window_size")?.unwrap_or(10);
        if constant == 0 || !(1..=MAX_CANDIDATES).contains(&window) {
            return Err(wrong(
                &path,
                "[rank_constant] must be greater than 0, and [rank_window_size] between 1 and 10000",
            ));
        }
        let boost = params.boost()?;
        params.finish()?;
        let fused = Fused {
            queries,
            window,
            constant,
        };
        Ok(QueryNode::Leaf(Leaf::Fused(Box::new(fused))).boosted(boost))
    }

    /// Takes the filters of `knn`.
    fn filter_of_knn(
        &mut self,
        params: &mut Params<'_>,
    ) -> Result<Option<Box<QueryNode>>, SearchError> {
        let mut filters = match params.get("filter") {
            Some(filter) => self.one_or_many(&format!("{}.filter", params.path), filter)?,
            None => Vec::new(),
        };
        if filters
            .iter()
            .any(|node| node.has_nearest() || node.has_alike())
        {
            return Err(wrong(
                &params.path,
                "a filter can be neither knn nor more_like_this",
            ));
        }
        Ok(match filters.len() {
            0 | 1 => filters.pop(),
            _ => Some(QueryNode::all_of(filters)),
        }
        .map(Box::new))
    }

    fn one_or_many(&mut self, path: &str, value: &Value) -> Result<Vec<QueryNode>, SearchError> {
        match value {
            Value::Array(list) => {
                let places = list.iter().enumerate();
                places
                    .map(|(place, clause)| self.clause(&format!("{path}.{place}"), clause))
                    .collect()
            }
            clause => Ok(vec![self.clause(path, clause)?]),
        }
    }

    fn needed(
        &mut self,
        params: &mut Params<'_>,
        name: &'static str,
    ) -> Result<QueryNode, SearchError> {
        match params.get(name) {
            Some(clause) => self.clause(&format!("{}.{name}", params.path), clause),
            None => Err(wrong(&params.path, format!("{name} is missing"))),
        }
    }

    /// Parses `boosting`, see
    /// <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-boosting-query>.
    pub(super) fn boosting(&mut self, mut params: Params<'_>) -> Result<QueryNode, SearchError> {
        let positive = self.needed(&mut params, "positive")?;
        let negative = self.needed(&mut params, "negative")?;
        let factor = params.factor("negative_boost")?;
        let factor = factor.ok_or_else(|| wrong(&params.path, "negative_boost is missing"))?;
        let boost = params.boost()?;
        params.finish()?;
        Ok(
            QueryNode::Demoted(Box::new(positive), Box::new(negative), Factor(factor))
                .boosted(boost),
        )
    }

    /// Parses `constant_score`, see
    /// <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-constant-score-query>.
    pub(super) fn constant_score(
        &mut self,
        mut params: Params<'_>,
    ) -> Result<QueryNode, SearchError> {
        let filter = self.needed(&mut params, "filter")?;
        let boost = params.boost()?;
        params.finish()?;
        Ok(QueryNode::Constant(Box::new(filter), Factor(boost)))
    }

    /// Parses `wrapper`: a query as JSON, in Base64. See
    /// <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-wrapper-query>.
    pub(super) fn wrapper(&mut self, mut params: Params<'_>) -> Result<QueryNode, SearchError> {
        let path = format!("{}.query", params.path);
        let text = params.needed("query")?.text;
        params.finish()?;
        let json = BASE64_STANDARD.decode(text);
        let json = json.map_err(|_| wrong(&path, "this must be JSON in Base64"))?;
        let query = canter_names::read_json(&json);
        let query = query.map_err(|error| wrong(&path, error.of("the query")))?;
        self.clause(&path, &query)
    }

    /// Parses `dis_max`, see <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-dis-max-query>.
    pub(super) fn dis_max(&mut self, mut params: Params<'_>) -> Result<QueryNode, SearchError> {
        let queries = params.get("queries");
        let queries = queries.ok_or_else(|| wrong(&params.path, "queries is missing"))?;
        let queries = self.one_or_many(&format!("{}.queries", params.path), queries)?;
        let others = params.factor("tie_breaker")?.unwrap_or(0.0);
        let boost = params.boost()?;
        params.finish()?;
        Ok(QueryNode::Best(queries, Factor(others)).boosted(boost))
    }

    /// Parses `nested`. All objects of a document have the same score, so `score_mode` matters only if it is `none`.
    ///
    /// See <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-nested-query>.
    pub(super) fn nested(&mut self, mut params: Params<'_>) -> Result<QueryNode, SearchError> {
        let path = params.text("path")?;
        let path = path.ok_or_else(|| wrong(&params.path, "path is missing"))?;
        check_name(&params.path, &path)?;
        let query = self.needed(&mut params, "query")?;
        let is_scored = params.choice(
            "score_mode",
            &[
                ("avg", true),
                ("max", true),
                ("min", true),
                ("none", false),
                ("sum", true),
            ],
        )?;
        let ignores_unmapped = params.flag("ignore_unmapped")?.unwrap_or(false);
        // Hits read it.
        params.ignore(&["inner_hits"]);
        let boost = params.boost()?;
        params.finish()?;
        let query = match is_scored {
            Some(false) => QueryNode::Constant(Box::new(query), Factor(0.0)),
            _ => query,
        };
        Ok(QueryNode::Nested(Box::new(query), path, ignores_unmapped).boosted(boost))
    }
}
