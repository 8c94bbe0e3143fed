//! What an action asks for, checked before anything is performed.

use std::borrow::Cow;

use axum::http::StatusCode;
use canter_index_builder::{check_id, first_key_in, id_in};
use canter_intake::{Action, Condition, LineOutcome, Operation, Verb};

use serde_json::{Map, Value};

use super::items::Done;
use crate::requests::{ChangeRequest, Problem};

/// Sequence number that no document has.
const NO_SEQ_NO: u64 = u64::MAX;

/// Keys that documents cannot have at their root where clients choose ids.
const METADATA: [&str; 5] = ["_id", "_version", "_seq_no", "_routing", "_ignored"];

/// Version that stands for any, as error messages of Elasticsearch show it.
const ANY_VERSION: i64 = -3;

/// Action to perform.
#[derive(Clone)]
pub(super) struct Asked<'b> {
    /// The number of its index.
    pub(super) index: u32,
    /// The number of its action.
    pub(super) ord: u32,
    pub(super) verb: Verb,
    pub(super) id: Option<Box<str>>,
    /// The document, or the change of one.
    pub(super) body: Option<Cow<'b, [u8]>>,
    pub(super) condition: Option<Condition>,
    pub(super) routing: Option<Box<str>>,
    /// Parts of an updated document that the answer shows, as JSON.
    pub(super) source: Option<Box<str>>,
}

impl Asked<'_> {
    /// Returns the document, or the change of one.
    pub(super) fn body(&self) -> Option<&[u8]> {
        self.body.as_deref()
    }

    /// Returns the operation on a document that has passed all checks.
    pub(super) fn operation(&self) -> Operation<'_> {
        Operation {
            id: self.id.as_deref(),
            document: self.body(),
            routing: self.routing.as_deref(),
            condition: self.condition,
        }
    }

    /// Returns whether the document must be read before the action can be performed.
    pub(super) fn reads_first(&self) -> bool {
        self.verb == Verb::Update || self.verb == Verb::Delete && self.routing.is_some()
    }

    /// Returns whether what it does depends on what the index has by then.
    pub(super) fn is_conditional(&self) -> bool {
        self.condition.is_some() || self.reads_first()
    }

    /// Returns whether the index must have an `id_field`.
    pub(super) fn needs_ids(&self) -> bool {
        self.id.is_some()
    }

    /// Returns the id that its document says itself.
    pub(super) fn own_id(&self, id_field: &str) -> Option<String> {
        id_in(self.body()?, id_field).ok()?
    }

    /// Returns a document with the fields that it brings: of a change, those of `doc` and `upsert`.
    pub(super) fn fields(&self) -> Option<Cow<'_, [u8]>> {
        let body = self.body()?;
        if self.verb != Verb::Update {
            return Some(Cow::Borrowed(body));
        }
        let change: Map<String, Value> = serde_json::from_slice(body).ok()?;
        let parts = ["upsert", "doc"].into_iter();
        let parts = parts.filter_map(|key| change.get(key)?.as_object().cloned());
        let whole: Map<String, Value> = parts.flatten().collect();
        Some(Cow::Owned(Value::Object(whole).to_string().into_bytes()))
    }

    /// Returns what is wrong with it in a data stream, if anything is.
    pub(super) fn problem_of_stream(&self) -> Option<Problem> {
        if self.verb != Verb::Create {
            return Some(Problem::illegal(
                "only write ops with an op_type of create are allowed in data streams",
            ));
        }
        let document = self.body()?;
        match first_key_in(document, &["@timestamp"]) {
            Some(_) => None,
            None => Some(Problem::invalid(
                "document_parsing_exception",
                "data stream timestamp field [@timestamp] is missing",
            )),
        }
    }

    /// Returns what is wrong with its document in an index with this `id_field`, if anything is.
    pub(super) fn problem(&self, id_field: &str) -> Option<Problem> {
        let document = self.body()?;
        let parsing = |reason| Some(Problem::invalid("document_parsing_exception", reason));
        if id_field == "_id" {
            if let Some(name) = first_key_in(document, &METADATA) {
                return parsing(format!(
                    "Field [{name}] is a metadata field and cannot be added inside a document. Use the index API request \
                     parameters."
                ));
            }
            if has_key_of_dots(document) {
                return Some(Problem::illegal(
                    "field name cannot contain only the character [.]",
                ));
            }
            return None;
        }
        match (id_in(document, id_field), &self.id) {
            (Err(problem), _) => parsing(problem),
            (Ok(Some(own)), Some(id)) if *own != **id => parsing(format!(
                "{id_field}: the document says {own:?}, and [_id] is {id:?}"
            )),
            _ => None,
        }
    }
}

