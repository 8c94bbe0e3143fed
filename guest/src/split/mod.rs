//! An open split: its head decoded, its body arriving block by block, tantivy on top.

mod body;
mod deleted;
mod directory;
mod documents;
mod identities;
mod open;

pub(crate) use documents::Documents;
pub(crate) use identities::DocIdentities;
pub(crate) use open::{HeadSource, Mappers, OpenSplit, open_split};
