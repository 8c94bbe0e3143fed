//! The served indexes: writable ones, and those managed under a root.

mod alias_changes;
mod aliases;
mod changes;
mod finder;
mod kept;
mod names;
mod root;
mod shown;
mod writers;

pub(crate) use aliases::{
    AliasChange, Expanded, actions_of, expand, put_of, resolved, with_aliases, write_index,
    written_out,
};
pub use finder::{FindDocuments, FindError};
pub(crate) use kept::{Kept, kept_settings, utc_of};
pub use root::RootSettings;
pub(crate) use root::{Root, set_of};
pub(crate) use shown::with_settings;
pub(crate) use writers::Writer;
pub use writers::{Writers, WritingSettings};
