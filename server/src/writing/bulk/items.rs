//! Outcomes of the actions of a `_bulk` request, in as few bytes as possible: an inflated body of 32 KB has half a
//! million actions, and the JSON answer to each has some hundred times the size here.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::http::StatusCode;
use canter_index_builder::LineIds;
use canter_intake::Verb;
use serde_json::{Value, json};

use crate::requests::Problem;

/// Maximum size of distinct reasons that are kept, in bytes. Beyond that, a reason is a word.
const MAX_REASONS_BYTES: usize = 8 << 20;

/// Maximum length of an action's reason, in bytes.
const MAX_REASON_BYTES: usize = 4 << 10;

/// The actions of a request, in order, and their outcomes.
#[derive(Default)]
pub(super) struct Items {
    list: Vec<Item>,
    indexes: Vec<Index>,
    by_name: HashMap<Arc<str>, u32>,
    problems: Problems,
    /// Updated documents that the answer shows.
    sources: BTreeMap<u32, Value>,
    /// Whether documents were published at the request of the sender, which answers say.
    pub(super) is_forced: bool,
}

struct Item {
    verb: Verb,
    /// The number of its index.
    index: u32,
    /// The id given by the sender.
    id: Option<Box<str>>,
    outcome: ItemOutcome,
}

#[derive(Clone, Copy)]
enum ItemOutcome {
    /// Number of the document among those added to its index.
    Added(u32),
    /// What became of a document with an id, and the sequence number of that.
    Done(Done, Option<u64>),
    /// Number of its problem.
    Failed(u32),
}

/// What became of a document with an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    /// It was created; with the number of its version.
    Created(u64),
    /// It was replaced; with the number of its version.
    Updated(u64),
    /// It was what it should become; with the number of its version.
    Unchanged(u64),
    /// It was deleted; with the number of the version that ended.
    Deleted(u64),
    /// There was none to delete; with the number of the version that the deletion is.
    NotFound(u64),
    /// A pipeline dropped it.
    Dropped,
    /// It is safe, and will replace what there is with this id by then.
    TakenForAdding,
    /// The same for a deletion.
    TakenForDeletion,
}

impl Done {
    /// Returns the status, the result, and the version if it is known.
    fn told(self) -> (StatusCode, &'static str, Option<u64>) {
        match self {
            Self::Created(version) => (StatusCode::CREATED, "created", Some(version)),
            Self::Updated(version) => (StatusCode::OK, "updated", Some(version)),
            Self::Unchanged(version) => (StatusCode::OK, "noop", Some(version)),
            Self::Deleted(version) => (StatusCode::OK, "deleted", Some(version)),
            Self::NotFound(version) => (StatusCode::NOT_FOUND, "not_found", Some(version)),
            Self::Dropped => (StatusCode::OK, "noop", Some(0)),
            Self::TakenForAdding => (StatusCode::CREATED, "created", None),
            Self::TakenForDeletion => (StatusCode::OK, "deleted", None),
        }
    }
}

struct Index {
    name: Arc<str>,
    /// The ids of the documents that were added to it.
    ids: Option<LineIds>,
}

impl Items {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the approximate memory of all of this, in bytes.
    pub(super) fn num_bytes(&self) -> usize {
        let ids = self.list.iter().filter_map(|item| item.id.as_ref());
        let ids: usize = ids.map(|id| id.len()).sum();
        let names = self.indexes.iter().map(|index| index.name.len() + 80);
        let names: usize = names.sum();
        self.list.len() * size_of::<Item>() + ids + names + self.problems.num_bytes
    }

    /// Adds an action with an index and an unknown outcome.
    pub(super) fn push(&mut self, verb: Verb, index: u32, id: Option<Box<str>>) {
        let outcome = ItemOutcome::Added(0);
        self.list.push(Item {
            verb,
            index,
            id,
            outcome,
        });
    }

    /// Returns the number of an index; the same one for the same name.
    pub(super) fn index(&mut self, name: &str) -> u32 {
        if let Some(place) = self.by_name.get(name) {
            return *place;
        }
        let place = u32::try_from(self.indexes.len()).unwrap_or(u32::MAX);
        let name: Arc<str> = name.into();
        self.by_name.insert(Arc::clone(&name), place);
        self.indexes.push(Index { name, ids: None });
        place
    }

    pub(super) fn name(&self, index: u32) -> Arc<str> {
        Arc::clone(&self.indexes[index as usize].name)
    }

    /// Records that an action succeeded: its document is one of those of its index.
    pub(super) fn added(&mut self, ord: u32, place: usize) {
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        self.list[ord as usize].outcome = ItemOutcome::Added(place);
    }

    /// Sets the ids of an index's documents.
    pub(super) fn has_ids(&mut self, index: u32, ids: Option<LineIds>) {
        self.indexes[index as usize].ids = ids;
    }

    /// Records what became of a document with an id.
    pub(super) fn done(&mut self, ord: u32, done: Done, seq_no: Option<u64>) {
        self.list[ord as usize].outcome = ItemOutcome::Done(done, seq_no);
    }

    /// Shows an updated document in the answer.
    pub(super) fn shows(&mut self, ord: u32, source: Value) {
        self.sources.insert(ord, source);
    }

    /// Sets the id that a document says itself.
    pub(super) fn has_id(&mut self, ord: u32, id: Box<str>) {
        self.list[ord as usize].id = Some(id);
    }

    /// Records that an action failed.
    pub(super) fn failed(&mut self, ord: u32, problem: Problem) {
        let place = self.problems.place_of(problem);
        self.list[ord as usize].outcome = ItemOutcome::Failed(place);
    }

