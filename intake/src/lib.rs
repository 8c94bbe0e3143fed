//! Documents that clients send one by one or by the thousand, and what becomes of them until they can be found.
//!
//! ```text
//!   bulk, OTLP, lines ──parse──▶ lines ──check──▶ Lane of one index ──commit──▶ splits, published
//!                                  │ problems        │ asked to be durable first
//!                                  ▼                 ▼
//!                              each item's         spool object
//!                               own answer
//! ```
//!
//! A [`Lane`] gathers what comes until an interval is over or there is enough, and ingests all of it at once: one split and
//! one new manifest, however many clients sent it. A client is answered when its documents are published, or, if it asks for
//! that, as soon as they are in the store. What was answered survives a crash of this process; a client that had no answer
//! cannot know, and may send again.
//!
//! What an index is to be that clients make themselves, by a mapping or a template, [`index_config`] finds out.
//!
//! HTTP is the caller's matter, and so is who may write.

mod batch;
mod bulk;
mod commit;
mod lane;
mod mappings;
mod otlp;
mod refusal;
mod room;
mod upkeep;

#[cfg(test)]
mod tests;

pub use bulk::{Action, Actions, BulkError, Verb, parse_bulk};
pub use lane::{Acknowledge, Admitted, Lane, LaneSettings};
pub use mappings::{
    IndexParts, MappingError, TemplateKind, TemplateSet, Templated, check_template, index_config,
    index_id_of,
};
pub use otlp::{
    Logs, LogsEncoding, LogsError, LogsLimits, read_logs, write_logs_answer, write_logs_error,
};
pub use refusal::Refusal;
pub use room::Room;
pub use upkeep::{FailingIndex, Upkeep, UpkeepSettings};
