//! `query_string`: a query in the language of query strings, with Elasticsearch's parameters; and `kql`, one in Kibana's.
//!
//! Escapes and operators are Lucene's; `AND` binds before `OR`. In a bare query string, adjacent words must all match; here one is enough, as in
//! Elasticsearch, unless `default_operator` says otherwise.

use std::ops::Bound;

use serde_json::Value;

use super::Reader;
use super::params::{Params, wrong};
use super::regexp::check_len;
use super::settings::{edits, effective, min_should, needs_all, rewrite, weighed};
use crate::SearchError;
use crate::query::grammar::{Dialect, KqlOptions, WordForm, parse_in_form, parse_kql};
use crate::query::tree::{
    AUTO, BoolNode, Combine, Edits, Ends, Factor, Fuzziness, Given, InFields, Leaf, Match,
    QueryNode, Range, Role, SpanRelation, TextLeaf,
};

/// Settings for all parts of a query string.
struct Scope<'a> {
    fields: Vec<(String, Factor)>,
    combine: Combine,
    is_lenient: bool,
    phrase_slop: u32,
    allows_leading_wildcard: bool,
    edits: Edits,
    prefix_len: usize,
    has_transpositions: bool,
    ends: Ends<'a>,
    path: String,
}

impl Reader<'_> {
    /// Parses `query_string`, see
    /// <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-query-string-query>.
    pub(super) fn query_string(
        &mut self,
        mut params: Params<'_>,
    ) -> Result<QueryNode, SearchError> {
        let text = params.needed("query")?.text;
        let mut names = names_of(&mut params)?;
        if let Some(field) = params.text("default_field")? {
            if !names.is_empty() {
                let what = "default_field and fields say the same: leave one of them out";
                return Err(wrong(&params.path, what));
            }
            names = vec![field];
        }
        let role = match needs_all(&mut params, "default_operator")? {
            Some(true) => Role::Must,
            _ => Role::Should,
        };
        let min_should = min_should(&mut params)?;
        let others = params.factor("tie_breaker")?.unwrap_or(0.0);
        let (is_best, form) = form_of(&mut params, role, &names)?;
        let time_zone = params.text("time_zone")?;
        let prefix_len = params.count("fuzzy_prefix_length")?.unwrap_or(0);
        let scope = Scope {
            fields: weighed(&format!("{}.fields", params.path), names)?,
            combine: match is_best {
                true => Combine::Best(Factor(others)),
                false => Combine::Sum,
            },
            is_lenient: params.flag("lenient")?.unwrap_or(false),
            phrase_slop: params.count("phrase_slop")?.unwrap_or(0),
            allows_leading_wildcard: params.flag("allow_leading_wildcard")?.unwrap_or(true),
            edits: edits(&mut params)?.unwrap_or(AUTO),
            prefix_len: usize::try_from(prefix_len).unwrap_or(usize::MAX),
            has_transpositions: params.flag("fuzzy_transpositions")?.unwrap_or(true),
            ends: Ends {
                now_ms: self.now_ms,
                format: None,
                time_zone: time_zone.as_deref(),
            },
            path: format!("{}.query", params.path),
        };
        scope.ends.check_zone(&params.path)?;
        read_what_says_nothing(&mut params)?;
        let is_escaped = params.flag("escape")?.unwrap_or(false);
        let boost = params.boost()?;
        params.finish()?;
        if text.trim().is_empty() {
            return Ok(QueryNode::Nothing);
        }
        let text = match is_escaped {
            true => escaped(&text),
            false => text,
        };
        let node = parse_in_form(&scope.path, &text, role, Dialect::Lucene, form, self.limits)?;
        let mut node = scope.node(node)?;
        if let (QueryNode::Bool(node), Some(_)) = (&mut node, &min_should)
            && node.clauses.iter().any(|(role, _)| *role == Role::Should)
        {
            node.min_should = effective(min_should, &node.clauses);
        }
        Ok(node.boosted(boost))
    }

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

/// Reads `type`: whether the best field counts, and what words side by side are. As in Elasticsearch, one of several fields
/// has all words where all must match. Without names, each word may be in any field, as in Quickwit, whose plugin for Grafana
/// asks so.
fn form_of(
    params: &mut Params<'_>,
    role: Role,
    names: &[String],
) -> Result<(bool, WordForm), SearchError> {
    let kinds = [
        ("best_fields", (true, WordForm::Alone)),
        ("most_fields", (false, WordForm::Alone)),
        ("phrase", (true, WordForm::Phrase)),
    ];
    let asked = params.choice("type", &kinds)?;
    let (is_best, form) = asked.unwrap_or((true, WordForm::Alone));
    let are_several = names.len() > 1 || names.iter().any(|name| name.contains('*'));
    let form = match (form, role) {
        (WordForm::Alone, Role::Must) if are_several => WordForm::Together,
        (form, _) => form,
    };
    Ok((is_best, form))
}

/// Takes the names of fields.
fn names_of(params: &mut Params<'_>) -> Result<Vec<String>, SearchError> {
    match params.get("fields") {
        Some(Value::Array(names)) if names.contains(&Value::Null) => {
            let what = "[query_string] field name in [fields] cannot be null";
            Err(SearchError::invalid(what))
        }
        _ => params.texts("fields"),
    }
}

