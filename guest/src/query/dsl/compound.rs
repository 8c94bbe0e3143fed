//! Clauses that contain other clauses.

use canter_aggregations::check_name;
use serde_json::Value;

use super::Reader;
use super::params::{Params, wrong};
use super::settings::min_should;
use crate::SearchError;
use crate::query::tree::{BoolNode, Factor, QueryNode, Role};

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
            // Without a clause everything matches, however many must match.
            min_should: min_should.filter(|_| !clauses.is_empty()),
            clauses,
        })
        .boosted(boost))
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
