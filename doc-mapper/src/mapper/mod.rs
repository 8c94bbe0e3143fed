//! The doc mapper: an index config compiled into a tantivy schema and a tree that walks documents.
//!
//! ```text
//! IndexConfig ─► DocMapper ─┬─ encode_doc   JSON line → encoded document   (builder)
//!                           ├─ resolve      path → tantivy field           (query parser)
//!                           └─ doc_to_json  tantivy document → hit         (guest)
//! ```
//!
//! The schema has `_dynamic`, `_source`, `_field_presence`, `_doc_length` and `_verbatim`, empty where the
//! config does not ask for them, then the mapped leaves in the order of the config, named by their path (a
//! dot inside a name is written `\.`); `numbering.rs` says why.

mod concatenate;
mod field_options;
mod json_value;
mod kept;
mod leaf;
mod numbering;
mod parse;
mod parse_json;
mod parse_leaf;
mod presence;
mod resolve;
mod schema;
mod stored_terms;
mod terms;
mod to_json;
mod tree;
mod verbatim;

pub(crate) use json_value::JsonValue;
pub use kept::Kept;
pub use parse::{MAX_DEPTH, ParsedDoc};
pub use resolve::ResolvedField;
pub use schema::{DocMapper, DocstoreSettings};
pub use stored_terms::{ScannedField, StoredDoc};
pub(crate) use terms::num_path_bytes;

/// The JSON field that holds what is not mapped, in dynamic mode.
pub const DYNAMIC_FIELD: &str = "_dynamic";
/// The stored field that holds each line verbatim, with `store_source`.
pub const SOURCE_FIELD: &str = "_source";
/// The field of hashes of the paths a document has, with `index_field_presence`.
pub const FIELD_PRESENCE_FIELD: &str = "_field_presence";
/// The fast field of each line's length in bytes, with `store_document_size`. It can be searched, sorted by
/// and aggregated; hits do not show it.
pub const DOCUMENT_SIZE_FIELD: &str = "_doc_length";
/// The stored field that holds the values of `json` fields and what is not mapped, as they were written:
/// there if the mapping has any that hits show.
pub const VERBATIM_FIELD: &str = "_verbatim";

/// The text of a record that is kept although it is no document, with `on_error: keep`.
pub const RAW_FIELD: &str = "_raw";
/// Why it is none, in a word.
pub const PARSE_ERROR_FIELD: &str = "_parse_error";
/// The same in a sentence.
pub const PARSE_MESSAGE_FIELD: &str = "_parse_message";

/// Names no mapped field may have.
pub(crate) const RESERVED_NAMES: [&str; 5] = [
    DOCUMENT_SIZE_FIELD,
    DYNAMIC_FIELD,
    FIELD_PRESENCE_FIELD,
    SOURCE_FIELD,
    VERBATIM_FIELD,
];

#[cfg(test)]
mod tests;
