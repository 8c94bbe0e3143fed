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
    pub(crate) version: u32,
}

/// Changes of documents that a publication brings along, as its caller resolved them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IdChanges {
    /// Live documents with the ids of the publication, from which its caller concluded what to publish. If they are others
    /// by then, nothing is published.
    pub(crate) seen: BTreeMap<IdKey, Vec<Live>>,
    /// Ids among them whose documents are deleted. Those of new documents are so anyway.
    pub(crate) removed: BTreeSet<IdKey>,
}

/// Changes by ids that an ingest is to publish along with its documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdBatch {
    changes: IdChanges,
    /// Versions of documents by source and line. Others are the first version of their id.
    versions: BTreeMap<(SourceId, u64), u32>,
}

impl IdBatch {
    pub(crate) fn new(changes: IdChanges, versions: BTreeMap<(SourceId, u64), u32>) -> Self {
        Self { changes, versions }
    }

    pub(crate) fn changes(&self) -> &IdChanges {
        &self.changes
    }

    /// Returns the version of the document in a line of a source, if it is not the first.
    pub(crate) fn version(&self, source: SourceId, line: u64) -> Option<u32> {
        self.versions.get(&(source, line)).copied()
    }
}
