//! An open split: its head decoded, its body arriving block by block, tantivy on top.

mod body;
mod directory;
mod documents;
mod door;
mod identities;
mod indexes;
mod open;
pub(crate) mod partial_cache;
mod rare_words;
mod together;
mod vectors;

pub(crate) use documents::Documents;
pub(crate) use door::{guard, guarded};
pub(crate) use identities::{DocIdentities, find_docs};
pub(crate) use indexes::{Indexes, SearchedIndex};
pub(crate) use open::{HeadSource, OpenSplit};
pub(crate) use vectors::{
    all_places, load_all_vectors, load_vectors, places_of, vector_bytes, vector_index, vectors_of,
};
