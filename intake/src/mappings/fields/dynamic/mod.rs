//! Unmapped fields: `dynamic`, `dynamic_templates` and `dynamic_date_formats`.
//!
//! ```text
//!   mapping ──▶ strings ────▶ dynamic_mapping of the config: how all other fields are indexed
//!           └─▶ templates ─▶ arising: a document's fields that are mapped otherwise ──▶ mapping to add
//! ```

mod arising;
mod strings;
mod templates;

pub use arising::{Arisen, Arising, Undeclared};
pub(in crate::mappings) use strings::{Dynamic, Strings, map_whole_objects};
pub(in crate::mappings) use templates::Templates;
