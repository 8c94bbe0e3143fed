//! Checks of the fuzz targets, one function for each. The same functions run the seeds in `corpus/`
//! as an ordinary test (`tests/tests/fuzz_seeds`), so that inputs that once failed are tested
//! forever.
//!
//! No function may panic, run for long or take much memory, whatever the bytes.

mod checks;
mod edits;
mod elastic;
mod host;
mod pages;
mod sealed;
mod store_objects;
mod stored_logs;

pub use checks::{aggregations, cache_file, document, hostile_split, partial_entry, query, wire};
pub use elastic::elastic;
pub use pages::{filters, manifest_pages};
pub use sealed::{answer_sound_index, examine, sealed_split};
pub use store_objects::store_objects;
pub use stored_logs::stored_logs;