/// Returns the condition of an action.
///
/// # Errors
/// The action is invalid whatever its document, or what it asks for cannot be promised.
pub(super) fn condition_of(
    action: &Action<'_>,
    request: &ChangeRequest<'_>,
) -> Result<Option<Condition>, Problem> {
    if let Some(unknown) = action.unknown {
        return Err(Problem::illegal(format!(
            "[{unknown}] of an action is not supported"
        )));
    }
    let verb = action.verb.as_str();
    match &action.id {
        None if matches!(action.verb, Verb::Update | Verb::Delete) => {
            return Err(Problem::illegal(format!("[{verb}] needs an [_id]")));
        }
        None => {}
        Some(id) => check_id(id).map_err(Problem::illegal)?,
    }
    if action.verb == Verb::Delete && !request.may_delete {
        return Err(super::no_deleting());
    }
    if let Some(versioned) = versioned(action)? {
        return Ok(Some(versioned));
    }
    let condition = match (action.verb, action.if_seq_no, action.if_primary_term) {
        (Verb::Create, None, None) => action.id.as_ref().map(|_| Condition::Absent),
        (_, None, None) => None,
        (Verb::Create, ..) => {
            return Err(Problem::illegal(
                "create operations do not support compare and set: leave if_seq_no and if_primary_term out",
            ));
        }
        _ if action.id.is_none() => {
            return Err(Problem::illegal("[if_seq_no] needs an [_id]"));
        }
        (_, Some(seq_no), Some(1)) => Some(Condition::SeqNo(seq_no)),
        (_, Some(_), Some(_)) => Some(Condition::SeqNo(NO_SEQ_NO)),
        _ => {
            return Err(Problem::illegal(
                "if_seq_no and if_primary_term are needed together",
            ));
        }
    };
    Ok(condition)
}

/// Returns the condition of an action with a version of its client's.
///
/// # Errors
/// The action cannot have a version, or not this one.
fn versioned(action: &Action<'_>) -> Result<Option<Condition>, Problem> {
    let invalid = |problem: &str| {
        let reason = format!("Validation Failed: 1: {problem};");
        Err(Problem::invalid(
            "action_request_validation_exception",
            reason,
        ))
    };
    let or_equal = match action.version_type.as_deref() {
        None | Some("internal") if action.version.is_none() => return Ok(None),
        None | Some("internal") if action.verb == Verb::Create => {
            return invalid(
                "create operations do not support explicit versions. use index instead",
            );
        }
        None | Some("internal") => {
            return invalid(
                "internal versioning can not be used for optimistic concurrency control. Please use                  `if_seq_no` and `if_primary_term` instead",
            );
        }
        Some("external") => false,
        Some("external_gte") => true,
        Some(other) => return Err(Problem::illegal(format!("No version type match [{other}]"))),
    };
    match action.verb {
        Verb::Create => {
            return invalid(
                "create operations only support internal versioning. use index instead",
            );
        }
        Verb::Update => {
            return invalid(
                "update operations do not support versioning. Please use `if_seq_no` and `if_primary_term` instead",
            );
        }
        Verb::Index | Verb::Delete => {}
    }
    if action.if_seq_no.is_some() || action.if_primary_term.is_some() {
        return invalid("compare and write operations can not use versioning");
    }
    if action.id.is_none() {
        return invalid("an id must be provided if version type or value are set");
    }
    let kind = action.version_type.as_deref().unwrap_or_default();
    match action.version {
        // Numbers in JSON beyond this are no longs.
        Some(given) if i64::try_from(given).is_ok() => {
            Ok(Some(Condition::Version { given, or_equal }))
        }
        Some(given) => invalid(&format!(
            "illegal version value [{given}] for version type [{}]",
            kind.to_uppercase()
        )),
        None => invalid(&format!(
            "illegal version value [{ANY_VERSION}] for version type [{}]",
            kind.to_uppercase()
        )),
    }
}

