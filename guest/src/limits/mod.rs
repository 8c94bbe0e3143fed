//! Limits of a search, and the range of time that it covers. This module depends on nothing else in the guest.

mod time_filter;
mod usage;

pub(crate) use time_filter::{SECOND_NS, TimeFilter};
pub(crate) use usage::Limits;
