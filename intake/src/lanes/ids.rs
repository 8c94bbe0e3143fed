//! Operations on documents by their ids: from lines to what becomes of each.
//!
//! ```text
//!   {"_id":"a", …}       adds a document, or replaces the one with this id
//!   ["delete","a"]       deletes it
//!   {…}                  adds a document without an id
//! ```
//!
//! A line alone says what it does, since the spool has nothing else. Conditions exist only of lines whose client waits.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use canter_index_builder::{
    BuildError, DocNumbers, IdBatch, IdSnapshot, IndexStore, LineIds, LiveVersion, ROUTING_FIELD,
    id_in,
};

/// Condition under which an operation is performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// There is no document with this id.
    Absent,
    /// The document with this id is this version of it.
    SeqNo(u64),
    /// The document with this id, if there is one, has a lower version than this, which the new one gets.
    Version {
        /// Version that the client gives.
        given: u64,
        /// Whether an equal version may be replaced, too.
        or_equal: bool,
    },
}

impl Condition {
    /// Returns whether the condition holds for the document that has an id now.
    fn holds(self, now: Option<LiveVersion>) -> bool {
        match self {
            Self::Absent => now.is_none(),
            Self::SeqNo(wanted) => now.and_then(|now| now.seq_no) == Some(wanted),
            Self::Version { given, or_equal } => now.is_none_or(|now| match or_equal {
                true => now.version <= given,
                false => now.version < given,
            }),
        }
    }
}

/// Operation on a document, as a client asks for it.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'d> {
    /// Id of the document, if the client chose one.
    pub id: Option<&'d str>,
    /// The document; `None` deletes the one with this id.
    pub document: Option<&'d [u8]>,
    /// Routing that is stored with the document, and shown.
    pub routing: Option<&'d str>,
    /// Condition, for operations with an id.
    pub condition: Option<Condition>,
}

/// What became of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineOutcome {
    /// A document was added that no client gave an id.
    Added(LiveVersion),
    /// A document with a new id was added.
    Created(LiveVersion),
    /// A document was replaced; this is the new one.
    Updated(LiveVersion),
    /// A document was deleted; this is the version that the deletion is.
    Deleted(LiveVersion),
    /// There was no document to delete.
    NotFound(LiveVersion),
    /// The condition did not hold: this is the document with this id, if there is one.
    Conflict(Option<LiveVersion>),
}

/// Part of a batch for the resolution of its operations.
pub(crate) struct PartLines<'p> {
    /// Lines, each with its line feed.
    pub(crate) lines: &'p [u8],
    pub(crate) ids: LineIds,
    /// Conditions by the number of the line, from 0.
    pub(crate) conditions: &'p BTreeMap<u64, Condition>,
}

/// Resolved operations of a batch.
#[derive(Default)]
pub(crate) struct Resolved {
    /// For each part the lines, from 1, that add no document.
    pub(crate) left_out: Vec<BTreeSet<u64>>,
    /// For each part what becomes of its lines; empty for a part that was published before.
    pub(crate) outcomes: Vec<Vec<LineOutcome>>,
    pub(crate) batch: IdBatch,
}

/// Operation of a line.
struct LineOperation {
    id: Option<String>,
    is_delete: bool,
}

