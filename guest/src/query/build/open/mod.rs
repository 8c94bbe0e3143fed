//! Conditions on several fields, and on fields that a query does not name.

mod any_path;
mod in_fields;
mod named;

pub(super) use named::in_default_fields;
