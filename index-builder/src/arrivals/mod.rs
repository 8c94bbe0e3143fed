//! Documents that arrive in small pieces: checks before they are accepted, and the spool that stores them until they
//! are published.

mod check;
mod ids;
mod line_ids;
mod spool;
mod unbuildable;

pub use check::{DocumentCheck, DocumentProblem};
pub use ids::{
    IdSnapshot, LiveVersion, MAX_ID_BYTES, ROUTING_FIELD, check_id, first_key_in, id_in,
};
pub(crate) use ids::{SEQ_NO_FIELD, VERSION_FIELD};
pub use line_ids::LineIds;
pub(crate) use spool::unpacked;
pub use spool::{
    keep_rejected, keep_unbuildable, read_spooled, remove_spooled, spool, spooled, spooled_source,
    withdraw_spooled,
};
pub use unbuildable::unbuildable;
