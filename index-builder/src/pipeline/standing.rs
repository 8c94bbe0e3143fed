//! Position in the input of an ingest: the counts so far, and the part that is in splits.

use std::collections::BTreeMap;

use canter_split_format::{LinesHash, SourceId, SourceProgress};
use serde::{Deserialize, Serialize};

use crate::index::publisher::SourceStep;
use crate::input::source::{SourceRead, mark_of, name_of, open_end_of};

/// Start of a batch of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Position {
    /// The source, by its position in the list of sources.
    source_ord: usize,
    /// The record of the source, from 1.
    first_record: u64,
    /// Fingerprint of all records before it, and of how much of each source was known before.
    fingerprint: u64,
}

impl Position {
    /// Creates the position of a source's record. `before` is the fingerprint of the previous sources, and `hash` that
    /// of its own records.
    pub(super) fn new(
        source_ord: usize,
        first_record: u64,
        before: u64,
        source: (SourceId, Option<SourceProgress>, LinesHash),
    ) -> Position {
        Position {
            source_ord,
            first_record,
            fingerprint: fingerprint(before, source),
        }
    }

    /// Returns whether this position is at or beyond `other`.
    pub(super) fn is_beyond(&self, other: &Position) -> bool {
        (self.source_ord, self.first_record) >= (other.source_ord, other.first_record)
    }
}

/// Returns the fingerprint of the sources up to one.
pub(super) fn fingerprint(
    before: u64,
    (source_id, known, hash): (SourceId, Option<SourceProgress>, LinesHash),
) -> u64 {
    let known = known.map_or(0, |known| known.num_lines);
    let own = [
        source_id.to_u128().to_le_bytes().as_slice(),
        &known.to_le_bytes(),
    ]
    .concat();
    LinesHash(before).with(&own, hash.0).0
}

/// Position of the input after a split: all documents of the records before a batch are in splits, and some of the
/// batch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// Position of the batch.
    pub(super) place: Position,
    /// Number of new documents of the batch that are in splits.
    pub(super) num_taken: u64,
    /// Counts before the batch, by the position of the source in the list; an earlier standing has those of
    /// sources that ended before it.
    pub(super) counts: BTreeMap<usize, Count>,
    /// The time of the source's last document with a time before the batch.
    pub(super) last_time_ns: Option<i64>,
    /// Numbers of documents in splits that were kept despite errors, by reason.
    pub(super) kept_by_reason: BTreeMap<String, u64>,
    /// Numbers of records that the transform dropped, including those of the batch, by reason.
    #[serde(default)]
    pub(super) dropped_by_reason: BTreeMap<String, u64>,
    /// Numbers of rejected records, including those of the batch, which are written already, by reason.
    pub(crate) rejects_by_reason: BTreeMap<String, u64>,
    /// Number of these that did not fit into the rejects file.
    #[serde(default)]
    pub(super) num_unwritten_rejects: u64,
    /// Number of bytes of the records before the batch, and of the gaps between them.
    pub(crate) num_raw_bytes: u64,
}

impl Standing {
    /// Adopts the counts of an earlier standing for sources that this one lacks.
    pub(crate) fn add_counts_of(&mut self, before: Standing) {
        for (source_ord, count) in before.counts {
            self.counts.entry(source_ord).or_insert(count);
        }
    }
}

/// Counts of a source.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Count {
    pub(super) num_docs: u64,
    /// Number of documents that were ingested before.
    pub(super) num_known_docs: u64,
    pub(super) num_rejects: u64,
    /// Number of records that the transform dropped.
    #[serde(default)]
    pub(super) num_dropped: u64,
    /// Number of blank lines.
    #[serde(default)]
    pub(super) num_blank: u64,
    /// The last record that is a document, by its position from 1.
    pub(super) last_doc_record: u64,
    pub(super) broken_off: Option<String>,
}

impl Count {
    /// Returns the progress of the source once its documents are published; `None` without progress. A last record that
    /// is not a document, and that nothing ends, does not count, because it may be incomplete.
    pub(super) fn step_of(&self, read: &SourceRead, at_ms: u64) -> Option<SourceStep> {
        let is_part = self.last_doc_record < read.last_record;
        let (num_lines, hash) = match read.before_open_record.filter(|_| is_part) {
            Some(before) => before,
            None => (read.num_lines, read.hash),
        };
        let num_known = read.known.map_or(0, |known| known.num_lines);
        (num_lines > num_known).then_some(SourceStep {
            source: read.source_id,
            from: read.known,
            to: SourceProgress {
                num_lines,
                num_docs: self.num_docs,
                hash,
                at_ms,
            },
            marks_whole: false,
            is_note: false,
        })
    }

    /// Returns a mark that this version of an object is completely ingested, so that it is not read again: also
    /// an object without a record, and a damaged one, which no later read could change.
    pub(super) fn mark_of(
        &self,
        whole_id: SourceId,
        read: Option<&SourceRead>,
        at_ms: u64,
    ) -> SourceStep {
        SourceStep {
            source: whole_id,
            from: None,
            to: SourceProgress {
                num_lines: read.map_or(0, |read| read.num_lines),
                num_docs: self.num_docs,
                hash: read.map_or_else(LinesHash::default, |read| read.hash),
                at_ms,
            },
            marks_whole: true,
            is_note: false,
        }
    }
}

/// Returns the ledger's notes on a file besides its progress, by which it is recognized: its name, the hash of its
/// first lines, and whether nothing ends the last one.
pub(super) fn notes_of(step: &SourceStep, read: &SourceRead, origin: &[u8]) -> Vec<SourceStep> {
    let note = |source: SourceId, num_lines: u64, hash: LinesHash| SourceStep {
        source,
        from: None,
        to: SourceProgress {
            num_lines,
            num_docs: 0,
            hash,
            at_ms: step.to.at_ms,
        },
        marks_whole: false,
        is_note: true,
    };
    let num_known = step.from.map_or(0, |known| known.num_lines);
    let is_new = |(num_lines, _): &&(u64, LinesHash)| {
        num_known < *num_lines && *num_lines <= step.to.num_lines
    };
    let marks = read.marks.iter().filter(is_new);
    let marks = marks.map(|(num, hash)| note(mark_of(read.source_id, *num), *num, *hash));
    let is_open = read.is_open_at_end && step.to.num_lines == read.num_lines;
    let open = open_end_of(read.source_id, step.to.num_lines);
    let open = is_open.then(|| note(open, step.to.num_lines, step.to.hash));
    let name = note(name_of(origin), 1, LinesHash::default());
    marks.chain(open).chain([name]).collect()
}
