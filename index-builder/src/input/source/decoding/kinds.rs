//! Detection of stored data by its first bytes. Names do not matter here.

use super::unreadable::{self, Unreadable};

/// Kinds of stored data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
    Tar,
    Zip,
    Utf16(Endian),
    /// A known kind that is not read.
    Unreadable(Unreadable),
    /// Text, as far as this can be detected.
    Text,
}

/// Byte order of a code unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endian {
    Little,
    Big,
}

const TAR_MAGIC: &[u8] = b"ustar";
const TAR_MAGIC_PLACE: usize = 257;
/// Maximum number of UTF-16 code units without a byte order mark that are examined.
const MAX_UNITS: usize = 2_048;

impl Kind {
    /// Detects data by its beginning; `is_whole` is true if that is all.
    pub(super) fn of(beginning: &[u8], is_whole: bool) -> Kind {
        match beginning {
            [0x1f, 0x8b, ..] => return Kind::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => return Kind::Zstd,
            // Skippable frames, which may come first.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => return Kind::Zstd,
            [
                b'B',
                b'Z',
                b'h',
                b'1'..=b'9',
                0x31,
                0x41,
                0x59,
                0x26,
                0x53,
                0x59,
                ..,
            ] => {
                return Kind::Bzip2;
            }
            // Without a block: it is empty.
            [
                b'B',
                b'Z',
                b'h',
                b'1'..=b'9',
                0x17,
                0x72,
                0x45,
                0x38,
                0x50,
                0x90,
                ..,
            ] => {
                return Kind::Bzip2;
            }
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => return Kind::Xz,
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => return Kind::Zip,
            [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => {
                return Kind::Unreadable(unreadable::UTF_32);
            }
            [0xff, 0xfe, ..] => return Kind::Utf16(Endian::Little),
            [0xfe, 0xff, ..] => return Kind::Utf16(Endian::Big),
            _ => {}
        }
        let magic = beginning.get(TAR_MAGIC_PLACE..TAR_MAGIC_PLACE + TAR_MAGIC.len());
        if magic == Some(TAR_MAGIC) {
            return Kind::Tar;
        }
        if let Some(unreadable) = unreadable::named(beginning) {
            return Kind::Unreadable(unreadable);
        }
        if let Some(endian) = utf16_without_mark(beginning, is_whole) {
            return Kind::Utf16(endian);
        }
        Kind::Text
    }
}

/// Detects UTF-16 of mostly ASCII, which Windows sometimes writes without a byte order mark.
fn utf16_without_mark(beginning: &[u8], is_whole: bool) -> Option<Endian> {
    let units = beginning.chunks_exact(2).take(MAX_UNITS);
    let num_units = units.len();
    // A few bytes prove nothing.
    if num_units < 4 && !(is_whole && num_units >= 2) {
        return None;
    }
    let is_text = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    let num_of = |low: usize, high: usize| {
        let units = units.clone();
        units
            .filter(|unit| is_text(unit[low]) && unit[high] == 0)
            .count()
    };
    let is_most = |num: usize| num * 10 >= num_units * 9;
    match (is_most(num_of(0, 1)), is_most(num_of(1, 0))) {
        (true, _) => Some(Endian::Little),
        (_, true) => Some(Endian::Big),
        _ => None,
    }
}
