//! Checks of the fuzz targets of the split format, one file for each.

mod documents;
mod head;
mod manifest;

pub use documents::documents;
pub use head::head;
pub use manifest::manifest;
