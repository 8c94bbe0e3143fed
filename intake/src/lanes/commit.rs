//! Publishing of waiting documents.

mod rejected;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use canter_index_builder::{
    BuildError, ErrorKind, IndexStore, IngestOptions, IngestReport, LineIds, Source, ingest,
    read_spooled, remove_spooled, spooled, unbuildable, unix_time_ms,
};

use super::arrival::next_id;
use super::ids::{PartLines, Resolved, any_id, resolve};
use super::queue::{Next, Shared};
use super::sources::{source_ids, sources};
use crate::lanes::batch::{Part, Taken};
use crate::refusal::Refusal;

/// Pauses before publishing is retried while clients wait.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];
/// Pause before durable documents are tried again.
const LONG_PAUSE: Duration = Duration::from_secs(5);
/// Number of parts that fail one by one, with none published in between, after which the index
/// counts as faulty rather than the parts.
const MAX_FAILED_ALONE: usize = 8;
/// Number of times that documents of the same ids may be changed by others while a batch is built, after which it fails.
const MAX_CONFLICTS: u32 = 20;
/// Interval at which the spool is checked for objects that other processes left behind.
const SPOOL_INTERVAL: Duration = Duration::from_secs(300);

/// Publisher of a lane, which runs in the lane's thread.
pub(crate) struct Committer {
    shared: Arc<Shared>,
    /// Objects of other processes that were in the spool at the last check.
    seen: BTreeSet<String>,
    /// Objects in the spool that this process wrote or took over.
    own: BTreeSet<String>,
    is_first_look: bool,
    builder: Builder,
}

/// Finds the positions of the documents that cannot be built.
type FindUnbuildable = fn(&IndexStore, &[&[u8]]) -> Result<Vec<usize>, BuildError>;

/// Functions that publish documents and find the faulty ones. Tests replace them.
#[derive(Clone, Copy)]
struct Builder {
    ingest: fn(&IndexStore, &IngestOptions, Vec<Source>) -> Result<IngestReport, BuildError>,
    unbuildable: FindUnbuildable,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            ingest: |store, options, sources| ingest(store, options, sources, &()),
            unbuildable: |store, documents| unbuildable(&store.load_config()?, documents),
        }
    }
}

