//! Magic numbers, version codes and object names. **Never change a released value**: readers of all
//! later versions must know it. `tests/never_change.rs` pins them.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::FormatError;

/// First eight bytes of every split.
pub(crate) const SPLIT_MAGIC: [u8; 8] = *b"CANTERSP";
/// First eight bytes of every manifest.
pub(crate) const MANIFEST_MAGIC: [u8; 8] = *b"CANTERMF";

/// First eight bytes of every page.
pub(crate) const PAGE_MAGIC: [u8; 8] = *b"CANTERPG";
/// Name of a page in errors.
pub(crate) const PAGE_NAME: &str = "manifest page";
/// Version of a page.
pub(crate) const PAGE_VERSION: u32 = 1;

/// First eight bytes of every object of the ledger.
pub(crate) const LEDGER_MAGIC: [u8; 8] = *b"CANTERLG";
/// Name of the ledger in errors.
pub(crate) const LEDGER_NAME: &str = "ledger";
/// Version of an object of the ledger.
pub(crate) const LEDGER_VERSION: u32 = 1;

/// First eight bytes of every object of the ledger of sources.
pub(crate) const SOURCES_MAGIC: [u8; 8] = *b"CANTERSR";
/// Name of the ledger of sources in errors.
pub(crate) const SOURCES_NAME: &str = "ledger of sources";
/// Version of an object of the ledger of sources.
pub(crate) const SOURCES_VERSION: u32 = 1;

/// Newest version of the split's frame: prefix and component directory.
pub(crate) const SPLIT_VERSION: u32 = 2;
/// Version of a split all of whose words are in its dictionaries.
pub(crate) const SPLIT_WITHOUT_RARE_WORDS: u32 = 1;
/// Newest version of the manifest's frame.
pub(crate) const MANIFEST_VERSION: u32 = 3;
/// Version of a manifest without sources.
pub(crate) const MANIFEST_WITHOUT_SOURCES: u32 = 2;
/// Version of a manifest that names all of its splits itself.
pub(crate) const MANIFEST_WITHOUT_PAGES: u32 = 1;

/// Length of the fixed prefix at offset 0 of a split: magic, version, head length, checksum.
pub const HEAD_PREFIX_LEN: usize = 28;

/// Number of bytes to read from offset 0 of a split with unknown head length: enough to open most
/// splits at once.
pub const SPECULATIVE_HEAD_LEN: u64 = 64 * 1024;

/// Name of the manifest, relative to the index's URI. It is the only mutable object of an index.
pub const MANIFEST_OBJECT: &str = "manifest.canter";

/// Returns the name of a split's object, relative to the index's URI.
pub fn split_object(id: &str) -> String {
    format!("splits/{id}.split")
}

