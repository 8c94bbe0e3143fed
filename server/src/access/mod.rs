//! Who asks: tokens, and what each allows of the indexes that are served.

mod gate;
mod hash_times;
mod line;

pub(crate) use gate::{Gate, Shut, caller_of, is_unbounded};
