//! Sources, and opening them: files, objects, standard input, members of archives.

mod members;
mod once;
mod open;
mod source;

pub(crate) use members::{TakenApart, take_apart};
pub use once::{SpooledArchives, spool_archives};
pub use source::Source;
pub(super) use source::origin_of;
