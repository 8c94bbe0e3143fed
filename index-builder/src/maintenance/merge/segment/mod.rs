//! Files of the merged segment, written with tantivy's writers from the contents that tantivy's
//! readers return.
//!
//! ```text
//!   splits ──┬── fieldnorm ── term, idx, pos     which need the field norms
//!            ├── fast
//!            └── docs, vectors                   which tantivy does not know
//! ```
//!
//! tantivy's own merger stacks segments or sorts them by one column, which leaves documents of the
//! same time in no defined order; this one follows a [`DocOrder`](super::order::DocOrder). No
//! document is parsed again. The same documents in the same order give the same bytes as if they
//! had been ingested into one split, as far as tantivy's formats are unambiguous.

mod columns;
mod field_norms;
mod postings;
mod rare_words;
mod stored;
mod vectors;
mod write;

pub(super) use stored::write_documents;
pub(super) use vectors::merge_vectors;
pub(super) use write::write_segment;
