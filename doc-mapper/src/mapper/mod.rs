//! Doc mapper: an index config compiled into a tantivy schema and a tree that documents are parsed
//! with.
//!
//! ```text
//! IndexConfig ─► DocMapper ─┬─ encode_doc   JSON line → encoded document   (builder)
//!                           ├─ resolve      path → tantivy field           (query parser)
//!                           └─ doc_to_json  tantivy document → hit         (guest)
//! ```
//!
//! The schema begins with `_dynamic`, `_source`, `_field_presence`, `_doc_length` and `_verbatim`,
//! which are empty unless the config uses them. The mapped leaves follow in the order of the
//! config, named by their path (a dot inside a name is written `\.`); `numbering.rs` explains why.

mod parse;
mod resolve;
mod schema;
mod spans;
mod stored;
mod terms;
mod tree;
mod views;
mod whole_values;

pub(crate) use parse::json_value::JsonValue;
pub use parse::members::MemberEncoder;
pub use parse::walk::{MAX_DEPTH, ParsedDoc};
pub use resolve::ResolvedField;
pub use schema::DocstoreSettings;
pub use schema::doc_mapper::DocMapper;
pub use spans::{Span, SpanEnd};
pub use stored::kept::Kept;
pub use stored::objects::NestedObject;
pub use stored::stored_terms::{ScannedField, StoredDoc};
pub use tree::Values;
pub use views::{NamedColumn, View};

/// JSON field of unmapped values, in dynamic mode.
pub const DYNAMIC_FIELD: &str = "_dynamic";
/// Stored field of each verbatim line, with `store_source`.
pub const SOURCE_FIELD: &str = "_source";
/// Field of hashes of a document's paths, with `index_field_presence`.
pub const FIELD_PRESENCE_FIELD: &str = "_field_presence";
/// Fast field of each line's length in bytes, with `store_document_size`. Queries, sorting and
/// aggregations can use it; hits do not show it.
pub const DOCUMENT_SIZE_FIELD: &str = "_doc_length";
/// Stored field of the original text of `json` fields and unmapped values, present if hits show any
/// of them.
pub const VERBATIM_FIELD: &str = "_verbatim";

/// Name of a text field that gets the paths of a document's malformed values, if a mapping has it.
pub const IGNORED_FIELD: &str = "_ignored";

/// Text of a record that cannot be parsed, with `on_error: keep`.
pub const RAW_FIELD: &str = "_raw";
/// Parse error of the record as a word.
pub const PARSE_ERROR_FIELD: &str = "_parse_error";
/// Parse error of the record as a sentence.
pub const PARSE_MESSAGE_FIELD: &str = "_parse_message";

/// Names that mapped fields must not have.
pub(crate) const RESERVED_NAMES: [&str; 5] = [
    DOCUMENT_SIZE_FIELD,
    DYNAMIC_FIELD,
    FIELD_PRESENCE_FIELD,
    SOURCE_FIELD,
    VERBATIM_FIELD,
];

#[cfg(test)]
mod tests;
