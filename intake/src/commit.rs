//! Publishing what waits.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use canter_index_builder::{
    BuildError, DocumentCheck, ErrorKind, IngestOptions, LineIds, Source, ingest, keep_rejected,
    read_spooled, remove_spooled, spooled, spooled_source,
};
use uuid::Uuid;

use crate::batch::Part;
use crate::lane::{Next, Shared};
use crate::refusal::Refusal;

/// Pauses before an attempt to publish is repeated while clients wait.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];
/// Pause before what is durable is tried again.
const LONG_PAUSE: Duration = Duration::from_secs(5);
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
}

impl Committer {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
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
                tracing::warn!(target: "canter::intake", index = self.shared.store.uri(), %error, "cannot look into the spool");
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
        let outcome = match self.publish(&mut parts, 0) {
            Err(error) if may_be_rejects(&error) => {
                self.set_aside(&mut parts)
                    .and_then(|set_aside| match set_aside {
                        SetAside::Nothing => Err(error),
                        SetAside::Some { num_lines } => self.publish(&mut parts, num_lines),
                    })
            }
            outcome => outcome,
        };
        match outcome {
            Ok(()) => self.finish(parts),
            Err(error) => self.fail(parts, &error),
        }
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
                        tracing::warn!(target: "canter::intake", %error, "a published object stays in the spool");
                    }
                }
            }
        }
    }

    fn fail(&self, parts: Vec<Part>, error: &BuildError) {
        tracing::error!(target: "canter::intake", index = self.shared.store.uri(), %error, "documents could not be published");
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
                ingested_at_ms: now_ms(),
                ..IngestOptions::default()
            };
            match ingest(&self.shared.store, &options, sources, &()) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Unavailable => match pauses.next() {
                    Some(pause) => thread::sleep(*pause),
                    None => return Err(error),
                },
                Err(error) => return Err(error),
            }
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
    /// All of it is under the one id, and the spooled object stays what it was until it is removed: whoever goes on from any
    /// of these states writes the same again, and adds nothing twice. Good documents under an id of their own would be another
    /// source, of which the ledger knows nothing.
    fn set_aside(&self, parts: &mut [Part]) -> Result<SetAside, BuildError> {
        let store = &self.shared.store;
        let check = DocumentCheck::open(store)?;
        let mut scratch = Vec::new();
        let mut set_aside = SetAside::Nothing;
        for part in parts.iter_mut() {
            let Some(lines) = &part.lines else {
                continue;
            };
            let (mut bad, mut num_bad) = (Vec::new(), 0);
            for line in lines.split_inclusive(|byte| *byte == b'\n') {
                let document = line.strip_suffix(b"\n").unwrap_or(line);
                if check.problem(document, &mut scratch).is_some() {
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
                set_aside.add(0);
                continue;
            };
            keep_rejected(store, id, &bad)?;
            tracing::error!(
                target: "canter::intake", index = store.uri(), spool = id.as_str(),
                "the index config has changed: documents that it does not allow are in the folder `rejected`"
            );
            set_aside.add(num_bad);
        }
        Ok(set_aside)
    }
}

/// What publishing leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SetAside {
    /// The index allows all that is there.
    Nothing,
    /// Parts that are not published at all, and so many lines of those that are.
    Some { num_lines: u64 },
}

impl SetAside {
    fn add(&mut self, num_more: u64) {
        let num_before = match self {
            Self::Nothing => 0,
            Self::Some { num_lines } => *num_lines,
        };
        *self = Self::Some {
            num_lines: num_before + num_more,
        };
    }
}

/// What is ingested. Notes of documents that become one source who they are there.
fn sources(parts: &mut [Part], direct_id: &str) -> Vec<Source> {
    let mut direct: Vec<u8> = Vec::new();
    let mut next: Option<LineIds> = None;
    let mut sources = Vec::new();
    for part in parts {
        match (&part.spooled, &part.lines) {
            (Some(id), Some(lines)) => sources.push(spooled_source(id, lines.clone())),
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

pub(crate) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
