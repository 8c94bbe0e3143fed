//! Building of `function_score`: the columns and filters of its functions.

use canter_doc_mapper::FieldKind;
use tantivy::query::{AllQuery, ConstScoreQuery, Query};

use super::functions::{BuiltFunction, Functions, Modes};
use crate::SearchError;
use crate::query::build::builder::{Builder, has_nothing};
use crate::query::tree::{Function, FunctionKind, Scored};

impl Builder<'_> {
    /// Builds a query whose scores functions change.
    pub(in crate::query::build) fn scored(
        &mut self,
        scored: &Scored,
    ) -> Result<Box<dyn Query>, SearchError> {
        let query = self.node(&scored.node)?;
        if !self.scoring {
            // Only errors of the functions matter.
            self.without_trace(|builder| builder.functions(&scored.functions))?;
            return Ok(query);
        }
        let query: Box<dyn Query> = match query.is::<AllQuery>() {
            // tantivy drops the scores of a match-all query.
            true => Box::new(ConstScoreQuery::new(query, 1.0)),
            false => query,
        };
        let functions = self.functions(&scored.functions)?;
        let modes = Modes {
            score: scored.score_mode,
            boost: scored.boost_mode,
            max_boost: f64::from(scored.max_boost.0),
        };
        Ok(Box::new(Functions::new(query, functions, modes)))
    }

    fn functions(&mut self, functions: &[Function]) -> Result<Vec<BuiltFunction>, SearchError> {
        let mut built = Vec::with_capacity(functions.len());
        for function in functions {
            let filter = function.filter.as_ref();
            let filter = filter.map(|filter| self.without_scores(|builder| builder.node(filter)));
            let column = match function.kind.field() {
                None => None,
                Some(name) => {
                    let field = self.resolve(name)?;
                    if !field.is_fast() && !has_nothing(&field, self.mapper) {
                        return Err(SearchError::invalid(format!(
                            "the field {name:?} is not fast, so its values give no score: set fast: true in its mapping"
                        )));
                    }
                    let has_points = matches!(field.kind, FieldKind::GeoPoint(_));
                    if has_points != matches!(function.kind, FunctionKind::NearPlace { .. }) {
                        let what = match has_points {
                            true => {
                                "has points: the origin must be one, and distances are lengths such as 2km"
                            }
                            false => "has no points: map it as geo_point",
                        };
                        return Err(SearchError::invalid(format!("the field {name:?} {what}")));
                    }
                    let column = field.fast_field_name();
                    self.needs.fast_fields.insert(column.clone());
                    Some(column)
                }
            };
            built.push(BuiltFunction {
                filter: filter.transpose()?,
                weight: f64::from(function.weight.0),
                kind: function.kind.clone(),
                column,
            });
        }
        Ok(built)
    }
}
