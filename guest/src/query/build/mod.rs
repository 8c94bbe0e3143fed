//! The query builder: a query's tree + doc mapper → tantivy query + needs.

mod builder;
mod exact;
mod literal;
mod open;
mod range;
mod scores;
mod sets;
mod value;
mod whole_values;
mod wildcard;
mod words;

pub(super) use value::{
    NO_POINT, decode_bytes, is_json_date, json_base_term, parse_date, parse_date_bound,
    parse_scalar, prefix_end,
};
pub(crate) use whole_values::{any_text, start_of_texts, text_in};

pub(crate) use sets::{TermAutomaton, TestOfValues, ValueClause, vectors_at};
pub(crate) use words::{named_in, no_words, tokenizer_named, word_term, words_in};

use canter_doc_mapper::{DocMapper, FieldKind, ResolvedField, ScannedField};
use canter_names::matches_pattern;
use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, Occur, Query,
};

use self::builder::{Builder, any_of};
use self::literal::build_literal;
use self::open::in_default_fields;
use self::range::{build_exists, build_range, build_set};
use self::scores::Demoted;
use self::sets::{SliceOf, check_slices};
use self::wildcard::build_regex;
use super::columns::{PlaceTest, within};
use super::needs::Needs;
use super::scan::{Clause, NestedClause, Scan, Wanted};
use super::tree::{BoolNode, Given, ID, INDEX, Leaf, PatternKind, QueryNode, Role, TextLeaf};
use crate::SearchError;
use crate::limits::Limits;

/// Shape of a query, as far as there is a shortcut for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum QueryShape {
    /// Every document matches.
    All,
    /// No document matches.
    Nothing,
    /// The documents of one posting list.
    Term(Term),
    /// Anything else.
    Other,
}

/// A query ready to run on one split.
#[derive(Debug)]
pub(crate) struct BuiltQuery {
    pub(crate) query: Box<dyn Query>,
    pub(crate) shape: QueryShape,
    pub(crate) needs: Needs,
    /// Clauses for which documents must be scanned.
    pub(crate) scan: Scan,
    /// True if scores lie so close together that they are rounded less.
    pub(crate) is_precise: bool,
}

/// Builds the query for the doc mapping of an index.
///
/// # Errors
/// If it names a field that does not exist, or that does not support it.
pub(crate) fn build_query(
    node: &QueryNode,
    mapper: &DocMapper,
    search_fields: &[String],
    scoring: bool,
    limits: &Limits,
) -> Result<BuiltQuery, SearchError> {
    build_for_split(node, mapper, None, None, search_fields, scoring, limits)
}

/// Builds the query for the doc mapping of one split, of this id. `found_paths` are the paths inside JSON fields in which its
/// documents have values, if the query applies to fields that it does not name.
///
/// # Errors
/// As [`build_query`].
pub(crate) fn build_for_split(
    node: &QueryNode,
    mapper: &DocMapper,
    split: Option<&str>,
    found_paths: Option<&[String]>,
    search_fields: &[String],
    scoring: bool,
    limits: &Limits,
) -> Result<BuiltQuery, SearchError> {
    let mut builder = Builder::new(mapper, search_fields, scoring, limits);
    builder.split = split;
    builder.found_paths = found_paths;
    let query = builder.node(node)?;
    let shape = shape_of(query.as_ref());
    Ok(BuiltQuery {
        query,
        shape,
        needs: builder.needs,
        scan: builder.scan,
        is_precise: builder.is_precise,
    })
}

/// Builds a query on the objects in a list; `None` if a path has none.
///
/// # Errors
/// As [`build_query`]; or the query has a clause that cannot be asked of single objects.
pub(crate) fn build_nested(
    node: &QueryNode,
    path: &str,
    mapper: &DocMapper,
    limits: &Limits,
) -> Result<Option<NestedClause>, SearchError> {
    if !mapper.is_nested(path) {
        return Ok(None);
    }
    let mut builder = Builder::new(mapper, &[], false, limits);
    builder.clause_on_objects(node, path).map(Some)
}

