//! What an action asks for, checked before anything is performed.

use axum::http::StatusCode;
use canter_index_builder::{check_id, id_in};
use canter_intake::{Action, Condition, LineOutcome, Operation, Verb};

use super::items::Done;
use crate::requests::{ChangeRequest, Problem};

/// Sequence number that no document has.
const NO_SEQ_NO: u64 = u64::MAX;

/// Keys that documents cannot have at their root where clients choose ids.
const METADATA: [&str; 2] = ["_id", "_version"];

/// Action to perform.
pub(super) struct Asked<'b> {
    /// The number of its index.
    pub(super) index: u32,
    /// The number of its action.
    pub(super) ord: u32,
    pub(super) verb: Verb,
    pub(super) id: Option<Box<str>>,
    /// The document, or the change of one.
    pub(super) body: Option<&'b [u8]>,
    pub(super) condition: Option<Condition>,
}

impl<'b> Asked<'b> {
    /// Returns the operation on a document that has passed all checks.
    pub(super) fn operation(&self) -> Operation<'_> {
        Operation {
            id: self.id.as_deref(),
            document: self.body,
            condition: self.condition,
        }
    }

    /// Returns whether what it does depends on what the index has by then.
    pub(super) fn is_conditional(&self) -> bool {
        self.condition.is_some() || self.verb == Verb::Update
    }

    /// Returns whether the index must have an `id_field`.
    pub(super) fn needs_ids(&self) -> bool {
        self.id.is_some()
    }

    /// Returns the id that its document says itself.
    pub(super) fn own_id(&self, id_field: &str) -> Option<String> {
        id_in(self.body?, id_field).ok()?
    }

    /// Returns what is wrong with its document in an index with this `id_field`, if anything is.
    pub(super) fn problem(&self, id_field: &str) -> Option<Problem> {
        let document = self.body?;
        let parsing = |reason| Some(Problem::invalid("document_parsing_exception", reason));
        if id_field == "_id" {
            for name in METADATA {
                // Anything but the absence of the field.
                if !matches!(id_in(document, name), Ok(None)) {
                    return parsing(format!(
                        "Field [{name}] is a metadata field and cannot be added inside a document. Use the index API \
                         request parameters."
                    ));
                }
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
        return Err(Problem {
            status: StatusCode::FORBIDDEN,
            kind: "security_exception",
            reason: "deleting needs the right delete".to_owned(),
        });
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

/// Returns why an index does not take ids.
pub(super) fn no_ids(index: &str) -> Problem {
    Problem::illegal(format!(
        "[{index}] takes no ids, since its config has no id_field: leave [_id] out, or create an index with one"
    ))
}

/// Returns what became of an operation with an id.
///
/// # Errors
/// Its condition did not hold.
pub(super) fn done(asked: &Asked<'_>, outcome: Option<&LineOutcome>) -> Result<Done, Problem> {
    Ok(match outcome {
        None if asked.verb == Verb::Delete => Done::TakenForDeletion,
        None => Done::TakenForAdding,
        Some(LineOutcome::Added | LineOutcome::Created) => Done::Created,
        Some(LineOutcome::Updated(version)) => Done::Updated(*version),
        Some(LineOutcome::Deleted(version)) => Done::Deleted(*version),
        Some(LineOutcome::NotFound) => Done::NotFound,
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
        status: StatusCode::CONFLICT,
        kind: "version_conflict_engine_exception",
        reason,
    }
}
