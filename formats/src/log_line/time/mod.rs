//! Times as logs write them: how one is written ([`TimeForm`]), and what it says ([`Stamp`]).
//!
//! A form is a day's form with any time of day behind it, or one of a few that are numbers. Whether a fraction or a
//! zone follows, and how, need not be known before: that is read as it comes.

mod calendar;
mod clock;
mod date;
mod digits;
mod finer;
mod form;
mod object;
mod stamp;
#[cfg(test)]
mod tests;
mod zone;

pub use calendar::MonthDay;
pub(crate) use date::DateForm;
pub(crate) use finer::with_fraction;
pub(crate) use form::{Reading, TimeForm, days_of, read};
pub(crate) use object::TimeMember;
pub(crate) use stamp::{Reference, Stamp};
pub use zone::Zone;
