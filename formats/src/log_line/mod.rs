//! Lines that begin with a time, or have one near their beginning: most of what programs log.
//!
//! ```text
//! 2024-05-01 10:00:00,123 INFO  [main] c.a.X - text of the line
//! └─────────time────────┘ level thread logger └───message─────┘
//! └──────────────────head────────────────────┘
//! ```
//!
//! There is no list of programs here. [`learn_from`] looks at a sample: behind how many parts do most lines have a time,
//! how is it written ([`time`]), and which parts follow it in most of them ([`votes`], [`naming`])? What it finds is a
//! [`LineLayout`], by which [`LineLayout::parse`] goes over each record once. A few layouts have marks instead ([`known`]). A line without a time there belongs to
//! the record before.

mod element;
mod known;
mod layout;
mod learn;
mod level;
mod naming;
mod parse;
mod step;
#[cfg(test)]
mod tests;
pub(crate) mod time;
mod votes;

pub(crate) use element::goes_on;
pub use known::HEAD_WORDS;
pub(crate) use known::{are_points, begins_journal, event};
pub(crate) use layout::LineLayout;
pub(crate) use learn::learn_from;
pub(crate) use level::{
    at_start as level_at_start, in_code as level_in_code, is_level, of_letter as level_of_letter,
    of_syslog as level_of_syslog, of_word as level_of_word,
};
pub(crate) use parse::without_colours;
pub(crate) use time::TimeMember;
