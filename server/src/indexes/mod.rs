//! The served indexes: writable ones, and those managed under a root.

mod finder;
mod names;
mod root;
mod writers;

pub use finder::{FindDocuments, FindError};
pub use root::RootSettings;
pub(crate) use root::{Root, set_of};
pub(crate) use writers::Writer;
pub use writers::{Writers, WritingSettings};
