//! `intervals`: words at positions that have a relation.
//!
//! See <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-intervals-query>. OpenSearch's `mode`,
//! `regexp` and `case_insensitive` are known, too.

use canter_aggregations::check_name;
use serde_json::Value;

use crate::SearchError;
use crate::query::dsl::params::{Params, wrong};
use crate::query::dsl::regexp::{Flags, expression};
use crate::query::dsl::settings::fuzziness;
use crate::query::dsl::{Reader, leaf};
use crate::query::tree::{
    AUTO, Leaf, PatternKind, Places, Positional, PositionalKind, QueryNode, Relation, WordOrder,
};

/// All sources of intervals, for the error about an unknown one.
const SOURCES: &str = "all_of, any_of, fuzzy, match, prefix, regexp, wildcard";

const RELATIONS: [(&str, Relation); 8] = [
    ("after", Relation::After),
    ("before", Relation::Before),
    ("contained_by", Relation::ContainedBy),
    ("containing", Relation::Containing),
    ("not_contained_by", Relation::NotContainedBy),
    ("not_containing", Relation::NotContaining),
    ("not_overlapping", Relation::NotOverlapping),
    ("overlapping", Relation::Overlapping),
];

impl Reader<'_> {
    /// Parses `intervals`.
    pub(in crate::query::dsl) fn intervals(
        &mut self,
        params: Params<'_>,
    ) -> Result<QueryNode, SearchError> {
        let (field, value) = params.only_other()?;
        check_name(&params.path, field)?;
        let mut params = Params::of(&format!("{}.{field}", params.path), value)?;
        let boost = params.boost()?;
        let places = self.source(&params)?;
        let wanted = Positional {
            field: field.clone(),
            places,
            kind: PositionalKind::Intervals,
        };
        Ok(leaf(Leaf::Positional(Box::new(wanted)), boost))
    }

    /// Parses the only source of an object.
    fn source(&mut self, params: &Params<'_>) -> Result<Places, SearchError> {
        let (name, body) = params.only_other().map_err(|_| {
            wrong(
                &params.path,
                format!("this takes one source of intervals; there are {SOURCES}"),
            )
        })?;
        self.count(1)?;
        let path = format!("{}.{name}", params.path);
        self.deeper(|reader| reader.source_named(name, &path, body))
    }

    fn source_named(
        &mut self,
        name: &str,
        path: &str,
        body: &Value,
    ) -> Result<Places, SearchError> {
        let mut params = Params::of(path, body)?;
        let places = match name {
            "match" => words(&mut params)?,
            "all_of" => {
                let (order, max_gaps) = order_and_gaps(&mut params)?;
                Places::All {
                    parts: self.sources(&mut params)?,
                    order,
                    max_gaps,
                }
            }
            "any_of" => Places::Any(self.sources(&mut params)?),
            "prefix" => terms_like(&mut params, PatternKind::Prefix, "prefix")?,
            "wildcard" => terms_like(&mut params, PatternKind::Wildcard, "pattern")?,
            "regexp" => terms_like(&mut params, PatternKind::Regexp, "pattern")?,
            "fuzzy" => terms_near(&mut params)?,
            _ => {
                let what = format!("{name:?} is no source of intervals; there are {SOURCES}");
                return Err(wrong(path, what));
            }
        };
        let filter = params.get("filter");
        let places = match filter {
            Some(filter) => self.filtered(places, &format!("{path}.filter"), filter)?,
            None => places,
        };
        params.finish()?;
        Ok(places)
    }

    fn sources(&mut self, params: &mut Params<'_>) -> Result<Vec<Places>, SearchError> {
        let path = format!("{}.intervals", params.path);
        let Some(Value::Array(list)) = params.get("intervals") else {
            return Err(wrong(&path, "this must be a list of sources of intervals"));
        };
        let sources = list.iter().enumerate().map(|(place, source)| {
            let params = Params::of(&format!("{path}.{place}"), source)?;
            self.source(&params)
        });
        sources.collect()
    }

    /// Parses a filter: a relation, and the source that the intervals must have it with.
    fn filtered(
        &mut self,
        places: Places,
        path: &str,
        filter: &Value,
    ) -> Result<Places, SearchError> {
        let params = Params::of(path, filter)?;
        let (name, source) = params.only_other()?;
        let path = format!("{path}.{name}");
        if name == "script" {
            return Err(wrong(&path, "scripts are not supported"));
        }
        let known = RELATIONS.iter().find(|(known, _)| known == name);
        let Some((_, relation)) = known else {
            let names = RELATIONS.map(|(name, _)| name).join(", ");
            let what = format!("{name:?} is not known; there are {names}");
            return Err(wrong(&params.path, what));
        };
        let other = self.source(&Params::of(&path, source)?)?;
        Ok(Places::Related(
            Box::new(places),
            *relation,
            Box::new(other),
        ))
    }
}

