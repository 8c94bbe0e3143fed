//! Meaning of an index: the index config (Quickwit's YAML, accepted unchanged) and the doc mapper
//! compiled from it. Builder and guest share this crate, so both see the same fields, tokenizers
//! and dates.
//!
//! This crate reads no files, no clock and no environment: the caller passes text, and a closure
//! for `${VAR}`. It writes no index and runs no queries. It resolves paths to tantivy fields, and
//! converts between JSON lines and documents.
//!
//! Read in this order: [`config`] (as written by the user), [`datetime`] (all date formats),
//! [`mapper`] (the compiled form), [`tokenizers`].

mod classes;
pub mod config;
pub mod datetime;
pub(crate) mod documents;
pub mod evolution;
mod field_path;
pub mod mapper;
mod read_only;
pub mod tokenizers;

pub use classes::check_classes;
pub use config::{ConfigError, FieldKind, FieldMapping, IndexConfig, Mode};
pub use datetime::{
    DateInput, infer_date, infer_day, infer_rfc3339, parse_datetime_literal, parse_seconds,
};
pub use documents::completion::{Completion, CompletionContext, CompletionEntry};
pub use documents::doc_error::{DocError, DocErrorReason};
pub use documents::encoded::{DocShape, EncodedDoc, EncodedDocs};
pub use documents::stored::{
    StoredContent, StoredError, StoredValue, read_stored, read_stored_as, stored_values,
    write_stored,
};
pub use field_path::{escape_segment, split_path};
pub use mapper::{
    DYNAMIC_FIELD, DocMapper, DocstoreSettings, IGNORED_FIELD, Kept, MemberEncoder, NamedColumn,
    NestedObject, ParsedDoc, ResolvedField, ScannedField, Span, SpanEnd, StoredDoc, Values, View,
};
pub use read_only::{ReadOnlyDirectory, SegmentFiles};
