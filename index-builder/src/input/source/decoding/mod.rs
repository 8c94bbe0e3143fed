//! Stored bytes → text: compression undone, archives divided, UTF-16 and older encodings converted; and names for unreadable data.
//!
//! ```text
//!   stored bytes ─► kinds: which of them? ─► layers: gzip, zstd, bzip2, xz ─┬─► text, as UTF-8 ─► records
//!                        ▲                              │                   ├─► archive: its members, each a source
//!                        └──────────────────────────────┘                   └─► refused by name
//! ```
//!
//! Everything is streamed: a decoder holds only its window. Paths in archives are never used as paths.

mod archive;
mod converted;
mod expansion;
mod kinds;
mod layers;
mod legacy;
mod tar;
#[cfg(test)]
mod tests;
mod unreadable;
mod utf16;
mod zip;

pub(super) use archive::{Cursor, Found};
#[cfg(feature = "parquet")]
pub(super) use layers::BUFFER_LEN;
pub(super) use layers::{Decoded, Decoding, Layer, WINDOW_ADVICE, is_over_window, pass_nuls};
