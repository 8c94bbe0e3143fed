//! The reads of a query, known before anything is read: the input of the warmup.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use canter_doc_mapper::DocMapper;
use tantivy::Term;
use tantivy::schema::Field;

use super::build::TermAutomaton;

/// A range of terms of one field.
#[derive(Clone, Debug)]
pub(crate) struct TermRange {
    pub(crate) field: Field,
    pub(crate) lower: Bound<Term>,
    pub(crate) upper: Bound<Term>,
    pub(crate) positions: bool,
}

/// Everything that a query reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needs {
    /// Terms, and whether their positions are needed.
    pub(crate) terms: BTreeMap<Term, bool>,
    pub(crate) term_ranges: Vec<TermRange>,
    /// Terms that automata accept, and whether their positions are needed.
    pub(crate) automata: Vec<(Field, TermAutomaton, bool)>,
    /// Fast fields by name; a JSON field's name includes all columns below it.
    pub(crate) fast_fields: BTreeSet<String>,
    /// Fields whose norms scoring needs.
    pub(crate) fieldnorms: BTreeSet<Field>,
}

impl Needs {
    /// Adds the reads of another query.
    pub(crate) fn add(&mut self, other: Self) {
        let Self {
            terms,
            term_ranges,
            automata,
            fast_fields,
            fieldnorms,
        } = other;
        for (term, positions) in &terms {
            self.term(term, *positions);
        }
        self.term_ranges.extend(term_ranges);
        self.automata.extend(automata);
        self.fast_fields.extend(fast_fields);
        self.fieldnorms.extend(fieldnorms);
    }

    /// Adds the columns that names of fast fields stand for.
    pub(crate) fn columns<'n>(&mut self, mapper: &DocMapper, names: impl Iterator<Item = &'n str>) {
        let columns = names.flat_map(|name| mapper.columns_of(name));
        self.fast_fields
            .extend(columns.map(|column| column.name.into_owned()));
    }

    /// Returns whether which terms are read depends on a dictionary: those of ranges and patterns. Dictionaries of whole
    /// values do not count, since they are read like entries of terms, and small.
    pub(crate) fn has_patterns(&self) -> bool {
        let is_pattern =
            |automaton: &TermAutomaton| !matches!(automaton, TermAutomaton::InValues(_));
        let mut automata = self.automata.iter();
        !self.term_ranges.is_empty() || automata.any(|(_, automaton, _)| is_pattern(automaton))
    }

    pub(crate) fn term(&mut self, term: &Term, positions: bool) {
        let wanted = self.terms.entry(term.clone()).or_default();
        *wanted |= positions;
    }
}
