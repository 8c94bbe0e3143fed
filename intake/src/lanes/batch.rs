//! Documents that wait to be published.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Instant;

use canter_index_builder::LineIds;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::ids::{Condition, LineOutcome};
use crate::refusal::Refusal;

/// Documents that were taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Ids of the lines as of documents without ids of their own; `None` if there were none.
    pub ids: Option<LineIds>,
    /// What became of each line, if any has an id and they are published.
    pub outcomes: Vec<LineOutcome>,
}

/// Answer to a client.
pub(crate) type Added = Result<Taken, Refusal>;

/// Assumed size of documents that only the store holds.
const SPOOLED_NUM_BYTES: usize = 1 << 20;

/// Documents that arrived together.
pub(crate) struct Part {
    /// Documents, each on a line that ends with a line feed. `None` if only the store has them.
    pub(crate) lines: Option<Vec<u8>>,
    /// Id of their object in the spool, if they are durable already.
    pub(crate) spooled: Option<String>,
    /// Client that waits for them.
    pub(crate) waiter: Option<oneshot::Sender<Added>>,
    /// Ids of the documents, once known.
    pub(crate) ids: Option<LineIds>,
    /// Share of the memory for waiting documents.
    pub(crate) room: Option<OwnedSemaphorePermit>,
    /// Numbers of lines, from 1, that cannot be built and are set aside.
    pub(crate) left_out: BTreeSet<u64>,
    /// Conditions of operations by the number of their line, from 0.
    pub(crate) conditions: BTreeMap<u64, Condition>,
    /// What becomes of each line, once known.
    pub(crate) outcomes: Vec<LineOutcome>,
}

impl Part {
    /// Creates a part that waits for nothing but others.
    pub(crate) fn empty() -> Self {
        Self {
            lines: None,
            spooled: None,
            waiter: None,
            ids: None,
            room: None,
            left_out: BTreeSet::new(),
            conditions: BTreeMap::new(),
            outcomes: Vec::new(),
        }
    }

    pub(crate) fn num_bytes(&self) -> usize {
        match (&self.lines, &self.spooled) {
            (Some(lines), _) => lines.len(),
            (None, Some(_)) => SPOOLED_NUM_BYTES,
            (None, None) => 0,
        }
    }

    /// Returns whether there are documents to publish, and not only a client that waits for others.
    pub(crate) fn has_documents(&self) -> bool {
        self.lines.is_some() || self.spooled.is_some()
    }

    /// Sends the outcome to the waiting client and frees its room.
    pub(crate) fn tell(&mut self, outcome: Added) {
        self.room = None;
        if let Some(waiter) = self.waiter.take() {
            // The client may have disconnected.
            let _ = waiter.send(outcome);
        }
    }
}

/// Parts that wait, in order of arrival.
#[derive(Default)]
pub(crate) struct Waiting {
    pub(crate) parts: VecDeque<Part>,
    pub(crate) num_bytes: usize,
    /// Arrival of the first part.
    pub(crate) since: Option<Instant>,
    /// True if a client wants them published now.
    pub(crate) is_urgent: bool,
}

impl Waiting {
    pub(crate) fn add(&mut self, part: Part) {
        self.num_bytes += part.num_bytes();
        self.since.get_or_insert_with(Instant::now);
        self.parts.push_back(part);
    }

    /// Takes as many parts as `max_bytes` allow, but at least one.
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

    /// Puts back parts that could not be published, to be tried again: after all others, unless these may only follow them.
    pub(crate) fn put_back(&mut self, parts: Vec<Part>, keeps_order: bool) {
        for part in &parts {
            self.num_bytes += part.num_bytes();
        }
        match keeps_order {
            true => parts
                .into_iter()
                .rev()
                .for_each(|part| self.parts.push_front(part)),
            false => self.parts.extend(parts),
        }
        if !self.parts.is_empty() {
            self.since = Some(Instant::now());
        }
    }
}
