//! Publishing what waits.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use canter_index_builder::{
    BuildError, DocumentCheck, ErrorKind, IndexStore, IngestOptions, IngestReport, LineIds, Source,
    ingest, keep_rejected, keep_unbuildable, read_spooled, remove_spooled, spooled, spooled_source,
    unbuildable, unix_time_ms,
};
use uuid::Uuid;

use crate::batch::Part;
use crate::lane::{Next, Shared};
use crate::refusal::Refusal;

/// Pauses before an attempt to publish is repeated while clients wait.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];
/// Pause before what is durable is tried again.
const LONG_PAUSE: Duration = Duration::from_secs(5);
/// So many parts that fail one by one while no other is published say that the index is at fault, and not they.
const MAX_FAILED_ALONE: usize = 8;
/// How often the spool is looked at for what other processes have left there.
const SPOOL_INTERVAL: Duration = Duration::from_secs(300);

/// The thread of a lane.
pub(crate) struct Committer {
    shared: Arc<Shared>,
    /// What was in the spool when it was last looked at, and is not ours.
    seen: BTreeSet<String>,
    /// What is in the spool by this process, and what it has taken over.
    own: BTreeSet<String>,
    is_first_look: bool,
    builder: Builder,
}

/// Finds the places of the documents with which building fails.
type FindUnbuildable = fn(&IndexStore, &[&[u8]]) -> Result<Vec<usize>, BuildError>;

