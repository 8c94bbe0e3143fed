//! `canter index delete`: documents that a query matches are none any more, and the proof of it.

mod lister;
mod remains;
mod run;

pub(crate) use lister::Lister;
pub(super) use run::num_docs;
pub(crate) use run::{DeleteArgs, run};
