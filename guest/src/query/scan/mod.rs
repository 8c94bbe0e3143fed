//! Clauses that no index of a split answers. For fields that are not indexed (`strategy: none`), stored documents are
//! read, and a clause matches those in which an index would have found its value. Identities of documents are looked up
//! in the identities file.
//!
//! ```text
//!   query with clauses ──run as "may match"──▶ candidates ──leaf/reads/scan.rs looks at them──▶ query with answers
//! ```
//!
//! This module only decides about one document; `leaf/reads/scan.rs` selects and reads the documents.

mod clause;
mod doc_terms;
mod in_values;
mod nested;
mod scan_query;

pub(super) use clause::Wanted;
pub(crate) use clause::{Clause, FieldClause};
pub(crate) use doc_terms::DocTerms;
pub(crate) use in_values::InValues;
pub(crate) use nested::NestedClause;
pub(crate) use scan_query::{Answers, Scan};
