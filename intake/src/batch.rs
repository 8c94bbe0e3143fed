//! What waits to be published.

use std::collections::{BTreeSet, VecDeque};
use std::time::Instant;

use canter_index_builder::LineIds;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::refusal::Refusal;

/// Who documents are that were added; nothing if there were none.
pub(crate) type Added = Result<Option<LineIds>, Refusal>;

/// What is taken for the length of documents that only the store has.
const SPOOLED_NUM_BYTES: usize = 1 << 20;

/// Documents that came together.
pub(crate) struct Part {
    /// A document each, with line feeds. Nothing if they are only in the store.
    pub(crate) lines: Option<Vec<u8>>,
    /// Their object in the spool, if they are safe already.
    pub(crate) spooled: Option<String>,
    /// Who waits for them.
    pub(crate) waiter: Option<oneshot::Sender<Added>>,
    /// Who they are, as soon as it is known.
    pub(crate) ids: Option<LineIds>,
    /// Their share of what may wait.
    pub(crate) room: Option<OwnedSemaphorePermit>,
    /// Lines with which building fails, from 1: they are set aside.
    pub(crate) left_out: BTreeSet<u64>,
}

impl Part {
    pub(crate) fn num_bytes(&self) -> usize {
        match (&self.lines, &self.spooled) {
            (Some(lines), _) => lines.len(),
            (None, Some(_)) => SPOOLED_NUM_BYTES,
            (None, None) => 0,
        }
    }

    /// Whether there is anything to publish, and not only somebody who waits for others.
    pub(crate) fn has_documents(&self) -> bool {
        self.lines.is_some() || self.spooled.is_some()
    }

    /// Tells who waits. Who is told finds room again.
    pub(crate) fn tell(&mut self, outcome: Added) {
        self.room = None;
        if let Some(waiter) = self.waiter.take() {
            // Who hung up does not want to know.
            let _ = waiter.send(outcome);
        }
    }
}

/// The parts that wait, in their turn.
#[derive(Default)]
pub(crate) struct Waiting {
    pub(crate) parts: VecDeque<Part>,
    pub(crate) num_bytes: usize,
    /// When the first of them came.
    pub(crate) since: Option<Instant>,
    /// Somebody wants them published now.
    pub(crate) is_urgent: bool,
}

impl Waiting {
    pub(crate) fn add(&mut self, part: Part) {
        self.num_bytes += part.num_bytes();
        self.since.get_or_insert_with(Instant::now);
        self.parts.push_back(part);
    }

    /// As many as `max_bytes` allow, but at least one.
    pub(crate) fn take(&mut self, max_bytes: usize) -> Vec<Part> {
        let mut taken: Vec<Part> = Vec::new();
        let mut num_bytes = 0;
        while let Some(next) = self.parts.front() {
            num_bytes += next.num_bytes();
            if num_bytes > max_bytes && !taken.is_empty() {
                break;
            }
            taken.extend(self.parts.pop_front());
        }
        self.num_bytes = self.parts.iter().map(Part::num_bytes).sum();
        if self.parts.is_empty() {
            (self.since, self.is_urgent) = (None, false);
        }
        taken
    }

    /// Puts back what could not be published, to be tried again: behind all others, which may have more luck.
    pub(crate) fn put_back(&mut self, parts: Vec<Part>) {
        for part in parts {
            self.num_bytes += part.num_bytes();
            self.parts.push_back(part);
        }
        if !self.parts.is_empty() {
            self.since = Some(Instant::now());
        }
    }
}
