//! `canter index describe`: an index in numbers, its splits on a time line, and what is to be done about it.

mod outlook;
mod run;
mod time_line;

pub(crate) use run::{DescribeArgs, run};