/// Returns whether `id` is a valid split id: 32 lower-case hexadecimal digits, which cannot lead a
/// store or a folder elsewhere.
pub(crate) fn is_split_id(id: &str) -> bool {
    id.len() == 32
        && id
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns the name of a page's object, relative to the index's URI.
pub fn page_object(id: &str) -> String {
    format!("pages/{id}.page")
}

/// Returns the name of an object of the ledger, relative to the index's URI.
pub(crate) fn ledger_object(id: &str) -> String {
    format!("ledger/{id}.ids")
}

/// Returns the name of an object of the ledger of sources, relative to the index's URI.
pub(crate) fn sources_object(id: &str) -> String {
    format!("sources/{id}.lines")
}

/// Name of deleted documents in errors.
pub(crate) const DELETES_NAME: &str = "deleted documents";

/// Returns the name of the object with a split's deleted documents, relative to the index's URI.
pub(crate) fn deletes_object(id: &str) -> String {
    format!("deletes/{id}.docs")
}

/// Returns the name of immutable bytes: the first 128 bits of their BLAKE3 hash, in hexadecimal.
pub fn object_id(bytes: &[u8]) -> String {
    blake3::hash(bytes)
        .to_hex()
        .as_str()
        .chars()
        .take(32)
        .collect()
}

/// Returns an id in its binary form.
pub(crate) fn id_bytes(id: &str) -> Result<[u8; 16], FormatError> {
    let number = u128::from_str_radix(id, 16)
        .ok()
        .filter(|_| is_split_id(id));
    number.map(u128::to_be_bytes).ok_or_else(|| {
        FormatError::new(
            "id",
            format!("{id:?} is not 32 lower-case hexadecimal digits"),
        )
    })
}

/// Maximum number of characters of an invalid id in an error message.
const MAX_SHOWN_CHARS: usize = 64;

/// Deserializes an id from which an object's name derives.
pub(crate) fn read_object_id<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<String, D::Error> {
    let id = String::deserialize(deserializer)?;
    if is_split_id(&id) {
        return Ok(id);
    }
    let shown: String = id.chars().take(MAX_SHOWN_CHARS).collect();
    Err(D::Error::custom(format!(
        "the id {shown:?} is not 32 lower-case hexadecimal digits: Canter has not written this, so find out who has"
    )))
}

pub(crate) fn id_of_bytes(bytes: [u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(bytes))
}

/// Name of the body's file with the documents' identities, which tantivy does not know.
pub const IDENTITIES_FILE: &str = "ids";
/// Name of that file in errors.
pub(crate) const IDENTITIES_NAME: &str = "document identities";
/// Version of that file.
pub(crate) const IDENTITIES_VERSION: u32 = 3;

/// Name of the body's file with the ids that clients gave to documents, which tantivy does not know.
pub const KEYS_FILE: &str = "keys";
/// Name of that file in errors.
pub(crate) const KEYS_NAME: &str = "table of ids";
/// Version of that file.
pub(crate) const KEYS_VERSION: u32 = 2;

/// First eight bytes of every digest of ids.
pub(crate) const KEY_DIGEST_MAGIC: [u8; 8] = *b"CANTERKD";
/// Name of a digest of ids in errors.
pub(crate) const KEY_DIGEST_NAME: &str = "digest of ids";
/// Version of a digest of ids.
pub(crate) const KEY_DIGEST_VERSION: u32 = 1;

/// Returns the name of the object of a digest of ids, relative to the index's URI.
pub(crate) fn key_digest_object(id: &str) -> String {
    format!("keys/{id}.digest")
}

/// Name of the body's file with the stored documents, which tantivy does not know.
pub const DOCUMENTS_FILE: &str = "docs";
/// Name of the body's file with the locations of stored documents.
pub const DOCUMENT_INDEX_FILE: &str = "docindex";
/// Name of the body's file with postings and positions, which tantivy divides into two. Before this
/// name, positions had another format.
pub const LISTS_FILE: &str = "lists";
/// Message about a split from before these files, which is refused entirely.
pub const TOO_OLD: &str = "it was built by an earlier version of Canter, in a form that is not read any more: build the index again";
/// Name of these two files in errors.
pub(crate) const DOCUMENTS_NAME: &str = "stored documents";
/// Version of these files.
pub(crate) const DOCUMENTS_VERSION: u32 = 4;
/// Version of these files in which blocks are columns, and have no checksums of their own.
pub(crate) const DOCUMENTS_WITHOUT_CHECKSUMS: u32 = 3;

/// Name of the body's file with the split's filter, which tantivy does not know.
pub const FILTER_FILE: &str = "filter";
/// Name of that file in errors.
pub(crate) const FILTER_NAME: &str = "split filter";
/// Version of that file.
pub(crate) const FILTER_VERSION: u32 = 1;
/// Seed of the hashes of values; filters with another seed are meaningless.
pub(crate) const FILTER_SEED: u64 = 0x6361_6e74_6572_0001;

/// Name of the body's file with blocks of rare words, which tantivy does not know.
pub const RARE_WORDS_FILE: &str = "rare";
/// Name of the body's file with the index of these blocks.
pub const RARE_WORDS_INDEX_FILE: &str = "rareindex";
/// Name of rare words in errors.
pub(crate) const RARE_WORDS_NAME: &str = "rare words";
/// Version of the index of rare words.
pub(crate) const RARE_WORDS_VERSION: u32 = 1;

/// Name of the body's file with vectors, which tantivy does not know.
pub const VECTORS_FILE: &str = "vectors";
/// Name of the body's file with the index of vectors.
pub const VECTOR_INDEX_FILE: &str = "vecindex";
/// Name of vectors in errors.
pub(crate) const VECTORS_NAME: &str = "vectors";
/// Version of the index of vectors. Version 1, whose exact vectors were in the order of documents, is not read any more.
pub(crate) const VECTORS_VERSION: u32 = 2;

/// First eight bytes of every object with the filters of a page.
pub(crate) const FILTERS_MAGIC: [u8; 8] = *b"CANTERFL";
/// Name of such an object in errors.
pub(crate) const FILTERS_NAME: &str = "filters of a manifest page";
/// Version of such an object.
pub(crate) const FILTERS_VERSION: u32 = 1;

/// Returns the name of the object with the filters of a page's splits, relative to the index's URI.
pub(crate) fn filters_object(id: &str) -> String {
    format!("filters/{id}.bits")
}

/// Returns XXH3-64 of `bytes`: the checksum of heads and manifests, and (its low 32 bits) of body
/// blocks.
pub fn checksum64(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

/// Tagged component of a head, with its own version code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ComponentKind {
    pub(crate) tag: [u8; 4],
    /// Newest version. All versions from 1 are read.
    pub(crate) version: u32,
    pub(crate) name: &'static str,
}

/// First version of the metadata with the identities of documents.
pub(crate) const METADATA_WITH_IDENTITIES: u32 = 2;

pub(crate) const METADATA: ComponentKind =
    component(*b"META", METADATA_WITH_IDENTITIES, "split metadata");
/// Version of the file table of a split with packed files.
pub(crate) const FILE_TABLE_WITH_PIECES: u32 = 2;

pub(crate) const FILE_TABLE: ComponentKind =
    component(*b"FILE", FILE_TABLE_WITH_PIECES, "file table");
pub(crate) const HOTCACHE: ComponentKind = component(*b"HOTC", 1, "hotcache");
pub(crate) const TIME_INDEX: ComponentKind = component(*b"TIME", 1, "time index");
pub(crate) const ROLLUP: ComponentKind = component(*b"ROLL", 1, "rollup");
pub(crate) const CO_OCCURRENCE: ComponentKind = component(*b"COOC", 1, "co-occurrence");
pub(crate) const BLOCK_CHECKSUMS: ComponentKind = component(*b"BLKS", 1, "block checksums");

const fn component(tag: [u8; 4], version: u32, name: &'static str) -> ComponentKind {
    ComponentKind { tag, version, name }
}
