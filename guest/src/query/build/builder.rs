//! State of a query under construction, and the names that its parts use.

use std::sync::Arc;

use canter_doc_mapper::{DocMapper, FieldKind, ResolvedField, ScannedField, Values};
use tantivy::query::{AllQuery, BooleanQuery, ConstScoreQuery, EmptyQuery, Occur, Query};
use tantivy::schema::Field;

use super::scores::Best;
use super::sets::{AutomatonQuery, TermAutomaton};
use crate::limits::Limits;
use crate::query::columns::ColumnTerms;
use crate::query::grammar::too_many_clauses;
use crate::query::needs::Needs;
use crate::query::scan::{Clause, FieldClause, InValues, NestedClause, Scan, Wanted};
use crate::query::tree::{QueryNode, TextLeaf};
use crate::{ErrorKind, SearchError};

/// Result of building a part of a query.
pub(super) type Built = Result<Box<dyn Query>, SearchError>;

/// Maximum number of patterns in a query: each is an automaton over a dictionary.
pub(super) const MAX_PATTERNS: usize = 1_024;

/// Builder of one query.
pub(crate) struct Builder<'a> {
    pub(super) mapper: &'a DocMapper,
    /// The id of the split; `None` for an index as a whole.
    pub(super) split: Option<&'a str>,
    /// True if scores are rounded less.
    pub(super) is_precise: bool,
    /// The paths inside JSON fields in which the split has values; `None` if they are not known.
    pub(super) found_paths: Option<&'a [String]>,
    pub(super) search_fields: &'a [String],
    pub(super) scoring: bool,
    pub(super) needs: Needs,
    pub(super) scan: Scan,
    /// True inside a negation.
    pub(super) is_excluded: bool,
    /// True if the query may match more than it says, but nothing less: exclusions are left out.
    pub(super) is_relaxed: bool,
    /// True if all leaves are tested on the objects of a list, instead of being looked up.
    pub(super) of_objects: bool,
    /// True if names of unmapped fields mean whole values, as in `level.keyword`.
    pub(super) in_whole_values: bool,
    pub(super) clauses_left: usize,
    pub(super) max_clauses: usize,
    pub(super) patterns_left: usize,
}

impl<'a> Builder<'a> {
    /// Counts one clause against the limit.
    pub(super) fn spend_clause(&mut self) -> Result<(), SearchError> {
        match self.clauses_left.checked_sub(1) {
            Some(left) => {
                self.clauses_left = left;
                Ok(())
            }
            None => Err(SearchError::new(
                ErrorKind::Limit,
                too_many_clauses(self.max_clauses),
            )),
        }
    }

    /// Counts one pattern against the limit.
    pub(super) fn spend_pattern(&mut self) -> Result<(), SearchError> {
        match self.patterns_left.checked_sub(1) {
            Some(left) => {
                self.patterns_left = left;
                Ok(())
            }
            None => Err(SearchError::new(
                ErrorKind::Limit,
                format!("the query has more than {MAX_PATTERNS} patterns"),
            )),
        }
    }

    /// Returns what `build` makes for a field. An unmapped name such as `level.keyword` may be a key of that name or
    /// the whole values of `level`: it is built for both.
    pub(super) fn or_whole_values(
        &mut self,
        name: &str,
        build: &mut dyn FnMut(&mut Self) -> Built,
    ) -> Built {
        if self.in_whole_values || self.mapper.whole_values(name).is_none() {
            return build(self);
        }
        let mut queries = vec![build(self)?];
        self.in_whole_values = true;
        let whole_values = build(self);
        self.in_whole_values = false;
        queries.push(whole_values?);
        queries.retain(|query| !query.is::<EmptyQuery>());
        Ok(any_of(queries))
    }

