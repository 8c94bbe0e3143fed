//! Identification of an input: a source that was ingested before, whatever its location and name now, or a new one.
//!
//! ```text
//!   input ──▶ how it begins ──▶ sources of the ledger, and of this run, that begin so
//!                                 │ none                       │ some: the input is read up to where they end
//!                                 ▼                            ▼
//!                                new        all that was ingested of one stands at its beginning ──▶ that one
//!                                           it has less than one of its own log ──▶ it waits, or is a copy
//!                                           otherwise ──▶ new
//! ```

mod beginning;
mod place;
mod probe;
mod resolve;
mod rotation;

pub(crate) use beginning::id_of_lines;
pub(super) use beginning::known_by;
pub(crate) use place::{Place, mark_of, name_of, open_end_of};
pub(super) use probe::{Growth, Known, MARKS, Probe};
pub(crate) use resolve::{Identities, Identity, Ledger};
pub(crate) use rotation::LogName;
