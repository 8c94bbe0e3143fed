//! What date aggregations need to know of time: intervals, time zones, where buckets begin, how dates are
//! written and read, and date arithmetic.
//!
//! Times are nanoseconds since 1970-01-01 UTC in an `i64`, so from 1677 to 2262. What lies beyond is taken
//! as the end of that range. Nothing here reads a clock or a file: the time of `now` is given, and the time
//! zones are part of the program, so that every host gives the same answer.

mod civil;
mod format;
mod interval;
mod math;
mod rounding;
mod zone;

pub(crate) use format::DateFormat;
pub(crate) use interval::{CalendarUnit, fixed_interval_ns, offset_ns};
pub(crate) use math::DateMath;
pub(crate) use rounding::{Rounding, RoundingCursor};
pub(crate) use zone::Zone;
