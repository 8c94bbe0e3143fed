//! A split, and the parts of its head: tables of files, hot bytes, checksums, identities and keys.

mod block_checksums;
mod file_table;
mod head;
mod hotcache;
mod identities;
mod key_digest;
mod keys;
mod packed;
mod write;

pub use block_checksums::BlockChecksums;
pub use file_table::{FileEntry, FileTable};
pub use head::{Head, SplitMetadata, TimeRange, head_len_of};
pub use hotcache::{HotRange, Hotcache};
pub use identities::{DocIdentity, Identities, IdentityDirectory, IdentityRange, SourceId};
pub use key_digest::{KeyDigestRef, SplitKeys, read_key_digest, write_key_digest};
pub use keys::{Key, KeyFilter, KeyHash, write_keys};
pub use packed::{FilePart, Form, Packable, PackedFile, Piece, Words, pack};
pub use write::{BodyFile, Summaries, WrittenSplit, write_split};
