//! What is in a split and in an index, and what stays when they are merged, deleted from and kept for years.
//!
//! One program for all of them: linking is most of what a test program takes to build.

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