/// Writes operations as lines.
pub(crate) fn written(operations: &[Operation<'_>], id_field: Option<&str>) -> Vec<u8> {
    let mut lines = Vec::new();
    for operation in operations {
        let start = lines.len();
        match (operation.document, operation.id.zip(id_field)) {
            (Some(document), id) if id.is_some() || operation.routing.is_some() => {
                write_document(document, id, operation.routing, &mut lines);
            }
            (Some(document), _) => {
                // No document of a client is taken for an operation.
                if document.starts_with(b"[") {
                    lines.push(b' ');
                }
                lines.extend_from_slice(document);
            }
            (None, _) => {
                let id = operation.id.unwrap_or_default();
                lines.extend_from_slice(serde_json::json!(["delete", id]).to_string().as_bytes());
            }
        }
        // Line feeds between the tokens of a document; its strings cannot contain any.
        let line = lines.get_mut(start..).unwrap_or_default();
        let feeds = line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r'));
        feeds.for_each(|byte| *byte = b' ');
        lines.push(b'\n');
    }
    lines
}

/// Writes a document with its id, unless the document contains that itself, and with its routing.
fn write_document(
    document: &[u8],
    id: Option<(&str, &str)>,
    routing: Option<&str>,
    out: &mut Vec<u8>,
) {
    let id = id.filter(|(_, field)| matches!(id_in(document, field), Ok(None)));
    let id = id.map(|(id, field)| (field, id));
    let routing = routing.map(|routing| (ROUTING_FIELD, routing));
    let added: Vec<String> = [id, routing]
        .into_iter()
        .flatten()
        .map(|(field, text)| format!("{}:{}", serde_json::json!(field), serde_json::json!(text)))
        .collect();
    let inner = document.trim_ascii_start().strip_prefix(b"{");
    let Some(inner) = inner.filter(|_| !added.is_empty()) else {
        return out.extend_from_slice(document);
    };
    out.push(b'{');
    out.extend_from_slice(added.join(",").as_bytes());
    if !inner.trim_ascii_start().starts_with(b"}") {
        out.push(b',');
    }
    out.extend_from_slice(inner);
}

/// Returns whether a line deletes a document.
pub(crate) fn is_delete(line: &[u8]) -> bool {
    line.starts_with(b"[\"delete\",")
}

/// Returns whether any of these lines has an id.
pub(crate) fn any_id(lines: &[u8], id_field: &str) -> bool {
    let mut operations = operations(lines, id_field);
    operations.any(|operation| operation.id.is_some())
}

fn operations<'l>(
    lines: &'l [u8],
    id_field: &'l str,
) -> impl Iterator<Item = LineOperation> + use<'l> {
    let lines = lines.split_inclusive(|byte| *byte == b'\n');
    lines.map(move |line| match is_delete(line) {
        true => LineOperation {
            id: serde_json::from_slice::<(String, String)>(line)
                .ok()
                .map(|(_, id)| id),
            is_delete: true,
        },
        false => LineOperation {
            // What is no id is rejected when the document is read.
            id: id_in(line, id_field).unwrap_or_default(),
            is_delete: false,
        },
    })
}

/// State of an id while the operations of a batch are resolved.
#[derive(Clone, Copy)]
enum State {
    Absent,
    /// It is in the index.
    Live(LiveVersion),
    /// A line of this batch adds it.
    Here {
        part: usize,
        line: u64,
        now: LiveVersion,
    },
}

impl State {
    fn now(self) -> Option<LiveVersion> {
        match self {
            Self::Absent => None,
            Self::Live(now) | Self::Here { now, .. } => Some(now),
        }
    }
}

