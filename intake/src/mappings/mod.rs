//! Elasticsearch's mappings and templates → the config of an index.
//!
//! ```text
//!   templates ──find──▶ parts ──merge──▶ settings ──check──▶ taken, or refused by name
//!                                        mappings ──read───▶ fields ──▶ IndexConfig
//! ```
//!
//! A setting or parameter is one of three: it decides something here, too; it cannot change an answer, and is taken; or it is
//! refused by its name. None is left out in silence. Nothing here reads or writes a store.

mod config;
mod dates;
mod dynamic;
mod error;
mod field;
mod merge;
mod multi_fields;
mod options;
mod patterns;
mod properties;
mod settings;
mod template;
#[cfg(test)]
mod tests;

pub use config::{IndexParts, index_config, index_id_of};
pub use error::MappingError;
pub use template::{TemplateKind, TemplateSet, Templated, check_template};
