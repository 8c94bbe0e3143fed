//! Clauses on the words of texts: in one field or several, and at positions that have a relation.

mod alike;
mod full_text;
mod intervals;
mod many_fields;
mod spans;

pub(super) use full_text::{OfField, of_field};