impl Committer {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            builder: Builder::default(),
            shared,
            seen: BTreeSet::new(),
            own: BTreeSet::new(),
            is_first_look: true,
        }
    }

    /// Publishes until the lane stops and nothing waits.
    pub(crate) fn run(&mut self) {
        self.look_into_spool();
        let mut looked_at = Instant::now();
        loop {
            match self.shared.next(SPOOL_INTERVAL) {
                Next::Parts(parts) => self.commit(parts),
                Next::Nothing { is_over: true } => return,
                Next::Nothing { is_over: false } => {}
            }
            // Even if there is a lot to publish.
            if looked_at.elapsed() >= SPOOL_INTERVAL {
                self.look_into_spool();
                looked_at = Instant::now();
            }
        }
    }

    /// Takes over objects that another process left in the spool. A running process publishes its
    /// own within seconds, so an object found in two consecutive checks is abandoned.
    fn look_into_spool(&mut self) {
        let listed = match spooled(&self.shared.store) {
            Ok(listed) => listed,
            Err(error) => {
                tracing::warn!(target: "canter::intake", index = self.shared.store.uri(), error = error.with_causes(), "cannot look into the spool");
                return;
            }
        };
        let others: BTreeSet<String> = listed
            .into_iter()
            .filter(|id| !self.own.contains(id) && !self.shared.is_arriving(id))
            .collect();
        for id in &others {
            if self.is_first_look || self.seen.contains(id) {
                let part = Part {
                    spooled: Some(id.clone()),
                    ..Part::empty()
                };
                // The object is ours until it is published: the next check must not add it again.
                self.own.insert(id.clone());
                // A stopping lane leaves it in the spool.
                let _ = self.shared.add(part, false);
            }
        }
        self.is_first_look = false;
        self.seen = others;
    }

    fn commit(&mut self, mut parts: Vec<Part>) {
        if let Err(error) = self.put_in_order(&mut parts) {
            return self.fail(parts, &error);
        }
        for id in parts.iter().filter_map(|part| part.spooled.as_ref()) {
            self.own.insert(id.clone());
            self.shared.has_taken(id);
        }
        let num_parts = parts.iter().filter(|part| part.has_documents()).count();
        match self.publish_allowed(&mut parts) {
            Ok(()) => self.finish(parts),
            Err(error) if num_parts > 1 && self.may_be_of_some(&error) => self.commit_apart(parts),
            Err(error) => self.fail(parts, &error),
        }
    }

    /// Puts a batch with ids into the order in which its operations count: what is in the spool was acknowledged, and nothing
    /// else is yet. What other processes have spooled before now comes first, too.
    fn put_in_order(&mut self, parts: &mut Vec<Part>) -> Result<(), BuildError> {
        let Some(id_field) = self.shared.id_field()? else {
            return Ok(());
        };
        self.read_lines(parts)?;
        let has_ids = |part: &Part| {
            let lines = part.lines.as_deref();
            lines.is_some_and(|lines| any_id(lines, id_field))
        };
        if !parts.iter().any(has_ids) {
            return Ok(());
        }
        for id in spooled(&self.shared.store)? {
            if !self.own.contains(&id) && !self.shared.is_arriving(&id) {
                parts.push(Part {
                    spooled: Some(id),
                    ..Part::empty()
                });
            }
        }
        parts.sort_by_cached_key(|part| (part.spooled.is_none(), part.spooled.clone()));
        Ok(())
    }

    /// Returns whether a few parts may have caused a batch to fail.
    fn may_be_of_some(&self, error: &BuildError) -> bool {
        error.kind() != ErrorKind::Unavailable && self.shared.refusal_of(error) != Refusal::Gone
    }

    /// Publishes a failed batch without the parts that caused the failure.
    fn commit_apart(&mut self, parts: Vec<Part>) {
        let (mut parts, waiters): (Vec<Part>, Vec<Part>) =
            parts.into_iter().partition(Part::has_documents);
        if !self.shared.keeps_order() {
            // Clients wait for the parts that are not in the spool.
            parts.sort_by_key(|part| part.spooled.is_some());
        }
        let apart = self.publish_apart(parts);
        let last_failed = apart.failed.last().map(|(_, error)| error);
        let why = apart.stopped_by.as_ref().or(last_failed);
        let all = match why {
            None => Ok(Taken::default()),
            Some(error) => Err(self.shared.refusal_of(error)),
        };
        for mut waiter in waiters {
            waiter.tell(all.clone());
        }
        if let Some(why) = why.filter(|_| !apart.untried.is_empty()) {
            self.fail(apart.untried, why);
        }
        for (part, error) in apart.failed {
            match apart.is_any_published {
                true => self.leave(part, &error),
                false => self.fail(vec![part], &error),
            }
        }
    }

    /// Publishes each half of a failed batch separately, and so on recursively, until the parts
    /// that fail alone are found.
    ///
    /// ```text
    ///   a b c d ✗ ──▶ a b ✓ ──▶ c d ✗ ──▶ c ✗ ──▶ d ✓
    /// ```
    fn publish_apart(&mut self, parts: Vec<Part>) -> Apart {
        let mut apart = Apart::default();
        let mut groups = Vec::from(halves(parts));
        while let Some(mut group) = groups.pop() {
            match self.publish_allowed(&mut group) {
                Ok(()) => {
                    apart.is_any_published = true;
                    self.finish(group);
                }
                Err(error) if !self.may_be_of_some(&error) => {
                    apart.untried = group;
                    apart.stopped_by = Some(error);
                    break;
                }
                Err(error) => match <[Part; 1]>::try_from(group) {
                    Ok([part]) => apart.failed.push((part, error)),
                    Err(group) => groups.extend(halves(group)),
                },
            }
            if !apart.is_any_published && apart.failed.len() >= MAX_FAILED_ALONE {
                break;
            }
        }
        apart.untried.extend(groups.into_iter().rev().flatten());
        apart
    }

    fn finish(&mut self, parts: Vec<Part>) {
        self.shared.has_published();
        for mut part in parts {
            let taken = Taken {
                ids: part.ids,
                outcomes: std::mem::take(&mut part.outcomes),
            };
            part.tell(Ok(taken));
            if let Some(id) = part.spooled {
                match remove_spooled(&self.shared.store, &id) {
                    Ok(()) => drop(self.own.remove(&id)),
                    // The ledger knows that it was published: a process that finds it adds nothing
                    // twice.
                    Err(error) => {
                        tracing::warn!(target: "canter::intake", error = error.with_causes(), "a published object stays in the spool");
                    }
                }
            }
        }
    }

    fn fail(&self, parts: Vec<Part>, error: &BuildError) {
        tracing::error!(target: "canter::intake", index = self.shared.store.uri(), error = error.with_causes(), "documents could not be published");
        let refusal = self.shared.refusal_of(error);
        let mut durable = Vec::new();
        for mut part in parts {
            part.tell(Err(refusal.clone()));
            // Deleting an index deletes its durable documents too.
            if part.spooled.is_some() && refusal != Refusal::Gone {
                // The store holds them, so they free their share of memory.
                part.lines = None;
                durable.push(part);
            }
        }
        self.shared.try_again(durable, LONG_PAUSE);
    }

    /// Fails a part whose batch succeeds otherwise. A durable part stays in the spool, as if
    /// another process had left it: a later check tries it again, and other documents do not wait
    /// for it.
    fn leave(&mut self, mut part: Part, error: &BuildError) {
        let index = self.shared.store.uri();
        part.tell(Err(self.shared.refusal_of(error)));
        let Some(id) = part.spooled else {
            tracing::error!(target: "canter::intake", index, error = error.with_causes(), "documents could not be published");
            return;
        };
        if self.shared.keeps_order() {
            return self.set_aside_whole(&id, part.lines.as_deref(), error);
        }
        tracing::error!(
            target: "canter::intake", index, spool = id.as_str(), error = error.with_causes(),
            "documents stay in the spool, because they cannot be published; they are tried again in some minutes"
        );
        self.own.remove(&id);
    }

    /// Publishes parts without the documents that the index no longer allows.
    fn publish_allowed(&self, parts: &mut [Part]) -> Result<(), BuildError> {
        match self.publish(parts, 0) {
            Err(error) if may_be_rejects(&error) => match self.set_aside(parts)? {
                None => Err(error),
                Some(num_lines) => self.publish(parts, num_lines),
            },
            // An internal error is traced to its documents in the part that fails alone.
            Err(error) if error.kind() == ErrorKind::Internal => {
                let mut parts = parts.iter_mut().filter(|part| part.has_documents());
                match (parts.next(), parts.next()) {
                    (Some(part), None) => self.publish_buildable(part, error),
                    _ => Err(error),
                }
            }
            outcome => outcome,
        }
    }

    /// Ingests all parts at once; up to `num_set_aside` of their lines may be rejected. The parts
    /// keep their lines for another attempt.
    fn publish(&self, parts: &mut [Part], num_set_aside: u64) -> Result<(), BuildError> {
        // The id is the same in each attempt: if one was published although it seemed to fail, the
        // next one notices.
        let direct_id = next_id();
        let mut pauses = PAUSES.iter();
        let mut num_conflicts = 0;
        loop {
            self.read_lines(parts)?;
            let ids = source_ids(parts, &direct_id);
            let resolved = self.resolve(parts, &ids)?;
            let sources = sources(parts, &direct_id, &resolved);
            if sources.is_empty() {
                return Ok(());
            }
            let options = IngestOptions {
                // All documents were checked before. Further rejects must fail before anything is
                // published.
                max_rejects: Some(num_set_aside + resolved.num_left_out()),
                ingested_at_ms: unix_time_ms(),
                ids: (!resolved.left_out.is_empty()).then(|| Arc::new(resolved.batch)),
                ..IngestOptions::default()
            };
            match self.ingest(&options, sources) {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Unavailable => match pauses.next() {
                    Some(pause) => thread::sleep(*pause),
                    None => return Err(error),
                },
                Err(error) if error.kind() == ErrorKind::Conflict => {
                    num_conflicts += 1;
                    if num_conflicts == MAX_CONFLICTS {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Resolves the operations of a batch by the ids of their documents, if there are any, and notes what becomes of each.
    fn resolve(&self, parts: &mut [Part], ids: &[Option<LineIds>]) -> Result<Resolved, BuildError> {
        let Some(id_field) = self.shared.id_field()? else {
            return Ok(Resolved::default());
        };
        let lines = parts.iter().zip(ids).filter_map(|(part, ids)| {
            Some(PartLines {
                lines: part.lines.as_deref()?,
                ids: (*ids)?,
                conditions: &part.conditions,
            })
        });
        let lines: Vec<PartLines<'_>> = lines.collect();
        let Some(mut resolved) = resolve(&self.shared.store, id_field, &lines)? else {
            return Ok(Resolved::default());
        };
        let with_lines = parts.iter_mut().filter(|part| part.lines.is_some());
        for (part, outcomes) in with_lines.zip(&mut resolved.outcomes) {
            // A part that was published by an earlier attempt keeps what that noted.
            if !outcomes.is_empty() {
                part.outcomes = std::mem::take(outcomes);
            }
        }
        Ok(resolved)
    }

    /// Ingests, and turns a panic into an error: a panic would end this thread, and all writing to
    /// the index with it.
    fn ingest(&self, options: &IngestOptions, sources: Vec<Source>) -> Result<(), BuildError> {
        let ingest = || (self.builder.ingest)(&self.shared.store, options, sources);
        match catch_unwind(AssertUnwindSafe(ingest)) {
            Ok(outcome) => outcome.map(drop),
            Err(panic) => Err(BuildError::of_panic(&*panic)),
        }
    }

    /// Reads the lines that only the store has. A missing object was published by another process.
    fn read_lines(&self, parts: &mut [Part]) -> Result<(), BuildError> {
        for part in parts {
            if let (Some(id), None) = (&part.spooled, &part.lines) {
                part.lines = read_spooled(&self.shared.store, id)?;
            }
        }
        Ok(())
    }
}

/// Outcome of a batch whose parts were published separately.
#[derive(Default)]
struct Apart {
    is_any_published: bool,
    /// Parts that fail alone, with their errors.
    failed: Vec<(Part, BuildError)>,
    /// Parts that were not tried alone.
    untried: Vec<Part>,
    /// Error that ended the attempts, unless too many parts failed.
    stopped_by: Option<BuildError>,
}

/// Splits several parts into halves, the first half last.
fn halves(mut parts: Vec<Part>) -> [Vec<Part>; 2] {
    let second = parts.split_off(parts.len() / 2);
    [second, parts]
}

/// Returns whether rejected documents may have caused an ingest to fail. A full manifest fails with
/// the same kind of error.
fn may_be_rejects(error: &BuildError) -> bool {
    error.kind() == ErrorKind::Limit
}

#[cfg(test)]
mod tests;
