//! What is held in memory of an index between operations on it: what was read a moment ago, and immutable objects that are
//! read again and again.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use canter_split_format::{IdentityRange, KeyFilter, MANIFEST_OBJECT, SplitEntry};

use super::{IndexStore, Version};
use crate::blocking;
use crate::error::BuildError;

/// State of an index in memory, shared by all clones of its store.
#[derive(Default)]
pub(super) struct Held {
    /// Manifest that was read a moment ago, for the ingest that follows.
    manifest: Mutex<Option<(Bytes, Version)>>,
    /// Live splits whose documents were looked up by their ids.
    splits: Mutex<BTreeMap<String, Arc<HeldSplit>>>,
    /// Splits of digests of ids.
    digests: Mutex<BTreeMap<String, Arc<BTreeSet<String>>>>,
    /// Entries of pages.
    pages: Mutex<BTreeMap<String, Arc<Vec<SplitEntry>>>>,
}

/// What it takes to look up documents of a split by their ids.
#[derive(Debug)]
pub(crate) struct HeldSplit {
    /// Absent if no client gave an id to any of its documents.
    pub(crate) keys: Option<HeldKeys>,
    /// Range of the documents' identities, and of the file in the split's object that contains them.
    pub(crate) identities: Option<(IdentityRange, Range<u64>)>,
}

/// Filter of the ids that clients gave.
#[derive(Debug)]
pub(crate) struct HeldKeys {
    pub(crate) filter: KeyFilter,
    /// Range of the file in the split's object.
    pub(crate) file: Range<u64>,
}

impl IndexStore {
    /// Whether there is an index. Its manifest, which says so, is held for the ingest that follows, which saves a request.
    ///
    /// # Errors
    /// `Unavailable` if storage does not answer.
    pub fn has_index(&self) -> Result<bool, BuildError> {
        let found = blocking::run(self.get(MANIFEST_OBJECT))?;
        let is_there = found.is_some();
        self.hold_manifest(found);
        Ok(is_there)
    }

    pub(crate) fn hold_manifest(&self, found: Option<(Bytes, Version)>) {
        *locked(&self.held.manifest) = found;
    }

    /// The manifest that was held.
    pub(crate) fn take_held_manifest(&self) -> Option<(Bytes, Version)> {
        locked(&self.held.manifest).take()
    }

    /// Returns a split that is held.
    pub(crate) fn held_split(&self, split_id: &str) -> Option<Arc<HeldSplit>> {
        locked(&self.held.splits).get(split_id).cloned()
    }

    pub(crate) fn hold_split(&self, split_id: &str, split: Arc<HeldSplit>) {
        locked(&self.held.splits).insert(split_id.to_owned(), split);
    }

    /// Returns the entries of a page that is held.
    pub(crate) fn held_page(&self, page_id: &str) -> Option<Arc<Vec<SplitEntry>>> {
        locked(&self.held.pages).get(page_id).cloned()
    }

    pub(crate) fn hold_page(&self, page_id: &str, entries: Arc<Vec<SplitEntry>>) {
        locked(&self.held.pages).insert(page_id.to_owned(), entries);
    }

    /// Returns the splits of a digest that is held.
    pub(crate) fn held_digest(&self, digest_id: &str) -> Option<Arc<BTreeSet<String>>> {
        locked(&self.held.digests).get(digest_id).cloned()
    }

    pub(crate) fn hold_digest(&self, digest_id: &str, splits: BTreeSet<String>) {
        locked(&self.held.digests).insert(digest_id.to_owned(), Arc::new(splits));
    }

    /// Drops what is held of other splits, pages and digests than these.
    pub(crate) fn hold_only(
        &self,
        splits: &BTreeSet<&str>,
        pages: &BTreeSet<&str>,
        digests: &BTreeSet<&str>,
    ) {
        locked(&self.held.digests).retain(|id, _| digests.contains(id.as_str()));
        locked(&self.held.splits).retain(|id, _| splits.contains(id.as_str()));
        locked(&self.held.pages).retain(|id, _| pages.contains(id.as_str()));
    }
}

fn locked<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