    /// Records that all of these failed.
    pub(super) fn all_failed(&mut self, ords: impl IntoIterator<Item = u32>, problem: Problem) {
        let place = self.problems.place_of(problem);
        for ord in ords {
            self.list[ord as usize].outcome = ItemOutcome::Failed(place);
        }
    }

    /// Returns whether any action failed.
    pub(super) fn has_errors(&self) -> bool {
        let is_failed = |item: &Item| matches!(item.outcome, ItemOutcome::Failed(_));
        self.list.iter().any(is_failed)
    }

    /// Returns the problem if all actions failed for lack of room.
    pub(super) fn all_busy(&self) -> Option<&Problem> {
        let busy = |item: &Item| match item.outcome {
            ItemOutcome::Failed(place) => {
                let problem = self.problems.get(place);
                Some(problem).filter(|problem| problem.status == StatusCode::TOO_MANY_REQUESTS)
            }
            ItemOutcome::Added(_) | ItemOutcome::Done(..) => None,
        };
        let first = self.list.first().and_then(busy);
        first.filter(|_| self.list.iter().all(|item| busy(item).is_some()))
    }

    /// Returns the status of an action with the answer to it, or the problem.
    pub(super) fn outcome(&self, ord: usize) -> Result<(StatusCode, Value), &Problem> {
        let item = &self.list[ord];
        let index = &self.indexes[item.index as usize];
        match item.outcome {
            ItemOutcome::Added(place) => {
                let place = u64::from(place);
                let id = index.ids.map_or_else(String::new, |ids| ids.nth(place));
                let seq_no = index.ids.map(|ids| ids.seq_no(place));
                Ok(self.told(&index.name, &id, Done::Created(1), seq_no))
            }
            ItemOutcome::Done(done, seq_no) => {
                let id = item.id.as_deref().unwrap_or_default();
                let (status, mut said) = self.told(&index.name, id, done, seq_no);
                let source = u32::try_from(ord)
                    .ok()
                    .and_then(|ord| self.sources.get(&ord));
                if let Some(source) = source {
                    said["get"] = json!({"found": true, "_source": source});
                }
                Ok((status, said))
            }
            ItemOutcome::Failed(place) => Err(self.problems.get(place)),
        }
    }

    /// Returns the status and the answer for a document.
    fn told(&self, index: &str, id: &str, done: Done, seq_no: Option<u64>) -> (StatusCode, Value) {
        let (status, result, version) = done.told();
        let mut said = json!({"_index": index, "_id": id});
        if let Some(version) = version {
            // A script that leaves nothing leaves no version.
            said["_version"] = match (result, version) {
                ("noop", 0) if done == Done::Dropped => (-3).into(),
                ("noop", 0) => (-1).into(),
                _ => version.into(),
            };
        }
        said["result"] = result.into();
        if self.is_forced {
            said["forced_refresh"] = true.into();
        }
        // Nothing is written of a document that stays as it is.
        let num_shards = u32::from(result != "noop");
        said["_shards"] = json!({"total": num_shards, "successful": num_shards, "failed": 0});
        if let Some(seq_no) = seq_no {
            said["_seq_no"] = seq_no.into();
            said["_primary_term"] = 1.into();
        }
        (status, said)
    }

    /// Returns the answer to an action.
    pub(super) fn answer(&self, ord: usize) -> Option<Value> {
        let item = self.list.get(ord)?;
        let name = &*self.indexes[item.index as usize].name;
        let said = match self.outcome(ord) {
            Ok((status, mut said)) => {
                said["status"] = status.as_u16().into();
                said
            }
            Err(problem) => json!({
                "_index": name, "_id": item.id, "status": problem.status.as_u16(), "error": problem.body(),
            }),
        };
        Some(json!({item.verb.as_str(): said}))
    }
}

/// Problems, each stored once however many actions have it.
#[derive(Default)]
struct Problems {
    list: Vec<Problem>,
    places: HashMap<(StatusCode, &'static str, String), u32>,
    num_bytes: usize,
}

impl Problems {
    fn get(&self, place: u32) -> &Problem {
        &self.list[place as usize]
    }

    fn place_of(&mut self, mut problem: Problem) -> u32 {
        if problem.reason.len() > MAX_REASON_BYTES {
            let end = problem.reason.floor_char_boundary(MAX_REASON_BYTES);
            problem.reason.truncate(end);
            problem.reason.push('…');
        }
        if self.num_bytes > MAX_REASONS_BYTES {
            problem.reason = "the request has so many different errors that only the first are \
                              said in full: send this action again with fewer others"
                .to_owned();
        }
        let detail = problem.detail.take();
        let detail = detail.filter(|_| self.num_bytes <= MAX_REASONS_BYTES);
        let key = (problem.status, problem.kind, problem.reason);
        if detail.is_none()
            && let Some(place) = self.places.get(&key)
        {
            return *place;
        }
        let place = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let (status, kind, reason) = key.clone();
        // It is stored twice, with overhead.
        self.num_bytes += 2 * reason.len() + 160;
        // Scripts' errors differ in what they say beside the reason.
        let num_bytes = detail.as_ref().map(|detail| 2 * detail.to_string().len());
        self.num_bytes += num_bytes.unwrap_or_default();
        let is_plain = detail.is_none();
        self.list.push(Problem {
            detail,
            status,
            kind,
            reason,
        });
        if is_plain {
            self.places.insert(key, place);
        }
        place
    }
}
