//! `canter serve`: the search API over HTTP, as `canter-server` has it. Here it gets its arguments, address and signals.

mod args;
mod finder;
mod managing;
mod run;
mod writing;

pub(crate) use args::ServeArgs;
pub(crate) use run::run;
