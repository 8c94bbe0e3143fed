//! `kql`: a query in Kibana's query language.

use super::Reader;
use super::params::Params;
use crate::SearchError;
use crate::query::kql::{KqlOptions, parse_kql};
use crate::query::tree::{Factor, QueryNode};

impl Reader<'_> {
    /// Parses `kql`, see <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-kql-query>.
    pub(super) fn kql(&mut self, mut params: Params<'_>) -> Result<QueryNode, SearchError> {
        let text = params.needed("query")?.text;
        let field = params.text("default_field")?;
        if let Some(field) = &field {
            canter_aggregations::check_name(&params.path, &field.replace('*', "x"))?;
        }
        let options = KqlOptions {
            fields: field
                .map(|field| (field, Factor(1.0)))
                .into_iter()
                .collect(),
            case_insensitive: params.flag("case_insensitive")?.unwrap_or(false),
            time_zone: params.text("time_zone")?,
            now_ms: self.now_ms,
        };
        let path = format!("{}.query", params.path);
        let boost = params.boost()?;
        params.finish()?;
        let node = parse_kql(&path, &text, &options, self.limits)?;
        Ok(node.boosted(boost))
    }
}
