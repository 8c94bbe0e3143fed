//! Changes of documents by their ids, as data.

use std::collections::{BTreeMap, BTreeSet};

use canter_split_format::{DocIdentity, KeyHash, SourceId};

/// Id of a document: of a client's choice, or the identity of a document without such an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct IdKey {
    pub(crate) hash: KeyHash,
    /// The id, if it has the form of an identity.
    pub(crate) identity: Option<DocIdentity>,
}

impl IdKey {
    pub(crate) fn of(id: &str) -> Self {
        Self {
            hash: KeyHash::of(id),
            identity: DocIdentity::parse(id),
        }
    }
}

/// Document that is live.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Live {
    pub(crate) split_id: String,
    pub(crate) doc: u32,
    /// Number of versions of its id so far.
    pub(crate) version: u64,
    /// Its sequence number, if it has one.
    pub(crate) seq_no: Option<u64>,
}

/// Numbers of a new document beside its contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocNumbers {
    /// Number of versions of its id so far, unless it is the first.
    pub version: Option<u64>,
    /// Its sequence number, in an index that numbers documents.
    pub seq_no: Option<u64>,
}

/// Changes of documents that a publication brings along, as its caller resolved them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IdChanges {
    /// Live documents with the ids of the publication, from which its caller concluded what to publish. If they are others
    /// by then, nothing is published.
    pub(crate) seen: BTreeMap<IdKey, Vec<Live>>,
    /// Ids among them whose documents are deleted. Those of new documents are so anyway.
    pub(crate) removed: BTreeSet<IdKey>,
    /// Least sequence number that the publication leaves unused.
    pub(crate) next_seq_no: u64,
}

/// Changes by ids that an ingest is to publish along with its documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdBatch {
    changes: IdChanges,
    /// Numbers of documents by source and line. Others are the first version of their id.
    numbers: BTreeMap<(SourceId, u64), DocNumbers>,
}

impl IdBatch {
    pub(crate) fn new(changes: IdChanges, numbers: BTreeMap<(SourceId, u64), DocNumbers>) -> Self {
        Self { changes, numbers }
    }

    pub(crate) fn changes(&self) -> &IdChanges {
        &self.changes
    }

    /// Returns the numbers of the document in a line of a source.
    pub(crate) fn numbers(&self, source: SourceId, line: u64) -> DocNumbers {
        let numbers = self.numbers.get(&(source, line));
        numbers.copied().unwrap_or_default()
    }
}
