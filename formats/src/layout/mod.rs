//! Layout of a source: how its records are parsed, with what is known of it beside its format.

mod between;
mod container;
mod hints;
mod objects;
mod source;

pub(crate) use hints::Column;
pub use hints::{Hints, ValueKind};
pub use source::{Directive, Layout};
