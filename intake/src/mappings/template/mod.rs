//! Templates of indexes, and the policies that say how long their documents are kept.

mod policy;
mod set;

pub use set::{TemplateKind, TemplateSet, Templated, check_template};
