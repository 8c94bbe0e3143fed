//! Path of documents that clients send, one by one or by the thousand, until they are searchable.
//!
//! ```text
//!   bulk, OTLP, lines ──parse──▶ lines ──check──▶ Lane of one index ──commit──▶ splits, published
//!                                  │ problems        │ asked to be durable first
//!                                  ▼                 ▼
//!                              each item's         spool object
//!                               own answer
//! ```
//!
//! A [`Lane`] collects documents until an interval is over or a batch is full, and ingests the
//! batch as one split and one new manifest, however many clients sent it. A client is answered when
//! its documents are published or, on request, as soon as they are in the store. Acknowledged
//! documents survive a crash of this process; a client without an answer may send its documents
//! again.
//!
//! [`index_config`] derives the config of an index that clients create by a mapping or a template.
//!
//! HTTP and access control are left to the caller.

mod bulk;
pub(crate) mod lanes;
mod mappings;
mod otlp;
mod refusal;
mod upkeep;

#[cfg(test)]
mod tests;

pub use bulk::{Action, Actions, BulkError, Verb, parse_bulk};
pub use lanes::batch::Taken;
pub use lanes::ids::{Condition, LineOutcome, Operation};
pub use lanes::lane::{Acknowledge, Admitted, Lane};
pub use lanes::queue::LaneSettings;
pub use lanes::room::Room;
pub use mappings::{
    Arisen, Arising, IndexParts, MappingError, TemplateKind, TemplateSet, Templated, Undeclared,
    analyzer_parts, check_template, config_with, index_config, index_id_of, keep_settings,
    with_mapping, with_settings,
};
pub use otlp::{
    Logs, LogsEncoding, LogsError, LogsLimits, read_logs, write_logs_answer, write_logs_error,
};
pub use refusal::Refusal;
pub use upkeep::{FailingIndex, Upkeep, UpkeepSettings};
