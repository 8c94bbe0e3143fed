//! From a config to the schema and the tree that documents are parsed with.

pub(super) mod concatenate;
pub(super) mod doc_mapper;
pub(super) mod field_options;
pub(super) mod numbering;
pub(super) mod own_leaves;
