//! The merged segment, file by file: what tantivy's writers make of what tantivy's readers give.
//!
//! ```text
//!   splits ──┬── fieldnorm ── term, idx, pos     which need the field norms
//!            ├── fast
//!            └── docs                          which tantivy knows nothing of
//! ```
//!
//! tantivy's own merger stacks segments or sorts them by one column, which leaves documents of the same time
//! in no order; ours follows a [`DocOrder`](super::order::DocOrder). No document is parsed again. The same
//! documents in the same order give the same bytes as if they had been ingested into one split, so far as
//! tantivy's formats have one way to write them.

mod columns;
mod field_norms;
mod postings;
mod stored;
mod write;

pub(super) use stored::write_documents;
pub(super) use write::write_segment;
