//! `canter index describe`: figures of an index, its splits on a time line, and the maintenance that is due.

mod outlook;
mod run;
mod time_line;

pub(crate) use run::{DescribeArgs, run};
