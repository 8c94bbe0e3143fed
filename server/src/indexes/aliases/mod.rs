//! Names that stand for indexes: aliases and dates in names.
//!
//! The guest knows indexes only, so this host replaces such names before it passes a request on, and before a write
//! looks for its index. An alias with a filter adds that to the query of a search.

mod apply;
mod date_math;
mod expand;
mod read;
mod requests;

pub(crate) use apply::{AliasChange, allowed_names, apply};
pub(crate) use date_math::written_out;
pub(crate) use expand::{Expanded, expand, write_index};
pub(crate) use read::{actions_of, aliases_for, put_of};
pub(crate) use requests::{resolved, with_aliases};
