//! Conversion of JSON to VRL's values and back.
//!
//! A value preserves neither the order of keys nor the notation of numbers, and its integers are signed 64-bit. A
//! record's layout is therefore kept beside it, and everything that the program left alone is written as it was read,
//! byte by byte.

mod layout;
mod number;
mod read;
mod write;

pub(super) use layout::Layout;
pub(super) use read::{Unreadable, read_into, read_value};
pub(super) use write::{Unwritable, Writer};
