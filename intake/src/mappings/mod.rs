//! Elasticsearch's mappings and templates → the config of an index.
//!
//! ```text
//!   templates ──find──▶ parts ──merge──▶ settings ──check──▶ taken, or refused by name
//!                                        mappings ──read───▶ fields ──▶ IndexConfig
//! ```
//!
//! A setting or parameter is either translated, or accepted because it cannot change an answer, or
//! refused by name; none is ignored silently. This module performs no I/O.

mod config;
mod error;
mod fields;
mod merge;
mod options;
mod patterns;
mod settings;
mod template;
#[cfg(test)]
mod tests;
mod update;

pub use config::{IndexParts, config_with, index_config, index_id_of};
pub use error::MappingError;
pub use fields::analysis::analyzer_parts;
pub use fields::dynamic::{Arisen, Arising, Undeclared};
pub use settings::keep_settings;
pub use template::{TemplateKind, TemplateSet, Templated, check_template};
pub use update::{with_mapping, with_settings};
