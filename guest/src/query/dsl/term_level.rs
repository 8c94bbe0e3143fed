//! Clauses for whole values and terms.

use serde_json::Value;

use canter_aggregations::check_name;

use super::params::{Params, given, given_at, wrong};
use super::regexp::{Flags, expression};
use super::settings::{fuzziness, rewrite};
use super::words::{OfField, of_field};
use super::{Reader, leaf};
use crate::query::tree::{
    AUTO, End, Ends, Factor, Fuzziness, Given, Leaf, PatternKind, QueryNode, Range, SpanRelation,
    TextLeaf,
};
use crate::{ErrorKind, SearchError};

/// Maximum number of values of `terms` and `ids`, as in Elasticsearch.
const MAX_TERMS: usize = 65_536;

impl Reader<'_> {
    /// Parses `term`, see <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-term-query>.
    pub(super) fn term(mut params: Params<'_>) -> Result<QueryNode, SearchError> {
        let outer = params.boost()?;
        let (name, value) = params.only_other()?;
        check_name(&params.path, name)?;
        let path = format!("{}.{name}", params.path);
        let (value, case_insensitive, boost) = match value {
            Value::Object(_) => {
                let mut params = Params::of(&path, value)?;
                let value = params.needed("value")?;
                let case_insensitive = params.flag("case_insensitive")?.unwrap_or(false);
                let boost = params.boost()?;
                params.finish()?;
                (value, case_insensitive, boost)
            }
            value => (given_at(&path, value)?, false, 1.0),
        };
        let term = Leaf::Term {
            field: name.clone(),
            value,
            case_insensitive,
        };
        Ok(leaf(term, boost * outer))
    }

    /// Parses `terms`, see <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-terms-query>.
    pub(super) fn terms(mut params: Params<'_>) -> Result<QueryNode, SearchError> {
        let boost = params.boost()?;
        if let Some(kind) = params.text("value_type")?
            && kind != "default"
        {
            let what = format!("{kind:?} is not supported: list the values");
            return Err(wrong(&format!("{}.value_type", params.path), what));
        }
        let (name, values) = params.only_other()?;
        check_name(&params.path, name)?;
        let path = format!("{}.{name}", params.path);
        let Value::Array(values) = values else {
            let what =
                "this must be a list of values; values of another document cannot be looked up";
            return Err(wrong(&path, what));
        };
        check_number(&path, values.len())?;
        let values = values.iter().enumerate();
        let values = values.map(|(place, value)| given_at(&format!("{path}.{place}"), value));
        let terms = Leaf::Terms {
            field: name.clone(),
            values: values.collect::<Result<_, _>>()?,
        };
        Ok(leaf(terms, boost))
    }

    /// Parses `ids`, see <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-ids-query>.
    pub(super) fn ids(mut params: Params<'_>) -> Result<QueryNode, SearchError> {
        let boost = params.boost()?;
        let path = format!("{}.values", params.path);
        let values = match params.get("values") {
            Some(Value::Array(values)) => values.as_slice(),
            Some(value) => std::slice::from_ref(value),
            None => return Err(wrong(&path, "this must be a list of ids")),
        };
        params.finish()?;
        check_number(&path, values.len())?;
        let values = values.iter().map(|value| given_at(&path, value));
        let values: Vec<Given> = values.collect::<Result<_, _>>()?;
        Ok(leaf(Leaf::by_id(values), boost))
    }

    /// Parses `exists`, see <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-exists-query>.
    pub(super) fn exists(mut params: Params<'_>) -> Result<QueryNode, SearchError> {
        let field = params.text("field")?;
        let field = field.ok_or_else(|| wrong(&params.path, "field is missing"))?;
        check_name(&params.path, &field)?;
        let boost = params.boost()?;
        params.finish()?;
        let exists = Leaf::Text(TextLeaf::Exists { field });
        Ok(QueryNode::Constant(
            Box::new(leaf(exists, 1.0)),
            Factor(boost),
        ))
    }

    /// Parses `prefix`, see <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-prefix-query>.
    pub(super) fn prefix(params: Params<'_>) -> Result<QueryNode, SearchError> {
        pattern(&params, PatternKind::Prefix, "value")
    }

    /// Parses `wildcard`, see
    /// <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-wildcard-query>.
    pub(super) fn wildcard(params: Params<'_>) -> Result<QueryNode, SearchError> {
        pattern(&params, PatternKind::Wildcard, "wildcard")
    }

    /// Parses `regexp`, see <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-regexp-query>.
    pub(super) fn regexp(params: Params<'_>) -> Result<QueryNode, SearchError> {
        pattern(&params, PatternKind::Regexp, "value")
    }

    /// Parses `fuzzy`, see <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-fuzzy-query>.
    pub(super) fn fuzzy(params: Params<'_>) -> Result<QueryNode, SearchError> {
        let (field, mut params) = match of_field(&params)? {
            OfField::Params(field, params) => (field, params),
            OfField::Text(field, value) => {
                let (path, empty) = (
                    format!("{}.{field}", params.path),
                    Value::Object(Default::default()),
                );
                let mut none = Params::of(&path, &empty)?;
                let fuzziness = fuzziness(&mut none, "transpositions", Some(AUTO))?;
                return fuzzy_leaf(&path, field, value, fuzziness, 1.0);
            }
        };
        let value = params.needed("value")?.text;
        let fuzziness = fuzziness(&mut params, "transpositions", Some(AUTO))?;
        rewrite(&mut params, "rewrite")?;
        let (boost, path) = (params.boost()?, params.path.clone());
        params.finish()?;
        fuzzy_leaf(&path, field, value, fuzziness, boost)
    }

    /// Parses `range`, see <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-range-query>.
    pub(super) fn range(&mut self, params: Params<'_>) -> Result<QueryNode, SearchError> {
        let OfField::Params(field, mut params) = of_field(&params)? else {
            return Err(wrong(
                &params.path,
                "a range must be an object with gt, gte, lt or lte",
            ));
        };
        let format = params.text("format")?;
        let time_zone = params.text("time_zone")?;
        let ends = Ends {
            now_ms: self.now_ms,
            format: format.as_deref(),
            time_zone: time_zone.as_deref(),
        };
        ends.check_zone(&params.path)?;
        let lower = ends.one_of(&mut params, "gte", "gt", true)?;
        let upper = ends.one_of(&mut params, "lte", "lt", false)?;
        // The older notation.
        let (lower, upper) = ends.old_names(&mut params, lower, upper)?;
        let relation = params
            .text("relation")?
            .map(|name| name.to_ascii_lowercase());
        let relation = match relation.as_deref() {
            None | Some("intersects") => SpanRelation::Intersects,
            Some("contains") => SpanRelation::Contains,
            Some("within") => SpanRelation::Within,
            Some(other) => {
                return Err(wrong(
                    &format!("{}.relation", params.path),
                    format!("{other:?} is not intersects, contains or within"),
                ));
            }
        };
        let boost = params.boost()?;
        params.finish()?;
        let range = Leaf::Range(Range {
            field,
            lower,
            upper,
            format,
            time_zone,
            relation,
        });
        Ok(leaf(range, boost))
    }
}

