//! Reading a config: text, tree of nodes, settings, checks.

pub(super) mod document;
mod load;
pub(super) mod node;
mod read_completion;
pub(super) mod read_field;
mod read_number;
pub(super) mod read_settings;
pub(super) mod read_text;
mod sub_fields;
pub(super) mod tokenizer;
#[cfg(feature = "yaml")]
pub(super) mod yaml;
