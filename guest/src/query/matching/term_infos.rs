//! Positions of posting lists, looked up in the dictionary once per term.
//!
//! A search needs them several times: to test for a term, for the length of its list, to load it, and to open it. In a
//! long dictionary each lookup goes through a block of 40 KB.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tantivy::postings::TermInfo;
use tantivy::{SegmentReader, Term};

/// Results of a segment's dictionaries so far.
#[derive(Default)]
pub(crate) struct TermInfos(Mutex<BTreeMap<Term, Option<TermInfo>>>);

impl TermInfos {
    /// Looks up a term whose dictionary block is resident; `None` if the term does not exist.
    ///
    /// # Errors
    /// A read that missed; damage.
    pub(crate) fn get(
        &self,
        segment: &SegmentReader,
        term: &Term,
    ) -> tantivy::Result<Option<TermInfo>> {
        if let Some(known) = self.lock().get(term) {
            return Ok(known.clone());
        }
        let inverted_index = segment.inverted_index(term.field())?;
        let found = inverted_index.get_term_info(term)?;
        self.lock().insert(term.clone(), found.clone());
        Ok(found)
    }

    /// Looks up a term, after loading its dictionary block.
    ///
    /// # Errors
    /// If it cannot be fetched; damage.
    pub(crate) async fn load(
        &self,
        segment: &SegmentReader,
        term: &Term,
    ) -> tantivy::Result<Option<TermInfo>> {
        let known = self.lock().get(term).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let inverted_index = segment.inverted_index(term.field())?;
        let key = term.serialized_value_bytes();
        let found = inverted_index.terms().get_async(key).await?;
        self.lock().insert(term.clone(), found.clone());
        Ok(found)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Term, Option<TermInfo>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
