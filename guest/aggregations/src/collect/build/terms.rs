//! Collectors of terms: all, rare ones, those of several fields, and those that are compared.

use std::sync::Arc;

use tantivy::columnar::ColumnType;

use super::choice::key_filter;
use super::{Builder, Columns, Objects};
use crate::Result;
use crate::collect::Collect;
use crate::collect::field::{Field, Numbers};
use crate::collect::keyed::{Counted, Keyed, TermChoice, Through, Way};
use crate::collect::mapping::{ByValue, ToCode};
use crate::collect::tuples::Tuples;
use crate::request::{Categories, MultiTerms, RareTerms, Significant, Source, Terms, WORDS};

/// Collectors of what is inside.
type Inside = Vec<Box<dyn Collect>>;

impl Builder<'_> {
    pub(super) fn terms(
        &self,
        terms: &Terms,
        inside: impl Fn() -> Result<Inside>,
    ) -> Result<Box<dyn Collect>> {
        let choice = TermChoice {
            is_taken: key_filter(terms.include.as_ref(), terms.exclude.as_ref())?,
            has_empty: terms.min_doc_count == 0,
        };
        self.counted(self.by_value(&terms.source)?, choice, inside()?)
    }

    /// Returns buckets for each value, which are counted in packed form where that is possible.
    fn counted(
        &self,
        mapping: ByValue,
        choice: TermChoice,
        inside: Inside,
    ) -> Result<Box<dyn Collect>> {
        Ok(match inside.is_empty() && Counted::fits(&mapping) {
            true => Box::new(Counted::new(mapping, choice)),
            false => Box::new(Keyed::new(mapping, inside, true, choice)),
        })
    }

    pub(super) fn rare_terms(&self, terms: &RareTerms, inside: Inside) -> Result<Box<dyn Collect>> {
        let choice = TermChoice {
            is_taken: key_filter(terms.include.as_ref(), terms.exclude.as_ref())?,
            has_empty: false,
        };
        // A term that is rare in this split may be frequent in others, so none can be dropped. A
        // term that is frequent here is rare nowhere.
        let mapping = self.by_value(&terms.source)?;
        let keyed = Keyed::new(mapping, inside, false, choice);
        Ok(Box::new(keyed.looking_into_rare(terms.max_doc_count)))
    }

    pub(super) fn multi_terms(
        &self,
        terms: &MultiTerms,
        inside: Inside,
    ) -> Result<Box<dyn Collect>> {
        let mappings = terms.sources.iter().map(|source| self.by_value(source));
        let tuples = Tuples::new(mappings.collect::<Result<_>>()?, inside, None)?;
        Ok(Box::new(match terms.min_doc_count {
            0 => tuples.with_all_of(self.split.columns.num_docs()),
            _ => tuples,
        }))
    }

    pub(super) fn significant(
        &self,
        terms: &Significant,
        inside: impl Fn() -> Result<Inside>,
    ) -> Result<Box<dyn Collect>> {
        let choice = TermChoice {
            is_taken: key_filter(terms.include.as_ref(), terms.exclude.as_ref())?,
            has_empty: false,
        };
        // Documents are not read for their words where a column has the terms.
        let words = terms
            .words
            .and_then(|list| self.documents.objects.get(list));
        let Some(words) = words.filter(|words| words.list.is_read(self.split.mapper)) else {
            return self.counted(self.by_value(&terms.source)?, choice, inside()?);
        };
        let keyed = Keyed::new(self.words_of(words)?, Vec::new(), true, choice);
        Ok(Box::new(Through::new(
            Arc::clone(&words.places),
            Way::In,
            Box::new(keyed),
        )))
    }

    pub(super) fn categories(
        &self,
        categories: &Categories,
        inside: Inside,
    ) -> Result<Box<dyn Collect>> {
        let choice = TermChoice::default();
        let read = self.documents.objects.get(categories.list);
        let Some(read) = read.filter(|read| read.list.is_read(self.split.mapper)) else {
            let source = Source {
                field: categories.column.clone(),
                missing: None,
            };
            return self.counted(self.by_value(&source)?, choice, inside);
        };
        let around = |inside: Box<dyn Collect>| -> Box<dyn Collect> {
            Box::new(Through::new(Arc::clone(&read.places), Way::Out, inside))
        };
        let inside = inside.into_iter().map(around).collect();
        let keyed = Keyed::new(self.words_of(read)?, inside, true, choice);
        Ok(Box::new(Through::new(
            Arc::clone(&read.places),
            Way::In,
            Box::new(keyed),
        )))
    }

    /// Opens the words, or patterns, that were read from documents.
    fn words_of(&self, read: &Objects) -> Result<ByValue> {
        let is_text = |column_type| column_type == ColumnType::Str;
        let columns = Columns::Objects(read);
        let field = Field::open(
            columns,
            self.split.mapper,
            WORDS,
            Numbers::AsTheyAre,
            is_text,
        )?;
        Ok(ByValue::new(field, ToCode::Value, None))
    }
}