/// How documents are published, and how it is found which of them fail. Tests have others.
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
            // However much there is to publish.
            if looked_at.elapsed() >= SPOOL_INTERVAL {
                self.look_into_spool();
                looked_at = Instant::now();
            }
        }
    }

    /// Takes over what another process has left in the spool. One that still runs publishes what it wrote itself within
    /// seconds, so what is there in two looks is left.
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
                    lines: None,
                    spooled: Some(id.clone()),
                    waiter: None,
                    ids: None,
                    room: None,
                    left_out: BTreeSet::new(),
                };
                // Until it is published it is ours: the next look must not add it once more.
                self.own.insert(id.clone());
                // A lane that is stopping leaves it where it is.
                let _ = self.shared.add(part, false);
            }
        }
        self.is_first_look = false;
        self.seen = others;
    }

    fn commit(&mut self, mut parts: Vec<Part>) {
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

    /// Whether a batch may have failed because of a few of its parts.
    fn may_be_of_some(&self, error: &BuildError) -> bool {
        error.kind() != ErrorKind::Unavailable && self.shared.refusal_of(error) != Refusal::Gone
    }

    /// A batch has failed, perhaps because of a few of its parts: publishes all others.
    fn commit_apart(&mut self, parts: Vec<Part>) {
        let (mut parts, waiters): (Vec<Part>, Vec<Part>) =
            parts.into_iter().partition(Part::has_documents);
        // Clients wait for those that are not in the spool.
        parts.sort_by_key(|part| part.spooled.is_some());
        let apart = self.publish_apart(parts);
        let last_failed = apart.failed.last().map(|(_, error)| error);
        let why = apart.stopped_by.as_ref().or(last_failed);
        let all = match why {
            None => Ok(None),
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

    /// Publishes each half of a batch by itself, and so on, until those parts are found that fail alone.
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
            let ids = part.ids;
            part.tell(Ok(ids));
            if let Some(id) = part.spooled {
                match remove_spooled(&self.shared.store, &id) {
                    Ok(()) => drop(self.own.remove(&id)),
                    // It is known to be published: who finds it adds nothing twice.
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
            // What was durable in an index that was deleted is deleted with it.
            if part.spooled.is_some() && refusal != Refusal::Gone {
                // They are in the store, and have no share of what may wait here any more.
                part.lines = None;
                durable.push(part);
            }
        }
        self.shared.try_again(durable, LONG_PAUSE);
    }

    /// A part fails, and others of its batch do not. If it is durable it stays in the spool, as if another process had left it
    /// there: one of the next looks tries it again, and nothing that is published meanwhile waits for it.
    fn leave(&mut self, mut part: Part, error: &BuildError) {
        let index = self.shared.store.uri();
        part.tell(Err(self.shared.refusal_of(error)));
        let Some(id) = part.spooled else {
            tracing::error!(target: "canter::intake", index, error = error.with_causes(), "documents could not be published");
            return;
        };
        tracing::error!(
            target: "canter::intake", index, spool = id.as_str(), error = error.with_causes(),
            "documents stay in the spool, because they cannot be published; they are tried again in some minutes"
        );
        self.own.remove(&id);
    }

    /// Publishes parts, but for documents that the index does not allow any more.
    fn publish_allowed(&self, parts: &mut [Part]) -> Result<(), BuildError> {
        match self.publish(parts, 0) {
            Err(error) if may_be_rejects(&error) => match self.set_aside(parts)? {
                None => Err(error),
                Some(num_lines) => self.publish(parts, num_lines),
            },
            // A mistake of ours, which is looked for in the part that fails alone.
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

    /// Building fails with a part that is in the spool: publishes its documents without those with which it does, which go
    /// into the folder `rejected` first. As in [`Committer::set_aside`] all is under the one id, and the spooled object stays
    /// what it was until it is removed: whoever goes on from any state finds the same documents.
    fn publish_buildable(&self, part: &mut Part, error: BuildError) -> Result<(), BuildError> {
        let store = &self.shared.store;
        let (Some(id), Some(lines)) = (&part.spooled, &part.lines) else {
            return Err(error);
        };
        let lines: Vec<&[u8]> = lines.split_inclusive(|byte| *byte == b'\n').collect();
        let documents: Vec<&[u8]> = lines.iter().map(|line| line.trim_ascii_end()).collect();
        let places = (self.builder.unbuildable)(store, &documents)?;
        if places.is_empty() {
            return Err(error);
        }
        let bad = places.iter().filter_map(|place| lines.get(*place).copied());
        let bad: Vec<u8> = bad.flatten().copied().collect();
        keep_unbuildable(store, id, &bad)?;
        tracing::error!(
            target: "canter::intake", index = store.uri(), spool = id.as_str(), num_documents = places.len(),
            error = error.with_causes(),
            "documents with which building fails are in the folder `rejected`, under the name of their spooled object and \
             `unbuildable`: this is a mistake in Canter, please report it"
        );
        part.left_out = places.iter().map(|place| *place as u64 + 1).collect();
        match self.publish(std::slice::from_mut(part), places.len() as u64) {
            // Others may be rejected because the index config has changed.
            Err(error) if may_be_rejects(&error) => {
                let num_set_aside = self.set_aside(std::slice::from_mut(part))?.ok_or(error)?;
                self.publish(
                    std::slice::from_mut(part),
                    num_set_aside + places.len() as u64,
                )
            }
            outcome => outcome,
        }
    }

    /// Ingests all parts at once; `num_set_aside` of their lines may be rejected. Lines stay with their parts, for another
    /// attempt.
    fn publish(&self, parts: &mut [Part], num_set_aside: u64) -> Result<(), BuildError> {
        // The same in each attempt: one that was published although it seemed to fail is known then.
        let direct_id = Uuid::new_v4().simple().to_string();
        let mut pauses = PAUSES.iter();
        loop {
            self.read_lines(parts)?;
            let sources = sources(parts, &direct_id);
            if sources.is_empty() {
                return Ok(());
            }
            let options = IngestOptions {
                // Each was looked at before: if another is rejected now, that is to be known before anything is published.
                max_rejects: Some(num_set_aside),
                ingested_at_ms: unix_time_ms(),
                ..IngestOptions::default()
            };
            match self.ingest(&options, sources) {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Unavailable => match pauses.next() {
                    Some(pause) => thread::sleep(*pause),
                    None => return Err(error),
                },
                Err(error) => return Err(error),
            }
        }
    }

    /// A panic on this thread would end it, and with it all writing to the index.
    fn ingest(&self, options: &IngestOptions, sources: Vec<Source>) -> Result<(), BuildError> {
        let ingest = || (self.builder.ingest)(&self.shared.store, options, sources);
        match catch_unwind(AssertUnwindSafe(ingest)) {
            Ok(outcome) => outcome.map(drop),
            Err(panic) => Err(BuildError::of_panic(&*panic)),
        }
    }

    /// Reads what only the store has. What is gone from there is somebody else's by now.
    fn read_lines(&self, parts: &mut [Part]) -> Result<(), BuildError> {
        for part in parts {
            if let (Some(id), None) = (&part.spooled, &part.lines) {
                part.lines = read_spooled(&self.shared.store, id)?;
            }
        }
        Ok(())
    }

    /// The index config has changed since documents were looked at: finds those that it does not allow any more. Who waits
    /// for one of them is told, and nothing of theirs is published. Of what is durable, the folder `rejected` keeps them for
    /// people to look at, and publishing leaves them out.
    ///
    /// ```text
    ///   spool/<id> has good and bad ──▶ rejected/<id> has the bad ──▶ published: the ledger has <id> ──▶ spool/<id> is removed
    /// ```
    ///
    /// Says how many lines of the rest publishing leaves out; nothing if the index allows all that is there.
    ///
    /// All of it is under the one id, and the spooled object stays what it was until it is removed: whoever goes on from any
    /// of these states writes the same again, and adds nothing twice. Good documents under an id of their own would be another
    /// source, of which the ledger knows nothing.
    fn set_aside(&self, parts: &mut [Part]) -> Result<Option<u64>, BuildError> {
        let store = &self.shared.store;
        let check = DocumentCheck::open(store)?;
        let mut scratch = Vec::new();
        let mut num_set_aside = None;
        for part in parts.iter_mut() {
            let Some(lines) = &part.lines else {
                continue;
            };
            let (mut bad, mut num_bad, mut first_problem) = (Vec::new(), 0, None);
            for line in lines.split_inclusive(|byte| *byte == b'\n') {
                let document = line.strip_suffix(b"\n").unwrap_or(line);
                if let Some(problem) = check.problem(document, &mut scratch) {
                    first_problem.get_or_insert(problem.message);
                    bad.extend_from_slice(line);
                    num_bad += 1;
                }
            }
            if num_bad == 0 {
                continue;
            }
            let Some(id) = &part.spooled else {
                part.tell(Err(Refusal::Unavailable(
                    "the index config has changed in this moment, and does not allow one of these documents: nothing of \
                     them was taken; send them again to see which"
                        .to_owned(),
                )));
                part.lines = None;
                num_set_aside.get_or_insert(0);
                continue;
            };
            keep_rejected(store, id, &bad)?;
            tracing::error!(
                target: "canter::intake", index = store.uri(), spool = id.as_str(), num_documents = num_bad,
                problem = first_problem.unwrap_or_default(),
                "documents that the index does not allow (any more) are in the folder `rejected`"
            );
            *num_set_aside.get_or_insert(0) += num_bad;
        }
        Ok(num_set_aside)
    }
}

/// What became of the parts of a batch that were not published together.
#[derive(Default)]
struct Apart {
    is_any_published: bool,
    /// Those that fail alone, and why.
    failed: Vec<(Part, BuildError)>,
    /// Those of which nobody knows whether they do.
    untried: Vec<Part>,
    /// Why these were not tried, unless too many failed.
    stopped_by: Option<BuildError>,
}

/// Both halves of several parts, the first one last.
fn halves(mut parts: Vec<Part>) -> [Vec<Part>; 2] {
    let second = parts.split_off(parts.len() / 2);
    [second, parts]
}

/// What is ingested. Notes of documents that become one source who they are there.
fn sources(parts: &mut [Part], direct_id: &str) -> Vec<Source> {
    let mut direct: Vec<u8> = Vec::new();
    let mut next: Option<LineIds> = None;
    let mut sources = Vec::new();
    for part in parts {
        match (&part.spooled, &part.lines) {
            (Some(id), Some(lines)) => {
                let source = spooled_source(id, lines.clone());
                sources.push(source.without(part.left_out.clone()));
            }
            (None, Some(lines)) => {
                let ids = next.unwrap_or_else(|| LineIds::of_source(direct_id, lines));
                let num_lines = lines.iter().filter(|byte| **byte == b'\n').count();
                next = Some(ids.behind(num_lines as u64));
                part.ids = Some(ids);
                direct.extend_from_slice(lines);
            }
            (_, None) => {}
        }
    }
    if !direct.is_empty() {
        sources.push(Source::lines("requests", direct).with_id(direct_id));
    }
    sources
}

/// Whether an ingest failed because of documents. A manifest that is full fails alike; then none is found.
fn may_be_rejects(error: &BuildError) -> bool {
    error.kind() == ErrorKind::Limit
}

#[cfg(test)]
mod tests;
