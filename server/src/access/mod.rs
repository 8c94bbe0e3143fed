//! Authentication: tokens, and the access of each to the served indexes.

mod gate;
mod hash_times;
mod line;

pub(crate) use gate::{Gate, Shut, caller_of, is_unbounded};
