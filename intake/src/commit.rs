//! Publishing what waits.

use std::collections::BTreeSet;
use std::io::Cursor;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use canter_formats::Format;
use canter_index_builder::{
    BuildError, DocumentCheck, ErrorKind, IngestOptions, Source, ingest, keep_rejected,
    read_spooled, remove_spooled, spool, spooled, spooled_source,
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
    /// What is in the spool by this process.
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
            .filter(|id| !self.own.contains(id))
            .collect();
        for id in &others {
            if self.is_first_look || self.seen.contains(id) {
                let part = Part {
                    lines: None,
                    spooled: Some(id.clone()),
                    waiter: None,
                    room: None,
                };
                // A lane that is stopping leaves it where it is.
                let _ = self.shared.add(part, false);
            }
        }
        self.is_first_look = false;
        self.seen = others;
    }

    fn commit(&mut self, mut parts: Vec<Part>) {
        self.own
            .extend(parts.iter().filter_map(|part| part.spooled.clone()));
        let outcome = match self.publish(&mut parts) {
            Err(error) if may_be_rejects(&error) => {
                self.set_aside(&mut parts)
                    .and_then(|is_changed| match is_changed {
                        true => self.publish(&mut parts),
                        false => Err(error),
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
            part.tell(Ok(()));
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

    /// Ingests all parts at once. Lines stay with their parts, for another attempt.
    fn publish(&self, parts: &mut [Part]) -> Result<(), BuildError> {
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
                format: Some(Format::Ndjson),
                max_line_num_bytes: self.shared.settings.max_document_bytes,
                // Each was looked at before: if one is rejected now, that is to be known before anything is published.
                max_rejects: Some(0),
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

    /// The index config has changed since documents were looked at: takes those out that it does not allow any more, and
    /// says whether there were any. Who waits for one of them is told; of those that are durable already, the spool keeps
    /// them under another name, for people to look at.
    fn set_aside(&mut self, parts: &mut [Part]) -> Result<bool, BuildError> {
        let store = &self.shared.store;
        let check = DocumentCheck::open(store)?;
        let mut scratch = Vec::new();
        let mut is_changed = false;
        for part in parts.iter_mut() {
            let Some(lines) = &part.lines else {
                continue;
            };
            let (mut good, mut bad) = (Vec::new(), Vec::new());
            for line in lines.split_inclusive(|byte| *byte == b'\n') {
                match check.problem(line, &mut scratch) {
                    None => good.extend_from_slice(line),
                    Some(_) => bad.extend_from_slice(line),
                }
            }
            if bad.is_empty() {
                continue;
            }
            is_changed = true;
            let Some(id) = part.spooled.take() else {
                part.tell(Err(Refusal::Unavailable(
                    "the index config has changed in this moment, and does not allow one of these documents: nothing of \
                     them was taken; send them again to see which"
                        .to_owned(),
                )));
                part.lines = None;
                continue;
            };
            let kept_id = Uuid::new_v4().simple().to_string();
            keep_rejected(store, &id, &bad)?;
            spool(store, &kept_id, &good)?;
            remove_spooled(store, &id)?;
            tracing::error!(
                target: "canter::intake", index = store.uri(), spool = id,
                "the index config has changed: documents that it does not allow are in the folder `rejected`"
            );
            self.own.insert(kept_id.clone());
            (part.lines, part.spooled) = (Some(good), Some(kept_id));
        }
        Ok(is_changed)
    }
}

fn sources(parts: &[Part], direct_id: &str) -> Vec<Source> {
    let mut direct: Vec<u8> = Vec::new();
    let mut sources = Vec::new();
    for part in parts {
        match (&part.spooled, &part.lines) {
            (Some(id), Some(lines)) => sources.push(spooled_source(id, lines.clone())),
            (None, Some(lines)) => direct.extend_from_slice(lines),
            (_, None) => {}
        }
    }
    if !direct.is_empty() {
        sources.push(Source::reader("requests", Cursor::new(direct)).with_id(direct_id));
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
