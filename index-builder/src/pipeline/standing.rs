//! Where the input of an ingest stands: what was counted of it so far, and what of it is in splits.

use std::collections::BTreeMap;

use canter_split_format::{LinesHash, SourceId, SourceProgress};
use serde::{Deserialize, Serialize};

use crate::publisher::SourceStep;
use crate::source::{SourceRead, mark_of, name_of, open_end_of};

/// Where a batch of records begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Position {
    /// Which source, by its place in the list of sources.
    source_ord: usize,
    /// Which record of it, from 1.
    first_record: u64,
    /// What all records before it come to, and how much of each source was known before.
    fingerprint: u64,
}

impl Position {
    /// The place of a source's record. `before` is what the sources before it come to, and `hash` what its own records do.
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

    /// Whether this is so far in the input that `other` is never reached.
    pub(super) fn is_beyond(&self, other: &Position) -> bool {
        (self.source_ord, self.first_record) >= (other.source_ord, other.first_record)
    }
}

/// What the sources up to one come to.
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

/// Where the input stands behind a split: all documents of the records before a batch are in splits, and some of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// Of the batch.
    pub(super) place: Position,
    /// New documents of the batch that are in splits.
    pub(super) num_taken: u64,
    /// What was counted before the batch, by the place of the source in the list; of sources that ended before the
    /// standing before this one, that says it.
    pub(super) counts: BTreeMap<usize, Count>,
    /// The time of the last document of the source before the batch that has one of its own.
    pub(super) last_time_ns: Option<i64>,
    /// Documents in splits that were kept although something was wrong with them.
    pub(super) kept_by_reason: BTreeMap<String, u64>,
    /// Records that the transform dropped, those of the batch included.
    #[serde(default)]
    pub(super) dropped_by_reason: BTreeMap<String, u64>,
    /// Records that were rejected, those of the batch included: they are told already.
    pub(crate) rejects_by_reason: BTreeMap<String, u64>,
    /// Of these, those for which the rejects file had no room.
    #[serde(default)]
    pub(super) num_unwritten_rejects: u64,
    /// Bytes of the records before the batch, and of what stands between them.
    pub(crate) num_raw_bytes: u64,
}

impl Standing {
    /// Takes what an earlier standing says of sources of which this one says nothing.
    pub(crate) fn add_counts_of(&mut self, before: Standing) {
        for (source_ord, count) in before.counts {
            self.counts.entry(source_ord).or_insert(count);
        }
    }
}

/// What was counted of a source.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Count {
    pub(super) num_docs: u64,
    /// Of records that were ingested before.
    pub(super) num_known_docs: u64,
    pub(super) num_rejects: u64,
    /// Records that the transform dropped.
    #[serde(default)]
    pub(super) num_dropped: u64,
    /// The last record that is a document, by its place from 1.
    pub(super) last_doc_record: u64,
    pub(super) broken_off: Option<String>,
}

impl Count {
    /// How far the source is ingested when its documents are published; `None` if that is no further than before. A last
    /// record that is no document, and that nothing ends, does not count: what was written of it may be a part.
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

    /// Says that all of this version of an object is ingested, so that it is not read again: also one without a
    /// record, and one that is damaged, which no later read could change.
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

/// What the ledger says of a file beside how far it is ingested, so that it is known again: its name, what its first lines
/// come to, and whether nothing ends the last one.
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
