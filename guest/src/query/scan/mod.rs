//! What no index of a split answers. On fields that are not indexed (`strategy: none`), stored documents are looked at, and
//! a clause finds those in which an index would have found what it looks for. Identities of documents are looked up in the
//! file that has them all.
//!
//! ```text
//!   query with clauses ──run as "may match"──▶ candidates ──leaf/reads/scan.rs looks at them──▶ query with answers
//! ```
//!
//! This only decides about one document; which are looked at, and reading them, is in `leaf/reads/scan.rs`.

mod clause;
mod doc_terms;
mod scan_query;

pub(super) use clause::Wanted;
pub(crate) use clause::{Clause, FieldClause};
pub(crate) use doc_terms::DocTerms;
pub(crate) use scan_query::{Answers, Scan};
