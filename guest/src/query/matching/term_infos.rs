//! Where the lists of terms are, each looked up in its dictionary once.
//!
//! A search wants to know it several times: whether there is such a term, how long its list is, to load it, and to open it.
//! In a long dictionary each look goes through a block of 40 KB.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tantivy::postings::TermInfo;
use tantivy::{SegmentReader, Term};

/// What the dictionaries of a segment have said so far.
#[derive(Default)]
pub(crate) struct TermInfos(Mutex<BTreeMap<Term, Option<TermInfo>>>);

impl TermInfos {
    /// Looks a term up whose block of the dictionary is here; `None` if there is no such term.
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

    /// The same, and brings the block here.
    ///
    /// # Errors
    /// If it cannot be had; damage.
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
