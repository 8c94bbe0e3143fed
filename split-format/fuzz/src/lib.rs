//! Checks of the fuzz targets of the split format, one file for each.

mod documents;
mod head;
mod manifest;
mod rare_words;
mod vectors;

pub use documents::documents;
pub use head::head;
pub use manifest::manifest;
pub use rare_words::rare_words;
pub use vectors::vectors;
