//! The indexes that a request asks for, and which of them must exist.
//!
//! A host may allow an index that has not been created yet, or has been deleted. A request that names it finds it
//! missing; a pattern does not match it.

use canter_names::Listed;

use crate::{ErrorKind, SearchError};

/// The indexes that a request asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AskedIndexes {
    /// Their names; empty for the only index of the host.
    pub(crate) names: Vec<String>,
    /// The indexes among them that must exist.
    required: Vec<String>,
    /// True if it is not an error that none of them exists.
    may_be_none: bool,
}

impl AskedIndexes {
    /// Creates the set of these indexes, which must exist.
    pub(crate) fn named(names: Vec<String>) -> Self {
        Self {
            required: names.clone(),
            names,
            may_be_none: false,
        }
    }

    /// Creates the set from a list. Named indexes must exist, unless `ignores_unavailable`; with `may_be_none`, the set
    /// may be empty.
    pub(crate) fn of(listed: Vec<Listed>, ignores_unavailable: bool, may_be_none: bool) -> Self {
        let required = listed.iter().filter(|listed| listed.is_named);
        let required = required.filter(|_| !ignores_unavailable);
        Self {
            required: required.map(|listed| listed.name.clone()).collect(),
            names: listed.into_iter().map(|listed| listed.name).collect(),
            may_be_none,
        }
    }

    /// Returns whether the list is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns whether an index with this name must exist.
    pub(crate) fn requires(&self, name: &str) -> bool {
        self.required.iter().any(|required| required == name)
    }

    /// Returns whether it is not an error that none of them exists.
    pub(crate) fn may_be_none(&self) -> bool {
        self.may_be_none && self.required.is_empty()
    }

    /// Returns whether an error only reports that none of them exists, which is permitted.
    pub(crate) fn allows(&self, error: &SearchError) -> bool {
        error.kind == ErrorKind::NotFound && self.may_be_none()
    }
}