/// Checks the number of values of a set, which is one clause.
fn check_number(path: &str, num_values: usize) -> Result<(), SearchError> {
    match num_values <= MAX_TERMS {
        true => Ok(()),
        false => Err(SearchError::new(
            ErrorKind::Limit,
            format!("{path}: there are {num_values} values, more than {MAX_TERMS}"),
        )),
    }
}

impl Ends<'_> {
    /// Takes an end that has two names, one of which includes the bound.
    fn one_of(
        &self,
        params: &mut Params<'_>,
        included: &'static str,
        excluded: &'static str,
        is_lower: bool,
    ) -> Result<Option<End>, SearchError> {
        let both = (bound(params, included)?, bound(params, excluded)?);
        let (name, given, is_included) = match both {
            (None, None) => return Ok(None),
            (Some(given), None) => (included, given, true),
            (None, Some(given)) => (excluded, given, false),
            (Some(_), Some(_)) => {
                return Err(wrong(
                    &params.path,
                    format!("there is one end too many: leave out {included} or {excluded}"),
                ));
            }
        };
        let end = self.end(&params.path, name, given, is_included, is_lower)?;
        Ok(Some(end))
    }

    fn old_names(
        &self,
        params: &mut Params<'_>,
        lower: Option<End>,
        upper: Option<End>,
    ) -> Result<(Option<End>, Option<End>), SearchError> {
        let includes_lower = params.flag("include_lower")?.unwrap_or(true);
        let includes_upper = params.flag("include_upper")?.unwrap_or(true);
        let lower = match bound(params, "from")? {
            Some(given) => Some(self.end(&params.path, "from", given, includes_lower, true)?),
            None => lower,
        };
        let upper = match bound(params, "to")? {
            Some(given) => Some(self.end(&params.path, "to", given, includes_upper, false)?),
            None => upper,
        };
        Ok((lower, upper))
    }
}

/// Takes an end of a range: `*` is unbounded.
fn bound(params: &mut Params<'_>, name: &'static str) -> Result<Option<Given>, SearchError> {
    Ok(params.value(name)?.filter(|given| given.text != "*"))
}

fn fuzzy_leaf(
    path: &str,
    field: String,
    value: String,
    fuzziness: Option<Fuzziness>,
    boost: f32,
) -> Result<QueryNode, SearchError> {
    let fuzziness = fuzziness.ok_or_else(|| wrong(path, "fuzziness is missing"))?;
    let near = Leaf::Fuzzy {
        field,
        value,
        fuzziness,
    };
    Ok(leaf(near, boost))
}

/// Parses a pattern clause: the pattern is under `value` or under `other`.
fn pattern(
    params: &Params<'_>,
    kind: PatternKind,
    other: &'static str,
) -> Result<QueryNode, SearchError> {
    let (name, value) = params.only_other()?;
    check_name(&params.path, name)?;
    let path = format!("{}.{name}", params.path);
    let (text, case_insensitive, boost) = match value {
        Value::Object(_) => {
            let mut params = Params::of(&path, value)?;
            let text = match (params.value("value")?, params.value(other)?) {
                (Some(text), _) | (None, Some(text)) => text,
                (None, None) => return Err(wrong(&path, "value is missing")),
            };
            let case_insensitive = params.flag("case_insensitive")?.unwrap_or(false);
            let flags = match kind {
                PatternKind::Regexp => Flags::take(&mut params)?,
                _ => Flags::default(),
            };
            rewrite(&mut params, "rewrite")?;
            let boost = params.boost()?;
            params.finish()?;
            let text = match kind {
                PatternKind::Regexp => expression(&path, &text.text, flags)?,
                _ => text.text,
            };
            (text, case_insensitive, boost)
        }
        value => {
            let text = given(value).ok_or_else(|| {
                wrong(
                    &path,
                    "this must be a text, or an object with the key value",
                )
            })?;
            let text = match kind {
                PatternKind::Regexp => expression(&path, &text.text, Flags::default())?,
                _ => text.text,
            };
            (text, false, 1.0)
        }
    };
    let pattern = Leaf::Pattern {
        field: name.clone(),
        kind,
        pattern: text,
        case_insensitive,
    };
    Ok(QueryNode::Constant(
        Box::new(leaf(pattern, 1.0)),
        Factor(boost),
    ))
}
