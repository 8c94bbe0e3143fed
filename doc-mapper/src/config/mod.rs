//! Index config: a user's description of how documents are indexed.
//!
//! ```text
//! YAML text ──${VAR}──► events ──► Node (tree with lines) ─┐
//! JSON ────────────────────────► Node (no lines) ──────────┴─► read ─► validate ─► IndexConfig
//! ```
//!
//! Both formats share one reader, so that errors have the same words in both. `IndexConfig`
//! serializes to one canonical JSON form: every default is written, and the order of keys is fixed,
//! so equal configs are equal bytes.

mod error;
mod field;
mod index;
mod kept_fields;
mod read;
mod settings;
mod units;
mod validate;
mod validate_text;

pub use error::ConfigError;
pub use field::{
    BytesFormat, BytesKind, ConcatenateKind, DateKind, FieldKind, FieldMapping, GeoPointKind,
    JsonKind, NullValue, RangeKind, RangeOf,
};
pub use index::{DocMapping, IndexConfig, Mode, SearchSettings, ShownSource};
pub use read::read_field::check_field_name;
pub use settings::{
    DEFAULT_DOCSTORE_BLOCKSIZE, IndexingResources, IndexingSettings, IngestSettings, MergePolicy,
    OnError, RetentionPolicy, TermLimits,
};

pub use crate::documents::number::{NumericKind, Width};
pub use crate::documents::text::{TextKind, TextVariant};
pub use crate::documents::vector::VectorKind;
pub use crate::tokenizers::{
    CharFilter, CharKind, CustomTokenizer, Delimiter, Grams, Normalizer, Paths, Shingles, Stem,
    SynonymRules, TokenizerCut, TokenizerFilter,
};

#[cfg(test)]
mod tests;
