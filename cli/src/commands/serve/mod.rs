//! `canter serve`: the search API over HTTP from `canter-server`. This module adds arguments, address and signals.

mod args;
mod finder;
mod managing;
mod run;
mod writing;

pub(crate) use args::ServeArgs;
pub(crate) use run::run;