fn shape_of(query: &dyn Query) -> QueryShape {
    if query.is::<AllQuery>() {
        QueryShape::All
    } else if query.is::<EmptyQuery>() {
        QueryShape::Nothing
    } else if let Some(term) = query.downcast_ref::<tantivy::query::TermQuery>() {
        QueryShape::Term(term.term().clone())
    } else {
        QueryShape::Other
    }
}

impl Builder<'_> {
    fn node(&mut self, node: &QueryNode) -> Result<Box<dyn Query>, SearchError> {
        match node {
            QueryNode::All => {
                self.spend_clause()?;
                Ok(Box::new(AllQuery))
            }
            QueryNode::Nothing => Ok(Box::new(EmptyQuery)),
            QueryNode::Leaf(leaf) => self.leaf(leaf),
            QueryNode::Fields(fields) => self.in_fields(fields),
            QueryNode::Bool(node) => self.clauses(node),
            QueryNode::Boost(inner, boost) => {
                let inner = self.node(inner)?;
                Ok(match self.scoring {
                    true => Box::new(BoostQuery::new(inner, boost.0)),
                    false => inner,
                })
            }
            QueryNode::Constant(inner, score) => self.constant(inner, score.0),
            QueryNode::Nested(inner, path, ignores_unmapped) => {
                let is_unmapped = match self.mapper.resolve(path) {
                    Some(field) => field.is_dynamic,
                    // An object is no field, and has some.
                    None => self.mapper.resolve_all(path).is_empty(),
                };
                match (self.is_object(path), ignores_unmapped) {
                    (_, true) if is_unmapped && !self.of_objects => Ok(Box::new(EmptyQuery)),
                    (true, _) => self.one_object(inner, path),
                    (false, true) => Ok(Box::new(EmptyQuery)),
                    (false, false) => Err(SearchError::invalid(format!(
                        "[nested] failed to find nested object under path [{path}]"
                    ))),
                }
            }
            QueryNode::Best(nodes, others) => {
                let queries = nodes.iter().map(|node| self.node(node));
                let queries = queries.collect::<Result<_, _>>()?;
                Ok(self.best_of(queries, others.0))
            }
            QueryNode::Scored(scored) => self.scored(scored),
            QueryNode::Demoted(positive, negative, factor) => {
                let positive = self.node(positive)?;
                if !self.scoring {
                    // Only its errors matter.
                    self.without_trace(|builder| builder.node(negative))?;
                    return Ok(positive);
                }
                let negative = self.without_scores(|builder| builder.node(negative))?;
                Ok(Box::new(Demoted::new(positive, negative, factor.0)))
            }
        }
    }

    /// Returns whether a path is that of an object, mapped or possibly unmapped.
    fn is_object(&self, path: &str) -> bool {
        let is_below = |field: &ResolvedField<'_>| {
            let name = field.path();
            let below = name.strip_prefix(path);
            below.is_some_and(|below| below.starts_with('.'))
        };
        match self.mapper.kind_of(path) {
            Some(kind) => matches!(kind, FieldKind::Json(_)),
            None => self.mapper.fields().iter().any(is_below),
        }
    }

    /// Builds a query that gives all its matches the same score.
    fn constant(&mut self, node: &QueryNode, score: f32) -> Result<Box<dyn Query>, SearchError> {
        let query = self.without_scores(|builder| builder.node(node))?;
        Ok(match self.scoring {
            true => Box::new(ConstScoreQuery::new(query, score)),
            false => query,
        })
    }

    fn clauses(&mut self, node: &BoolNode) -> Result<Box<dyn Query>, SearchError> {
        let of_role = |role: Role| node.clauses.iter().filter(move |(own, _)| *own == role);
        let num_should = of_role(Role::Should).count();
        let num_must = of_role(Role::Must).count() + of_role(Role::Filter).count();
        let min_should = match &node.min_should {
            Some(rule) => rule.of(num_should),
            None => usize::from(num_must == 0 && num_should > 0),
        };
        let mut queries: Vec<(Occur, Box<dyn Query>)> = Vec::with_capacity(node.clauses.len() + 1);
        for (role, node) in &node.clauses {
            let (occur, query) = match role {
                Role::Must => (Occur::Must, self.node(node)?),
                Role::Filter => (Occur::Must, self.constant(node, 0.0)?),
                // If all clauses must match, each must.
                Role::Should if min_should == num_should => (Occur::Must, self.node(node)?),
                Role::Should if min_should == 0 && !self.scoring => {
                    self.without_trace(|builder| builder.node(node))?;
                    continue;
                }
                Role::Should => (Occur::Should, self.node(node)?),
                Role::MustNot if self.is_relaxed => {
                    self.without_trace(|builder| builder.node(node))?;
                    continue;
                }
                Role::MustNot => {
                    self.is_excluded ^= true;
                    let query = self.without_scores(|builder| builder.node(node));
                    self.is_excluded ^= true;
                    (Occur::MustNot, query?)
                }
            };
            // tantivy drops match-all queries from a conjunction, with their scores.
            let query: Box<dyn Query> = match self.scoring && query.is::<AllQuery>() {
                true => Box::new(ConstScoreQuery::new(query, 1.0)),
                false => query,
            };
            queries.push((occur, query));
        }
        if min_should > num_should {
            return Ok(Box::new(EmptyQuery));
        }
        let has = |occur: Occur| queries.iter().any(|(own, _)| *own == occur);
        if !has(Occur::Must) && min_should == 0 {
            // `NOT x` alone matches everything except x, and no clause at all matches everything.
            let query: Box<dyn Query> = match node.clauses.is_empty() {
                true => Box::new(AllQuery),
                // Negated clauses give no score; optional clauses give all of it.
                false => Box::new(ConstScoreQuery::new(Box::new(AllQuery), 0.0)),
            };
            let query = match self.scoring {
                true => query,
                false => Box::new(AllQuery),
            };
            queries.push((Occur::Must, query));
        }
        if let [(Occur::Must | Occur::Should, _)] = queries.as_slice()
            && let Some((_, only)) = queries.pop()
        {
            return Ok(only);
        }
        let min_should = match queries.iter().any(|(own, _)| *own == Occur::Should) {
            true => min_should,
            false => 0,
        };
        Ok(Box::new(BooleanQuery::with_minimum_required_clauses(
            queries, min_should,
        )))
    }

    fn leaf(&mut self, leaf: &Leaf) -> Result<Box<dyn Query>, SearchError> {
        self.spend_clause()?;
        if let Some(query) = self.any_value(leaf)? {
            return Ok(query);
        }
        match leaf.field() {
            Some(name) => self.or_whole_values(name, &mut |builder| builder.leaf_of(leaf)),
            None => self.leaf_of(leaf),
        }
    }

    fn leaf_of(&mut self, leaf: &Leaf) -> Result<Box<dyn Query>, SearchError> {
        match leaf {
            Leaf::Text(leaf) => self.text_leaf(leaf),
            Leaf::Match(matched) => match &matched.field {
                Some(name) => self.matching(name, matched),
                None => Err(SearchError::internal("a text to match names no field")),
            },
            Leaf::Term {
                field,
                value,
                case_insensitive,
            } => self.exact(field, value, *case_insensitive),
            Leaf::Terms { field, values } => self.one_of(field, values),
            Leaf::Range(range) => self.between(range),
            Leaf::Slice { id, of } => {
                check_slices(*of, self.mapper)?;
                Ok(Box::new(SliceOf::new(*id, *of)))
            }
            Leaf::Ids(identities) => Ok(self.looked_up(Clause::Ids(identities.clone()))),
            Leaf::Metadata(leaf) => self.metadata(leaf),
            Leaf::Pattern {
                field,
                kind,
                pattern,
                case_insensitive,
            } => self.pattern(field, *kind, pattern, *case_insensitive),
            Leaf::Place {
                field,
                region,
                ignores_unmapped,
            } => {
                if self.of_objects
                    && let Ok(field) = self.resolve(field)
                {
                    let wanted = Wanted::Place(PlaceTest::new(region));
                    return Ok(self.scan(ScannedField::of(&field), wanted));
                }
                let (query, needs) = within(self.mapper, field, region, *ignores_unmapped)?;
                self.needs.add(needs);
                Ok(query)
            }
            Leaf::Fuzzy {
                field,
                value,
                fuzziness,
            } => self.fuzzy(field, value, *fuzziness),
            // Its words are chosen before, unless a query is only checked.
            Leaf::Alike(alike) => self.alike_fields(alike),
            Leaf::Nearest(nearest) => self.nearest(nearest),
            Leaf::Fused(fused) => self.fused(fused),
            Leaf::Found(found) => self.found(found),
            Leaf::Positional(wanted) => self.positional(wanted),
        }
    }

    /// Builds a query on an index's name or a document's identity; or on a field, where the mapping has one with that
    /// name.
    fn metadata(&mut self, leaf: &Leaf) -> Result<Box<dyn Query>, SearchError> {
        let name = leaf.field().unwrap_or_default();
        let is_field = !is_metadata(self.mapper, name);
        if is_field && (name != ID || self.mapper.id_field().is_none()) {
            return self.leaf_of(leaf);
        }
        let values: Vec<&str> = match leaf {
            Leaf::Term { value, .. } => vec![&value.text],
            Leaf::Terms { values, .. } => values.iter().map(|value| &*value.text).collect(),
            Leaf::Match(matched) => vec![&matched.text],
            Leaf::Text(TextLeaf::Literal(literal)) => vec![&literal.phrase],
            Leaf::Text(TextLeaf::Set { elements, .. }) => {
                elements.iter().map(String::as_str).collect()
            }
            Leaf::Text(TextLeaf::Exists { .. }) => return Ok(Box::new(AllQuery)),
            Leaf::Pattern {
                kind: PatternKind::Wildcard,
                pattern,
                ..
            } if name == INDEX => vec![pattern],
            _ if is_field => return self.leaf(leaf),
            _ => {
                return Err(SearchError::invalid(format!(
                    "{name}: this takes term, terms, match and exists only, and for _index wildcard"
                )));
            }
        };
        if name == ID {
            return self.by_id(&values);
        }
        let mut values = values.into_iter();
        let matches = values.any(|value| matches_pattern(value, self.mapper.index_name()));
        Ok(match matches {
            true => Box::new(AllQuery),
            false => Box::new(EmptyQuery),
        })
    }

    /// Builds a query for the documents with one of these ids: of a client's choice, or else their identities.
    fn by_id(&mut self, ids: &[&str]) -> Result<Box<dyn Query>, SearchError> {
        let by_identity = Leaf::ids(ids.iter().copied());
        let Some(id_field) = self.mapper.id_field().map(str::to_owned) else {
            return self.leaf(&by_identity);
        };
        let values = ids.iter().map(|id| Given {
            text: (*id).to_owned(),
            is_number: false,
        });
        let values: Vec<Given> = values.collect();
        let by_field = self.one_of(&id_field, &values)?;
        match by_identity {
            Leaf::Ids(identities) if identities.is_empty() => Ok(by_field),
            by_identity => Ok(any_of(vec![by_field, self.leaf(&by_identity)?])),
        }
    }

    fn text_leaf(&mut self, leaf: &TextLeaf) -> Result<Box<dyn Query>, SearchError> {
        match leaf {
            TextLeaf::Literal(literal) => build_literal(self, literal),
            TextLeaf::Range {
                field,
                lower,
                upper,
            } => match field {
                Some(name) => build_range(self, name, lower, upper),
                None => in_default_fields(self, leaf, &mut |builder, name| {
                    build_range(builder, name, lower, upper)
                }),
            },
            TextLeaf::Set { field, elements } => match field {
                Some(name) => build_set(self, name, elements),
                None => in_default_fields(self, leaf, &mut |builder, name| {
                    build_set(builder, name, elements)
                }),
            },
            TextLeaf::Exists { field } => build_exists(self, field),
            TextLeaf::Regex { field, pattern } => match field {
                Some(name) => build_regex(self, name, pattern),
                None => in_default_fields(self, leaf, &mut |builder, name| {
                    build_regex(builder, name, pattern)
                }),
            },
        }
    }
}

/// Returns whether a name refers to Elasticsearch's metadata of every document instead of a mapped field.
pub(crate) fn is_metadata(mapper: &DocMapper, name: &str) -> bool {
    let is_it = |field: &ResolvedField<'_>| field.path() == name;
    matches!(name, INDEX | ID) && !mapper.fields().iter().any(is_it)
}
