//! Which indexes a request asks for, and which of them must be there.
//!
//! A host may allow an index that has not been created yet, or has been deleted. For a request that names it, it is missing; a
//! pattern does not stand for it.

use canter_names::Listed;

use crate::{ErrorKind, SearchError};

/// The indexes that a request asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AskedIndexes {
    /// Their names; none stands for the one that the host knows.
    pub(crate) names: Vec<String>,
    /// Those of them that must be there.
    required: Vec<String>,
    /// Whether it is no error if none of them is there.
    may_be_none: bool,
}

impl AskedIndexes {
    /// Those that a list stands for. What it names must be there, unless `ignores_unavailable`; with `may_be_none`, nothing else.
    pub(crate) fn of(listed: Vec<Listed>, ignores_unavailable: bool, may_be_none: bool) -> Self {
        let required = listed.iter().filter(|listed| listed.is_named);
        let required = required.filter(|_| !ignores_unavailable);
        Self {
            required: required.map(|listed| listed.name.clone()).collect(),
            names: listed.into_iter().map(|listed| listed.name).collect(),
            may_be_none,
        }
    }

    /// Whether the list stands for none.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Whether an index of this name must be there.
    pub(crate) fn requires(&self, name: &str) -> bool {
        self.required.iter().any(|required| required == name)
    }

    /// Whether it is no error if none of them is there.
    pub(crate) fn may_be_none(&self) -> bool {
        self.may_be_none && self.required.is_empty()
    }

    /// Whether an error says only that there is none of them, which may be so.
    pub(crate) fn allows(&self, error: &SearchError) -> bool {
        error.kind == ErrorKind::NotFound && self.may_be_none()
    }
}
