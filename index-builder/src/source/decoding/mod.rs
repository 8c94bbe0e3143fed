//! Bytes as they are stored → bytes of text: compression undone, archives taken apart, UTF-16 read; and names for what is
//! none of these.
//!
//! ```text
//!   stored bytes ─► kinds: which of them? ─► layers: gzip, zstd, bzip2, xz ─┬─► text, UTF-16 as UTF-8 ─► records
//!                        ▲                              │                   ├─► archive: its members, each a source
//!                        └──────────────────────────────┘                   └─► refused by name
//! ```
//!
//! Everything streams: a decoder holds its window and no more. No path of an archive is ever used as a path.

mod archive;
mod expansion;
mod kinds;
mod layers;
mod tar;
#[cfg(test)]
mod tests;
mod unreadable;
mod utf16;
mod zip;

pub(super) use archive::ArchiveMember;
pub(crate) use archive::{TakenApart, take_apart};
pub(super) use layers::{Decoded, Decoding, Layer, WINDOW_ADVICE, is_over_window, pass_nuls};
