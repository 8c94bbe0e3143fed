//! Reading a config: text, tree of nodes, settings, checks.

pub(super) mod document;
mod load;
pub(super) mod node;
pub(super) mod read_field;
pub(super) mod read_settings;
pub(super) mod read_text;
pub(super) mod tokenizer;
#[cfg(feature = "yaml")]
pub(super) mod yaml;
