//! What a search may use, and the range of time that it looks at. Everything above may ask for them; they know nothing
//! of queries and requests.

mod time_filter;
mod usage;

pub(crate) use time_filter::{SECOND_NS, TimeFilter};
pub(crate) use usage::Limits;
