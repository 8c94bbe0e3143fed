//! Several indexes under one root: list of indexes, locations of their objects, and templates of
//! new indexes.
//!
//! ```text
//!   <root>/indexes.json                    name → folder; alias → names; folders without an index
//!   <root>/templates.json                  templates, as they were given
//!   <root>/<name>/<id>/manifest.canter …   an index
//! ```
//!
//! Both files only change by compare-and-swap. An index has a folder that no other index has ever
//! used, so that a delayed deletion never affects an index that has taken the name since. A folder
//! is listed as vacant before anything is written into it, and until the index in it is complete,
//! so that a crash at any time leaves no unlisted objects.
//!
//! ```text
//!   create   swap: reserved ──▶ manifest ──▶ swap: an index
//!   delete   swap: deleted ──▶ manifest, then the other objects
//!   sweep    (an hour later) swap: condemned ──▶ the objects once more ──▶ swap: forgotten
//! ```
//!
//! Reserved, deleted and condemned folders have no index. Only a reserved folder can become an
//! index, and only once. A sweep condemns folders first, so it never removes an index that is
//! completed in the meantime.
//!
//! The meaning of templates and the permissions of callers are defined elsewhere.

mod aliases;
mod cached;
mod file;
mod indexes;
#[cfg(test)]
mod late;
mod swap;
mod templates;
#[cfg(test)]
mod tests;

pub use aliases::{Alias, Aliases, Indexes};
pub use cached::{CachedIndexes, RoomMade, Spooled};
pub(crate) use file::CatalogFile;
pub use file::{CatalogEntry, IndexSettings};
pub use indexes::{Catalog, Creation, NewIndex};
pub(crate) use swap::parse;
pub use templates::Templates;
