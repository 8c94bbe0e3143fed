//! Contents of splits and indexes, and their preservation through merges, deletions and format
//! versions.
//!
//! All of them are one program, because linking takes most of the build time of a test program.

mod code_widths;
mod conformance_layouts;
mod deletes;
mod determinism;
mod document_ids;
mod evolution;
mod field_strategies;
mod fields;
mod kept_documents;
mod living_index;
mod merge;
mod old_index;
mod posting_widths;
