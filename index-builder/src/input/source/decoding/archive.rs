//! Cursors over archives.

use std::io::{self, Read};
use std::time::SystemTime;

use super::layers::{Decoded, Layer};
use super::tar::Tar;
use super::zip::Zip;

/// A member according to its header.
pub(in crate::input::source) struct Found {
    /// Never used as a path.
    pub(in crate::input::source) name: String,
    pub(in crate::input::source) is_file: bool,
    /// Reason why its bytes cannot be read, as the end of a sentence.
    pub(in crate::input::source) unreadable: Option<String>,
    /// Uncompressed size, if it precedes the member.
    pub(in crate::input::source) num_bytes: Option<u64>,
    pub(in crate::input::source) modified: Option<SystemTime>,
}

/// A cursor over an archive; as a reader it returns the current member.
pub(in crate::input::source) trait Members: Read + Send {
    /// Moves to the next member; `None` after the last one.
    fn next_member(&mut self) -> io::Result<Option<Found>>;
}

/// A cursor over an archive, and its compression.
pub(in crate::input::source) struct Cursor {
    pub(in crate::input::source) members: Box<dyn Members>,
    pub(in crate::input::source) layers: Vec<Layer>,
    /// Number of members that were reached.
    pub(in crate::input::source) num_members: usize,
}

impl Cursor {
    /// Returns `None` if it is not an archive.
    pub(in crate::input::source) fn new(decoded: Decoded) -> Option<Cursor> {
        let mut layers = decoded.layers;
        layers.push(decoded.archive?);
        let reader = Box::new(decoded.reader);
        Some(Cursor {
            members: match decoded.archive {
                Some(Layer::Zip) => Box::new(Zip::new(reader)),
                _ => Box::new(Tar::new(reader)),
            },
            layers,
            num_members: 0,
        })
    }
}
