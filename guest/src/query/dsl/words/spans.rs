//! The `span` clauses: words at positions that have a relation.
//!
//! See <https://www.elastic.co/docs/reference/query-languages/query-dsl/span-queries>.

use canter_aggregations::check_name;
use serde_json::Value;

use super::{OfField, of_field};
use crate::SearchError;
use crate::query::dsl::params::{Params, wrong};
use crate::query::dsl::{FIELD_MASKING_SPAN, Reader, leaf};
use crate::query::tree::{
    Leaf, Places, Positional, PositionalKind, QueryNode, Relation, WordOrder,
};

const SPANS: &str = "field_masking_span, span_containing, span_first, span_multi, span_near, span_not, span_or, span_term, \
                     span_within";

/// Intervals, with their field.
struct Spans {
    field: String,
    places: Places,
    boost: f32,
}

impl Reader<'_> {
    /// Parses one of the clauses.
    pub(in crate::query::dsl) fn span_clause(
        &mut self,
        name: &str,
        place: &str,
        body: &Value,
    ) -> Result<QueryNode, SearchError> {
        let spans = self.spans_named(name, place, body)?;
        let wanted = Positional {
            field: spans.field,
            places: spans.places,
            kind: PositionalKind::Spans,
        };
        Ok(leaf(Leaf::Positional(Box::new(wanted)), spans.boost))
    }

    fn spans_named(&mut self, name: &str, place: &str, body: &Value) -> Result<Spans, SearchError> {
        let mut params = Params::of(&format!("{place}.{name}"), body)?;
        if name == "span_term" {
            return term(params);
        }
        let boost = params.boost()?;
        let (field, places) = match name {
            "span_near" => self.near(&mut params)?,
            "span_or" => {
                let (field, parts) = self.list(&mut params)?;
                (field, Places::Any(parts))
            }
            "span_not" => self.not(&mut params)?,
            "span_first" => {
                let inner = self.part(&mut params, "match")?;
                let end = params.count("end")?;
                let end = end.ok_or_else(|| wrong(&params.path, "end is missing"))?;
                let places = Box::new(inner.places);
                (inner.field, Places::First { places, end })
            }
            "span_containing" | "span_within" => {
                let (big, little) = (
                    self.part(&mut params, "big")?,
                    self.part(&mut params, "little")?,
                );
                let field = same_field(&params.path, big.field, &little.field)?;
                let (big, little) = (Box::new(big.places), Box::new(little.places));
                let places = match name {
                    "span_within" => Places::Related(little, Relation::ContainedBy, big),
                    _ => Places::Related(big, Relation::Containing, little),
                };
                (field, places)
            }
            "span_multi" => self.terms_like(&mut params)?,
            FIELD_MASKING_SPAN | "span_field_masking" => {
                let mut inner = self.part(&mut params, "query")?;
                let field = params.text("field")?;
                let field = field.ok_or_else(|| wrong(&params.path, "field is missing"))?;
                check_name(&params.path, &field)?;
                inner.places.name_fields(&inner.field);
                (field, inner.places)
            }
            _ => {
                let what = format!("the query clause {name:?} is not known; there are {SPANS}");
                return Err(wrong(place, what));
            }
        };
        params.finish()?;
        Ok(Spans {
            field,
            places,
            boost,
        })
    }

    /// Parses a clause inside of another one.
    fn inner(&mut self, path: &str, value: &Value) -> Result<Spans, SearchError> {
        let params = Params::of(path, value)?;
        let (name, body) = params.only_other()?;
        if name == "span_gap" {
            return Err(wrong(path, "span_gap is not supported: use slop"));
        }
        self.count(1)?;
        let spans = self.deeper(|reader| reader.spans_named(name, path, body))?;
        match spans.boost {
            1.0 => Ok(spans),
            _ => Err(wrong(
                &format!("{path}.{name}"),
                "a span inside of another one has no boost of its own",
            )),
        }
    }

    fn part(&mut self, params: &mut Params<'_>, name: &'static str) -> Result<Spans, SearchError> {
        let value = params.get(name);
        let value = value.ok_or_else(|| wrong(&params.path, format!("{name} is missing")))?;
        self.inner(&format!("{}.{name}", params.path), value)
    }

    /// Parses a list of clauses on one field.
    fn list(&mut self, params: &mut Params<'_>) -> Result<(String, Vec<Places>), SearchError> {
        let path = format!("{}.clauses", params.path);
        let list = match params.get("clauses") {
            Some(Value::Array(list)) if !list.is_empty() => list,
            _ => return Err(wrong(&path, "this must be a list of span clauses")),
        };
        let mut field: Option<String> = None;
        let mut parts = Vec::with_capacity(list.len());
        for (place, clause) in list.iter().enumerate() {
            let spans = self.inner(&format!("{path}.{place}"), clause)?;
            field = Some(match field {
                None => spans.field,
                Some(field) => same_field(&path, field, &spans.field)?,
            });
            parts.push(spans.places);
        }
        Ok((field.unwrap_or_default(), parts))
    }

    fn near(&mut self, params: &mut Params<'_>) -> Result<(String, Places), SearchError> {
        let (field, parts) = self.list(params)?;
        let slop = params.count("slop")?.unwrap_or(0);
        let order = match params.flag("in_order")? {
            Some(false) => WordOrder::Any,
            _ => WordOrder::Ordered,
        };
        let places = Places::All {
            parts,
            order,
            max_gaps: Some(slop),
        };
        Ok((field, places))
    }

    fn not(&mut self, params: &mut Params<'_>) -> Result<(String, Places), SearchError> {
        let (include, exclude) = (self.part(params, "include")?, self.part(params, "exclude")?);
        let field = same_field(&params.path, include.field, &exclude.field)?;
        let (pre, post, dist) = (
            params.count("pre")?,
            params.count("post")?,
            params.count("dist")?,
        );
        if dist.is_some() && (pre.is_some() || post.is_some()) {
            let what = "[span_not] can either use [dist] or [pre] & [post] (or none)";
            return Err(wrong(&params.path, what));
        }
        // Positions that must be free before a span are behind the excluded ones.
        let around = Places::Extended {
            places: Box::new(exclude.places),
            before: post.or(dist).unwrap_or(0),
            after: pre.or(dist).unwrap_or(0),
        };
        let places = Places::Related(
            Box::new(include.places),
            Relation::NotOverlapping,
            Box::new(around),
        );
        Ok((field, places))
    }

    /// Parses `span_multi`: a clause on terms that a pattern or a word stands for.
    fn terms_like(&mut self, params: &mut Params<'_>) -> Result<(String, Places), SearchError> {
        let path = format!("{}.match", params.path);
        let value = params.get("match");
        let value = value.ok_or_else(|| wrong(&params.path, "match is missing"))?;
        let mut node = self.clause(&path, value)?;
        while let QueryNode::Constant(inner, _) | QueryNode::Boost(inner, _) = node {
            node = *inner;
        }
        match node {
            QueryNode::Leaf(Leaf::Pattern {
                field,
                kind,
                pattern,
                case_insensitive,
            }) => Ok((
                field,
                Places::Pattern {
                    field: None,
                    kind,
                    pattern,
                    case_insensitive,
                    is_normalized: false,
                    analyzer: None,
                },
            )),
            QueryNode::Leaf(Leaf::Fuzzy {
                field,
                value,
                fuzziness,
            }) => Ok((
                field,
                Places::Fuzzy {
                    field: None,
                    value,
                    fuzziness,
                    is_normalized: false,
                    analyzer: None,
                },
            )),
            _ => Err(wrong(
                &path,
                "this must be one of prefix, wildcard, regexp and fuzzy",
            )),
        }
    }
}

fn term(params: Params<'_>) -> Result<Spans, SearchError> {
    let (field, value, boost) = match of_field(&params)? {
        OfField::Text(field, value) => (field, value, 1.0),
        OfField::Params(field, mut params) => {
            let value = match (params.value("value")?, params.value("term")?) {
                (Some(value), _) | (None, Some(value)) => value.text,
                (None, None) => return Err(wrong(&params.path, "value is missing")),
            };
            let boost = params.boost()?;
            params.finish()?;
            (field, value, boost)
        }
    };
    Ok(Spans {
        field,
        places: Places::Term { field: None, value },
        boost,
    })
}

fn same_field(path: &str, field: String, other: &str) -> Result<String, SearchError> {
    match field == other {
        true => Ok(field),
        false => Err(wrong(
            path,
            format!("clauses must have same field: there are {field:?} and {other:?}"),
        )),
    }
}