impl Scope<'_> {
    fn node(&self, node: QueryNode) -> Result<QueryNode, SearchError> {
        Ok(match node {
            QueryNode::Bool(BoolNode {
                clauses,
                min_should,
            }) => {
                let clauses = clauses.into_iter();
                let clauses = clauses.map(|(role, node)| Ok((role, self.node(node)?)));
                QueryNode::Bool(BoolNode {
                    clauses: clauses.collect::<Result<_, SearchError>>()?,
                    min_should,
                })
            }
            QueryNode::Boost(node, boost) => QueryNode::Boost(Box::new(self.node(*node)?), boost),
            QueryNode::Leaf(Leaf::Text(leaf)) => self.leaf(leaf)?,
            QueryNode::Leaf(Leaf::Match(near)) => QueryNode::Leaf(Leaf::Match(self.near(near))),
            QueryNode::Fields(fields) => QueryNode::Fields(InFields {
                fields: self.fields.clone(),
                combine: self.combine,
                leaf: match fields.leaf {
                    Leaf::Match(near) => Leaf::Match(self.near(near)),
                    leaf => leaf,
                },
                is_lenient: self.is_lenient,
            }),
            other => other,
        })
    }

    /// Returns a word with the requested edit distance.
    fn near(&self, near: Match) -> Match {
        let fuzziness = near.fuzziness.map(|fuzziness| Fuzziness {
            edits: match fuzziness.edits {
                AUTO => self.edits,
                edits => edits,
            },
            prefix_len: self.prefix_len,
            has_transpositions: self.has_transpositions,
        });
        Match {
            fuzziness,
            is_lenient: self.is_lenient,
            ..near
        }
    }

    fn leaf(&self, mut leaf: TextLeaf) -> Result<QueryNode, SearchError> {
        if let TextLeaf::Literal(literal) = &mut leaf {
            let is_word = !literal.is_quoted;
            let phrase = literal.phrase.as_str();
            if is_word && !self.allows_leading_wildcard && phrase.starts_with(['*', '?']) {
                return Err(wrong(
                    &self.path,
                    format!(
                        "{phrase:?} begins with a wildcard, which allow_leading_wildcard forbids"
                    ),
                ));
            }
            if !is_word && literal.slop == 0 && !literal.is_prefix {
                literal.slop = self.phrase_slop;
            }
        }
        if let TextLeaf::Regex { pattern, .. } = &leaf {
            check_len(&self.path, pattern)?;
        }
        let name = match &leaf {
            TextLeaf::Literal(literal) => literal.field.clone(),
            TextLeaf::Range { field, .. }
            | TextLeaf::Set { field, .. }
            | TextLeaf::Regex { field, .. } => field.clone(),
            TextLeaf::Exists { .. } => {
                return Ok(QueryNode::text(leaf));
            }
        };
        if let (
            Some(field),
            TextLeaf::Range {
                lower,
                upper,
                field: _,
            },
        ) = (&name, &leaf)
            && !field.contains('*')
        {
            return self.range(field, lower, upper);
        }
        let fields = match name {
            Some(name) if name.contains('*') || self.is_lenient => vec![(name, Factor(1.0))],
            Some(_) => return Ok(QueryNode::Leaf(Leaf::Text(leaf))),
            None => self.fields.clone(),
        };
        Ok(QueryNode::Fields(InFields {
            fields,
            combine: self.combine,
            leaf: Leaf::Text(leaf),
            is_lenient: self.is_lenient,
        }))
    }

    fn range(
        &self,
        field: &str,
        lower: &Bound<String>,
        upper: &Bound<String>,
    ) -> Result<QueryNode, SearchError> {
        let end = |bound: &Bound<String>, is_lower: bool| {
            let (text, is_included) = match bound {
                Bound::Unbounded => return Ok(None),
                Bound::Included(text) => (text, true),
                Bound::Excluded(text) => (text, false),
            };
            let given = Given {
                text: text.clone(),
                is_number: false,
            };
            let end = self
                .ends
                .end(&self.path, field, given, is_included, is_lower);
            end.map(Some)
        };
        Ok(QueryNode::Leaf(Leaf::Range(Range {
            field: field.to_owned(),
            lower: end(lower, true)?,
            upper: end(upper, false)?,
            format: None,
            time_zone: self.ends.time_zone.map(str::to_owned),
            relation: SpanRelation::default(),
        })))
    }
}

/// Escapes all operators in a text.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if "+-=&|><!(){}[]^\"~*?:\\/".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Takes parameters that have no effect here.
fn read_what_says_nothing(params: &mut Params<'_>) -> Result<(), SearchError> {
    // Patterns are always normalized like the terms, and every expression has a limit.
    params.flag("analyze_wildcard")?;
    params.count("max_determinized_states")?;
    params.count("fuzzy_max_expansions")?;
    params.ignore(&[
        "auto_generate_synonyms_phrase_query",
        "enable_position_increments",
    ]);
    rewrite(params, "rewrite")?;
    rewrite(params, "fuzzy_rewrite")?;
    Ok(())
}
