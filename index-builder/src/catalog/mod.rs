//! Several indexes under one root: which there are, where each has its objects, and the templates that new ones are made of.
//!
//! ```text
//!   <root>/indexes.json                    name → folder; folders without an index
//!   <root>/templates.json                  templates, as they were given
//!   <root>/<name>/<id>/manifest.canter …   an index
//! ```
//!
//! Both files change by compare-and-swap only. An index has a folder that no other ever had: who deletes objects late, because
//! it was held up, deletes nothing of an index that has the name by now. A folder is listed as one without
//! an index before anything is written into it, and until the index in it is complete, so that a crash at any moment leaves
//! nothing that nobody knows of.
//!
//! ```text
//!   create   swap: reserved ──▶ manifest ──▶ swap: an index
//!   delete   swap: deleted ──▶ manifest, then the other objects
//!   sweep    (an hour later) swap: condemned ──▶ the objects once more ──▶ swap: forgotten
//! ```
//!
//! Reserved, deleted and condemned are folders without an index. Only a reserved one can become one, and only once, so that a
//! sweep, which condemns first, removes nothing of an index that is completed meanwhile.
//!
//! What a template means is not known here, and neither is who may do what.

mod file;
mod indexes;
#[cfg(test)]
mod late;
mod swap;
mod templates;
#[cfg(test)]
mod tests;

pub use file::CatalogEntry;
pub(crate) use file::CatalogFile;
pub use indexes::{Catalog, Creation, NewIndex};
pub(crate) use swap::parse;
pub use templates::Templates;
