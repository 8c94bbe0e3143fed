//! JSON as VRL's values and back.
//!
//! A value remembers neither the order of keys nor how a number was written, and its integers have 64 bits with a sign. So
//! a record's layout is kept beside it, and what the program left alone is written as it was read, byte by byte.

mod layout;
mod number;
mod read;
mod write;

pub(super) use layout::Layout;
pub(super) use read::{Unreadable, read_into, read_value};
pub(super) use write::{Unwritable, Writer};