    /// Returns the field that a name stands for.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn resolve(&self, name: &str) -> Result<ResolvedField<'a>, SearchError> {
        let whole_values = match self.in_whole_values {
            true => self.mapper.whole_values(name),
            false => None,
        };
        let field = match whole_values {
            Some(field) => field,
            None => resolve(self.mapper, name)?,
        };
        Ok(self.as_searched(field))
    }

    /// Returns the fields that a name stands for: those of an object, or one.
    pub(super) fn resolve_all(&self, name: &str) -> Vec<ResolvedField<'a>> {
        let whole_values = match self.in_whole_values {
            true => self.mapper.whole_values(name),
            false => None,
        };
        let fields = match whole_values {
            Some(field) => vec![field],
            None => self.mapper.resolve_all(name),
        };
        let fields = fields.into_iter();
        fields.map(|field| self.as_searched(field)).collect()
    }

    /// Returns a field as this query searches it: in objects, by their values.
    fn as_searched(&self, field: ResolvedField<'a>) -> ResolvedField<'a> {
        let is_searched = field.indexed || field.scanned || field.is_fast();
        match self.of_objects && is_searched {
            true => ResolvedField {
                indexed: false,
                scanned: true,
                values_of: None,
                fast: None,
                view: None,
                ..field
            },
            false => field,
        }
    }

    /// Creates a builder with nothing built.
    pub(super) fn new(
        mapper: &'a DocMapper,
        search_fields: &'a [String],
        scoring: bool,
        limits: &Limits,
    ) -> Self {
        Self {
            mapper,
            split: None,
            is_precise: false,
            found_paths: None,
            search_fields,
            scoring,
            needs: Needs::default(),
            scan: Scan::default(),
            is_excluded: false,
            is_relaxed: false,
            of_objects: false,
            in_whole_values: false,
            clauses_left: limits.max_query_clauses,
            max_clauses: limits.max_query_clauses,
            patterns_left: MAX_PATTERNS,
        }
    }

    /// Builds a query on single objects at a path.
    pub(super) fn clause_on_objects(
        &mut self,
        node: &QueryNode,
        path: &str,
    ) -> Result<NestedClause, SearchError> {
        let mut inside = Builder {
            needs: Needs::default(),
            scan: Scan::default(),
            scoring: false,
            is_excluded: false,
            is_relaxed: false,
            of_objects: true,
            in_whole_values: false,
            ..*self
        };
        let query = inside.node(node)?;
        self.clauses_left = inside.clauses_left;
        NestedClause::new(path, query, inside.scan.clauses)
    }

    /// Returns the query for the documents of which one object in a list at this path meets a query: found as if
    /// all objects were one, without exclusions, and then decided on the objects of the documents found.
    pub(super) fn one_object(&mut self, node: &QueryNode, path: &str) -> Built {
        if !self.of_objects && !self.mapper.is_nested(path) {
            let found = self.node(node)?;
            if !found.is::<AllQuery>() {
                return Ok(found);
            }
            // A document without the path has no object that anything could be true of, where that can be told.
            let exists = QueryNode::text(TextLeaf::Exists {
                field: path.to_owned(),
            });
            return Ok(self.node(&exists).unwrap_or(found));
        }
        let clause = self.clause_on_objects(node, path)?;
        if self.of_objects {
            return Ok(self.looked_up(Clause::Nested(Box::new(clause))));
        }
        let was_relaxed = std::mem::replace(&mut self.is_relaxed, true);
        let found = self.node(node);
        self.is_relaxed = was_relaxed;
        let found = found?;
        if was_relaxed {
            // The clause around it decides.
            return Ok(found);
        }
        let decided = self.looked_up(Clause::Nested(Box::new(clause)));
        let decided: Box<dyn Query> = match self.scoring {
            true => Box::new(ConstScoreQuery::new(decided, 0.0)),
            false => decided,
        };
        Ok(all_of(vec![found, decided]))
    }

    /// Returns the union of queries with the score of the best, plus the share `others` of the other scores.
    pub(super) fn best_of(&self, queries: Vec<Box<dyn Query>>, others: f32) -> Box<dyn Query> {
        match self.scoring && queries.len() > 1 {
            true => Box::new(Best::new(queries, others)),
            false => any_of(queries),
        }
    }

    /// Builds something whose scores do not count.
    pub(super) fn without_scores<T>(&mut self, build: impl FnOnce(&mut Self) -> T) -> T {
        let scoring = std::mem::replace(&mut self.scoring, false);
        let built = build(self);
        self.scoring = scoring;
        built
    }

    /// Builds something only to find out whether that is possible.
    pub(super) fn without_trace<T>(&mut self, build: impl FnOnce(&mut Self) -> T) -> T {
        let (needs, scan) = (self.needs.clone(), self.scan.clone());
        let built = build(self);
        (self.needs, self.scan) = (needs, scan);
        built
    }

    /// Returns the query for a value in a field without terms of its own: in the whole values of fields, or in documents.
    pub(super) fn scan(&mut self, field: ScannedField, wanted: Wanted) -> Box<dyn Query> {
        if let Some(values) = field.values_of() {
            let clause = InValues::new(self.mapper.analyzer_of(&field), wanted);
            return self.in_values(values, clause);
        }
        self.looked_up(Clause::Field(FieldClause { field, wanted }))
    }

    /// Returns the query for the documents with a value, in one of the dictionaries, of which a clause is true.
    fn in_values(&mut self, dictionaries: &[Values], clause: InValues) -> Box<dyn Query> {
        let automaton = TermAutomaton::InValues(Arc::new(clause));
        let queries = dictionaries.iter().map(|values| match values {
            Values::Terms(field) => find_accepted(self, *field, automaton.clone()),
            Values::Column(name) => {
                self.needs.fast_fields.insert(name.clone());
                Box::new(ColumnTerms::new(name.clone(), automaton.clone()))
            }
        });
        any_of(queries.collect())
    }

    /// Returns the query for a clause that no index of a split answers.
    pub(super) fn looked_up(&mut self, clause: Clause) -> Box<dyn Query> {
        self.scan.add(clause, self.is_excluded)
    }
}