fn words(params: &mut Params<'_>) -> Result<Places, SearchError> {
    let text = params.needed("query")?.text;
    let (order, max_gaps) = order_and_gaps(params)?;
    Ok(Places::Words {
        field: use_field(params)?,
        text,
        analyzer: params.text("analyzer")?,
        order,
        max_gaps,
    })
}

fn terms_like(
    params: &mut Params<'_>,
    kind: PatternKind,
    name: &'static str,
) -> Result<Places, SearchError> {
    let pattern = params.needed(name)?.text;
    let field = use_field(params)?;
    params.count("max_expansions")?;
    let mut case_insensitive = false;
    let mut analyzer = None;
    let pattern = match kind {
        PatternKind::Regexp => {
            case_insensitive = params.flag("case_insensitive")?.unwrap_or(false);
            let flags = Flags::take(params)?;
            expression(&format!("{}.{name}", params.path), &pattern, flags)?
        }
        _ => {
            analyzer = params.text("analyzer")?;
            pattern
        }
    };
    Ok(Places::Pattern {
        field,
        kind,
        pattern,
        case_insensitive,
        is_normalized: true,
        analyzer,
    })
}

fn terms_near(params: &mut Params<'_>) -> Result<Places, SearchError> {
    let value = params.needed("term")?.text;
    let near = fuzziness(params, "transpositions", Some(AUTO))?;
    Ok(Places::Fuzzy {
        field: use_field(params)?,
        value,
        fuzziness: near.ok_or_else(|| wrong(&params.path, "fuzziness is missing"))?,
        is_normalized: true,
        analyzer: params.text("analyzer")?,
    })
}

fn use_field(params: &mut Params<'_>) -> Result<Option<String>, SearchError> {
    let field = params.text("use_field")?;
    if let Some(field) = &field {
        check_name(&params.path, field)?;
    }
    Ok(field)
}

/// Takes the order of parts, `mode` or the older `ordered`, and the maximum number of gaps, of which -1 is any.
fn order_and_gaps(params: &mut Params<'_>) -> Result<(WordOrder, Option<u32>), SearchError> {
    let mode = params.choice(
        "mode",
        &[
            ("ordered", WordOrder::Ordered),
            ("unordered", WordOrder::Any),
            ("unordered_no_overlap", WordOrder::Apart),
        ],
    )?;
    let order = match (mode, params.flag("ordered")?) {
        (Some(_), Some(_)) => {
            return Err(wrong(&params.path, "leave out ordered beside mode"));
        }
        (Some(mode), None) => mode,
        (None, Some(true)) => WordOrder::Ordered,
        (None, _) => WordOrder::Any,
    };
    let Some(gaps) = params.value("max_gaps")? else {
        return Ok((order, None));
    };
    let max_gaps = match gaps.text.parse::<i32>() {
        Ok(-1) => None,
        Ok(gaps) => Some(u32::try_from(gaps).ok()),
        Err(_) => Some(None),
    };
    let max_gaps = max_gaps.map(|gaps| {
        let what = "this must be a whole number, or -1 for any number of gaps";
        gaps.ok_or_else(|| wrong(&format!("{}.max_gaps", params.path), what))
    });
    Ok((order, max_gaps.transpose()?))
}