/// Returns whether a document has a key of dots only.
fn has_key_of_dots(document: &[u8]) -> bool {
    let mut rest = document;
    while let Some(at) = rest.windows(2).position(|pair| pair == b"\".") {
        let is_escaped = at > 0 && rest.get(at - 1) == Some(&b'\\');
        let inner = rest.get(at + 1..).unwrap_or_default();
        let num_dots = inner.iter().take_while(|byte| **byte == b'.').count();
        let behind = inner.get(num_dots..).unwrap_or_default();
        if !is_escaped
            && let Some(behind) = behind.strip_prefix(b"\"")
            && behind.trim_ascii_start().starts_with(b":")
        {
            return true;
        }
        rest = behind;
    }
    false
}

/// Returns why an index does not take ids.
pub(super) fn no_ids(index: &str) -> Problem {
    Problem::illegal(format!(
        "[{index}] takes no ids, since its config has no id_field: leave [_id] out, or create an index with one"
    ))
}

/// Returns why an index does not keep the routing of documents.
pub(super) fn no_routing(index: &str) -> Problem {
    Problem::illegal(format!(
        "[{index}] keeps no [routing], since its config has no field [_routing]: leave it out, or create the index by its mapping"
    ))
}

/// Returns what became of an operation with an id, and its sequence number. Of what is only safe, the number is not known: it
/// may be replaced before it is published.
///
/// # Errors
/// Its condition did not hold.
pub(super) fn done(
    asked: &Asked<'_>,
    outcome: Option<&LineOutcome>,
) -> Result<(Done, Option<u64>), Problem> {
    Ok(match outcome {
        None if asked.verb == Verb::Delete => (Done::TakenForDeletion, None),
        None => (Done::TakenForAdding, None),
        Some(LineOutcome::Added(new) | LineOutcome::Created(new)) => {
            (Done::Created(new.version), new.seq_no)
        }
        Some(LineOutcome::Updated(new)) => (Done::Updated(new.version), new.seq_no),
        Some(LineOutcome::Deleted(new)) => (Done::Deleted(new.version), new.seq_no),
        Some(LineOutcome::NotFound(new)) => (Done::NotFound(new.version), new.seq_no),
        Some(LineOutcome::Conflict(found)) => {
            let id = asked.id.as_deref().unwrap_or_default();
            let current = found.map(|found| match (asked.condition, found.seq_no) {
                (Some(Condition::SeqNo(_)), Some(seq_no)) => {
                    format!("current document has seqNo [{seq_no}] and primary term [1]")
                }
                _ => format!("current version [{}]", found.version),
            });
            let reason = match (asked.condition, current) {
                (Some(Condition::SeqNo(wanted)), current) => format!(
                    "[{id}]: version conflict, required seqNo [{wanted}], primary term [1]. {}",
                    current.unwrap_or_else(|| "but no document was found".to_owned())
                ),
                (Some(Condition::Version { given, or_equal }), current) => format!(
                    "[{id}]: version conflict, {} is higher {}than the one provided [{given}]",
                    current.unwrap_or_default(),
                    if or_equal { "" } else { "or equal " }
                ),
                (_, current) => format!(
                    "[{id}]: version conflict, document already exists ({})",
                    current.unwrap_or_default()
                ),
            };
            return Err(conflict(reason));
        }
    })
}

pub(super) fn conflict(reason: String) -> Problem {
    Problem {
        detail: None,
        status: StatusCode::CONFLICT,
        kind: "version_conflict_engine_exception",
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_dots_only_are_told_from_values_and_from_other_keys() {
        for of_dots in [
            "{\".\":1}",
            "{\"a\":{\"..\" : 1}}",
            "{\"b\":\".\",\"...\":[]}",
        ] {
            assert!(has_key_of_dots(of_dots.as_bytes()), "{of_dots}");
        }
        for other in [
            "{\"a\":\".\"}",
            "{\".a\":1}",
            "{\"a\":[\"..\",\".\"]}",
            "{\"a\\\".\":1}",
            "{\"a.\":1}",
            "{}",
            "\".",
        ] {
            assert!(!has_key_of_dots(other.as_bytes()), "{other}");
        }
    }
}
