//! Columns of a split: which of them are in the head, and which are packed.

mod hot;
mod packed;

pub(super) use hot::{columnar_of, touch_columns};
pub(super) use packed::{PackableRanges, packable_of, packed};