/// Looks up the ids of a batch, and resolves its operations in their order: of several with the same id the last counts.
/// Returns `None` for a batch without ids, for which nothing is read.
///
/// # Errors
/// As [`IdSnapshot::read`].
pub(crate) fn resolve(
    store: &IndexStore,
    id_field: &str,
    parts: &[PartLines<'_>],
) -> Result<Option<Resolved>, BuildError> {
    let all: Vec<Vec<LineOperation>> = parts
        .iter()
        .map(|part| operations(part.lines, id_field).collect())
        .collect();
    let mut ids: BTreeSet<&str> = BTreeSet::new();
    let mut with_seq_nos: BTreeSet<&str> = BTreeSet::new();
    for (part, operations) in parts.iter().zip(&all) {
        for (line, operation) in (0..).zip(operations) {
            let Some(id) = &operation.id else { continue };
            ids.insert(id);
            if part.conditions.contains_key(&line) {
                with_seq_nos.insert(id);
            }
        }
    }
    if ids.is_empty() {
        return Ok(None);
    }
    let sources: Vec<LineIds> = parts.iter().map(|part| part.ids).collect();
    let snapshot = IdSnapshot::read(
        store,
        ids.iter().copied(),
        with_seq_nos.iter().copied(),
        &sources,
    )?;
    Ok(Some(resolve_in(snapshot, parts, &all)))
}

fn resolve_in(
    snapshot: IdSnapshot,
    parts: &[PartLines<'_>],
    all: &[Vec<LineOperation>],
) -> Resolved {
    let mut resolved = Resolved::default();
    let mut states: HashMap<&str, State> = HashMap::new();
    let mut numbers: BTreeMap<(usize, u64), LiveVersion> = BTreeMap::new();
    let mut next_seq_no = snapshot.next_seq_no();
    for (part_ord, (part, operations)) in parts.iter().zip(all).enumerate() {
        resolved.left_out.push(BTreeSet::new());
        resolved.outcomes.push(Vec::new());
        if snapshot.has_lines(part.ids) {
            continue;
        }
        for (line, operation) in (0_u64..).zip(operations) {
            let Some(id) = operation.id.as_deref() else {
                let first = LiveVersion {
                    version: 1,
                    seq_no: Some(take_number(&mut next_seq_no, part, line)),
                };
                let outcome = match operation.is_delete {
                    true => LineOutcome::NotFound(first),
                    false => LineOutcome::Added(first),
                };
                numbers.insert((part_ord, line), first);
                resolved.note(part_ord, line, outcome);
                continue;
            };
            let state = states.entry(id).or_insert_with(|| {
                let live = snapshot.version(id);
                live.map_or(State::Absent, State::Live)
            });
            let now = state.now();
            let condition = part.conditions.get(&line);
            if condition.is_some_and(|condition| !condition.holds(now)) {
                resolved.note(part_ord, line, LineOutcome::Conflict(now));
                continue;
            }
            if let State::Here { part, line, .. } = *state {
                resolved.leave_out(part, line);
            }
            let counted = now.map_or(1, |now| now.version.saturating_add(1));
            let new = LiveVersion {
                version: match condition {
                    Some(Condition::Version { given, .. }) => *given,
                    _ => counted,
                },
                seq_no: Some(take_number(&mut next_seq_no, part, line)),
            };
            let (next, outcome) = performed(operation.is_delete, now, new, (part_ord, line));
            if let State::Here { now, .. } = next {
                numbers.insert((part_ord, line), now);
            }
            *state = next;
            resolved.note(part_ord, line, outcome);
        }
    }
    let removed = states.into_iter();
    let removed = removed.filter(|(_, state)| matches!(state, State::Absent));
    let removed: Vec<&str> = removed
        .map(|(id, _)| id)
        .filter(|id| snapshot.version(id).is_some())
        .collect();
    let numbers = numbers_of(parts, numbers, next_seq_no.is_some());
    resolved.batch = snapshot.into_batch(removed, numbers, next_seq_no.unwrap_or_default());
    resolved
}

/// Returns the numbers of new documents by their lines; sequence numbers only of an index that numbers its documents.
fn numbers_of(
    parts: &[PartLines<'_>],
    versions: BTreeMap<(usize, u64), LiveVersion>,
    is_numbered: bool,
) -> Vec<(LineIds, u64, DocNumbers)> {
    let numbers = versions.into_iter().filter_map(|((part, line), now)| {
        let ids = parts.get(part)?.ids;
        let numbers = DocNumbers {
            version: Some(now.version).filter(|version| *version != 1),
            seq_no: now.seq_no.filter(|_| is_numbered),
        };
        Some((ids, line, numbers))
    });
    numbers.collect()
}

/// Takes the sequence number of the operation in a line. In an index that numbers no documents, it is the hash of the line's
/// identity.
fn take_number(next: &mut Option<u64>, part: &PartLines<'_>, line: u64) -> u64 {
    match next {
        None => part.ids.seq_no(line),
        Some(next) => {
            let taken = *next;
            *next = next.saturating_add(1);
            taken
        }
    }
}

/// Returns the state of an id after the operation `new` on the document `now`, and the outcome.
fn performed(
    is_delete: bool,
    now: Option<LiveVersion>,
    new: LiveVersion,
    (part, line): (usize, u64),
) -> (State, LineOutcome) {
    let next = State::Here {
        part,
        line,
        now: new,
    };
    match (is_delete, now) {
        (true, None) => (State::Absent, LineOutcome::NotFound(new)),
        (true, Some(_)) => (State::Absent, LineOutcome::Deleted(new)),
        (false, None) => (next, LineOutcome::Created(new)),
        (false, Some(_)) => (next, LineOutcome::Updated(new)),
    }
}

impl Resolved {
    /// Notes what becomes of the next line of a part.
    fn note(&mut self, part: usize, line: u64, outcome: LineOutcome) {
        if let Some(outcomes) = self.outcomes.get_mut(part) {
            outcomes.push(outcome);
        }
        match outcome {
            LineOutcome::Added(_) | LineOutcome::Created(_) | LineOutcome::Updated(_) => {}
            LineOutcome::Deleted(_) | LineOutcome::NotFound(_) | LineOutcome::Conflict(_) => {
                self.leave_out(part, line);
            }
        }
    }

    fn leave_out(&mut self, part: usize, line: u64) {
        if let Some(left_out) = self.left_out.get_mut(part) {
            left_out.insert(line + 1);
        }
    }

    /// Returns the number of lines that add no document.
    pub(crate) fn num_left_out(&self) -> u64 {
        self.left_out.iter().map(|lines| lines.len() as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put<'d>(id: &'d str, document: &'d str) -> Operation<'d> {
        Operation {
            id: Some(id),
            document: Some(document.as_bytes()),
            routing: None,
            condition: None,
        }
    }

    fn delete(id: &str) -> Operation<'_> {
        Operation {
            id: Some(id),
            document: None,
            routing: None,
            condition: None,
        }
    }

    #[test]
    fn lines_say_what_they_do() {
        let plain = Operation {
            id: None,
            document: Some(b"[\"delete\",\"a\"]"),
            routing: None,
            condition: None,
        };
        let operations = [
            put("a\"1", "{ \"x\":\n1.0 }"),
            put("b", "{}"),
            put("c", "{\"_id\":\"c\",\"x\":2}"),
            Operation {
                routing: Some("r"),
                ..put("d", "{}")
            },
            delete("a\n"),
            plain,
        ];
        let lines = written(&operations, Some("_id"));
        let text = std::str::from_utf8(&lines).unwrap();
        let expected = "{\"_id\":\"a\\\"1\", \"x\": 1.0 }\n{\"_id\":\"b\"}\n{\"_id\":\"c\",\"x\":2}\n\
                        {\"_id\":\"d\",\"_routing\":\"r\"}\n[\"delete\",\"a\\n\"]\n [\"delete\",\"a\"]\n";
        assert_eq!(text, expected);
        let read = super::operations(&lines, "_id");
        let read: Vec<(Option<String>, bool)> = read
            .map(|operation| (operation.id, operation.is_delete))
            .collect();
        let id = |id: &str| Some(id.to_owned());
        let expected = [
            (id("a\"1"), false),
            (id("b"), false),
            (id("c"), false),
            (id("d"), false),
            (id("a\n"), true),
            (None, false),
        ];
        assert_eq!(read, expected);
        assert!(any_id(&lines, "_id"));
        assert!(!any_id(b"{\"x\":1}\n", "_id"));
    }

    #[test]
    fn the_last_operation_on_an_id_counts_and_conditions_see_those_before() {
        use LineOutcome::{Added, Conflict, Created, Deleted, NotFound, Updated};
        let first = written(
            &[put("a", "{}"), put("a", "{}"), delete("b"), put("b", "{}")],
            Some("_id"),
        );
        let plain = Operation {
            id: None,
            document: Some(b"{}"),
            routing: None,
            condition: None,
        };
        let second = written(
            &[
                put("a", "{}"),
                delete("a"),
                plain,
                put("b", "{}"),
                put("b", "{}"),
            ],
            Some("_id"),
        );
        let ids = ["one", "two"].map(|id| LineIds::of_source(id, b"{}\n"));
        let of_first = BTreeMap::from([(1, Condition::Absent)]);
        // The first of both holds, and is not there any more for the second.
        let seq_no = ids[0].seq_no(3);
        let of_second = BTreeMap::from([(3, seq_no), (4, seq_no)]);
        let of_second = of_second
            .into_iter()
            .map(|(line, seq_no)| (line, Condition::SeqNo(seq_no)))
            .collect();
        let parts = [
            PartLines {
                lines: &first,
                ids: ids[0],
                conditions: &of_first,
            },
            PartLines {
                lines: &second,
                ids: ids[1],
                conditions: &of_second,
            },
        ];
        let all: Vec<Vec<LineOperation>> = parts
            .iter()
            .map(|part| super::operations(part.lines, "_id").collect())
            .collect();
        let resolved = resolve_in(IdSnapshot::default(), &parts, &all);
        let version = |version, seq_no| LiveVersion {
            version,
            seq_no: Some(seq_no),
        };
        let of_first = |number, line| version(number, ids[0].seq_no(line));
        let of_second = |number, line| version(number, ids[1].seq_no(line));
        assert_eq!(
            resolved.outcomes,
            [
                vec![
                    Created(of_first(1, 0)),
                    Conflict(Some(of_first(1, 0))),
                    NotFound(of_first(1, 2)),
                    Created(of_first(1, 3))
                ],
                vec![
                    Updated(of_second(2, 0)),
                    Deleted(of_second(3, 1)),
                    Added(of_second(1, 2)),
                    Updated(of_second(2, 3)),
                    Conflict(Some(of_second(2, 3)))
                ],
            ]
        );
        let left_out = [vec![1, 2, 3, 4], vec![1, 2, 5]];
        let left_out = left_out.map(|lines: Vec<u64>| BTreeSet::from_iter(lines));
        assert_eq!(resolved.left_out, left_out);
        assert_eq!(resolved.num_left_out(), 7);
    }

    #[test]
    fn versions_that_clients_give_must_be_higher() {
        let version = |version| LiveVersion {
            version,
            seq_no: None,
        };
        let given = |given, or_equal| Condition::Version { given, or_equal };
        for (condition, now, holds) in [
            (given(5, false), None, true),
            (given(5, false), Some(4), true),
            (given(5, false), Some(5), false),
            (given(5, true), Some(5), true),
            (given(5, true), Some(6), false),
            (given(0, false), None, true),
        ] {
            assert_eq!(
                condition.holds(now.map(version)),
                holds,
                "{condition:?} {now:?}"
            );
        }
    }
}