/// Returns the field with a name.
///
/// # Errors
/// If there is none.
fn resolve<'a>(mapper: &'a DocMapper, name: &str) -> Result<ResolvedField<'a>, SearchError> {
    mapper.resolve(name).ok_or_else(|| no_such_field(name))
}

/// Returns whether a split has no searchable data of a field, because the field was added to the index later:
/// it is absent, or dynamic mapping stored it where queries do not look.
pub(super) fn has_nothing(field: &ResolvedField<'_>, mapper: &DocMapper) -> bool {
    let is_searched = field.indexed || field.scanned || field.is_fast();
    let is_hidden = field.is_dynamic && !is_searched;
    // Elasticsearch has no fields below an object with `enabled: false`.
    let is_kept = !is_searched && matches!(field.kind, FieldKind::Json(_));
    let is_kept = is_kept && mapper.id_field() == Some("_id");
    field.is_absent || is_kept || (is_hidden && mapper.is_of_segment())
}

pub(super) fn no_such_field(name: &str) -> SearchError {
    SearchError::invalid(format!("the field {name:?} does not exist in this index"))
}

pub(super) fn not_indexed(name: &str) -> SearchError {
    SearchError::invalid(format!(
        "the field {name:?} is not indexed: set indexed: true in its mapping, or strategy: none to have documents \
         looked through, or search it for whole \
         values and ranges if it is fast"
    ))
}

/// Returns the query for the documents with a term of a field that an automaton accepts.
pub(super) fn find_accepted(
    builder: &mut Builder<'_>,
    field: Field,
    automaton: TermAutomaton,
) -> Box<dyn Query> {
    let automata = &mut builder.needs.automata;
    automata.push((field, automaton.clone(), false));
    Box::new(AutomatonQuery { field, automaton })
}

/// Matches if any of the queries does.
pub(super) fn any_of(mut queries: Vec<Box<dyn Query>>) -> Box<dyn Query> {
    if queries.len() > 1 {
        return Box::new(BooleanQuery::new(
            queries
                .into_iter()
                .map(|query| (Occur::Should, query))
                .collect(),
        ));
    }
    queries.pop().unwrap_or_else(|| Box::new(EmptyQuery))
}

/// Matches if all of the queries do.
pub(super) fn all_of(mut queries: Vec<Box<dyn Query>>) -> Box<dyn Query> {
    if queries.len() > 1 {
        return Box::new(BooleanQuery::intersection(queries));
    }
    queries.pop().unwrap_or_else(|| Box::new(EmptyQuery))
}
